"""Numbers of services are public names: they follow merges and splits, and tombstones wake once."""

from __future__ import annotations

import pytest

from geocrawl.model import Service
from geocrawl.model.health import DAY_S
from geocrawl.store.catalogue.read.show import current_number
from tests.store.upkeep.test_watches import RIVERS, ROADS
from tests.support.world import World, candidate, verdict


@pytest.fixture
def made(engine_url: str) -> World:
    """Three services, numbered 1 to 3."""
    world = World(engine_url)
    for number, described in enumerate((ROADS, RIVERS, Service(ROADS.kind, "1.3.0", "Lakes", fingerprint="f3")), 1):
        at = candidate(f"{number}.example/wms")
        world.record(at, verdict("ok", described), 1000.0)
    return world


def numbers(world: World) -> list[int]:
    return [row[0] for row in world.database.connection.execute("SELECT id FROM service ORDER BY id")]


def test_a_merged_service_is_found_by_its_former_number_and_has_it_again_when_split(made: World) -> None:
    made.catalog.decide((2, 3), same=True, at=2000.0)
    made.catalog.decide((1, 2), same=True, at=2000.0)
    connection = made.database.connection
    assert numbers(made) == [1]
    assert [current_number(connection, number) for number in (1, 2, 3, 4)] == [1, 1, 1, 4]
    made.catalog.decide((1, 2), same=False, at=3000.0)
    assert numbers(made) == [1, 2] and current_number(connection, 2) == 2
    assert connection.execute("SELECT service_id FROM endpoint ORDER BY id").fetchall() == [(1,), (2,), (2,)]


def test_services_that_are_split_have_their_own_numbers_whichever_address_was_known_first(made: World) -> None:
    first, second = candidate("4.example/wms"), candidate("5.example/wms")
    made.record(first, verdict("timeout-read"), 1000.0)
    for number, each in ((4, second), (5, first)):
        made.record(each, verdict("ok", Service(ROADS.kind, "1.3.0", "Dams", fingerprint=f"f{number}")), 2000.0)
    services = "SELECT service_id FROM endpoint WHERE id > 3 ORDER BY id"
    seen = [made.database.connection.execute(services).fetchall()]
    for same in (True, False):
        made.catalog.decide((4, 5), same=same, at=3000.0)
        seen.append(made.database.connection.execute(services).fetchall())
    assert seen == [[(5,), (4,)], [(4,), (4,)], [(5,), (4,)]]


def test_the_number_of_a_merged_service_is_given_to_no_other(made: World) -> None:
    made.catalog.decide((1, 3), same=True, at=2000.0)
    made.record(candidate("4.example/wms"), verdict("ok", Service(ROADS.kind, "1.3.0", "Dams", fingerprint="f4")), 3000)
    assert numbers(made) == [1, 2, 4] and current_number(made.database.connection, 3) == 1


def test_a_tombstone_wakes_once_for_a_page_that_links_it_later(made: World) -> None:
    at = 1000.0
    while made.database.connection.execute("SELECT due_at FROM endpoint WHERE id = 1").fetchone()[0] is not None:
        at += 20 * DAY_S
        made.record(candidate("1.example/wms"), verdict("timeout-read"), at)
    health = "SELECT health, due_at FROM endpoint WHERE id = 1"
    assert made.database.connection.execute(health).fetchone() == ("gone", None)

    def linked(at: float) -> None:
        with made.database.transaction:
            named = [candidate("1.example/wms", page=f"http://p.example/{at}")]
            made.catalog.note(named, made.catalog.known(named), at)

    linked(at + DAY_S)
    assert made.database.connection.execute(health).fetchone() == ("gone", at + DAY_S)
    made.record(candidate("1.example/wms"), verdict("timeout-read"), at + DAY_S)
    linked(at + 2 * DAY_S)
    assert made.database.connection.execute(health).fetchone() == ("gone", None), "once"
