"""What keeps a database from cleaning up is told, with what to do: readers of old states, open transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geocrawl.cli.status import status_lines
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database.postgres.connection import PostgresConnection
from geocrawl.store.database.sqlite.connection import LOG_BYTES
from geocrawl.store.frontier.status import read_status
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from geocrawl.urls.database import server_of
from tests.support import forked
from tests.support.postgres import Server, name_of
from tests.support.processes import clean_environment
from tests.support.world import World

MIB = 2**20


def grow(world: World, mib: int) -> None:
    """Write so much into the database, in transactions of a MiB."""
    for number in range(mib):
        world.database.set_meta(f"test:{number % 4}", bytes([number % 256]) * MIB)


def told(home: Path, *arguments: str) -> str:
    """Return what a command prints."""
    return forked.geocrawl(arguments, env=clean_environment(home)).stdout


def test_a_reader_of_a_file_that_lets_its_log_grow_is_told_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    world = World(path)
    world.seed("a.example/")
    world.settle(world.lease())
    daemon = Store.open(path, clock=SystemClock())
    life = daemon.database.life
    life.has_thread = False  # a beat at the wrong moment would read the file, too
    DaemonLock(daemon.database).acquire(time.time())
    look = ("status", "--db", str(path)), ("check", "--silent-for", "1000000", "--db", str(path))
    grow(world, LOG_BYTES // MIB + 20)
    assert world.database.connection.open_snapshot() is None, "nobody reads: the log begins again"
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM meta").fetchone()
        grow(world, 2 * LOG_BYTES // MIB + 20)
        held = world.database.connection.open_snapshot()
        assert held is not None and held.log_bytes is not None and held.log_bytes >= 2 * LOG_BYTES
        line = f"the write-ahead log has grown to {held.log_bytes / MIB:,.0f} MiB, because a program still reads an old"
        life.beat()
        shown = [told(tmp_path, *each) for each in look]
        assert f" snapshot: {line} state of the file" in shown[0] and f"`fuser {path}`" in shown[0]
        assert shown[1].startswith(f"GEOCRAWL WARNING - snapshot: {line}")
    grow(world, 2)
    assert path.with_name("c.db-wal").stat().st_size <= LOG_BYTES, "the log began again, and its file was cut"
    life.beat()
    shown = [told(tmp_path, *each) for each in look]
    assert " snapshot: " not in shown[0] and shown[1].startswith("GEOCRAWL OK")
    daemon.close()
    world.store.close()


@contextmanager
def session(url: str, *, isolation: str) -> Iterator[Any]:
    """Connect as another program, and begin a transaction."""
    import psycopg

    with closing(psycopg.connect(url, application_name="report", autocommit=True)) as connection:
        connection.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        yield connection


@pytest.mark.parametrize(
    ("isolation", "statement", "holds"),
    [
        ("REPEATABLE READ", "SELECT count(*) FROM geocrawl.meta", True),
        ("READ COMMITTED", "CREATE TABLE of_another (x int)", True),
        ("READ COMMITTED", "SELECT count(*) FROM geocrawl.meta", False),
    ],
)
def test_a_session_that_holds_back_vacuum_is_named(
    postgres_url: str, isolation: str, statement: str, holds: bool
) -> None:
    world = World(postgres_url)
    ours = world.database.connection
    try:
        with session(postgres_url, isolation=isolation) as other:
            other.execute(statement)
            held = ours.open_snapshot(older_than_s=0.0)
            assert (held is not None) is holds
            assert ours.open_snapshot() is None, "it is only some moments old"
            if held is not None:
                assert (held.pid, held.log_bytes) == (other.info.backend_pid, None)
                assert held.holder == "report, user geocrawl, idle in transaction"
                ours.execute(f"SELECT pg_terminate_backend({held.pid})")
        until = time.monotonic() + 240
        while ours.open_snapshot(older_than_s=0.0) is not None:
            assert time.monotonic() < until, "it ends with its session"
            time.sleep(0.02)
    finally:
        world.store.close()


def test_status_names_the_session_and_how_it_is_ended(postgres_url: str) -> None:
    world = World(postgres_url)
    with session(postgres_url, isolation="REPEATABLE READ") as other:
        other.execute("SELECT count(*) FROM geocrawl.meta")
        held = world.database.connection.open_snapshot(older_than_s=0.0)
        assert held is not None
        found = replace(
            read_status(world.database.connection, world.clock.now()), open_snapshot=replace(held, age_s=720.0)
        )
    lines = [*status_lines(found, world.database.path, world.clock.now(), Settings())]
    (line,) = [line for line in lines if " snapshot: " in line]
    assert "open for 12m (report, user geocrawl, idle in transaction)" in line
    assert f"SELECT pg_terminate_backend({held.pid})" in line
    assert any(name_of(postgres_url) in line for line in lines)
    found = replace(found, open_snapshot=replace(held, holder="a\n\x1b[31mb"))
    assert any("(a b)" in line for line in status_lines(found, world.database.path, world.clock.now(), Settings()))
    world.store.close()


def test_sessions_of_other_users_are_seen_with_the_right_that_is_documented(
    postgres_server: Server, postgres_url: str
) -> None:
    create = "DO $$ BEGIN CREATE ROLE onlooker LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    postgres_server.command(create)
    postgres_server.command("REVOKE pg_read_all_stats FROM onlooker")
    World(postgres_url).store.close()
    onlooker = PostgresConnection(server_of(postgres_url.replace("geocrawl@", "onlooker@")), reads_only=True)
    with session(postgres_url, isolation="REPEATABLE READ") as other:
        other.execute("SELECT count(*) FROM geocrawl.meta")
        assert onlooker.open_snapshot(older_than_s=0.0) is None
        postgres_server.command("GRANT pg_read_all_stats TO onlooker")
        held = onlooker.open_snapshot(older_than_s=0.0)
        assert held is not None and held.pid == other.info.backend_pid
    onlooker.close()


def test_sessions_of_another_database_do_not_count(postgres_server: Server, postgres_url: str) -> None:
    world = World(postgres_url)
    with session(postgres_server.url("postgres"), isolation="REPEATABLE READ") as other:
        other.execute("SELECT count(*) FROM pg_class")
        assert world.database.connection.open_snapshot(older_than_s=0.0) is None
    world.store.close()
