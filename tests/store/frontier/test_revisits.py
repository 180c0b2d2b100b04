"""Pages that are read again: which, and how long the wait between two visits is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocrawl.model import State, Visit
from geocrawl.model.health import DAY_S
from geocrawl.store.frontier.revisits import RevisitWaits
from tests.support.world import World, candidate, link

WAITS = RevisitWaits(7 * DAY_S, DAY_S, 60 * DAY_S)


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url)


def visit(world: World, digest: int | None, *names: str, state: State = State.VISITED) -> None:
    lease = world.lease()
    found = tuple((candidate(name), None) for name in names)
    world.frontier.settle(
        Visit(lease, state, "ok", replace(lease.host, next_at=0.0), world.clock.now(), digest=digest, candidates=found)
    )


def wait_days(world: World) -> float | None:
    row = world.database.connection.execute("SELECT revisit_s / 86400.0 FROM url WHERE purpose = 'page'").fetchone()
    return None if row[0] is None else float(row[0])


def settle_probes(world: World) -> None:
    while (lease := world.frontier.lease(pages=False)) is not None:
        world.frontier.settle(Visit(lease, State.FAILED, "dns", lease.host, world.clock.now()))


def again(world: World, days: float) -> int:
    settle_probes(world)
    world.clock.time += days * DAY_S
    return world.frontier.revisit(world.clock.now(), 10, catalogues=False)


def test_only_seeds_and_pages_that_named_services_are_read_again(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("a.example/with"), link("a.example/without"))
    visit(world, 1)
    visit(world, 2, "maps.example/ows")
    read = "SELECT address, revisit_s FROM url WHERE purpose = 'page' AND revisit_at IS NOT NULL ORDER BY id"
    waits = dict(world.database.connection.execute(read).fetchall())
    assert len(waits) == 2 and "http://a.example/" in waits, "the seed, and the one that named a service"
    assert again(world, 400) == 2


def test_where_a_page_was_found_that_names_services_more_may_come_to_stand(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("a.example/list"))
    world.visit(link("a.example/dataset"), link("a.example/imprint"))
    visit(world, 1, "maps.example/ows")
    visit(world, 2)
    read = "SELECT address FROM url WHERE purpose = 'page' AND revisit_s = ? ORDER BY id"
    watched = [row[0] for row in world.database.connection.execute(read, (7 * DAY_S,))]
    assert watched == ["http://a.example/", "http://a.example/list", "http://a.example/dataset"]


def test_a_page_that_stays_the_same_is_read_ever_more_rarely(world: World) -> None:
    world.seed("a.example/page")
    visit(world, 1, "maps.example/ows")
    assert wait_days(world) == 7 and again(world, 6.9) == 0 and again(world, 0.2) == 1
    visit(world, 1, "maps.example/ows")
    assert wait_days(world) == 10.5
    for _ in range(8):
        assert again(world, 61) == 1
        visit(world, 1, "maps.example/ows")
    assert wait_days(world) == 60


def test_a_page_that_changes_is_read_more_often_and_most_where_it_brings_services(world: World) -> None:
    world.seed("a.example/page")
    visit(world, 1, "maps.example/ows")
    again(world, 8)
    visit(world, 2, "maps.example/ows")
    assert wait_days(world) == 3.5
    again(world, 4)
    visit(world, 3, "maps.example/ows", "maps.example/new")
    assert wait_days(world) == 1, "a quarter, but a day at least"


def test_a_page_that_lost_its_services_is_still_watched(world: World) -> None:
    world.seed("a.example/page")
    visit(world, 1, "maps.example/ows")
    again(world, 8)
    visit(world, 2)
    assert wait_days(world) == 3.5


def test_a_page_that_could_not_be_read_is_tried_again_later(world: World) -> None:
    world.seed("a.example/page")
    visit(world, 1, "maps.example/ows")
    again(world, 8)
    visit(world, None, state=State.FAILED)
    assert wait_days(world) == 10.5 and again(world, 11) == 1


def test_waits_stay_within_their_bounds() -> None:
    assert WAITS.after(2 * DAY_S, changed=True, brought=True) == DAY_S
    assert WAITS.after(50 * DAY_S, changed=False, brought=False) == 60 * DAY_S


def test_due_services_are_queued_once(world: World) -> None:
    from tests.support.world import verdict

    endpoint = candidate("maps.example/ows")
    world.record(endpoint, verdict("timeout-read"), world.clock.now())
    assert world.frontier.reprobe(world.clock.now(), 10) == 0
    world.clock.time += DAY_S
    assert world.frontier.reprobe(world.clock.now(), 10) == 1
    assert world.frontier.reprobe(world.clock.now(), 10) == 0, "it waits already"
