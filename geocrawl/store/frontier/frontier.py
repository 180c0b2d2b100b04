"""Keep the frontier on one database: which URLs are known, which one is next, and what a visit changes.

`lifecycle.py` defines the states; `enqueue.py` adds addresses that an operator supplies; `lease.py` chooses what is
next; `plan.py` decides what a visit changes, and `settle.py` writes it. This module joins these parts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from geocrawl.model import (
    Candidate,
    Feedback,
    FrontierStats,
    HostState,
    Lease,
    Rank,
    Settled,
    State,
    Url,
    Visit,
    WaitingHost,
)
from geocrawl.ports import Clock, Waiting
from geocrawl.settings import Settings
from geocrawl.store.catalog import health
from geocrawl.store.catalog.catalog import Catalog, ContentReportWriter
from geocrawl.store.engine import steps
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.owner import this_process
from geocrawl.store.engine.steps import ChunkedWork, run_async
from geocrawl.store.frontier import revisits
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import QUARANTINED, BudgetReopener, Budgets, Caps
from geocrawl.store.frontier.counters import Counters, Notes, read_stats
from geocrawl.store.frontier.enqueue import Enqueuer
from geocrawl.store.frontier.host_leases import SqlHeldHost
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.learner import STATE, FeedbackLog, LearnerRole, read_version
from geocrawl.store.frontier.lease import Batches, Economy, Leases, Leasing
from geocrawl.store.frontier.lifecycle import NAMED_TIER, PROBE_TIER
from geocrawl.store.frontier.options import FrontierOptions
from geocrawl.store.frontier.page_store import PageStore
from geocrawl.store.frontier.plan import ArrivalRules, Limits, SettlementRules
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.rerank import Reranking
from geocrawl.store.frontier.revisits import RevisitWaits
from geocrawl.store.frontier.settle import ArrivalWriter, CandidatePages, Settlement, Settling
from geocrawl.store.frontier.shared_run import SharedRun
from geocrawl.store.frontier.shortcuts import Shortcuts
from geocrawl.store.keys import page_key
from geocrawl.urls import read_url, service_keys

_ORDINARY = FrontierOptions()
_LOOK_FOR_DEAD_S = 2.0
"""Least time between two looks, when nothing is ready, whether processes that have leased hosts were killed."""


class SqlLearningLog:
    """`ports.LearningLog` on one connection, for one process; a part of the frontier."""

    def __init__(
        self, database: Database, queue: Queue, reranking: Reranking, feedback: FeedbackLog, role: LearnerRole
    ) -> None:
        self._database = database
        self._queue = queue
        self._reranking = reranking
        self._feedback = feedback
        self._role = role

    def waiting(self) -> Iterator[Waiting]:
        """Yield pages that wait, and those that the present strategy dropped, in the order first seen.

        They may be reranked while they are read.
        """
        return self._queue.rankable()

    def rerank(self, ranks: Iterable[tuple[int, Rank | None]], *, through: int | None = None) -> int:
        """Store new ranks of waiting pages, where None drops a page from the queue. Returns how many pages changed.

        `through`: the number of the feedback after which the ranks were made. It is stored after the last of the
        ranks, so a process that is killed before reranks once more after its restart. With it,
        LearnsElsewhere is raised when another process has become the learner.
        """
        return self._reranking.write(ranks, through)

    def lead(self) -> bool:
        """Take or renew the role of the learner unless another process has it; return whether this process has it."""
        return self._role.take()

    def resign(self) -> None:
        """Give the role of the learner up, if this process has it: another one may take it at once."""
        self._role.resign()

    def feedback(self, after: int | None = None) -> Iterator[Feedback]:
        """Yield the feedback after a number, None: since the strategy's last dump, in order.

        What other processes may still be writing comes with a later call, and so does all feedback with a higher
        number."""
        return self._feedback.read(after)

    def wrote(self, number: int) -> bool:
        """Return whether this process wrote the feedback of this number, not long ago."""
        return self._feedback.wrote(number)

    def publish(self, dump: bytes, counts: Mapping[str, int], version: int) -> None:
        """Store the strategy's dump for a restart and for other processes, with counts of what it has learnt.

        `version`: the number of the last feedback that it has learnt. Raises LearnsElsewhere when another process has
        become the learner.
        """
        with self._database.transaction:
            self._feedback.store_dump(dump, counts, version)

    def version(self) -> int:
        """Return the version of the strategy's last dump, the number of the last feedback it covers; 0: none."""
        return read_version(self._database.connection)

    def revised(self) -> int:
        """Return the number of the feedback after which the queue was last reranked; 0: never."""
        return self._feedback.revised()

    def strategy_state(self) -> bytes | None:
        """Return the strategy's last dump; None when there was none."""
        return self._database.meta_bytes(STATE)

    def set_state_aside(self) -> None:
        """Keep the strategy's last dump under another name (`strategy:set-aside`), because it cannot be restored."""
        with self._database.transaction:
            self._feedback.set_state_aside()

    def clear_feedback(self) -> None:
        """Delete the dump and all feedback, because another strategy begins."""
        with self._database.transaction:
            self._feedback.clear()


