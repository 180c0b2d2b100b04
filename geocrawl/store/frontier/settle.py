"""Settle a visit in one transaction: read what it touches, plan the changes (`plan.py`), write them.

Nothing is written before the plan is made. Everything a visit brought is written together: its outcome, new links and
candidates, a verdict, what a strategy learns from, the end of its lease. A visit whose lease has expired is ignored
when another process has leased the host since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import bindparam, insert, select

from geocrawl.errors import DatabaseFault
from geocrawl.model import (
    HARVEST_TIER,
    LATE_TIER,
    Candidate,
    Endpoint,
    Feedback,
    Lease,
    Link,
    Purpose,
    Rank,
    RankedLink,
    SettlementResult,
    State,
    Status,
    Url,
    Verdict,
    Visit,
)
from geocrawl.store.catalogue.write.verdicts import CatalogueWriter, ContentReportWriter, KnownEndpoints
from geocrawl.store.database import steps
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.database import Database
from geocrawl.store.database.keys import group_key, page_key, stored_url
from geocrawl.store.database.schema.tables import HOST, QUERY_GROUP, URL, VALIDATOR
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import Budgets, Caps, PatternCounts
from geocrawl.store.frontier.counters import count_find, count_visit
from geocrawl.store.frontier.depth import Depths
from geocrawl.store.frontier.learner import SqlLearningLog
from geocrawl.store.frontier.lifecycle import CANDIDATE, arrival_state, probe_frees_page
from geocrawl.store.frontier.page_store import PageStore
from geocrawl.store.frontier.plan import (
    MANY,
    AddressFacts,
    ArrivalPlan,
    ArrivalRules,
    CandidateArrival,
    Current,
    Improvement,
    KnownUrl,
    LinkSource,
    SettlementPlan,
    SettlementRows,
    SettlementRules,
    candidate_key,
    candidate_pattern,
    is_admitted,
    plan_settlement,
)
from geocrawl.store.frontier.queue import Queue, changing
from geocrawl.store.frontier.revisits import LISTS_NEWS, write_next_visit
from geocrawl.store.frontier.shared_run import SharedRun
from geocrawl.store.frontier.sources import SourceWriter
from geocrawl.urls import RECORDS, query_group

CURRENT = (
    select(
        *(URL.c.host_id, URL.c.purpose, URL.c.state, URL.c.depth, URL.c.tier, URL.c.score, URL.c.attempts, URL.c.hops),
        *(URL.c.endpoint_id, URL.c.found_on, URL.c.reason, URL.c.revisit_s, URL.c.digest, URL.c.sub_queue),
        *((URL.c.depth == 0) | LISTS_NEWS, HOST.c.lease_token, HOST.c.lease_url),
    )
    .join_from(URL, HOST, HOST.c.id == URL.c.host_id)
    .where(URL.c.id == bindparam("url"))
)
"""Read the current row of a URL, with the lease on its host (`plan.Current`)."""
_ADD_URL = insert(URL)
_KEEP_VALIDATORS = upsert(VALIDATOR, "url_id")
_SEE_QUERIES = upsert(QUERY_GROUP, "key", add=["seen"])
"""Count more addresses that differ only in their query."""
_LAST_VISIT = select(URL.c.state, URL.c.settled_at).where(URL.c.id == bindparam("url"))
_CANDIDATE_PAGES = (
    select(URL.c.id, URL.c.key, URL.c.address, URL.c.depth)
    .where(URL.c.endpoint_id == bindparam("endpoint"), URL.c.purpose == Purpose.PAGE)
    .where(URL.c.state == State.REFUSED, URL.c.reason == CANDIDATE)
    .order_by(URL.c.id)
    .limit(bindparam("most"))
)
"""Find pages that may be the service that an endpoint's probe looks for."""


