"""Another's lock and a full disk pass: they are waited for, and nothing is lost when the patience ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.app.probe import candidates_at, run_probes
from geocrawl.app.retry_policy import RetryPolicy, as_lines
from geocrawl.crawler.report import CrawlReport
from geocrawl.daemon.start import run_daemon
from geocrawl.demo import DemoWeb
from geocrawl.errors import DatabaseFault, EnvironmentFault, NoRoom, PassingFault
from geocrawl.model import Entry, SettlementResult, Visit
from geocrawl.settings import Settings
from geocrawl.store.database.database import Database
from geocrawl.store.store import Store
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from tests.support.crawls import Watcher, settings_for, url
from tests.support.invariants import check_invariants
from tests.support.lives import beat
from tests.support.world import ManualClock, World

WAITS = "waiting for the database"


@pytest.fixture(autouse=True)
def short_waits_for_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geocrawl.store.database.connection.BUSY_S", 1.0)


class Locker(Watcher):
    """Takes the write lock after so many visits, and lets it go when the crawl says that it waits, if `lets_go`."""

    def __init__(self, path: Path, after: int, *, lets_go: bool) -> None:
        super().__init__()
        self._path, self._after, self._lets_go = path, after, lets_go
        self.said: list[str] = []
        self.lock: sqlite3.Connection | None = None

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        self.visits.append(str(entry.id))
        if len(self.visits) == self._after and self.lock is None:
            self.lock = sqlite3.connect(self._path, isolation_level=None)
            self.lock.execute("BEGIN IMMEDIATE")

    def noted(self, text: str) -> None:
        self.said.append(text)
        if self._lets_go:
            self.let_go()

    def let_go(self) -> None:
        if self.lock is not None and self.lock.in_transaction:
            self.lock.execute("ROLLBACK")


@contextmanager
def crawled(path: Path, settings: Settings, web: DemoWeb, locker: Locker) -> Iterator[CrawlReport]:
    try:
        yield run_crawl(settings, path, [url(seed) for seed in web.seeds], observer=locker)
    finally:
        if locker.lock is not None:
            locker.let_go()
            locker.lock.close()


def test_a_crawl_waits_for_a_lock_says_so_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with DemoWeb() as web:
        locker = Locker(path, 30, lets_go=True)
        with crawled(path, settings_for(web, max_pages=60), web, locker) as report:
            assert (report.summary.stopped, report.summary.pages) == ("max-pages", 60)
    assert len(locker.visits) == len(set(locker.visits)), "nothing that was settled is asked again"
    assert len(locker.said) == 2 and f"{WAITS} up to 120 s: {path}: locked" in locker.said[0]
    assert locker.said[1] == "the database can be written again"
    with closing(sqlite3.connect(path)) as connection:
        check_invariants(connection)
        assert connection.execute("SELECT count(*) FROM host WHERE lease_until > 0").fetchone() == (0,)


def test_when_its_patience_ends_the_next_crawl_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with DemoWeb() as web:
        hasty = settings_for(web, database_patience_s=0.2, max_pages=30)
        first, second = Locker(path, 20, lets_go=False), Locker(path, 0, lets_go=False)
        with pytest.raises(PassingFault, match="locked"), crawled(path, hasty, web, first):
            pass
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            # The process that ended is this one, which lives on, so that nobody takes its leases for a dead one's.
            connection.execute("UPDATE host SET lease_until = 1 WHERE lease_until > 0")
        with crawled(path, hasty, web, second) as report:
            assert report.summary.pages == 30
    assert len(first.visits) >= 20 and not set(first.visits) & set(second.visits)


def test_a_crawl_that_cannot_begin_for_a_lock_waits_and_begins(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    World(path).database.close()
    with DemoWeb() as web:
        locker = Locker(path, 0, lets_go=True)
        locker.lock = sqlite3.connect(path, isolation_level=None)
        locker.lock.execute("BEGIN IMMEDIATE")
        with crawled(path, settings_for(web, max_pages=3), web, locker) as report:
            assert report.summary.pages == 3
    assert WAITS in locker.said[0]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM run").fetchone() == (1,)


def test_probes_wait_for_a_lock_too(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    World(path).database.close()
    with DemoWeb() as web:
        locker = Locker(path, 0, lets_go=True)
        locker.lock = sqlite3.connect(path, isolation_level=None)
        locker.lock.execute("BEGIN IMMEDIATE")
        asked = candidates_at([url("http://maps.norvale-geoportal.example/geoserver/hydro/wms")])
        summary = run_probes(settings_for(web), path, asked, observer=locker, wants_lead=lambda one, other: False)
        locker.lock.close()
    assert summary.valid == 1 and WAITS in locker.said[0]


# --------------------------------------------------------------------------- the daemon's start


def test_a_daemon_names_the_one_that_runs_even_when_the_database_is_locked(tmp_path: Path) -> None:
    path, clock = tmp_path / "c.db", ManualClock()
    database = Database.open(path, create=True, clock=clock)
    holder = '{"machine": "elsewhere", "pid": 5, "token": "0123abcd", "since": 1.0, "beat": 9e11, "state": ""}'
    database.set_meta("daemon:lease", holder)
    beat(database, "elsewhere 0123abcd:5", 9e11)
    lock = DaemonLock(database)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(EnvironmentFault, match="process 5 on elsewhere") as told:
            lock.acquire(9e11)
        assert not isinstance(told.value, DatabaseFault)
    database.close()


def test_who_could_not_give_its_own_lease_back_takes_it_again(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "c.db", create=True, clock=ManualClock())
    DaemonLock(database).acquire(10.0)
    DaemonLock(database).acquire(20.0)
    database.close()


@pytest.mark.parametrize(("damage", "said"), [(b"\xa5" * 8192, "not a SQLite database"), (None, "is not a file")])
def test_what_does_not_pass_ends_a_start_at_once(tmp_path: Path, damage: bytes | None, said: str) -> None:
    path = tmp_path / "c.db"
    if damage is None:
        path.mkdir()
    else:
        path.write_bytes(damage)
    lines: list[str] = []
    with pytest.raises(DatabaseFault, match=said) as told:
        run_daemon(Settings(), path, reread=Settings, observer=Watcher(), log=lambda text, **_: lines.append(text))
    assert not isinstance(told.value, PassingFault) and not lines


def test_each_try_begins_with_a_database_of_its_own_and_systemd_is_told_before_each_pause(tmp_path: Path) -> None:
    path, clock = tmp_path / "c.db", ManualClock()
    opened: list[Store] = []
    said: list[str] = []
    pauses: list[float] = []

    def prepare(store: Store) -> int:
        opened.append(store)
        if len(opened) < 9:
            raise PassingFault("the disk is full")
        return len(opened)

    retrying = RetryPolicy(
        path, clock, as_lines(said.append), before_pause=lambda fault, pause_s: pauses.append(pause_s)
    )
    with retrying.opened(prepare) as made:
        assert made == 9 and opened[-1].facts.strategy() is None
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert said == [f"{WAITS}: the disk is full", "the database can be written again"]
    for store in opened:
        with pytest.raises(DatabaseFault, match="closed"):
            store.facts.strategy()


class Failing:
    """An attempt to write that fails until `failures` are spent."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def __call__(self) -> None:
        if self.failures:
            self.failures -= 1
            raise PassingFault("locked")


