"""Plan a settlement: from a visit and a snapshot to the changes that it makes. Pure.

`plan_settlement` decides everything (life cycle, counters, budgets, ranks, revisits); `settle.py` reads the snapshot
before it and writes the changes after it. `ArrivalPlan` receives links and probes in their order and collects the rows
to add, the improvements of known rows and the counters. Ids are assigned in that order, because URLs of equal rank are
served in the order of their ids.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from geocrawl.model import FIRST_SUB_QUEUE, LATE_TIER, REFRESH, Candidate, Purpose, Rank, RankedLink, State, Url, Visit
from geocrawl.sanitize import masked
from geocrawl.store.database.keys import group_key, is_over_cap, page_key, probe_key
from geocrawl.store.frontier.budgets import (
    Caps,
    PatternCounts,
    crowded_site_reason,
    is_counted,
    is_spent,
    page_pattern_key,
    service_pattern_key,
)
from geocrawl.store.frontier.counters import CounterChanges
from geocrawl.store.frontier.hosts import HostArrivals
from geocrawl.store.frontier.lifecycle import CANDIDATE, PROBE_TIER, arrival_state, settled_state, shows_page
from geocrawl.store.frontier.outlinks import OutLinks
from geocrawl.store.frontier.revisits import NextVisit, RevisitWaits
from geocrawl.urls import RECORDS, query_group, site_of

MANY = 2**62


class Current(NamedTuple):
    """The current row of a URL, with the lease on its host (the order of `settle.CURRENT`)."""

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
    digest: int | None
    sub_queue: int | None
    lists_news: int
    """1 for a seed, a sitemap and a page of records, to which sites add new entries."""
    lease_token: int
    lease_url: int | None


@dataclass(slots=True)
class KnownUrl:
    """A page or probe that is in the frontier."""

    id: int
    depth: int
    rank: Rank
    state: str
    was_asked: bool = False
    """A visit of it was settled before."""
    sub_queue: int | None = None


@dataclass(slots=True)
class AddressFacts:
    """The facts that decide on unknown addresses, and ids for them."""

    url_ids: Sequence[int] = range(1, MANY)
    """Ids for new URLs, ascending."""
    host_ids: Sequence[int] = range(1, MANY)
    hosts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Host name → (id, pages seen of it)."""
    site_hosts: dict[str, int] = field(default_factory=dict)
    """Site → hosts seen of it."""
    queries: dict[int, int] = field(default_factory=dict)
    """Key of a path → addresses seen that differ only in their query."""
    patterns: dict[int, PatternCounts] = field(default_factory=dict)
    """Key of a pattern → what was counted of it."""


# --------------------------------------------------------------------------- links and candidates


MAX_ANCHOR_CHARS = 200


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """The limits by which an arriving link is refused or set aside."""

    max_depth: int
    max_queries_per_path: int
    max_pages_of: Callable[[str], int]
    """Returns the limit of pages of a host, by its name."""

    def cap_reason(self, host: str, key: int, depth: int, pages: int, queries: int) -> str:
        """Return why a page is left out ('' for none), by its key and how many were seen of its host and of its path.

        Seeds (depth 0) are never left out.
        """
        if depth == 0:
            return ""
        if is_over_cap(key, queries, self.max_queries_per_path):
            return "trap:queries"
        if is_over_cap(key, pages, self.max_pages_of(host)):
            return "trap:host-pages"
        return ""


@dataclass(frozen=True, slots=True)
class ArrivalRules:
    """The settings that arrivals obey."""

    limits: LinkLimits
    caps: Caps
    by_depth: bool
    """The score of a page is minus its depth (breadth-first)."""
    not_permitted: Callable[[Url], str] = lambda url: ""
    """Returns the reason for which an address, by its text alone, may not be requested, '' for one that may. Such an
    address that a stranger names is refused as it arrives: a page may name thousands, and a visit of each would keep
    the hosts that may be asked waiting."""
    probe_tier: int = PROBE_TIER
    """Tier in which probes arrive."""


class LinkSource(NamedTuple):
    """The page or person that links come from."""

    id: int | None
    """The page; None for a person."""
    depth: int
    rank: Rank
    hops: int
    at: float
    sub_queue: int | None = FIRST_SUB_QUEUE
    """`SubQueue.number` of the page; of what a person enters the highest."""


