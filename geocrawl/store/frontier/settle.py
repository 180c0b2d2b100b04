"""Settle visits, several in one transaction, beside other processes where the engine and the visit allow it.

The visit of a page that named no service changes its own row, the rows of its links, and their hosts. Such visits lock
these hosts and are settled beside those of other processes. All others may change any row of the catalogue (which
endpoints are one service, what a budget lets in again), so each process writes them alone: probes, pages with
candidates, kept pages, and better links to pages that were visited before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from geocrawl.errors import DatabaseFault, RefusedValue, WriteConflict
from geocrawl.model import Candidate, Feedback, Lease, Purpose, Rank, RankedLink, Settled, State, Status, Url, Visit
from geocrawl.store.catalog.catalog import Catalog, ContentReportWriter
from geocrawl.store.engine import steps
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.opt_out import OptOut
from geocrawl.store.engine.steps import ChunkedWork
from geocrawl.store.frontier import shared_statements as shared
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import Budgets
from geocrawl.store.frontier.counters import Counters, Notes
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.learner import FeedbackLog
from geocrawl.store.frontier.lifecycle import arrival_state, probe_frees_page
from geocrawl.store.frontier.memory import LinkMemory
from geocrawl.store.frontier.outlinks import pack_outlinks
from geocrawl.store.frontier.page_store import PageStore
from geocrawl.store.frontier.plan import (
    MANY,
    ArrivalPlan,
    ArrivalRules,
    CandidateArrival,
    Current,
    Facts,
    KnownUrl,
    SettlementPlan,
    SettlementRules,
    Snapshot,
    Source,
    Wanted,
    candidate_key,
    candidate_pattern,
    is_admitted,
    plan_settlement,
    source_of,
    wanted_of,
)
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.revisits import write_next_visit
from geocrawl.store.frontier.shared_run import SharedRun
from geocrawl.store.frontier.shortcuts import Shortcuts
from geocrawl.store.keys import page_key, stored_url

T = TypeVar("T", bound=Settled | None)


class Settling:
    """Opens and closes the transactions of settlements."""

    def __init__(self, database: Database, settlement: Callable[[], Settlement], notes: Notes) -> None:
        """`settlement` returns what writes visits at present."""
        self._database = database
        self._settlement = settlement
        self._notes = notes
        self.shared_run: SharedRun | None = None

    @property
    def groups(self) -> bool:
        """Return whether settling several visits together is worth waiting for them."""
        return self._database.connection.shares_writes

    def settle_many(self, visits: Sequence[Visit]) -> list[Settled | Exception]:
        """Write all results of visits and free their hosts; return what each brought, for one that could not be written
        the exception."""
        try:
            done = self._beside(visits)
        except DatabaseFault as fault:
            return [fault] * len(visits)
        return [self._alone(visit) if each is None else each for visit, each in zip(visits, done, strict=True)]

    def _beside(self, visits: Sequence[Visit]) -> list[Settled | None]:
        """Settle beside other processes what can be; None for what has to be written alone.

        Raises DatabaseFault for one that concerns all visits, not one of them."""
        if not self.groups or not any(map(is_of_hosts_alone, visits)):
            return [None] * len(visits)
        settlement = self._settlement()
        try:
            with self._database.shared_transaction:
                locked = settlement.lock([visit for visit in visits if is_of_hosts_alone(visit)])
                return [
                    self._noted(visit, settlement.write_beside(visit, locked)) if is_of_hosts_alone(visit) else None
                    for visit in visits
                ]
        except (WriteConflict, RefusedValue):  # another process wrote the same new host: all was undone
            return [None] * len(visits)
        except DatabaseFault:
            raise
        except Exception:  # one of the visits is the cause
            return [None] * len(visits)

    def _alone(self, visit: Visit) -> Settled | Exception:
        try:
            with self._database.transaction:
                return self._noted(visit, self._settlement().write(visit))
        except Exception as error:
            return error

    def _noted(self, visit: Visit, settled: T) -> T:
        if settled is not None:
            self._notes.settled(visit.at)
            if self.shared_run is not None and not settled.ignored:
                self.shared_run.count(visit)
        return settled


def is_of_hosts_alone(visit: Visit) -> bool:
    """Return whether a visit changes rows of its own host and of its links' hosts alone, as far as it shows itself."""
    is_plain = not visit.candidates and visit.stored is None
    return is_plain and visit.lease.entry.purpose is Purpose.PAGE