def test_patience_ends_after_its_time_and_begins_again_when_all_was_well(tmp_path: Path) -> None:
    pauses: list[float] = []
    retrying = RetryPolicy(
        tmp_path / "c.db",
        ManualClock(),
        lambda event, **values: None,
        limit_s=10.0,
        before_pause=lambda fault, pause_s: pauses.append(pause_s),
    )
    with pytest.raises(PassingFault):
        retrying.call(Failing(99))
    assert pauses == [1, 2, 4, 3]
    retrying.reset()
    retrying.call(Failing(1))
    assert pauses[4:] == [1]


@pytest.mark.parametrize(
    ("fault", "limit_s", "waited_s"), [(NoRoom, 120.0, 10.0), (NoRoom, 5.0, 5.0), (PassingFault, 120.0, 120.0)]
)
def test_a_command_waits_shortly_for_room_and_longer_for_a_lock(
    tmp_path: Path, fault: type[PassingFault], limit_s: float, waited_s: float
) -> None:
    clock, path = ManualClock(), tmp_path / "c.db"
    begun = clock.monotonic()

    def fails() -> None:
        raise fault("the disk is full")

    with pytest.raises(fault):
        RetryPolicy(path, clock, lambda event, **values: None, limit_s=limit_s).call(fails)
    assert clock.monotonic() - begun == pytest.approx(waited_s)


def test_a_daemon_waits_for_room_without_limit(tmp_path: Path) -> None:
    trials = iter([NoRoom("full")] * 50)

    def fails() -> None:
        for fault in trials:
            raise fault

    RetryPolicy(tmp_path / "c.db", ManualClock(), lambda event, **values: None).call(fails)


def test_after_a_stop_no_wait_lasts_longer_than_five_seconds(tmp_path: Path) -> None:
    clock = ManualClock()
    retrying = RetryPolicy(tmp_path / "c.db", clock, lambda event, **values: None, limit_s=120.0)
    retrying.call(Failing(2))
    begun = clock.monotonic()
    retrying.hasten()
    with pytest.raises(PassingFault):
        retrying.call(Failing(99))
    retrying.hasten()
    with pytest.raises(PassingFault):
        retrying.call(Failing(99))
    assert clock.monotonic() - begun <= 5


async def test_a_loop_waits_longer_each_time_until_a_visit_is_settled(tmp_path: Path) -> None:
    world, pauses, said = World(tmp_path / "c.db"), [], []
    retrying = RetryPolicy(
        world.database.path,
        world.clock,
        lambda event, **values: said.append((event, values)),
        before_pause=lambda fault, pause_s: pauses.append(pause_s),
    )
    fault = PassingFault("locked")
    await retrying.until_writable(fault, world.store, Failing(2), lambda: False)
    await retrying.until_writable(fault, world.store, Failing(0), lambda: False)
    assert said == [(WAITS, {"error": "locked"})], "a disk without room for a visit takes a small write"
    assert not retrying.is_waiting
    retrying.reset()
    await retrying.until_writable(fault, world.store, Failing(0), lambda: False)
    assert pauses == [1, 2, 4, 8, 1]
    assert said[1:] == [("the database can be written again", {"waited_s": 15.0}), (WAITS, {"error": "locked"})]


async def test_a_stop_ends_the_wait_of_a_loop_within_a_second(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    retrying = RetryPolicy(world.database.path, world.clock, lambda event, **values: None)
    began = world.clock.time

    def stopping() -> bool:
        return world.clock.time > began + 20

    await retrying.until_writable(PassingFault("locked"), world.store, Failing(99), stopping)
    assert began + 20 < world.clock.time <= began + 21 and retrying.is_waiting


async def test_damage_ends_the_wait_of_a_loop_at_once(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    retrying = RetryPolicy(world.database.path, world.clock, lambda event, **values: None)

    def write() -> None:
        raise DatabaseFault("the database is damaged")

    with pytest.raises(DatabaseFault, match="damaged"):
        await retrying.until_writable(PassingFault("locked"), world.store, write, lambda: False)