@dataclass(slots=True)
class Settlement:
    """Settles visits."""

    database: Database
    rules: SettlementRules
    arrivals: ArrivalWriter
    catalog: CatalogueWriter
    budgets: Budgets
    pages: PageStore
    content_reports: ContentReportWriter
    sources: SourceWriter
    feedback: SqlLearningLog | None
    """None for a strategy that does not learn."""
    shared_run: SharedRun | None = None

    def settle(self, visit: Visit) -> SettlementResult:
        """Write everything that the visit brought, except for hosts that opted out, and free its host."""
        with changing(self.database) as queue:
            visit, current = self._without_opted_out(visit), self._leased(visit.lease)
            if current is None:
                return SettlementResult(ignored=True)
            listed = self.sources.list_of(visit)
            visit = self.sources.bounded(visit, listed)
            snapshot, endpoints = self._read(visit, current)
            plan = plan_settlement(visit, snapshot, self.rules)
            feedback = self._write(visit, snapshot, endpoints, plan, queue)
            own = {each.link.url.address for each in visit.links if each.link.where == RECORDS}
            new = {number for number, _ in endpoints.new.values()}
            named = {
                each.endpoint_id: each.endpoint_id in new
                for each in snapshot.candidates
                if each.endpoint_id and each.candidate.evidence.link not in own
            }
            source = self.sources.write(visit, listed, named, comes_again=plan.retry_at is not None)
        if probe_frees_page(visit.lease.entry.purpose, visit):
            self._free_other_pages(current.endpoint_id)
        return SettlementResult(
            plan.arrivals.added_pages, new_candidates=plan.new_candidates, feedback=feedback, source=source
        )

    # ----------------------------------------------------------------------- reading

    def _leased(self, lease: Lease) -> Current | None:
        """Return the leased URL's row; None when another worker has leased its host since, or settled it."""
        row = self.database.connection.execute(CURRENT, {"url": lease.entry.id}).fetchone()
        current = Current(*row) if row else None
        if current is None or (current.lease_token, current.lease_url) != (lease.token, lease.entry.id):
            return None
        return current

    def _without_opted_out(self, visit: Visit) -> Visit:
        """Return the visit without links to and candidates of hosts that opted out."""
        covers = self.database.blocked.covers
        if not self.database.blocked:
            return visit
        links = tuple(ranked for ranked in visit.links if not covers(ranked.link.url.host))
        candidates = tuple(candidate for candidate in visit.candidates if not covers(candidate[0].endpoint.url.host))
        return visit._replace(links=links, candidates=candidates)

    def _read(self, visit: Visit, current: Current) -> tuple[SettlementRows, KnownEndpoints]:
        """Read what the plan has to know, and the endpoints that the catalogue knows of the candidates."""
        connection, caps = self.database.connection, self.rules.arrivals.caps
        candidates = [
            CandidateArrival(candidate, ranked, candidate_key(candidate)) for candidate, ranked in visit.candidates
        ]
        link_keys = [page_key(ranked.link.url.identity) for ranked in visit.links]
        pages = {key: ranked.link.url for key, ranked in zip(link_keys, visit.links, strict=True)}
        pages |= {page_key(link.link.url.identity): link.link.url for _, link in visit.candidates if link is not None}
        urls = read_urls(connection, [*pages, *(each.probe_key for each in candidates)])
        unknown = [each.candidate for each in candidates if each.probe_key not in urls]
        facts = read_facts(
            connection,
            caps,
            [url for key, url in pages.items() if key not in urls],
            [candidate.endpoint.url for candidate in unknown],
            list(map(candidate_pattern, unknown)),
        )
        endpoints = self.catalog.known([each.candidate for each in candidates])
        for each in candidates:
            each.is_admitted = is_admitted(each, urls, facts, caps)
            if each.is_admitted:
                endpoints.add(each.candidate)
        for each in candidates:
            each.endpoint_id, each.reason = endpoints.verdict(each.candidate.endpoint)
        return SettlementRows(current, urls, facts, link_keys, candidates), endpoints

    # ----------------------------------------------------------------------- writing

    def _write(
        self, visit: Visit, snapshot: SettlementRows, endpoints: KnownEndpoints, plan: SettlementPlan, queue: Queue
    ) -> Feedback | None:
        """Write the plan, and the visit's part of the catalogue, the feedback log and the page store."""
        entry, current, connection = visit.lease.entry, snapshot.current, self.database.connection
        connection.write(sql.COUNT, {"name": "turn", "value": 1})
        self._write_outcome(visit, plan, count_visit(queue.counters, visit, current.tier, current.sub_queue))
        queue.counters.merge(plan.counters)
        self.arrivals.depths.keep(entry.id, plan.outlinks)  # first: one of its links may bring this page nearer
        self.catalog.note(
            [candidate.candidate for candidate in snapshot.candidates if candidate.is_admitted], endpoints, visit.at
        )
        self.arrivals.write(plan.arrivals, queue)
        for ranked, url_id in zip(visit.links, plan.link_ids, strict=True):
            if ranked.link.where == RECORDS and not ranked.refused:  # no probe has to find out what it is
                queue.reopen_refused(url_id, CANDIDATE)
                if self.sources.harvest.number:
                    self._read_again(visit, ranked.link, url_id, queue)
        for new in plan.arrivals.new_urls:  # why endpoints may not be asked
            if new.endpoint_id is not None and new.purpose is Purpose.PROBE and new.state is State.REFUSED:
                self.catalog.write_refused(new.endpoint_id, new.reason or "")
        if entry.purpose is Purpose.PROBE:
            self._write_verdict(visit, current, queue)
        feedback = None
        if self.feedback and not visit.not_modified:  # a page that was not read again brings no result
            feedback = self.feedback.add(visit, current.depth, current.found_on, plan.link_ids)
        if entry.purpose is Purpose.PAGE:
            self._schedule(visit, plan)
        self._keep_validators(visit, queue, comes_again=plan.comes_again)
        if visit.stored is not None:
            self.pages.keep(entry.id, visit.stored, visit.stored.score, visit.at)
        queue.settle_host(current.host_id, visit.host, visit.at, left=int(current.state == State.WAITING))
        self.database.life.settled += 1
        if self.shared_run is not None:
            self.shared_run.count(visit)
        return feedback

    def _read_again(self, visit: Visit, link: Link, url_id: int, queue: Queue) -> None:
        """Queue a page of records that was refused, or visited before the present harvest has come to it."""
        state, settled_at = self.database.connection.execute(_LAST_VISIT, {"url": url_id}).fetchone()
        was_visited = state in (State.VISITED, State.FAILED)
        again = was_visited and self.sources.harvest.reads_again(visit.lease.entry.url, link, settled_at or 0.0)
        if again or state == State.REFUSED:
            queue.requeue(url_id, Rank(HARVEST_TIER))

    def _write_outcome(self, visit: Visit, plan: SettlementPlan, counted: Mapping[str, int]) -> None:
        outcome: dict[str, object] = {
            "url": visit.lease.entry.id,
            "state": plan.state,
            "reason": visit.reason,
            "attempts": plan.attempts,
            "kills": 0,
            "retry_at": plan.retry_at,
            "settled_at": visit.at,
            "http_status": visit.http_status,
            "elapsed_ms": visit.elapsed_ms,
            **counted,
        }
        if not visit.not_modified:  # else what is stored of the page stays
            outcome |= {
                "content_type": visit.content_type or None,
                "size_bytes": visit.size_bytes,
                "title": plan.title,
                "relevance": plan.relevance,
                "page_score": plan.score,
            }
        self.database.connection.write(sql.WRITE_URL, outcome)

    def _schedule(self, visit: Visit, plan: SettlementPlan) -> None:
        """Write when a page is read again, and count it towards the budget of its pattern."""
        url_id = visit.lease.entry.id
        if plan.next_visit is not None:
            hub_s = self.rules.waits.first_s if visit.candidates else None
            write_next_visit(self.database.connection, url_id, plan.next_visit, visit.at, hub_s)
        if plan.new_candidates:
            self.budgets.credit(url_id)
        if plan.pattern is not None:
            self.budgets.count_page(plan.pattern)

    def _keep_validators(self, visit: Visit, queue: Queue, *, comes_again: bool) -> None:
        """Store the validators for the next visit; the former ones stay after "not modified" and after no answer."""
        if visit.not_modified or visit.http_status is None:
            return
        url_id, validators = visit.lease.entry.id, visit.validators if comes_again else None
        if validators is None:
            queue.ask_whole(url_id)
            return
        self.database.connection.write(
            _KEEP_VALIDATORS,
            {
                "url_id": url_id,
                "address": validators.address,
                "etag": validators.etag,
                "modified": validators.modified,
                "read_at": visit.at,
            },
        )

    def _write_verdict(self, visit: Visit, current: Current, queue: Queue) -> None:
        candidate, endpoint_id = visit.lease.entry.candidate, current.endpoint_id
        assert candidate is not None and endpoint_id is not None, "a probe asks an endpoint"
        if visit.not_modified:
            self.catalog.write_not_modified(endpoint_id, visit)
            return
        if visit.verdict is None:
            self.catalog.write_unasked(endpoint_id, visit)
            return
        is_valid = visit.verdict.status is Status.VALID
        is_late = current.tier == LATE_TIER
        is_new = self.budgets.probed(endpoint_id, valid=is_valid, is_late=is_late, at=visit.at)
        if is_valid and is_new and current.found_on is not None:
            count_find(self.database.connection, queue.counters, current.found_on)
        moved_to, is_light = _moved_for_good(visit, visit.verdict), visit.lease.entry.is_light
        self.catalog.write(endpoint_id, candidate, visit.verdict, visit.at, moved_to, is_light=is_light)
        if visit.content_report is not None:
            is_watched = visit.lease.entry.every_s is not None
            self.content_reports.write(
                endpoint_id, visit.content_report, visit.at, is_watched=is_watched, is_light=is_light
            )
        if probe_frees_page(visit.lease.entry.purpose, visit):
            self._free_pages(endpoint_id, queue)

    # ----------------------------------------------------------------------- pages that waited for a probe

    def _free_pages(self, endpoint_id: int, queue: Queue) -> bool:
        """Queue pages that waited for the probe of their address, where it has found an ordinary page, as far as caps
        and depth permit: the first 1,000. Returns whether there may be more.

        Others decide how many addresses lead to one endpoint: all that differ in parameters which a service ignores.
        """
        most, depth_limit = steps.ROWS, self.rules.arrivals.limits.max_depth
        asked = {"endpoint": endpoint_id, "most": most}
        rows = self.database.connection.execute(_CANDIDATE_PAGES, asked).fetchall()
        pages = [(page_id, key, stored_url(address), depth) for page_id, key, address, depth in rows]
        plan = self.arrivals.begin([url for _, _, url, _ in pages])
        for page_id, key, url, depth in pages:
            reason = plan.count(url, key, depth)
            queue.change(page_id, arrival_state(depth, depth_limit, reason), reason or None)
        self.arrivals.write(plan, queue)
        return len(rows) == most

    def _free_other_pages(self, endpoint_id: int | None) -> None:
        """Queue the pages that the settlement has left, 1,000 a transaction.

        What a fault leaves waits for the endpoint's next probe, as after a kill."""
        more = endpoint_id is not None
        with suppress(DatabaseFault):
            asked = {"endpoint": endpoint_id, "most": 1}
            while more and self.database.connection.execute(_CANDIDATE_PAGES, asked).fetchone():
                with changing(self.database) as queue:
                    more = self._free_pages(endpoint_id or 0, queue)