# --------------------------------------------------------------------------- one visit


@dataclass(frozen=True, slots=True)
class Settlement:
    """Writes visits."""

    connection: Connection
    rules: SettlementRules
    arrivals: ArrivalWriter
    hosts: Hosts
    counters: Counters
    queue: Queue
    candidate_pages: CandidatePages
    catalog: Catalog
    opt_out: OptOut
    budgets: Budgets
    pages: PageStore
    content_reports: ContentReportWriter
    feedback: FeedbackLog | None
    """None for a strategy that does not learn."""

    def write(self, visit: Visit) -> Settled:
        """Write everything that the visit brought, except for hosts that opted out. Writes nothing when the lease has
        expired and another worker has leased the host."""
        visit, lease = self._without_opted_out(visit), visit.lease
        current = self._leased(lease)
        if current is None:
            return Settled(ignored=True)
        snapshot = self._read(visit, current)
        return self._write_planned(visit, snapshot, plan_settlement(visit, snapshot, self.rules))

    def lock(self, visits: Sequence[Visit]) -> LockedHosts:
        """Lock the hosts whose rows `write_beside` may change for these visits; the first step of a transaction."""
        names = set[str]()
        for visit in visits:
            entry = visit.lease.entry
            names.add(visit.lease.host.name)
            _, unsettled = self.arrivals.memory.find(visit.links, Source(entry.id, entry.depth, entry.rank, 0, 0.0))
            names.update(visit.links[position].link.url.host for position in unsettled)
        return self.arrivals.reader.lock_hosts(names)

    def write_beside(self, visit: Visit, locked: LockedHosts) -> Settled | None:
        """Write a visit that found no candidates beside other processes.

        None, and nothing is written, when it changes rows of other hosts than those that are locked.
        """
        visit, lease = self._without_opted_out(visit), visit.lease
        current = self._leased(lease)
        if current is None:
            return Settled(ignored=True)
        snapshot = self._read(visit, current)
        if not self._has_ids(visit, snapshot, locked):
            return None
        plan = plan_settlement(visit, snapshot, self.rules)
        if not self.arrivals.stays_within(plan.arrivals, locked):
            return None
        return self._write_planned(visit, snapshot, plan)

    def _has_ids(self, visit: Visit, snapshot: Snapshot, locked: LockedHosts) -> bool:
        """Take ids for the new links; return False when one leads to a host that is not locked."""
        hosts = {key: visit.links[position].link.url.host for position, key in snapshot.link_keys.items()}
        if not locked.names >= set(hosts.values()):
            return False
        facts, unknown = snapshot.facts, {key: host for key, host in hosts.items() if key not in snapshot.urls}
        new_hosts = set(unknown.values()).difference(facts.hosts)
        if any(facts.hosts[host][0] not in locked.ids for host in set(unknown.values()) - new_hosts):
            return False  # another process has just added it
        if unknown:
            self.arrivals.reader.take_ids(facts, len(unknown), len(new_hosts))
        return True

    def _write_planned(self, visit: Visit, snapshot: Snapshot, plan: SettlementPlan) -> Settled:
        feedback = self._apply(visit, snapshot, plan)
        return Settled(new_links=plan.arrivals.added_pages, new_candidates=plan.new_candidates, feedback=feedback)

    def flush(self) -> None:
        """Write the collected changes of hosts and counters: the last step before a commit."""
        self.hosts.flush()
        self.counters.flush()

    # ----------------------------------------------------------------------- reading

    def _leased(self, lease: Lease) -> Current | None:
        """Return the leased URL's row; None when another worker has leased its host since, or settled it."""
        current = self.arrivals.reader.read_current(lease.entry.id)
        if current is None or (current.lease_token, current.lease_url) != (lease.token, lease.entry.id):
            return None
        return current

    def _without_opted_out(self, visit: Visit) -> Visit:
        """Return the visit without links to and candidates of hosts that opted out."""
        if not self.opt_out:
            return visit
        covers = self.opt_out.covers
        if not any(covers(ranked.link.url.host) for ranked in visit.links) and not any(
            covers(candidate.endpoint.url.host) for candidate, _ in visit.candidates
        ):
            return visit
        links = tuple(ranked for ranked in visit.links if not covers(ranked.link.url.host))
        candidates = tuple(each for each in visit.candidates if not covers(each[0].endpoint.url.host))
        return visit._replace(links=links, candidates=candidates)

    def _read(self, visit: Visit, current: Current) -> Snapshot:
        """Read what the plan has to know, and note the candidates in the catalogue."""
        candidates = [
            CandidateArrival(candidate, ranked, candidate_key(candidate)) for candidate, ranked in visit.candidates
        ]
        link_ids, unsettled = self.arrivals.memory.find(visit.links, source_of(visit, current))
        link_keys = {position: page_key(visit.links[position].link.url.identity) for position in unsettled}
        reader = self.arrivals.reader
        pages = {key: visit.links[position].link.url for position, key in link_keys.items()}
        pages |= {page_key(link.link.url.identity): link.link.url for _, link in visit.candidates if link is not None}
        urls = reader.read_urls([*pages, *(each.probe_key for each in candidates)])
        unknown = [each for each in candidates if each.probe_key not in urls]
        facts = reader.read_facts(
            wanted_of(
                [url for key, url in pages.items() if key not in urls],
                [each.candidate.endpoint.url for each in unknown],
                [candidate_pattern(each.candidate) for each in unknown],
                self.rules.arrivals.caps,
            )
        )
        for each in candidates:
            each.is_admitted = is_admitted(each, urls, facts, self.rules.arrivals.caps)
        self._note(candidates, visit.at)
        return Snapshot(current, urls, facts, link_ids, link_keys, candidates)

    def _note(self, candidates: Sequence[CandidateArrival], at: float) -> None:
        """Write the admitted candidates into the catalogue, and read the verdicts on candidates that may be pages."""
        admitted = [each for each in candidates if each.is_admitted]
        ids = self.catalog.note([each.candidate for each in admitted], at)
        for each, endpoint_id in zip(admitted, ids, strict=True):
            each.endpoint_id = endpoint_id
        pages = [each for each in candidates if each.ranked is not None]
        verdicts = self.catalog.verdicts_of([each.candidate.endpoint for each in pages])
        for each in pages:
            endpoint = each.candidate.endpoint
            each.endpoint_id, each.reason = verdicts.get((endpoint.kind, endpoint.key), (0, ""))

    # ----------------------------------------------------------------------- writing

    def _apply(self, visit: Visit, snapshot: Snapshot, plan: SettlementPlan) -> Feedback | None:
        """Write the plan, and the visit's part of the catalogue, the feedback log and the page store."""
        entry, current = visit.lease.entry, snapshot.current
        self.hosts.next_turn()
        self._write_outcome(visit, plan)
        self.counters.merge(plan.counters)
        if plan.outlinks.same_depth or plan.outlinks.deeper:  # first: short cuts may lead to this very page
            self.connection.write(sql.WRITE_OUTLINKS, (entry.id, pack_outlinks(plan.outlinks)))
        self.arrivals.write(plan.arrivals)
        self._write_not_permitted(plan.arrivals, visit.at)
        for position, key in snapshot.link_keys.items():
            self.arrivals.memory.put(visit.links[position].link.url, snapshot.urls[key])
        if entry.purpose is Purpose.PROBE:
            self._write_verdict(visit, current)
        feedback = None
        if self.feedback and not visit.not_modified:  # a page that was not read again brings no result
            feedback = self.feedback.write(visit, current.depth, current.found_on, plan.link_ids)
        if entry.purpose is Purpose.PAGE:
            self._schedule(visit, plan)
        self._keep_validators(visit, comes_again=plan.comes_again)
        if visit.stored is not None:
            self.pages.keep(entry.id, visit.stored, visit.stored.score, visit.at)
        self.hosts.free(current.host_id, visit.host, visit.at, left=int(current.state == State.WAITING))
        self.flush()
        return feedback

    def _write_not_permitted(self, arrivals: ArrivalPlan, at: float) -> None:
        """Write why endpoints that the visit found may not be asked."""
        for new in arrivals.new_urls:
            if new.endpoint_id is not None and new.purpose is Purpose.PROBE and new.state is State.REFUSED:
                self.catalog.write_unasked(new.endpoint_id, new.reason or "", at)

    def _write_outcome(self, visit: Visit, plan: SettlementPlan) -> None:
        url_id = visit.lease.entry.id
        outcome = (url_id, plan.state, visit.reason, plan.attempts, plan.retry_at, visit.at, visit.http_status)
        if visit.not_modified:
            self.connection.write(sql.SETTLE_NOT_MODIFIED, (*outcome, visit.elapsed_ms))
            return
        answer = (visit.content_type or None, visit.size_bytes, visit.elapsed_ms)
        self.connection.write(sql.SETTLE_URL, (*outcome, *answer, plan.title, plan.relevance, plan.score))

    def _schedule(self, visit: Visit, plan: SettlementPlan) -> None:
        """Write when a page is read again, and count it towards the budget of its pattern."""
        url_id = visit.lease.entry.id
        if plan.next_visit is not None:
            hub_s = self.rules.waits.first_s if visit.candidates else None
            write_next_visit(self.connection, url_id, plan.next_visit, visit.at, hub_s)
        if plan.new_candidates:
            self.budgets.credit(url_id)
        if plan.pattern is not None:
            self.budgets.count_page(plan.pattern)

    def _keep_validators(self, visit: Visit, *, comes_again: bool) -> None:
        """Store the validators for the next visit; the former ones stay after "not modified" and after no answer."""
        if visit.not_modified or visit.http_status is None:
            return
        url_id, validators = visit.lease.entry.id, visit.validators if comes_again else None
        if validators is None:
            self.queue.ask_whole(url_id)
            return
        values = (url_id, validators.address, validators.etag, validators.modified, visit.at)
        self.connection.write(sql.KEEP_VALIDATORS, values)

    def _write_verdict(self, visit: Visit, current: Current) -> None:
        candidate, endpoint_id = visit.lease.entry.candidate, current.endpoint_id
        assert candidate is not None and endpoint_id is not None, "a probe asks an endpoint"
        if visit.not_modified:
            self.catalog.write_not_modified(endpoint_id, visit)
            return
        if visit.verdict is None:
            self.catalog.write_unasked(endpoint_id, visit.reason, visit.at)
            return
        self.budgets.probed(endpoint_id, valid=visit.verdict.status is Status.VALID, at=visit.at)
        self.catalog.write(endpoint_id, candidate, visit.verdict, visit.at)
        if visit.content_report is not None:
            self.content_reports.write(endpoint_id, visit.content_report, visit.at)
        if probe_frees_page(visit.lease.entry.purpose, visit):
            self.candidate_pages.free(endpoint_id)


