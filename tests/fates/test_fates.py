"""What the catalogue says of services of all fates is true, day by day, whatever happens to the daemon meanwhile."""

from __future__ import annotations

import random

import pytest

from tests.fates.__main__ import measure
from tests.fates.fates import BEHAVIOURS, FATES, Truth, draw


@pytest.mark.timeout(600)
def test_a_month_of_all_fates_is_told_as_it_was() -> None:
    found = measure(services=len(FATES), days=30, seed=1)
    assert found["missed"] == []
    assert found["looks"] > 1_000 and found["notices"]["due"] > 20, "so much was looked at"


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(2, 5))
def test_ninety_days_of_all_fates_are_told_as_they_were(seed: int) -> None:
    assert measure(services=2 * len(FATES), days=90, seed=seed)["missed"] == []


def test_the_fates_are_of_all_kinds() -> None:
    drawn = draw(len(FATES), 90, random.Random(1))
    assert {BEHAVIOURS[name].truth for service in drawn for _, name in service.phases} == set(Truth)
