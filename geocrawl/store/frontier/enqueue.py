"""Enqueue what an operator supplies: start pages, a catalogue's pages of records, endpoints to be probed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from sqlalchemy import func, select

from geocrawl.model import HARVEST_TIER, Candidate, Link, Purpose, Rank, RankedLink, State, Url
from geocrawl.ports import Clock
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import HOST, URL
from geocrawl.store.database.steps import ChunkedWork, batches
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.lifecycle import PROBE_TIER, seed_reopens
from geocrawl.store.frontier.plan import LinkSource, candidate_key
from geocrawl.store.frontier.queue import Queue, changing
from geocrawl.store.frontier.settle import ArrivalWriter
from geocrawl.store.frontier.sources import Harvest, SourceWriter
from geocrawl.urls import RECORDS

_BEGUN = "harvest-begun"
"""Name of the fact about the last harvest."""
_IS_PAGE = URL.c.purpose == Purpose.PAGE
_COUNT_HARVESTED = (
    select(func.count()).select_from(URL).where(URL.c.state == State.WAITING, _IS_PAGE, URL.c.tier >= HARVEST_TIER)
)
_COUNT_LEFT = _COUNT_HARVESTED.join_from(URL, HOST, HOST.c.id == URL.c.host_id).where(in_list(HOST.c.name, "hosts"))


class Enqueuer:
    """Enqueues what an operator supplies; each call is one or more transactions."""

    def __init__(self, database: Database, clock: Clock, arrivals: ArrivalWriter) -> None:
        self._database = database
        self._connection = database.connection
        self._clock = clock
        self._arrivals = arrivals

    def add_seeds(self, urls: Iterable[Url], rank: Rank, *, again: bool = False) -> ChunkedWork[int]:
        """Put seeds at depth 0; return how many will be visited. A visited one only with `again`."""
        source = LinkSource(None, 0, rank, 0, self._clock.now())
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

    def add_records(self, urls: Sequence[Url]) -> tuple[int, Harvest]:
        """Put a catalogue's first pages of records at the top of the queue, for a harvest. Returns how many pages of
        records wait, and the harvest.

        A harvest that was interrupted is continued. Else its first pages are visited again, and then what each page
        names as the next one.
        """
        hosts = list(dict.fromkeys(url.host for url in urls))
        begun = self._database.meta(_BEGUN)
        harvest = Harvest(**json.loads(begun)) if begun else Harvest()
        left = self._connection.execute(_COUNT_LEFT, {"hosts": hosts}).fetchone()[0]
        if not left or not harvest.number:
            harvest = Harvest(harvest.number + 1, self._clock.now())
            with changing(self._database) as queue:
                self._database.write_meta(_BEGUN, json.dumps(asdict(harvest)))
                self._add_first_pages(urls, queue)
        return int(self._connection.execute(_COUNT_HARVESTED).fetchone()[0]), harvest

    def add_slices(
        self, sources: SourceWriter, source: int, window: int, cut: Sequence[int], slices: Mapping[str, Url]
    ) -> int:
        """Add slices of a source and queue their first pages, in one transaction; return how many are new."""
        with changing(self._database) as queue:
            new = sources.add_slices(source, window, cut, slices)
            self._add_first_pages(new, queue)
        return len(new)

    def _add_first_pages(self, urls: Sequence[Url], queue: Queue) -> None:
        """Put first pages of lists at the top of the queue, also those that were visited before."""
        source = LinkSource(None, 0, Rank(HARVEST_TIER), 0, self._clock.now())
        links = [RankedLink(Link(url, where=RECORDS), source.rank) for url in urls if not self._opted_out(url)]
        for url_id in self._arrivals.add_pages(links, source.rank, source, queue):
            queue.requeue(url_id, source.rank)

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
