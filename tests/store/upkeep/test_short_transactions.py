"""What an operator or the daemon does to a grown database is done in short transactions, and goes on after a kill."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from geocrawl.model import Kind, Layer, Service
from geocrawl.settings import Settings
from geocrawl.store.database import steps
from geocrawl.store.upkeep import forget as forgetting
from geocrawl.store.upkeep.forget import RemovalCounts, finish_forgetting, forget, undo
from geocrawl.store.upkeep.retention import Retention
from geocrawl.store.upkeep.seeds import NewSeed, add_seeds, remove_seeds
from tests.store.transactions import transactions_of
from tests.support.invariants import check_invariants
from tests.support.samples import sampled
from tests.support.world import World, candidate, link, url, verdict

PAGES, ENDPOINTS, ROWS = 300, 40, 30
HOST = "a.example"
COUNTERS = 12
"""Rows of counters, hosts and facts in one transaction, at most."""


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "ROWS", ROWS)
    monkeypatch.setattr(forgetting, "ROWS", ROWS)
    monkeypatch.setattr("geocrawl.store.upkeep.retention._PAGES", ROWS)


def service(number: int) -> Service:
    layers = tuple(Layer(f"layer {each}", "roads") for each in range(3))
    return Service(Kind.WMS, "1.3.0", f"service {number}", layers=layers, fingerprint=f"f{number}")


def grown(database: str) -> World:
    """A host with pages and services, each probed again with another description; and another host's service."""
    world = World(database, Settings(delay_s=0, max_fruitless_per_pattern=0, max_alike_services=0))
    world.seed(f"{HOST}/", "b.example/")
    world.settle(world.lease(), *[link(f"{HOST}/p/{n}") for n in range(PAGES)], link("b.example/p"))
    world.settle(world.lease())
    hosts = [f"http://{HOST}/{n}/wms" for n in range(ENDPOINTS)] + ["http://b.example/wms"]
    for again in (False, True, True):
        world.frontier.add_candidates([candidate(each, page=f"http://{HOST}/") for each in hosts], again=again)
        number = ENDPOINTS if again else 0
        while lease := world.frontier.lease(pages=False):
            number += 1
            world.settle(lease, verdict=verdict(service=service(number)))
    return world


def count(world: World, table: str, where: str = "1") -> int:
    return int(world.database.connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0])


# --------------------------------------------------------------------------- pages that waited for a probe


def test_pages_that_waited_for_a_probe_are_freed_a_portion_a_transaction(sqlite_url: str) -> None:
    world = World(sqlite_url, Settings(delay_s=0, max_fruitless_per_pattern=0))
    world.seed(f"{HOST}/")
    addresses = [f"{HOST}/wms?lang={number}" for number in range(PAGES)]
    world.settle(world.lease(), candidates=[(candidate(f"{HOST}/wms", weak=True), link(each)) for each in addresses])
    assert count(world, "url", "reason = 'candidate'") == PAGES
    probe = world.lease()
    with transactions_of(world.database) as done:
        world.settle(probe, verdict=verdict("html"))
        first = world.lease()
    assert first.entry.url.address == f"http://{addresses[0]}"
    assert count(world, "url", "reason = 'candidate'") == 0
    assert len(done) >= PAGES / ROWS
    assert max(each.rows for each in done) <= ROWS + 2 * COUNTERS
    check_invariants(world.database.connection)


# --------------------------------------------------------------------------- forget


def test_a_host_is_forgotten_a_portion_a_transaction(sqlite_url: str) -> None:
    world = grown(sqlite_url)
    with transactions_of(world.database) as done:
        assert forget(world.database, HOST, "", 5.0) == RemovalCounts(PAGES + 1, ENDPOINTS, ENDPOINTS)
    assert len(done) > 20
    assert max(each.rows for each in done) <= 7 * ROWS + COUNTERS  # of an endpoint: service, layers, words, tables
    assert count(world, "endpoint") == 1 == count(world, "service")
    assert count(world, "meta", "name LIKE 'forgetting:%'") == 0
    check_invariants(world.database.connection)
    assert world.database.connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert world.database.connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


