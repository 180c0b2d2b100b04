"""The catalogue: verdicts, services that answer at several endpoints, full text, reading back."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import box

from geocrawl.filters import Filters, QueryError
from geocrawl.model import Deviation, Kind, Layer, Service, State
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.read.show import read_why, service_at, service_detail
from geocrawl.store.catalogue.services import read_endpoints
from geocrawl.store.frontier.status import read_status
from tests.support.world import World, candidate, link, url, verdict

ROADS = Service(
    kind=Kind.WMS,
    version="1.3.0",
    title="Roads of Ruritania",
    abstract="Motorways and lanes",
    keywords=("transport",),
    provider="Survey Office",
    contact={"email": "maps@a.example"},
    formats=("image/png",),
    layers=(
        Layer("", "All", crs=("EPSG:4326",), box=box(5, 45, 10, 50)),
        Layer("roads", "Straßennetz", parent=0, crs=("EPSG:3857",), queryable=True),
    ),
    fingerprint="f1",
)
WATER = replace(
    ROADS,
    keywords=(),
    provider="",
    title="水系数据",
    abstract="全国主要河流",
    layers=(Layer("w", "地理信息公共服务平台"),),
    fingerprint="f2",
)
ATLAS = replace(
    ROADS,
    title="Atlas of Ruritania",
    layers=tuple(Layer(name, name.title()) for name in ("roads", "rivers", "woods")),
    fingerprint="f9",
)


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url)


def record(world: World, text: str, service: Service | None, reason: str = "ok") -> int:
    world.clock.time += 1
    return world.record(candidate(text), verdict(reason, service), world.clock.now())


def titles(world: World, words: str = "", limit: int = 20, **filters: Any) -> list[str]:
    with world.reading() as connection:
        found = search_engine(connection).search(words, Filters(**filters), limit=limit)
        return [hit.title for hit in found.hits]


def test_keywords_and_formats_are_kept_up_to_a_number_of_characters(world: World) -> None:
    many = tuple(f"keyword {number:04}" for number in range(3_000))
    record(world, "a.example/wms?service=WMS", replace(ROADS, keywords=many, formats=many))
    with world.reading() as connection:
        (found,) = read_endpoints(connection, Selection())
    assert found.keywords == found.formats == many[: 20_000 // len(many[0])]


def test_a_service_is_read_back_as_it_was_written(world: World) -> None:
    record(world, "a.example/wms?service=WMS", ROADS)
    with world.reading() as connection:
        detail = service_at(connection, url("https://A.example/wms?REQUEST=GetMap"))
    assert detail is not None
    service = detail.service
    assert (service.title, service.keywords, service.contact) == (ROADS.title, ROADS.keywords, ROADS.contact)
    assert service.box == (5.0, 45.0, 10.0, 50.0)
    assert service.layers == 1
    assert [(each.name, each.parent, each.crs) for each in detail.layers] == [
        ("", None, ("EPSG:4326",)),
        ("roads", 0, ("EPSG:3857",)),
    ]
    assert detail.endpoints[0].url == "http://a.example/wms"
    assert detail.endpoints[0].evidence[0]["anchor"] == "a map"


def test_an_endpoint_of_a_kind_of_former_versions_is_read_back_and_asked_as_a_wms(world: World) -> None:
    number = record(world, "http://a.example/old/v1", None, "html")
    world.database.connection.execute("UPDATE endpoint SET kind = 'gone' WHERE id = ?", (number,))
    found = world.catalog.candidate(number)
    assert (found.endpoint.kind, found.endpoint.url.address) == (Kind.WMS, "http://a.example/old/v1")


def test_services_that_nobody_asked_for_long_are_counted_once(world: World) -> None:
    world.record(candidate("a.example/wms"), verdict("ok", ROADS), 0.0)
    counted = [world.frontier.age_health(days * 86_400.0) for days in (29, 31, 32)]
    assert counted == [0, 1, 0]


def test_endpoints_of_one_site_with_the_same_content_are_one_service(world: World) -> None:
    for text in ("a.example/wms?", "www.a.example/ows?map=x&service=WMS", "b.example/wms?"):
        record(world, text, ATLAS)
    services = world.database.connection.execute("SELECT service_id FROM endpoint ORDER BY id").fetchall()
    assert services == [(1,), (1,), (2,)]
    assert world.catalog.counts() == {"valid": 3, "invalid": 0, "services": 2, "layers": 6}


def test_a_service_keeps_its_number_when_its_content_changes(world: World) -> None:
    record(world, "a.example/wms?", ROADS)
    record(world, "a.example/wms?", replace(WATER, fingerprint="f3"))
    assert titles(world, "ruritania") == []
    assert titles(world, "河流") == ["水系数据"]
    assert world.catalog.counts()["services"] == 1


def test_endpoints_that_part_are_two_services_and_may_meet_again(world: World) -> None:
    record(world, "a.example/1?service=WMS", ATLAS)
    record(world, "a.example/2?service=WMS", ATLAS)
    assert titles(world) == ["Atlas of Ruritania"]
    record(world, "a.example/2?service=WMS", WATER)
    assert sorted(titles(world)) == ["Atlas of Ruritania", "水系数据"]
    record(world, "a.example/2?service=WMS", ATLAS)
    assert titles(world) == ["Atlas of Ruritania"]
    assert titles(world, "全国主要") == []


def test_an_endpoint_that_fails_later_keeps_its_service(world: World) -> None:
    record(world, "a.example/wms?", ROADS)
    record(world, "a.example/wms?", None, "http-404")
    with world.reading() as connection:
        (row,) = read_endpoints(connection, Selection())
        detail = service_detail(connection, 1)
    assert (row.status, row.reason, row.title, row.layers, row.version) == (
        "invalid",
        "http-404",
        ROADS.title,
        1,
        "1.3.0",
    )
    assert row.last_probe is not None and row.last_ok < row.last_probe
    assert detail is not None and len(detail.layers) == 2
    assert titles(world, alive=True) == []
    assert titles(world) == [ROADS.title]


def test_the_beginning_of_an_answer_is_kept_of_failures_alone(world: World) -> None:
    for reason, service in (("ok", ROADS), ("html", None)):
        world.record(candidate("a.example/wms"), verdict(reason, service, first_bytes="<start>"), world.clock.now())
    kept = world.database.connection.execute("SELECT reason, first_bytes FROM probe ORDER BY id").fetchall()
    assert kept == [("ok", ""), ("html", "<start>")]


def test_what_robots_txt_forbids_is_neither_valid_nor_exported(world: World) -> None:
    world.frontier.add_candidates([candidate("a.example/wms?")])
    world.settle(world.lease(), state=State.REFUSED, reason="robots")
    with world.reading() as connection:
        assert list(read_endpoints(connection, Selection())) == []
        assert read_status(connection, world.clock.now()).reasons == {"robots": 1}
        (endpoint,) = read_why(connection, url("a.example/wms")).endpoints
    assert (endpoint.status, endpoint.reason) == (None, "robots")


def test_words_of_titles_layers_and_keywords_are_found_in_any_language(world: World) -> None:
    record(world, "a.example/wms?", ROADS)
    record(world, "b.example/wms?", WATER)
    for words in ("ruritania", "ROADS motorway", "Straßennetz", "transport office"):
        assert titles(world, words) == [ROADS.title], words
    for words in ("地理信息", "信息", "河", "水系 主要河流", "公共服务平台"):
        assert titles(world, words) == [WATER.title], words
    assert titles(world, "rurit*") == [ROADS.title]
    assert sorted(titles(world, "roads 河流")) == [ROADS.title, WATER.title]


def test_services_are_found_by_place_system_and_kind(world: World) -> None:
    record(world, "a.example/wms?", ROADS)
    record(world, "b.example/wms?", WATER)
    assert titles(world, box=(9, 49, 20, 60)) == [ROADS.title]
    assert titles(world, box=(11, 49, 20, 60)) == []
    assert titles(world, box=(170, 40, 6, 50)) == [ROADS.title]
    assert titles(world, systems=("epsg:3857",)) == [ROADS.title]
    assert titles(world, kinds=(Kind.WFS,)) == []
    assert titles(world, limit=1) == [WATER.title]


@given(st.text(max_size=40))
def test_no_text_of_words_can_break_the_query(shared_world: World, words: str) -> None:
    with contextlib.suppress(QueryError):
        titles(shared_world, words)


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("words") / "crawl.db")
    record(world, "a.example/wms?", ROADS)
    return world


@pytest.mark.parametrize(
    "words",
    ['"', '""" OR *', "a AND", "NEAR(a b", "title:roads", "-", "^a", "a\0b", "*", "(", "'; DROP TABLE url", "\ud800"],
)
def test_hostile_words_raise_nothing(shared_world: World, words: str) -> None:
    assert titles(shared_world, words) in ([], [ROADS.title])


