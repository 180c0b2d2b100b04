"""A month of a service against the bounds of Regulation (EC) No 976/2009."""

from __future__ import annotations

import datetime as dt

import pytest

from geocrawl.model.availability import excused_failure, one_probe
from geocrawl.model.inspire import last_months, month_of, seconds_for

OCTOBER, NOVEMBER = (dt.datetime(2026, month, 1, tzinfo=dt.UTC).timestamp() for month in (10, 11))
EVERY_S = 300.0
WMS = (1, "wms", "Roads", "Survey", "http://a.example/wms")


def at(number: int) -> float:
    return OCTOBER + number * EVERY_S


@pytest.mark.parametrize(("failures", "judged"), [(0, True), (40, True), (90, None), (200, False)])
def test_a_month_is_available_when_its_bounds_say_so(failures: int, judged: bool | None) -> None:
    sums = [one_probe(at(number), number >= failures, 4_000.0) for number in range(8640)]
    found = month_of(WMS, sums, OCTOBER, OCTOBER + 30 * 86_400)
    assert (found.month, found.probes, found.valid, found.is_available) == ("2026-10", 8640, 8640 - failures, judged)
    assert found.availability == pytest.approx(1 - failures / 8640)
    assert found.is_fast and found.in_time == found.timed == found.valid


def test_answers_count_as_fast_up_to_the_bound_of_the_kind() -> None:
    sums = [one_probe(at(number), True, 5_000.0 if number % 2 else 5_001.0) for number in range(1000)]
    view, download, other = (month_of((1, kind, "", "", ""), sums, OCTOBER, NOVEMBER) for kind in ("wms", "wfs", "wps"))
    assert (view.timed, view.in_time, view.is_fast) == (1000, 500, False)
    assert (download.in_time, download.is_fast) == (1000, True)
    assert other.within_s is other.is_fast is None and other.is_available
    assert [seconds_for(kind) for kind in ("csw", "wmts", "ogcapi", "stac", "of a plug-in")] == [3, 5, 10, None, None]


def test_a_downtime_and_other_months_are_left_out() -> None:
    before = [one_probe(OCTOBER - 3600, False), one_probe(OCTOBER - EVERY_S, True)]
    within = [one_probe(at(number), True) for number in range(100)]
    excused = [excused_failure(at(number)) for number in range(100, 500)]
    after = [one_probe(NOVEMBER + 1, False)]
    found = month_of(WMS, [*before, *within, *excused, one_probe(at(500), True), *after], OCTOBER, NOVEMBER)
    assert (found.probes, found.valid, found.availability) == (101, 101, 1.0)


def test_the_last_months_follow_each_other_until_now() -> None:
    months = last_months(NOVEMBER + 5, 13)
    assert months[-2:] == [(OCTOBER, NOVEMBER), (NOVEMBER, NOVEMBER + 5)]
    assert len(months) == 13 and months[0][0] == dt.datetime(2025, 11, 1, tzinfo=dt.UTC).timestamp()
