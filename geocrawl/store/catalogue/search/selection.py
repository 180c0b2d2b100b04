"""Filter the services of a snapshot, count the values of their facets, and put them in order, twins together.

Of 100,000 found services a page shows twenty, so only the best are sorted: those above a bound that one pass finds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocrawl.filters import EVERYWHERE, Filters, Sort
from geocrawl.model.catalogue import HEALTHS, LEVELS, Box
from geocrawl.model.search import OF_COLUMNS, FacetValue
from geocrawl.model.times import Times
from geocrawl.store.catalogue.search.port import QUERIED
from geocrawl.store.catalogue.search.snapshot import Flags, Snapshot, of_health


def meeting(snapshot: Snapshot, filters: Filters, now: float) -> Flags:
    """Return for each position whether its service meets all the filters."""
    meets = snapshot["is_there"].copy()
    if filters.kinds:
        meets &= _one_of(snapshot, "kind", filters.kinds)
    if filters.countries:
        meets &= _one_of(snapshot, "country", filters.countries)
    if filters.box is not None and filters.box != EVERYWHERE:  # a service whose extent nobody knows is somewhere, too
        meets &= touching(snapshot, filters.box)
    if filters.within is not None:
        meets &= lying_in(snapshot, filters.within)
    if filters.systems:
        meets &= np.isin(snapshot["systems"], snapshot.lists_with({system.lower() for system in filters.systems}))
    if filters.formats:
        parts = [part.lower() for part in filters.formats]
        named = {item for item in snapshot.lists_by_item if any(part in item for part in parts)}
        meets &= np.isin(snapshot["formats"], snapshot.lists_with(named))
    if filters.fields:
        meets &= having_fields(snapshot, filters.fields)
    if filters.providers:
        meets &= _of_providers(snapshot, filters.providers)
    for name in {name for name, _ in filters.columns}:
        meets &= _meant(snapshot, name, [value for of, value in filters.columns if of == name])
    if filters.health:
        meets &= np.isin(snapshot["health"], [HEALTHS.index(state) for state in filters.health])
    if filters.time is not None:
        meets &= meeting_times(snapshot, filters.time)
    if filters.level:
        meets &= snapshot["level"] >= LEVELS.index(filters.level) + 1
    if filters.alive:
        meets &= snapshot["alive"]
    if filters.answered_within_s is not None:
        meets &= snapshot["last_ok"] >= now - filters.answered_within_s
    if filters.new_within_s is not None:
        meets &= snapshot["first_seen"] >= now - filters.new_within_s
    return meets


def having_fields(snapshot: Snapshot, names: Iterable[str]) -> Flags:
    """Return for each position whether a layer of its service has a field with one of these names or aliases."""
    found: Flags = np.isin(snapshot["fields"], snapshot.lists_with({name.lower() for name in names}))
    return found


def has_fields(snapshot: Snapshot) -> Flags:
    """Return for each position whether any field of its service is known."""
    known: Flags = np.isin(snapshot["fields"], [number for number, names in snapshot.items.items() if names])
    return known


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


def has_times(snapshot: Snapshot) -> Flags:
    """Return for each position whether any time of its service's data is known."""
    known: Flags = ~(np.isnan(snapshot["time_start"]) & np.isnan(snapshot["time_end"]))
    return known


def meeting_times(snapshot: Snapshot, times: Times) -> Flags:
    """Return for each position whether its service's data is of a time, as far as known, that meets some times."""
    found = has_times(snapshot)
    if times.end is not None:
        found &= ~(snapshot["time_start"] > times.end)
    if times.start is not None:
        found &= ~(snapshot["time_end"] < times.start)
    return found


def lying_in(snapshot: Snapshot, box: Box) -> Flags:
    """Return for each position whether its service's extent is known and lies in a box; either may cross the
    antimeridian."""
    west, south, east, north = box
    upright = (snapshot["south"] >= south) & (snapshot["north"] <= north)
    wide = east - west if west <= east else east - west + 360
    if wide >= 360:
        return np.asarray(upright, np.bool_)
    theirs_west, theirs_east = snapshot["west"], snapshot["east"]
    begins = (theirs_west - west) % 360
    width = np.where(theirs_west > theirs_east, theirs_east - theirs_west + 360, theirs_east - theirs_west)
    found: Flags = upright & (begins + width <= wide + 1e-9)
    return found


def _one_of(snapshot: Snapshot, column: str, values: tuple[str, ...]) -> Flags:
    found: Flags = np.isin(snapshot[column], [snapshot.names[column].find(value) for value in values])
    return found


def _meant(snapshot: Snapshot, name: str, asked: Sequence[str]) -> Flags:
    """Return for each position whether its value of a column is one that is asked for."""
    texts, is_meant = snapshot.names[name].texts, QUERIED[name].is_meant
    passes = np.fromiter((any(is_meant(text, value) for value in asked) for text in texts), np.bool_, len(texts))
    found: Flags = passes[snapshot[name]]
    return found


def _of_providers(snapshot: Snapshot, wanted: tuple[str, ...]) -> Flags:
    """Return for each position whether its provider is one of the wanted: `Snapshot.of_provider`."""
    found = np.zeros(snapshot.count, np.bool_)
    for text in wanted:
        found |= snapshot.of_provider(text)
    return found


# --------------------------------------------------------------------------- facets

MOST_VALUES = 20
"""Most values of a facet."""


