"""Enqueue what an operator supplies: start pages, a catalogue's pages of records, endpoints to be probed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import bindparam, func, select

from geocrawl.model import HARVEST_TIER, Candidate, Link, Purpose, Rank, RankedLink, State, Url
from geocrawl.ports import Clock
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import HOST, URL
from geocrawl.store.database.steps import ChunkedWork, batches, run
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.lifecycle import PROBE_TIER, seed_reopens
from geocrawl.store.frontier.plan import Source, candidate_key
from geocrawl.store.frontier.queue import Queue, changing
from geocrawl.store.frontier.settle import ArrivalWriter
from geocrawl.urls import RECORDS, read_url

_RAISING = "lifting-records"
"""Name of the fact that is stored while a harvest's pages are being put at the top of the queue."""
_IS_PAGE = URL.c.purpose == Purpose.PAGE
_COUNT_HARVESTED = (
    select(func.count()).select_from(URL).where(URL.c.state == State.WAITING, _IS_PAGE, URL.c.tier >= HARVEST_TIER)
)
_RECORDS_OF_HOST = (
    select(URL.c.id, URL.c.address)
    .join_from(URL, HOST, HOST.c.id == URL.c.host_id)
    .where(HOST.c.name == bindparam("host"), _IS_PAGE, URL.c.found_in == RECORDS)
    .where((URL.c.state != State.REFUSED) | (URL.c.reason == "trap:records"))
    .order_by(URL.c.id)
)
"""Find pages of records of a host."""


class Enqueuer:
    """Enqueues what an operator supplies; each call is one or more transactions."""

    def __init__(self, database: Database, clock: Clock, arrivals: ArrivalWriter) -> None:
        self._database = database
        self._connection = database.connection
        self._clock = clock
        self._arrivals = arrivals

    def add_seeds(self, urls: Iterable[Url], rank: Rank, *, again: bool = False) -> ChunkedWork[int]:
        """Put seeds at depth 0; return how many will be visited. A visited one only with `again`."""
        source = Source(None, 0, rank, 0, self._clock.now())
        waiting = 0
        for batch in batches(urls):
            with changing(self._database) as queue:
                links = [RankedLink(Link(url, where="seed"), rank) for url in batch if not self._opted_out(url)]
                ids = self._arrivals.add_pages(links, rank, source, queue)
                waiting += sum(self._reopen_seed(url_id, queue, again=again) for url_id in ids)
            yield
        return waiting

    def _reopen_seed(self, url_id: int, queue: Queue, *, again: bool) -> bool:
        """Let a seed wait if it should be visited; return whether it waits."""
        _, state, *_, reason = self._connection.execute(sql.PLACE, {"url": url_id}).fetchone()
        if state == State.WAITING:
            if again:
                queue.ask_whole(url_id)
            return True
        if not seed_reopens(State(state), reason or "", again=again):
            return False
        queue.reopen(url_id)
        return True

    def add_records(self, urls: Sequence[Url], *, within: Callable[[Url], bool]) -> int:
        """Put a catalogue's first pages of records at the top of the queue, for a harvest; return how many pages wait.

        An interrupted harvest is continued. Where no page waits, the first pages and all known pages behind them on
        their hosts (those `within` the bounds) are visited again, because a page that was read adds no further pages.
        """
        waiting = self._connection.execute(_COUNT_HARVESTED).fetchone()[0]
        if waiting and self._database.meta(_RAISING) is None:
            return int(waiting)
        run(self._raise_records(urls, within))
        return int(self._connection.execute(_COUNT_HARVESTED).fetchone()[0])

    def _raise_records(self, urls: Sequence[Url], within: Callable[[Url], bool]) -> ChunkedWork[None]:
        """Put the first pages of records and all known pages behind them at the top of the queue. A stored fact marks
        this work until it is done: a harvest that was killed meanwhile begins with it again.
        """
        source = Source(None, 0, Rank(HARVEST_TIER), 0, self._clock.now())
        with changing(self._database) as queue:
            self._database.write_meta(_RAISING, b"")
            links = [RankedLink(Link(url, where=RECORDS), source.rank) for url in urls if not self._opted_out(url)]
            self._arrivals.add_pages(links, source.rank, source, queue)
        for host in dict.fromkeys(url.host for url in urls):
            for batch in batches(self._connection.execute(_RECORDS_OF_HOST, {"host": host}).fetchall()):
                with changing(self._database) as queue:
                    for url_id, address in batch:
                        page = read_url(address)
                        if page is not None and within(page):
                            queue.requeue(url_id, Rank(HARVEST_TIER))
                yield
        with self._database.transaction:
            self._database.delete_meta(_RAISING)

    def put_back(self, candidates: Iterable[Candidate]) -> None:
        """Give known probes of these endpoints the ordinary rank of probes."""
        for batch in batches(map(candidate_key, candidates)):
            with changing(self._database) as queue:
                for key in batch:
                    if row := self._connection.execute(sql.FIND_URL, {"key": key}).fetchone():
                        queue.move(row[0], Rank(PROBE_TIER, 0.0))

    def add_candidates(self, candidates: Iterable[Candidate], *, again: bool = False) -> ChunkedWork[int]:
        """Queue endpoints to be probed; return how many will be. One that has a verdict only with `again`."""
        queued = 0
        for batch in batches(candidates):
            with changing(self._database) as queue:
                wanted = [each for each in batch if not self._opted_out(each.endpoint.url)]
                queued += self._arrivals.add_probes(wanted, self._clock.now(), queue, again=again).waiting
            yield
        return queued

    def _opted_out(self, url: Url) -> bool:
        return self._database.blocked.covers(url.host)
