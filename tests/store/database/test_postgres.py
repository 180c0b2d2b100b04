"""PostgreSQL's own: what cannot be used is told in one line without secrets, and a server may come and go."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from geocrawl.errors import DatabaseFault, NoRoom, PassingFault
from geocrawl.model import State
from geocrawl.store.database.postgres.connection import PostgresConnection
from geocrawl.store.database.postgres.opening import OLDEST_SERVER
from geocrawl.store.store import Store
from geocrawl.urls.database import server_of
from tests.support.invariants import check_invariants
from tests.support.places import ROOT
from tests.support.postgres import Server, running_server
from tests.support.world import ManualClock, World, link

pytestmark = pytest.mark.machine

SCHEMA = Path(__file__).parents[3] / "geocrawl" / "store" / "database" / "schema"


def opened(url: str, *, create: bool = True) -> None:
    Store.open(url, clock=ManualClock(), create=create).close()


def test_what_cannot_be_used_is_told_in_one_line_without_the_password(postgres_server: Server) -> None:
    host = postgres_server.folder
    for url, told in (
        (f"postgresql://geocrawl:hunter2@/nothing?host={host}", "has no such database"),
        (f"postgresql://nobody:hunter2@/postgres?host={host}", "refuses this user"),
        ("postgresql://geocrawl:hunter2@127.0.0.1:1/postgres", "cannot be reached"),
        ("postgresql://geocrawl:hunter2@/postgres?host=/nowhere&bad=1", "invalid"),
    ):
        with pytest.raises(DatabaseFault, match=told) as caught:
            opened(url)
        line = str(caught.value)
        assert "hunter2" not in line and "\n" not in line and line.startswith("postgresql://"), line


def test_a_database_without_tables_is_filled_by_a_crawl_alone(postgres_server: Server) -> None:
    url = postgres_server.new_database()
    assert not Store.exists(url)
    with pytest.raises(DatabaseFault, match="has no tables of geocrawl"):
        opened(url, create=False)
    with pytest.raises(DatabaseFault, match="is empty"), Store.open_readonly(url):
        pass
    opened(url)
    assert Store.exists(url)


def test_a_role_without_rights_is_told_which_document_lists_them(postgres_server: Server) -> None:
    url = postgres_server.new_catalogue()
    postgres_server.command("DO $$ BEGIN CREATE ROLE visitor LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    with pytest.raises(DatabaseFault, match=r"lacks a right .*docs/postgresql\.md lists") as caught:
        opened(url.replace("//geocrawl@", "//visitor:hunter2@"))
    assert "hunter2" not in str(caught.value)


def test_a_reader_reads_with_the_rights_that_the_documentation_grants(postgres_server: Server) -> None:
    url = postgres_server.new_catalogue()
    reader = url.replace("//geocrawl@", "//reader@")
    postgres_server.command("DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    with pytest.raises(DatabaseFault, match="lacks a right"), Store.open_readonly(reader):
        pass
    connection = PostgresConnection(server_of(url))
    for granted in re.findall(r"^GRANT .+ TO reader;$", (ROOT / "docs/postgresql.md").read_text("utf-8"), re.M):
        connection.execute(granted)
    connection.close()
    with Store.open_readonly(reader) as opened_again:
        assert opened_again.execute("SELECT count(*) FROM v_services").fetchone() == (0,)


def test_a_newer_and_a_foreign_schema_are_refused(postgres_server: Server) -> None:
    url = postgres_server.new_catalogue()
    connection = PostgresConnection(server_of(url))
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(DatabaseFault, match="written by a newer geocrawl"):
        opened(url)
    assert OLDEST_SERVER == 15


def test_a_reader_cannot_write(postgres_url: str) -> None:
    connection = PostgresConnection(server_of(postgres_url), reads_only=True)
    with pytest.raises(DatabaseFault, match="lets nothing be written"):
        connection.execute("DELETE FROM url")
    connection.close()


def test_nul_in_a_text_is_replaced(postgres_url: str) -> None:
    world = World(postgres_url)
    world.database.set_meta("a\0b", "c\0d")
    assert world.database.meta("a\ufffdb") == "c\0d"  # a value is bytes


def test_a_writer_waits_for_another_one_and_then_says_so(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world, other = World(postgres_url), PostgresConnection(server_of(postgres_url))
    other.begin()
    world.database.connection.wait_for_lock(50)
    with pytest.raises(PassingFault, match="others write to it"):
        world.seed("a.example/")
    other.execute("ROLLBACK")
    assert world.seed("a.example/") == 1
    other.close()


def test_a_full_disk_of_the_server_is_no_room_and_what_passes_by_itself_is_not(postgres_url: str) -> None:
    """The server raises the errors itself: no disk is filled."""
    raised = "DO $$ BEGIN RAISE 'no space left on device' USING ERRCODE = '{}'; END $$"
    connection = PostgresConnection(server_of(postgres_url))
    for code, is_full in (("53100", True), ("53200", False), ("40001", False)):
        with pytest.raises(PassingFault) as caught:
            connection.execute(raised.format(code))
        assert isinstance(caught.value, NoRoom) is is_full
        assert ("the server's disk is full; no settled visit is lost" in str(caught.value)) is is_full
    connection.close()


def test_a_transaction_that_the_server_ended_because_it_stood_still_is_made_again(postgres_url: str) -> None:
    world = World(postgres_url)
    world.database.connection.execute("SET idle_in_transaction_session_timeout = '50ms'")
    with pytest.raises(PassingFault, match="nothing was done for too long"), world.database.transaction:
        time.sleep(0.5)
        world.database.meta("a")
    assert world.seed("a.example/") == 1


@pytest.mark.acceptance
def test_a_killed_server_loses_nothing_that_was_settled() -> None:
    with running_server(hasty=False) as server:
        world = World(server.new_catalogue())
        world.seed("a.example/", "b.example/")
        first = world.visit(link("a.example/x"), link("c.example/y"))
        lease = world.lease()
        server.kill()
        with pytest.raises(PassingFault, match=r"connection was lost|cannot be reached"):
            world.settle(lease)
        with pytest.raises(PassingFault, match=r"cannot be reached"):
            world.settle(lease)
        server.start()
        assert not world.settle(lease, link("d.example/")).ignored
        assert world.row(first)[0] == State.VISITED == world.row(lease.entry.url.address)[0]
        assert world.row("c.example/y")[0] == State.WAITING == world.row("d.example/")[0]
        check_invariants(world.database.connection)


def test_a_worker_that_wakes_up_after_its_lease_ran_out_changes_nothing(postgres_url: str) -> None:
    slow, quick = World(postgres_url, owner="slow:1"), World(postgres_url, owner="quick:1")
    slow.seed("a.example/")
    lease = slow.lease()
    quick.clock.time = slow.clock.time + 1_000_000
    again = quick.lease()
    assert again.entry.id == lease.entry.id and again.token > lease.token
    assert slow.settle(lease, link("late.example/")).ignored
    assert not quick.settle(again, link("new.example/")).ignored
    known = [row[0] for row in quick.database.connection.execute("SELECT name FROM host ORDER BY id")]
    assert known == ["a.example", "new.example"]
    check_invariants(quick.database.connection)


def test_a_backend_that_was_ended_is_replaced(postgres_server: Server, postgres_url: str) -> None:
    world = World(postgres_url)
    pid = world.database.connection.execute("SELECT pg_backend_pid()").fetchone()[0]
    os.kill(int(pid), signal.SIGTERM)
    with pytest.raises(PassingFault):
        world.seed("a.example/")
    assert world.seed("a.example/") == 1


def test_a_reader_is_told_to_use_indexes_for_some_statements_alone(postgres_url: str) -> None:
    reader = PostgresConnection(server_of(postgres_url), reads_only=True)
    shown = "SHOW enable_seqscan"
    assert reader.execute(shown).fetchone() == ("on",)
    with reader.by_index():
        assert reader.execute(shown).fetchone() == ("off",)
    with pytest.raises(DatabaseFault, match="nothing"), reader.by_index():
        reader.execute("SELECT nothing")
    assert reader.execute(shown).fetchone() == ("on",)
    reader.close()
