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
from geocrawl.store.engine.clauses import listed
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import ChunkedWork, run
from geocrawl.store.frontier.learner import SqlLearningLog
from geocrawl.store.frontier.lifecycle import UNRANKED
from geocrawl.store.frontier.queue import Queue, changing

_FEW = 1_000
"""Most ranks that are written by the keys of their rows, about 4 µs each."""
_READY = 1_000_000
"""Ranks in the temporary table at once: about 30 bytes each, in memory."""
_WRITTEN = 20_000
"""Ranks written in one transaction, which lasts about a tenth of a second: two statements write all of them."""
_STEP = 2_000
"""Number of ranks that are read from the strategy at once."""
# Read pages that wait or were dropped, by a JSON list of ids.
_RANKS = f"""
SELECT id, host_id, state, tier, score FROM url WHERE id IN {listed("?")}
  AND purpose = 'page' AND (state = 'waiting' OR (state = 'refused' AND reason = 'unranked'))"""  # noqa: S608 our own
# Write the rank of a waiting page. (SQLite looks at the indexes of the columns that are set, changed or not.)
_MOVE_WAITING = "UPDATE url SET tier = ?2, score = ?3 WHERE id = ?1"
# Write the rank, state and reason of a page.
_WRITE_RANK = "UPDATE url SET tier = ?2, score = ?3, state = ?4, reason = ?5 WHERE id = ?1"
# Make the staging table of new ranks, by URL id; no tier: the page is dropped.
_MAKE_NEW_RANKS = "CREATE TEMP TABLE IF NOT EXISTS new_rank (id INTEGER PRIMARY KEY, tier INTEGER, score REAL)"
# Empty the staging table.
_CLEAR_NEW_RANKS = "DELETE FROM temp.new_rank"
# Stage a rank (last write wins).
_LAY_NEW_RANK = """
INSERT INTO temp.new_rank (id, tier, score) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET tier = excluded.tier, score = excluded.score"""
# Read the last of the ?2 staged ids from ?1 on.
_LAST_OF_NEXT_RANKS = "SELECT max(id) FROM (SELECT id FROM temp.new_rank WHERE id >= ?1 ORDER BY id LIMIT ?2) n"
# Pages that wait or were dropped and whose rank or state changes.
_CHANGED = """
n.id BETWEEN ?1 AND ?2 AND url.purpose = 'page'
AND (url.state = 'waiting' OR (url.state = 'refused' AND url.reason = 'unranked'))
AND CASE WHEN n.tier IS NULL THEN url.state = 'waiting'
    ELSE url.state <> 'waiting' OR url.tier <> n.tier OR url.score <> n.score END"""
# Count them by host, and by state and tier before and after. (The cross join keeps to the order of the rows.)
_RANK_CHANGES = f"""
SELECT url.host_id, url.state, url.tier, CASE WHEN n.tier IS NULL THEN 'refused' ELSE 'waiting' END,
  coalesce(n.tier, url.tier), count(*)
FROM temp.new_rank n CROSS JOIN url ON url.id = n.id WHERE {_CHANGED} GROUP BY 1, 2, 3, 4, 5"""  # noqa: S608 both are ours
# Write their ranks. (Without NOT INDEXED the planner would walk the whole queue for each range.)
_WRITE_NEW_RANKS = f"""
UPDATE url NOT INDEXED SET tier = coalesce(n.tier, url.tier), score = coalesce(n.score, url.score),
  state = CASE WHEN n.tier IS NULL THEN 'refused' ELSE 'waiting' END,
  reason = CASE WHEN n.tier IS NULL THEN 'unranked' END
FROM temp.new_rank n WHERE url.id = n.id AND url.id BETWEEN ?1 AND ?2 AND {_CHANGED}"""  # noqa: S608 both are ours


class Reranking:
    """Writes new ranks of waiting pages, and keeps counters and hosts' queues in step."""

    def __init__(self, database: Database, log: SqlLearningLog) -> None:
        self._database = database
        self._log = log
        self._connection: Connection = database.connection

    def write(self, ranks: Iterable[tuple[int, Rank | None]], through: int | None = None) -> int:
        """Write (id, new rank) of pages, where None drops a page from the queue; return how many were reranked.

        Of two ranks for one page the later counts. What is no waiting or dropped page is left as it is. `through`: the
        number of the feedback after which the ranks were made, which is stored after them or with them.
        """
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
        moved, turned = list[tuple[int, int, float]](), list[tuple[object, ...]]()
        for id_, host_id, state, tier, score in self._connection.execute(_RANKS, (json.dumps(list(ranks)),)):
            rank = ranks[id_]
            to, new = (State.WAITING, rank) if rank else (State.REFUSED, Rank(tier, score))
            if (state, tier, score) == (to, *new):
                continue
            if state == to:
                moved.append((id_, *new))
            else:
                turned.append((id_, *new, to, None if rank else UNRANKED))
            if (state, tier) != (to, new.tier):
                queue.counters.add("page", state, tier, -1)
                queue.counters.add("page", to, new.tier, 1)
            left[host_id] = left.get(host_id, 0) + (state == State.WAITING) - (to == State.WAITING)
        self._connection.executemany(_MOVE_WAITING, moved)
        self._connection.executemany(_WRITE_RANK, turned)
        for host_id, count in left.items():
            queue.refresh(host_id, count)
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
        while batch := [(url_id, *(rank or (None, None))) for url_id, rank in islice(ranks, _STEP)]:
            self._connection.executemany(_LAY_NEW_RANK, batch)
            some = True
        return some

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the (first, last) id of every `_WRITTEN` ranks in the temporary table."""
        first = -(2**63)
        while (last := self._connection.execute(_LAST_OF_NEXT_RANKS, (first, _WRITTEN)).fetchone()[0]) is not None:
            yield first, last
            first = last + 1

    def _write(self, first: int, last: int, queue: Queue) -> int:
        """Write the ranks of these rows inside the caller's transaction; return how many rows changed."""
        left: dict[int, int] = {}
        changed = 0
        for host_id, state, tier, to, tier_to, count in self._connection.execute(_RANK_CHANGES, (first, last)):
            queue.counters.add("page", state, tier, -count)
            queue.counters.add("page", to, tier_to, count)
            gone = (state == State.WAITING) - (to == State.WAITING)
            left[host_id] = left.get(host_id, 0) + gone * count
            changed += count
        self._connection.execute(_WRITE_NEW_RANKS, (first, last))
        for host_id, count in left.items():
            queue.refresh(host_id, count)
        return changed
