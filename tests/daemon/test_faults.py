"""Faults that a daemon survives: nothing settled is lost, and it goes on by itself."""

from __future__ import annotations

import resource
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from geocrawl.demo.web import SEEDS, DemoWeb
from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.model import State, Visit
from geocrawl.store.database.connection import BUSY_S
from geocrawl.store.database.database import Database
from geocrawl.store.database.sqlite.connection import SqliteConnection
from geocrawl.store.frontier.lifecycle import settled_state
from geocrawl.store.upkeep.backup import restore
from tests.support.daemons import LIMIT_S, Daemon, Place, wait_for
from tests.support.parts import ROOT_USER, lack
from tests.support.proxies import MortalProxy
from tests.support.world import ManualClock, World

pytestmark = pytest.mark.machine

WAITING = "waiting for the database"
SLOWLY = ("--delay", "0.25", "--workers", "2")
"""The demo lasts long enough to be struck in its middle."""
IN_VAIN = "('dns', 'proxy', 'refused', 'robots-unreachable', 'reset')"


@contextmanager
def struck(place: Place, least: int = 5) -> Iterator[tuple[Daemon, DemoWeb]]:
    """Yield a daemon amid a crawl of the demo's web, for a fault; afterwards it must complete the catalogue."""
    with DemoWeb() as web:
        place.start_pages(web)
        with place.daemon("--proxy", web.proxy_url, *SLOWLY) as daemon:
            wait_for(lambda: len(place.settled()) >= least, "a few visits")
            before = place.settled()
            yield daemon, web
            goes_on(place)
            wait_for(lambda: web.expected_valid <= place.valid(), "the demo's services after the fault")
            assert daemon.end() == 0
    assert before <= place.settled()
    assert place.intact()


def goes_on(place: Place) -> None:
    """Wait for the next settled visit."""
    now = time.time()
    wait_for(lambda: place.last_settled() > now, "a visit after the fault")


