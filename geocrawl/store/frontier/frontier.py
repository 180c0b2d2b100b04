"""Keep the frontier on one database: which URLs are known, which one is next, and what a visit changes.

`lifecycle.py` defines the states; `enqueue.py` adds addresses that an operator supplies; `lease.py` chooses what is
next; `settle.py` writes what a visit brought, as `plan.py` decides. This module joins these parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import bindparam, func, select, update

from geocrawl.model import (
    Candidate,
    FrontierStats,
    HostState,
    Lease,
    Purpose,
    Rank,
    SettlementResult,
    SourceState,
    State,
    Url,
    Visit,
    WaitingHost,
)
from geocrawl.ports import Clock, QueuedLink
from geocrawl.settings import Settings
from geocrawl.store.catalogue.read.sources import read_sources
from geocrawl.store.catalogue.write import health
from geocrawl.store.catalogue.write.doubt import Suspicion, suspicion
from geocrawl.store.catalogue.write.verdicts import CatalogueWriter, ContentReportWriter
from geocrawl.store.database import steps
from geocrawl.store.database.database import Database
from geocrawl.store.database.keys import page_key
from geocrawl.store.database.schema.tables import SITE, URL
from geocrawl.store.database.steps import ChunkedWork
from geocrawl.store.frontier import revisits
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import QUARANTINED, Budgets, Caps, double_budgets, set_aside_of
from geocrawl.store.frontier.counters import clear_yields, read_stats
from geocrawl.store.frontier.depth import Depths
from geocrawl.store.frontier.enqueue import Enqueuer
from geocrawl.store.frontier.hosts import leased_by, leased_by_dead_processes, release
from geocrawl.store.frontier.learner import SqlLearningLog
from geocrawl.store.frontier.lease import Leases
from geocrawl.store.frontier.lifecycle import LATE_SCORE, NAMED_TIER, PROBE_TIER
from geocrawl.store.frontier.options import FrontierOptions
from geocrawl.store.frontier.page_store import PageStore
from geocrawl.store.frontier.plan import ArrivalRules, LinkLimits, SettlementRules
from geocrawl.store.frontier.politeness import SqlHeldHost
from geocrawl.store.frontier.queue import changing, retry, waiting_pages
from geocrawl.store.frontier.rerank import Reranking
from geocrawl.store.frontier.revisits import RevisitWaits
from geocrawl.store.frontier.settle import ArrivalWriter, Settlement
from geocrawl.store.frontier.shared_run import SharedRun
from geocrawl.store.frontier.sources import Lists, SourceWriter
from geocrawl.urls import read_url, service_keys

_ORDINARY = FrontierOptions()
_SEEDS = (
    select(URL.c.address)
    .with_hint(URL, "INDEXED BY url_seed", dialect_name="sqlite")
    .where(URL.c.depth == 0, URL.c.purpose == Purpose.PAGE)
    .order_by(URL.c.id)
)
_RETRIES = select(func.count(), func.min(URL.c.retry_at)).where(URL.c.retry_at.is_not(None))
_held = (SITE.c.name == bindparam("site"), SITE.c.held_at.is_not(None))
_RELEASE_SITE = update(SITE).where(*_held, SITE.c.released == 0).values(released=1)
_LOOK_FOR_DEAD_S = 2.0
"""Least time between two looks, when nothing is ready, whether processes that have leased hosts were killed."""


class SqlFrontier(SqlLearningLog):
    """The frontier on one connection, for one process; several processes may share the database."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        *,
        catalog: CatalogueWriter,
        options: FrontierOptions = _ORDINARY,
    ) -> None:
        super().__init__(database, clock)
        database.life.begin()
        self._settings = settings
        self._catalog = catalog
        limits = LinkLimits(settings.max_depth, settings.max_queries_per_path, settings.max_pages_of)
        caps = Caps.of(settings)
        budgets = Budgets(database.connection, caps)
        probe_tier = NAMED_TIER if options.named_only else PROBE_TIER
        rules = ArrivalRules(limits, caps, options.by_depth, options.not_permitted, probe_tier)
        depths = Depths(database, settings.max_depth, by_depth=options.by_depth)
        self._arrivals = ArrivalWriter(database.connection, catalog, depths, rules)
        self._settlement = Settlement(
            database,
            SettlementRules(rules, settings.max_attempts, RevisitWaits.of(settings)),
            self._arrivals,
            catalog,
            budgets,
            PageStore(database.connection, settings.page_store_bytes),
            ContentReportWriter(database.connection, thumbnail_bytes=settings.thumbnail_bytes),
            SourceWriter(database.connection),
            self if options.learns else None,
        )
        self._enqueuer = Enqueuer(database, clock, self._arrivals)
        self._leases = Leases(database, settings, limits, budgets, depths, options, owner=self._owner)
        self._given_up: dict[int, tuple[Lease, HostState | None]] = {}
        """Leases that ended while the database could not be written, by entry."""
        self._heed_depth(depths, settings.max_depth)
        self._looked_for_dead_at = 0.0
        self.release_dead()

    # ----------------------------------------------------------------------- addresses that people name

    def add_seeds(self, urls: Iterable[Url], rank: Rank, *, again: bool = False) -> int:
        """Put seeds at depth 0; return how many will be visited. A visited one only with `again`."""
        return steps.run(self._enqueuer.add_seeds(urls, rank, again=again))

    def add_records(self, urls: Sequence[Url]) -> int:
        """Put a catalogue's first pages of records at the top of the queue; return how many pages of records wait."""
        waiting, self._settlement.sources.harvest = self._enqueuer.add_records(urls)
        return waiting

    def short_sources(self) -> list[Lists]:
        """Return the sources of this harvest that were read as far as their server lets them, and not whole."""
        return self._settlement.sources.short()

    def add_slices(self, source: int, window: int, cut: Sequence[int], slices: Mapping[str, Url]) -> int:
        """Add and queue slices of a source, as `SourceWriter.add_slices`; return how many are new."""
        return self._enqueuer.add_slices(self._settlement.sources, source, window, cut, slices)

    def sources(self) -> tuple[SourceState, ...]:
        """Return how far each list was read that this harvest has begun."""
        return read_sources(self._connection, harvest=self._settlement.sources.harvest.number)

    def add_candidates(self, candidates: Iterable[Candidate], *, again: bool = False) -> int:
        """Queue endpoints to be probed; return how many will be. One that has a verdict only with `again`."""
        return steps.run(self._enqueuer.add_candidates(candidates, again=again))

    def put_back(self, candidates: Iterable[Candidate]) -> None:
        """Give probes that were added with `named_only` the ordinary rank of probes: those left wait for a crawl."""
        self._enqueuer.put_back(candidates)

    def seeds(self) -> Iterator[Url]:
        """Yield the pages of depth 0, redirects' targets among them."""
        for (address,) in self._connection.execute(_SEEDS).fetchall():
            url = read_url(address)
            if url is not None:
                yield url

    def was_answered(self, url: Url) -> bool:
        """Return whether this address was visited as a page or answered as an endpoint."""
        return self.outcome(url)[0] == State.VISITED or any(map(self._catalog.was_answered, service_keys(url)))

    def outcome(self, url: Url) -> tuple[State | None, str]:
        """Return the state of a page of this identity and its reason; None for one that is not in the frontier."""
        row = self._connection.execute(sql.FIND_URL, {"key": page_key(url.identity)}).fetchone()
        return (State(row[1]), row[2] or "") if row else (None, "")

    def known(self, url: Url) -> bool:
        """Return whether a page of this identity is in the frontier in any state."""
        return self._connection.execute(sql.FIND_URL, {"key": page_key(url.identity)}).fetchone() is not None

    # ----------------------------------------------------------------------- leases

    def lease(self, *, pages: bool = True) -> Lease | None:
        """Lease the best ready entry and its host; None: nothing is ready now. `pages=False`: probes only."""
        return steps.run(self.lease_in_steps(pages=pages))

    def lease_in_steps(self, *, pages: bool = True) -> ChunkedWork[Lease | None]:
        """Do what `lease` does in steps, each at most one transaction."""
        lease = yield from self._leases.lease(self.clock.now(), pages=pages)
        is_time = self.clock.monotonic() - self._looked_for_dead_at >= _LOOK_FOR_DEAD_S
        if lease is None and is_time and self.release_dead():
            lease = yield from self._leases.lease(self.clock.now(), pages=pages)
        return lease

    def ready_at(self, *, pages: bool = True) -> float | None:
        """Return when the next entry can be leased (`Leases.ready_at`); None when nothing waits."""
        return self._leases.ready_at(self.clock.now(), pages=pages)

    def waiting_hosts(self, *, pages: bool = True) -> list[WaitingHost]:
        """Return the hosts that have addresses never visited, the first to be ready first."""
        return self._leases.waiting_hosts(pages=pages)

    def pages_wait(self) -> bool:
        """Return whether a run would wait for pages that were never visited; those under way count."""
        return self._leases.pages_wait(self.clock.now())

    def retries(self) -> tuple[int, float | None]:
        """Return how many failed addresses will be tried again, and when the first of them is due."""
        count, first = self._connection.execute(_RETRIES).fetchone()
        return count, first

    def share_run(self, run: int, max_pages: int) -> SharedRun:
        """Take part in a run by several processes, which share the limit on pages; return the run."""
        most_under_way = self._settings.processes * (self._settings.workers + 1 + self._settings.max_waiting)
        shared = SharedRun(self._database, run, max_pages, most_under_way)
        shared.join(self.clock.now())
        self._leases.shared_run = self._settlement.shared_run = shared
        return shared

    def may_lease_pages(self) -> bool:
        """Return whether the limit on pages that the processes of a run share lets another one be leased."""
        return self._leases.may_lease_pages()

    def others_at_work(self) -> bool:
        """Return whether other processes have leased hosts with queued URLs; for a process that has leased none."""
        return self._leases.others_at_work()

    def settle(self, visit: Visit) -> SettlementResult:
        """Write all results of a visit in one transaction, and free its host."""
        self._leases.expect_work()
        return self._settlement.settle(visit)

    def held(self, lease: Lease) -> SqlHeldHost:
        """Return the host of a lease, which the fetcher extends while its requests last."""
        return SqlHeldHost(self._database, self._settings, lease, lease.token, lease.until)

    def put_behind(self, lease: Lease) -> None:
        """Put a leased probe behind the other probes of its host, once."""
        with changing(self._database) as queue:
            queue.move(lease.entry.id, Rank(lease.entry.rank.tier, LATE_SCORE))

    def release(self, lease: Lease, host: HostState | None = None) -> None:
        """End a lease without a visit. `host`: the state of its host if it was asked.

        What cannot be written now is written by `release_all`.
        """
        self._given_up[lease.entry.id] = lease, host
        with self._database.shared_transaction:
            release(self._connection, lease, host, self.clock.now())
        del self._given_up[lease.entry.id]

    # ----------------------------------------------------------------------- what is due

    def reprobe(self, now: float, most: int) -> int:
        """Queue at most `most` endpoints whose next probe is due; return how many."""
        with changing(self._database) as queue:
            due = [self._catalog.candidate(endpoint_id) for endpoint_id in health.due(self._connection, now, most)]
            return self._arrivals.add_probes(due, now, queue, again=True, due=True).now

    def suspicion(self) -> Suspicion | None:
        """Return the suspicion that the network on the way answers in the place of services; None for none."""
        return suspicion(self._connection)

    def age_health(self, now: float) -> int:
        """Call endpoints unconfirmed that nobody has asked for 30 days; return how many."""
        return health.age(self._database, now)

    def revisit(self, now: float, most: int, *, catalogues: bool) -> int:
        """Queue at most `most` pages whose next visit is due; return how many.

        `catalogues`: sitemaps and pages of records, else all other pages.
        """
        with changing(self._database) as queue:
            found = revisits.due(self._connection, now, most, catalogues=catalogues)
            for url_id in found:
                queue.reopen(url_id, due=True)
        return len(found)

    def retry(self, *, host: str | None = None, reason: str | None = None) -> int:
        """Put failed pages and probes back, at once and with all attempts; return how many wait again.

        With `reason` also what was refused for it (robots, guard, scope, stop:… and so on).
        """
        return steps.run(retry(self._database, host, reason))

    def release_site(self, site: str) -> int | None:
        """End the quarantine of a site for good and renew the budgets of its patterns.

        The site's quarantined addresses, and those refused beyond the bound of their pattern, wait again. Returns how
        many addresses may be asked again; None when there was neither a quarantine nor a spent budget.
        """
        return steps.run(self._release_site(site))

    def _release_site(self, site: str) -> ChunkedWork[int | None]:
        with self._database.transaction:
            was_held = bool(self._connection.execute(_RELEASE_SITE, {"site": site}).rowcount)
        count, doubled = 0, set[int]()
        for first, last in steps.ranges(self._connection, URL):
            for batch in steps.batches(set_aside_of(self._connection, site, first, last)):
                with changing(self._database) as queue:
                    new = {each.pattern for each in batch if each.pattern is not None and each.reason != QUARANTINED}
                    double_budgets(self._connection, new - doubled)
                    doubled |= new
                    count += sum(each.reason is None or queue.reopen_refused(each.id, each.reason) for each in batch)
                yield
        return count if was_held or count else None

    def _heed_depth(self, depths: Depths, max_depth: int) -> None:
        """Apply a limit on depth that differs from the last run's: pages beyond it are set aside, others wait again."""
        if self._database.meta("max_depth") == str(max_depth):
            return
        steps.run(depths.heed_limit())
        self._database.set_meta("max_depth", str(max_depth))

    def release_all(self) -> None:
        """End the leases that this process, which has no visit under way, still has because it could not write when
        its visits ended. Writes a row in any case, so that the caller learns whether the database can be written."""
        with changing(self._database) as queue:
            for lease, host in self._given_up.values():
                release(self._connection, lease, host, self.clock.now())
            self._leases.end(leased_by(self._connection, self._owner), self.clock.now(), queue)
            self._database.write_meta("daemon:written", b"")
        self._given_up.clear()

    def release_dead(self) -> int:
        """End the leases of processes that have ended, so that their URLs are leased first again; return how many there
        were."""
        self._looked_for_dead_at = self.clock.monotonic()
        if not leased_by_dead_processes(self._connection, self._database.life):
            return 0
        with changing(self._database) as queue:
            dead = leased_by_dead_processes(self._connection, self._database.life)
            for hosts in dead:
                self._leases.end(hosts, self.clock.now(), queue, killed=True)
        return sum(map(len, dead))

    # ----------------------------------------------------------------------- ranks and counts

    def waiting(self) -> Iterator[QueuedLink]:
        """Yield pages that wait, and those that the present strategy dropped, in the order first seen.

        They may be reranked while they are read.
        """
        return waiting_pages(self._connection)

    def rerank(self, ranks: Iterable[tuple[int, Rank | None]], *, through: int | None = None) -> int:
        """Store new ranks of waiting pages, where None drops a page from the queue. Returns how many pages changed.

        `through`: the number of the feedback after which the ranks were made. It is stored after the last of the
        ranks, so a process that is killed before reranks once more after its restart. With it,
        LearnsElsewhere is raised when another process has become the learner.
        """
        return Reranking(self._database, self).write(ranks, through)

    def clear_yields(self) -> None:
        """Forget what visits led to by tier: another strategy's tiers mean something else."""
        clear_yields(self._connection)

    def stats(self) -> FrontierStats:
        """Return counts for status and progress."""
        return read_stats(self._connection, self.clock.now())
