"""Damaged recorded answers through every probe: none raises, none asks without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.probe.registry import probes
from tests.probe import fuzz

COUNT = 100
"""A small number: seconds count in the tests."""
LARGEST_BYTES = 15_000
SLOWEST_S = 10.0
"""Far above what any takes: only a reader whose time grows with the square of the length comes near."""


@pytest.mark.shared
def test_no_damage_to_a_recorded_answer_makes_a_probe_fail(shared: Path) -> None:
    result = fuzz.run(fuzz.recorded(shared, LARGEST_BYTES), probes(), COUNT, seed=1)
    assert result.failures == []
    assert result.documents == COUNT
    assert result.interviews == COUNT * len(probes())
    assert result.slowest_s < SLOWEST_S, result.slowest
    assert result.accepted.total() > COUNT / 10, "most damage is slight and read over"


def test_the_same_seed_gives_the_same_damage() -> None:
    bodies = [("a/b", b'<a b="1"><c>2</c></a>'), ("c/d", b'{"e": [1, 2]}')]
    one, same, other = (list(fuzz.mutated(bodies, 50, seed)) for seed in (3, 3, 4))
    assert one == same != other


def test_an_exception_of_a_probe_is_seen() -> None:
    class Raises:
        kind = probes()[0].kind

        def interview(self, candidate: object) -> object:
            raise KeyError("a bug")

    result = fuzz.run([("wms/x.xml", b"<a/>")], [Raises()], 3, seed=1)  # type: ignore[list-item]
    assert len(result.failures) == 3
    assert "KeyError" in result.failures[0]
