"""A database that an older program wrote is brought up to date once and whole, on either engine; others are refused."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest

from geocrawl.errors import DatabaseFault
from geocrawl.model import State
from geocrawl.settings import Settings
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.database import migrations
from geocrawl.store.database.keys import twin_key
from geocrawl.store.database.migrations import REVISIONS
from geocrawl.store.database.postgres import opening as postgres
from geocrawl.store.database.postgres.connection import WRITERS
from geocrawl.store.database.schema.tables import METADATA
from geocrawl.store.database.sqlite import opening as sqlite
from geocrawl.store.store import Store
from tests.support.daemons import wait_for
from tests.support.invariants import check_invariants
from tests.support.postgres import Server
from tests.support.world import ManualClock, World, link

FOLDER = Path(__file__).parent
"""Holds a catalogue of the schema 0017 of each engine: 40 pages of the demo's web, crawled by the program of then."""
LAYOUT = (
    "SELECT table_name, column_name, ordinal_position, data_type, collation_name, is_nullable, column_default "
    "FROM information_schema.columns WHERE table_schema = 'geocrawl'",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'geocrawl'",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'geocrawl'::regnamespace",
    "SELECT viewname, definition FROM pg_views WHERE schemaname = 'geocrawl'",
    "SELECT sequencename, start_value, min_value, increment_by FROM pg_sequences WHERE schemaname = 'geocrawl'",
)
LATER = '''
"""Count the pages of each host."""

from alembic import op
from sqlalchemy import Column, Integer, String

revision, down_revision, branch_labels, depends_on = "9001", "{last}", None, None


def upgrade() -> None:
    op.add_column("host", Column("later_pages", Integer, nullable=False, server_default="0"))
    op.execute("UPDATE host SET later_pages = (SELECT count(*) FROM url WHERE url.host_id = host.id)")
    op.create_table("later", Column("id", Integer, primary_key=True), Column("name", String, nullable=False))
    op.execute("INSERT INTO later (name) SELECT name FROM host ORDER BY id")
    op.create_index("later_name", "later", ["name"])
    {more}
'''
KILLED = """
import os, signal, sys
from alembic import op
from geocrawl.fetch.clock import SystemClock
from geocrawl.store import Store

add_column = op.add_column
def killed(*arguments):
    add_column(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
op.add_column = killed
Store.open(sys.argv[1], clock=SystemClock())
"""
"""Opens a database to upgrade it, and is killed when a part of the upgrade is done."""


def old_file(folder: Path) -> str:
    path = folder / "old.db"
    path.write_bytes(gzip.decompress((FOLDER / "catalogue_0017.db.gz").read_bytes()))
    return str(path)


def old_on_server(server: Server) -> str:
    url = server.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(gzip.decompress((FOLDER / "catalogue_0017_postgres.sql.gz").read_bytes()))
    return url


@pytest.fixture(params=["disk", "postgres"])
def old_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of the schema 0017."""
    if request.param == "disk":
        yield old_file(tmp_path)
        return
    server: Server = request.getfixturevalue("postgres_server")
    url = old_on_server(server)
    yield url
    server.drop(url)


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement of either engine, read without the program."""
    if url.startswith("postgresql"):
        with psycopg.connect(url, options="-c search_path=geocrawl") as connection:
            return sorted(connection.execute(statement.encode()).fetchall(), key=repr)
    with closing(sqlite3.connect(url)) as file:
        return sorted(map(tuple, file.execute(statement).fetchall()), key=repr)


def write(url: str, statement: str) -> None:
    """Execute a statement of either engine without the program."""
    if url.startswith("postgresql"):
        with psycopg.connect(url, options="-c search_path=geocrawl") as connection:
            connection.execute(statement.encode())
        return
    with closing(sqlite3.connect(url)) as file, file:
        file.execute(statement)