def _moved_for_good(visit: Visit, verdict: Verdict) -> Endpoint | None:
    """Return the endpoint to which an address redirects for good (RFC 9110, 15.4.2 and 15.4.9), None for no such."""
    targets = (candidate.endpoint for candidate, _ in visit.candidates if candidate.evidence.signal == "redirect")
    return next(targets, None) if verdict.http_status in (301, 308) else None


# --------------------------------------------------------------------------- reading what arrivals depend on


def read_urls(connection: Connection, keys: Iterable[int]) -> dict[int, KnownUrl]:
    """Return those of the pages and probes with these keys that are known, by key."""
    wanted = list(keys)
    if not wanted:
        return {}
    rows = connection.execute(sql.KNOWN_URLS, {"keys": wanted}).fetchall()
    return {
        key: KnownUrl(url_id, depth, Rank(tier, score), state, bool(was_asked), sub_queue)
        for key, url_id, depth, tier, score, state, was_asked, sub_queue in rows
    }


def read_facts(
    connection: Connection, caps: Caps, pages: Iterable[Url], probes: Iterable[Url], patterns: Collection[int] = ()
) -> AddressFacts:
    """Return the hosts, sites, queries and patterns that decide on new pages and probes, and the ids that are free, in
    one statement."""
    hosts, sites, queries = dict[str, None](), dict[str, None](), dict[int, None]()
    for url in pages:
        hosts[url.host] = None
        if caps.hosts_per_site and url.host != url.site:
            sites[url.site] = None
        if "?" in url.identity:
            queries[group_key(query_group(url))] = None
    hosts.update(dict.fromkeys(url.host for url in probes))
    facts = AddressFacts()
    if not hosts:  # no unknown address arrives
        return facts
    lists = {"hosts": hosts, "sites": sites, "queries": queries, "patterns": dict.fromkeys(patterns)}
    statement = sql.facts(*map(bool, lists.values()))
    for what, name, first, second in connection.execute(statement, lists).fetchall():
        if what == "host":
            facts.hosts[name] = (first, second)
        elif what == "site":
            facts.site_hosts[name] = first
        elif what == "queries":
            facts.queries[int(name)] = first
        elif what == "pattern":
            facts.patterns[int(name)] = PatternCounts(first, second, 0)
        else:
            facts.url_ids, facts.host_ids = range(first + 1, MANY), range(second + 1, MANY)
    return facts


