"""Find longer words by what stands within them: `feuchte` as Bodenfeuchteindex, but `plan` not as Planet."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.query.places import shipped_places
from geocrawl.store.catalogue.search.engine import SearchEngine
from tests.store.catalogue.search.catalogue import engine_of, record, service
from tests.support.places import ROOT
from tests.support.world import World

JUDGEMENTS = tomllib.loads((ROOT / "benchmarks/search_compounds.toml").read_text("utf-8"))
NEVER = JUDGEMENTS.pop("never")
JUDGED = {text: right.split(" | ") for each in JUDGEMENTS.values() for text, right in each.items()}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    """The search in a catalogue of the services for judgements, each with its key in its address."""
    world = World(tmp_path_factory.mktemp("compounds") / "c.db")
    for line in (ROOT / "benchmarks/search_services.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        key, _, where, _, title, provider, layers, abstract = (part.strip() for part in line.split("|"))
        sides = tuple(map(float, where.split(","))) if "," in where else shipped_places().by_code[where].boxes[0]
        described = service(title, provider, tuple(layer.strip() for layer in layers.split(";")), sides)
        record(world, f"http://{key}.example/wms", replace(described, abstract=abstract))
    return engine_of(world)


def keys(engine: SearchEngine, text: str, limit: int) -> set[str]:
    """Return the keys of the first services that a query finds."""
    return {hit.host.removesuffix(".example") for hit in engine.search(text, limit=limit).hits}


def test_nine_of_ten_right_services_are_among_the_first_five(judged: SearchEngine) -> None:
    missed = [text for text, right in JUDGED.items() if keys(judged, text, 5).isdisjoint(right)]
    assert len(JUDGED) == 45 and len(missed) <= 4, missed


@pytest.mark.parametrize("text", NEVER)
def test_a_word_is_no_part_of_one_whose_rest_is_no_word(judged: SearchEngine, text: str) -> None:
    assert keys(judged, text, 1_000).isdisjoint(NEVER[text].split())


def titled(tmp_path: Path, *titles: str) -> World:
    """A catalogue with services of some titles."""
    world = World(tmp_path / "c.db")
    for number, title in enumerate(titles):
        record(world, f"http://{number}.example/wms", service(title, "Amt", ("Boden", "Luft", "Index"), None))
    return world


def found(world: World, text: str) -> list[str]:
    return [hit.title for hit in engine_of(world).search(text).hits]


def test_the_word_itself_comes_before_what_holds_it(tmp_path: Path) -> None:
    world = titled(tmp_path, "Bodenfeuchte", "Feuchte", "Luftfeuchteindex")
    assert found(world, "feuchte")[0] == "Feuchte" and set(found(world, "feuchte")) == {
        "Bodenfeuchte",
        "Feuchte",
        "Luftfeuchteindex",
    }


def test_the_layer_that_holds_the_word_is_shown(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    record(world, "http://a.example/wms", service("Klima", "Amt", ("Boden", "Bodenfeuchte"), None))
    (hit,) = engine_of(world).search("feuchte").hits
    assert [layer.name for layer in hit.matching_layers] == ["Bodenfeuchte"]
    assert [each.layer.name for each in engine_of(world).layers("feuchte").hits] == ["Bodenfeuchte"]


def test_a_place_is_no_compound(tmp_path: Path) -> None:
    world = titled(tmp_path, "Deutsch", "Deutschland", "Bodenland")
    assert found(world, "land") == ["Bodenland"]


def test_a_word_that_is_new_in_a_small_catalogue_is_found_at_once(tmp_path: Path) -> None:
    world = titled(tmp_path, "Klima")
    engine = engine_of(world)
    assert not engine.search("feuchte").hits
    record(world, "http://new.example/wms", service("Bodenfeuchte", "Amt", ("Boden",), None))
    assert [hit.title for hit in engine.search("feuchte").hits] == ["Bodenfeuchte"]
