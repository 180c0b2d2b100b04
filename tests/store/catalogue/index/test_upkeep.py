"""The search index is made for catalogues of older versions, and made again on request."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app
from geocrawl.errors import DatabaseFault
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.index.upkeep import index_again
from geocrawl.store.store import Store
from geocrawl.store.upkeep.retention import Retention
from tests.store.catalogue.search.catalogue import engine_of, filled
from tests.support.world import ManualClock, World

_SERVICE = """
INSERT INTO service (id, kind, fingerprint, site, title, abstract, keywords, provider, contact, fees,
  access_constraints, version, formats, online_resource, layer_count, first_seen, last_ok)
VALUES (?1, 'wms', 'f' || ?1, 'a.example', 'Peat bogs ' || ?1, '', '[]', '', '{}', '',
  '', '1.3.0', '[]', '', 1, 1, 1)"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A catalogue with 500 services whose index was lost."""
    path = tmp_path / "old.db"
    Store.open(path, clock=ManualClock()).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany(_SERVICE, [(number,) for number in range(1, 501)])
        connection.commit()
    return path


def test_a_catalogue_without_its_index_is_indexed_when_it_is_opened_to_be_written(old: Path) -> None:
    with Store.open(old, clock=ManualClock()) as store:
        assert search_engine(store.connection).search("peat bog").services == 500
        texts = store.database.connection.execute("SELECT count(*) FROM search_text").fetchone()
    assert texts == (500,)


def test_a_repair_indexes_a_catalogue_without_its_index(old: Path) -> None:
    done = CliRunner().invoke(app, ["check", "--repair", "--db", str(old)])
    assert (done.exit_code, "500 services; it was incomplete" in done.stdout) == (1, True)
    found = CliRunner().invoke(app, ["search", "peat", "--json", "--limit", "3", "--db", str(old)])
    assert len(json.loads(found.stdout)) == 3


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("", 0),
        ("DELETE FROM search_entry WHERE service_id = 7", 1),
        ("DELETE FROM search_text WHERE rowid = 7", 1),
        ("DELETE FROM service WHERE id = 7", 1),
        ("UPDATE search_text_data SET block = zeroblob(length(block)) WHERE id > 10", 1),
        ("UPDATE search_text_content SET c0 = 'other' WHERE id = 7", 1),
    ],
)
def test_a_repair_tells_by_its_exit_code_whether_something_was_wrong(old: Path, damage: str, code: int) -> None:
    Store.open(old, clock=ManualClock()).close()
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(damage)
        connection.commit()
    for expected in (code, 0):
        done = CliRunner().invoke(app, ["check", "--repair", "--db", str(old)])
        assert (done.exit_code, "nothing was wrong" in done.stdout) == (expected, expected == 0), done.stdout
    found = CliRunner().invoke(app, ["search", "peat", "--json", "--limit", "3", "--db", str(old)])
    assert len(json.loads(found.stdout)) == 3


