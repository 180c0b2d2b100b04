"""What people see of a catalogue is what is written down, in both engines: views, exports, web pages, commands."""

from __future__ import annotations

import pytest

from tests.golden import ledger, parts, usages
from tests.golden.catalogue import ENGINES, crawled, environment
from tests.support.postgres import Server
from tests.support.samples import sampled

pytestmark = pytest.mark.timeout(900)  # a hundred commands


@pytest.mark.parametrize("engine", sampled(ENGINES, "sqlite"))
def test_people_see_the_same_of_a_catalogue_in_each_engine_and_it_is_written_down(
    engine: str, request: pytest.FixtureRequest
) -> None:
    server: Server | None = request.getfixturevalue("postgres_server") if engine == "postgres" else None
    with crawled(engine, server) as catalogue:
        made = dict(parts.of_catalogue(catalogue, parts.OF_A_CATALOGUE))
    written = set(ledger.names_under(list(parts.OF_A_CATALOGUE))) - parts.cannot_be_made()
    assert set(made) == (written if server is None else written - set(usages.OF_SQLITE_ALONE))
    ledger.demand_all(made)


def test_the_help_of_every_command_is_written_down() -> None:
    with environment():
        made = dict(usages.help_texts())
    assert set(made) == set(ledger.names_under(["help"]))
    ledger.demand_all(made)
