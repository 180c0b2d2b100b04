"""What one settlement writes: the outcome of a visit and everything it brought, inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from typing import NamedTuple

from geocrawl.model import Candidate, Lease, Purpose, Rank, RankedLink, Settled, State, Status, Visit
from geocrawl.store.catalog.catalog import SqlCatalog
from geocrawl.store.catalog.content_reports import ContentReportWriter
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import Budgets, is_counted
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.feedback_log import FeedbackLog
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.lifecycle import (
    PROBE_TIER,
    arrival_state,
    probe_frees_page,
    settled_state,
    shows_page,
)
from geocrawl.store.frontier.links import Links, Source, pack_links
from geocrawl.store.frontier.page_store import PageStore
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.revisits import Revisits
from geocrawl.store.keys import probe_key
from geocrawl.store.operations.opt_out import OptOut
from geocrawl.urls import read_url

_TITLE_CHARS = 500


class Current(NamedTuple):
    """A URL as it stands now, with the lease on its host (the order of `statements.CURRENT`)."""

    host_id: int
    purpose: str
    state: str
    depth: int
    tier: int
    score: float
    attempts: int
    hops: int
    endpoint_id: int | None
    found_on: int | None
    reason: str | None
    revisit_s: float | None
    lease_token: int
    lease_url: int | None


@dataclass(frozen=True, slots=True)
class Settlement:
    """Writes visits."""

    connection: sqlite3.Connection
    hosts: Hosts
    links: Links
    tally: Counters
    queue: Queue
    catalog: SqlCatalog
    blocked: OptOut
    budgets: Budgets
    max_depth: int
    max_attempts: int
    pages: PageStore
    proofs: ContentReportWriter
    revisits: Revisits
    feedback: FeedbackLog | None
    """None for a strategy that does not learn."""

    def write(self, visit: Visit) -> Settled:
        """Everything that the visit brought, but for what is to be left alone; nothing when the lease is no longer its
        own."""
        visit, lease = self._without_blocked(visit), visit.lease
        current = self._held(lease)
        if current is None:
            return Settled(ignored=True)
        turn = self.hosts.next_turn()
        self.links.added = 0
        source = Source(
            lease.entry.id,
            current.depth,
            max(Rank(current.tier, current.score), lease.entry.rank),
            current.hops,
            visit.at,
        )
        self._write_outcome(visit, current)
        new_candidates, pages = self._take_candidates(visit, source)
        arrived = self.links.arrive(visit.links, source)
        if targets := pages + arrived:
            self.connection.execute(sql.WRITE_OUTLINKS, (lease.entry.id, pack_links(targets)))
        if lease.entry.purpose is Purpose.PROBE:
            self._write_verdict(visit, current)
        feedback = None
        if self.feedback and not visit.not_modified:  # that a page was not read says nothing of what stands on it
            feedback = self.feedback.write(visit, current.depth, current.found_on, arrived)
        is_probe = lease.entry.purpose is Purpose.PROBE
        comes_again = is_probe or self._come_again(visit, current, brought=new_candidates > 0)
        self._keep_validators(visit, comes_again=comes_again)
        if visit.stored is not None:
            self.pages.keep(lease.entry.id, visit.stored, visit.score, visit.at)
        self.hosts.free(current.host_id, visit.host, visit.at, left=int(current.state == State.WAITING), turn=turn)
        self.flush()
        return Settled(new_links=self.links.added, new_candidates=new_candidates, feedback=feedback)

    def _keep_validators(self, visit: Visit, *, comes_again: bool) -> None:
        """What the next visit can ask by: the former ones where nothing was modified or nobody answered."""
        if visit.not_modified or visit.http_status is None:
            return
        url_id, validators = visit.lease.entry.id, visit.validators if comes_again else None
        if validators is None:
            self.queue.ask_whole(url_id)
            return
        values = (url_id, validators.address, validators.etag, validators.modified, visit.at)
        self.connection.execute(sql.KEEP_VALIDATORS, values)

    def _without_blocked(self, visit: Visit) -> Visit:
        """The visit without what it says of hosts that are left alone."""
        if not self.blocked:
            return visit
        covers = self.blocked.covers
        if not any(covers(ranked.link.url.host) for ranked in visit.links) and not any(
            covers(candidate.endpoint.url.host) for candidate, _ in visit.candidates
        ):
            return visit
        links = tuple(ranked for ranked in visit.links if not covers(ranked.link.url.host))
        candidates = tuple(each for each in visit.candidates if not covers(each[0].endpoint.url.host))
        return replace(visit, links=links, candidates=candidates)

    def flush(self) -> None:
        """Write what was collected; the last step before a commit."""
        self.hosts.flush()
        self.tally.flush()

    def _come_again(self, visit: Visit, current: Current, *, brought: bool) -> bool:
        """Say when a page is read again, and count it; returns whether it is."""
        comes_again = False
        if visit.state is not State.REFUSED:
            names = bool(visit.candidates)
            comes_again = self.revisits.visited(
                visit.lease.entry.id, visit.digest, visit.at, names_services=names, brought=brought
            )
        self._count_page(visit, current, brought=brought)
        return comes_again

    def _count_page(self, visit: Visit, current: Current, *, brought: bool) -> None:
        """Count a page that was asked for the first time towards its pattern's budget."""
        entry = visit.lease.entry
        if brought:
            self.budgets.credit(entry.id)
        if visit.state is not State.REFUSED and is_counted(current.depth, entry.rank.tier, current.revisit_s):
            relevance = int(visit.relevance) if visit.state is State.VISITED else None
            self.budgets.page_visited(entry.url, relevance, brought=brought)

    def _held(self, lease: Lease) -> Current | None:
        """The leased URL as it stands, None when another worker has taken its host since or settled it."""
        row = self.connection.execute(sql.CURRENT, (lease.entry.id,)).fetchone()
        current = Current(*row) if row else None
        if current is None or (current.lease_token, current.lease_url) != (lease.token, lease.entry.id):
            return None
        return current

    def _write_outcome(self, visit: Visit, current: Current) -> None:
        attempts = current.attempts + (visit.state is State.FAILED)
        state, retry_at = settled_state(visit, attempts, self.max_attempts)
        outcome = (visit.lease.entry.id, state, visit.reason, attempts, retry_at, visit.at, visit.http_status)
        if visit.not_modified:
            self.connection.execute(sql.SETTLE_NOT_MODIFIED, (*outcome, visit.elapsed_ms))
        else:
            read = state is State.VISITED and current.purpose == "page"
            self.connection.execute(
                sql.SETTLE_URL,
                (
                    *outcome,
                    visit.content_type or None,
                    visit.size_bytes,
                    visit.elapsed_ms,
                    visit.title[:_TITLE_CHARS] or None,
                    int(visit.relevance) if read else None,
                    visit.score if read else None,
                ),
            )
        self.tally.add(current.purpose, current.state, current.tier, -1)
        self.tally.add(current.purpose, state, 0, 1)
        if state is State.REFUSED:
            self.tally.refuse(visit.reason, 1)
        if current.state == State.REFUSED:
            self.tally.refuse(current.reason or "", -1)

    # ----------------------------------------------------------------------- candidates

    def _take_candidates(self, visit: Visit, source: Source) -> tuple[int, list[int]]:
        """Endpoints that the visit found; returns how many are queued, and the ids of the pages that they may be."""
        queued, pages = 0, []
        for candidate, ranked in visit.candidates:
            queued += self.queue_probe(candidate, source.depth, visit.at, found_on=source.id)
            if ranked is not None:
                pages.append(self._take_page(candidate, ranked, source))
        return queued, pages

    def queue_probe(
        self,
        candidate: Candidate,
        depth: int,
        at: float,
        *,
        found_on: int | None,
        again: bool = False,
        due: bool = False,
    ) -> bool:
        """Keep a candidate and its evidence; queue its probe unless that was done before. Returns whether it was
        queued now. `again`: also one that was made, by itself when `due`, else read whole."""
        endpoint = candidate.endpoint
        key = probe_key(endpoint.kind, endpoint.key)
        row = self.connection.execute(sql.FIND_URL_STATE, (key,)).fetchone()
        if row is None and found_on is not None and self.budgets.is_spent_for(endpoint.kind, endpoint.url):
            return False
        endpoint_id = self.catalog.note(candidate, at)
        if row is not None:
            if again and not due:
                self.queue.ask_whole(row[0])
            if not again or row[1] == State.WAITING:
                return False
            self.queue.reopen(row[0], due=due)
            return True
        host_id = self.hosts.find(endpoint.url.host)
        rank = Rank(PROBE_TIER, 0.0)
        self.connection.execute(
            sql.ADD_URL,
            (
                key,
                endpoint.url.address,
                Purpose.PROBE,
                host_id,
                State.WAITING,
                None,
                depth,
                *rank,
                found_on,
                candidate.evidence.anchor[:200] or None,
                candidate.evidence.signal or None,
                0,
                endpoint_id,
                at,
            ),
        )
        self.tally.add("probe", State.WAITING, PROBE_TIER, 1)
        self.hosts.enter(host_id, rank)
        return True

    def probe_waits(self, candidate: Candidate) -> bool:
        """Whether a candidate's probe is in the queue."""
        key = probe_key(candidate.endpoint.kind, candidate.endpoint.key)
        row = self.connection.execute(sql.FIND_URL_STATE, (key,)).fetchone()
        return row is not None and row[1] == State.WAITING

    def _take_page(self, candidate: Candidate, ranked: RankedLink, source: Source) -> int:
        """The page that a weak candidate may be: refused until its probe has found HTML there."""
        endpoint_id, reason = self.catalog.verdict_of(candidate.endpoint)
        pending = None if not endpoint_id or shows_page(reason) else endpoint_id
        depth = source.depth if ranked.same_depth else source.depth + 1
        rank = max(ranked.rank, source.rank) if ranked.same_depth else ranked.rank
        page_id = self.links.take(ranked, depth, rank, source, candidate_of=pending).id
        return -page_id if ranked.same_depth else page_id

    # ----------------------------------------------------------------------- verdicts

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
        if visit.proof is not None:
            self.proofs.write(endpoint_id, visit.proof, visit.at)
        if probe_frees_page(visit.lease.entry.purpose, visit):
            self._free_pages(endpoint_id)

    def _free_pages(self, endpoint_id: int) -> None:
        """Pages that were taken for a service now wait like any other, caps and depth permitting."""
        for page_id, key, address, depth in self.connection.execute(sql.CANDIDATE_PAGES, (endpoint_id,)).fetchall():
            url = read_url(address)
            assert url is not None, "an address that was written by read_url is read by it"
            reason = self.links.count(url, key, depth)
            self.queue.change(page_id, arrival_state(depth, self.max_depth, reason), reason or None)
