"""Spread shorter ways and better links through the known web.

When a link improves a URL that was known before, its depth falls or its rank rises, and so does what visited pages
reach from it. The wave goes level by level (Dijkstra's algorithm with steps of 0 and 1), so it takes three statements a
level, whatever the number of URLs on it.

A hub may lead to any number of URLs, so one transaction follows `ROWS` links and stores which moved pages are left to
be followed. A lease follows all of them before it chooses. In what order they are followed does not matter in the end:
depth only falls and rank only rises, until no link improves anything any more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import bindparam, func, literal_column, select

from geocrawl.model import Purpose, Rank, State
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import META, URL
from geocrawl.store.database.steps import ChunkedWork, RowBudget
from geocrawl.store.frontier.outlinks import unpack_outlinks
from geocrawl.store.frontier.plan import Improvement, moved_place
from geocrawl.store.frontier.queue import Queue, changing
from geocrawl.store.frontier.statements import READ_OUTLINKS, WRITE_URL

_LOWEST = Rank(-(2**31), float("-inf"))
_Level = dict[int, Rank]
"""URL id → the best rank that reaches it."""
# Moved pages that are left to be followed are stored as facts: one for each level of a transaction, named by its depth
# and a number, in the order in which they are followed.
_NAME = "shortcuts:{depth:09}:{number:09}"
_FIRST_STORED = (
    select(META.c.name, META.c.value)
    .where(META.c.name >= "shortcuts:", META.c.name < literal_column("'shortcuts;'"))
    .order_by(META.c.name)
    .limit(1)
)
_LAST_OF_DEPTH = select(func.max(META.c.name)).where(META.c.name.between(bindparam("first"), bindparam("last")))
_PLACES = select(
    *(URL.c.id, URL.c.purpose, URL.c.state, URL.c.depth, URL.c.tier, URL.c.score, URL.c.host_id)  #
).where(in_list(URL.c.id, "ids"))
"""Read what decides whether shorter ways and better links change URLs."""


class _Place(NamedTuple):
    """A URL as `_PLACES` reads it."""

    id: int
    purpose: str
    state: str
    depth: int
    tier: int
    score: float
    host_id: int


@dataclass(slots=True)
class _Moved:
    """A visited page that was moved and whose links are to be followed."""

    rank: Rank
    nearer: bool
    """Whether the page's depth fell, so that all of its links matter."""
    done: int = 0
    """Number of links that were followed."""


class Shortcuts:
    """Moves known URLs to their shorter depth and better rank."""

    def __init__(self, database: Database, max_depth: int, *, by_depth: bool) -> None:
        self._database = database
        self._max_depth = max_depth
        self._by_depth = by_depth

    def write(self, improvements: Mapping[int, Improvement], queue: Queue) -> None:
        """Write the new depths and ranks of improved URLs, and improve URLs that are reached from them, as far as one
        transaction goes. Works inside the caller's transaction."""
        names = ("url", "found_on", "anchor", "found_in")
        found = [
            dict(zip(names, (url_id, *better.found), strict=True))
            for url_id, better in improvements.items()
            if better.found is not None
        ]
        if found:
            self._database.connection.write_many(WRITE_URL, found)
        levels: dict[int, _Level] = {}
        for url_id, better in improvements.items():
            _reach(levels, better.depth, url_id, better.rank)
        wave = _Wave(self._database, queue, self._max_depth, by_depth=self._by_depth)
        wave.move(levels)
        wave.follow(RowBudget())
        wave.store()

    def follow_stored(self) -> ChunkedWork[None]:
        """Follow the moved pages that former transactions left, in transactions of their own."""
        while self._database.connection.execute(_FIRST_STORED).fetchone() is not None:
            with changing(self._database) as queue:
                budget = RowBudget()
                wave = _Wave(self._database, queue, self._max_depth, by_depth=self._by_depth)
                while not budget.is_spent and wave.load():
                    wave.follow(budget)
                wave.store()
            yield


