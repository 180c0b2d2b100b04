"""Downtimes hold to the minute, on the clocks of their zone, over midnight and over a change of the clocks."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from geocrawl.model.downtimes import Downtime, read_moment, read_weekly

BERLIN = "Europe/Berlin"


def weekly(text: str, zone: str = BERLIN, starts_at: float = 0.0, ends_at: float | None = None) -> Downtime:
    return Downtime(
        1, 1, "", starts_at, ends_at, weekly=text, zone=zone, is_acknowledged=False, note="", created_at=0.0
    )


def at(text: str, zone: str = BERLIN, *, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


@pytest.mark.parametrize(
    ("text", "time", "is_in"),
    [
        ("sun 02:00-04:00", "2026-11-29 01:59:59", False),
        ("sun 02:00-04:00", "2026-11-29 02:00", True),
        ("sun 02:00-04:00", "2026-11-29 03:59:59", True),
        ("sun 02:00-04:00", "2026-11-29 04:00", False),
        ("sun 02:00-04:00", "2026-11-30 03:00", False),
        ("sat,sun 22:00-04:00", "2026-11-30 03:59", True),
        ("sat,sun 22:00-04:00", "2026-11-28 03:59", False),
        ("fri-mon 12:00-13:00", "2026-11-30 12:30", True),
        ("fri-mon 12:00-13:00", "2026-12-01 12:30", False),
        ("mon 00:00-00:00", "2026-11-30 23:59", True),
        ("mon 00:00-00:00", "2026-12-01 00:00", False),
    ],
)
def test_a_weekly_downtime_holds_from_its_first_to_before_its_last_minute(text: str, time: str, is_in: bool) -> None:
    assert (weekly(text).end_at(at(time)) is not None) is is_in


def test_hours_are_those_on_the_clocks_of_the_zone_in_summer_and_winter() -> None:
    window = weekly("sun 02:00-04:00")
    assert window.end_at(at("2026-07-05 00:30", "UTC")) == at("2026-07-05 02:00", "UTC")
    assert window.end_at(at("2026-12-06 00:30", "UTC")) is None
    assert window.end_at(at("2026-12-06 02:30", "UTC")) == at("2026-12-06 03:00", "UTC")


def test_a_window_over_a_change_of_the_clocks_is_an_hour_shorter_or_longer() -> None:
    night = weekly("sun 01:00-04:00")
    spring, autumn = at("2026-03-29 01:00"), at("2026-10-25 01:00")
    assert night.end_at(spring) == spring + 2 * 3600 and night.end_at(autumn) == autumn + 4 * 3600
    twice = weekly("sun 02:00-03:00")
    assert all(twice.end_at(at("2026-10-25 02:30", fold=fold)) == at("2026-10-25 03:00") for fold in (0, 1))
    assert twice.end_at(at("2026-03-29 03:00")) is None, "the hour that the clocks leave out"


def test_a_weekly_downtime_holds_within_its_own_time_alone() -> None:
    begin, end = at("2026-11-29 03:00"), at("2026-12-06 03:00")
    window = weekly("sun 02:00-04:00", starts_at=begin, ends_at=end)
    times = ("2026-11-29 02:30", "2026-11-29 03:00", "2026-12-06 02:59", "2026-12-06 03:00")
    assert [window.end_at(at(time)) for time in times] == [None, at("2026-11-29 04:00"), end, None]


def test_a_zone_that_this_machine_lacks_excuses_nothing() -> None:
    assert weekly("mon-sun 00:00-00:00", "Mars/Olympus").end_at(at("2026-11-29 02:30")) is None


@pytest.mark.parametrize("text", ["", "sun", "sun 2-4", "day 02:00-03:00", "sun 25:00-26:00", "sun, 02:00-03:00"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="02:00-04:00"):
        read_weekly(text)


def test_a_time_without_a_zone_is_that_of_the_given_one() -> None:
    assert read_moment("2026-12-05 20:00", BERLIN) == read_moment("2026-12-05T19:00:00Z", BERLIN)