def test_evidence_is_bounded(world: World) -> None:
    for number in range(50):
        world.record(candidate("a.example/wms?", page=f"http://a.example/{number}"), verdict("html"), 1.0)
    assert world.database.connection.execute("SELECT count(*) FROM evidence").fetchone() == (20,)
    assert world.database.connection.execute("SELECT count(*), max(probes) FROM probe, endpoint").fetchone() == (50, 50)


def test_deviations_and_every_attempt_are_kept(world: World) -> None:
    tolerant = verdict("ok", ROADS, deviations=(Deviation("bom"), Deviation("doctype", "SYSTEM")))
    world.record(candidate("a.example/wms?"), tolerant, 5.0)
    with world.reading() as connection:
        detail = service_detail(connection, 1)
        (probe,) = connection.execute("SELECT at, status, reason, http_status FROM probe").fetchall()
    assert detail is not None
    assert [each["code"] for each in detail.endpoints[0].deviations] == ["bom", "doctype"]
    assert probe == (5.0, "valid", "ok", 200)


def test_why_tells_where_a_page_came_from(world: World) -> None:
    world.seed("a.example/")
    world.visit(link("a.example/x", 3))
    with world.reading() as connection:
        answer = read_why(connection, url("http://a.example/x#part"))
        unknown = read_why(connection, url("http://nowhere.example/"))
    assert answer.page is not None and answer.parent is not None
    assert (answer.page.state, answer.page.depth, answer.page.tier, answer.page.anchor) == (
        "waiting",
        1,
        3,
        "to a.example/x",
    )
    assert answer.parent.address == "http://a.example/"
    assert unknown.page is None and unknown.endpoints == ()


