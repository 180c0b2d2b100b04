"""Leases of a scratch session: it leases hosts of a catalogue for a turn and stores politeness alone there."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from geocrawl.errors import GivenBack
from geocrawl.model import HostState, IpPlace, IpRequest
from geocrawl.ports import HostBusy, HostLease
from geocrawl.settings import Settings
from geocrawl.store.frontier.politeness import SqlPoliteness
from tests.support.invariants import check_invariants
from tests.support.lives import end
from tests.support.world import World

SETTINGS = Settings(delay_s=1.0, patience_s=30.0, lease_s=300.0)


@pytest.fixture
def world(engine_url: str) -> World:
    world = World(engine_url, SETTINGS)
    world.seed("a.example/", "a.example/2")
    return world


def leases(world: World) -> SqlPoliteness:
    return SqlPoliteness(world.database, SETTINGS)


async def leased(world: World, name: str = "a.example") -> HostLease:
    lease = await leases(world).lease(name, world.clock.now(), wait_s=30.0)
    assert not isinstance(lease, HostBusy)
    return lease


def row(world: World, columns: str, name: str = "a.example") -> tuple[object, ...]:
    found: tuple[object, ...] = world.database.connection.execute(
        f"SELECT {columns} FROM host WHERE name = ?", (name,)
    ).fetchone()
    return found


async def test_no_crawl_asks_a_host_while_a_scratch_session_does(world: World) -> None:
    lease = await leased(world)
    assert world.frontier.lease() is None
    assert isinstance(await leases(world).lease("a.example", world.clock.now(), wait_s=30.0), HostBusy)
    learnt = HostState("a.example", world.clock.now() + 4.0, 1, 5.0, 4.0, 11, 3, 6.0, "http://a.example/2")
    await lease.release(learnt, world.clock.now())
    assert world.frontier.lease() is None, "the politeness that the scratch session wrote applies to every process"
    world.clock.time += 4.0
    assert world.lease().host == HostState(
        "a.example", world.clock.now(), 1, 5.0, 4.0, 11, 3, 6.0, "http://a.example/2"
    )
    check_invariants(world.database.connection)


async def test_a_scratch_session_waits_for_a_leased_host_and_starts_with_its_known_politeness(world: World) -> None:
    world.database.connection.execute("UPDATE host SET crawl_delay_s = 7, errors = 2 WHERE name = 'a.example'")
    lease = world.lease()
    not_now = await leases(world).lease("a.example", world.clock.now(), wait_s=30.0)
    assert not_now == HostBusy(lease.until, "process 1 on test")
    world.settle(lease)
    assert (await leased(world)).state.crawl_delay_s == 7


async def test_a_back_off_longer_than_the_patience_is_not_waited_for(world: World) -> None:
    now = world.clock.now()
    world.database.connection.execute("UPDATE host SET next_at = ? WHERE name = 'a.example'", (now + 31.0,))
    assert await leases(world).lease("a.example", now, wait_s=30.0) == HostBusy(now + 31.0, "")
    assert not isinstance(await leases(world).lease("a.example", now + 2.0, wait_s=30.0), HostBusy), (
        "its turn waits for the back-off"
    )


async def test_a_shared_lease_expires_and_cannot_be_released_once_another_process_leased_the_host(world: World) -> None:
    shared = await leased(world)
    world.clock.time += 301.0
    lease = world.lease()
    await shared.release(HostState("a.example", 9e12), world.clock.now())
    assert row(world, "next_at, lease_until") == (0.0, lease.until)
    world.settle(lease)
    check_invariants(world.database.connection)


async def test_the_host_of_a_killed_process_is_free_when_its_last_request_is_surely_answered(world: World) -> None:
    world.lease()
    world.database.connection.execute("UPDATE host SET lease_owner = 'killed:1'")
    end(world.database, "killed:1")
    assert (await leased(world)).state.next_at == world.clock.now() + 10.0 + 1.0


async def test_of_a_new_host_politeness_alone_is_stored(world: World) -> None:
    lease = await leased(world, "new.example")
    await lease.release(HostState("new.example", world.clock.now() + 1.0), world.clock.now())
    assert row(world, "waiting, pages, next_at", "new.example") == (0, 0, world.clock.now() + 1.0)
    world.seed("new.example/")
    names = {world.lease().host.name}
    assert names == {"a.example"}, "the other one keeps its delay"
    check_invariants(world.database.connection)


async def test_a_shared_lease_is_extended_until_another_process_has_leased_the_host(world: World) -> None:
    shared, until = await leased(world), world.clock.now() + 900.0
    await shared.extend(until)
    world.clock.time += 600.0
    assert world.frontier.lease() is None, "the turn lasts"
    world.clock.time = until + 1.0
    world.lease()
    with pytest.raises(GivenBack):
        await shared.extend(world.clock.now() + 900.0)
    check_invariants(world.database.connection)


async def test_a_lease_is_extended_until_another_process_has_leased_the_host(world: World) -> None:
    lease, until = world.lease(), world.clock.now() + 900.0
    held = world.frontier.held(lease)
    await held.extend(until)
    assert row(world, "lease_token, lease_until") == (lease.token, until)
    world.clock.time += 600.0
    assert world.frontier.lease() is None
    assert isinstance(await leases(world).lease("a.example", world.clock.now(), wait_s=0.0), HostBusy)
    world.clock.time = until + 1.0
    await held.extend(until + 2.0)  # it expired, and nobody has leased the host
    world.clock.time += SETTINGS.lease_s + 1.0
    await leased(world)
    with pytest.raises(GivenBack):
        await held.extend(world.clock.now() + 900.0)
    assert world.settle(lease).ignored
    check_invariants(world.database.connection)


ONE = IpRequest(most_at_once=1, gap_s=0.5, wait_s=1.0, lasts_s=30.0)


async def entered(leases: SqlPoliteness, now: float, request: IpRequest = ONE) -> IpPlace:
    place = await leases.enter_ip("192.0.2.1", now, request)
    assert isinstance(place, IpPlace)
    return place


async def test_processes_keep_the_bound_of_an_ip_address_together(shared_url: str) -> None:
    ours, other = World(shared_url, SETTINGS), leases(World(shared_url, SETTINGS))
    one = leases(ours)
    place = await entered(one, 1000.0)
    assert place.begins_at == 1000.0
    assert await other.enter_ip("192.0.2.1", 1000.1, ONE) == 1000.5
    assert isinstance(await other.enter_ip("192.0.2.2", 1000.1, ONE), IpPlace), "another address is free"
    await one.leave_ip(place, 1000.2)
    with ours.database.transaction:  # whatever is written next tells the others
        pass
    assert (await entered(other, 1000.3)).begins_at == 1000.5, "half a second lies between two beginnings"


async def test_a_request_that_would_begin_late_takes_no_place(world: World) -> None:
    two = replace(ONE, most_at_once=2, gap_s=5.0)
    await entered(leases(world), 1000.0, two)
    assert await leases(world).enter_ip("192.0.2.1", 1001.0, two) == 1005.0
    assert (await entered(leases(world), 1001.0, replace(two, wait_s=math.inf))).begins_at == 1005.0


@pytest.mark.parametrize("how", ["killed", "expired", "wrong clock"])
async def test_a_place_does_not_outlive_its_request(world: World, how: str) -> None:
    await entered(leases(world), 1e9 if how == "wrong clock" else 1000.0)
    if how == "killed":
        world.database.connection.execute("UPDATE ip_place SET owner = 'killed:1'")
        end(world.database, "killed:1")
    assert await entered(leases(world), 1040.0 if how == "expired" else 1010.0)


async def test_places_of_addresses_that_are_no_more_asked_are_dropped(world: World) -> None:
    await leases(world).enter_ip("192.0.2.9", 1000.0, ONE)
    await entered(leases(world), 10_000.0)
    assert [row[0] for row in world.database.connection.execute("SELECT ip FROM ip_place")] == ["192.0.2.1"]


async def test_who_leaves_late_does_not_free_the_place_of_another(world: World) -> None:
    late = await entered(leases(world), 1000.0)
    await entered(leases(world), 1040.0)
    await leases(world).leave_ip(late, 1041.0)
    assert await leases(world).enter_ip("192.0.2.1", 1042.0, ONE) == 1042.0
