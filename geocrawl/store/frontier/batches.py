"""Best-N-first: the best N pages that wait are taken together, and what they bring waits for the next N.

A batch is a tier above every strategy's own: its pages are served before all others, and only when none of them waits
or is held is the next batch made. It stands in the rows, so a killed crawl goes on with the batch it was in. A host
that rests keeps nobody waiting: a batch is used up when what is left of it is on resting hosts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

from geocrawl.model import Rank
from geocrawl.store.engine.connection import Connection
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.lifecycle import BATCH_TIER, PROBE_TIER

_Row = tuple[int, int, float, int]
"""(id, tier, score, host)"""


class Batches:
    """Makes batches of `stride` pages. Works inside the caller's transaction."""

    def __init__(self, connection: Connection, hosts: Hosts, tally: Counters, stride: int) -> None:
        self._connection = connection
        self._hosts = hosts
        self._tally = tally
        self._stride = stride

    def refill(self) -> None:
        """Make the next batch when the last one is used up: by tier, then score, then the first seen."""
        if self._connection.execute(sql.BATCH_GOES_ON, (BATCH_TIER,)).fetchone():
            return
        probing = self._connection.execute(sql.COUNT_HEADS, (PROBE_TIER,)).fetchone()[0]
        # The best N pages stand on hosts whose best page is among the best N; a probe in front hides how good that is.
        hosts = self._connection.execute(sql.BEST_HOSTS, (self._stride + probing,)).fetchall()
        best = heapq.merge(*map(self._pages, hosts), key=lambda row: (-row[1], -row[2], row[0]))
        for url_id, tier, score, host_id in list(islice(best, self._stride)):
            self._connection.execute(sql.RAISE_TIER, (url_id, BATCH_TIER))
            self._tally.add("page", "waiting", tier, -1)
            self._tally.add("page", "waiting", BATCH_TIER, 1)
            self._hosts.raise_head(host_id, Rank(BATCH_TIER, score))
        self._hosts.flush()

    def _pages(self, host: tuple[int, int | None]) -> Iterator[_Row]:
        """A host's waiting pages, the best first; the one under way left out."""
        host_id, held = host
        for url_id, tier, score in self._connection.execute(sql.BEST_PAGES, (host_id, self._stride)):
            if url_id != held:
                yield url_id, tier, score, host_id
