"""Write new ranks of a million URLs at a time, without loading the queue.

A few ranks, as a strategy revises them after a visit, are written by the keys of their rows, in one transaction with
the number of the feedback that they follow from. More than that are staged in a temporary table, sorted by the row that
they belong to, and applied in ranges of rows: each range is one short transaction, so other processes never wait long
for the write lock, and each page of the file is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from sqlalchemy import (
    Column,
    Double,
    Integer,
    MetaData,
    Table,
    and_,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.schema import CreateTable

from geocrawl.model import Rank, State
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list, upsert
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import HASH, URL
from geocrawl.store.database.steps import ChunkedWork, run
from geocrawl.store.frontier.learner import SqlLearningLog
from geocrawl.store.frontier.lifecycle import UNRANKED
from geocrawl.store.frontier.queue import Queue, changing
from geocrawl.store.frontier.statements import WRITE_URL, is_rankable

_FEW = 1_000
"""Most ranks that are written by the keys of their rows, about 4 µs each."""
_READY = 1_000_000
"""Ranks in the temporary table at once: about 30 bytes each, in memory."""
_WRITTEN = 20_000
"""Ranks written in one transaction, which lasts about a tenth of a second: two statements write all of them."""
_STEP = 2_000
"""Number of ranks that are read from the strategy at once."""
_is_open = URL.c.depth >= bindparam("least_depth")
_RANKS = select(URL.c.id, URL.c.host_id, URL.c.state, URL.c.tier, URL.c.score, URL.c.sub_queue).where(
    in_list(URL.c.id, "ids"), _is_open, is_rankable(URL)
)
_NEW = Table(
    "new_rank",
    MetaData(),
    Column("id", HASH, primary_key=True, autoincrement=False),
    Column("tier", Integer),
    Column("score", Double),
    prefixes=["TEMPORARY"],
)
"""The staging table of new ranks, by URL id; no tier: the page is dropped."""
_MAKE_NEW_RANKS = CreateTable(_NEW, if_not_exists=True)
_CLEAR_NEW_RANKS = delete(_NEW)
_STAGE = upsert(_NEW, "id")
_next = select(_NEW.c.id).where(_NEW.c.id >= bindparam("first")).order_by(_NEW.c.id).limit(_WRITTEN).subquery("next")
_LAST_OF_NEXT_RANKS = select(func.max(_next.c.id))
_is_dropped = _NEW.c.tier.is_(None)
_is_waiting = URL.c.state == State.WAITING
_CHANGED = and_(
    _NEW.c.id.between(bindparam("first"), bindparam("last")),
    _is_open,
    is_rankable(URL),
    or_(
        and_(_is_dropped, _is_waiting),
        and_(~_is_dropped, or_(~_is_waiting, URL.c.tier != _NEW.c.tier, URL.c.score != _NEW.c.score)),
    ),
)
"""Pages that wait or were dropped and whose rank or state changes."""
_to = case((_is_dropped, State.REFUSED), else_=State.WAITING)
_tier_to = func.coalesce(_NEW.c.tier, URL.c.tier)
_RANK_CHANGES = (
    select(URL.c.host_id, URL.c.state, URL.c.tier, _to, _tier_to, URL.c.sub_queue, func.count())
    .join_from(_NEW, URL, URL.c.id == _NEW.c.id)
    .where(_CHANGED)
    .group_by(URL.c.host_id, URL.c.state, URL.c.tier, _to, _tier_to, URL.c.sub_queue)
)
"""Count them by host and sub-queue, and by state and tier before and after."""
_WRITE_NEW_RANKS = (
    update(URL)
    .with_hint("NOT INDEXED", dialect_name="sqlite")  # else the planner would walk the whole queue for each range
    .values(
        tier=_tier_to,
        score=func.coalesce(_NEW.c.score, URL.c.score),
        state=_to,
        reason=case((_is_dropped, UNRANKED)),
    )
    .where(URL.c.id == _NEW.c.id, URL.c.id.between(bindparam("first"), bindparam("last")), _CHANGED)
)


class Reranking:
    """Writes new ranks of waiting pages, and keeps counters and hosts' queues in step."""

    def __init__(self, database: Database, log: SqlLearningLog) -> None:
        self._database = database
        self._log = log
        self._connection: Connection = database.connection
        self._least_depth = 0

    def write(self, ranks: Iterable[tuple[int, Rank | None]], through: int | None = None) -> int:
        """Write (id, new rank) of pages, where None drops a page from the queue; return how many were reranked.

        Of two ranks for one page the later counts. What is no waiting or dropped page is left as it is. `through`: the
        number of the feedback after which the ranks were made, which is stored after them or with them; start pages
        then keep their rank, though pages link to them.
        """
        self._least_depth = int(through is not None)
        ranks = iter(ranks)
        few = list(islice(ranks, _FEW + 1))
        if len(few) <= _FEW:
            with changing(self._database) as queue:
                changed = self._write_few(dict(few), queue)
                self._write_revised(through)
            return changed
        changed = run(self._write_in_steps(chain(few, ranks), through))
        with self._database.transaction:
            self._write_revised(through)
        return changed

    def _write_revised(self, through: int | None) -> None:
        if through is not None:
            self._log.write_revised(through)

    def _write_few(self, ranks: Mapping[int, Rank | None], queue: Queue) -> int:
        """Write ranks by URL id inside the caller's transaction; return how many rows changed."""
        left: dict[int, int] = {}
        wanted = {"ids": ranks, "least_depth": self._least_depth}
        moved, turned = list[dict[str, object]](), list[dict[str, object]]()
        for id_, host_id, state, tier, score, sub_queue in self._connection.execute(_RANKS, wanted):
            rank = ranks[id_]
            to, new = (State.WAITING, rank) if rank else (State.REFUSED, Rank(tier, score))
            if (state, tier, score) == (to, *new):
                continue
            written: dict[str, object] = {"url": id_, **new._asdict()}
            if state == to:  # SQLite looks at the indexes of the columns that are set, changed or not
                moved.append(written)
            else:
                turned.append({**written, "state": to, "reason": None if rank else UNRANKED})
            if (state, tier) != (to, new.tier):
                queue.counters.move("page", (state, tier), (to, new.tier), sub_queue)
            left[host_id] = left.get(host_id, 0) + (state == State.WAITING) - (to == State.WAITING)
        self._connection.write_many(WRITE_URL, moved)
        self._connection.write_many(WRITE_URL, turned)
        queue.refresh_all(left)
        return len(moved) + len(turned)

    def _write_in_steps(self, ranks: Iterator[tuple[int, Rank | None]], through: int | None) -> ChunkedWork[int]:
        self._connection.execute(_MAKE_NEW_RANKS)
        changed = 0
        while self._stage(islice(ranks, _READY)):
            for number, (first, last) in enumerate(self._ranges()):
                if number:
                    yield
                with changing(self._database) as queue:
                    if through is not None:
                        self._log.demand_role()
                    changed += self._write(first, last, queue)
        return changed

    def _stage(self, ranks: Iterator[tuple[int, Rank | None]]) -> bool:
        """Fill the temporary table with the next ranks; return False when there are none."""
        self._connection.execute(_CLEAR_NEW_RANKS)
        some = False
        while batch := list(islice(ranks, _STEP)):
            rows = [
                {"id": url_id, "tier": rank.tier if rank else None, "score": rank.score if rank else None}
                for url_id, rank in batch
            ]
            self._connection.executemany(_STAGE, rows)
            some = True
        return some

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the (first, last) id of every `_WRITTEN` ranks in the temporary table."""
        first = -(2**63)
        while (last := self._connection.execute(_LAST_OF_NEXT_RANKS, {"first": first}).fetchone()[0]) is not None:
            yield first, last
            first = last + 1

    def _write(self, first: int, last: int, queue: Queue) -> int:
        """Write the ranks of these rows inside the caller's transaction; return how many rows changed."""
        left: dict[int, int] = {}
        changed = 0
        part = {"first": first, "last": last, "least_depth": self._least_depth}
        for host_id, state, tier, to, tier_to, sub_queue, count in self._connection.execute(_RANK_CHANGES, part):
            queue.counters.move("page", (state, tier), (to, tier_to), sub_queue, count)
            gone = (state == State.WAITING) - (to == State.WAITING)
            left[host_id] = left.get(host_id, 0) + gone * count
            changed += count
        self._connection.write(_WRITE_NEW_RANKS, part)
        queue.refresh_all(left)
        return changed
