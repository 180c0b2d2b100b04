"""What a daemon survives, in small: the whole table is `python -m benchmarks.shows faults`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest

from geocrawl.app.network_outage import IN_VAIN, LOOK_BACK_S, Outage
from geocrawl.app.outage_undo_log import UndoLog
from geocrawl.demo.web import DemoWeb
from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.lab.made_worlds.folder import make as make_world
from geocrawl.lab.recorded_worlds.replay import ReplayClock
from geocrawl.lab.recorded_worlds.world import World as MadeWorld
from geocrawl.model import Kind, Service, State, Visit
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.settings import Settings
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.reading import open_readonly
from geocrawl.store.engine.revisions import REVISIONS
from geocrawl.store.engine.sqlite.connection import SqliteConnection
from geocrawl.store.engine.sqlite.integrity import quick_check
from geocrawl.store.frontier.lifecycle import settled_state
from geocrawl.store.operations.backup import restore
from geocrawl.store.operations.outages import Outages
from geocrawl.store.queries.history import changes_since, history_of_address
from tests.support.daemons import Place
from tests.support.faults import network, simulated, storage, upgrade
from tests.support.faults.row import Row
from tests.support.invariants import check_invariants
from tests.support.parts import ROOT_USER, lack
from tests.support.world import ManualClock, World, candidate, link, verdict


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


@pytest.mark.long
@pytest.mark.parametrize("strike", [network.network_away, network.names_down])
def test_a_few_seconds_without_proxy_or_names_leave_no_trace(
    tmp_path: Path, strike: Callable[[Path, float], Row]
) -> None:
    row = strike(tmp_path / "x", 4.0)
    nothing = {"addresses_that_failed": 0, "given_up": 0, "traces_in_the_history_of_services": 0}
    assert (row.lost, row.more) == (0, {"noticed": True, "exit_code": 0, **nothing})


def test_an_hour_without_network_costs_no_page_and_no_service(tmp_path: Path) -> None:
    make_world("mixed", 200, 11, tmp_path / "web")
    world = MadeWorld(tmp_path / "web")
    calm = simulated.run(world, tmp_path / "calm.db", simulated.Strike(), 2.5)
    strike = simulated.Strike(HOUR_S, unreachable=True)
    struck = simulated.run(world, tmp_path / "struck.db", strike, 2.5)
    assert struck.before <= struck.settled and calm.settled <= struck.settled
    assert sum(struck.transport.under_strike.values()) < 100
    assert "the network is back" in struck.said
    assert struck.in_vain == 0 and not _moved(struck)


def test_the_history_of_living_services_shows_nothing_of_an_outage_even_when_the_daemon_ends_in_it(
    tmp_path: Path,
) -> None:
    make_world("mixed", 200, 11, tmp_path / "web")
    strike = simulated.Strike(24 * HOUR_S, after_s=22 * HOUR_S, unreachable=True)
    path = tmp_path / "c.db"
    struck = simulated.run(MadeWorld(tmp_path / "web"), path, strike, 29.0, step_s=300.0)
    living = [key for key, condition in struck.condition_before.items() if condition[0] == "alive"]
    assert len(living) >= 10 and 20 <= sum(struck.transport.under_strike.values()) < 300, "asked, but not too often"
    assert struck.in_vain == 0 and all(struck.condition[key][:5] == struck.condition_before[key][:5] for key in living)
    with open_readonly(path) as connection:
        now = ReplayClock().now() + 29 * HOUR_S
        assert {row["after"] for row in changes_since(connection, 0.0, 1000)} == {"alive"}
        for key in living:
            kind, address = key.split(" ", 1)
            (found,) = (each for each in history_of_address(connection, address, now) if each.kind == kind)
            assert found.health == "alive" and found.availability[7] == 1.0
        check_invariants(connection)


def _moved(ended: simulated.Ended) -> list[str]:
    """Services that lived before the strike and have another health since."""
    before = {key: condition[:2] for key, condition in ended.condition_before.items() if condition[0] == "alive"}
    assert before
    return [key for key, condition in before.items() if ended.condition[key][:2] != condition]


def test_a_catalogue_of_the_first_schema_is_brought_up_to_date_and_its_living_services_are_due(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with DemoWeb() as web:
        upgrade.crawled(place, web)
    old = tmp_path / "old.db"
    upgrade.into_first_schema(place.db, old)
    Database.open(old, create=False, clock=ManualClock()).close()
    due, living = upgrade.living(old)
    assert due == living >= len(web.expected_valid)
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (REVISIONS[-1],)
        check_invariants(connection)


# --------------------------------------------------------------------------- parts


def test_who_waited_for_the_lock_in_vain_does_not_wait_as_long_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("connection", "transaction"):
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
        quick_check(connection, tmp_path / "c.db", 20.0)


def test_what_is_no_database_any_more_can_be_restored(tmp_path: Path) -> None:
    World(tmp_path / "good.db").database.close()
    (tmp_path / "c.db").write_bytes(b"\xa5" * 8192)
    kept = restore(tmp_path / "good.db", tmp_path / "c.db", 0.0)
    assert kept is not None and kept.read_bytes() == b"\xa5" * 8192
    Database.open(tmp_path / "c.db", create=False, clock=ManualClock()).close()


def test_an_outage_is_many_visits_of_several_well_hosts_in_a_row_and_one_answer_ends_it() -> None:
    outage = Outage([f"{number}.example" for number in range(5)])

    def told() -> tuple[bool, float | None]:
        return outage.suspected, outage.since

    for number in range(40):
        outage.observe(f"dead{number}.example", 10.0 + number, None, "dns")
    assert told() == (False, None), "hosts that never answered are no network"
    for number in range(5):
        assert told() == (False, None)
        outage.observe(f"{number}.example", 100.0, None, "refused")
    assert told()[0] and [outage.pause_s() for _ in range(6)] == [15, 30, 60, 120, 240, 300]
    for reason, status in (("robots", None), ("robots-unreachable", 503)):
        outage.observe("x.example", 110.0, status, reason)
    assert told()[0], "nobody was asked"
    outage.observe("x.example", 120.0, 404, "http-404")
    assert told() == (False, 10.0 - LOOK_BACK_S)
    outage.end()
    assert told() == (False, None)


def test_hosts_that_died_in_truth_raise_no_second_alarm() -> None:
    outage = Outage()
    for at in (10.0, 20.0):
        for number in range(20):
            outage.observe(f"{number}.example", at, None, "dns")
        assert outage.suspected == (at == 10.0), "while nobody has answered yet, any host counts"
        outage.observe("well.example", at, 200, "ok")
        outage.end()


def test_what_failed_in_an_outage_waits_again_and_nothing_else_does(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed("a.example/", "b.example/", "c.example/")
    for reason, at in (("dns", 1_000.0), ("dns", 2_000.0), ("http-500", 2_000.0)):
        world.clock.time = at
        world.settle(world.lease(), link("d.example/"), state=State.FAILED, reason=reason)
    assert Outages(world.database).put_back(1_500.0, IN_VAIN, ()) == 1
    assert [world.row(f"{name}.example/")[0] for name in "abc"] == ["failed", "waiting", "failed"]
    check_invariants(world.database.connection)


def test_a_probe_in_vain_is_undone_to_the_last_column_and_what_another_process_proved_stays(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0))
    connection, traces = world.database.connection, UndoLog(Outages(world.database))
    mine, theirs = candidate("http://a.example/wms"), candidate("http://b.example/wms")
    well = verdict(service=Service(Kind.WMS, "1.3.0", "a", fingerprint="a"))
    for each in (mine, theirs):
        world.record(each, well, world.clock.now())
    rows = "SELECT * FROM endpoint ORDER BY id"
    before = connection.execute(rows).fetchall()
    world.clock.time += 30 * DAY_S
    world.frontier.reprobe(world.clock.now(), 10)
    for _ in range(2):
        lease = world.lease()
        traces.leased(lease)
        reached_nobody = verdict("dns", http_status=None)
        visit = Visit(
            lease,
            State.FAILED,
            "dns",
            replace(lease.host, errors=9, last_error_at=world.clock.now()),
            world.clock.now(),
            verdict=reached_nobody,
        )
        world.frontier.settle(visit)
        traces.settled(lease.entry, visit, away=False)
    world.clock.time += 1
    world.record(theirs, well, world.clock.now())
    assert Outages(world.database).put_back(world.clock.now() - 60, IN_VAIN, traces.endpoints) == 2
    after = connection.execute(rows).fetchall()
    assert after[0] == before[0] and after[1] != before[1]
    assert connection.execute("SELECT endpoint_id, status FROM probe ORDER BY id").fetchall() == [
        (1, "valid"),
        (2, "valid"),
        (2, "invalid"),
        (2, "valid"),
    ]
    Outages(world.database).end_back_offs(traces.hosts, world.clock.now())
    assert connection.execute("SELECT sum(errors), sum(parked) FROM host").fetchone() == (0, 0)
    check_invariants(connection)


def test_an_answer_lets_go_what_is_remembered(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0))
    traces = UndoLog(Outages(world.database))
    world.frontier.add_candidates([candidate(f"http://{name}.example/wms") for name in "abc"])
    for reason, status, later_s, kept in (("dns", None, 0, 1), ("refused", None, 1, 2), ("html", 200, 60, 1)):
        world.clock.time += later_s
        lease = world.lease()
        traces.leased(lease)
        visit = Visit(lease, State.VISITED, reason, lease.host, world.clock.now(), http_status=status)
        traces.settled(lease.entry, visit, away=False)
        assert len(traces.endpoints) == len(traces.hosts) == kept


def test_visits_in_vain_do_not_spend_the_budget_of_a_pattern(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0))
    world.seed("a.example/")
    world.settle(world.lease(), link("a.example/data/1"))
    world.settle(world.lease(), state=State.FAILED, reason="dns")
    fruitless = "SELECT fruitless FROM pattern"
    assert world.database.connection.execute(fruitless).fetchall() == [(1,)]
    Outages(world.database).put_back(0.0, IN_VAIN, ())
    assert world.database.connection.execute(fruitless).fetchall() == [(0,)]


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