def contents(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all tables in the columns of the schema 0017, and each running total as one sum."""
    tables = [table for table in METADATA.sorted_tables if table.name not in ("ip_place", "service_alias")]
    added = {
        "url": {"kills", "link_relevance", "visit_tier", "led"},
        "service": {"read_by"},
        "endpoint": {"failing_s", "woken_at", "moved_to", "server"},
        "host": {"refusals"},
        "evidence": {"masked_page"},
        "outlinks": {"moved"},
    }
    found = {}
    for table in tables:
        names = {column.name for column in table.columns} - added.get(table.name, set())
        listed = ", ".join(f'"{name}"' for name in sorted(names))
        found[table.name] = rows(url, f"SELECT {listed} FROM {table.name}")
    totals = Counter[str]()
    for name, value in found["counter"]:
        totals[name.partition("@")[0]] += value
    del totals["turn"]  # on PostgreSQL it was a sequence
    found["counter"] = sorted(totals.items())
    return found


def open_and_close(url: str) -> None:
    Store.open(url, clock=ManualClock()).close()


def version(url: str) -> str:
    ((found,),) = rows(url, "SELECT version_num FROM alembic_version")
    return str(found)


def add_revision(monkeypatch: pytest.MonkeyPatch, folder: Path, more: str = "") -> None:
    """Let the program know one revision more."""
    copied = shutil.copytree(migrations._MIGRATIONS, folder / "migrations")
    (copied / "versions" / "9001_later.py").write_text(LATER.format(last=REVISIONS[-1], more=more))
    known: list[ModuleType] = [migrations, postgres, sqlite]
    for module in known:
        monkeypatch.setattr(module, "REVISIONS", (*REVISIONS, "9001"))
    monkeypatch.setattr(migrations, "_MIGRATIONS", copied)


def test_an_upgraded_database_holds_what_it_held_and_is_crawled_on(old_url: str) -> None:
    before = contents(old_url)
    assert len(before["url"]) > 100 and len(before["service"]) > 5
    world = World(old_url, Settings(delay_s=0, max_fruitless_per_pattern=0, max_depth=5))  # as its last crawl
    after = contents(old_url)
    after["meta"] = [row for row in after["meta"] if not row[0].startswith("worker:")]  # the heartbeat of this process
    assert (version(old_url), after) == (REVISIONS[-1], before)
    assert rows(old_url, "SELECT DISTINCT kills FROM url") == [(0,)]
    assert all(server == twin_key(key) for key, server in rows(old_url, "SELECT key, server FROM endpoint"))
    assert any(json.loads(twins) for (twins,) in rows(old_url, "SELECT twins FROM v_services"))
    world.clock.time = 2e9
    visited = [world.visit(link(f"later{n}.example/", tier=20)) for n in range(12)]
    assert [world.row(each)[0] for each in visited] == [State.VISITED] * 12
    check_invariants(world.database.connection)
    with Store.open_readonly(old_url) as connection:
        assert search_engine(connection).search("base map").services


def test_an_upgrade_masks_the_pages_that_named_endpoints(old_url: str) -> None:
    write(
        old_url, "UPDATE evidence SET page = 'http://p.example/?key=sesame' WHERE id = (SELECT min(id) FROM evidence)"
    )
    open_and_close(old_url)
    shown = rows(old_url, "SELECT page, masked_page FROM evidence WHERE masked_page IS NOT NULL")
    assert shown == [("http://p.example/?key=sesame", "http://p.example/?key=***")]


def test_a_killed_upgrade_leaves_the_database_as_it_was_and_the_next_one_is_whole(old_url: str) -> None:
    before = contents(old_url)
    done = subprocess.run([sys.executable, "-c", KILLED, old_url], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (version(old_url), contents(old_url)) == ("0017", before)
    open_and_close(old_url)
    after = contents(old_url)
    assert {n: (before[n], after[n]) for n in before if before[n] != after[n]} == {}


def test_totals_that_were_spread_over_rows_are_one_again(postgres_server: Server) -> None:
    url = old_on_server(postgres_server)
    before = contents(url)
    assert rows(url, "SELECT name FROM counter WHERE name LIKE '%@%'")
    last = rows(url, "SELECT last_value FROM turn_number")
    open_and_close(url)
    assert contents(url)["counter"] == before["counter"]
    assert rows(url, "SELECT name FROM counter WHERE name LIKE '%@%'") == []
    assert rows(url, "SELECT value FROM counter WHERE name = 'turn'") == last


def test_an_upgraded_database_of_a_server_has_the_layout_of_a_new_one(postgres_server: Server) -> None:
    upgraded, fresh = old_on_server(postgres_server), postgres_server.new_catalogue()
    with (
        pytest.raises(DatabaseFault, match=r"older geocrawl .*the next command that writes"),
        Store.open_readonly(upgraded),
    ):
        pass
    open_and_close(upgraded)
    for statement in LAYOUT:
        assert rows(upgraded, statement) == rows(fresh, statement), statement


def test_processes_that_start_together_upgrade_it_once(old_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(open_and_close, [old_url] * 4))
    assert version(old_url) == REVISIONS[-1]


def test_an_upgrade_waits_for_a_settlement_that_is_under_way(postgres_server: Server) -> None:
    url = old_on_server(postgres_server)
    with ThreadPoolExecutor(1) as pool, psycopg.connect(url) as other:
        other.execute(f"SELECT pg_advisory_xact_lock_shared({WRITERS})".encode())
        opening = pool.submit(open_and_close, url)
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        wait_for(lambda: rows(url, waiting) == [(1,)], "the upgrade to wait", 60)
        assert not opening.done()
        other.rollback()
        opening.result(60)


@pytest.mark.parametrize("attempt", [open_and_close, lambda url: Store.open_readonly(url).__enter__()])
def test_a_database_that_is_too_old_is_told_what_upgrades_it(old_url: str, attempt: Callable[[str], object]) -> None:
    change(old_url, "UPDATE alembic_version SET version_num = '0016'")
    before = contents(old_url)
    with pytest.raises(DatabaseFault, match=r"too old \(schema 0016, .*upgrade it first by .* of commit 434ee4d$"):
        attempt(old_url)
    assert contents(old_url) == before


def change(url: str, statement: str) -> None:
    if url.startswith("postgresql"):
        with psycopg.connect(url, options="-c search_path=geocrawl") as connection:
            connection.execute(statement.encode())
    else:
        with closing(sqlite3.connect(url)) as file, file:
            file.execute(statement)


def test_a_later_migration_does_the_same_on_both_engines(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    urls = [str(tmp_path / "c.db"), postgres_url]
    for url in urls:
        world = World(url)
        world.seed("a.example/", "b.example/")
        world.visit(*[link(f"h{n % 3}.example/{n}") for n in range(9)])
        world.store.close()
    add_revision(monkeypatch, tmp_path)
    for url in urls:
        world = World(url)
        found.append([rows(url, "SELECT name, later_pages FROM host"), rows(url, "SELECT id, name FROM later")])
        assert version(url) == "9001" and world.visit(link("new.example/"))
        check_invariants(world.database.connection)
    assert found[0] == found[1] and found[0][0][0][1] == 1


def test_a_migration_that_fails_changes_nothing(
    shared_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_and_close(shared_url)
    with monkeypatch.context() as patch:
        add_revision(patch, tmp_path, more='op.execute("INSERT INTO later (name) VALUES (NULL)")')
        with pytest.raises(DatabaseFault, match=r"null value|NOT NULL"):
            World(shared_url)
    assert World(shared_url).seed("a.example/") == 1


def test_the_schema_of_a_newer_program_is_refused(
    shared_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        add_revision(patch, tmp_path)
        World(shared_url).store.close()
    for attempt in (lambda: World(shared_url), lambda: Store.open_readonly(shared_url).__enter__()):
        with pytest.raises(DatabaseFault, match=r"written by a newer geocrawl \(schema 9001"):
            attempt()
