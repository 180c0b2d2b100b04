"""Ten questions that people of the field ask for years are answered by conditions, exactly; their words find little.

The questions: what has this field, is of these years, may be used, is described in a language, ends with a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.model import ContentReport, Field, Layer, Level, Service
from geocrawl.model.times import read_interval
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.store.catalogue.write.verdicts import ContentReportWriter
from tests.store.catalogue.search.catalogue import engine_of, record, service
from tests.support.world import World

pytest.importorskip("py3langid", reason="needs py3langid: make dev-env")
SERVICES: dict[str, tuple[str, str, str, tuple[str, str] | None, tuple[Field, ...]]] = {
    "a": (
        *(
            "Gewässernetz",
            "Flüsse und Bäche des Landes mit ihrer Kennzahl, ihrer Länge und ihrer Ordnung.",
            "CC BY 4.0",
        ),
        *(("2015", "2020"), (Field("RIVER_ID", "string"), Field("laenge", "double"))),
    ),
    "b": (
        *("Gefahrenkarte", "Gebiete, die einmal in hundert Jahren überschwemmt werden, mit der Tiefe des Wassers."),
        *("Datenlizenz Deutschland – Namensnennung – Version 2.0", None, ()),
    ),
    "c": (
        *("Land cover", "Forests, fields and towns of the whole country as they were seen from aeroplanes.", "CC0"),
        *(("1990", "2000"), ()),
    ),
    "d": (
        *("Occupation du sol", "Les forêts, les champs et les villes de tout le pays, vus du ciel chaque année."),
        *("Licence Ouverte 2.0", ("2018", ".."), ()),
    ),
    "e": ("Roads", "Main roads and lanes with their numbers, the speed limit and the surface.", "none", None, ()),
    "f": (
        *("Sea temperature", "Means of each month on a grid of one degree, from ships and from buoys.", "© Office"),
        *(("2010", "2024"), ()),
    ),
    "g": (
        *("Bodenfeuchte", "Wie feucht die Böden des Landes im Sommer sind, für jedes Feld des Rasters berechnet."),
        *("CC BY-NC 4.0", ("2016", "2016"), ()),
    ),
    "h": (
        *("Streams", "Rivers and streams that volunteers have mapped, with the names that people use.", "ODbL", None),
        (Field("ref", "string", "river_id"),),
    ),
}
"""Name → title, abstract, access constraints, first and last time of the data, fields of its layer."""
QUESTIONS = [
    ("Which services have a field river_id?", "river_id", "field:river_id", "ah"),
    ("Which data are of 2015 to 2020?", "data 2015 2020", "time:2015/2020", "adfg"),
    ("Which data end before 2001?", "data before 2001", "-time:2001/.. time:../2001", "c"),
    ("What may be used under an open licence?", "open licence", "licence:open", "abcdh"),
    ("What is under CC BY of any version?", "CC BY", "licence:CC-BY", "a"),
    ("Which services state that nothing is restricted?", "no restrictions", "licence:no-conditions", "e"),
    ("Which services are in German?", "german", "language:de", "abg"),
    ("What is open and in German?", "open german", "language:de licence:open", "ab"),
    ("What is open and of 2019, in French?", "open 2019 french", "language:fr licence:open time:2019", "d"),
    ("Which services are networks (Netze)?", "netz", "netz", "a"),
]
"""Question, the words for it, the query, the services that answer it."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    path: Path = tmp_path_factory.mktemp("questions") / "c.db"
    world = World(path)
    for name, (title, abstract, terms, times, fields) in SERVICES.items():
        layer = Layer(name, title, times=read_interval(*times) if times else None)
        described: Service = replace(
            service(title, "", (), None), abstract=abstract, access_constraints=terms, layers=(layer,), fingerprint=name
        )
        number = record(world, f"http://{name}.example/wms", described)
        with world.store.database.transaction:
            told = ContentReport(Level.DELIVERS, fields={name: fields} if fields else {})
            ContentReportWriter(world.database.connection, thumbnail_bytes=0).write(number, told, world.clock.now())
    yield engine_of(world)
    world.store.close()


def found(engine: SearchEngine, text: str) -> set[str]:
    return {hit.url.removeprefix("http://")[0] for hit in engine.search(text).hits}


@pytest.mark.parametrize(("question", "words", "query", "right"), QUESTIONS)
def test_a_question_has_just_its_answers(
    question: str, words: str, query: str, right: str, engine: SearchEngine
) -> None:
    assert found(engine, query) == set(right), question


def test_words_alone_answer_two_questions_of_ten(engine: SearchEngine) -> None:
    assert sum(found(engine, words) == set(right) for _, words, _, right in QUESTIONS) == 2