@pytest.mark.parametrize("committed", [0, 1, 5, 12, 18, 24])
def test_a_removal_that_was_killed_goes_on_at_the_next_tidying(committed: int) -> None:
    world, other = grown("sqlite://"), grown("sqlite://")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forgetting, "run", lambda work: [next(work) for _ in range(committed)] and work.close())
        forget(world.database, HOST, "", 5.0)
    assert count(world, "meta", "name LIKE 'forgetting:%'") == 1
    Retention(world.database, keep_days=400).tidy(world.clock.now())
    forget(other.database, HOST, "", 5.0)
    for table in ("url", "endpoint", "service", "layer", "evidence", "probe", "change", "counter", "host", "meta"):
        statement = f"SELECT * FROM {table} WHERE {'name NOT IN (?1)' if table == 'counter' else '?1 = ?1'}"
        rows = [each.database.connection.execute(statement, ("forgets",)).fetchall() for each in (world, other)]
        if table == "host":  # a killed removal ends leases once more
            rows = [[row[:12] for row in found] for found in rows]
        assert rows[0] == rows[1], table


def test_a_host_that_is_allowed_again_is_not_tidied_away(sqlite_url: str) -> None:
    world = grown(sqlite_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forgetting, "run", lambda work: work.close())
        forget(world.database, HOST, "", 5.0)
    undo(world.database, HOST)
    steps.run(finish_forgetting(world.database))
    assert count(world, "endpoint") == ENDPOINTS + 1


@pytest.mark.parametrize("committed", sampled(range(26), 0, 1, 7, 13, 25))
def test_after_a_removal_that_was_killed_and_undone_what_is_left_is_visited(committed: int) -> None:
    world = grown("sqlite://")
    world.seed(f"a.{HOST}/")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forgetting, "run", lambda work: [next(work) for _ in range(committed)] and work.close())
        forget(world.database, HOST, "", 5.0)
    left = count(world, "url", "state = 'waiting'")
    assert undo(world.database, HOST)
    check_invariants(world.database.connection)
    visited = 0
    while lease := world.frontier.lease():
        world.settle(lease)
        visited += 1
    assert visited == left
    check_invariants(world.database.connection)


# --------------------------------------------------------------------------- retention


def test_rows_beyond_the_limit_go_a_portion_a_transaction(sqlite_url: str) -> None:
    world = grown(sqlite_url)
    with transactions_of(world.database) as done:
        dropped = Retention(world.database, keep_days=400, max_bytes=1).tidy(world.clock.now())
    assert dropped["waiting pages dropped"] == PAGES + 1 and dropped["changes dropped"] > ROWS
    assert dropped["probes dropped"] == ENDPOINTS + 1
    assert (
        max(each.rows for each in done) <= 2 * ROWS + COUNTERS
    )  # a page is deleted, and an empty row put in its place
    check_invariants(world.database.connection)


def test_layers_of_services_gone_for_good_go_before_waiting_pages_and_come_back(sqlite_url: str) -> None:
    world = grown(sqlite_url)
    connection = world.database.connection
    connection.execute("UPDATE endpoint SET health = 'gone' WHERE host = ?", (HOST,))
    connection.execute("DELETE FROM probe")
    connection.execute("DELETE FROM change")
    limit = connection.size().used_bytes - 1
    dropped = Retention(world.database, keep_days=400, max_bytes=limit).tidy(world.clock.now())
    assert dropped["layers of gone services dropped"] == 3 * ENDPOINTS
    assert count(world, "layer") == 3, "of the service that lives"
    assert count(world, "service") == ENDPOINTS + 1
    world.frontier.add_candidates([candidate(f"http://{HOST}/0/wms")], again=True)
    lease = world.lease(pages=False)
    world.settle(lease, verdict=verdict(service=service(ENDPOINTS + 1)))
    assert count(world, "layer") == 6


# --------------------------------------------------------------------------- other commands


WORKS: dict[str, tuple[Callable[[World], object], object]] = {
    "seeds added": (lambda world: add_seeds(world.database, [NewSeed(url(f"{n}.example/")) for n in range(99)], 1), 99),
    "seeds removed": (lambda world: remove_seeds(world.database, [url(f"{n}.example/") for n in range(99)]), 0),
}


@pytest.mark.parametrize("name", WORKS)
def test_an_operation_on_many_rows_is_done_a_portion_a_transaction(sqlite_url: str, name: str) -> None:
    world = grown(sqlite_url)
    work, result = WORKS[name]
    with transactions_of(world.database) as done:
        assert work(world) == result
    assert len(done) > 1
    assert max(each.rows for each in done) <= ROWS
