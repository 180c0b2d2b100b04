"""What visits led to is counted by tier and sub-queue: once a visit, and for services that were not known before."""

from __future__ import annotations

import pytest

from geocrawl.model import Candidate, Purpose, Relevance, Service, State, Visit, VisitYield
from tests.support.invariants import check_invariants
from tests.support.world import SEED_RANK, World, candidate, link, verdict

WMS, OTHER = candidate("http://w.example/wms?service=WMS"), candidate("http://o.example/ows?service=WMS")


@pytest.fixture
def world(engine_url: str) -> World:
    world = World(engine_url)
    world.seed("a.example/")
    maps, news = link("a.example/maps", 7), link("a.example/news", 3)
    world.visit(maps._replace(sub_queue=7), news._replace(sub_queue=1))
    return world


def visit(
    world: World, *found: Candidate, page: Relevance = Relevance.SOME, status: int = 200, unchanged: bool = False
) -> None:
    """Visit the next page, which names these candidates."""
    lease = world.lease()
    assert lease.entry.purpose is Purpose.PAGE
    state = State.VISITED if status < 400 else State.FAILED
    made = Visit(lease, state, "ok", lease.host, world.clock.now(), http_status=status, relevance=page)
    candidates = tuple((each, None) for each in found)
    world.frontier.settle(made._replace(candidates=candidates, not_modified=unchanged))


def probe(world: World, reason: str = "ok") -> None:
    lease = world.lease()
    assert lease.entry.purpose is Purpose.PROBE and lease.entry.candidate is not None
    world.settle(lease, verdict=verdict(reason, Service(lease.entry.candidate.endpoint.kind, "1.3.0", "Rivers")))


def by_tier(world: World) -> dict[int, tuple[int, int]]:
    return {tier: (each.visited, each.led) for tier, each in world.frontier.stats().visits_by_tier.items()}


def test_a_visit_leads_to_services_once_however_many_it_named(world: World) -> None:
    visit(world, WMS, OTHER)
    assert by_tier(world) == {SEED_RANK.tier: (1, 0), 7: (1, 0)}
    probe(world)
    probe(world)
    visit(world)
    assert by_tier(world) == {SEED_RANK.tier: (1, 0), 7: (1, 1), 3: (1, 0)}
    assert world.frontier.stats().visits_by_sub_queue == {
        8: VisitYield(1, 0),
        7: VisitYield(1, 1),
        1: VisitYield(1, 0),
    }


def test_waiting_pages_are_counted_by_sub_queue_until_they_are_leased(world: World) -> None:
    assert world.frontier.stats().waiting_by_sub_queue == {7: 1, 1: 1}
    lease = world.lease()
    assert world.frontier.stats().waiting_by_sub_queue == {1: 1}
    better, of_page = link("a.example/news", 5)._replace(sub_queue=4), link("a.example/next", 2)
    world.settle(lease, better, of_page)
    assert world.frontier.stats().waiting_by_sub_queue == {7: 1, 4: 1}
    check_invariants(world.database.connection)


def test_a_leased_page_whose_sub_queue_nobody_knows_is_counted_in_none(world: World) -> None:
    world.settle(world.lease(), link("a.example/old", 9)._replace(sub_queue=None))
    assert world.lease().entry.url.address.endswith("/old")
    assert world.frontier.stats().waiting_by_sub_queue == {1: 1}


def test_an_endpoint_that_is_no_service_or_was_known_is_no_find(world: World) -> None:
    visit(world, WMS)
    probe(world, "html")
    assert by_tier(world)[7] == (1, 0)
    world.frontier.add_candidates([WMS], again=True)
    probe(world)
    assert by_tier(world)[7] == (1, 1)  # it is one now
    visit(world, WMS)
    world.frontier.add_candidates([WMS], again=True)
    probe(world)
    assert by_tier(world)[3] == (1, 0)


def test_redirects_and_unchanged_pages_are_no_visits_and_failures_are(world: World) -> None:
    visit(world, status=302)
    assert 7 not in by_tier(world)
    visit(world, status=404)
    assert by_tier(world)[3] == (1, 0)
    world.frontier.add_seeds([link("a.example/").link.url], SEED_RANK, again=True)
    visit(world, unchanged=True)
    assert by_tier(world)[SEED_RANK.tier] == (1, 0)


def test_a_page_that_is_visited_again_may_lead_to_another_service(world: World) -> None:
    visit(world, WMS)
    probe(world)
    world.seed("a.example/maps", again=True)
    visit(world, WMS, OTHER)
    probe(world)
    assert by_tier(world)[7] == (1, 1)
    assert by_tier(world)[SEED_RANK.tier] == (2, 1)  # in the tier of start pages now


def test_another_strategy_begins_with_no_visits_by_tier(world: World) -> None:
    visit(world, WMS)
    world.frontier.clear_yields()
    probe(world)
    stats = world.frontier.stats()
    assert stats.visits_by_tier == {} and stats.visits_by_sub_queue[7] == VisitYield(1, 1)
