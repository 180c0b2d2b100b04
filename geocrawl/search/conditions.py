"""Find the services that meet filters, in the arrays of a snapshot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from geocrawl.search.filters import HEALTHS, LEVELS, Box, Filters
from geocrawl.search.fold import words_of
from geocrawl.search.snapshot import Flags, Names, Snapshot


def meeting(snapshot: Snapshot, filters: Filters, now: float) -> Flags:
    """Return for each position whether its service meets all the filters."""
    meets = snapshot["is_there"].copy()
    if filters.kinds:
        meets &= _one_of(snapshot, "kind", snapshot.kinds, filters.kinds)
    if filters.countries:
        meets &= _one_of(snapshot, "country", snapshot.countries, filters.countries)
    if filters.box is not None:
        meets &= touching(snapshot, filters.box)
    if filters.systems:
        wanted = {system.upper() for system in filters.systems}
        meets &= np.isin(snapshot["systems"], _lists_with(snapshot, lambda item: item.upper() in wanted))
    if filters.formats:
        parts = [part.lower() for part in filters.formats]
        meets &= np.isin(snapshot["formats"], _lists_with(snapshot, lambda item: any(p in item.lower() for p in parts)))
    if filters.providers:
        meets &= _of_providers(snapshot, filters.providers)
    if filters.health:
        meets &= np.isin(snapshot["health"], [HEALTHS.index(state) for state in filters.health])
    if filters.level:
        meets &= snapshot["level"] >= LEVELS.index(filters.level) + 1
    if filters.alive:
        meets &= snapshot["alive"]
    if filters.answered_within_s is not None:
        meets &= snapshot["last_ok"] >= now - filters.answered_within_s
    if filters.new_within_s is not None:
        meets &= snapshot["first_seen"] >= now - filters.new_within_s
    return meets


def touching(snapshot: Snapshot, box: Box) -> Flags:
    """Return for each position whether its service's extent meets a box, which may cross the antimeridian."""
    west, south, east, north = box
    upright = (snapshot["south"] <= north) & (snapshot["north"] >= south)
    theirs_west, theirs_east = snapshot["west"], snapshot["east"]
    crosses = theirs_west > theirs_east
    if west <= east:
        beside = np.where(
            crosses, (theirs_west <= east) | (theirs_east >= west), (theirs_west <= east) & (theirs_east >= west)
        )
    else:
        beside = crosses | (theirs_east >= west) | (theirs_west <= east)
    found: Flags = upright & beside
    return found


def _one_of(snapshot: Snapshot, column: str, names: Names, values: tuple[str, ...]) -> Flags:
    found: Flags = np.isin(snapshot[column], [names.find(value) for value in values])
    return found


def _lists_with(snapshot: Snapshot, is_wanted: Callable[[str], bool]) -> list[int]:
    """Return the numbers of the lists that hold a wanted item."""
    return [number for number, items in snapshot.items.items() if any(is_wanted(item) for item in items)]


def _of_providers(snapshot: Snapshot, wanted: tuple[str, ...]) -> Flags:
    """Return for each position whether its provider's name or its host holds the words of one of the texts."""
    found = np.zeros(snapshot.count, np.bool_)
    providers = snapshot.provider_words()
    for text in wanted:
        words = words_of(text)
        numbers = [n for n, name in enumerate(providers) if words and all(f" {word} " in name for word in words)]
        found |= np.isin(snapshot["provider"], numbers)
        host = text.strip().lower()
        found |= np.fromiter((host in each for each in snapshot.hosts), np.bool_, snapshot.count)
    return found