# --------------------------------------------------------------------------- reading


_REMEMBERED_HOSTS = 20_000


@dataclass(frozen=True, slots=True)
class LockedHosts:
    """The hosts that a transaction beside others' has locked."""

    names: Set[str]
    """Names of the hosts that were to be locked; a host that is new has no row yet, and no id in `ids`."""
    ids: Set[int]


class SnapshotReader:
    """Reads snapshots on one connection; remembers hosts from one settlement to the next."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hosts: dict[str, tuple[int, int]] = {}

    def clear(self) -> None:
        """Drop cached hosts, because a transaction was rolled back or rows were deleted."""
        self._hosts.clear()

    def remember_host(self, name: str, host: tuple[int, int]) -> None:
        """Remember (id, pages seen) of a host after a settlement."""
        if len(self._hosts) >= _REMEMBERED_HOSTS:
            self._hosts.clear()
        self._hosts[name] = host

    def lock_hosts(self, names: Set[str]) -> LockedHosts:
        """Lock these hosts' rows until the transaction ends, and read how many pages were seen of each.

        Works in a transaction beside others'."""
        rows = self._connection.execute(shared.LOCK_HOSTS, (sorted(names),)).fetchall()
        for name, host_id, pages in rows:
            self.remember_host(name, (host_id, pages))
        return LockedHosts(names, {host_id for _, host_id, _ in rows})

    def take_ids(self, facts: Facts, urls: int, hosts: int) -> None:
        """Give `facts` ids that no other process takes: as many as new URLs and new hosts will be added."""
        facts.url_ids, facts.host_ids = self._connection.execute(shared.TAKE_NUMBERS, (urls, hosts)).fetchone()

    def read_current(self, url_id: int) -> Current | None:
        """Return a URL with its host's lease; None when there is no such URL."""
        row = self._connection.execute(sql.CURRENT, (url_id,)).fetchone()
        return Current(*row) if row else None

    def read_urls(self, keys: Iterable[int]) -> dict[int, KnownUrl]:
        """Return those of the pages and probes with these keys that are known, by key."""
        wanted = list(keys)
        if not wanted:
            return {}
        rows = self._connection.execute(sql.KNOWN_URLS, (json.dumps(wanted),)).fetchall()
        return {
            key: KnownUrl(url_id, depth, Rank(tier, score), state) for key, url_id, depth, tier, score, state in rows
        }

    def read_facts(self, wanted: Wanted) -> Facts:
        """Return the current hosts, sites, queries and patterns, and the ids that are free."""
        facts = Facts()
        if wanted.is_nothing:
            return facts
        hosts = []
        for name in wanted.hosts:
            if (known := self._hosts.get(name)) is not None:
                facts.hosts[name] = known
            else:
                hosts.append(name)
        lists = (hosts, wanted.sites, wanted.queries, wanted.patterns)
        values = [json.dumps(list(each)) for each in lists if each]
        rows = self._connection.execute(sql.facts(*map(bool, lists)), values)
        for what, name, first, second in rows.fetchall():
            if what == "host":
                facts.hosts[name] = (first, second)
            elif what == "site":
                facts.site_hosts[name] = first
            elif what == "queries":
                facts.queries[int(name)] = first
            elif what == "pattern":
                facts.patterns[int(name)] = (first, second)
            else:
                facts.url_ids, facts.host_ids = range(first + 1, MANY), range(second + 1, MANY)
        return facts