# --------------------------------------------------------------------------- writing what arrives


class QueuedProbes(NamedTuple):
    """Counts of probes that were requested to be queued."""

    now: int
    """Number added to the queue by this call."""
    waiting: int
    """Number in the queue after this call, including those that were there before."""


class ArrivalWriter:
    """Adds and improves URLs by plans; for settlements, and for what a person enqueues."""

    def __init__(self, connection: Connection, catalog: CatalogueWriter, depths: Depths, rules: ArrivalRules) -> None:
        self._connection = connection
        self._catalog = catalog
        self._rules = rules
        self.depths = depths

    def begin(self, pages: Collection[Url], probes: Iterable[Candidate] = ()) -> ArrivalPlan:
        """Return a plan to which these pages and probes can be added."""
        by_key = {page_key(url.identity): url for url in pages}
        asked = {candidate_key(candidate): candidate.endpoint.url for candidate in probes}
        urls = read_urls(self._connection, [*by_key, *asked])
        new_probes = [url for key, url in asked.items() if key not in urls]
        # Hosts of known pages as well: a page that waited for a probe is counted when it is freed.
        facts = read_facts(self._connection, self._rules.caps, by_key.values(), new_probes)
        return ArrivalPlan(urls, facts, self._rules)

    def write(self, plan: ArrivalPlan, queue: Queue) -> None:
        """Write a plan, in batches; `queue` collects what changes in hosts' queues and totals."""
        if plan.new_hosts:
            new = [{"id": number, "name": name} for number, name in sorted(plan.new_hosts, key=itemgetter(1))]
            self._connection.write_many(sql.ADD_HOSTS, new)
            sites = [{"site": site, "hosts": count} for site, count in sorted(plan.new_site_hosts.items())]
            self._connection.write_many(sql.SEE_HOSTS, sites)
        if plan.new_urls:
            self._connection.write_many(_ADD_URL, [new_url._asdict() for new_url in plan.new_urls])
        if plan.queries:
            seen = [{"key": key, "seen": count} for key, count in plan.queries.items()]
            self._connection.write_many(_SEE_QUERIES, seen)
        queue.merge(plan.hosts, plan.counters)
        if plan.improvements:
            self._improve(plan.improvements, queue)

    def _improve(self, improvements: Mapping[int, Improvement], queue: Queue) -> None:
        """Write the new depths and ranks of known URLs, and the links that outrank those which are stored."""
        links = [{"url": url_id, **better.link._asdict()} for url_id, better in improvements.items() if better.link]
        if links:
            self._connection.write_many(sql.WRITE_URL, links)
        self.depths.move({url_id: (better.depth, better.rank) for url_id, better in improvements.items()}, queue)

    def add_pages(self, links: Collection[RankedLink], rank: Rank, source: LinkSource, queue: Queue) -> list[int]:
        """Add pages at depth 0, or improve known ones; return their ids in order."""
        plan = self.begin([ranked.link.url for ranked in links])
        ids = [plan.link(ranked, page_key(ranked.link.url.identity), 0, rank, source).id for ranked in links]
        self.write(plan, queue)
        return ids

    def add_probes(
        self, candidates: Sequence[Candidate], at: float, queue: Queue, *, again: bool, due: bool = False
    ) -> QueuedProbes:
        """Note candidates in the catalogue and queue their probes.

        `again`: queue probes that were made before, too; their answers are read in full unless the probes are `due`.
        """
        rank = Rank(self._rules.probe_tier, 0.0)
        plan, reopened, moved = self.begin((), candidates), list[int](), list[int]()
        new, waiting = 0, 0
        endpoints = self._catalog.known(candidates)
        for candidate in candidates:
            key, endpoint_id = candidate_key(candidate), endpoints.add(candidate)
            known = plan.urls.get(key)
            if known is None:
                new += plan.probe(candidate, key, endpoint_id, 0, at, None)
                waiting += 1
                continue
            if again and not due:
                queue.ask_whole(known.id)
                self._catalog.ask_whole(endpoint_id)
            if again and known.rank != rank:
                moved.append(known.id)
            if again and known.state != State.WAITING:
                known.state = State.WAITING
                reopened.append(known.id)
            waiting += known.state == State.WAITING
        self._catalog.note(candidates, endpoints, at)
        self.write(plan, queue)
        for url_id in moved:
            queue.move(url_id, rank)
        for url_id in reopened:
            queue.reopen(url_id, due=due)
        return QueuedProbes(new + len(reopened), waiting)
