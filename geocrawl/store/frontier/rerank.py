"""Write new ranks of a million URLs at a time, without loading the queue.

A few ranks, as a strategy revises them after a visit, are written by the keys of their rows, in one transaction with
the number of the feedback that they follow from. More than that are staged in a temporary table, sorted by the row that
they belong to, and applied in ranges of rows: each range is one short transaction, so other processes never wait long
for the write lock, and each page of the file is written once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from geocrawl.model import Rank, State
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import Steps, do
from geocrawl.store.frontier import rank_statements as sql
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.feedback_log import FeedbackLog
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.lifecycle import UNRANKED
from geocrawl.store.frontier.memory import LinkMemory

_FEW = 1_000
"""Most ranks that are written by the keys of their rows, about 4 µs each."""
_READY = 1_000_000
"""Ranks in the temporary table at once: about 30 bytes each, in memory."""
_WRITTEN = 20_000
"""Ranks written in one transaction, which lasts about a tenth of a second: two statements write all of them."""
_STEP = 2_000
"""Number of ranks that are read from the strategy at once."""


class Reranking:
    """Writes new ranks of waiting pages, and keeps counters and hosts' queues in step."""

    def __init__(
        self, database: Database, hosts: Hosts, counters: Counters, feedback: FeedbackLog, memory: LinkMemory
    ) -> None:
        self._database = database
        self._feedback = feedback
        self._memory = memory
        self._connection: Connection = database.connection
        self._hosts = hosts
        self._counters = counters

    def write(self, ranks: Iterable[tuple[int, Rank | None]], through: int | None = None) -> int:
        """Write (id, new rank) of pages, where None drops a page from the queue; return how many were reranked.

        Of two ranks for one page the later counts. What is no waiting or dropped page is left as it is. `through`: the
        number of the feedback after which the ranks were made, which is stored after them or with them.
        """
        ranks = iter(ranks)
        few = list(islice(ranks, _FEW + 1))
        if len(few) <= _FEW:
            with self._database.transaction:
                changed, outdated = self._write_few(dict(few))
                self._write_revised(through)
            self._memory.forget(outdated)
            return changed
        changed = do(self._write_in_steps(chain(few, ranks), through))
        with self._database.transaction:
            self._write_revised(through)
        self._memory.clear()
        return changed

    def _write_revised(self, through: int | None) -> None:
        if through is not None:
            self._feedback.write_revised(through)

    def _write_few(self, ranks: Mapping[int, Rank | None]) -> tuple[int, list[int]]:
        """Write ranks by URL id inside the caller's transaction; return how many rows changed, and the ids of those
        that did more than rise, of which a better rank may be remembered."""
        left: dict[int, int] = {}
        moved, turned, outdated = list[tuple[int, int, float]](), list[tuple[object, ...]](), list[int]()
        for id_, host_id, state, tier, score in self._connection.execute(sql.RANKS, (json.dumps(list(ranks)),)):
            rank = ranks[id_]
            to, new = (State.WAITING, rank) if rank else (State.REFUSED, Rank(tier, score))
            if (state, tier, score) == (to, *new):
                continue
            if state == to:
                moved.append((id_, *new))
            else:
                turned.append((id_, *new, to, None if rank else UNRANKED))
            if state != to or new < (tier, score):
                outdated.append(id_)
            if (state, tier) != (to, new.tier):
                self._counters.add("page", state, tier, -1)
                self._counters.add("page", to, new.tier, 1)
            left[host_id] = left.get(host_id, 0) + (state == State.WAITING) - (to == State.WAITING)
        self._connection.executemany(sql.MOVE_WAITING, moved)
        self._connection.executemany(sql.WRITE_RANK, turned)
        self._refresh(left)
        return len(moved) + len(turned), outdated

    def _refresh(self, left: Mapping[int, int]) -> None:
        """Find the heads of the hosts' queues after so many URLs left each of them, and write the counters."""
        for host_id, count in left.items():
            self._hosts.refresh(host_id, count)
        self._counters.flush()

    def _write_in_steps(self, ranks: Iterator[tuple[int, Rank | None]], through: int | None) -> Steps[int]:
        self._connection.execute(sql.MAKE_NEW_RANKS)
        changed = 0
        while self._stage(islice(ranks, _READY)):
            for number, (first, last) in enumerate(self._ranges()):
                if number:
                    yield
                with self._database.transaction:
                    if through is not None:
                        self._feedback.demand_role()
                    changed += self._write(first, last)
        return changed

    def _stage(self, ranks: Iterator[tuple[int, Rank | None]]) -> bool:
        """Fill the temporary table with the next ranks; return False when there are none."""
        self._connection.execute(sql.CLEAR_NEW_RANKS)
        some = False
        while batch := [(url_id, *(rank or (None, None))) for url_id, rank in islice(ranks, _STEP)]:
            self._connection.executemany(sql.LAY_NEW_RANK, batch)
            some = True
        return some

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the (first, last) id of every `_WRITTEN` ranks in the temporary table."""
        first = -(2**63)
        while (last := self._connection.execute(sql.LAST_OF_NEXT_RANKS, (first, _WRITTEN)).fetchone()[0]) is not None:
            yield first, last
            first = last + 1

    def _write(self, first: int, last: int) -> int:
        """Write the ranks of these rows inside the caller's transaction; return how many rows changed."""
        left: dict[int, int] = {}
        changed = 0
        for host_id, state, tier, to, tier_to, count in self._connection.execute(sql.RANK_CHANGES, (first, last)):
            self._counters.add("page", state, tier, -count)
            self._counters.add("page", to, tier_to, count)
            gone = (state == State.WAITING) - (to == State.WAITING)
            left[host_id] = left.get(host_id, 0) + gone * count
            changed += count
        self._connection.execute(sql.WRITE_NEW_RANKS, (first, last))
        self._refresh(left)
        return changed
