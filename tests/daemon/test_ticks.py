"""The ticks in real time: the scheduler calls what is due, each moment once, and a slow tick is not begun again."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from apscheduler.events import EVENT_JOB_SUBMITTED

from geocrawl.app import wiring
from geocrawl.app.crawl import claim, run_crawl
from geocrawl.cli.status import status_lines
from geocrawl.daemon import service
from geocrawl.daemon.budget import Budget, Hours, without_limits
from geocrawl.daemon.jobs import Jobs
from geocrawl.daemon.notify import Notifier
from geocrawl.daemon.service import TICKS, Daemon, Tick, make_scheduler
from geocrawl.demo import DemoWeb
from geocrawl.errors import PassingFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store.database import runner
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.processes import JobRun, read_holder
from geocrawl.store.frontier.status import read_status
from geocrawl.store.store import Store
from geocrawl.store.upkeep.daemon_lock import DaemonLock, ask_to_pause
from geocrawl.store.upkeep.watches import Watches
from tests.app.test_watch_rounds import Watched, dripping
from tests.support.crawls import Watcher, settings_for, url
from tests.support.loop_time import LoopTime
from tests.support.postgres import Server
from tests.support.receivers import webhook

LIMIT_S = 300
OFTEN = tuple(Tick(each.name, 0.1) for each in TICKS)


async def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {LIMIT_S} s"
        await asyncio.sleep(0.02)


async def test_each_tick_comes_again_and_again_and_none_is_begun_while_it_is_at_work() -> None:
    begun, at_work, most = Counter[str](), Counter[str](), Counter[str]()

    async def tick(name: str) -> None:
        begun[name] += 1
        at_work[name] += 1
        most[name] = max(most[name], at_work[name])
        if name == "retention":  # slower than its interval
            others = begun["reprobe"]
            await until(lambda: begun["reprobe"] >= others + 3, "other ticks while one is slow")
        at_work[name] -= 1

    scheduler = make_scheduler(tick, 0.0, OFTEN)
    scheduler.start()
    await until(lambda: all(begun[each.name] >= 3 for each in TICKS), "three of each tick")
    scheduler.shutdown(wait=False)
    assert set(most.values()) == {1} and begun["retention"] < begun["reprobe"]


async def test_moments_that_were_missed_are_one() -> None:
    moments: list[int] = []

    async def tick(name: str) -> None: ...

    scheduler = make_scheduler(tick, 0.0, OFTEN)
    scheduler.add_listener(lambda event: moments.append(len(event.scheduled_run_times)), EVENT_JOB_SUBMITTED)
    scheduler.start()
    await until(lambda: moments, "the first tick")
    moments.clear()
    time.sleep(0.5)  # noqa: ASYNC251  the loop is kept from its ticks, as by a settlement that takes long
    await until(lambda: len(moments) >= len(TICKS), "the ticks that were missed")
    scheduler.shutdown(wait=False)
    assert set(moments) == {1}


async def test_how_the_jobs_stand_is_told(tmp_path: Path) -> None:
    with DemoWeb() as web, Store.open(tmp_path / "c.db", clock=SystemClock()) as store, _beside(store) as beside:
        daemon, connection = _daemon(store, settings_for(web)), beside.connection
        daemon._jobs.refresh = _is_locked  # type: ignore[method-assign]
        running = asyncio.create_task(daemon.run())

        def jobs() -> dict[str, JobRun]:
            return {job.name: job for job in read_status(connection, time.time()).jobs}

        await until(lambda: jobs() and all(job.last_run for job in jobs().values()), "a run of each job")
        assert set(jobs()) == {each.name for each in TICKS}
        assert [name for name, job in jobs().items() if job.failed_at] == ["refresh"]
        found = read_status(connection, time.time())
        lines = [each for each in status_lines(found, store.path, time.time(), settings_for(web)) if "refresh" in each]
        assert "next in 0s; last run " in lines[0] and lines[0].endswith(": database is locked")
        daemon.stop("test")
        assert await running == "test" and not jobs()


def _is_locked() -> dict[str, int]:
    raise PassingFault("database is locked")


def test_the_watchdog_hastens_the_heartbeat_alone() -> None:
    async def tick(name: str) -> None: ...

    scheduler = make_scheduler(tick, 2.0)
    every = {job.id: job.trigger.interval.total_seconds() for job in scheduler.get_jobs()}
    assert every == {each.name: 2.0 if each.name == "heartbeat" else each.every_s for each in TICKS}


def test_what_becomes_due_while_the_daemon_runs_is_asked_and_what_is_old_is_dropped(tmp_path: Path) -> None:
    path, clock = tmp_path / "c.db", SystemClock()
    with DemoWeb() as web:
        settings = settings_for(web, max_pages=12, revisit_first_s=1e6)
        run_crawl(settings, path, [url(seed) for seed in web.seeds], observer=Watcher())
        with Store.open(path, clock=clock) as store, _beside(store) as beside:
            asyncio.run(_see_what_is_due_done(store, beside.database, settings_for(web), tmp_path / "notices.jsonl"))
            assert read_holder(store.database.connection) is None


async def _see_what_is_due_done(store: Store, database: Database, settings: Settings, journal: Path) -> None:
    daemon, began = _daemon(store, settings), SystemClock().now()
    running = asyncio.create_task(daemon.run())
    await until(lambda: _state(database) == "paused", "a heartbeat")
    endpoint, page, catalogue = _make_due(database.connection, began)
    (dying,) = database.connection.execute("SELECT max(service_id) FROM endpoint").fetchone()
    Watches(database).add(dying, f"file:{journal}", "", lambda query: (), began)
    database.connection.execute("UPDATE endpoint SET health = 'down' WHERE service_id = ?", (dying,))
    database.set_meta("daemon:paused", "")

    def asked(table: str, column: str, number: int) -> bool:
        statement = f"SELECT {column} >= ? FROM {table} WHERE id = ?"
        return bool(database.connection.execute(statement, (began, number)).fetchone()[0])

    await until(lambda: asked("endpoint", "last_probe", endpoint), "a probe that was due")
    await until(lambda: asked("url", "settled_at", page), "a page to be read again")
    await until(lambda: asked("url", "settled_at", catalogue), "a catalogue's page to be read again")
    await until(journal.exists, "a notice that a service died")
    old = "SELECT count(*) FROM probe WHERE at < 100"
    await until(lambda: database.connection.execute(old).fetchone() == (0,), "old probes to be dropped")
    daemon.stop("test")
    assert await running == "test"


def test_its_end_waits_for_no_recipient_and_loses_no_notice(tmp_path: Path) -> None:
    watched, unsent = Watched(tmp_path / "c.db"), "SELECT count(*) FROM notice WHERE sent_at IS NULL"
    os.mkfifo(tmp_path / "pipe")
    with dripping() as (mail, visitors), webhook() as hangs:
        hangs.answers.clear()
        watched.watch("mail:a@b.example", hangs.address, f"file:{tmp_path}/pipe")
        watched.die()
        watched.store.close()
        settings = Settings(allow_private=True, mail_security="none", mail_server=mail)

        async def end() -> str:
            with Store.open(watched.store.path, clock=SystemClock()) as store:
                running = asyncio.create_task(_daemon(store, settings).run())
                await until(lambda: visitors and hangs.received, "deliveries under way")
                LoopTime(still=True)  # no limit of a delivery ends from now on
                os.kill(os.getpid(), signal.SIGTERM)
                return await running

        assert asyncio.run(end()) == "signal"
    with Store.open(watched.store.path, clock=SystemClock()) as store:
        assert store.connection.execute(unsent).fetchone() == (3,) and read_holder(store.connection) is None


def _beside(store: Store) -> Store:
    """Return another store on the same database: the daemon's thread alone uses the daemon's."""
    return Store.open(store.path, clock=SystemClock())


async def test_a_server_that_stands_still_is_named_in_the_journal_for_systemd_and_then_in_the_status(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_SLOW_S", 0.2)
    monkeypatch.setattr(service, "BEAT_S", 0.1)
    said, heard = list[str](), list[str]()
    notifier = Notifier({})
    notifier.alive = heard.append  # type: ignore[assignment,method-assign]
    with Store.open(postgres_server.new_catalogue(), clock=SystemClock()) as store, _beside(store) as beside:
        store.tell_waits(lambda event, **values: said.append(event))
        (answers,) = store.connection.execute("SELECT pg_backend_pid()").fetchone()
        daemon = _daemon(store, Settings(), notifier)
        running = asyncio.create_task(daemon.run())
        await until(lambda: _state(beside.database) == "paused", "a heartbeat")
        os.kill(answers, signal.SIGSTOP)
        try:
            await until(lambda: any("no answer for" in line for line in heard), "a word to systemd")
            assert "waiting for the database" in said
        finally:
            os.kill(answers, signal.SIGCONT)
        failed = "SELECT value FROM meta WHERE name = 'daemon:jobs'"
        rows = beside.connection
        await until(lambda: b"no answer for" in rows.execute(failed).fetchone()[0], "a failed heartbeat")
        lines = list(status_lines(read_status(rows, time.time()), store.path, time.time(), Settings()))
        assert [line for line in lines if "heartbeat" in line and "no answer for" in line]
        daemon.stop("test")
        assert await running == "test"
    told = len(said) // 2  # on a busy machine, PostgreSQL may also seem to stand still when it does not
    assert said == ["waiting for the database", "the database answers again"] * told and told


def _daemon(store: Store, settings: Settings, notifier: Notifier | None = None) -> Daemon:
    clock = SystemClock()
    session = wiring.make_session(without_limits(settings), store, clock)
    claim(session)
    lock = DaemonLock(store.database)
    lock.acquire(clock.now())
    ask_to_pause(store.database, pause=True)
    work, budget = Jobs(settings, store, session.frontier, clock), Budget(Hours(), 0)
    return Daemon(
        session,
        work,
        lock,
        store=store,
        clock=clock,
        budget=budget,
        notifier=notifier or Notifier({}),
        observer=Watcher(),
        log=lambda event, **values: None,
        reload=lambda: (session, work, budget),
        ticks=OFTEN,
    )


def _state(database: Database) -> str:
    holder = read_holder(database.connection)
    return holder.state if holder else ""


def _make_due(connection: Connection, now: float) -> tuple[int, int, int]:
    """An endpoint, a page and a catalogue's page are due; the endpoint has four probes of long ago."""
    endpoint = connection.execute("SELECT id FROM endpoint WHERE status = 'valid' ORDER BY id").fetchone()[0]
    connection.execute("UPDATE endpoint SET due_at = ? WHERE id = ?", (now, endpoint))
    rows = connection.execute(
        "SELECT id FROM url WHERE purpose = 'page' AND state = 'visited' ORDER BY id DESC LIMIT 2"
    )
    page, catalogue = (row[0] for row in rows)
    connection.execute("UPDATE url SET revisit_s = 9e9, revisit_at = ? WHERE id IN (?, ?)", (now, page, catalogue))
    connection.execute("UPDATE url SET found_in = 'sitemap' WHERE id = ?", (catalogue,))
    for at in range(4):
        connection.execute(
            "INSERT INTO probe (endpoint_id, at, status, reason, detail, content_type, first_bytes, elapsed_ms, "
            "requests, deviations) VALUES (?, ?, 'valid', 'ok', '', '', '', 1, 1, '[]')",
            (endpoint, float(at)),
        )
    return endpoint, page, catalogue