@pytest.mark.long
def test_it_waits_out_a_lock_says_so_and_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path / "x")
    with struck(place) as (daemon, _), closing(sqlite3.connect(place.db, timeout=120, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        wait_for(lambda: daemon.says(WAITING), "the daemon says that it waits for the database")
        other.execute("ROLLBACK")


@pytest.mark.long
def test_it_waits_until_the_disk_has_room_again(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        place = Place(tmp_path / "home", db=disk / "c.db")
        with struck(place) as (daemon, _):
            fill(disk / "other")
            wait_for(lambda: daemon.says(WAITING), "a word about the disk")
            (disk / "other").unlink()


@pytest.mark.long
def test_it_waits_until_files_may_grow_again(tmp_path: Path) -> None:
    place = Place(tmp_path / "x")
    with struck(place) as (daemon, _):
        wal = place.db.with_name(place.db.name + "-wal")
        unlimited = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (wal.stat().st_size, unlimited[1]))
        wait_for(lambda: daemon.says(WAITING), "a word about the file")
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, unlimited)


def test_it_waits_for_a_lock_at_its_start_and_systemd_waits_with_it(tmp_path: Path) -> None:
    place = Place(tmp_path / "x")
    with DemoWeb() as web, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(place.folder / "notify"))
        systemd.settimeout(LIMIT_S)
        place.start_pages(web)
        with closing(sqlite3.connect(place.db, timeout=120, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            options = ("--proxy", web.proxy_url, *SLOWLY)
            with place.daemon(*options, NOTIFY_SOCKET=str(place.folder / "notify")) as daemon:
                assert systemd.recv(4096).startswith(b"EXTEND_TIMEOUT_USEC=")
                other.execute("ROLLBACK")
                goes_on(place)
                assert any(systemd.recv(4096) == b"READY=1" for _ in range(100))
                assert daemon.end() == 0
    assert place.intact()


def test_it_waits_for_room_at_its_start(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk, DemoWeb() as web:
        place = Place(tmp_path / "home", db=disk / "c.db")
        place.start_pages(web)
        fill(disk / "other")
        with place.daemon("--proxy", web.proxy_url, *SLOWLY) as daemon:
            wait_for(lambda: daemon.says(WAITING), "a word about the disk")
            (disk / "other").unlink()
            goes_on(place)
            assert daemon.end() == 0
        assert place.intact()


def test_a_damaged_database_is_found_at_start_and_a_backup_takes_its_place(tmp_path: Path) -> None:
    place, backup = Place(tmp_path / "x"), tmp_path / "backup.db"
    with DemoWeb() as web:
        place.start_pages(web)
        with place.daemon("--proxy", web.proxy_url, "--delay", "0") as daemon:
            wait_for(lambda: web.expected_valid <= place.valid(), "the demo's services")
            daemon.end()
        before = place.settled()
        place.command("backup", str(backup))
        damage(place.db)
        with place.daemon("--proxy", web.proxy_url) as daemon:
            assert daemon.process.wait(LIMIT_S) == 3
            said = daemon.log().strip().splitlines()[-1]
            assert "geocrawl restore" in said and "Traceback" not in daemon.log()
        place.command("restore", str(backup))
        with place.daemon("--proxy", web.proxy_url) as daemon:
            wait_for(lambda: daemon.says("started"), "the daemon on the restored database")
            daemon.end()
    assert before <= place.settled()


def test_of_two_that_start_together_one_lives(tmp_path: Path) -> None:
    place = Place(tmp_path / "x")
    with DemoWeb() as web:
        options = ("--proxy", web.proxy_url, *SLOWLY)
        with place.daemon(*options) as first, place.daemon(*options) as second:
            both = (first, second)
            wait_for(lambda: sum(each.process.poll() is not None for each in both) == 1, "one of the two ends")
            loser, winner = both if first.process.poll() is not None else both[::-1]
            wait_for(lambda: winner.says("started"), "the other one starts")
            assert loser.process.returncode == 3
            assert f"process {winner.process.pid}" in loser.log()
            assert winner.end(signal.SIGTERM) == 0


def test_a_few_seconds_without_a_proxy_leave_no_trace(tmp_path: Path) -> None:
    place = Place(tmp_path / "x")
    place.command("seeds", "add", *SEEDS)
    with MortalProxy() as proxy, place.daemon("--proxy", proxy.url, "--delay", "1", "--workers", "2") as daemon:
        wait_for(lambda: len(place.settled()) >= 25, "some visits")
        before, began = place.settled(), time.time()
        proxy.kill()
        time.sleep(4.0)
        failed = f"SELECT count(*) FROM url WHERE reason IN {IN_VAIN} AND settled_at >= ?"
        assert place.number(failed, began) == 0
        proxy.start()
        recovers_without_a_trace(place, daemon, before, began)


RESOLVER = """
import asyncio, os, socket
_real, _connect = socket.getaddrinfo, asyncio.SelectorEventLoop.sock_connect
def getaddrinfo(host, port, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else host
    if not name or not name.endswith(".example"):
        return _real(host, port, *rest, **more)
    if os.path.exists(os.environ["NAMES_DOWN"]):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]
async def sock_connect(loop, sock, address):
    if address[0] == "127.0.0.1":
        address = ("127.0.0.1", int(os.environ["WEB_PORT"]))
    await _connect(loop, sock, address)
socket.getaddrinfo, asyncio.SelectorEventLoop.sock_connect = getaddrinfo, sock_connect
"""
"""The resolver of the daemon's process: a web on one port of this machine, and a switch."""


@pytest.mark.long
def test_a_few_seconds_without_names_leave_no_trace(tmp_path: Path) -> None:
    place, switch = Place(tmp_path / "x"), tmp_path / "names-down"
    (place.folder / "sitecustomize.py").write_text(RESOLVER)
    with DemoWeb() as web:
        place.start_pages(web)
        environ = {
            "PYTHONPATH": str(place.folder),
            "NAMES_DOWN": str(switch),
            "WEB_PORT": web.proxy_url.rpartition(":")[2],
            "GEOCRAWL_REQUESTS_PER_IP": "0",  # all names lead to one address
            "GEOCRAWL_ECONOMY": "0",  # new hosts are visited meanwhile, so that names are looked up
        }
        with place.daemon("--allow-private", "--delay", "1", "--workers", "8", **environ) as daemon:
            wait_for(lambda: len(place.settled()) >= 2, "some visits")
            before, began = place.settled(), time.time()
            switch.touch()  # names that were looked up are remembered: it is a new one that tells
            wait_for(lambda: daemon.says("nothing is recorded as failed"), "a new name to be looked up")
            switch.unlink()
            recovers_without_a_trace(place, daemon, before, began)


def recovers_without_a_trace(place: Place, daemon: Daemon, before: set[str], began: float) -> None:
    """Wait for the next answer; nothing was lost, given up or written into the history of services."""
    answered = "SELECT count(*) FROM url WHERE settled_at > ? AND http_status IS NOT NULL"
    now = time.time()
    wait_for(lambda: place.number(answered, now), "an answer after the fault")
    assert daemon.says("nothing is recorded as failed")
    assert daemon.end() == 0
    given_up = f"SELECT count(*) FROM url WHERE state = 'failed' AND retry_at IS NULL AND reason IN {IN_VAIN}"
    assert place.number(given_up) == 0
    assert place.number(f"SELECT count(*) FROM probe WHERE at >= ? AND reason IN {IN_VAIN}", began) == 0
    assert before <= place.settled()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a file system of 96 MiB, room for a crawl of the demo; the test skips where none may be mounted."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=96m", "none", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        lack(ROOT_USER)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write a file until its file system has no byte left."""
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 512):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def damage(path: Path) -> None:
    """Overwrite every eighth page of a database."""
    page, size = 4096, path.stat().st_size
    with path.open("r+b") as file:
        for start in range(8 * page, size - page, 8 * page):
            file.seek(start)
            file.write(b"\xa5" * page)


# --------------------------------------------------------------------------- parts


def test_who_waited_for_the_lock_in_vain_does_not_wait_as_long_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, waits_ms = Database.open(tmp_path / "c.db", create=True, clock=ManualClock()), list[int]()
    mine.connection.wait_for_lock(100)
    monkeypatch.setattr(SqliteConnection, "wait_for_lock", lambda self, wait_ms: waits_ms.append(wait_ms))
    with closing(sqlite3.connect(tmp_path / "c.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(4):
            with pytest.raises(PassingFault):
                mine.set_meta("a", "b")
        assert waits_ms == [100], "told once, after the first time"
        other.execute("ROLLBACK")
    for text in "bc":
        mine.set_meta("a", text)
    assert waits_ms == [100, BUSY_S * 1000], "it waits as long as at first"
    assert mine.meta("a") == "c"


def test_damage_is_found_and_no_time_is_no_finding(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed(*[f"a.example/{'x' * 500}{n}" for n in range(3000)])
    assert world.database.connection.check(20.0)
    assert not world.database.connection.check(-1.0)
    world.database.close()
    damage(tmp_path / "c.db")
    with closing(SqliteConnection.open(tmp_path / "c.db")) as connection, pytest.raises(DatabaseFault, match="restore"):
        connection.check(20.0)


def test_what_is_no_database_any_more_can_be_restored(tmp_path: Path) -> None:
    World(tmp_path / "good.db").database.close()
    (tmp_path / "c.db").write_bytes(b"\xa5" * 8192)
    kept = restore(tmp_path / "good.db", tmp_path / "c.db", 0.0)
    assert kept is not None and kept.read_bytes() == b"\xa5" * 8192
    Database.open(tmp_path / "c.db", create=False, clock=ManualClock()).close()


def test_a_host_that_is_too_busy_for_a_day_costs_an_address_few_of_its_tries(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed("a.example/")
    lease = world.lease()
    world.settle(lease, state=State.FAILED, reason="http-429", retry_after_s=600.0)

    def tried(reason: str, attempts: int) -> bool:
        visit = Visit(lease, State.FAILED, reason, lease.host, 0.0, retry_after_s=600.0)
        return settled_state(visit, attempts, 3)[1] is not None

    assert tried("http-429", 11) and tried("http-503", 11) and not tried("http-429", 12)
    assert tried("dns", 2) and not tried("dns", 3)
