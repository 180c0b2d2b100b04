"""The quality of a service: each part by what is stored, unknown ones left out, the same on both engines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from shapely.geometry import box

from geocrawl.filters import Sort
from geocrawl.model import Deviation, Kind, Layer, Service
from geocrawl.model.health import DAY_S
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.read.show import service_detail
from tests.support.world import World, candidate, verdict

POOR = Service(Kind.WMS, "1.3.0", "Maps", fingerprint="a", layers=(Layer("a", "A"),))
GOOD = replace(
    POOR,
    title="Roads",
    abstract="Roads of the country, " * 8,
    keywords=("roads",),
    provider="Survey",
    contact={"email": "maps@survey.example"},
    fees="none",
    layers=(Layer("roads", "Roads", box=box(5, 47, 15, 55)),),
    fingerprint="b",
)


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url)


def shares(world: World, number: int) -> dict[str, float | None]:
    found = service_detail(world.database.connection, number)
    assert found is not None
    return {name: part.share for name, part in found.quality_parts.items()}


def score(world: World, number: int) -> int:
    found = service_detail(world.database.connection, number)
    assert found is not None and 0 <= found.service.quality <= 100
    return found.service.quality


def test_a_good_service_has_its_points_and_what_nobody_asked_counts_for_nothing(world: World) -> None:
    world.record(candidate("good.example/wms"), verdict("ok", GOOD), world.clock.time)
    assert shares(world, 1) == {
        **{"proven": None, "available": 1.0, "described": 1.0, "contact": 1.0, "licence": 1.0, "https": 0.0},
        **{"cors": None, "conforming": 1.0},
    }
    assert score(world, 1) == round(100 * (25 + 15 + 10 + 5 + 10) / (100 - 5 - 25))


def test_each_lack_costs_its_part(world: World) -> None:
    faults = tuple(Deviation(code, "") for code in ("bom", "content-type", "no-version"))
    world.record(candidate("poor.example/wms"), verdict("ok", POOR, deviations=faults), world.clock.time)
    found = shares(world, 1)
    assert (found["described"], found["contact"], found["licence"]) == (0.25, 0.0, 0.0)
    assert found["conforming"] == pytest.approx(0.25)
    before = score(world, 1)
    for day in (1, 2, 3):
        world.record(candidate("poor.example/wms"), verdict("timeout-read"), world.clock.time + day * DAY_S)
    assert shares(world, 1)["available"] == 0.0 and score(world, 1) < before


def test_a_search_puts_the_best_service_first(world: World) -> None:
    world.record(candidate("poor.example/wms"), verdict("ok", POOR), world.clock.time)
    world.record(candidate("good.example/wms"), verdict("ok", GOOD), world.clock.time)
    hits = search_engine(world.database.connection).search(sort=Sort.QUALITY).hits
    assert [(hit.title, hit.quality) for hit in hits] == [("Roads", score(world, 2)), ("Maps", score(world, 1))]
    assert score(world, 2) > score(world, 1)