class NewUrl(NamedTuple):
    """A row of `url` to be added."""

    id: int
    key: int
    address: str
    purpose: Purpose
    host_id: int
    state: State
    reason: str | None
    depth: int
    tier: int
    score: float
    found_on: int | None
    anchor: str | None
    found_in: str | None
    sub_queue: int | None
    hops: int
    endpoint_id: int | None
    first_seen: float


class BestLink(NamedTuple):
    """The best link to a URL: columns of its row."""

    found_on: int | None
    anchor: str | None
    found_in: str | None
    sub_queue: int | None


@dataclass(slots=True)
class Improvement:
    """A shorter way or a better link to a URL that was known before."""

    depth: int
    rank: Rank
    link: BestLink | None = None
    """The best link, when it outranks the one that is stored."""


@dataclass(slots=True)
class ArrivalPlan:
    """Rows to add and to improve, and what is counted with them."""

    urls: dict[int, KnownUrl]
    """Known URLs by key; what is added joins them."""
    facts: AddressFacts
    rules: ArrivalRules
    new_urls: list[NewUrl] = field(default_factory=list)
    new_hosts: list[tuple[int, str]] = field(default_factory=list)
    """(id, name), in the order of their ids."""
    new_site_hosts: dict[str, int] = field(default_factory=dict)
    """Site → number of its new hosts."""
    queries: dict[int, int] = field(default_factory=dict)
    """Key of a path → number of new addresses that differ only in their query."""
    improvements: dict[int, Improvement] = field(default_factory=dict)
    """By URL id."""
    hosts: dict[int, HostArrivals] = field(default_factory=dict)
    """By host id."""
    counters: CounterChanges = field(default_factory=CounterChanges)
    added_pages: int = 0
    """Pages added that are not refused."""

    # ----------------------------------------------------------------------- pages

    def link(
        self,
        ranked: RankedLink,
        key: int,
        depth: int,
        rank: Rank,
        source: LinkSource,
        *,
        candidate_of: int | None = None,
    ) -> KnownUrl:
        """Add or improve the page that a link leads to; return its new state.

        `candidate_of`: the endpoint that its address may be; then the page waits for that endpoint's probe.
        """
        if self.rules.by_depth:
            rank = Rank(rank.tier, float(-depth))
        known = self.urls.get(key)
        if known is None:
            known = self.urls[key] = self._add_page(ranked, key, depth, rank, source, candidate_of)
        elif depth < known.depth or rank > known.rank:
            self._improve(known, ranked, depth, rank, source)
        return known

    def _add_page(
        self, ranked: RankedLink, key: int, depth: int, rank: Rank, source: LinkSource, candidate_of: int | None
    ) -> KnownUrl:
        url = ranked.link.url
        host_id = self._host(url.host)
        reason = (
            ranked.refused
            or self._not_permitted(url, source.id)
            or (CANDIDATE if candidate_of is not None else "")
            or self.count(url, key, depth)
        )
        state = arrival_state(depth, self.rules.limits.max_depth, reason)
        url_id = self.facts.url_ids[len(self.new_urls)]
        hops = source.hops + 1 if _is_hop(ranked, source) else 0
        row = (url_id, key, url.address, Purpose.PAGE, host_id, state, reason or None, depth, rank.tier, rank.score)
        link = _link_of(ranked, source)
        self._add(NewUrl(*row, *link, hops, candidate_of, source.at), rank)
        if state is State.REFUSED:
            self.counters.refuse(reason, 1)
        self.added_pages += not reason
        return KnownUrl(url_id, depth, rank, state, sub_queue=link.sub_queue)

    def count(self, url: Url, key: int, depth: int) -> str:
        """Count a new page towards the caps; return the reason to leave it out, '' for none."""
        host_id, pages = self.facts.hosts[url.host]
        pages += 1
        self.facts.hosts[url.host] = (host_id, pages)
        self._arrivals(host_id).pages += 1
        queries = 0
        if "?" in url.identity:
            group = group_key(query_group(url))
            queries = self.facts.queries[group] = self.facts.queries.get(group, 0) + 1
            self.queries[group] = self.queries.get(group, 0) + 1
        reason = self.rules.limits.cap_reason(url.host, key, depth, pages, queries)
        if reason or not depth or url.host == url.site:
            return reason
        return crowded_site_reason(self.rules.caps, url.host, self.facts.site_hosts.get(url.site, 0))

    def _improve(self, known: KnownUrl, ranked: RankedLink, depth: int, rank: Rank, source: LinkSource) -> None:
        if known.rank.tier == LATE_TIER and source.id is not None:
            rank = known.rank  # it stays in the lowest tier, where it was counted
        # The way to a page ends with the best link known when it was asked, so that ways form no circles.
        replaces = not known.was_asked or source.id is None or ranked.link.where == RECORDS
        link = _link_of(ranked, source) if replaces and rank > known.rank and known.id != source.id else None
        known.depth, known.rank = min(depth, known.depth), max(rank, known.rank)
        if link is not None:
            if known.state == State.WAITING:
                self.counters.enter(known.sub_queue, -1)
                self.counters.enter(link.sub_queue, 1)
            known.sub_queue = link.sub_queue
        index = bisect_left(self.new_urls, known.id, key=attrgetter("id"))
        if index < len(self.new_urls) and self.new_urls[index].id == known.id:
            self._improve_new(index, depth, rank, link)
            known.state = self.new_urls[index].state
            return
        former = self.improvements.get(known.id)
        if former is None:
            self.improvements[known.id] = Improvement(depth, rank, link)
        else:
            former.depth, former.rank = min(depth, former.depth), max(rank, former.rank)
            former.link = link or former.link

    def _improve_new(self, index: int, depth: int, rank: Rank, link: BestLink | None) -> None:
        """Improve a page that this plan adds: two links of one page lead there."""
        new = self.new_urls[index]
        if link is not None:
            new = new._replace(**link._asdict())
        former = Rank(new.tier, new.score)
        depth, rank = moved_place(new.depth, former, depth, rank, by_depth=self.rules.by_depth)
        if (depth, rank) != (new.depth, former):
            opens = new.state is State.TOO_DEEP and depth <= self.rules.limits.max_depth
            state = State.WAITING if opens else new.state
            if state is State.WAITING:
                self.counters.move(new.purpose, (new.state, former.tier), (state, rank.tier), new.sub_queue)
                self._arrivals(new.host_id).enter(rank, waiting=int(opens))
            new = new._replace(state=state, depth=depth, tier=rank.tier, score=rank.score)
        self.new_urls[index] = new

    # ----------------------------------------------------------------------- probes

    def probe(
        self, candidate: Candidate, key: int, endpoint_id: int, depth: int, at: float, found_on: int | None
    ) -> bool:
        """Add the probe of an endpoint, above all pages; return whether it is new and waits.

        A known one only rises in rank.
        """
        rank = Rank(self.rules.probe_tier, 0.0)
        if known := self.urls.get(key):
            if known.state is State.WAITING and rank > known.rank and known.rank.tier != LATE_TIER:
                known.rank = rank
                self.improvements[known.id] = Improvement(known.depth, rank)
            return False
        evidence, url = candidate.evidence, candidate.endpoint.url
        reason = self._not_permitted(url, found_on)
        new = NewUrl(
            id=self.facts.url_ids[len(self.new_urls)],
            key=key,
            address=url.address,
            purpose=Purpose.PROBE,
            host_id=self._host(url.host),
            state=State.REFUSED if reason else State.WAITING,
            reason=reason or None,
            depth=depth,
            tier=rank.tier,
            score=rank.score,
            found_on=found_on,
            anchor=masked(evidence.anchor)[:MAX_ANCHOR_CHARS] or None,
            found_in=evidence.signal or None,
            sub_queue=None,
            hops=0,
            endpoint_id=endpoint_id,
            first_seen=at,
        )
        self._add(new, rank)
        if reason:
            self.counters.refuse(reason, 1)
        self.urls[key] = KnownUrl(new.id, depth, rank, new.state)
        return not reason

    # ----------------------------------------------------------------------- parts

    def _not_permitted(self, url: Url, found_on: int | None) -> str:
        """Return why an address may not be requested. An address that a person names is left to its visit, which
        reports the reason."""
        return self.rules.not_permitted(url) if found_on is not None else ""

    def _add(self, new: NewUrl, rank: Rank) -> None:
        self.new_urls.append(new)
        self.counters.add(new.purpose, new.state, rank.tier, 1)
        if new.state is State.WAITING:
            self.counters.enter(new.sub_queue, 1)
            self._arrivals(new.host_id).enter(rank, waiting=1)

    def _host(self, name: str) -> int:
        """Return the id of a host; a new one gets the next id and counts for its site."""
        known = self.facts.hosts.get(name)
        if known is None:
            known = self.facts.hosts[name] = (self.facts.host_ids[len(self.new_hosts)], 0)
            self.new_hosts.append((known[0], name))
            site = site_of(name)
            self.facts.site_hosts[site] = self.facts.site_hosts.get(site, 0) + 1
            self.new_site_hosts[site] = self.new_site_hosts.get(site, 0) + 1
        return known[0]

    def _arrivals(self, host_id: int) -> HostArrivals:
        arrivals = self.hosts.get(host_id)
        if arrivals is None:
            arrivals = self.hosts[host_id] = HostArrivals()
        return arrivals


