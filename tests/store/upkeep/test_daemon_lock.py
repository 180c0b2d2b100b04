"""The daemon lock: one daemon a database, locks of dead daemons, pause and reload, counts by day."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault
from geocrawl.store.database.database import Database
from geocrawl.store.database.life import SILENT_S
from geocrawl.store.database.processes import counts_of_day, is_paused, read_holder
from geocrawl.store.upkeep.daemon_lock import DaemonLock, ask_to_pause, ask_to_reload
from tests.support.lives import beat, end
from tests.support.world import ManualClock


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.open(tmp_path / "catalogue.db", create=True, clock=ManualClock(1000.0))


OTHER = "elsewhere 0123abcd:7"


def hold(database: Database, *, at: float = 1000.0) -> None:
    """Let a daemon have the lock, whose heart beat at this time."""
    facts = {"machine": "elsewhere", "pid": 7, "token": "0123abcd", "since": 1000.0, "beat": 1000.0, "state": ""}
    database.set_meta("daemon:lease", json.dumps(facts))
    beat(database, OTHER, at)


def test_a_second_daemon_is_told_who_holds_the_database(database: Database) -> None:
    hold(database)
    with pytest.raises(EnvironmentFault, match="process 7 on elsewhere, since 1970-01-01 00:16:40 UTC"):
        DaemonLock(database).acquire(1001.0)


def test_a_daemon_that_ended_leaves_the_database_free(database: Database) -> None:
    first = DaemonLock(database)
    first.acquire(1000.0)
    first.release()
    assert read_holder(database.connection) is None
    DaemonLock(database).acquire(1001.0)


def test_a_killed_daemon_has_no_lock(database: Database) -> None:
    hold(database)
    end(database, OTHER)
    DaemonLock(database).acquire(1000.5)


def test_a_silent_daemon_is_replaced_after_a_while(database: Database) -> None:
    hold(database)
    with pytest.raises(EnvironmentFault, match="on elsewhere"):
        DaemonLock(database).acquire(1000.0 + SILENT_S - 1)
    second = DaemonLock(database)
    second.acquire(1000.0 + SILENT_S)
    assert second.beat(1005.0 + SILENT_S, "crawling")
    holder = read_holder(database.connection)
    assert holder is not None and (holder.state, holder.beat) == ("crawling", 1005.0 + SILENT_S)


def test_a_daemon_whose_lock_was_taken_learns_it_at_its_next_note(database: Database) -> None:
    first = DaemonLock(database)
    first.acquire(1000.0)
    hold(database, at=2000.0)
    assert not first.beat(2001.0, "")
    first.release()
    assert read_holder(database.connection) is not None, "the other one's lock stays"


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
