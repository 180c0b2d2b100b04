"""Heed a limit on depth (`--max-depth`): keep depths exact, and set pages beyond the limit aside.

Without a limit the depth of a page is that of the shortest way known when the page was asked, and nothing here is
stored or done. With a limit a page that is too deep may come within it by a shorter way that is found later, so the
links of visited pages are kept (`outlinks`). A visited page whose depth falls is marked (`outlinks.moved`) in the same
transaction. Before the next lease the marked pages are followed, the least deep first: what they lead to comes nearer,
and is marked in its turn. A process that is killed leaves its marks to the next lease of any process.

A page that was visited while there was no limit has no stored links, so a limit that is set later goes by the depths
that are known then.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, select, update

from geocrawl.model import Purpose, Rank, State
from geocrawl.settings import NO_DEPTH_LIMIT
from geocrawl.store.database.constructs import in_list, upsert
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import OUTLINKS, URL
from geocrawl.store.database.steps import ChunkedWork, RowBudget, batches, ranges
from geocrawl.store.frontier.outlinks import OutLinks, pack_outlinks, unpack_outlinks
from geocrawl.store.frontier.plan import moved_place
from geocrawl.store.frontier.queue import Queue, changing
from geocrawl.store.frontier.statements import PLACE, WRITE_URL

_KEEP_LINKS = upsert(OUTLINKS, "url_id")
_MARK = update(OUTLINKS).where(in_list(OUTLINKS.c.url_id, "pages")).values(moved=1)
_UNMARK = update(OUTLINKS).where(OUTLINKS.c.url_id == bindparam("page")).values(moved=0)
_NEXT_MARKED = (
    select(OUTLINKS.c.url_id, URL.c.depth, OUTLINKS.c.links)
    .join_from(OUTLINKS, URL, URL.c.id == OUTLINKS.c.url_id)
    .where(OUTLINKS.c.moved > 0)
    .order_by(URL.c.depth, URL.c.id)
    .limit(1)
)
_PLACES = select(
    *(URL.c.id, URL.c.purpose, URL.c.state, URL.c.depth, URL.c.tier, URL.c.score, URL.c.host_id, URL.c.sub_queue)  #
).where(in_list(URL.c.id, "ids"))
"""Read what decides whether shorter ways and better links change URLs."""
_ACROSS_LIMIT = (
    select(URL.c.id)
    .where(URL.c.id.between(bindparam("first"), bindparam("last")), URL.c.purpose == Purpose.PAGE)
    .where(
        (URL.c.state == State.WAITING) & (URL.c.depth > bindparam("limit"))
        | (URL.c.state == State.TOO_DEEP) & (URL.c.depth <= bindparam("limit"))
    )
    .order_by(URL.c.id)
)
"""Find waiting pages that the limit now shuts out, and too deep ones that it lets in."""
_LOWEST = Rank(-(2**31), float("-inf"))


class Depths:
    """Moves known URLs to a lesser depth and a better rank."""

    def __init__(self, database: Database, max_depth: int, *, by_depth: bool) -> None:
        """`by_depth`: the score of a page is minus its depth."""
        self._database = database
        self._connection = database.connection
        self._max_depth = max_depth
        self._is_limited = max_depth < NO_DEPTH_LIMIT
        self._by_depth = by_depth

    def keep(self, page_id: int, links: OutLinks) -> None:
        """Store where a visited page leads if there is a limit, inside the caller's transaction."""
        if self._is_limited and (links.same_depth or links.deeper):
            self._connection.write(_KEEP_LINKS, {"url_id": page_id, "links": pack_outlinks(links), "moved": 0})

    def move(self, ways: Mapping[int, tuple[int, Rank]], queue: Queue) -> None:
        """Let URLs have the depth and the rank of new ways to them, by id: depth only falls, rank only rises. Works
        inside the caller's transaction."""
        moves, nearer = list[dict[str, object]](), list[int]()
        for url_id, purpose, state, depth, tier, score, host_id, sub_queue in self._connection.execute(
            _PLACES, {"ids": ways}
        ).fetchall():
            old = Rank(tier, score)
            by_depth = self._by_depth and purpose == Purpose.PAGE
            to, rank = moved_place(depth, old, *ways[url_id], by_depth=by_depth)
            if (to, rank) == (depth, old):
                continue
            opens = state == State.TOO_DEEP and to <= self._max_depth
            new = State.WAITING if opens else State(state)
            if new is State.WAITING:
                queue.counters.move(purpose, (state, tier), (new, rank.tier), sub_queue)
                queue.enter(host_id, rank, waiting=int(opens))
            moves.append({"url": url_id, "depth": to, **rank._asdict(), "state": new})
            if to < depth:
                nearer.append(url_id)
        if moves:
            self._connection.write_many(WRITE_URL, moves)
        if nearer and self._is_limited:
            self._connection.write(_MARK, {"pages": nearer})

    def follow(self) -> ChunkedWork[None]:
        """Follow the links of marked pages until no page is marked, about 1,000 links a transaction (or those of one
        page)."""
        while self._is_limited and self._connection.execute(_NEXT_MARKED).fetchone() is not None:
            budget = RowBudget()
            with changing(self._database) as queue:
                while not budget.is_spent and (row := self._connection.execute(_NEXT_MARKED).fetchone()):
                    page_id, depth, blob = row
                    links = unpack_outlinks(blob)
                    ways = dict.fromkeys(links.deeper, (depth + 1, _LOWEST))
                    ways |= dict.fromkeys(links.same_depth, (depth, _LOWEST))
                    self._connection.execute(_UNMARK, {"page": page_id})
                    self.move(ways, queue)
                    budget.spend(len(ways) + 1)
            yield

    def heed_limit(self) -> ChunkedWork[None]:
        """Set aside waiting pages beyond the limit, and let in those within it, in short transactions."""
        for first, last in ranges(self._connection, URL):
            across = {"limit": self._max_depth, "first": first, "last": last}
            for batch in batches(self._connection.execute(_ACROSS_LIMIT, across).fetchall()):
                with changing(self._database) as queue:
                    for (url_id,) in batch:
                        _, state, depth, *_ = self._connection.execute(PLACE, {"url": url_id}).fetchone()
                        to = State.WAITING if depth <= self._max_depth else State.TOO_DEEP
                        if state in (State.WAITING, State.TOO_DEEP) and state != to:
                            queue.change(url_id, to)
                yield