class SqlFrontier(SqlLearningLog):
    """The frontier on one connection, for one process; several processes may share the database."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        *,
        catalog: Catalog,
        options: FrontierOptions = _ORDINARY,
    ) -> None:
        self._connection: Connection = database.connection
        self.clock = clock
        self._settings = settings
        self._owner = options.owner or this_process().text
        self._catalog = catalog
        self._hosts = Hosts(self._connection)
        self._counters = Counters(self._connection)
        limits = Limits(settings.max_depth, settings.max_queries_per_path, settings.max_pages_of)
        caps = Caps.of(settings)
        queue = Queue(self._connection, self._hosts, self._counters)
        self._reopener = BudgetReopener(database, queue, caps)
        budgets = Budgets(self._connection, caps, self._reopener.add)
        probe_tier = NAMED_TIER if options.named_only else PROBE_TIER
        rules = ArrivalRules(limits, caps, options.by_depth, options.not_permitted, probe_tier)
        shortcuts = Shortcuts(database, self._hosts, self._counters, settings.max_depth, by_depth=options.by_depth)
        self._arrivals = ArrivalWriter(self._connection, self._hosts, self._counters, queue, catalog, shortcuts, rules)
        role = LearnerRole(database, clock, self._owner)
        feedback = FeedbackLog(database, role)
        reranking = Reranking(database, self._hosts, self._counters, feedback, self._arrivals.memory)
        super().__init__(database, queue, reranking, feedback, role)
        self._candidate_pages = CandidatePages(database, self._arrivals, self._queue, settings.max_depth)
        self._settlement = self._make_settlement(settings, rules, budgets, learns=options.learns)
        self.settling = Settling(database, lambda: self._settlement, Notes(database, self._owner))
        self._enqueuer = Enqueuer(database, clock, self._arrivals, self._queue, self._settlement)
        self._leases = self._make_leases(settings, limits, budgets, options)
        self._given_up: dict[int, tuple[Lease, HostState | None]] = {}
        """Leases that ended while the database could not be written, by entry."""
        self._leasing = self._make_leasing(shortcuts, options)
        for part in (self._hosts, self._arrivals, self._counters):
            database.on_undo(part.clear)
        self._heed_depth(settings.max_depth)
        self._looked_for_dead_at = 0.0
        self.release_dead()

    def _make_settlement(
        self, settings: Settings, rules: ArrivalRules, budgets: Budgets, *, learns: bool
    ) -> Settlement:
        waits = RevisitWaits(settings.revisit_first_s, settings.revisit_least_s, settings.revisit_most_s)
        return Settlement(
            self._connection,
            SettlementRules(rules, settings.max_attempts, waits),
            self._arrivals,
            self._hosts,
            self._counters,
            self._queue,
            self._candidate_pages,
            self._catalog,
            self._database.blocked,
            budgets,
            pages=PageStore(self._connection, settings.page_store_bytes),
            content_reports=ContentReportWriter(self._connection, thumbnail_bytes=settings.thumbnail_bytes),
            feedback=self._feedback if learns else None,
        )

    def _make_leases(self, settings: Settings, limits: Limits, budgets: Budgets, options: FrontierOptions) -> Leases:
        economy = Economy(
            self._connection, settings, owner=self._owner, by_yield=options.by_yield, by_depth=options.by_depth
        )
        return Leases(
            self._connection,
            settings,
            self._hosts,
            limits,
            self._queue,
            self._catalog,
            budgets,
            economy,
            owner=self._owner,
            records_only=options.records_only,
            named_only=options.named_only,
        )

    def _make_leasing(self, shortcuts: Shortcuts, options: FrontierOptions) -> Leasing:
        batches = Batches(self._connection, self._hosts, self._counters, options.stride) if options.stride > 1 else None
        return Leasing(
            self._database,
            self._leases,
            self._queue,
            (shortcuts.follow_stored, self._candidate_pages.free_rest),
            self._reopener,
            batches,
            records_only=options.records_only,
        )

    # ----------------------------------------------------------------------- addresses that people name

    def add_seeds(self, urls: Iterable[Url], rank: Rank, *, again: bool = False) -> int:
        """Put seeds at depth 0; return how many will be visited. A visited one only with `again`."""
        return self._enqueuer.add_seeds(urls, rank, again=again)

    def add_records(self, urls: Sequence[Url], *, within: Callable[[Url], bool]) -> int:
        """Put a catalogue's first pages of records at the top of the queue; return how many pages wait."""
        return self._enqueuer.add_records(urls, within=within)

    def add_candidates(self, candidates: Iterable[Candidate], *, again: bool = False) -> int:
        """Queue endpoints to be probed; return how many will be. One that has a verdict only with `again`."""
        return self._enqueuer.add_candidates(candidates, again=again)

    def put_back(self, candidates: Iterable[Candidate]) -> None:
        """Give probes that were added with `named_only` the ordinary rank of probes: those left wait for a crawl."""
        self._enqueuer.put_back(candidates)

    def seeds(self) -> Iterator[Url]:
        """Yield the pages of depth 0, redirects' targets among them."""
        for (address,) in self._connection.execute(sql.SEEDS).fetchall():
            url = read_url(address)
            if url is not None:
                yield url

    def was_answered(self, url: Url) -> bool:
        """Return whether this address was visited as a page or answered as an endpoint."""
        row = self._connection.execute(sql.FIND_URL_STATE, (page_key(url.identity),)).fetchone()
        return (row is not None and row[1] == State.VISITED) or any(map(self._catalog.was_answered, service_keys(url)))

    def known(self, url: Url) -> bool:
        """Return whether a page of this identity is in the frontier in any state."""
        return self._connection.execute(sql.FIND_URL, (page_key(url.identity),)).fetchone() is not None

    # ----------------------------------------------------------------------- leases

    def lease(self, *, pages: bool = True) -> Lease | None:
        """Lease the best ready entry and its host; None: nothing is ready now. `pages=False`: probes only."""
        return next(iter(self.lease_many(1, pages=pages)), None)

    def lease_many(self, most: int, *, pages: bool = True) -> list[Lease]:
        """Lease the best ready entries, one a host, as `most` calls of `lease` would one after the other."""
        return steps.run(self.lease_in_steps(most, pages=pages))

    def lease_in_steps(self, most: int = 1, *, pages: bool = True) -> ChunkedWork[list[Lease]]:
        """Do what `lease_many` does in steps."""
        leases = yield from self._leasing.lease(self.clock.now(), most, pages=pages)
        if not leases and self.clock.monotonic() - self._looked_for_dead_at >= _LOOK_FOR_DEAD_S and self.release_dead():
            leases = yield from self._leasing.lease(self.clock.now(), most, pages=pages)
        return leases

    def ready_at(self, *, pages: bool = True) -> float | None:
        """Return when the next entry can be leased (`Leases.ready_at`); None when nothing waits."""
        return self._leases.ready_at(self.clock.now(), pages=pages)

    def waiting_hosts(self, *, pages: bool = True) -> list[WaitingHost]:
        """Return the hosts that have addresses never visited, the first to be ready first."""
        return self._leases.waiting_hosts(pages=pages)

    def retries(self) -> tuple[int, float | None]:
        """Return how many failed addresses will be tried again, and when the first of them is due."""
        count, first = self._connection.execute(sql.RETRIES).fetchone()
        return count, first

    def share_run(self, run: int, max_pages: int) -> SharedRun:
        """Take part in a run by several processes, which share the limit on pages; return the run."""
        shared = SharedRun(self._database, run, self._owner, max_pages)
        shared.join(self.clock.now())
        self._leasing.shared_run = self.settling.shared_run = shared
        return shared

    def may_lease_pages(self) -> bool:
        """Return whether the limit on pages that the processes of a run share lets another one be leased."""
        shared = self._leasing.shared_run
        return shared is None or shared.pages_left() > 0

    def others_at_work(self) -> bool:
        """Return whether other processes have leased hosts with queued URLs; for a process that has leased none."""
        return self._leases.others_at_work()

    def settle(self, visit: Visit) -> Settled:
        """Write all results of a visit in one transaction, and free its host."""
        (outcome,) = self.settle_many([visit])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def settle_many(self, visits: Sequence[Visit]) -> list[Settled | Exception]:
        """Settle visits as `Settling.settle_many` does."""
        self._leasing.expect_work()
        return self.settling.settle_many(visits)

    def held(self, lease: Lease) -> SqlHeldHost:
        """Return the host of a lease, which the fetcher extends while its requests last."""
        return SqlHeldHost(self._database, self._settings, lease, lease.token, lease.until)

    def release(self, lease: Lease, host: HostState | None = None) -> None:
        """End a lease without a visit. `host`: the state of its host if it was asked.

        What cannot be written now is written by `release_all`.
        """
        self._given_up[lease.entry.id] = lease, host
        with self._database.shared_transaction:
            self._hosts.release(lease, host, self.clock.now())
        del self._given_up[lease.entry.id]

    # ----------------------------------------------------------------------- what is due

    def reprobe(self, now: float, most: int) -> int:
        """Queue at most `most` endpoints whose next probe is due; return how many."""
        with self._database.transaction:
            due = [self._catalog.candidate(endpoint_id) for endpoint_id in health.due(self._connection, now, most)]
            queued = self._arrivals.add_probes(due, now, again=True, due=True).now
            self._settlement.flush()
        return queued

    def revisit(self, now: float, most: int, *, catalogues: bool) -> int:
        """Queue at most `most` pages whose next visit is due; return how many.

        `catalogues`: sitemaps and pages of records, else all other pages.
        """
        with self._database.transaction:
            found = revisits.due(self._connection, now, most, catalogues=catalogues)
            for url_id in found:
                self._queue.reopen(url_id, due=True)
            self._settlement.flush()
        return len(found)

    def retry(self, *, host: str | None = None, reason: str | None = None) -> int:
        """Put failed pages and probes back, at once and with all attempts; return how many wait again.

        With `reason` also what was refused for it (robots, guard, scope, stop:… and so on).
        """
        return steps.run(self._queue.retry(self._database, host, reason))

    def release_site(self, site: str) -> int | None:
        """End the quarantine of a site for good and renew the budgets of its patterns.

        The site's quarantined addresses, and those refused for their pattern as far as the new budgets allow, wait
        again. Returns how many; None when there was neither a quarantine nor a spent budget.
        """
        return steps.run(self._release_site(site))

    def _release_site(self, site: str) -> ChunkedWork[int | None]:
        with self._database.transaction:
            was_held = bool(self._connection.execute(sql.RELEASE_SITE, (site,)).rowcount)
        count = 0
        # Even when it was released before: a release that was killed continues here.
        if was_held or self._connection.execute(sql.IS_RELEASED, (site,)).fetchone():
            for first, last in steps.ranges(self._connection, "url"):
                found = self._connection.execute(sql.QUARANTINED_URLS, (site, first, last)).fetchall()
                for batch in steps.batches(found):
                    with self._database.transaction:
                        count += sum(self._queue.reopen_refused(url_id, QUARANTINED) for (url_id,) in batch)
                        self._queue.flush()
                    yield
        was_held = was_held or count > 0
        had_spent = yield from self._reopener.release(site)
        if had_spent:
            count += yield from self._reopener.reopen()
        return count if was_held or had_spent else None

    def _heed_depth(self, max_depth: int) -> None:
        """Apply a limit on depth that differs from the last run's: pages beyond it are set aside, others wait again."""
        if self._database.meta("max_depth") == str(max_depth):
            return
        steps.run(self._queue.heed_depth(self._database, max_depth))
        self._database.set_meta("max_depth", str(max_depth))

    def release_all(self) -> None:
        """End the leases that this process, which has no visit under way, still has because it could not write when
        its visits ended. Writes a row in any case, so that the caller learns whether the database can be written."""
        with self._database.transaction:
            for lease, host in self._given_up.values():
                self._hosts.release(lease, host, self.clock.now())
            self._leases.end(self._hosts.leased_by(self._owner), self.clock.now())
            self._database.write_meta("daemon:written", b"")
        self._given_up.clear()

    def release_dead(self) -> int:
        """End the leases of this machine's killed processes, so that their URLs are leased first again; return how many
        there were."""
        self._looked_for_dead_at = self.clock.monotonic()
        if not self._hosts.leased_by_dead_processes(self._owner):
            return 0
        with self._database.transaction:
            dead = self._hosts.leased_by_dead_processes(self._owner)
            self._leases.end(dead, self.clock.now(), killed=True)
            self._settlement.flush()
        return len(dead)

    # ----------------------------------------------------------------------- counts

    def stats(self) -> FrontierStats:
        """Return counts for status and progress."""
        return read_stats(self._connection, self.clock.now())