class _Wave:
    """The moved pages that one transaction follows."""

    def __init__(self, database: Database, queue: Queue, max_depth: int, *, by_depth: bool) -> None:
        self._database = database
        self._connection = database.connection
        self._queue = queue
        self._max_depth = max_depth
        self._by_depth = by_depth
        self._moved_pages: dict[int, dict[int, _Moved]] = {}
        """By depth and id."""

    def follow(self, budget: RowBudget) -> None:
        """Follow the links of moved pages, the least deep pages first."""
        while self._moved_pages and not budget.is_spent:
            depth = min(self._moved_pages)
            levels = self._reached_from(depth, budget)
            if not self._moved_pages[depth]:
                del self._moved_pages[depth]
            self.move(levels)

    def _reached_from(self, depth: int, budget: RowBudget) -> dict[int, _Level]:
        """Return what moved pages of one depth lead to: a redirect's target has the depth and rank of its source, other
        links keep their own rank and matter only when the page came nearer."""
        levels: dict[int, _Level] = {}
        pages = self._moved_pages[depth]
        for url_id, blob in self._connection.execute(READ_OUTLINKS, {"pages": pages}):
            page, links = pages[url_id], unpack_outlinks(blob)
            end = page.done + budget.left
            for target in links.same_depth[page.done : end]:
                _reach(levels, depth, target, page.rank)
            same, followed = len(links.same_depth), len(links.same_depth)
            if page.nearer:
                followed += len(links.deeper)
                for target in links.deeper[max(page.done - same, 0) : max(end - same, 0)]:
                    _reach(levels, depth + 1, target, _LOWEST)
            if end < followed:
                budget.spend(budget.left)
                page.done = end
                return levels
            budget.spend(max(followed - page.done, 1))
            del pages[url_id]
            if budget.is_spent:
                return levels
        pages.clear()  # the others lead nowhere
        return levels

    def move(self, levels: Mapping[int, _Level]) -> None:
        """Move the URLs of some levels; visited ones are to be followed."""
        for depth in sorted(levels):
            moves = []
            for row in self._connection.execute(_PLACES, {"ids": levels[depth]}).fetchall():
                place = _Place(*row)
                moved = self._moved(place, depth, levels[depth][place.id])
                if moved is None:
                    continue
                state, new_depth, rank = moved
                moves.append({"url": place.id, "depth": new_depth, **rank._asdict(), "state": state})
                if state is State.VISITED:
                    self._add_moved(new_depth, place.id, rank, nearer=new_depth < place.depth)
            if moves:
                self._connection.write_many(WRITE_URL, moves)

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
            self._queue.counters.add(place.purpose, place.state, place.tier, -1)
            self._queue.counters.add(place.purpose, state, rank.tier, 1)
            self._queue.enter(place.host_id, rank, waiting=int(opens))
        return state, depth, rank

    def _add_moved(self, depth: int, url_id: int, rank: Rank, *, nearer: bool) -> None:
        pages = self._moved_pages.setdefault(depth, {})
        if url_id in pages:  # of the same depth, so that its rank rose
            rank, nearer = max(rank, pages[url_id].rank), nearer or pages[url_id].nearer
        pages[url_id] = _Moved(rank, nearer)

    def load(self) -> bool:
        """Take the first level that is stored; return whether there was one."""
        row = self._connection.execute(_FIRST_STORED).fetchone()
        if row is None:
            return False
        name, value = row
        self._database.delete_meta(name)
        depth = int(name.split(":")[1])
        self._moved_pages[depth] = {
            url_id: _Moved(Rank(tier, score), bool(nearer), done)
            for url_id, tier, score, nearer, done in json.loads(value)
        }
        return True

    def store(self) -> None:
        """Store the pages that are left to be followed."""
        for depth, pages in self._moved_pages.items():
            first, last = (_NAME.format(depth=depth, number=number) for number in (0, 999_999_999))
            former = self._connection.execute(_LAST_OF_DEPTH, {"first": first, "last": last}).fetchone()[0]
            number = 0 if former is None else int(former.rpartition(":")[2]) + 1
            rows = [(url_id, *page.rank, int(page.nearer), page.done) for url_id, page in pages.items()]
            self._database.write_meta(_NAME.format(depth=depth, number=number), json.dumps(rows))


def _reach(levels: dict[int, _Level], depth: int, url_id: int, rank: Rank) -> None:
    """Let a URL be reached at a depth, with the best rank that leads there."""
    level = levels.setdefault(depth, {})
    level[url_id] = max(level.get(url_id, _LOWEST), rank)
