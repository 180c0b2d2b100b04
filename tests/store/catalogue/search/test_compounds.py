"""Find longer words by what stands within them: `feuchte` as Bodenfeuchteindex, but `plan` not as Planet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.judged_catalogue import Truth, add_written
from benchmarks.search import compounds, finds_any
from geocrawl.store import Store
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.search.engine import SearchEngine
from tests.store.catalogue.search.catalogue import engine_of, record, service
from tests.support.world import World

JUDGED, NEVER = compounds()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SearchEngine, dict[int, Truth]]]:
    path = tmp_path_factory.mktemp("compounds") / "c.db"
    truths = add_written(path)
    with Store.open_readonly(path) as connection:
        yield search_engine(connection), truths


def test_nine_of_ten_right_services_are_among_the_first_five(judged: tuple[SearchEngine, dict[int, Truth]]) -> None:
    engine, truths = judged
    missed = []
    for _, text, right in JUDGED:
        found = [truths[hit.id].name for hit in engine.search(text, limit=5).hits]
        if not set(found) & set(right.split(" | ")):
            missed.append(text)
    assert len(JUDGED) == 45 and len(missed) <= 4, missed


@pytest.mark.parametrize("text", NEVER)
def test_a_word_is_no_part_of_one_whose_rest_is_no_word(
    judged: tuple[SearchEngine, dict[int, Truth]], text: str
) -> None:
    engine, truths = judged
    assert not finds_any(engine, text, NEVER[text], truths)


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
