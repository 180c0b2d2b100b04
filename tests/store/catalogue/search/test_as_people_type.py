"""Connection as people type them: compounds, joined words, cities, abbreviations, words of other scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.filters import Filters
from geocrawl.query.fold import in_latin, number_apart, other_sounds
from geocrawl.query.language import read_query
from geocrawl.store.catalogue.search.engine import SearchEngine
from tests.store.catalogue.search.catalogue import engine_of, record, service
from tests.support.world import World

WORLD, VIENNA, OSLO = (-180.0, -90.0, 180.0, 90.0), (16.2, 48.1, 16.6, 48.3), (10.5, 59.8, 10.9, 60.1)
EVERYTHING = tuple(f"{word} {number}" for number in range(900) for word in ("ponds", "moss"))
SERVICES = {
    "http://a.example/wms": ("Waldfunktionen", "Forstamt", ("Wald",), None),
    "http://b.example/wms": ("Bodenkarte", "Amt", ("Profile",), None),
    "http://c.example/wms": ("Windfarms", "Office", ("turbines",), None),
    "http://d.example/wms": ("Публичная кадастровая карта", "Росреестр", ("участки",), None),
    "http://e.example/wms": ("Orthofotos", "Amt", ("rgb",), VIENNA),
    "http://f.example/wms": ("Orthofotos", "Etat", ("rgb",), OSLO),
    "http://g.example/wms": ("Natura 2000 sites", "European Environment Agency", ("birds",), (-25.0, 34.0, 45.0, 72.0)),
    "http://h.example/wms": ("Fires", "Office", ("points",), WORLD),
    "http://i.example/wms": ("Fires", "Council", ("points",), (10.0, 40.0, 11.0, 41.0)),
    "http://j.example/wms": ("Charts for navigation", "Office", ("nautical",), None),
    "http://k.example/wms": ("Everything", "Office", EVERYTHING, None),
    "http://l.example/wms": ("Ponds", "Marsh trust", ("water",), None),
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    world = World(tmp_path_factory.mktemp("typed") / "crawl.db")
    for address, about in SERVICES.items():
        record(world, address, service(*about))
    return engine_of(world)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Waldbodenkarten", "Bodenkarte"),  # a compound that nobody has: its parts
        ("Boden Karte", "Bodenkarte"),
        ("wind farms", "Windfarms"),
        ("natura2000", "Natura 2000 sites"),
        ("EEA natura", "Natura 2000 sites"),
        ("kadastrovaya", "Публичная кадастровая карта"),
        ("nautical charts", "Charts for navigation"),  # both words, apart from each other
        ("orthophotos", "Orthofotos"),
    ],
)
def test_what_is_written_otherwise_is_found(engine: SearchEngine, text: str, first: str) -> None:
    assert [hit.title for hit in engine.search(text).hits][:1] == [first]


@pytest.mark.parametrize(
    ("text", "provider"),
    [
        ("orthofoto wien", "Amt"),
        ("aerial photos vienna", "Amt"),
        ("orthofoto oslo", "Etat"),
        ("fires worldwide", "Office"),
    ],
)
def test_a_city_and_the_world_are_places(engine: SearchEngine, text: str, provider: str) -> None:
    assert engine.search(text).hits[0].provider == provider


def test_a_map_of_a_continent_comes_before_maps_of_its_cities(tmp_path: Path) -> None:
    world, europe = World(tmp_path / "crawl.db"), (-25.0, 34.0, 45.0, 72.0)
    for number in range(60):
        west, south = 5.0 + number / 4, 45.0 + number / 8
        title = "Bathymetry" if number % 10 == 0 else "Roads"
        city = service(title, f"Office {number}", ("lines",), (west, south, west + 0.5, south + 0.5))
        record(world, f"http://city{number}.example/wms", city)
    record(world, "http://sea.example/wms", service("Gridded mean bathymetry release", "Institute", ("mean",), europe))
    assert engine_of(world).search("sea depth europe").hits[0].provider == "Institute"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("salinity", "Salzgehalte"),
        ("soil moisture", "土壤湿度"),  # as a whole, not as soil and moisture
        ("permafrost", "永久凍土"),
    ],
)
def test_themes_of_standards_are_found_in_other_languages(tmp_path: Path, text: str, title: str) -> None:
    world = World(tmp_path / "crawl.db")
    for name in ("土壤类型", "Salzgehalte", "土壤湿度", "永久凍土"):
        record(world, f"http://{name.encode().hex()}.example/wms", service(name, "Amt", ("a",), None))
    assert [hit.title for hit in engine_of(world).search(text).hits] == [title]


def test_a_word_for_how_a_theme_is_shown_need_not_occur(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db")
    record(world, "http://a.example/wms", service("Bodentypen", "Amt", ("Böden",), VIENNA))
    record(world, "http://b.example/wms", service("Soil types", "Office", ("soils",), OSLO))
    hits = engine_of(world).search("soil types vienna").hits
    assert hits[0].title == "Bodentypen" and hits[0].is_whole


def test_a_server_with_words_of_every_theme_does_not_hide_a_service_about_one(engine: SearchEngine) -> None:
    hits = engine.search("ponds moss trust").hits
    assert [hit.title for hit in hits] == ["Ponds", "Everything"]


def test_a_code_in_plain_words_is_a_condition() -> None:
    for text in ("soil EPSG:25832", "soil epsg 25832", "soil crs:EPSG:25832"):
        assert read_query(text).filters == Filters(systems=("EPSG:25832",))
    assert read_query('"EPSG:25832"').filters == Filters()


def test_spellings_of_numbers_sounds_and_scripts() -> None:
    assert number_apart("natura2000") == ("natura", "2000") and number_apart("wald") == ("wald",)
    assert other_sounds("ortofoto") == ("ortophoto",) and other_sounds("geographie") == ("geografie",)
    assert in_latin("кадастровая") == "kadastrovaya" and in_latin("karta") == "karta"