def test_status_names_runs_hosts_and_failures(world: World) -> None:
    run = world.store.start_run("gws", replace(world.settings, max_pages=7, proxy="http://u:secret@p"))
    world.seed("a.example/", "b.example/")
    world.settle(world.lease(), state=State.FAILED, reason="dns", next_at=world.clock.now() + 500, retry_after_s=900)
    world.settle(world.lease(), link("b.example/1"), next_at=world.clock.now() + 500)
    world.store.end_run(run, pages=1, services=0, stopped="done")
    with world.reading() as connection:
        answer = read_status(connection, world.clock.now())
        settings = connection.execute("SELECT settings FROM run").fetchone()[0]
    assert "max_pages" in settings and "secret" not in settings
    assert [host.name for host in answer.resting] == ["b.example"]
    assert [row[:2] for row in answer.failures] == [("http://a.example/", "dns")]
    assert (answer.runs[0].strategy, answer.runs[0].pages, answer.runs[0].stopped) == ("gws", 1, "done")


def test_a_description_is_kept_up_to_the_last_word_and_each_change_is_told_once(engine_url: str) -> None:
    world, at, day_s = World(engine_url), candidate("a.example/wms"), 86_400.0
    first = Service(Kind.WMS, "1.3.0", "Roads", fingerprint="f1", layers=(Layer("l1", "L 1"),), fees="none")
    now = replace(first, fees="10 EUR", keywords=("roads",), layers=(Layer("l1", "L 1", crs=("EPSG:3006",)),))
    connection = world.database.connection
    for day, described in enumerate((first, first, now, now, now), 1):
        world.record(at, verdict("ok", described), day * day_s)
    said = "SELECT s.fees, s.keywords, l.crs, s.last_ok FROM service s JOIN layer l ON l.service_id = s.id"
    assert connection.execute(said).fetchall() == [("10 EUR", '["roads"]', '["EPSG:3006"]', 5 * day_s)]
    assert connection.execute("SELECT what, before, after, at FROM change").fetchall() == [
        ("fees", "none", "10 EUR", 3 * day_s)
    ]


def test_an_unchanged_description_is_not_written_again(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    record(world, "a.example/wms", ROADS)
    refuses = "CREATE TRIGGER refuses BEFORE DELETE ON layer BEGIN SELECT RAISE(ABORT, 'written again'); END"
    world.database.connection.execute(refuses)
    record(world, "a.example/wms", ROADS)
    assert world.database.connection.execute("SELECT count(*) FROM probe WHERE status = 'valid'").fetchone() == (2,)