class AwaitedFrontier:
    """A frontier whose methods are awaited. SQLite answers at once, so none of them lets another task run, but for a
    lease between two of its transactions: the order of visits with one worker, and what is written together, stay as
    they are.

    A commit on a server costs a way there and a write to its disk. So the visits that are ready at the same time are
    settled in one transaction there."""

    def __init__(self, frontier: SqlFrontier) -> None:
        self._frontier = frontier
        self._ready: list[tuple[Visit, asyncio.Future[Settled]]] = []
        """Visits to be settled together, with who waits for the result."""

    async def lease(self, wanted: Callable[[], int] = lambda: 1, *, pages: bool = True) -> Sequence[Lease]:
        """Lease the best ready entries with their hosts; none when nothing is ready now. On SQLite one at a time."""
        most = 1
        if self._frontier.settling.groups:
            await asyncio.sleep(0)  # those whose visits were settled together ask together
            most = wanted()
        return await run_async(self._frontier.lease_in_steps(most, pages=pages), self._frontier.clock)

    async def ready_at(self, *, pages: bool = True) -> float | None:
        """Return when the next entry can be leased; None when nothing waits."""
        return self._frontier.ready_at(pages=pages)

    async def waiting_hosts(self, *, pages: bool = True) -> Sequence[WaitingHost]:
        """Return the hosts that have addresses never visited, the first to be ready first."""
        return self._frontier.waiting_hosts(pages=pages)

    async def may_lease_pages(self) -> bool:
        """Return whether the limit on pages that the processes of a run share lets another one be leased."""
        return self._frontier.may_lease_pages()

    async def others_at_work(self) -> bool:
        """Return whether others have leased hosts with queued URLs, and we none."""
        return self._frontier.others_at_work()

    async def settle(self, visit: Visit) -> Settled:
        """Write all results of a visit in one transaction, on a server with others that are ready; end its lease."""
        if not self._frontier.settling.groups:
            return self._frontier.settle(visit)
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Settled] = loop.create_future()
        self._ready.append((visit, result))
        if len(self._ready) == 1:
            loop.call_soon(self._settle_ready)
        return await result

    def _settle_ready(self) -> None:
        """Settle the visits that are ready together, without those for whose result nobody waits any more."""
        ready = [(visit, result) for visit, result in self._ready if not result.done()]
        self._ready.clear()
        outcomes = self._frontier.settle_many([visit for visit, _ in ready])
        for (_, result), outcome in zip(ready, outcomes, strict=True):
            if isinstance(outcome, Exception):
                result.set_exception(outcome)
            else:
                result.set_result(outcome)

    def held(self, lease: Lease) -> SqlHeldHost:
        """Return the host of a lease, which the fetcher extends while its requests last."""
        return self._frontier.held(lease)

    async def release(self, lease: Lease, host: HostState) -> None:
        """End a lease whose visit was given up, and write the state of its host."""
        self._frontier.release(lease, host)

    async def rerank(self, ranks: Iterable[tuple[int, Rank | None]], *, through: int | None = None) -> int:
        """Store new ranks of waiting pages; return how many changed."""
        return self._frontier.rerank(ranks, through=through)
