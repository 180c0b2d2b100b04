"""Plan a settlement: from a visit and a snapshot to the changes that it makes. Pure.

`plan_settlement` decides everything (life cycle, counters, budgets, ranks, revisits); `settlement.py` reads the
snapshot before it and writes the changes after it. A second engine has its own reader and writer, and shares this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from geocrawl.model import Candidate, Purpose, Rank, RankedLink, State, Url, Visit
from geocrawl.store.frontier.arrivals import ArrivalPlan, ArrivalRules, Source
from geocrawl.store.frontier.budgets import Caps, is_counted, is_spent, page_pattern_key, service_pattern_key
from geocrawl.store.frontier.counters import CounterChanges
from geocrawl.store.frontier.lifecycle import settled_state, shows_page
from geocrawl.store.frontier.outlinks import OutLinks
from geocrawl.store.frontier.revisits import NextVisit, RevisitWaits
from geocrawl.store.frontier.snapshot import Current, Facts, KnownUrl
from geocrawl.store.keys import page_key, probe_key

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
class Snapshot:
    """The rows of the database on which a settlement depends."""

    current: Current
    urls: dict[int, KnownUrl]
    """Known pages and probes by key."""
    facts: Facts
    link_ids: list[int] = field(default_factory=list)
    """For each link of the visit the id of the URL that it cannot improve, known from memory; 0 for those of
    `link_keys`, until they have arrived."""
    link_keys: Mapping[int, int] = field(default_factory=dict)
    """Position of each link that memory does not settle → the key of its page."""
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


def source_of(visit: Visit, current: Current) -> Source:
    """Return where the links of a visit come from."""
    entry = visit.lease.entry
    rank = max(Rank(current.tier, current.score), entry.rank)
    return Source(entry.id, current.depth, rank, current.hops, visit.at)


def place_of(ranked: RankedLink, source: Source) -> tuple[int, Rank]:
    """Return depth and rank of a link; a redirect's target has those of its source."""
    if ranked.same_depth:
        return source.depth, max(ranked.rank, source.rank)
    return source.depth + 1, ranked.rank


def is_admitted(arrival: CandidateArrival, urls: dict[int, KnownUrl], facts: Facts, caps: Caps) -> bool:
    """Return whether a candidate is kept: it is known, or the budget of its pattern is not spent."""
    if arrival.probe_key in urls:
        return True
    return not is_spent(facts.patterns.get(candidate_pattern(arrival.candidate)), caps)


def candidate_pattern(candidate: Candidate) -> int:
    """Return the key of the pattern that a candidate's requests count towards."""
    url = candidate.endpoint.url
    return service_pattern_key(candidate.endpoint.kind, url, url.site)


def candidate_key(candidate: Candidate) -> int:
    """Return the key of a candidate's probe in the frontier."""
    return probe_key(candidate.endpoint.kind, candidate.endpoint.key)


def plan_settlement(visit: Visit, snapshot: Snapshot, rules: SettlementRules) -> SettlementPlan:
    """Return all changes that a visit makes, except for the verdict's rows in the catalogue."""
    current, entry = snapshot.current, visit.lease.entry
    attempts = current.attempts + (visit.state is State.FAILED)
    state, retry_at = settled_state(visit, attempts, rules.max_attempts)
    was_read = state is State.VISITED and current.purpose == Purpose.PAGE
    plan = SettlementPlan(
        state=state,
        attempts=attempts,
        retry_at=retry_at,
        title=visit.title[:_TITLE_CHARS] or None,
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
    counters.add(current.purpose, current.state, current.tier, -1)
    counters.add(current.purpose, plan.state, 0, 1)
    if plan.state is State.REFUSED:
        counters.refuse(visit.reason, 1)
    if current.state == State.REFUSED:
        counters.refuse(current.reason or "", -1)


def _plan_arrivals(plan: SettlementPlan, links: Sequence[RankedLink], snapshot: Snapshot, source: Source) -> None:
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
    for position, key in snapshot.link_keys.items():
        depth, rank = place_of(links[position], source)
        snapshot.link_ids[position] = plan.arrivals.link(links[position], key, depth, rank, source).id
    for ranked, url_id in zip(links, snapshot.link_ids, strict=True):
        (same_depth if ranked.same_depth else deeper).append(url_id)
    plan.link_ids = snapshot.link_ids
    plan.outlinks = OutLinks(same_depth, deeper)


def _plan_candidate_page(plan: SettlementPlan, arrival: CandidateArrival, ranked: RankedLink, source: Source) -> int:
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
