"""Put found services in order, twins together, and cut out the page that is shown.

Of 100,000 found services a page shows twenty, so only the best are sorted: those above a bound that one pass finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocrawl.search.filters import Sort
from geocrawl.search.snapshot import Snapshot

Positions = NDArray[np.int64]
Keys = NDArray[np.floating[Any]]
"""The higher, the sooner; equal ones in the order of their positions."""

_MORE = 4
"""So many times the services of a page are sorted first: some are twins of others."""


def keys_of(snapshot: Snapshot, positions: Positions, sort: Sort) -> Keys:
    """Return the keys of services at positions for an order that words do not decide."""
    if sort is Sort.NEWEST:
        return snapshot["first_seen"][positions]
    if sort is Sort.HEALTH:
        return snapshot["quality"][positions]
    titles = [snapshot.titles[position].strip().casefold() for position in positions]
    ranks = np.empty(len(titles), np.float64)
    ranks[sorted(range(len(titles)), key=lambda n: (not titles[n], titles[n]))] = np.arange(len(titles), 0, -1)
    return ranks


def page(
    snapshot: Snapshot, positions: Positions, keys: Keys, *, offset: int, limit: int, apart: bool = False
) -> tuple[int, list[Positions]]:
    """Return how many groups of twins there are, and the groups of one page, each the best of them first.

    `apart`: every service begins a group of its own, its twins behind it.
    """
    servers = snapshot["server"][positions]
    if apart:
        heads = _best(keys, offset + limit)[offset : offset + limit]
        return len(positions), [_group(positions, keys, servers, head, first=True) for head in heads]
    is_found = np.zeros(len(snapshot.servers.texts), np.bool_)
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