def test_a_repair_of_a_damaged_file_does_not_end_as_if_all_were_well(old: Path) -> None:
    """A page of a table that the index does not need is overwritten."""
    with closing(sqlite3.connect(old)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        place = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'probe'").fetchone()[0]
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with old.open("r+b") as file:
        file.seek((place - 1) * size)
        file.write(b"\x2a" * size)
    done = CliRunner().invoke(app, ["check", "--repair", "--db", str(old)])
    assert isinstance(done.exception, DatabaseFault) and "is damaged" in str(done.exception)


def test_a_repair_leaves_what_a_settlement_would_have_written(tmp_path: Path) -> None:
    world = filled(tmp_path / "crawl.db")
    tables = "SELECT rowid, * FROM search_text ORDER BY rowid", "SELECT * FROM search_entry ORDER BY service_id"
    before = [world.database.connection.execute(table).fetchall() for table in tables]
    lists = [engine_of(world).search("kind:wms", facets=True).facets]
    assert index_again(world.store.database) == len(before[1])
    after = [world.database.connection.execute(table).fetchall() for table in tables]
    assert after[0] == before[0]
    assert [row[3:] for row in after[1]] == [row[3:] for row in before[1]]
    assert [engine_of(world).search("kind:wms", facets=True).facets] == lists


def test_an_index_in_many_parts_is_merged_by_the_tidying(tmp_path: Path) -> None:
    world = filled(tmp_path / "crawl.db")
    connection = world.database.connection
    parts, found = "SELECT count(DISTINCT segid) FROM search_text_idx", engine_of(world).search("soil").hits
    for setting, value in (("automerge", 0), ("crisismerge", 1_000)):
        connection.execute("INSERT INTO search_text (search_text, rank) VALUES (?, ?)", (setting, value))
    for number in range(10):
        with world.database.transaction:
            connection.execute("INSERT INTO search_text (rowid, title) VALUES (?, 'peat')", (1_000 + number,))
    assert connection.execute(parts).fetchone()[0] > 8
    Retention(world.database, keep_days=365).tidy(world.clock.now())
    assert connection.execute(parts).fetchone() == (1,)
    assert engine_of(world).search("soil").hits == found


def test_the_search_prints_facets_and_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    filled(path).store.close()
    runner = CliRunner()
    shown = runner.invoke(app, ["search", "soil", "--facets", "--db", str(path)]).stdout
    assert "kind: wms 2, wfs 1" in shown and "country: DE 2, FR 1" in shown
    told = json.loads(runner.invoke(app, ["search", "soil", "--facets", "--json", "--db", str(path)]).stdout)
    assert told["total"] == len(told["hits"]) and told["read_as"] and told["facets"]["kind"]
    suggested = runner.invoke(app, ["search", "forrest", "--db", str(path)])
    assert "No match for these words. Showing results for: forest" in suggested.stderr
    for words in (["kind:nothing"], ["word"] * 200, ["bbox:1,2"], ["--sort", "best"]):
        assert runner.invoke(app, ["search", *words, "--db", str(path)]).exception is not None


def test_commands_say_what_they_found_instead_of_what_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    filled(path).store.close()
    runner = CliRunner()

    def said(*arguments: str) -> str:
        return runner.invoke(app, [*arguments, "--db", str(path)]).stderr

    exporting = ("export", "--format", "seeds", "--out", str(tmp_path / "seeds.txt"))
    watching = ("watch", "add", "--to", f"file:{tmp_path / 'told.txt'}")
    for command in (("search",), exporting, watching):
        assert "No match for these words. Showing results for: forest" in said(*command, "forrest"), command
        assert "No service has all of these words: found are those with most" in said(*command, "coral forest reefs")
        if command is not watching:  # a watch of every service is refused
            assert "The query contains no words; showing all services" in said(*command, "???")
        assert said(*command, "forest") == ""


def test_a_page_past_the_last_service_is_not_called_nothing_found(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    filled(path).store.close()
    runner = CliRunner()
    all_of_them = json.loads(runner.invoke(app, ["search", "soil", "--json", "--db", str(path)]).stdout)
    past = runner.invoke(app, ["search", "soil", "--offset", "900", "--db", str(path)])
    assert past.stderr.strip() == f"{len(all_of_them)} services found; --offset 900 leaves out all."
    last = runner.invoke(app, ["search", "soil", "--offset", "1", "--db", str(path)])
    assert last.stderr.strip() == f"2 to {len(all_of_them)} of {len(all_of_them)}"


def test_an_empty_catalogue_is_not_called_a_search_without_results(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    World(path).database.close()
    runner = CliRunner()
    for words in ([], ["soil"]):
        assert (
            runner.invoke(app, ["search", *words, "--db", str(path)]).stderr == "The catalogue holds no service yet.\n"
        )
    survival = runner.invoke(app, ["stats", "--picture", "survival", "--db", str(path)]).stdout
    assert survival == "No endpoint was ever valid\n\nnothing yet\n"
    filled(tmp_path / "full.db").store.close()
    nothing = runner.invoke(app, ["search", "xyzzyx", "--db", str(tmp_path / "full.db")])
    assert nothing.stderr == "No service matches.\n"
