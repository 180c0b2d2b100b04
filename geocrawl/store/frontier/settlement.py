"""Settle visits in the caller's transaction: read a snapshot, plan the changes (`plan.py`), write them in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geocrawl.model import Feedback, Lease, Purpose, Settled, State, Status, Visit
from geocrawl.store.catalog.catalog import Catalog
from geocrawl.store.catalog.content_reports import ContentReportWriter
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.opt_out import OptOut
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.arrivals import ArrivalPlan, Source, wanted_of
from geocrawl.store.frontier.arriving import ArrivalWriter
from geocrawl.store.frontier.budgets import Budgets
from geocrawl.store.frontier.candidate_pages import CandidatePages
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.feedback_log import FeedbackLog
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.lifecycle import probe_frees_page
from geocrawl.store.frontier.outlinks import pack_outlinks
from geocrawl.store.frontier.page_store import PageStore
from geocrawl.store.frontier.plan import (
    CandidateArrival,
    SettlementPlan,
    SettlementRules,
    Snapshot,
    candidate_key,
    candidate_pattern,
    is_admitted,
    plan_settlement,
    source_of,
)
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.revisits import write_next_visit
from geocrawl.store.frontier.snapshot import Current, LockedHosts
from geocrawl.store.keys import page_key


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
