"""Write new ranks of a million URLs at a time, without loading the queue.

The ranks are staged in a temporary table, sorted by the row that they belong to, and applied in ranges of rows: each
range is one short transaction, so other processes never wait long for the write lock, and each page of the file is
written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from geocrawl.model import Rank, State
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import Steps, do
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts

_READY = 1_000_000
"""Ranks in the temporary table at once: about 30 bytes each, in memory."""
_WRITTEN = 20_000
"""Ranks written in one transaction, which lasts about a tenth of a second: two statements write all of them."""
_STEP = 2_000
"""Number of ranks that are read from the strategy at once."""


class Reranking:
    """Writes new ranks of waiting pages, and keeps counters and hosts' queues in step."""

    def __init__(self, database: Database, hosts: Hosts, counters: Counters) -> None:
        self._database = database
        self._connection: Connection = database.connection
        self._hosts = hosts
        self._counters = counters

    def write(self, ranks: Iterable[tuple[int, Rank | None]]) -> int:
        """Write (id, new rank) of pages, where None drops a page from the queue; return how many were reranked.

        Of two ranks for one page the later counts. What is no waiting or dropped page is left as it is.
        """
        return do(self._write_in_steps(iter(ranks)))

    def _write_in_steps(self, ranks: Iterator[tuple[int, Rank | None]]) -> Steps[int]:
        self._connection.execute(sql.MAKE_NEW_RANKS)
        changed = 0
        while self._stage(islice(ranks, _READY)):
            for number, (first, last) in enumerate(self._ranges()):
                if number:
                    yield
                with self._database.transaction:
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
        for host_id, count in left.items():
            self._hosts.refresh(host_id, count)
        self._counters.flush()
        return changed
