"""The simulation finds the defects that were put back (`defects`), each within 300 seeds."""

from __future__ import annotations

import pytest

from tests.simulation.database import engine_named
from tests.simulation.defects import DEFECTS, SEEDS, first_failure
from tests.simulation.scenario import draw
from tests.simulation.seeds import Simulator


@pytest.mark.parametrize(
    ("name", "faults", "complaint"),
    [
        ("waits_by_memory", ("full",), "has not ended"),
        ("leases_without_fencing", ("pause",), "visited more than once"),
        ("lost_counter", ("calm",), "counters and rows differ"),
        ("missing_rollback", ("full",), "cannot start a transaction"),
        ("bounds_of_each_process", ("calm",), "after the request before"),
    ],
)
def test_a_defect_that_is_put_back_is_found(name: str, faults: tuple[str, ...], complaint: str) -> None:
    """Of the seeds only those of classes that are likely to find it are run: no other seed finds it later."""
    seeds = [seed for seed in range(SEEDS) if draw(seed).fault in faults]
    with engine_named("sqlite") as engine:
        found = first_failure(Simulator(engine), name, seeds)
    assert found is not None
    assert complaint in found.failures[0]


def test_every_defect_is_tested() -> None:
    (marks,) = [mark for mark in test_a_defect_that_is_put_back_is_found.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    assert {name for name, *_ in marks.args[1]} == set(DEFECTS)
