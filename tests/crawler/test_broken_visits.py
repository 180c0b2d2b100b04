"""Visits that raise, settlements that cannot be written, and addresses that kill the process."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geocrawl.app import wiring
from geocrawl.app.findings import check_status
from geocrawl.crawler.loop import Crawler
from geocrawl.demo import DemoWeb
from geocrawl.model import Document, Judgement, Page, State
from geocrawl.ports import Strategy
from geocrawl.priority.strategies.breadth_first import BreadthFirst
from geocrawl.reading import ReadingProcesses
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from geocrawl.store.frontier.status import read_status
from tests.support.crawls import Watcher, crawl, settings_for
from tests.support.lives import end
from tests.support.world import World

PLACE = Path("c.db")
BROKEN = 3
"""Every page with a number that this divides is broken."""


class Raising(BreadthFirst):
    """Breadth-first, but raises on some pages."""

    def judge(self, document: Document) -> Judgement:
        if len(document.url.address) % BROKEN == 0 and document.depth > 0:
            raise RecursionError(f"a defect at {document.url.address}")
        return super().judge(document)


class Unwritable(BreadthFirst):
    """Breadth-first, but gives some pages a score that no column holds."""

    def judge(self, document: Document) -> Judgement:
        judgement = super().judge(document)
        is_broken = len(document.url.address) % BROKEN == 0 and document.depth > 0
        return replace(judgement, score=10**400) if is_broken else judgement


@pytest.mark.parametrize("strategy", [Raising({}), Unwritable({})], ids=["raises", "cannot be written"])
def test_a_broken_visit_fails_and_the_crawl_goes_on_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: Strategy
) -> None:
    monkeypatch.setattr(wiring, "make_strategy", lambda *_: strategy)
    with DemoWeb() as web:
        report, _ = crawl(settings_for(web, workers=1), tmp_path / "c.db", web.seeds)
        delayed = [request.url for request in web.requests if request.kind == "page"]
    assert report.summary.stopped in ("done", "resting")
    assert report.summary.reasons["internal-error"] > 5
    with open_readonly(tmp_path / "c.db") as connection:
        rows = connection.execute(
            "SELECT address, attempts, retry_at, title FROM url WHERE reason = 'internal-error'"
        ).fetchall()
    assert len(rows) == report.summary.reasons["internal-error"]
    assert all(len(address) % BROKEN == 0 and attempts == 1 and retry_at for address, attempts, retry_at, _ in rows)
    assert all(delayed.count(address) == 1 for address, *_ in rows), "asked once, not first at every lease"


def test_the_traceback_of_a_broken_visit_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "make_strategy", lambda *_: Raising({}))
    told: list[str] = []
    monkeypatch.setattr(
        Watcher, "settled", lambda self, entry, visit, result: told.append(visit.fault) if visit.fault else None
    )
    with DemoWeb() as web:
        crawl(settings_for(web, max_pages=40), tmp_path / "c.db", web.seeds)
    assert told and all("RecursionError: a defect at http" in text and "Traceback" in text for text in told)


# --------------------------------------------------------------------------- killed processes


def _kill(world: World) -> None:
    """Make the leases of a world those of a process that has ended."""
    world.database.connection.execute("UPDATE host SET lease_owner = 'test:99999999' WHERE lease_until > 0")
    end(world.database, "test:99999999", world.clock.now())


def _reopen(tmp_path: Path) -> World:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    world.clock.time += 3600.0
    return world


def test_an_address_that_kills_the_process_is_suspect_then_visited_alone_then_set_aside(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    world.seed("a.example/poison", "a.example/good")
    states = []
    for _ in range(4):
        entry = world.lease().entry
        assert entry.url.address == "http://a.example/poison"
        states.append((entry.is_suspect, entry.is_visited_alone))
        _kill(world)
        world = _reopen(tmp_path)
    assert states == [(False, False), (True, False), (True, True), (True, True)]
    assert world.lease().entry.url.address == "http://a.example/good"
    assert _stored(world, "poison") == (State.FAILED, "killed", 0, 4)
    assert world.frontier.revisit(world.clock.now() + 1e9, 10, catalogues=False) == 0, "it waits for a person"
    with world.reading() as connection:
        status = read_status(connection, world.clock.now())
        finding = next(each for each in check_status(status, PLACE, 0.0) if each.code == "killers-waiting")
    assert status.killers == ("http://a.example/poison",) and "a.example/poison" in finding.text
    assert world.frontier.retry(reason="killed") == 1
    assert _stored(world, "poison")[3] == 0
    with world.reading() as connection:
        assert read_status(connection, world.clock.now()).killers == ()


def test_what_was_under_way_at_two_power_cuts_is_neither_set_aside_nor_counted_for_others(tmp_path: Path) -> None:
    hosts = [f"{name}.example/" for name in "abcdef"]
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    world.seed(*hosts)
    for cut in range(6):
        for _ in hosts:
            assert world.lease().entry.kills == min(cut, 2), "a kill among others says nothing of one of them"
        _kill(world)
        world = _reopen(tmp_path)
    lease = world.lease()
    world.settle(lease)
    assert _stored(world, lease.entry.url.host)[3] == 0, "one settled visit clears it"


def _stored(world: World, part: str) -> tuple[object, ...]:
    row: tuple[object, ...] = world.database.connection.execute(
        f"SELECT state, reason, attempts, kills FROM url WHERE address LIKE '%{part}%'"
    ).fetchone()
    return row


@pytest.mark.parametrize("workers", [1, 8])
def test_a_suspect_is_visited_alone_and_read_in_processes_and_the_crawl_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    crowd = list[int]()
    carry_out, run = Crawler._carry_out, ReadingProcesses.run
    read = list[str]()

    async def counted(loop: Crawler, under_way: Any, slot: Any) -> None:
        if under_way.lease.entry.kills:
            crowd.append(loop.under_way)
        await carry_out(loop, under_way, slot)
        if under_way.lease.entry.kills:
            crowd.append(loop.under_way)

    async def noted(pool: ReadingProcesses, page: Page, think: Any) -> Any:
        read.append(page.url.address)
        return await run(pool, page, think)

    monkeypatch.setattr(Crawler, "_carry_out", counted)
    monkeypatch.setattr(ReadingProcesses, "run", noted)
    with DemoWeb() as web:
        settings = settings_for(web, workers=workers)
        crawl(replace(settings, max_pages=3), tmp_path / "c.db", web.seeds)
        with sqlite3.connect(tmp_path / "c.db") as connection:
            waiting = connection.execute("SELECT id, address FROM url WHERE state = 'waiting' AND purpose = 'page'")
            (suspect, address) = waiting.fetchall()[-1]
            connection.execute("UPDATE url SET kills = 2 WHERE id = ?", [suspect])
        report, _ = crawl(settings, tmp_path / "c.db", web.seeds)
    assert report.summary.stopped in ("done", "resting") and report.summary.pages > 20
    assert crowd == [1, 0], "nothing else was under way when its visit began, and nothing began before it ended"
    assert address in read


def test_a_kill_takes_no_attempt_from_an_address(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0, max_attempts=2))
    world.seed("a.example/")
    world.lease()
    _kill(world)
    world = _reopen(tmp_path)
    lease = world.lease()
    assert lease.entry.attempts == 0
    world.settle(lease, state=State.FAILED, reason="reset", retry_after_s=60.0)
    world.clock.time += 3600.0
    assert world.lease().entry.attempts == 1


def test_a_host_whose_process_was_killed_rests_like_any_other(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=1.0))
    world.seed("a.example/", "a.example/2", "b.example/")
    assert world.lease().host.name == "a.example"
    _kill(world)
    world = World(tmp_path / "c.db", Settings(delay_s=1.0))
    row = world.database.connection.execute("SELECT next_at, parked FROM host WHERE name = 'a.example'").fetchone()
    assert row[0] > world.clock.now() + 5.0 and row[1] == 1, "no better pages are hoped for from it"


def test_a_lease_that_was_given_back_or_settled_is_no_attempt(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    world.seed("a.example/", "b.example/")
    world.lease()
    world.frontier.release_all()
    _kill(world)
    world = _reopen(tmp_path)
    attempts = world.database.connection.execute("SELECT sum(attempts) FROM url").fetchone()
    assert attempts == (0,)


def test_the_queue_and_its_counters_agree_after_an_address_failed_by_killing(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    world.seed("a.example/poison")
    for _ in range(4):
        world.lease()
        _kill(world)
        world = _reopen(tmp_path)
    assert world.frontier.lease() is None
    stats = world.frontier.stats()
    assert (stats.states.get(State.WAITING, 0), stats.states[State.FAILED]) == (0, 1)
