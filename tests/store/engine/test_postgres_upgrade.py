"""A database of PostgreSQL that an older program wrote is brought up to date once, and a newer one is refused."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest

from geocrawl.errors import DatabaseFault
from geocrawl.model import State
from geocrawl.store.engine import migrations
from geocrawl.store.engine.postgres import opening as postgres
from geocrawl.store.engine.postgres.connection import WRITERS
from geocrawl.store.engine.sqlite import opening as sqlite
from geocrawl.store.search.index import search_engine
from geocrawl.store.store import Store
from tests.support.daemons import wait_for
from tests.support.invariants import check_invariants
from tests.support.postgres import Server
from tests.support.world import ManualClock, World, link

FIRST = Path(__file__).with_name("postgres_0015.sql")
"""A database of the first schema that PostgreSQL had, as `pg_dump --inserts -n geocrawl` wrote it."""
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


@pytest.fixture
def old_url(postgres_server: Server) -> str:
    """The URL of a database of the schema 0015."""
    url = postgres_server.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FIRST.read_text("utf-8").encode())
    return url


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return sorted(connection.execute(statement.encode()).fetchall(), key=repr)


def add_revision(monkeypatch: pytest.MonkeyPatch, folder: Path, more: str = "") -> None:
    """Let the program know one revision more."""
    copied = shutil.copytree(migrations.SCHEMA_FOLDER, folder / "schema")
    text = LATER.format(last=migrations.REVISIONS[-1], more=more)
    (copied / "migrations" / "versions" / "9001_later.py").write_text(text)
    known: list[ModuleType] = [migrations, postgres, sqlite]
    for module in known:
        monkeypatch.setattr(module, "REVISIONS", (*module.REVISIONS, "9001"))
    monkeypatch.setattr(migrations, "SCHEMA_FOLDER", copied)


def test_the_first_schema_becomes_the_newest_with_all_that_it_holds(old_url: str, postgres_server: Server) -> None:
    before = rows(old_url, "SELECT id, address, state, tier FROM geocrawl.url")
    with (
        pytest.raises(DatabaseFault, match=r"older geocrawl .*the next command that writes"),
        Store.open_readonly(old_url),
    ):
        pass
    world, fresh = World(old_url), postgres_server.new_catalogue()
    for statement in LAYOUT:
        assert rows(old_url, statement) == rows(fresh, statement), statement
    assert rows(old_url, "SELECT id, address, state, tier FROM geocrawl.url") == before and len(before) > 30
    world.clock.time += 1_000_000
    visited = [world.visit(link(f"later{n}.example/")) for n in range(12)]
    assert len(set(visited)) == 12
    assert all(world.row(each)[0] == State.VISITED for each in visited)
    check_invariants(world.database.connection)
    with Store.open_readonly(old_url) as connection:
        assert [hit.title for hit in search_engine(connection).search("böden").hits] == ["Böden"]


def test_processes_that_start_together_upgrade_it_once(old_url: str) -> None:
    def opened(_: int) -> None:
        Store.open(old_url, clock=ManualClock()).close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(opened, range(4)))
    newest = (migrations.REVISIONS[-1],)
    assert rows(old_url, "SELECT version_num FROM geocrawl.alembic_version") == [newest]


def test_an_upgrade_waits_for_a_settlement_that_is_under_way(old_url: str) -> None:
    with ThreadPoolExecutor(1) as pool, psycopg.connect(old_url) as other:
        other.execute(f"SELECT pg_advisory_xact_lock_shared({WRITERS})".encode())
        opening = pool.submit(lambda: Store.open(old_url, clock=ManualClock()).close())
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        wait_for(lambda: rows(old_url, waiting) == [(1,)], "the upgrade to wait", 60)
        assert not opening.done()
        other.rollback()
        opening.result(60)


def test_a_later_migration_does_the_same_on_both_engines(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    urls = [f"sqlite:///{tmp_path / 'c.db'}", postgres_url]
    for url in urls:
        world = World(url)
        world.seed("a.example/", "b.example/")
        world.visit(*[link(f"h{n % 3}.example/{n}") for n in range(9)])
        world.store.close()
    add_revision(monkeypatch, tmp_path)
    for url in urls:
        world = World(url)
        connection = world.database.connection
        found.append(
            [
                list(map(tuple, connection.execute(statement).fetchall()))
                for statement in (
                    "SELECT name, later_pages FROM host ORDER BY name",
                    "SELECT id, name FROM later ORDER BY id",
                    "SELECT version_num FROM alembic_version",
                )
            ]
        )
        assert world.visit(link("new.example/"))
        check_invariants(connection)
    assert found[0] == found[1]
    assert (found[0][0][0][1], found[0][2]) == (1, [("9001",)])


def test_a_migration_that_fails_changes_nothing(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        add_revision(patch, tmp_path, more='op.execute("INSERT INTO later (name) VALUES (NULL)")')
        with pytest.raises(DatabaseFault, match="null value"):
            World(postgres_url)
    assert World(postgres_url).seed("a.example/") == 1
    assert rows(postgres_url, "SELECT to_regclass('geocrawl.later')") == [(None,)]


def test_the_schema_of_a_newer_program_is_refused(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        add_revision(patch, tmp_path)
        World(postgres_url).store.close()
    for attempt in (lambda: World(postgres_url), lambda: Store.open_readonly(postgres_url).__enter__()):
        with pytest.raises(DatabaseFault, match=r"written by a newer geocrawl \(schema 9001"):
            attempt()