# --------------------------------------------------------------------------- writing what arrives


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


# --------------------------------------------------------------------------- pages that waited for a probe


class CandidatePages:
    """Pages that were refused while a probe of their address was due."""

    def __init__(self, database: Database, arrivals: ArrivalWriter, queue: Queue, max_depth: int) -> None:
        self._database = database
        self._arrivals = arrivals
        self._queue = queue
        self._max_depth = max_depth
        self._unfinished: list[int] = []
        """Endpoints with more such pages. When the process is killed, their next probe continues."""

    def free(self, endpoint_id: int) -> None:
        """Queue an endpoint's pages, caps and depth permitting, inside the caller's transaction: the first 1,000."""
        most = steps.ROWS
        rows = self._database.connection.execute(sql.CANDIDATE_PAGES, (endpoint_id, most)).fetchall()
        pages = [(page_id, key, stored_url(address), depth) for page_id, key, address, depth in rows]
        plan = self._arrivals.begin([url for _, _, url, _ in pages])
        for page_id, key, url, depth in pages:
            reason = plan.count(url, key, depth)
            self._queue.change(page_id, arrival_state(depth, self._max_depth, reason), reason or None)
        self._arrivals.write(plan)
        if len(rows) == most:
            self._unfinished.append(endpoint_id)

    def free_rest(self) -> ChunkedWork[None]:
        """Queue the pages that are left of those endpoints, 1,000 a transaction."""
        while self._unfinished:
            with self._database.transaction:
                self.free(self._unfinished.pop())
                self._queue.flush()
            yield
