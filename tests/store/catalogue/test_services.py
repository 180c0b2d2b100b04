"""What is published is read as it is stored, filtered, with addresses masked unless a person wants keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from shapely.geometry import box

from geocrawl.model import Attempt, ContentOutcome, ContentReport, Kind, Layer, Level, Service
from geocrawl.model.search import Selection
from geocrawl.store import Store
from geocrawl.store.catalogue.services import read_layers, read_services, selected_ids
from geocrawl.store.catalogue.write.verdicts import ContentReportWriter
from tests.support.world import World, candidate, verdict

ROADS = Service(
    kind=Kind.WMS,
    version="1.3.0",
    title="Roads",
    keywords=("transport",),
    online_resource="http://a.example/?key=sesame",
    layers=(Layer("", "All", box=box(5, 45, 10, 50)), Layer("roads", "Roads", parent=0, crs=("EPSG:4326",))),
    fingerprint="f1",
)
PACIFIC = replace(ROADS, title="Pacific", layers=(Layer("sea", "Sea", box=box(-180, -20, 180, 0)),), fingerprint="f2")
DEAD = replace(ROADS, title="Dead", layers=(Layer("d", "Dead"),), fingerprint="f3")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    world = World(tmp_path / "crawl.db")
    for at, service in (("a.example/wms?token=sesame", ROADS), ("b.example/wms", PACIFIC), ("c.example/wms", DEAD)):
        world.clock.time += 1
        world.record(candidate(f"{at}"), verdict("ok", service), world.clock.now())
    world.clock.time += 86_400
    world.record(candidate("c.example/wms"), verdict("http-404"), world.clock.now())
    world.store.close()
    return tmp_path / "crawl.db"


def titles(path: Path, selection: Selection) -> list[str]:
    with Store.open_readonly(path) as connection:
        assert selected_ids(connection, selection) == {each.id for each in read_services(connection, selection)}
        assert {each.service_id for each in read_layers(connection, selection)} == selected_ids(connection, selection)
        return [each.title for each in read_services(connection, selection)]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), ["Roads", "Pacific", "Dead"]),
        (Selection(alive=True), ["Roads", "Pacific"]),
        (Selection(kind="wfs"), []),
        (Selection(kind="wms", alive=True, box=(0, 40, 6, 46)), ["Roads"]),
        (Selection(box=(170, -10, -170, -5)), ["Pacific"]),
        (Selection(box=(9, 44, -179, 46)), ["Roads"]),
        (Selection(ids=(3, 1, 77)), ["Roads", "Dead"]),
        (Selection(ids=()), []),
        (Selection(level="answers"), []),
    ],
)
def test_services_are_selected(path: Path, selection: Selection, expected: list[str]) -> None:
    assert titles(path, selection) == expected


def test_a_service_is_published_with_its_keys_masked(path: Path) -> None:
    with Store.open_readonly(path) as connection:
        (masked,) = read_services(connection, Selection(ids=(1,)))
        (full,) = read_services(connection, Selection(ids=(1,)), with_secrets=True)
        group, roads = read_layers(connection, Selection(ids=(1,)))
    assert (masked.url, masked.online_resource) == ("http://a.example/wms?token=***", "http://a.example/?key=***")
    assert (full.url, full.online_resource) == ("http://a.example/wms?token=sesame", "http://a.example/?key=sesame")
    assert replace(full, url=masked.url, online_resource=masked.online_resource) == masked
    assert (masked.box, masked.keywords, masked.alive, masked.layers) == ((5, 45, 10, 50), ("transport",), True, 1)
    assert (group.box, roads.crs, roads.parent) == ((5, 45, 10, 50), ("EPSG:4326",), 0)


def test_a_tile_that_was_delivered_is_published_for_tile_services_alone(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db")
    tile = "http://t.example/1/a/3/2/1.png?token=sesame"
    attempts = (
        Attempt("a", "", ContentOutcome.HTTP_ERROR, 1.0, url="http://t.example/x"),
        Attempt("a", "", ContentOutcome.OK, 1.0, url=tile),
    )
    for name, kind in (("t", Kind.TMS), ("w", Kind.WMS)):
        service = replace(ROADS, kind=kind, fingerprint=name)
        each = candidate(f"{name}.example/1")
        each = replace(each, endpoint=replace(each.endpoint, kind=kind))
        number = world.record(each, verdict("ok", service), world.clock.now())
        with world.store.database.transaction:
            reports = ContentReportWriter(world.database.connection, thumbnail_bytes=0)
            reports.write(number, ContentReport(Level.DELIVERS, attempts), world.clock.now())
    world.store.close()
    with Store.open_readonly(tmp_path / "crawl.db") as connection:
        found = [(each.kind, each.tile, each.level) for each in read_services(connection, Selection())]
    assert found == [("tms", tile.replace("sesame", "***"), "delivers"), ("wms", "", "delivers")]


def test_a_snapshot_shows_one_moment(path: Path) -> None:
    with Store.open_readonly(path) as connection:
        with connection.snapshot():
            before = len(list(read_services(connection, Selection())))
            world = World(path)
            world.record(candidate("d.example/wms"), verdict("ok", replace(DEAD, fingerprint="f4")), 2e6)
            world.store.close()
            assert len(list(read_services(connection, Selection()))) == before
        assert len(list(read_services(connection, Selection()))) == before + 1
