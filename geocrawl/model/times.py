"""Read times of data as services write them, and as people ask for them: ISO 8601, of any precision.

A time is a number of seconds since 1970 in UTC. A year, a month or a day is a span: it begins with its first second and
ends with its last one.
"""

from __future__ import annotations

import datetime as dt
import re
from calendar import monthrange
from collections.abc import Iterable
from typing import NamedTuple

_TIME = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)"
    r"(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.I,
)
"""Year, month, day, hour, minute, second and zone (ISO 8601)."""
_NOW = ("", "..", "current", "now", "present", "latest", "null", "none")
"""Texts for an open end."""
_STEP = re.compile(r"P(?=\w)(?:\d+(?:\.\d+)?[YMWD])*(?:T(?:\d+(?:\.\d+)?[HMS])+)?")
FIRST_S, LAST_S = -62_135_596_800, 253_402_300_799
"""First second of the year 1 and last one of 9999: a calendar has no others."""
_NEVER_S = LAST_S - 366 * 86_400
"""A time after it, in the year 9999, stands for an open end."""


class Times(NamedTuple):
    """The time that data is of. One of its ends may be open."""

    start: float | None
    """First second; None: open."""
    end: float | None
    """Last second; None: open, as of data that are still added to."""
    step: str = ""
    """Time between two of the data's times as a duration of ISO 8601 (`P1D`); '' when none is stated."""


def read_time(text: str) -> tuple[float, float] | None:
    """Return the first and the last second of a time; None for any other text."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in found.groups()[:6])
    try:
        first = dt.datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=dt.UTC)
        days = monthrange(first.year, month or 12)[1]
        last = first.replace(month=month or 12, day=day or days, hour=23, minute=59, second=59)
    except ValueError:
        return None
    start = (first - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)).total_seconds()
    zone = found[7]
    if zone and zone.upper() != "Z":
        digits = zone[1:].replace(":", "")
        start -= (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60)
    end = start if hour is not None else start + (last - first).total_seconds()
    return (start, end) if start >= FIRST_S and end <= LAST_S else None


def read_interval(first: str, last: str, step: str = "") -> Times | None:
    """Return the times between two ends, one of them perhaps open; None when an end cannot be read or both are open."""
    ends = [None if text.strip().lower() in _NOW else read_time(text) for text in (first, last)]
    unread = [end is None and text.strip().lower() not in _NOW for end, text in zip(ends, (first, last), strict=True)]
    start, end = (None if each is not None and each[1] > _NEVER_S else each for each in ends)
    if any(unread) or (start is None and end is None):
        return None
    if start is not None and end is not None and end[1] < start[0]:
        start, end = end, start
    step = step.strip().upper()
    return Times(start and start[0], end and end[1], step if _STEP.fullmatch(step) else "")


def read_values(first: str, last: str) -> Times | None:
    """Return the times from the first to the last of some values, each a time or an interval `start/end/step`."""
    start, end = first.split("/"), last.split("/")
    return read_interval(start[0], end[min(len(end) - 1, 1)], (*start[2:3], "")[0])


def union(every: Iterable[Times | None]) -> Times | None:
    """Return the times from the first start to the last end of those that are known; None for none."""
    known = [each for each in every if each is not None]
    if not known:
        return None
    starts, ends = [each.start for each in known], [each.end for each in known]
    start = None if None in starts else min(each for each in starts if each is not None)
    end = None if None in ends else max(each for each in ends if each is not None)
    return Times(start, end) if start is not None or end is not None else None
