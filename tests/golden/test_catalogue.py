"""What people see of a catalogue is what is written down, in both engines: views, exports, web pages, commands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.golden import exports, ledger, parts
from tests.golden.catalogue import ENGINES, Catalogue, crawled, environment
from tests.golden.usages import help_texts
from tests.support.postgres import Server

pytestmark = pytest.mark.timeout(300)  # a hundred commands, and a server of PostgreSQL


@pytest.fixture(scope="module", params=ENGINES)
def catalogue(request: pytest.FixtureRequest) -> Iterator[Catalogue]:
    """The catalogue of a crawl of the demo's web; it may not be changed."""
    server: Server | None = request.getfixturevalue("postgres_server") if request.param == "postgres" else None
    with crawled(request.param, server) as made:
        yield made


@pytest.mark.parametrize("part", parts.OF_A_CATALOGUE)
def test_what_people_see_of_a_catalogue_is_written_down(catalogue: Catalogue, part: str) -> None:
    found = dict(parts.of_catalogue(catalogue, [part]))
    expected = {name for name in ledger.names_under([part]) if not name.endswith(parts.POSTGRES)}
    assert set(found) == expected - ({exports.GEOPARQUET} if not exports.has_pyarrow() else set())
    in_postgres = set(ledger.names_under([part])) - expected if catalogue.server is not None else set()
    own = {name: f"{name}{parts.POSTGRES}" for name in found if f"{name}{parts.POSTGRES}" in in_postgres}
    ledger.demand_all({own.get(name, name): text for name, text in found.items()})


def test_the_help_of_every_command_is_written_down() -> None:
    with environment():
        found = dict(help_texts())
    assert set(found) == set(ledger.names_under(["help"]))
    ledger.demand_all(found)
