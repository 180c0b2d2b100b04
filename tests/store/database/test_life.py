"""Processes live by their heartbeats: a killed one is known at once, a stopped one soon, and none comes back."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geocrawl.store.database import life
from geocrawl.store.database.life import BEAT_S, SILENT_BEATS, Owner, is_alive
from tests.support.parts import NAMESPACES, lack
from tests.support.world import World

pytestmark = pytest.mark.machine

UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
LEASE_AND_WAIT = """
import sys
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database import life
from geocrawl.model import State, Visit
life.BEAT_S = float(sys.argv[2])
if sys.argv[3] == "unseen":
    from geocrawl.store.database.connection import Connection
    from geocrawl.store.database.postgres.connection import PostgresConnection
    from geocrawl.store.database.sqlite.connection import SqliteConnection
    PostgresConnection.hold = SqliteConnection.hold = Connection.hold
store = Store.open(sys.argv[1], clock=SystemClock())
frontier = store.frontier(Settings(delay_s=0.0), store.catalog())
lease = frontier.lease()
print(lease and lease.entry.url.address, store.database.life.owner, sep="\\n", flush=True)
for line in sys.stdin:
    visit = Visit(lease=lease, state=State.VISITED, reason="ok", host=lease.host, at=store.clock.now(), http_status=200)
    print(frontier.settle(visit).ignored, flush=True)
"""


@contextmanager
def leasing(place: str, *prefix: str, beat_s: float = BEAT_S, lock: str = "seen") -> Iterator[subprocess.Popen[str]]:
    """A process that leases a host and keeps the lease until it may end, or settles its visit."""
    command = [*prefix, sys.executable, "-c", LEASE_AND_WAIT, place, str(beat_s), lock]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def fresh(place: str) -> str:
    """A database with one page."""
    world = World(place)
    world.seed("a.example/")
    world.store.close()
    return place


def test_a_name_is_read_as_it_was_written() -> None:
    owner = Owner("here", 17, "0123abcd")
    assert (owner.text, owner.short, str(owner)) == ("here 0123abcd:17", "here:17", "process 17 on here")
    assert Owner.read(owner.text) == owner
    assert Owner.read("nobody").pid == 0


def test_a_killed_process_is_known_to_have_ended_at_once(shared_url: str) -> None:
    place = fresh(shared_url)
    with leasing(place) as first:
        assert said(first) == "http://a.example/"
        owner = said(first)
        world = World(place, owner="other:1")
        assert world.frontier.lease() is None
        assert is_alive(world.database.connection, owner, time.time())
        first.kill()
        first.wait()
        time.sleep(0.2)  # the server notices the end of the session
        assert not is_alive(world.database.connection, owner, time.time())
        assert world.frontier.release_dead() == 1
        assert world.store.database.connection.execute("SELECT kills FROM url").fetchone() == (1,)
        world.store.close()
    with leasing(place) as again:
        assert said(again) in ("http://a.example/", "None"), "a restart waits for the delay alone"


@pytest.mark.parametrize("lock", ["seen", "unseen"])
def test_a_stopped_process_settles_nothing_when_it_goes_on(shared_url: str, lock: str) -> None:
    place = fresh(shared_url)
    with leasing(place, beat_s=0.2, lock=lock) as first:
        said(first)
        owner = said(first)
        first.send_signal(signal.SIGSTOP)
        world = World(place, owner="other:1")
        life, connection = world.database.life, world.database.connection
        for _ in range(SILENT_BEATS):
            assert not life.is_silent(owner)
            life.beat()
        life.beat()
        assert life.is_silent(owner) and life.has_ended(owner, connection) == (lock == "unseen")
        assert world.frontier.release_dead() == (lock == "unseen")
        world.clock.time = max(time.time(), *connection.execute("SELECT lease_until, next_at FROM host").fetchone()) + 1
        lease = world.lease()
        first.send_signal(signal.SIGCONT)
        assert first.stdin is not None
        first.stdin.write("settle\n")
        first.stdin.flush()
        assert said(first) == "True", "another process has leased the host since"
        assert not world.settle(lease).ignored
        world.store.close()


def test_a_process_that_beats_is_alive_however_wrong_its_clock(shared_url: str) -> None:
    one, other = World(shared_url, owner="one:1"), World(shared_url, owner="other:1")
    one.clock.time += 1e9
    for _ in range(3 * SILENT_BEATS):
        one.database.life.beat()
        other.database.life.beat()
    assert not other.database.life.has_ended("one:1", other.database.connection)
    assert not one.database.life.has_ended("other:1", one.database.connection)


def test_who_could_not_write_meanwhile_takes_nobody_for_dead(shared_url: str) -> None:
    one, other = World(shared_url, owner="one:1"), World(shared_url, owner="other:1")
    other.database.life.beat()
    other.clock.time += 3600.0  # the machine slept, or the database was away
    one.clock.time += 3600.0
    other.database.life.beat()
    assert not other.database.life.has_ended("one:1", other.database.connection)


def test_an_end_is_said_and_a_process_that_never_beat_is_not_called_dead(shared_url: str) -> None:
    one, other = World(shared_url, owner="one:1"), World(shared_url, owner="other:1")
    connection = other.database.connection
    assert not other.database.life.has_ended("unknown:1", connection)
    one.store.close()
    assert other.database.life.has_ended("one:1", connection)
    assert not is_alive(connection, "one:1", other.clock.now())


def test_a_thread_beats_while_the_loop_stalls(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life, "BEAT_S", 0.05)
    world, watching = World(shared_url, owner="one:1"), World(shared_url, owner="other:1")
    world.store.close()
    own = life.Life(world.clock, world.database.life._connect)
    own.begin()
    for _ in range(2 * SILENT_BEATS):
        beats = own._beats
        while own._beats == beats:
            time.sleep(0.01)  # as a loop that is busy
        watching.database.life.beat()
    assert not watching.database.life.has_ended(own.owner, watching.database.connection)
    own.end()
    assert watching.database.life.has_ended(own.owner, watching.database.connection)


@pytest.mark.parametrize("first_prefix", [(), UNSHARE], ids=["seen from within", "seen from without"])
def test_the_end_of_a_process_is_known_in_another_pid_namespace(tmp_path: Path, first_prefix: tuple[str, ...]) -> None:
    if shutil.which("unshare") is None or subprocess.run([*UNSHARE, "true"], check=False).returncode:
        lack(NAMESPACES)
    place = fresh(str(tmp_path / "c.db"))
    second_prefix = () if first_prefix else UNSHARE
    with leasing(place, *first_prefix) as first:
        assert said(first) == "http://a.example/"
        with leasing(place, *second_prefix) as second:
            assert said(second) == "None", "it lives"
    World(place).store.close()  # it ends the lease of the killed one
    time.sleep(0.1)
    with leasing(place, *second_prefix) as third:
        assert said(third) in ("http://a.example/", "None")
        assert World(place).database.connection.execute("SELECT kills FROM url").fetchone() == (1,)
