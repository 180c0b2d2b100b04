"""New ranks for the queue, a million at a time, without loading the queue.

The ranks are laid ready in a temporary table, sorted by the row they belong to, and carried over in ranges of rows:
each range is one transaction of a few statements, so the write lock is never held for long and each page of the file
is touched once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from geocrawl.model import Rank, State
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts

_READY = 1_000_000
"""Ranks laid ready at once: about 30 bytes each, in memory."""
_WRITTEN = 50_000
"""Ranks carried over in one transaction, which lasts about a quarter of a second."""
_STEP = 2_000
"""Ranks taken from the strategy at once."""


class Reranking:
    """Gives waiting pages new ranks; their counters and their hosts' heads follow."""

    def __init__(self, database: Database, hosts: Hosts, tally: Counters) -> None:
        self._database = database
        self._connection: Connection = database.connection
        self._hosts = hosts
        self._tally = tally

    def give(self, ranks: Iterable[tuple[int, Rank | None]]) -> int:
        """(id, new rank) of pages; None drops one from the queue. Returns how many were ranked anew.

        Of two ranks for one page the later counts. What is no waiting or dropped page is left as it is.
        """
        self._connection.execute(sql.MAKE_NEW_RANKS)
        changed, todo = 0, iter(ranks)
        while self._lay_ready(islice(todo, _READY)):
            for first, last in self._ranges():
                with self._database.transaction:
                    changed += self._write(first, last)
        return changed

    def _lay_ready(self, ranks: Iterator[tuple[int, Rank | None]]) -> bool:
        """Fill the temporary table anew; false when there was nothing to fill it with."""
        self._connection.execute(sql.CLEAR_NEW_RANKS)
        some = False
        while batch := [(url_id, *(rank or (None, None))) for url_id, rank in islice(ranks, _STEP)]:
            self._connection.executemany(sql.LAY_NEW_RANK, batch)
            some = True
        return some

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """(first, last) id of each `_WRITTEN` ranks that are ready."""
        first = -(2**63)
        while (last := self._connection.execute(sql.LAST_OF_NEXT_RANKS, (first, _WRITTEN)).fetchone()[0]) is not None:
            yield first, last
            first = last + 1

    def _write(self, first: int, last: int) -> int:
        """Carry over the ranks of these rows, inside the caller's transaction; returns how many rows changed."""
        left: dict[int, int] = {}
        changed = 0
        for host_id, state, tier, to, tier_to, count in self._connection.execute(sql.RANK_CHANGES, (first, last)):
            self._tally.add("page", state, tier, -count)
            self._tally.add("page", to, tier_to, count)
            gone = (state == State.WAITING) - (to == State.WAITING)
            left[host_id] = left.get(host_id, 0) + gone * count
            changed += count
        self._connection.execute(sql.WRITE_NEW_RANKS, (first, last))
        for host_id, count in left.items():
            self._hosts.refresh(host_id, count)
        self._tally.flush()
        return changed
