"""What a daemon survives, in small: the whole table is `python -m benchmarks.shows faults`."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import faults, faults_simulated, faults_upgrade
from benchmarks.daemons import Place
from geocrawl.daemon.outage import Outage
from geocrawl.demo.web import DemoWeb
from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.evaluate.worlds import World as MadeWorld
from geocrawl.health import HOUR_S
from geocrawl.model import State, Visit
from geocrawl.store.backup import quick_check, restore
from geocrawl.store.database import REVISIONS, Database
from geocrawl.store.lifecycle import settled_state
from geocrawl.store.outages import give_back_tries
from geocrawl.worlds.folder import make as make_world
from tests.store.test_database import check_invariants
from tests.store.world import ManualClock, World, link


def test_it_waits_out_a_lock_says_so_and_goes_on(tmp_path: Path) -> None:
    row = faults.locked(tmp_path / "x", 6.0)
    assert (row.lost, row.more) == (0, {"said_so": True, "intact": True, "exit_code": 0})
    assert row.recovered_s < 15


def test_it_waits_until_the_disk_has_room_again(tmp_path: Path) -> None:
    try:
        row = faults.disk_full(tmp_path / "x")
    except PermissionError:  # nobody but root mounts a small disk
        row = faults.file_too_long(tmp_path / "y")
    assert row.lost == 0 and row.more["intact"] and row.more["exit_code"] == 0


def test_a_damaged_database_is_found_at_start_and_a_backup_takes_its_place(tmp_path: Path) -> None:
    row = faults.damaged(tmp_path / "x")
    assert row.lost == 0 and row.more["exit_code"] == 3


def test_of_two_that_start_together_one_lives(tmp_path: Path) -> None:
    assert faults.two_at_once(tmp_path / "x", 1).more["exactly_one_lived"] == 1


def test_an_hour_without_network_costs_no_page_and_no_service(tmp_path: Path) -> None:
    make_world("mixed", 200, 11, tmp_path / "web")
    world = MadeWorld(tmp_path / "web")
    calm = faults_simulated.run(world, tmp_path / "calm.db", faults_simulated.Strike(), 2.5)
    strike = faults_simulated.Strike(HOUR_S, unreachable=True)
    struck = faults_simulated.run(world, tmp_path / "struck.db", strike, 2.5)
    assert struck.before <= struck.settled and calm.settled <= struck.settled
    assert sum(struck.transport.under_strike.values()) < 100
    assert "the network is back" in struck.said


def test_a_catalogue_of_the_first_schema_is_brought_up_to_date_and_its_living_services_are_due(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with DemoWeb() as web:
        faults_upgrade.crawled(place, web)
    old = tmp_path / "old.db"
    faults_upgrade.into_first_schema(place.db, old)
    Database.open(old, create=False, clock=ManualClock()).close()
    due, living = faults_upgrade.living(old)
    assert due == living >= len(web.expected_valid)
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (REVISIONS[-1],)
        check_invariants(connection)


# --------------------------------------------------------------------------- parts


def test_who_waited_for_the_lock_in_vain_does_not_wait_as_long_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geocrawl.store.database.BUSY_S", 1.0)
    mine = Database.open(tmp_path / "c.db", create=True, clock=ManualClock())
    with closing(sqlite3.connect(tmp_path / "c.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(PassingFault):
            mine.set_meta("a", "b")
        began = time.monotonic()
        for _ in range(3):
            with pytest.raises(PassingFault):
                mine.set_meta("a", "b")
        assert time.monotonic() - began < 1.0
        other.execute("ROLLBACK")
    mine.set_meta("a", "b")
    assert mine.connection.execute("PRAGMA busy_timeout").fetchone() == (1000,)


def test_damage_is_found_and_no_time_is_no_finding(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed(*[f"a.example/{'x' * 500}{n}" for n in range(3000)])
    assert quick_check(world.database.connection, world.database.path, 20.0)
    assert not quick_check(world.database.connection, world.database.path, -1.0)
    world.database.close()
    faults._damage(tmp_path / "c.db")
    with closing(sqlite3.connect(tmp_path / "c.db")) as connection, pytest.raises(DatabaseFault, match="restore"):
        quick_check(connection, tmp_path / "c.db", 20.0)


def test_what_is_no_database_any_more_can_be_restored(tmp_path: Path) -> None:
    World(tmp_path / "good.db").database.close()
    (tmp_path / "c.db").write_bytes(b"\xa5" * 8192)
    kept = restore(tmp_path / "good.db", tmp_path / "c.db", 0.0)
    assert kept is not None and kept.read_bytes() == b"\xa5" * 8192
    Database.open(tmp_path / "c.db", create=False, clock=ManualClock()).close()


def test_an_outage_is_many_visits_of_several_hosts_in_a_row_and_one_answer_ends_it() -> None:
    outage = Outage()

    def away() -> bool:
        return outage.suspected

    for number in range(40):
        outage.heed("one.example", 10.0 + number, None, "dns")
    assert not away(), "one host is no network"
    for number in range(4):
        outage.heed(f"{number}.example", 60.0, None, "refused")
    assert away() and [outage.pause_s() for _ in range(6)] == [15, 30, 60, 120, 240, 300]
    outage.heed("x.example", 70.0, None, "robots")
    assert away() and outage.ended() is None, "nobody was asked"
    outage.heed("x.example", 80.0, 404, "http-404")
    assert not away() and outage.ended() == 10.0 and outage.ended() is None


def test_what_failed_in_an_outage_waits_again_and_nothing_else_does(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed("a.example/", "b.example/", "c.example/")
    for reason, at in (("dns", 1_000.0), ("dns", 2_000.0), ("timeout-read", 2_000.0)):
        world.clock.time = at
        world.settle(world.lease(), link("d.example/"), state=State.FAILED, reason=reason)
    assert give_back_tries(world.database, 1_500.0, {"dns", "refused"}) == 1
    assert [world.row(f"{name}.example/")[0] for name in "abc"] == ["failed", "waiting", "failed"]
    check_invariants(world.database.connection)


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
