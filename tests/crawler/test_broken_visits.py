"""Visits that raise, settlements that cannot be written, and addresses that kill the process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app import wiring
from geocrawl.demo import DemoWeb
from geocrawl.model import Document, Judgement, State
from geocrawl.ports import Strategy
from geocrawl.priority.strategies.breadth_first import BreadthFirst
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.support.crawls import Watcher, crawl, settings_for
from tests.support.lives import end
from tests.support.world import World

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


def test_an_address_that_kills_the_process_does_not_come_first_for_ever(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    world.seed("a.example/poison", "a.example/good")
    leased = []
    for _ in range(13):
        leased.append(world.lease().entry.url.address)
        _kill(world)
        world = _reopen(tmp_path)
    assert leased == ["http://a.example/poison"] * 12 + ["http://a.example/good"]
    row = world.database.connection.execute(
        "SELECT state, reason, attempts, kills FROM url WHERE address LIKE '%poison'"
    ).fetchone()
    assert row == (State.FAILED, "internal-error", 0, 12)


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
    for _ in range(12):
        world.lease()
        _kill(world)
        world = _reopen(tmp_path)
    assert world.frontier.lease() is None
    stats = world.frontier.stats()
    assert (stats.states.get(State.WAITING, 0), stats.states[State.FAILED]) == (0, 1)
