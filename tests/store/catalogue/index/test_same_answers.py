"""Every query of the benchmarks has one answer on both engines: services, order, scores, layers, facets, suggestion."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.filters import Sort
from geocrawl.model.search import Results
from geocrawl.store.catalogue.index.index import SqlSearchIndex
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.store.store import Store
from geocrawl.store.upkeep.migrate import migrate
from tests.support.made_catalogue import make_catalogue
from tests.support.places import ROOT
from tests.support.postgres import Server
from tests.support.world import ManualClock

pytestmark = pytest.mark.acceptance

FILES = [
    ROOT / "benchmarks" / name for name in ("search_queries.toml", "search_more_queries.toml", "search_compounds.toml")
]
TYPED = (
    *(text for file in FILES for kind in tomllib.loads(file.read_text("utf-8")).values() for text in kind),
    *(
        "water",
        "",
        "kind:wfs",
        "hydro*",
        '"flood depth"',
        "bbox:5,47,15,55 rivers",
        "level:delivers soil",
        "country:DE",
    ),
    *(
        "watr quality",
        "soil -map",
        'title:"soil types"',
        "provider:survey water",
        "host:bayern",
        "crs:3857 roads",
        "wa*",
    ),
)
_SERVICES = 400


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory, postgres_server: Server) -> Iterator[list[SearchEngine]]:
    """The search in a catalogue of SQLite and in its copy in PostgreSQL."""
    path, copy = tmp_path_factory.mktemp("answers") / "c.db", postgres_server.new_database()
    make_catalogue(path, _SERVICES)
    Store.open(path, clock=ManualClock()).close()  # what is missing in the index is added
    migrate(path, copy, ManualClock(), lambda table, rows: None)
    places: tuple[Path | str, ...] = (path, copy)
    with ExitStack() as stack:
        connections = [stack.enter_context(Store.open_readonly(each)) for each in places]
        yield [SearchEngine(SqlSearchIndex(each), now=lambda: 2_000_000.0) for each in connections]
    postgres_server.drop(copy)


def answer(engine: SearchEngine, text: str, **options: object) -> Results:
    return replace(engine.search(text, facets=True, **options), ms=0.0)  # type: ignore[arg-type]


def test_queries_as_people_type_them(engines: list[SearchEngine]) -> None:
    found = 0
    for text in TYPED:
        sqlite, postgres = (answer(engine, text) for engine in engines)
        assert sqlite == postgres, text
        found += bool(sqlite.hits)
    assert found > 40 and len(TYPED) > 250


@pytest.mark.parametrize("order", list(Sort))
def test_orders_and_further_pages(engines: list[SearchEngine], order: Sort) -> None:
    for text in ("roads", "", "kind:wms soil"):
        for offset in (0, 20, 40):
            sqlite, postgres = (answer(engine, text, sort=order, offset=offset) for engine in engines)
            assert sqlite == postgres and sqlite.total > 20
