"""The search on a small catalogue: what is found, in which order, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from geocrawl.filters import Filters, QueryError, Sort
from geocrawl.model import Kind
from geocrawl.query.language import read_query
from geocrawl.query.places import shipped_places
from geocrawl.store import Store
from geocrawl.store.catalogue.index.index import SqlSearchIndex, search_engine
from geocrawl.store.catalogue.index.upkeep import index_again
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.store.catalogue.search.plan import Planner, read_as
from geocrawl.store.catalogue.search.port import Phrase
from geocrawl.store.catalogue.search.vocabulary import shipped_vocabulary
from geocrawl.store.store import Store as OpenStore
from geocrawl.store.upkeep.forget import forget
from tests.store.catalogue.search.catalogue import engine_of, filled, record, service
from tests.support.world import World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return filled(tmp_path_factory.mktemp("search") / "crawl.db")


@pytest.fixture(scope="module")
def engine(world: World) -> SearchEngine:
    return engine_of(world)


def titles(engine: SearchEngine, text: str, filters: Filters = Filters(), **more: object) -> list[str]:  # noqa: B008
    return [hit.title for hit in engine.search(text, filters, **more).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("forest", "Forest"),
        ("woodland", "Forest"),
        ("soil bavaria", "Bodentypen"),
        ("Boden Bayern", "Bodentypen"),
        ("sols bavière", "Bodentypen"),
        ("soils of france", "Carte des sols de France"),
        ("土地利用", "全国土地利用数据"),
        ("土地使用 耕地", "全国土地利用数据"),
        ("全國土地利用數據", "全国土地利用数据"),
        ("land use china", "全国土地利用数据"),
        ("strassennetz", "Roads"),
        ("Straßennetze", "Roads"),
        ("land use 2018", "Coral reefs"),
        ("reef zones fiji", "Coral reefs"),
        ("landesamt fuer umwelt", "Bodentypen"),
        ('"coral reefs"', "Coral reefs"),
        ("cor*", "Coral reefs"),
        ("geoportal reefs", "Coral reefs"),
        ("gis.example", "Forest"),
    ],
)
def test_what_people_type_finds_what_they_mean(engine: SearchEngine, text: str, first: str) -> None:
    assert titles(engine, text)[:1] == [first]


def test_kind_words_are_conditions_until_nothing_meets_them(engine: SearchEngine) -> None:
    assert {hit.kind for hit in engine.search("wfs soil bavaria").hits} == {"wfs"}
    assert "“wfs”: only wfs" in engine.search("wfs soil bavaria").read_as
    tiles = engine.search("tiles of coral reefs")
    assert [hit.title for hit in tiles.hits] == ["Coral reefs"]
    assert any("any kind is shown" in said for said in tiles.read_as)


def test_all_words_come_before_most_of_them(engine: SearchEngine) -> None:
    hits = engine.search("coral forest reefs").hits
    assert (hits[0].title, hits[0].is_whole) == ("Coral reefs", False)
    hits = engine.search("soil france reefs").hits
    assert not any(hit.is_whole for hit in hits)
    assert engine.search("coral reefs").hits[0].is_whole


@pytest.mark.parametrize(
    ("typed", "meant", "first"),
    [
        ("forrest", "forest", "Forest"),
        ("corall reefs", "coral reefs", "Coral reefs"),
        ("bavraia", "bavaria", "Bodentypen"),
    ],
)
def test_a_mistyped_word_is_corrected(engine: SearchEngine, typed: str, meant: str, first: str) -> None:
    found = engine.search(typed)
    assert (found.suggestion, found.is_suggested, found.hits[0].title) == (meant, True, first)


def test_a_word_that_lies_across_the_border_of_two_others_is_no_synonym() -> None:
    others = shipped_vocabulary().synonyms[("land", "use")]
    assert ("土", "地", "利", "用") in others and ("地", "类") not in others  # 栖息地类型: types of habitats


def test_a_known_word_is_not_corrected(engine: SearchEngine) -> None:
    assert engine.search("forest").suggestion is None
    assert engine.search("qqqqzzzz").suggestion is None
    assert engine.search("qqqqzzzz").total == 0


def test_services_that_answer_come_before_those_that_are_dead(engine: SearchEngine) -> None:
    first, second = engine.search("roads").hits
    assert (first.url, first.alive) == ("http://new.example/roads/wms", True)
    assert (second.alive, second.health) == (False, "degraded")


def test_keys_in_addresses_are_never_shown_and_never_found(world: World, engine: SearchEngine) -> None:
    shown = [hit.url for hit in engine.search("roads").hits]
    assert "http://old.example/roads/wms?token=***" in shown
    assert engine.search("geheim123").total == 0
    texts = str(world.database.connection.execute("SELECT * FROM search_text").fetchall())
    assert "geheim" not in texts


def test_services_of_one_server_are_one_hit(engine: SearchEngine) -> None:
    found = engine.search("forest")
    assert (found.total, found.services) == (1, 2)
    (hit,) = found.hits
    assert {hit.kind, *(twin.kind for twin in hit.twin_services)} == {"arcgis", "wms"}
    assert sum(value.count for value in engine.search("forest", facets=True).facets["kind"]) == 2


def test_services_of_one_server_are_hits_of_their_own_when_asked_for(engine: SearchEngine) -> None:
    one, apart = engine.search("forest"), engine.search("forest", apart=True)
    assert apart.total == apart.services == len(apart.hits) == one.services > one.total
    assert {hit.id for hit in apart.hits} == engine.numbers("forest")
    first = {hit.id: {twin.id for twin in hit.twin_services} for hit in apart.hits}
    assert all(number in first[twin] for number, twins in first.items() for twin in twins)
    pages = [engine.search("forest", apart=True, limit=1, offset=offset).hits for offset in range(apart.total)]
    assert [hits[0].id for hits in pages] == [hit.id for hit in apart.hits]


def test_numbers_come_in_the_order_of_a_search_without_its_hits(world: World) -> None:
    connection = world.database.connection
    engine = search_engine(connection)
    for text, more in (("forest", {}), ("forest", {"sort": Sort.NEWEST, "limit": 2, "offset": 1}), ("", {"limit": 3})):
        hits = engine.search(text, apart=True, **more).hits
        asked = list[str]()
        connection.trace(asked.append)  # type: ignore[attr-defined]
        assert engine.in_order(text, **more) == [hit.id for hit in hits] != []
        connection.trace(None)  # type: ignore[attr-defined]
        assert not [each for each in asked if "FROM layer" in each or "FROM probe" in each or "abstract" in each]


def test_a_hit_names_its_layers_extent_country_and_availability(engine: SearchEngine) -> None:
    hit = engine.search("reef_zones").hits[0]
    assert [layer.name for layer in hit.matching_layers] == ["reef_zones"]
    assert hit.box == (177.0, -19.2, 180.0, -16.1)
    assert hit.availability_30d is None or 0 <= hit.availability_30d <= 1
    assert engine.search("Bodentypen").hits[0].country == "DE"
    assert engine.search("土地利用").hits[0].country == "CN"


MEANT_BY_CONDITIONS = [
    ("kind:wfs", Filters(kinds=(Kind.WFS,))),
    ("country:de", Filters(countries=("DE",))),
    ("country:Deutschland", Filters(countries=("DE",))),
    ("bbox:10,48,11,49", Filters(box=(10, 48, 11, 49))),
    ("bbox:179,-18,-179,-17", Filters(box=(179, -18, -179, -17))),
    ("crs:25832", Filters(systems=("epsg:25832",))),
    ("format:PNG", Filters(formats=("png",))),
    ('provider:"road office"', Filters(providers=("road office",))),
    ("provider:bayern.de", Filters(providers=("bayern.de",))),
    ("health:degraded", Filters(health=("degraded",))),
    ("alive:yes", Filters(alive=True)),
    ("licence:cc-by", Filters(columns=(("licence", "CC-BY-4.0"),))),
    ("licence:open", Filters(columns=(("licence", "etalab-2.0"), ("licence", "CC-BY")))),
]


@pytest.mark.parametrize(("query", "filters"), MEANT_BY_CONDITIONS)
def test_a_condition_means_the_same_as_a_filter(engine: SearchEngine, query: str, filters: Filters) -> None:
    assert titles(engine, query) == titles(engine, "", filters) != []


@pytest.mark.parametrize("query", [query for query, _ in MEANT_BY_CONDITIONS])
def test_a_condition_with_a_minus_leaves_out_the_services_that_meet_it(engine: SearchEngine, query: str) -> None:
    met, left = titles(engine, query), titles(engine, f"-{query}")
    assert met != left and len(met) + len(left) >= engine.search().total


EXTENTS = {
    "Whole world": (-180.0, -90.0, 180.0, 90.0),
    "Town": (11.4, 48.0, 11.7, 48.3),
    "Country": (9.0, 47.3, 13.8, 50.5),
    "Neighbour": (5.0, 47.0, 11.2, 55.0),
    "Both sides": (177.0, -20.0, -178.0, -16.0),
    "One side": (150.0, -40.0, 178.0, -10.0),
}
"""Title → extent."""


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((11.3, 47.9, 11.8, 48.4), ["Town", "Country", "Whole world"]),
        ((9.0, 47.0, 14.0, 51.0), ["Country", "Town", "Neighbour", "Whole world"]),
        ((177.0, -20.0, -178.0, -16.0), ["Both sides", "One side", "Whole world"]),
    ],
)
@pytest.mark.parametrize("words", ["", "water "])
def test_services_are_in_the_order_in_which_their_extents_fit_a_box(
    tmp_path: Path, box: tuple[float, float, float, float], expected: list[str], words: str
) -> None:
    world = World(tmp_path / "crawl.db")
    for number, (title, extent) in enumerate(EXTENTS.items()):
        west, south, east, north = extent
        if west > east:
            extent = (west, south, east + 360, north)
        record(world, f"http://h{number}.example/wms", service(title, "Water Office", ("water",), extent))
    assert titles(engine_of(world), words, Filters(box=box)) == expected


def test_a_box_over_the_antimeridian_finds_both_sides(engine: SearchEngine) -> None:
    assert titles(engine, "bbox:170,-30,-170,0") == ["Coral reefs"]
    assert "Coral reefs" not in titles(engine, "bbox:-179,-30,-170,0")


def test_a_word_may_be_left_out(engine: SearchEngine) -> None:
    assert titles(engine, "soil -bodentypen") == ["Carte des sols de France"]


def test_times_are_counted_back_from_now(world: World) -> None:
    now = world.clock.now()
    engine = SearchEngine(engine_of(world)._index, now=lambda: now + 10 * 86_400)
    assert engine.search("alive:9d").total == 0
    assert engine.search("alive:11d").total == engine.search().total
    assert engine.search("new:9d").total == 0


def test_pages_follow_each_other(engine: SearchEngine) -> None:
    whole = [hit.id for hit in engine.search(limit=100).hits]
    pages = [hit.id for offset in range(0, len(whole), 3) for hit in engine.search(limit=3, offset=offset).hits]
    assert pages == whole
    assert engine.search(limit=3, offset=1000).hits == ()


def test_results_are_sorted_as_asked(engine: SearchEngine) -> None:
    by_name = titles(engine, "", sort=Sort.NAME)
    assert by_name == sorted(by_name, key=str.casefold) == titles(engine, "sort:name")
    newest = [hit.first_seen for hit in engine.search(sort=Sort.NEWEST).hits]
    assert newest == sorted(newest, reverse=True)
    assert engine.search("roads", sort=Sort.HEALTH).hits[0].alive


def test_facets_count_what_was_found(engine: SearchEngine) -> None:
    facets = engine.search("soil", facets=True).facets
    assert {value.value: value.count for value in facets["country"]} == {"DE": 2, "FR": 1}
    assert [(value.value, value.count) for value in facets["crs"]] == [("EPSG:25832", 3), ("EPSG:4326", 3)]
    assert facets["language"] == ()
    assert [(value.value, value.count) for value in facets["licence"]] == [("etalab-2.0", 1)]
    for name, values in facets.items():
        for value in values:
            key = {"crs": "crs", "format": "format"}.get(name, name)
            narrowed = engine.search(f'soil {key}:"{value.value}"') if value.value else None
            assert narrowed is None or narrowed.services == value.count, (name, value)


def test_the_index_follows_the_catalogue(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("live") / "crawl.db"
    world = filled(path)
    with Store.open_readonly(path) as connection:
        engine = search_engine(connection)
        assert titles(engine, "volcano") == []
        record(world, "http://v.example/wms", service("Volcanoes", "", ("lava",), None))
        assert titles(engine, "volcano") == ["Volcanoes"]
        record(world, "http://v.example/wms", service("Geysers", "", ("steam",), None))
        assert (titles(engine, "lava"), titles(engine, "steam")) == ([], ["Geysers"])
        record(world, "http://v.example/wms", None, "http-404")
        assert (titles(engine, "steam alive:yes"), titles(engine, "steam")) == ([], ["Geysers"])
        forget(world.store.database, "v.example", "asked to", 5.0)
        assert titles(engine, "steam") == []


def test_the_level_of_a_service_is_that_of_the_views_whether_or_not_it_is_confirmed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    world = filled(tmp_path_factory.mktemp("level") / "crawl.db")
    number = record(world, "http://v.example/wms", service("Volcanoes", "", ("lava",), None))
    with world.database.transaction:
        world.database.connection.execute("UPDATE endpoint SET level = 'delivers', health = 'unconfirmed'")
    (in_view,) = world.database.connection.execute(
        "SELECT level, alive FROM v_services WHERE id = ?", (number,)
    ).fetchall()
    assert tuple(in_view) == ("delivers", 0)
    engine = engine_of(world)
    assert "Volcanoes" in titles(engine, "level:delivers") and titles(engine, "volcano alive:yes") == []


def test_a_lost_index_is_made_again_when_the_database_is_opened(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("lost") / "crawl.db"
    world = filled(path)
    before = engine_of(world).search("soil", facets=True)
    world.database.connection.execute("DELETE FROM search_entry")
    world.database.connection.execute("DELETE FROM search_text")
    world.store.close()
    with OpenStore.open(path, clock=world.clock) as store:
        after = search_engine(store.connection).search("soil", facets=True)
        assert [hit.id for hit in after.hits] == [hit.id for hit in before.hits]
        assert after.facets == before.facets
        assert index_again(store.database) == len(
            {hit.id for hit in after.hits} | set(search_engine(store.connection).numbers())
        )


@pytest.mark.parametrize(("limit", "offset"), [(-1, 0), (10**9, 0), (1, -1), (1, 10**12)])
def test_absurd_pages_are_refused_with_a_message(engine: SearchEngine, limit: int, offset: int) -> None:
    with pytest.raises(QueryError, match="expected at most"):
        engine.search(limit=limit, offset=offset)


def test_a_file_beside_the_catalogue_adds_words_that_mean_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("own") / "crawl.db"
    filled(path).store.close()
    with Store.open_readonly(path) as connection:
        assert titles(search_engine(connection), "Lummerland") == []
        path.with_name("synonyms.toml").write_text('[own]\ngroups = [["Lummerland", "coral reefs"]]\n', "utf-8")
        assert titles(search_engine(connection), "Lummerland") == ["Coral reefs"]
        for wrong in ("[own]\n", "words = 5\n", "[[[", "[own]\ngroups = [[1, 2]]\n"):
            path.with_name("synonyms.toml").write_text(wrong, "utf-8")
            with pytest.raises(QueryError, match=r"synonyms\.toml: expected"):
                search_engine(connection)


def test_the_answer_says_when_no_service_has_all_words(engine: SearchEngine) -> None:
    partial = engine.search("coral forest reefs")
    assert partial.hits and not any(hit.is_whole for hit in partial.hits)
    assert partial.differences == ("no service has all of these words: found are those with most of them",)
    assert partial.read_as[0] == partial.differences[0]
    assert engine.search("coral reefs").differences == ()
    assert engine.search("xyzzyx").differences == () and engine.search("xyzzyx").total == 0
    assert engine.search("").differences == ()


@pytest.mark.parametrize("text", ["???", "�", "... kind:wms"])
def test_a_query_without_a_letter_or_digit_is_not_taken_for_the_whole_catalogue_in_silence(
    engine: SearchEngine, text: str
) -> None:
    assert engine.search(text).differences == (
        "the query contains no words; showing all services that match the filters",
    )
    assert engine.search("soil ?").differences == () and engine.search("kind:wms").differences == ()


def test_words_that_mean_the_same_are_named_as_people_write_them() -> None:
    planner = Planner(shipped_vocabulary(), shipped_places())
    [said] = read_as(planner.plan(read_query("water quality")))
    assert said.startswith("“water quality”: also water pollution, Wasserqualität, Gewässergüte, qualité de l'eau, ")
    [said] = read_as(planner.plan(read_query("rivers")))
    assert said.startswith("“rivers”: also streams, watercourses, Fluss, Flüsse, Fließgewässer, rivière and ")


def layer_names(engine: SearchEngine, text: str, **more: object) -> list[tuple[str, str]]:
    found = engine.layers(text, **more)  # type: ignore[arg-type]
    return [(hit.layer.title, hit.service.title) for hit in found.hits]


def test_layers_are_results_of_their_own_by_their_words_and_those_of_their_service(engine: SearchEngine) -> None:
    assert layer_names(engine, "land use 2018") == [("LandUse2018", "Coral reefs")]
    assert layer_names(engine, "reef zones fiji")[0] == ("reef_zones", "Coral reefs")
    assert layer_names(engine, "coral reefs") == [
        ("reef_zones", "Coral reefs"),
        ("LandUse2018", "Coral reefs"),
    ], "a layer with a word of its own comes before one that has them from its service alone"
    assert ("耕地", "全国土地利用数据") in layer_names(engine, "耕地")
    assert layer_names(engine, "kind:wfs") == [("Böden", "Bodentypen zum Laden")]
    assert layer_names(engine, "nothing whatever") == []


def test_a_found_layer_says_where_it_is_and_what_it_inherits(engine: SearchEngine) -> None:
    (hit,) = engine.layers("land use 2018").hits
    assert (hit.layer.name, hit.layer.item, hit.layer.crs) == ("LandUse2018", "layer", ("EPSG:4326", "EPSG:25832"))
    assert hit.layer.box is not None and hit.service.url == "http://fiji.example/reef/wms"
    (masked,) = engine.layers("straßennetz provider:old.example").hits
    assert "geheim" not in masked.service.url


def test_layers_are_paged_and_few_services_are_looked_through(
    engine: SearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = engine.layers("", limit=100)
    assert whole.is_complete and whole.total == len(whole.hits) > 5
    pages = [engine.layers("", limit=3, offset=offset).hits for offset in range(0, whole.total, 3)]
    assert [hit for page in pages for hit in page] == list(whole.hits)
    monkeypatch.setattr("geocrawl.store.catalogue.search.engine.MOST_SERVICES", 2)
    few = engine.layers("", limit=100)
    assert (few.looked_through, few.services, few.is_complete) == (2, whole.services, False)
    assert list(few.hits) == list(whole.hits[: few.total])
    with pytest.raises(QueryError):
        engine.layers("", limit=1_001)


def test_words_are_looked_up_once_until_they_make_room_or_something_changes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = world.database.connection
    index = SqlSearchIndex(connection)
    index.changes(0)
    asked = list[str]()
    connection.trace(lambda text: asked.append(text) if " MATCH " in text else None)  # type: ignore[attr-defined]
    words = [(Phrase((word,)),) for word in ("forest", "water", "roads", "no such word")]
    for phrases in words * 2:
        index.match(phrases)
    assert len(asked) == len(words)
    monkeypatch.setattr("geocrawl.store.catalogue.index.index._MOST_BYTES", 3_500)
    index.forget()
    for phrases in words:
        index.match(phrases)
    assert np.array_equal(index.match(words[-1]), []) and len(asked) == 2 * len(words)
    index.match(words[0])
    assert len(asked) == 2 * len(words) + 1, "it made room for the last one"
    connection.execute("UPDATE service SET title = title")
    index.changes(1)
    index.match(words[0])
    assert len(asked) == 2 * len(words) + 2
    connection.trace(None)  # type: ignore[attr-defined]
