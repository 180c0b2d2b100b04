"""Count the values that found services have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from geocrawl.search.filters import HEALTHS, LEVELS
from geocrawl.search.results import FacetValue
from geocrawl.search.snapshot import Names, Snapshot

FACETS = ("kind", "health", "level", "country", "provider", "crs", "format")
MOST_VALUES = 20
"""Most values of a facet."""


def count(snapshot: Snapshot, found: NDArray[np.int64]) -> Mapping[str, tuple[FacetValue, ...]]:
    """Return the values of each facet among the services at the positions `found`, the commonest first."""
    return {
        "kind": _of_names(snapshot, found, "kind", snapshot.kinds),
        "health": _of_numbers(snapshot, found, "health", dict(enumerate(HEALTHS))),
        "level": _of_numbers(snapshot, found, "level", {n + 1: level for n, level in enumerate(LEVELS)}),
        "country": _of_names(snapshot, found, "country", snapshot.countries),
        "provider": _of_names(snapshot, found, "provider", snapshot.providers),
        "crs": _of_lists(snapshot, found, "systems"),
        "format": _of_lists(snapshot, found, "formats"),
    }


def _of_numbers(
    snapshot: Snapshot, found: NDArray[np.int64], column: str, names: Mapping[int, str]
) -> tuple[FacetValue, ...]:
    counts = np.bincount(snapshot[column][found], minlength=1)
    return _commonest({name: int(counts[n]) for n, name in names.items() if n < len(counts) and counts[n]})


def _of_names(snapshot: Snapshot, found: NDArray[np.int64], column: str, names: Names) -> tuple[FacetValue, ...]:
    counts = np.bincount(snapshot[column][found], minlength=1)
    counts[0] = 0  # those without a value
    most = np.argsort(-counts, kind="stable")[: MOST_VALUES + 1]
    return _commonest({names.texts[n]: int(counts[n]) for n in most if counts[n]})


def _of_lists(snapshot: Snapshot, found: NDArray[np.int64], column: str) -> tuple[FacetValue, ...]:
    counts = np.bincount(snapshot[column][found], minlength=1)
    sums = dict[str, int]()
    for number in np.flatnonzero(counts):
        for item in snapshot.items.get(int(number), ()):
            sums[item] = sums.get(item, 0) + int(counts[number])
    return _commonest(sums)


def _commonest(counts: Mapping[str, int]) -> tuple[FacetValue, ...]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(FacetValue(value, value, number) for value, number in ordered[:MOST_VALUES])
