"""What a daemon survives."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.model import State, Visit
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.sqlite.connection import SqliteConnection
from geocrawl.store.frontier.lifecycle import settled_state
from geocrawl.store.maintenance.backup import restore
from tests.daemon.faults import network, storage
from tests.daemon.faults.row import Row
from tests.support.parts import ROOT_USER, lack
from tests.support.world import ManualClock, World


@pytest.mark.long
def test_it_waits_out_a_lock_says_so_and_goes_on(tmp_path: Path) -> None:
    row = storage.locked(tmp_path / "x", 6.0)
    assert (row.lost, row.more) == (0, {"said_so": True, "intact": True, "exit_code": 0})
    assert row.recovered_s < 120


@pytest.mark.long
def test_it_waits_until_the_disk_has_room_again(tmp_path: Path) -> None:
    try:
        row = storage.disk_full(tmp_path / "x")
    except PermissionError:  # nobody but root mounts a small disk
        row = storage.file_too_long(tmp_path / "y")
    assert row.lost == 0 and row.more["intact"] and row.more["exit_code"] == 0


def test_it_waits_for_a_lock_at_its_start_and_systemd_waits_with_it(tmp_path: Path) -> None:
    row = storage.locked_at_start(tmp_path / "x", 0.0)  # 5 s all the same: so long it waits for the lock itself
    assert row.more == {"systemd_was_told": True, "exit_code": 0, "intact": True}


def test_it_waits_for_room_at_its_start(tmp_path: Path) -> None:
    try:
        row = storage.full_at_start(tmp_path / "x")
    except PermissionError:
        lack(ROOT_USER)
    assert row.more == {"exit_code": 0, "intact": True}


def test_a_damaged_database_is_found_at_start_and_a_backup_takes_its_place(tmp_path: Path) -> None:
    row = storage.damaged(tmp_path / "x")
    assert row.lost == 0 and row.more["exit_code"] == 3


def test_of_two_that_start_together_one_lives(tmp_path: Path) -> None:
    assert storage.two_at_once(tmp_path / "x", 1).more["exactly_one_lived"] == 1


@pytest.mark.parametrize("strike", [network.network_away, pytest.param(network.names_down, marks=pytest.mark.long)])
def test_a_few_seconds_without_proxy_or_names_leave_no_trace(
    tmp_path: Path, strike: Callable[[Path, float], Row]
) -> None:
    row = strike(tmp_path / "x", 4.0)
    nothing = {"addresses_that_failed": 0, "given_up": 0, "traces_in_the_history_of_services": 0}
    assert (row.lost, row.more) == (0, {"noticed": True, "exit_code": 0, **nothing})


# --------------------------------------------------------------------------- parts


def test_who_waited_for_the_lock_in_vain_does_not_wait_as_long_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("connection", "database"):
        monkeypatch.setattr(f"geocrawl.store.engine.{module}.BUSY_S", 3.0)
    mine = Database.open(tmp_path / "c.db", create=True, clock=ManualClock())
    with closing(sqlite3.connect(tmp_path / "c.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(PassingFault):
            mine.set_meta("a", "b")
        began = time.monotonic()
        for _ in range(3):
            with pytest.raises(PassingFault):
                mine.set_meta("a", "b")
        assert time.monotonic() - began < 3.0
        other.execute("ROLLBACK")
        mine.set_meta("a", "b")
        other.execute("BEGIN IMMEDIATE")
        released = Timer(0.5, other.execute, ["ROLLBACK"])
        released.start()
        mine.set_meta("a", "c")  # it waits as long as at first
        released.join()
    assert mine.meta("a") == "c"


def test_damage_is_found_and_no_time_is_no_finding(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed(*[f"a.example/{'x' * 500}{n}" for n in range(3000)])
    assert world.database.connection.check(20.0)
    assert not world.database.connection.check(-1.0)
    world.database.close()
    storage._damage(tmp_path / "c.db")
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