def moved_place(old_depth: int, old: Rank, depth: int, rank: Rank, *, by_depth: bool) -> tuple[int, Rank]:
    """Return the depth and rank of a page to which a way of `depth` and a link of `rank` lead: depth only falls, rank
    only rises."""
    depth, rank = min(depth, old_depth), max(rank, old)
    return depth, Rank(rank.tier, float(-depth)) if by_depth and rank.tier != LATE_TIER else rank


def _link_of(ranked: RankedLink, source: LinkSource) -> BestLink:
    """Return a link as columns."""
    sub_queue = source.sub_queue if ranked.sub_queue is None else ranked.sub_queue
    return BestLink(source.id, masked(ranked.link.anchor)[:MAX_ANCHOR_CHARS] or None, ranked.link.where, sub_queue)


def _is_hop(ranked: RankedLink, source: LinkSource) -> bool:
    """Return whether a redirect led here, or a page that sends its readers on; a catalogue's next page also has the
    depth of its source, but is not a hop."""
    leads_on = ranked.same_depth or ranked.link.where == REFRESH
    return leads_on and source.id is not None and ranked.link.where != RECORDS


# --------------------------------------------------------------------------- a visit


_TITLE_CHARS = 500


@dataclass(frozen=True, slots=True)
class SettlementRules:
    """The settings that settlements obey."""

    arrivals: ArrivalRules
    max_attempts: int
    waits: RevisitWaits


