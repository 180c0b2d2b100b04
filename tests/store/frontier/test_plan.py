"""Settlements as a table: what a visit and a snapshot come to, without a database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocrawl.model import Entry, HostState, Lease, Purpose, Rank, RankedLink, Relevance, State, Visit
from geocrawl.store.database.keys import group_key, page_key
from geocrawl.store.frontier.budgets import Caps, PatternCounts, page_pattern_key
from geocrawl.store.frontier.plan import (
    AddressFacts,
    ArrivalRules,
    CandidateArrival,
    Current,
    KnownUrl,
    LinkLimits,
    SettlementPlan,
    SettlementRows,
    SettlementRules,
    candidate_key,
    candidate_pattern,
    is_admitted,
    plan_settlement,
)
from geocrawl.store.frontier.revisits import RevisitWaits
from geocrawl.urls import query_group
from tests.support.world import candidate, link, url

PAGE = "http://a.example/list/1.html"
CURRENT = Current(
    host_id=1,
    purpose="page",
    state="waiting",
    depth=2,
    tier=5,
    score=0.5,
    attempts=0,
    hops=0,
    endpoint_id=None,
    found_on=7,
    reason=None,
    revisit_s=None,
    digest=None,
    sub_queue=4,
    lists_news=0,
    lease_token=1,
    lease_url=10,
)
NOW = 1000.0


def rules(
    *, by_depth: bool = False, max_depth: int = 5, caps: Caps | None = None, queries: int = 100
) -> SettlementRules:
    limits = LinkLimits(max_depth, queries, lambda host: 100)
    return SettlementRules(ArrivalRules(limits, caps or Caps(0, 0, 0), by_depth), 3, RevisitWaits(100.0, 10.0, 1000.0))


def visit(*links: RankedLink, state: State = State.VISITED, reason: str = "ok", **more: object) -> Visit:
    host = HostState("a.example", 0.0, 0, 0.0, None, 0, 0)
    entry = Entry(10, Purpose.PAGE, url(PAGE), 2, Rank(5, 0.5), 0)
    lease = Lease(entry, host, 1, NOW + 60)
    made = Visit(lease=lease, state=state, reason=reason, host=host, at=NOW, http_status=200, links=links)
    return made._replace(**more)  # type: ignore[arg-type]


def plan(
    done: Visit,
    *known: tuple[str, KnownUrl],
    current: Current = CURRENT,
    facts: AddressFacts | None = None,
    candidates: tuple[CandidateArrival, ...] = (),
    by: SettlementRules | None = None,
) -> SettlementPlan:
    """Plan a visit; `known`: pages that stand in the frontier."""
    snapshot = SettlementRows(
        current,
        {page_key(url(text).identity): each for text, each in known},
        facts or AddressFacts(url_ids=range(100, 200), host_ids=range(20, 30), hosts={"a.example": (1, 9)}),
        [page_key(ranked.link.url.identity) for ranked in done.links],
        candidates,
    )
    return plan_settlement(done, snapshot, by or rules())


# --------------------------------------------------------------------------- the outcome


@pytest.mark.parametrize(
    ("state", "retry_after_s", "attempts", "expected", "retry_at"),
    [
        (State.VISITED, None, 0, (State.VISITED, 0), None),
        (State.REFUSED, None, 0, (State.REFUSED, 0), None),
        (State.FAILED, None, 0, (State.FAILED, 1), None),
        (State.FAILED, 60.0, 0, (State.FAILED, 1), NOW + 60),
        (State.FAILED, 60.0, 2, (State.FAILED, 3), None),
    ],
)
def test_the_outcome_of_a_visit(
    state: State, retry_after_s: float | None, attempts: int, expected: tuple[State, int], retry_at: float | None
) -> None:
    done = visit(state=state, reason="x", retry_after_s=retry_after_s)
    planned = plan(done, current=CURRENT._replace(attempts=attempts))
    assert ((planned.state, planned.attempts), planned.retry_at) == (expected, retry_at)


def test_the_counters_follow_a_url_from_one_state_to_the_next() -> None:
    changes = plan(visit()).counters.changes
    assert changes == {("page", "waiting", 5): -1, ("queued:", "4", 0): -1, ("page", "visited", 0): 1}


def test_a_refusal_is_counted_by_its_reason_and_a_former_one_taken_back() -> None:
    done = visit(state=State.REFUSED, reason="robots")
    changes = plan(done, current=CURRENT._replace(state="refused", reason="scope")).counters.changes
    assert changes[("refused:", "robots", 0)] == 1
    assert changes[("refused:", "scope", 0)] == -1


def test_only_a_page_that_was_read_has_relevance_and_score() -> None:
    read = plan(visit(relevance=Relevance.HIGH, score=0.7))
    assert (read.relevance, read.score) == (2, 0.7)
    failed = plan(visit(state=State.FAILED, reason="dns", relevance=Relevance.HIGH, score=0.7))
    assert (failed.relevance, failed.score) == (None, None)


# --------------------------------------------------------------------------- links


def test_new_links_get_the_next_ids_in_their_order() -> None:
    planned = plan(visit(link("a.example/x"), link("b.example/y", 7)))
    assert [(new.id, new.address, new.depth, new.tier, new.host_id) for new in planned.arrivals.new_urls] == [
        (100, "http://a.example/x", 3, 5, 1),
        (101, "http://b.example/y", 3, 7, 20),
    ]
    assert planned.arrivals.new_hosts == [(20, "b.example")]
    assert planned.arrivals.new_site_hosts == {"b.example": 1}
    assert planned.link_ids == [100, 101]
    assert planned.outlinks.deeper == [100, 101]


def test_a_redirects_target_is_as_deep_and_as_high_as_its_source() -> None:
    planned = plan(visit(link("a.example/moved", 1, same_depth=True)))
    (new,) = planned.arrivals.new_urls
    assert (new.depth, new.tier, new.score, new.hops) == (2, 5, 0.5, 1)
    assert planned.outlinks.same_depth == [100]


@pytest.mark.parametrize(
    ("known", "improves", "has_found"),
    [
        (KnownUrl(50, 3, Rank(5), "waiting"), False, False),
        (KnownUrl(50, 2, Rank(9), "visited"), False, False),
        (KnownUrl(50, 4, Rank(9), "waiting"), True, False),
        (KnownUrl(50, 2, Rank(4), "waiting"), True, True),
        (KnownUrl(10, 2, Rank(4), "waiting"), True, False),
    ],
)
def test_a_known_page_is_improved_by_a_shorter_way_or_a_better_link(
    known: KnownUrl, improves: bool, has_found: bool
) -> None:
    planned = plan(visit(link("a.example/x", 5)), ("a.example/x", known))
    assert not planned.arrivals.new_urls
    assert set(planned.arrivals.improvements) == ({known.id} if improves else set())
    assert any(better.link is not None for better in planned.arrivals.improvements.values()) is has_found


def test_two_links_of_a_page_to_one_new_page_are_one_row_with_the_better_link() -> None:
    planned = plan(visit(link("a.example/x", 3), link("a.example/x", 8), link("a.example/x", 4)))
    (new,) = planned.arrivals.new_urls
    assert (new.id, new.tier) == (100, 8)
    assert planned.link_ids == [100, 100, 100]
    assert planned.arrivals.counters.changes[("page", "waiting", 3)] == 0
    assert planned.arrivals.counters.changes[("page", "waiting", 8)] == 1
    arrivals = planned.arrivals.hosts[1]
    assert (arrivals.waiting, arrivals.best.tier, arrivals.pages) == (1, 8, 1)


def test_a_link_past_the_depth_limit_waits_for_a_shorter_way() -> None:
    planned = plan(visit(link("a.example/x"), link("a.example/x", same_depth=True)), by=rules(max_depth=2))
    (new,) = planned.arrivals.new_urls
    assert (new.state, new.depth) == (State.WAITING, 2)
    (deep,) = plan(visit(link("a.example/x")), by=rules(max_depth=2)).arrivals.new_urls
    assert deep.state is State.TOO_DEEP


def test_breadth_first_scores_by_depth() -> None:
    (new,) = plan(visit(link("a.example/x", 5, 0.9)), by=rules(by_depth=True)).arrivals.new_urls
    assert new.score == -3.0


def test_a_refused_link_is_recorded_and_not_counted_as_new() -> None:
    planned = plan(visit(link("a.example/x.zip", refused="stop:media")))
    (new,) = planned.arrivals.new_urls
    assert (new.state, new.reason, planned.arrivals.added_pages) == (State.REFUSED, "stop:media", 0)
    assert planned.arrivals.counters.changes[("refused:", "stop:media", 0)] == 1


# --------------------------------------------------------------------------- caps and budgets


def test_queries_of_one_path_are_counted_from_what_was_seen_before() -> None:
    group = group_key(query_group(url("a.example/x?n=1")))
    facts = AddressFacts(range(100, 1_000), range(20, 1_000), {"a.example": (1, 9)}, queries={group: 5000})
    planned = plan(visit(*[link(f"a.example/x?n={n}") for n in range(20)]), facts=facts, by=rules(queries=1))
    assert planned.arrivals.queries == {group: 20}
    assert {new.reason for new in planned.arrivals.new_urls} == {"trap:queries"}


def test_hosts_beyond_the_sites_cap_are_left_out_whatever_page_names_them() -> None:
    facts = AddressFacts(
        range(100, 1_000), range(20, 1_000), {"a.example": (1, 9)}, site_hosts={"big.example": 100_000}
    )
    planned = plan(visit(link("n1.big.example/")), facts=facts, by=rules(caps=Caps(0, 0, 10)))
    assert [new.reason for new in planned.arrivals.new_urls] == ["trap:hosts"]


@pytest.mark.parametrize(
    ("relevance", "state", "expected"),
    [
        (Relevance.SOME, State.VISITED, (1, 2)),
        (Relevance.NONE, State.VISITED, (1, 1)),
        (Relevance.HIGH, State.FAILED, (1, 0)),
    ],
)
def test_a_page_is_counted_towards_the_budget_of_its_pattern(
    relevance: Relevance, state: State, expected: tuple[int, int]
) -> None:
    assert plan(visit(state=state, relevance=relevance)).pattern == (page_pattern_key(url(PAGE)), *expected)


@pytest.mark.parametrize("change", [{"depth": 0}, {"revisit_s": 5.0}])
def test_start_pages_and_pages_read_again_count_towards_no_budget(change: dict[str, int]) -> None:
    assert plan(visit(), current=CURRENT._replace(**change)).pattern is None  # type: ignore[arg-type]


# --------------------------------------------------------------------------- candidates


def arrival(text: str, **more: object) -> CandidateArrival:
    found = candidate(text)
    made = CandidateArrival(found, None, candidate_key(found), is_admitted=True, endpoint_id=4)
    return replace(made, **more)  # type: ignore[arg-type]


def test_the_probe_of_a_new_candidate_stands_above_all_pages() -> None:
    planned = plan(visit(), candidates=(arrival("a.example/wms"), arrival("a.example/wms")))
    (new,) = planned.arrivals.new_urls
    assert (new.purpose, new.tier, new.endpoint_id, new.depth) == (Purpose.PROBE, 1000, 4, 2)
    assert planned.new_candidates == 1
    assert planned.pattern is not None
    assert planned.pattern[1] == 0, "a page that brought a candidate is not fruitless"


@pytest.mark.parametrize(("reason", "state"), [("", State.REFUSED), ("html", State.WAITING)])
def test_a_weak_candidates_page_waits_until_its_probe_has_seen_a_page(reason: str, state: State) -> None:
    weak = arrival("a.example/map", ranked=link("a.example/map"), reason=reason)
    page = plan(visit(), candidates=(weak,)).arrivals.new_urls[1]
    assert (page.purpose, page.state) == (Purpose.PAGE, state)


def test_a_candidate_of_a_spent_pattern_is_admitted_only_when_it_is_known() -> None:
    found = arrival("a.example/wms")
    pattern = candidate_pattern(found.candidate)
    spent = AddressFacts(patterns={pattern: PatternCounts(10, 0, 0)})
    assert not is_admitted(found, {}, spent, Caps(10, 0, 0))
    assert is_admitted(found, {}, AddressFacts(patterns={pattern: PatternCounts(10, 1, 0)}), Caps(10, 0, 0))
    assert is_admitted(found, {found.probe_key: KnownUrl(3, 1, Rank(1000), "waiting")}, spent, Caps(10, 0, 0))


# --------------------------------------------------------------------------- when a page is read again


@pytest.mark.parametrize(
    ("revisit_s", "digests", "lists_news", "expected"),
    [
        (None, (None, 1), 0, None),
        (None, (None, 1), 1, 100.0),
        (200.0, (1, 1), 0, 300.0),
        (200.0, (1, 2), 0, 100.0),
        (800.0, (1, None), 0, 1000.0),
        (12.0, (1, 2), 0, 10.0),
    ],
)
def test_the_next_visit_of_a_page(
    revisit_s: float | None, digests: tuple[int | None, int | None], lists_news: int, expected: float | None
) -> None:
    current = CURRENT._replace(revisit_s=revisit_s, digest=digests[0], lists_news=lists_news)
    following = plan(visit(digest=digests[1]), current=current).next_visit
    assert (following.wait_s if following else None) == expected
