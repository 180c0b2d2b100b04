"""A database that an older program wrote is brought up to date once and whole, on either engine; others are refused."""

from __future__ import annotations

import gzip
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
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
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.database import migrations
from geocrawl.store.database.migrations import REVISIONS
from geocrawl.store.database.postgres import opening as postgres
from geocrawl.store.database.postgres.connection import WRITERS
from geocrawl.store.database.schema.models import METADATA
from geocrawl.store.database.sqlite import opening as sqlite
from geocrawl.store.frontier.counters import read_stats
from geocrawl.store.store import Store
from tests.support.daemons import wait_for
from tests.support.invariants import check_invariants
from tests.support.postgres import Server
from tests.support.world import ManualClock, World, link, verdict

FOLDER = Path(__file__).parent
"""Holds a catalogue of the schema 0028 on each engine, with rows of every table: the demo's web, crawled and probed
with a limit on depth by the program of commit 0504a682, whose daemon was killed in the end."""
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
CHANGED = {
    "endpoint": {"every_s", "whole_at", "usual_ms", "speed"},
    "outlinks": {"moved"},
    "search_change": {"seq"},
    "service": {"licence", "time_start", "time_end", "language"},
    "layer": {"time_start", "time_end", "time_step", "min_scale", "max_scale", "fields", "licence", "language"},
    "evidence": {"time_start", "time_end"},
    "search_entry": {"fields"},
    "pattern": {"fruitless", "late"},
    "url": {"link_relevance", "sub_queue"},
    "watch": {"every_s"},
}
ADDED = {"downtime", "probe_sum", "source", "source_list", "source_record", "source_service"}
BY_SUB_QUEUE = ("visits:page", "visits:link", "visits:sub-queue", "led:page", "led:link", "led:sub-queue", "queued:")
"""Counters of levels, and those of sub-queues in their place."""
PASSING = ("strategy:learner-until", "daemon:lease", "worker:")
"""Facts that the former program alone read, and the heartbeat of this process."""
KILLED = """
import os, signal, sys
from alembic import op
from geocrawl.fetch.clock import SystemClock
from geocrawl.store import Store

execute = op.execute
def killed(*arguments):
    execute(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
op.execute = killed
Store.open(sys.argv[1], clock=SystemClock())
"""
"""Opens a database to upgrade it, and is killed when a part of the upgrade is done."""


def old_file(folder: Path, name: str = "old.db") -> str:
    path = folder / name
    path.write_bytes(gzip.decompress((FOLDER / "catalogue_0028.db.gz").read_bytes()))
    return str(path)


def old_on_server(server: Server) -> str:
    url = server.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(gzip.decompress((FOLDER / "catalogue_0028_postgres.sql.gz").read_bytes()))
    return url