@dataclass(slots=True)
class CandidateArrival:
    """A possible endpoint that the visit found, prepared for the plan."""

    candidate: Candidate
    ranked: RankedLink | None
    """Its link, when the address may turn out to be an ordinary page."""
    probe_key: int
    is_admitted: bool = False
    endpoint_id: int = 0
    """Id of the endpoint in the catalogue; 0: the catalogue has none."""
    reason: str = ""
    """Reason of the endpoint's last verdict."""


@dataclass(slots=True)
class SettlementRows:
    """The rows of the database on which a settlement depends."""

    current: Current
    urls: dict[int, KnownUrl]
    """Known pages and probes by key."""
    facts: AddressFacts
    link_keys: Sequence[int] = ()
    """Key of the page of each link of the visit."""
    candidates: Sequence[CandidateArrival] = ()


@dataclass(slots=True)
class SettlementPlan:
    """The changes that a visit makes."""

    state: State
    attempts: int
    retry_at: float | None
    title: str | None
    relevance: int | None
    """0, 1 or 2; None unless a page was read."""
    score: float | None
    arrivals: ArrivalPlan
    counters: CounterChanges = field(default_factory=CounterChanges)
    link_ids: list[int] = field(default_factory=list)
    """Id of each link of the visit, in its order."""
    outlinks: OutLinks = field(default_factory=lambda: OutLinks((), ()))
    new_candidates: int = 0
    next_visit: NextVisit | None = None
    """None: the page is not read again by itself."""
    pattern: tuple[int, int, int] | None = None
    """(key, 1 when it may count as fruitless, relevance + 1 or 0) of the page, to be counted towards its budget."""
    comes_again: bool = False
    """The URL is asked again, so the validators of its answer are worth keeping."""


def source_of(visit: Visit, current: Current) -> LinkSource:
    """Return where the links of a visit come from."""
    entry = visit.lease.entry
    rank = max(Rank(current.tier, current.score), entry.rank)
    return LinkSource(entry.id, current.depth, rank, current.hops, visit.at, current.sub_queue)


def place_of(ranked: RankedLink, source: LinkSource) -> tuple[int, Rank]:
    """Return depth and rank of a link; a redirect's target has those of its source."""
    if ranked.same_depth:
        return source.depth, max(ranked.rank, source.rank)
    return source.depth + 1, ranked.rank


def is_admitted(arrival: CandidateArrival, urls: dict[int, KnownUrl], facts: AddressFacts, caps: Caps) -> bool:
    """Return whether a candidate is kept: it is known, or the budget of its pattern is not spent."""
    if arrival.probe_key in urls:
        return True
    counts = facts.patterns.get(candidate_pattern(arrival.candidate))
    return counts is None or not is_spent(counts, caps)


