"""Spread shorter ways and better links through the known web.

When a link improves a URL that was known before, its depth falls or its rank rises, and so does what visited pages
reach from it. The wave goes level by level (Dijkstra's algorithm with steps of 0 and 1), so it takes three statements a
level, whatever the number of URLs on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from geocrawl.model import Purpose, Rank, State
from geocrawl.store.engine.connection import Connection
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.arrivals import Improvement, moved_place
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.outlinks import unpack_outlinks

_LOWEST = Rank(-(2**31), float("-inf"))
_Level = dict[int, Rank]
"""URL id → the best rank that reaches it."""


class _Place(NamedTuple):
    """A URL as `statements.PLACES` reads it."""

    id: int
    purpose: str
    state: str
    depth: int
    tier: int
    score: float
    host_id: int


class Shortcuts:
    """Moves known URLs to their shorter depth and better rank. Works inside the caller's transaction."""

    def __init__(
        self, connection: Connection, hosts: Hosts, counters: Counters, max_depth: int, *, by_depth: bool
    ) -> None:
        self._connection = connection
        self._hosts = hosts
        self._counters = counters
        self._max_depth = max_depth
        self._by_depth = by_depth

    def write(self, improvements: Mapping[int, Improvement]) -> None:
        """Write the new depths and ranks of improved URLs, and improve all URLs that are reached from them."""
        found = [(url_id, *better.found) for url_id, better in improvements.items() if better.found is not None]
        if found:
            self._connection.executemany(sql.WRITE_FOUND, found)
        wave: dict[int, _Level] = {}
        for url_id, better in improvements.items():
            _reach(wave, better.depth, url_id, better.rank)
        while wave:
            depth = min(wave)
            self._move_level(depth, wave.pop(depth), wave)

    def _move_level(self, depth: int, level: _Level, wave: dict[int, _Level]) -> None:
        """Move the URLs of a level; what visited ones lead to joins the wave."""
        moves, open_pages = [], dict[int, tuple[int, Rank, bool]]()
        for row in self._connection.execute(sql.PLACES, (json.dumps(list(level)),)).fetchall():
            place = _Place(*row)
            moved = self._moved(place, depth, level[place.id])
            if moved is None:
                continue
            state, new_depth, rank = moved
            moves.append((place.id, new_depth, *rank, state))
            if state is State.VISITED:
                open_pages[place.id] = (new_depth, rank, new_depth < place.depth)
        if moves:
            self._connection.executemany(sql.MOVE, moves)
        if open_pages:
            self._follow(open_pages, wave)

    def _moved(self, place: _Place, depth: int, rank: Rank) -> tuple[State, int, Rank] | None:
        """Return the new state, depth and rank of a URL, counted in its host's queue; None when nothing changes."""
        by_depth = self._by_depth and place.purpose == Purpose.PAGE
        old = Rank(place.tier, place.score)
        depth, rank = moved_place(place.depth, old, depth, rank, by_depth=by_depth)
        if (depth, rank) == (place.depth, old):
            return None
        opens = place.state == State.TOO_DEEP and depth <= self._max_depth
        state = State.WAITING if opens else State(place.state)
        if state is State.WAITING:
            self._counters.add(place.purpose, place.state, place.tier, -1)
            self._counters.add(place.purpose, state, rank.tier, 1)
            if opens:
                self._hosts.enter(place.host_id, rank)
            else:
                self._hosts.raise_head(place.host_id, rank)
        return state, depth, rank

    def _follow(self, pages: Mapping[int, tuple[int, Rank, bool]], wave: dict[int, _Level]) -> None:
        """Let what moved pages lead to join the wave: a redirect's target stands as deep and as high as its source,
        other links keep their own rank and matter only when the page came nearer."""
        for url_id, blob in self._connection.execute(sql.READ_OUTLINKS, (json.dumps(list(pages)),)).fetchall():
            depth, rank, nearer = pages[url_id]
            links = unpack_outlinks(blob)
            for target in links.same_depth:
                _reach(wave, depth, target, rank)
            if nearer:
                for target in links.deeper:
                    _reach(wave, depth + 1, target, _LOWEST)


def _reach(wave: dict[int, _Level], depth: int, url_id: int, rank: Rank) -> None:
    """Let a URL be reached at a depth, with the best rank that leads there."""
    level = wave.setdefault(depth, {})
    level[url_id] = max(level.get(url_id, _LOWEST), rank)
