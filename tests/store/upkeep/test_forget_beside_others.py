"""A host of 20,000 addresses is forgotten while another process writes, and a kill in the middle costs nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from geocrawl.store.database.sqlite.connection import SqliteConnection
from geocrawl.store.upkeep.forget import forget
from tests.support.invariants import check_invariants
from tests.support.world import World, link

URLS = 20_000
HOST = "a.example"
LIMIT_S = 600
FORGET = """
import sys
from pathlib import Path
from geocrawl.fetch.clock import SystemClock
from geocrawl.store import Store
from geocrawl.store.upkeep.forget import forget
with Store.open(Path(sys.argv[1]), clock=SystemClock()) as store:
    print("begun", flush=True)
    print(forget(store.database, sys.argv[2], "", 5.0).pages, flush=True)
"""


def grown(path: Path) -> World:
    """A host with `URLS` waiting pages, and another host."""
    world = World(path)
    world.seed(f"{HOST}/", "b.example/")
    world.settle(world.lease(), *[link(f"{HOST}/p/{n}") for n in range(URLS)])
    return world


def forgetting(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", FORGET, str(path), HOST]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def left(path: Path) -> int:
    """How many addresses of the host are not forgotten yet."""
    connection = SqliteConnection.open(path)
    try:
        statement = "SELECT count(*) FROM url u JOIN host h ON h.id = u.host_id WHERE h.name = ? "
        statement += "AND u.reason IS NOT 'forgotten'"
        return int(connection.execute(statement, (HOST,)).fetchone()[0])
    finally:
        connection.close()


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert process.poll() is None, "it ended before it was in the middle"
        assert time.monotonic() < end
        time.sleep(0.001)


def test_every_write_of_another_process_succeeds_while_a_host_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    world, writes = grown(path), 0
    with forgetting(path) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        while process.poll() is None:
            writes += 1  # a write that waits longer than the busy timeout raises PassingFault
            world.seed(f"c{writes}.example/")
        told, complaint = process.communicate()
    assert (process.returncode, int(told) > 0) == (0, True), complaint
    assert writes > 1 and left(path) == 0
    check_invariants(world.database.connection)
    assert world.database.connection.execute("SELECT count(*) FROM url WHERE depth = 0").fetchone()[0] >= writes


def test_a_host_that_is_forgotten_half_when_the_process_is_killed_is_forgotten_by_a_second_run(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    world = grown(path)
    known = left(path)
    with forgetting(path) as process:
        wait_for(lambda: left(path) < known, process)
        process.kill()
    assert 0 < left(path) < known
    assert world.database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    forget(world.database, HOST, "", 6.0)
    assert left(path) == 0
    assert world.database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check_invariants(world.database.connection)
