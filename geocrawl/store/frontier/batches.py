"""Serve the best N waiting pages as a batch (best-N-first); the links that they add wait for the next batch.

A batch is a tier above every strategy's own: its pages are served before all others, and the next batch is made only
when none of them waits or is leased. The tier is stored with the URLs, so a killed crawl continues with its batch. A
host that backs off does not delay the next batch: a batch is used up when all its remaining pages are on such hosts.
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

    def __init__(self, connection: Connection, hosts: Hosts, counters: Counters, stride: int) -> None:
        self._connection = connection
        self._hosts = hosts
        self._counters = counters
        self._stride = stride

    def refill(self) -> None:
        """Make the next batch when the last one is used up: by tier, then score, then the first seen."""
        if self._connection.execute(sql.BATCH_GOES_ON, (BATCH_TIER,)).fetchone():
            return
        probing = self._connection.execute(sql.COUNT_HEADS, (PROBE_TIER,)).fetchone()[0]
        # The best N pages are on hosts whose best page is among the best N; a probe at a queue's head hides that page's
        # rank.
        hosts = self._connection.execute(sql.BEST_HOSTS, (self._stride + probing,)).fetchall()
        best = heapq.merge(*map(self._pages, hosts), key=lambda row: (-row[1], -row[2], row[0]))
        for url_id, tier, score, host_id in list(islice(best, self._stride)):
            self._connection.execute(sql.RAISE_TIER, (url_id, BATCH_TIER))
            self._counters.add("page", "waiting", tier, -1)
            self._counters.add("page", "waiting", BATCH_TIER, 1)
            self._hosts.raise_head(host_id, Rank(BATCH_TIER, score))
        self._hosts.flush()

    def _pages(self, host: tuple[int, int | None]) -> Iterator[_Row]:
        """Yield a host's waiting pages, the best first, without the one under way."""
        host_id, leased_id = host
        for url_id, tier, score in self._connection.execute(sql.BEST_PAGES, (host_id, self._stride)):
            if url_id != leased_id:
                yield url_id, tier, score, host_id