def count(snapshot: Snapshot, found: NDArray[np.int64]) -> Mapping[str, tuple[FacetValue, ...]]:
    """Return the values of each facet among the services at the positions `found`, the commonest first."""
    return {
        "kind": _of_names(snapshot, found, "kind"),
        "health": _of_numbers(snapshot, found, "health", dict(enumerate(HEALTHS))),
        "level": _of_numbers(snapshot, found, "level", {n + 1: level for n, level in enumerate(LEVELS)}),
        "country": _of_names(snapshot, found, "country"),
        "provider": _of_names(snapshot, found, "provider"),
        "crs": _of_lists(snapshot, found, "systems"),
        "format": _of_lists(snapshot, found, "formats"),
        **{name: _of_names(snapshot, found, name) for name in OF_COLUMNS},
    }


def _of_numbers(
    snapshot: Snapshot, found: NDArray[np.int64], column: str, names: Mapping[int, str]
) -> tuple[FacetValue, ...]:
    counts = np.bincount(snapshot[column][found], minlength=1)
    return _commonest({name: int(counts[n]) for n, name in names.items() if n < len(counts) and counts[n]})


def _of_names(snapshot: Snapshot, found: NDArray[np.int64], column: str) -> tuple[FacetValue, ...]:
    counts = np.bincount(snapshot[column][found], minlength=1)
    counts[0] = 0  # those without a value
    most = np.argsort(-counts, kind="stable")[: MOST_VALUES + 1]
    return _commonest({snapshot.names[column].texts[n]: int(counts[n]) for n in most if counts[n]})


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


# --------------------------------------------------------------------------- order

Positions = NDArray[np.int64]
Keys = NDArray[np.floating[Any]]
"""The higher, the sooner; equal ones in the order of their positions."""

_MORE = 4
"""So many times the services of a page are sorted first: some are twins of others."""


def keys_of(
    snapshot: Snapshot, positions: Positions, sorts: Sequence[Sort], relevance: Keys, *, turned: Collection[Sort] = ()
) -> Keys:
    """Return the keys of services at positions for some orders; each decides where those before it do not.

    `relevance`: their keys by the words of the query; `turned`: orders the other way round. Health alone is
    soundness, and before other orders the state of health, which many have.
    """
    keys = [_keys(snapshot, positions, sort, relevance) for sort in sorts]
    if Sort.HEALTH in sorts and len(keys) > 1:
        keys[sorts.index(Sort.HEALTH)] = of_health(snapshot["health"][positions])
    keys = [-key if sort in turned else key for sort, key in zip(sorts, keys, strict=True)]
    if len(keys) == 1:
        return keys[0]
    _, ranks = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
    return ranks.reshape(len(positions)).astype(np.float64)


def _keys(snapshot: Snapshot, positions: Positions, sort: Sort, relevance: Keys) -> Keys:
    if sort is Sort.RELEVANCE:
        return relevance
    if sort is Sort.NEWEST:
        return snapshot["first_seen"][positions]
    if sort is Sort.HEALTH:
        return snapshot["soundness"][positions]
    if sort is Sort.QUALITY:
        return snapshot["quality"][positions].astype(np.float64)
    titles = [snapshot.titles[position].strip().casefold() for position in positions]
    ordered = sorted(set(titles), key=lambda title: (not title, title))
    rank = {title: len(ordered) - n for n, title in enumerate(ordered)}
    return np.array([rank[title] for title in titles], np.float64)


def best(keys: Keys, *, offset: int, limit: int) -> Positions:
    """Return the places of the highest keys in order, those of one page of hits without regard to twins."""
    return _best(keys, offset + limit)[offset : offset + limit]


def page(
    snapshot: Snapshot, positions: Positions, keys: Keys, *, offset: int, limit: int, apart: bool = False
) -> tuple[int, list[Positions]]:
    """Return how many groups of twins there are, and the groups of one page, each the best of them first.

    `apart`: every service begins a group of its own, its twins behind it.
    """
    servers = snapshot["server"][positions]
    if apart:
        heads = best(keys, offset=offset, limit=limit)
        return len(positions), [_group(positions, keys, servers, head, first=True) for head in heads]
    is_found = np.zeros(len(snapshot.names["server"].texts), np.bool_)
    is_found[servers] = True
    total = int(np.count_nonzero(is_found))
    wanted = offset + limit
    order = _best(keys, _MORE * wanted)
    heads = _first_of_each(servers, order)
    if len(heads) < min(wanted, total):
        heads = _first_of_each(servers, _best(keys, len(keys)))
    return total, [_group(positions, keys, servers, head) for head in heads[offset:wanted]]


def _group(
    positions: Positions, keys: Keys, servers: NDArray[np.int32], head: np.int64, *, first: bool = False
) -> Positions:
    """Return the positions of a service's group, the best first; with `first` the service itself before all others."""
    members = np.flatnonzero(servers == servers[head])
    members = members[np.argsort(-keys[members], kind="stable")]
    if first:
        members = np.concatenate(([head], members[members != head]))
    group: Positions = positions[members]
    return group


def _best(keys: Keys, most: int) -> Positions:
    """Return the places of the highest keys in order: `most` of them, and those that are equal to the last."""
    if most >= len(keys):
        return np.argsort(-keys, kind="stable")
    bound = np.partition(keys, len(keys) - most - 1)[len(keys) - most - 1]
    places = np.flatnonzero(keys >= bound)
    return places[np.argsort(-keys[places], kind="stable")]


def _first_of_each(servers: NDArray[np.int32], order: Positions) -> Positions:
    """Return the places in `order` without those of servers that have one before."""
    _, first = np.unique(servers[order], return_index=True)
    return order[np.sort(first)]
