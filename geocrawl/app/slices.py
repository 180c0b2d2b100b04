"""Plan the slices in which a list is read that has more records than its server gives.

Pure: rounds of slices around runs. A list that ended early is asked by its date of modification, all of it first. A
slice that states more than the server gives is cut, in as many spans as its total needs; one of a single second by what
identifiers begin with. Then follow records without a date. A date by which the server cannot filter (an exception,
nothing, or the same total for every span) is replaced by the family's next one, or the same in another language, and
after the last by identifiers.
Slices may overlap: records are counted once. A family that gives a list of any length after the last record that a
request names is asked so, from the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

from geocrawl.urls.slices import FIRST_DAY, Slice, end_of_spans, scrolls, ways_by_identifier

LEAST_WINDOW = 50
"""A list that ends after fewer records has another fault."""
_NO_WINDOW = 2**31 - 1
_MOST_PARTS = 64
_MOST_SLICES = 500
"""Most slices of a list, or thirty for each window that it states: records that last for ever are in every span."""
_MOST_OF_ALL = 20_000
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST_PREFIX = 6
_BOUNDED = frozenset({"trap:records", "max-records", "robots", "deny", "forgotten"})
"""Reasons for ending that no slice mends."""


@dataclass(frozen=True, slots=True)
class ListPart:
    """A list or a slice of it, as far as it was read."""

    id: int
    part: Slice | None
    """None for the whole list."""
    stated: int | None
    read: int
    reason: str


@dataclass(frozen=True, slots=True)
class Round:
    """The slices to be read next."""

    window: int
    """Most records that the server gives of one list."""
    slices: tuple[Slice, ...]
    cut: tuple[int, ...] = ()
    """Ids of the slices that these replace."""


def plan_round(family: str, ways: range, stated: int, read: int, parts: Sequence[ListPart], now: float) -> Round | None:
    """Return the next round of a source that stated `stated` records and gave `read` of them.

    None when nothing is left to try. `ways`: those in which its list can be asked by date. `now`: seconds since 1970.
    """
    whole = next((each for each in parts if each.part is None), None)
    if whole is None or read >= stated or not ways or whole.reason in _BOUNDED:
        return None
    if whole.read < LEAST_WINDOW or whole.read >= stated:
        return None
    if whole.reason == "ended" and whole.read * 10 > stated * 9:
        return None  # it was read to its end: some records that are counted are shown to nobody
    end = end_of_spans(family, now)
    slices = [(each, each.part) for each in parts if each.part is not None]
    if len(slices) > min(max(_MOST_SLICES, 30 * stated // whole.read), _MOST_OF_ALL):
        return None
    if scrolls(family):
        return None if slices else Round(_NO_WINDOW, (Slice(),))
    if not slices:
        return Round(whole.read, (Slice(ways[0], FIRST_DAY, end),))
    way = max(part.way for _, part in slices)
    prefixed = [(each, part) for each, part in slices if part.prefix and part.lower == part.upper]
    of_way = [(each, part) for each, part in slices if (part.lower == part.upper if prefixed else part.way == way)]
    roots = [(part.upper, each) for each, part in of_way if part.lower == FIRST_DAY and not part.prefix]
    root = max(roots, key=lambda pair: pair[0])[1] if roots else None
    spans = [each for each, part in of_way if each is not root and part.lower < part.upper and not part.prefix]
    is_deaf = len(spans) > 1 and all(each.stated == (root.stated if root else None) for each in spans)
    has_no_dates = is_deaf or (root is not None and not root.stated)
    if not prefixed and has_no_dates and way + 1 in ways:
        return Round(whole.read, (Slice(way + 1, FIRST_DAY, end),))
    by = ways_by_identifier(ways) if has_no_dates or prefixed else (way,)
    untried = [each for each in by if all(part.way != each for _, part in prefixed)]
    by_prefix = Round(whole.read, tuple(Slice(untried[0], prefix=letter) for letter in _LETTERS)) if untried else None
    if not prefixed and has_no_dates:
        return by_prefix
    if large := [
        (each, part) for each, part in of_way if each.reason == "window" and not (part.prefix and each.stated == stated)
    ]:
        parts_of = [piece for each, part in large for piece in _cut(part, each.stated or 0, whole.read)]
        return Round(whole.read, tuple(parts_of), tuple(each.id for each, _ in large)) if parts_of else None
    if root is not None and (root.stated or 0) < stated and not any(part.undated for _, part in slices):
        return Round(whole.read, (Slice(way, undated=True),))
    return None if any(each.stated for each, _ in prefixed) else by_prefix


def _cut(part: Slice, stated: int, window: int) -> list[Slice]:
    """Return the parts of a slice that states more than the window."""
    count = min(max(ceil(1.3 * stated / window), 2), _MOST_PARTS, part.upper - part.lower)
    if part.prefix or part.undated or count < 2:
        letters = _LETTERS if len(part.prefix) < _MOST_PREFIX else ""
        return [replace(part, prefix=part.prefix + letter) for letter in letters]
    edges = [part.lower + (part.upper - part.lower) * number // count for number in range(count + 1)]
    return [replace(part, lower=lower, upper=upper) for lower, upper in pairwise(edges)]
