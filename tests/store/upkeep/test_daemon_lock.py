"""The daemon lock: one daemon a database, locks of dead daemons, pause and reload, counts by day."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault
from geocrawl.store.database.database import Database
from geocrawl.store.database.owner import started_ticks
from geocrawl.store.database.processes import STALE_S, Holder, counts_of_day, is_paused, read_holder
from geocrawl.store.upkeep.daemon_lock import DaemonLock, ask_to_pause, ask_to_reload
from tests.support.world import ManualClock


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.open(tmp_path / "catalogue.db", create=True, clock=ManualClock())


def hold(database: Database, holder: Holder) -> None:
    text = json.dumps({name: getattr(holder, name) for name in holder.__dataclass_fields__})
    database.set_meta("daemon:lease", text)


def test_a_second_daemon_is_told_who_holds_the_database(database: Database) -> None:
    hold(database, Holder(socket.gethostname(), os.getppid(), 1000.0, 1000.0, started_ticks(os.getppid()) or 0))
    with pytest.raises(EnvironmentFault, match=f"process {os.getppid()} on .*, since 1970-01-01 00:16:40 UTC"):
        DaemonLock(database).acquire(1001.0)


def test_a_daemon_that_ended_leaves_the_database_free(database: Database) -> None:
    first = DaemonLock(database)
    first.acquire(1000.0)
    first.release()
    assert read_holder(database.connection) is None
    DaemonLock(database).acquire(1001.0)


def test_a_killed_process_of_this_machine_is_no_holder(database: Database) -> None:
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    hold(database, Holder(socket.gethostname(), int(done.stdout), 1000.0, 1000.0, 12345))
    DaemonLock(database).acquire(1000.5)


def test_a_reused_process_number_is_not_mistaken_for_the_holder(database: Database) -> None:
    hold(database, Holder(socket.gethostname(), os.getpid(), 1000.0, 1000.0, 1))
    DaemonLock(database).acquire(1000.5)


def test_a_silent_holder_on_another_machine_is_taken_over_after_a_while(database: Database) -> None:
    hold(database, Holder("elsewhere", 1, 1000.0, 1000.0, 1))
    with pytest.raises(EnvironmentFault, match="on elsewhere"):
        DaemonLock(database).acquire(1000.0 + STALE_S - 1)
    second = DaemonLock(database)
    second.acquire(1000.0 + STALE_S)
    assert second.beat(1005.0 + STALE_S, "crawling")
    holder = read_holder(database.connection)
    assert holder is not None and (holder.state, holder.beat) == ("crawling", 1005.0 + STALE_S)


def test_a_daemon_whose_lease_was_taken_learns_it_at_its_next_beat(database: Database) -> None:
    first = DaemonLock(database)
    first.acquire(1000.0)
    hold(database, Holder("elsewhere", 7, 2000.0, 2000.0, 1))
    assert not first.beat(2001.0, "")
    first.release()
    assert read_holder(database.connection) is not None, "the other one's lease stays"


def test_pause_and_reload_go_through_the_database(database: Database) -> None:
    lock = DaemonLock(database)
    assert (lock.paused(), lock.reloads()) == (False, 0)
    ask_to_pause(database, pause=True)
    ask_to_reload(database)
    ask_to_reload(database)
    assert (lock.paused(), lock.reloads(), is_paused(database.connection)) == (True, 2, True)
    ask_to_pause(database, pause=False)
    assert not lock.paused()


def test_counts_add_up_by_day(database: Database) -> None:
    lock = DaemonLock(database)
    lock.count("2026-01-01", {"pages": 3, "valid": 0})
    lock.count("2026-01-01", {"pages": 4})
    lock.count("2026-01-02", {"pages": 1})
    assert counts_of_day(database.connection, "2026-01-01") == {"pages": 7}
