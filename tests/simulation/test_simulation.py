"""Crowds of crawlers end, keep their manners and lose nothing, whatever a seed does to them.

A seed that fails is run again, with all that happened, by `python -m tests.simulation --seed N --trace`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

from tests.simulation.database import Engine, Postgres, engine_named
from tests.simulation.scenario import FAULTS, WEBS, draw
from tests.simulation.seeds import Simulator
from tests.support.places import ROOT
from tests.support.postgres import Server

SEEDS, MORE_SEEDS = 64, range(64, 300)
"""Each defect that `defects` puts back is found within these."""
POSTGRES_SEEDS, MORE_POSTGRES_SEEDS = 4, range(4, 4 + WEBS)


@pytest.fixture(scope="session")
def sqlite() -> Iterator[Engine]:
    """Databases of SQLite."""
    with engine_named("sqlite") as engine:
        yield engine


@pytest.fixture(scope="session")
def postgres(postgres_server: Server) -> Engine:
    """Databases of the session's PostgreSQL."""
    return Postgres(postgres_server)


def failures(engine: Engine, seeds: Sequence[int], *, alone: Engine) -> list[str]:
    """Return what failed, with the command that shows it; `alone`: engine of the crawler to compare with."""
    return [
        f"python -m tests.simulation --seed {result.scenario.seed} --engine {engine.name} --trace: {text}"
        for result in Simulator(engine, alone=alone).results(seeds)
        for text in result.failures
    ]


# The seeds of one web are run together: what one crawler alone comes to there is found once.
@pytest.mark.parametrize("web", range(WEBS))
def test_crowds_on_sqlite(sqlite: Engine, web: int) -> None:
    assert failures(sqlite, range(web, SEEDS, WEBS), alone=sqlite) == []


@pytest.mark.parametrize("first", range(0, POSTGRES_SEEDS, 4))
def test_crowds_on_postgres(postgres: Engine, sqlite: Engine, first: int) -> None:
    assert failures(postgres, range(first, first + 4), alone=sqlite) == []


@pytest.mark.long
@pytest.mark.parametrize("first", range(3 * WEBS))
def test_more_crowds_on_sqlite(sqlite: Engine, first: int) -> None:
    assert failures(sqlite, MORE_SEEDS[first :: 3 * WEBS], alone=sqlite) == []


@pytest.mark.long
@pytest.mark.parametrize("web", range(WEBS))
def test_more_crowds_on_postgres(postgres: Engine, sqlite: Engine, web: int) -> None:
    assert failures(postgres, MORE_POSTGRES_SEEDS[web::WEBS], alone=sqlite) == []


def test_the_seeds_draw_all_kinds_of_runs() -> None:
    drawn = [draw(seed) for seed in range(SEEDS)]
    assert {scenario.fault for scenario in drawn} == set(FAULTS)
    assert {len(scenario.workers) for scenario in drawn} == {1, 2, 3, 4, 5, 8}
    assert {scenario.web for scenario in drawn} == set(range(WEBS))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.long) for seed in (3, 42)])
def test_a_seed_does_the_same_in_every_process(sqlite: Engine, seed: int) -> None:
    digests = set()
    for hashes in ("0", "1"):
        command = [sys.executable, "-m", "tests.simulation", "--seed", str(seed)]
        run = subprocess.run(command, cwd=ROOT, env={"PYTHONHASHSEED": hashes}, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        digests.add(next(line for line in run.stdout.splitlines() if line.startswith("digest")))
    assert len(digests) == 1
