"""What people see of a catalogue is what is written down, in both engines: views, exports, web pages, commands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.golden import ledger, parts, usages
from tests.golden.catalogue import ENGINES, Catalogue, crawled, environment
from tests.support.postgres import Server

pytestmark = pytest.mark.timeout(300)  # a hundred commands, and a server of PostgreSQL


@pytest.fixture(scope="module", params=ENGINES)
def catalogue(request: pytest.FixtureRequest) -> Iterator[Catalogue]:
    """The catalogue of a crawl of the demo's web; it may not be changed."""
    server: Server | None = request.getfixturevalue("postgres_server") if request.param == "postgres" else None
    with crawled(request.param, server) as made:
        yield made


@pytest.mark.parametrize("part", parts.OF_A_CATALOGUE)
def test_people_see_the_same_of_a_catalogue_in_each_engine_and_it_is_written_down(
    catalogue: Catalogue, part: str
) -> None:
    made = dict(parts.of_catalogue(catalogue, [part]))
    written = set(ledger.names_under([part])) - parts.cannot_be_made()
    assert set(made) == (written if catalogue.server is None else written - set(usages.OF_SQLITE_ALONE))
    ledger.demand_all(made)


def test_the_help_of_every_command_is_written_down() -> None:
    with environment():
        made = dict(usages.help_texts())
    assert set(made) == set(ledger.names_under(["help"]))
    ledger.demand_all(made)
