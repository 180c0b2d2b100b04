"""Write what links and candidates change (`arrivals.ArrivalPlan`), in batches, in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from geocrawl.model import Candidate, Rank, RankedLink, State, Url
from geocrawl.store.catalog.catalog import Catalog
from geocrawl.store.engine.connection import Connection
from geocrawl.store.frontier import shared_statements as shared
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.arrivals import ArrivalPlan, ArrivalRules, Source, wanted_of
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.memory import LinkMemory
from geocrawl.store.frontier.plan import candidate_key
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.shortcuts import Shortcuts
from geocrawl.store.frontier.snapshot import LockedHosts, SnapshotReader
from geocrawl.store.keys import page_key


def _name(host: tuple[int, str]) -> str:
    return host[1]


class Queued(NamedTuple):
    """Counts of probes that were requested to be queued."""

    now: int
    """Number added to the queue by this call."""
    waiting: int
    """Number in the queue after this call, including those that were there before."""


class ArrivalWriter:
    """Adds and improves URLs by plans; for settlements, and for what a person enqueues."""

    def __init__(
        self,
        connection: Connection,
        hosts: Hosts,
        counters: Counters,
        queue: Queue,
        catalog: Catalog,
        shortcuts: Shortcuts,
        rules: ArrivalRules,
    ) -> None:
        self._connection = connection
        self._hosts = hosts
        self._counters = counters
        self._queue = queue
        self._catalog = catalog
        self._rules = rules
        self._shortcuts = shortcuts
        self.reader = SnapshotReader(connection)
        self.memory = LinkMemory(by_depth=rules.by_depth)

    def clear(self) -> None:
        """Drop cached rows, because some were rolled back or deleted."""
        self.reader.clear()
        self.memory.clear()

    def begin(self, pages: Collection[Url], probes: Iterable[Candidate] = ()) -> ArrivalPlan:
        """Return a plan to which these pages and probes can be added."""
        by_key = {page_key(url.identity): url for url in pages}
        asked = {candidate_key(candidate): candidate.endpoint.url for candidate in probes}
        urls = self.reader.read_urls([*by_key, *asked])
        new_probes = [url for key, url in asked.items() if key not in urls]
        # Hosts of known pages as well: a page that waited for a probe is counted when it is freed.
        facts = self.reader.read_facts(wanted_of(by_key.values(), new_probes, (), self._rules.caps))
        return ArrivalPlan(urls, facts, self._rules)

    def write(self, plan: ArrivalPlan) -> None:
        """Write a plan. Hosts' queues and counters are collected; `Settlement.flush` writes them."""
        if plan.new_hosts:
            hosts = sorted(plan.new_hosts, key=_name)
            self._connection.write_many(sql.ADD_HOSTS, hosts)
            self._connection.write_many(sql.SEE_HOSTS, sorted(plan.new_site_hosts.items()))
        if plan.new_urls:
            self._connection.write_many(sql.ADD_URL, plan.new_urls)
        if self._connection.shares_writes and not self._connection.slot:
            self._number_after(plan)
        if plan.queries:
            self._connection.write_many(sql.SEE_QUERIES, plan.queries.items())
        self._counters.merge(plan.counters)
        self._hosts.merge(plan.hosts)
        if plan.improvements:
            self._shortcuts.write(plan.improvements)
        for name, host in plan.touched_hosts.items():
            self.reader.remember_host(name, host)

    def stays_within(self, plan: ArrivalPlan, locked: LockedHosts) -> bool:
        """Return whether what a plan improves belongs to locked hosts and leads no further, as visited pages do."""
        if not plan.improvements:
            return True
        rows = self._connection.execute(sql.PLACES, (json.dumps(list(plan.improvements)),)).fetchall()
        return all(state != State.VISITED and host_id in locked.ids for _, _, state, *_, host_id in rows)

    def _number_after(self, plan: ArrivalPlan) -> None:
        """Let the numbers that workers take when they write at the same time follow those that this plan gave."""
        if plan.new_urls:
            self._connection.write(shared.NUMBER_URLS_AFTER, (plan.new_urls[-1].id,))
        if plan.new_hosts:
            self._connection.write(shared.NUMBER_HOSTS_AFTER, (plan.new_hosts[-1][0],))

    # ----------------------------------------------------------------------- outside visits

    def add_pages(self, links: Collection[RankedLink], rank: Rank, source: Source) -> list[int]:
        """Add pages at depth 0, or improve known ones; return their ids in order."""
        plan = self.begin([ranked.link.url for ranked in links])
        ids = [plan.link(ranked, page_key(ranked.link.url.identity), 0, rank, source).id for ranked in links]
        self.write(plan)
        return ids

    def add_probes(self, candidates: Sequence[Candidate], at: float, *, again: bool, due: bool = False) -> Queued:
        """Note candidates in the catalogue and queue their probes.

        `again`: queue probes that were made before, too; their answers are read in full unless the probes are `due`.
        """
        rank = Rank(self._rules.probe_tier, 0.0)
        plan, reopened, moved = self.begin((), candidates), list[int](), list[int]()
        new, waiting = 0, 0
        for candidate, endpoint_id in zip(candidates, self._catalog.note(candidates, at), strict=True):
            key = candidate_key(candidate)
            known = plan.urls.get(key)
            if known is None:
                new += plan.probe(candidate, key, endpoint_id, 0, at, None)
                waiting += 1
                continue
            if again and not due:
                self._queue.ask_whole(known.id)
            if again and known.rank != rank:
                moved.append(known.id)
            if again and known.state != State.WAITING:
                known.state = State.WAITING
                reopened.append(known.id)
            waiting += known.state == State.WAITING
        self.write(plan)
        for url_id in moved:
            self._queue.move(url_id, rank)
        for url_id in reopened:
            self._queue.reopen(url_id, due=due)
        return Queued(new + len(reopened), waiting)