@pytest.fixture(params=["disk", "postgres"])
def old_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of the schema 0028."""
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
    """Return the rows of all tables in the columns of the schema 0028, without what an upgrade changes on purpose."""
    tables = {}
    for table in (each for each in METADATA.sorted_tables if each.name not in ADDED):
        names = sorted({column.name for column in table.columns} - CHANGED.get(table.name, set()))
        quoted = ", ".join(f'"{name}"' for name in names)
        tables[table.name] = rows(url, f"SELECT {quoted} FROM {table.name}")
    tables["counter"] = [row for row in tables["counter"] if not row[0].startswith(BY_SUB_QUEUE)]
    tables["meta"] = [row for row in tables["meta"] if not row[0].startswith(PASSING)]
    return tables


def limit_depth(url: str, limit: str) -> None:
    """Let the last crawl have had this limit on depth; 1000000: none."""
    kind = "bytea" if url.startswith("postgresql") else "BLOB"
    write(url, f"UPDATE meta SET value = CAST('{limit}' AS {kind}) WHERE name = 'max_depth'")


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
    assert [name for name, of_table in before.items() if not of_table and name != "search_change"] == []
    world = World(old_url, Settings(delay_s=0, max_fruitless_per_pattern=0, max_depth=5))  # as its last crawl
    after = contents(old_url)
    assert {name: (before[name], after[name]) for name in before if before[name] != after[name]} == {}
    assert version(old_url) == REVISIONS[-1]
    assert world.database.meta("strategy:learner-until") is None
    world.clock.time = 2e9
    while probe := world.frontier.lease(pages=False):
        world.settle(probe, verdict=verdict())
    visited = [world.visit(link(f"later{n}.example/", tier=20)) for n in range(12)]
    assert [world.row(each)[0] for each in visited] == [State.VISITED] * 12
    check_invariants(world.database.connection)


def test_the_catalogue_is_read_as_it_was_written(old_url: str) -> None:
    open_and_close(old_url)
    numbers = [number for (number,) in rows(old_url, "SELECT id FROM service ORDER BY id")]
    with Catalogue(old_url) as catalogue:
        found = catalogue.find("map").services
        details = [catalogue.service(number) for number in numbers]
        changes = list(catalogue.changes(0.0, 10))
    assert found > 5 and len(details) == len(numbers) > 20 and changes
    assert all(each is not None and each.service.url for each in details)


def test_links_of_visited_pages_go_where_no_limit_on_depth_is_set(old_url: str) -> None:
    limit_depth(old_url, "1000000")
    before = rows(old_url, "SELECT count(*) FROM outlinks")
    open_and_close(old_url)
    assert before != [(0,)] and rows(old_url, "SELECT count(*) FROM outlinks") == [(0,)]


def test_addresses_that_were_served_late_count_no_more_as_fruitless(old_url: str) -> None:
    write(old_url, "UPDATE pattern SET fruitless = 7, late = 3")
    open_and_close(old_url)
    assert set(rows(old_url, "SELECT fruitless, late FROM pattern")) == {(4, 0)}


def test_visits_are_counted_by_the_sub_queue_of_their_page(old_url: str) -> None:
    levels = "SELECT coalesce(3 * page.link_relevance + coalesce(parent.relevance, 0), 0), page.led FROM url AS page "
    levels += "JOIN url AS parent ON parent.id = page.found_on WHERE page.visit_tier IS NOT NULL"
    before = Counter(number for number, _ in rows(old_url, levels))
    open_and_close(old_url)
    with Store.open_readonly(old_url) as connection:
        stats = read_stats(connection, 2e9)
        check_invariants(connection)
    after = {number: each.visited for number, each in stats.visits_by_sub_queue.items()}
    (seeds,) = rows(old_url, "SELECT count(*) FROM url WHERE depth = 0 AND found_on IS NULL AND visit_tier IS NOT NULL")
    assert len(before) == 3 and after == {**before, 8: before.get(8, 0) + seeds[0]}
    assert sum(each.led for each in stats.visits_by_sub_queue.values()) > 0


def test_a_killed_upgrade_leaves_the_database_as_it_was_and_the_next_one_is_whole(old_url: str) -> None:
    before = contents(old_url)
    done = subprocess.run([sys.executable, "-c", KILLED, old_url], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (version(old_url), contents(old_url)) == ("0028", before)
    open_and_close(old_url)
    after = contents(old_url)
    assert {n: (before[n], after[n]) for n in before if before[n] != after[n]} == {}


MANY = 1_000_000
NUMBERS = {
    "sqlite": f"WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {MANY})",
    "postgresql": f"WITH n(n) AS (SELECT generate_series(1, {MANY}))",
}
MANY_ROWS = (
    "{numbers} INSERT INTO url (id, key, address, purpose, host_id, state, depth, tier, score, first_seen) SELECT "
    "1000000 + n, n, 'http://many.example/' || n, 'page', 1, 'waiting', 2, 3, 0.5, 1.0 FROM n",
    "{numbers} INSERT INTO outlinks (url_id, links) SELECT 1000000 + n, (SELECT links FROM outlinks LIMIT 1) FROM n",
    "{numbers} INSERT INTO pattern (key, fruitless, finds, last_relevance, late) SELECT -n, 5, 0, 0, 2 FROM n",
    f"UPDATE host SET waiting = waiting + {MANY} WHERE id = 1",
)


@pytest.mark.long
@pytest.mark.parametrize("limit", ["5", "1000000"])
def test_an_upgrade_of_a_million_addresses_that_is_killed_half_way_can_be_repeated(old_url: str, limit: str) -> None:
    numbers = NUMBERS["postgresql" if old_url.startswith("postgresql") else "sqlite"]
    for statement in MANY_ROWS:
        write(old_url, statement.format(numbers=numbers))
    limit_depth(old_url, limit)
    links, sums = "SELECT count(*) FROM outlinks", "SELECT count(*), sum(length(address)), max(id) FROM url"
    before = rows(old_url, links), rows(old_url, sums)
    assert before[0][0][0] > MANY and before[1][0][0] > MANY
    assert subprocess.run([sys.executable, "-c", KILLED, old_url], check=False).returncode == -signal.SIGKILL
    assert (version(old_url), rows(old_url, links), rows(old_url, sums)) == ("0028", *before)
    begun = time.monotonic()
    open_and_close(old_url)
    assert time.monotonic() - begun < 120
    assert (version(old_url), rows(old_url, sums)) == (REVISIONS[-1], before[1])
    assert rows(old_url, links) == (before[0] if limit == "5" else [(0,)])
    late = "SELECT count(*) FROM pattern WHERE key < 0 AND key >= -1000000 AND fruitless = 3 AND late = 0"
    assert rows(old_url, late) == [(MANY,)]


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


OLDER = r"development version \(schema 0027, .*from 0028\); let the program of commit 0504a682 upgrade it first"


@pytest.mark.parametrize("attempt", [open_and_close, lambda url: Store.open_readonly(url).__enter__()])
@pytest.mark.parametrize(
    ("revision", "said"), [("0027", OLDER), ("0030", r"\(schema 0030, .*from 0028\); begin a new one \(--db")]
)
def test_a_database_of_a_development_version_is_refused_with_what_to_do(
    old_url: str, attempt: Callable[[str], object], revision: str, said: str
) -> None:
    write(old_url, f"UPDATE alembic_version SET version_num = '{revision}'")
    before = contents(old_url)
    with pytest.raises(DatabaseFault, match=said):
        attempt(old_url)
    assert contents(old_url) == before


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
