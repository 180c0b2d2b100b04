"""A network that is cut between a worker and PostgreSQL is noticed within a bound, and nothing settled is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from geocrawl.errors import DatabaseFault, PassingFault, UnreachableServer
from geocrawl.model import State
from geocrawl.store.database.postgres import connection as engine
from geocrawl.store.database.postgres.connection import PostgresConnection
from geocrawl.urls.database import server_of
from tests.store.tcp_relay import TcpRelay
from tests.support.invariants import check_invariants
from tests.support.postgres import Server, running_server
from tests.support.world import World, link


@pytest.fixture
def relay(postgres_server: Server) -> Iterator[TcpRelay]:
    with TcpRelay(postgres_server.socket) as opened:
        yield opened


@pytest.fixture
def far_url(postgres_server: Server, postgres_url: str, relay: TcpRelay) -> str:
    """The URL of a catalogue behind the relay."""
    return postgres_server.url_over_tcp(postgres_url, relay.port) + "?connect_timeout=30"


def test_a_cut_connection_is_made_again_when_the_network_is_back(far_url: str, relay: TcpRelay) -> None:
    world = World(far_url)
    world.seed("a.example/", "b.example/")
    first, lease = world.visit(link("a.example/x")), world.lease()
    relay.cut()
    with pytest.raises(PassingFault, match=r"connection was lost|cannot be reached"):
        world.settle(lease)
    with pytest.raises(UnreachableServer):
        world.settle(lease)
    relay.mend()
    assert not world.settle(lease).ignored
    assert world.row(first)[0] == State.VISITED == world.row(lease.entry.url.address)[0]
    check_invariants(world.database.connection)


def test_a_short_silence_of_the_network_is_waited_for(far_url: str, relay: TcpRelay) -> None:
    world = World(far_url)
    world.seed("a.example/")
    lease = world.lease()
    relay.hold()
    threading.Timer(0.5, relay.mend).start()
    assert not world.settle(lease).ignored


def test_a_writer_that_vanished_without_a_word_is_ended_by_the_server(
    far_url: str, postgres_url: str, relay: TcpRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_WRITER_IDLE_S", 5)
    gone, other = PostgresConnection(server_of(far_url)), World(postgres_url)
    gone.begin()
    relay.lose_clients()
    other.database.connection.wait_for_lock(100)
    with pytest.raises(PassingFault, match="others write to it"):
        other.seed("a.example/")
    other.database.connection.wait_for_lock(30_000)
    assert other.seed("a.example/") == 1
    with pytest.raises(PassingFault):
        gone.execute("COMMIT")
    gone.close()


def test_both_sides_ask_a_quiet_peer_whether_it_is_there(far_url: str) -> None:
    connection = PostgresConnection(server_of(far_url))
    given = connection._live().info.get_parameters()
    assert int(given["keepalives_idle"]) + int(given["keepalives_interval"]) * int(given["keepalives_count"]) == 25
    assert given["tcp_user_timeout"] == "25000"
    limits = connection.execute(
        "SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp_%' OR name = 'idle_in_transaction_session_timeout'"
    ).fetchall()
    assert dict(limits)["idle_in_transaction_session_timeout"] == "30000"
    connection.close()


def test_what_the_url_says_of_the_connection_counts(far_url: str) -> None:
    connection = PostgresConnection(server_of(f"{far_url}&keepalives_idle=3&application_name=mine"))
    given = connection._live().info.get_parameters()
    assert (given["keepalives_idle"], given["application_name"]) == ("3", "mine")
    connection.close()


def test_a_server_without_a_connection_left_is_told_in_one_line_and_waited_for(postgres_server: Server) -> None:
    url = postgres_server.new_catalogue()
    world = World(url)
    world.seed("a.example/")
    lease = world.lease()
    others = list[psycopg.Connection[object]]()
    with pytest.raises(psycopg.OperationalError, match=r"too many|reserved"):
        while True:
            others.append(psycopg.connect(url))
    try:
        for _ in range(2):
            with pytest.raises(PassingFault, match="no connection left; raise max_connections") as caught:
                PostgresConnection(server_of(url))
            assert "\n" not in str(caught.value) and not isinstance(caught.value, UnreachableServer)
        assert not world.settle(lease).ignored  # who has a connection goes on
    finally:
        for each in others:
            each.close()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            PostgresConnection(server_of(url)).close()
            break
        except DatabaseFault:
            time.sleep(0.05)
    else:
        pytest.fail("no connection became free")


@pytest.mark.acceptance
def test_a_server_that_is_starting_or_stopping_is_waited_for() -> None:
    with running_server() as server:
        url = server.new_catalogue()
        server.kill()
        with pytest.raises(UnreachableServer):
            World(url)
        server.start()
        assert World(url).seed("a.example/") == 1
