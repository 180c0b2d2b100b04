"""Times of data as services write them, and as people ask for them."""

from __future__ import annotations

import datetime as dt

import pytest

from geocrawl.filters import QueryError, read_times
from geocrawl.model.times import Times, read_interval, read_time, read_values, union


def text_of(at: float | None) -> str | None:
    return None if at is None else dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")


def ends(times: Times | None) -> tuple[str | None, str | None] | None:
    return times and (text_of(times.start), text_of(times.end))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2015", "2015-01-01T00:00:00", "2015-12-31T23:59:59"),
        ("2016-02", "2016-02-01T00:00:00", "2016-02-29T23:59:59"),
        ("20151231", "2015-12-31T00:00:00", "2015-12-31T23:59:59"),
        ("1851-07-04", "1851-07-04T00:00:00", "1851-07-04T23:59:59"),
        ("2015-06-01T12:30:15.250Z", "2015-06-01T12:30:15", "2015-06-01T12:30:15"),
        ("2015-06-01 12:30+02:00", "2015-06-01T10:30:00", "2015-06-01T10:30:00"),
        ("9999", "9999-01-01T00:00:00", "9999-12-31T23:59:59"),
    ],
)
def test_a_time_is_a_span_as_long_as_its_precision(text: str, first: str, last: str) -> None:
    found = read_time(text)
    assert found is not None
    assert (text_of(found[0]), text_of(found[1])) == (first, last)


@pytest.mark.parametrize(
    "text", ["", "0000", "0001-01-01T00:00+12:00", "2015-13", "2015-02-30", "15", "yesterday", "-5"]
)
def test_what_is_no_time_of_the_calendar_is_none(text: str) -> None:
    assert read_time(text) is None


def test_an_interval_has_open_ends_and_a_step() -> None:
    assert ends(read_interval("2015", "current")) == ("2015-01-01T00:00:00", None)
    assert ends(read_interval("18441231", "99991231")) == ("1844-12-31T00:00:00", None)
    assert ends(read_interval("..", "2015")) == (None, "2015-12-31T23:59:59")
    assert ends(read_interval("2020", "2015")) == ("2015-01-01T00:00:00", "2020-12-31T23:59:59")
    assert read_interval("", "") is read_interval("current", "current") is read_interval("2015", "soon") is None
    assert read_values("99991231", "99991231") is None
    assert read_values("2015-01-01/2016-01-01/P1D", "2018-01-01/2019-01-01/PT1H") == Times(
        1420070400.0, 1546387199.0, "P1D"
    )
    assert read_values("2015", "2019").step == ""  # type: ignore[union-attr]


def test_the_times_of_several_reach_from_the_first_to_the_last_end() -> None:
    assert union([Times(5, 9), None, Times(1, 3)]) == Times(1, 9)
    assert union([Times(5, None), Times(1, 3)]) == Times(1, None)
    assert union([None]) is union([Times(None, 5), Times(7, None)]) is None


def test_people_ask_for_a_time_or_an_interval() -> None:
    assert ends(read_times("2015/2020")) == ("2015-01-01T00:00:00", "2020-12-31T23:59:59")
    assert ends(read_times("2015-06/..")) == ("2015-06-01T00:00:00", None)
    for text in ("../..", "2020/2015", "soon", "2015/2016/P1D"):
        with pytest.raises(QueryError, match="expected a time such as"):
            read_times(text)
