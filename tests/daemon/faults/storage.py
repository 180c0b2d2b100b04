"""Faults that a daemon on the demo's web is put through, one function each: what was lost, how soon it went on.

Each returns a row of the fault table. A row's `lost` counts what was settled before the fault (pages visited, endpoints
with a verdict) and is not there after it; `recovered_s` runs from the end of the fault to the next settled visit.
"""

from __future__ import annotations

import random
import resource
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from geocrawl.demo.web import DemoWeb
from tests.daemon.faults.row import Row, goes_on, through, under_way
from tests.support.daemons import LIMIT_S, Daemon, Place, wait_for

WAITING = "waiting for the database"


def _completes(place: Place, web: DemoWeb) -> None:
    """The catalogue becomes that of an undisturbed crawl."""
    wait_for(lambda: web.expected_valid <= place.valid(), "the demo's services after the fault")


# --------------------------------------------------------------------------- the process


def killed(folder: Path, kills: int, seed: int = 7) -> Row:
    """kill -9 at random moments, a daemon started anew at once."""
    chance, place, lost, recovered = random.Random(seed), Place(folder), 0, list[float]()
    with DemoWeb() as web:
        place.start_pages(web)
        for _ in range(kills):
            with place.daemon(*through(web)) as daemon:
                begun = time.time()
                recovered.append(goes_on(place, begun))
                time.sleep(chance.uniform(0, 1))
                before = place.settled()
                daemon.end(signal.SIGKILL)
                lost += len(before - place.settled())
        with place.daemon("--proxy", web.proxy_url, "--delay", "0") as daemon:
            _completes(place, web)
            daemon.end()
    return Row(
        "the daemon is killed",
        f"kill -9 at {kills} random moments of one crawl",
        lost,
        max(recovered),
        {"kills": kills, "intact": place.intact(), "catalogue": "that of an undisturbed crawl"},
    )


def two_at_once(folder: Path, pairs: int) -> Row:
    """Pairs of daemons started in the same moment: one lives, the other names it and ends with 3."""
    place, longest = Place(folder), 0.0
    with DemoWeb() as web:
        for _ in range(pairs):
            with place.daemon(*through(web)) as first, place.daemon(*through(web)) as second:
                both = (first, second)
                longest = max(longest, wait_for(lambda: _ended(both) == 1, "one of the two ends"))  # noqa: B023
                loser, winner = both if both[0].process.poll() is not None else both[::-1]
                wait_for(lambda: winner.says("started"), "the other one starts")  # noqa: B023
                if loser.process.returncode != 3 or f"process {winner.process.pid}" not in loser.log():
                    raise SystemExit(f"it ended with {loser.process.returncode}: {loser.log()}")
                if winner.end() != 0:
                    raise SystemExit(winner.log())
    return Row(
        "two daemons at once",
        f"{pairs} pairs started together on one database",
        0,
        0.0,
        {"pairs": pairs, "exactly_one_lived": pairs, "the_other_ended_within_s": longest, "its_exit_code": 3},
    )


def _ended(daemons: tuple[Daemon, ...]) -> int:
    return sum(daemon.process.poll() is not None for daemon in daemons)


# --------------------------------------------------------------------------- the database


