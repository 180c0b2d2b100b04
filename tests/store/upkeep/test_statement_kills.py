"""A command that is killed at any statement leaves its databases as they were, as they are to be, or refused with
advice; repeated, it comes to its end. `python -m benchmarks statement_kills` kills at every statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.upkeep.statement_kills import NAMES, killed_everywhere, trials
from tests.support.postgres import Server
from tests.support.samples import sampled

HALF = (
    "refused: PLACE: holds only a part of SOURCE: `geocrawl migrate` is copying it or was stopped; wait for its end, "
    "or remove this copy and repeat the command"
)


@pytest.mark.parametrize("name", sampled(NAMES, "merge sqlite"))
def test_a_command_that_is_killed_at_a_statement_loses_nothing(
    name: str, tmp_path: Path, postgres_server: Server
) -> None:
    outcome = killed_everywhere(trials(tmp_path, postgres_server)[name], step=23)
    assert outcome.statements > 2 and outcome.lost == []
    states = {"as before", "as after"} | ({HALF} if name.startswith("migrate") else set())
    assert set(outcome.states) <= states and ("as before" in outcome.states)
    assert (HALF in outcome.states) is name.startswith("migrate")
