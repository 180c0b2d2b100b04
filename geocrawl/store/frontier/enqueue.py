"""What a person gives the frontier: start pages, a catalogue's pages of records, endpoints to be probed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from geocrawl.model import Candidate, Link, Rank, RankedLink, State, Url
from geocrawl.ports import Clock
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.lifecycle import HARVEST_TIER, seed_reopens
from geocrawl.store.frontier.links import Links, Source
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.settlement import Settlement
from geocrawl.store.keys import page_key
from geocrawl.urls import RECORDS, read_url

_BATCH = 2000


class Enqueuer:
    """Puts it there, in transactions of its own."""

    def __init__(self, database: Database, clock: Clock, links: Links, queue: Queue, settlement: Settlement) -> None:
        self._database = database
        self._connection = database.connection
        self._clock = clock
        self._links = links
        self._queue = queue
        self._settlement = settlement

    def add_seeds(self, urls: Iterable[Url], rank: Rank, *, again: bool = False) -> int:
        """Put seeds at depth 0; returns how many will be visited. A visited one only with `again`."""
        source = Source(None, 0, rank, 0, self._clock.now())
        waiting, todo = 0, iter(urls)
        while batch := list(islice(todo, _BATCH)):
            with self._database.transaction:
                for url in batch:
                    if self._database.blocked.covers(url.host):
                        continue
                    waiting += self._add_seed(url, rank, source, again=again)
                self._settlement.flush()
        return waiting

    def _add_seed(self, url: Url, rank: Rank, source: Source, *, again: bool) -> bool:
        known = self._links.take(RankedLink(Link(url, where="seed"), rank), 0, rank, source)
        row = self._connection.execute(sql.FIND_URL_STATE, (page_key(url.identity),)).fetchone()
        _, state, reason = row
        if state == State.WAITING:
            if again:
                self._queue.ask_whole(known.id)
            return True
        if not seed_reopens(State(state), reason or "", again=again):
            return False
        self._queue.reopen(known.id)
        return True

    def add_records(self, urls: Sequence[Url], *, within: Callable[[Url], bool]) -> int:
        """Put a catalogue's first pages of records at the top of the queue, for a harvest; returns how many pages wait.

        A harvest that was interrupted is gone on with. Where none waits, the first pages and all that were known behind
        them on their hosts (those `within` the bounds) are visited anew, for a page that was read leads on no more.
        """
        with self._database.transaction:
            if waiting := self._connection.execute(sql.COUNT_TIER, (HARVEST_TIER,)).fetchone()[0]:
                return int(waiting)
            source = Source(None, 0, Rank(HARVEST_TIER), 0, self._clock.now())
            for url in urls:
                if self._database.blocked.covers(url.host):
                    continue
                self._links.take(RankedLink(Link(url, where=RECORDS), source.rank), 0, source.rank, source)
            for host in dict.fromkeys(url.host for url in urls):
                for url_id, address in self._connection.execute(sql.RECORDS_OF_HOST, (host, RECORDS)).fetchall():
                    page = read_url(address)
                    if page is not None and within(page):
                        self._queue.lift(url_id, Rank(HARVEST_TIER))
            self._settlement.flush()
            self._links.clear()
            return int(self._connection.execute(sql.COUNT_TIER, (HARVEST_TIER,)).fetchone()[0])

    def add_candidates(self, candidates: Iterable[Candidate], *, again: bool = False) -> int:
        """Queue endpoints to be probed; returns how many will be. One that has a verdict only with `again`."""
        queued, todo = 0, iter(candidates)
        while batch := list(islice(todo, _BATCH)):
            with self._database.transaction:
                now = self._clock.now()
                for candidate in batch:
                    if self._database.blocked.covers(candidate.endpoint.url.host):
                        continue
                    self._settlement.queue_probe(candidate, 0, now, found_on=None, again=again)
                    queued += self._settlement.probe_waits(candidate)
                self._settlement.flush()
        return queued