def locked(folder: Path, seconds: float) -> Row:
    """Another process holds the write lock."""
    place = Place(folder)
    with DemoWeb() as web:
        place.start_pages(web)
        with place.daemon(*through(web)) as daemon:
            before = under_way(place)
            with closing(sqlite3.connect(place.db, timeout=10, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                time.sleep(seconds)
                wait_for(lambda: daemon.says(WAITING), "the daemon says that it waits for the database")
                other.execute("ROLLBACK")
            freed = time.time()
            recovered = goes_on(place, freed)
            _completes(place, web)
            ended = daemon.end()
    return Row(
        "the database is locked",
        f"another process holds the write lock for {seconds:g} s, or until the daemon says so if that is later",
        len(before - place.settled()),
        recovered,
        {"said_so": True, "intact": place.intact(), "exit_code": ended},
    )


def locked_at_start(folder: Path, seconds: float) -> Row:
    """Another process holds the write lock when the daemon starts; systemd is told that it takes longer."""
    place, socket_file = Place(folder), folder / "notify"
    with DemoWeb() as web, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(socket_file))
        systemd.settimeout(LIMIT_S)
        place.start_pages(web)
        with closing(sqlite3.connect(place.db, timeout=10, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with place.daemon(*through(web), NOTIFY_SOCKET=str(socket_file)) as daemon:
                first = systemd.recv(4096).decode()
                time.sleep(seconds)
                other.execute("ROLLBACK")
                freed = time.time()
                recovered = goes_on(place, freed)
                ready = any(systemd.recv(4096) == b"READY=1" for _ in range(100))
                ended = daemon.end()
    more = {"systemd_was_told": first.startswith("EXTEND_TIMEOUT_USEC=") and ready, "exit_code": ended}
    return Row(
        "the database is locked at the start",
        f"another process holds the write lock for {seconds:g} s more when the daemon first finds it so",
        0,
        recovered,
        {**more, "intact": place.intact()},
    )


def full_at_start(folder: Path) -> Row:
    """The file system of the database has no byte left when the daemon starts."""
    disk = folder / "disk"
    with _small_disk(disk):
        place = Place(folder / "home", db=disk / "c.db")
        with DemoWeb() as web:
            place.start_pages(web)
            _fill(disk / "other")
            with place.daemon(*through(web)) as daemon:
                wait_for(lambda: daemon.says(WAITING), "a word about the disk")
                (disk / "other").unlink()
                recovered = goes_on(place, time.time())
                ended = daemon.end()
            intact = place.intact()
    return Row(
        "the disk is full at the start",
        "a file of another program fills its file system (tmpfs of 32 MiB)",
        0,
        recovered,
        {"intact": intact, "exit_code": ended},
    )


def disk_full(folder: Path) -> Row:
    """The file system of the database has no byte left, then some again."""
    disk = folder / "disk"
    with _small_disk(disk):
        place = Place(folder / "home", db=disk / "c.db")
        with DemoWeb() as web:
            place.start_pages(web)
            with place.daemon(*through(web)) as daemon:
                before = under_way(place)
                _fill(disk / "other")
                wait_for(lambda: daemon.says(WAITING), "a word about the disk")
                word = "the disk is full" if daemon.says("the disk is full") else "the disk does not take it"
                (disk / "other").unlink()
                recovered = goes_on(place, time.time())
                _completes(place, web)
                ended = daemon.end()
        lost, intact = len(before - place.settled()), place.intact()
    return Row(
        "the disk is full",
        "a file of another program fills its file system (tmpfs of 32 MiB)",
        lost,
        recovered,
        {"said": word, "intact": intact, "exit_code": ended},
    )


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """A file system of 32 MiB; PermissionError where none may be mounted."""
    folder.mkdir(parents=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32m", "none", str(folder)], check=False, capture_output=True
    )
    if done.returncode != 0:
        raise PermissionError("mounting a small file system needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 512):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def file_too_long(folder: Path) -> Row:
    """The database may not grow beyond the limit on the size of files, until that is lifted."""
    place = Place(folder)
    with DemoWeb() as web:
        place.start_pages(web)
        with place.daemon(*through(web)) as daemon:
            before = under_way(place)
            wal = place.db.with_name(place.db.name + "-wal")
            unlimited = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (wal.stat().st_size, unlimited[1]))
            wait_for(lambda: daemon.says(WAITING), "a word about the file")
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, unlimited)
            recovered = goes_on(place, time.time())
            _completes(place, web)
            ended = daemon.end()
    return Row(
        "files may not grow",
        "RLIMIT_FSIZE of the running daemon is set to the size of its write-ahead log",
        len(before - place.settled()),
        recovered,
        {"intact": place.intact(), "exit_code": ended},
    )


def damaged(folder: Path) -> Row:
    """Pages in the middle of the file are overwritten: the daemon refuses it, a backup takes its place."""
    place = Place(folder)
    with DemoWeb() as web:
        place.start_pages(web)
        with place.daemon("--proxy", web.proxy_url, "--delay", "0") as daemon:
            _completes(place, web)
            daemon.end()
        backup, before = folder / "backup.db", place.settled()
        place.command("backup", str(backup))
        _damage(place.db)
        begun = time.monotonic()
        with place.daemon(*through(web)) as daemon:
            code = daemon.process.wait(LIMIT_S)
            found_s = round(time.monotonic() - begun, 2)
            said = daemon.log().strip().splitlines()[-1]
        begun = time.monotonic()
        place.command("restore", str(backup))
        with place.daemon(*through(web)) as daemon:
            wait_for(lambda: daemon.says("started"), "the daemon on the restored database")
            recovered = round(time.monotonic() - begun, 2)
            daemon.end()
    if code != 3 or "geocrawl restore" not in said or "Traceback" in said:
        raise SystemExit(f"ended with {code}: {said}")
    return Row(
        "the database is damaged",
        "every eighth page of the file overwritten while the daemon is down",
        len(before - place.settled()),
        recovered,
        {"found_at_start_s": found_s, "exit_code": code, "advice": "restore a backup with `geocrawl restore FILE`"},
    )


def _damage(path: Path) -> None:
    page, size = 4096, path.stat().st_size
    with path.open("r+b") as file:
        for start in range(8 * page, size - page, 8 * page):
            file.seek(start)
            file.write(b"\xa5" * page)