def candidate_pattern(candidate: Candidate) -> int:
    """Return the key of the pattern that a candidate's requests count towards."""
    url = candidate.endpoint.url
    return service_pattern_key(candidate.endpoint.kind, url, url.site)


def candidate_key(candidate: Candidate) -> int:
    """Return the key of a candidate's probe in the frontier."""
    return probe_key(candidate.endpoint.kind, candidate.endpoint.key)


def plan_settlement(visit: Visit, snapshot: SettlementRows, rules: SettlementRules) -> SettlementPlan:
    """Return all changes that a visit makes, except for the verdict's rows in the catalogue."""
    current, entry = snapshot.current, visit.lease.entry
    attempts = current.attempts + (visit.state is State.FAILED)
    state, retry_at = settled_state(visit, attempts, rules.max_attempts)
    was_read = state is State.VISITED and current.purpose == Purpose.PAGE
    plan = SettlementPlan(
        state=state,
        attempts=attempts,
        retry_at=retry_at,
        title=masked(visit.title)[:_TITLE_CHARS] or None,
        relevance=int(visit.relevance) if was_read else None,
        score=visit.score if was_read else None,
        arrivals=ArrivalPlan(snapshot.urls, snapshot.facts, rules.arrivals),
    )
    _count_outcome(plan, visit, current)
    _plan_arrivals(plan, visit.links, snapshot, source_of(visit, current))
    if entry.purpose is Purpose.PROBE:
        plan.comes_again = True
        return plan
    brought = plan.new_candidates > 0
    if visit.state is not State.REFUSED:
        plan.next_visit = rules.waits.next_visit(
            current.revisit_s,
            former_digest=current.digest,
            digest=visit.digest,
            lists_news=bool(current.lists_news),
            names_services=bool(visit.candidates),
            brought=brought,
        )
        plan.comes_again = plan.next_visit is not None
        if is_counted(current.depth, entry.rank.tier, current.revisit_s):
            plan.pattern = _pattern_of(entry.url, visit, brought=brought)
    return plan


def _count_outcome(plan: SettlementPlan, visit: Visit, current: Current) -> None:
    counters = plan.counters
    counters.move(current.purpose, (current.state, current.tier), (plan.state, 0), current.sub_queue)
    if plan.state is State.REFUSED:
        counters.refuse(visit.reason, 1)
    if current.state == State.REFUSED:
        counters.refuse(current.reason or "", -1)


def _plan_arrivals(
    plan: SettlementPlan, links: Sequence[RankedLink], snapshot: SettlementRows, source: LinkSource
) -> None:
    """Let candidates arrive, then links: the order decides who is first among equals."""
    same_depth, deeper = list[int](), list[int]()
    for candidate in snapshot.candidates:
        if candidate.is_admitted and plan.arrivals.probe(
            candidate.candidate, candidate.probe_key, candidate.endpoint_id, source.depth, source.at, source.id
        ):
            plan.new_candidates += 1
        if candidate.ranked is not None:
            page = _plan_candidate_page(plan, candidate, candidate.ranked, source)
            (same_depth if candidate.ranked.same_depth else deeper).append(page)
    for ranked, key in zip(links, snapshot.link_keys, strict=True):
        depth, rank = place_of(ranked, source)
        url_id = plan.arrivals.link(ranked, key, depth, rank, source).id
        plan.link_ids.append(url_id)
        (same_depth if ranked.same_depth else deeper).append(url_id)
    plan.outlinks = OutLinks(same_depth, deeper)


def _plan_candidate_page(
    plan: SettlementPlan, arrival: CandidateArrival, ranked: RankedLink, source: LinkSource
) -> int:
    """Let the page arrive that a weak candidate may be: refused until its probe has found HTML there."""
    pending = None if not arrival.endpoint_id or shows_page(arrival.reason) else arrival.endpoint_id
    depth, rank = place_of(ranked, source)
    key = page_key(ranked.link.url.identity)
    return plan.arrivals.link(ranked, key, depth, rank, source, candidate_of=pending).id


def _pattern_of(url: Url, visit: Visit, *, brought: bool) -> tuple[int, int, int] | None:
    key = page_pattern_key(url)
    if key is None:
        return None
    relevance = int(visit.relevance) + 1 if visit.state is State.VISITED else 0
    return key, int(not brought), relevance
