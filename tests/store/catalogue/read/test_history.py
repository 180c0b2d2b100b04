"""Health, changes and history as the catalogue keeps them."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from shapely.geometry import box
from sqlalchemy import ClauseElement

from geocrawl.model import SIBLING, Kind, Layer, Service
from geocrawl.model.availability import ProbeSum, availability, availability_by_part, one_probe, response_times
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.store import Connection
from geocrawl.store.catalogue.read.history import (
    changes_since,
    history_of_service,
    read_news,
    read_survival,
)
from geocrawl.store.catalogue.write.health import due
from geocrawl.store.database.sqlite.connection import SqliteConnection
from tests.support.world import World, candidate, verdict

ROADS = Layer("roads", "Roads", box=box(5, 47, 15, 55))
SERVICE = Service(Kind.WMS, "1.3.0", "Maps", provider="Survey", layers=(ROADS,), fingerprint="a")


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url)


def record(world: World, reason: str = "ok", service: Service | None = SERVICE, *, after_days: float = 0.0) -> int:
    world.clock.time += after_days * DAY_S
    found = verdict(reason, service if reason == "ok" else None, elapsed_ms=100.0)
    return world.record(candidate("maps.example.org/ows"), found, world.clock.time)


def test_each_verdict_moves_the_health_on_and_sets_the_next_probe(world: World) -> None:
    number = record(world)
    read = "SELECT health, due_at - last_probe FROM endpoint"
    health, wait = world.database.connection.execute(read).fetchone()
    assert health == "alive" and 0.8 * DAY_S < wait < 1.2 * DAY_S
    assert due(world.database.connection, world.clock.time, 10) == []
    assert due(world.database.connection, world.clock.time + 2 * DAY_S, 10) == [number]
    for reason in ("timeout-read", "http-503", "exception"):
        record(world, reason, after_days=1)
    assert world.database.connection.execute(read).fetchone()[0] == "down"
    events = history_of_service(world.database.connection, 1, world.clock.time)[0].events
    assert [event["after"] for event in events] == ["down", "degraded", "alive"]
    assert events[0]["reason"] == "exception"


def test_an_ordinary_page_that_looked_like_a_service_is_not_asked_again(world: World) -> None:
    record(world, "html")
    assert due(world.database.connection, world.clock.time + 400 * DAY_S, 10) == []


def test_what_was_only_guessed_and_does_not_answer_is_not_asked_again(world: World) -> None:
    named = candidate("maps.example.org/ows")
    guessed = replace(candidate("maps.example.org/wfs"), evidence=replace(named.evidence, signal=SIBLING))
    world.record(guessed, verdict("http-404"), world.clock.time)
    world.record(named, verdict("http-404"), world.clock.time)
    later = world.clock.time + 400 * DAY_S
    assert len(due(world.database.connection, later, 10)) == 1, "what somebody names"
    world.record(replace(guessed, evidence=named.evidence), verdict("http-404"), world.clock.time)
    assert len(due(world.database.connection, later, 10)) == 2, "and what somebody comes to name"


def test_what_changed_between_two_descriptions_is_kept(world: World) -> None:
    record(world)
    moved = replace(ROADS, box=box(6, 47, 15, 55), title="Roads and paths")
    rivers = Layer("rivers", "Rivers")
    record(world, service=replace(SERVICE, title="New maps", layers=(moved, rivers), fingerprint="b"), after_days=3)
    record(world, service=replace(SERVICE, title="New maps", layers=(rivers,), fingerprint="c"), after_days=3)
    rows = list(changes_since(world.database.connection, 0.0, 100))
    what = {(row["what"], row["name"], row["before"], row["after"]) for row in rows}
    assert what == {
        ("health", "ok", "new", "alive"),
        ("title", "", "Maps", "New maps"),
        ("layer-title", "roads", "Roads", "Roads and paths"),
        ("layer-box", "roads", "5, 47, 15, 55", "6, 47, 15, 55"),
        ("layer-added", "rivers", "", "Rivers"),
        ("layer-removed", "roads", "Roads and paths", ""),
    }
    assert [row["at"] for row in rows] == sorted((float(str(row["at"])) for row in rows), reverse=True)
    assert list(changes_since(world.database.connection, world.clock.time + 1, 100)) == []


def test_the_same_description_again_changes_nothing(world: World) -> None:
    record(world)
    record(world, after_days=1)
    assert {row["what"] for row in changes_since(world.database.connection, 0.0, 100)} == {"health"}


def test_availability_is_the_share_of_time_and_not_of_probes(world: World) -> None:
    record(world)
    record(world, "http-503", after_days=6)
    record(world, "http-503", after_days=0.1)
    record(world, "http-503", after_days=0.1)
    world.clock.time += 0.8 * DAY_S
    found = history_of_service(world.database.connection, 1, world.clock.time)[0]
    assert found.availability[7] == pytest.approx(6 / 7)
    assert found.availability[365] == pytest.approx(6 / 7), "counted from the first answer on"
    assert found.response_ms == {}, "one valid answer has no percentiles"
    record(world, after_days=1)
    found = history_of_service(world.database.connection, 1, world.clock.time)[0]
    assert found.response_ms == {50: 100.0, 90: 100.0, 99: 100.0}
    assert [each.is_last_valid for each in found.sums] == [True, False, False, False, True]
    assert found.sums[0].first_at == found.first_seen


def answered(*answers: tuple[float, bool]) -> list[ProbeSum]:
    return [one_probe(at, is_valid) for at, is_valid in answers]


def test_an_answer_before_the_window_holds_into_it() -> None:
    answers = answered((0.0, True), (80 * HOUR_S, False))
    assert availability(answers, 50 * HOUR_S, 100 * HOUR_S) == pytest.approx(30 / 50)
    assert availability([], 0.0, 1.0) is None


def test_one_answer_or_two_in_one_breath_say_nothing_of_a_service_over_time() -> None:
    assert availability(answered((0.0, True)), 0.0, 7 * DAY_S) is None
    assert availability(answered((0.0, True), (60.0, True)), 0.0, 7 * DAY_S) is None
    assert availability(answered((0.0, True), (HOUR_S, True)), 0.0, 7 * DAY_S) == 1.0


def test_each_part_of_a_time_has_the_availability_in_it() -> None:
    answers = answered((1 * DAY_S, True), (2 * DAY_S, False), (2.5 * DAY_S, True))
    found = availability_by_part(answers, 0.0, 4 * DAY_S, 4)
    assert found == [(0.0, None), (DAY_S, 1.0), (2 * DAY_S, 0.5), (3 * DAY_S, 1.0)]
    assert availability_by_part(answers[:1], 0.0, 2 * DAY_S, 2) == [(0.0, None), (DAY_S, None)], (
        "one answer tells nothing"
    )


def test_an_answer_does_not_count_for_ever() -> None:
    answers = answered((0.0, True), (DAY_S, True))
    assert availability(answers, 100 * DAY_S, 200 * DAY_S) is None
    assert availability([*answers, one_probe(199 * DAY_S, False)], 100 * DAY_S, 200 * DAY_S) == 0.0


def test_response_times_are_bounds_that_hold_for_their_share_of_the_answers() -> None:
    times = [5.0, 1.0, 3.0, 2.0, 4.0, 3_000.0, 2_700.0]
    found = [one_probe(float(at), True, each) for at, each in enumerate(times)]
    assert response_times(found) == {50: 4.0, 90: 3_000.0, 99: 3_000.0}
    assert response_times(found[:1]) == {} == response_times(answered((0.0, True), (1.0, True)))


def test_survival_counts_the_living_as_not_dead_yet(world: World) -> None:
    for host in ("a", "b", "c", "d"):
        world.record(candidate(f"{host}.example.org/ows"), verdict("ok", SERVICE), world.clock.time)
    for days, dead in ((10, "a"), (20, "b")):
        for hour in range(4):
            at = world.clock.time + (days + hour / 24) * DAY_S
            world.record(candidate(f"{dead}.example.org/ows"), verdict("timeout-read"), at)
    for host in ("c", "d"):
        world.record(candidate(f"{host}.example.org/ows"), verdict("ok", SERVICE), world.clock.time + 30 * DAY_S)
    found = read_survival(world.database.connection)
    assert (found.services, found.deaths) == (4, 2)
    assert found.curve[0] == (0.0, 1.0) and found.curve[-1][1] == pytest.approx(0.5)


_ENDPOINT = """
INSERT INTO endpoint (id, kind, key, url, host, site, weak, status, first_seen, last_probe, last_ok, probes, health)
VALUES ({0}, 'wms', '{0}', '', '', '', 0, 'valid', 0, {1}, {2}, 2, '{3}')"""


def test_survival_is_that_of_kaplan_and_meier(world: World) -> None:
    rng, lives = random.Random(7), list[tuple[float, bool]]()
    for number in range(1, 200):
        last_probe, dead = rng.uniform(1, 40) * DAY_S, rng.random() < 0.4
        last_ok = last_probe - rng.uniform(0, 1) * DAY_S if dead else last_probe
        world.database.connection.execute(_ENDPOINT.format(number, last_probe, last_ok, "down" if dead else "alive"))
        lives.append((last_ok / DAY_S, dead))
    share, curve = 1.0, [(0.0, 1.0)]
    for day in sorted({math.floor(days) for days, dead in lives if dead}):
        deaths = sum(dead and math.floor(days) == day for days, dead in lives)
        share *= 1 - deaths / sum(days >= day for days, _ in lives)
        curve.append((float(day), share))
    found = read_survival(world.database.connection)
    assert (found.services, found.deaths) == (len(lives), sum(dead for _, dead in lives))
    assert found.observed_days == pytest.approx(max(days for days, _ in lives))
    assert [day for day, _ in found.curve] == [day for day, _ in curve]
    assert [share for _, share in found.curve] == pytest.approx([share for _, share in curve])


def test_survival_is_counted_by_the_database(world: World) -> None:
    for number in range(1, 1000):
        world.database.connection.execute(_ENDPOINT.format(number, 9 * DAY_S, 9 * DAY_S, "alive"))
    read = list[object]()

    class Counting:
        def execute(self, statement: ClauseElement) -> Counting:
            read.extend(world.database.connection.execute(statement).fetchall())
            return self

        def fetchall(self) -> list[object]:
            return read

    assert read_survival(cast("Connection", Counting())).services == 999
    assert len(read) == 1, "the lives of one day, not each of them"


def test_the_past_of_a_service_is_found_by_indexes(tmp_path: Path) -> None:
    """It costs the same however much happened to all others."""
    world = World(tmp_path / "c.db")
    record(world)
    connection = world.database.connection
    assert isinstance(connection, SqliteConnection)
    asked = list[str]()
    connection.trace(asked.append)
    history_of_service(connection, 1, world.clock.time)
    read_news(connection, 9, [1])
    connection.trace(None)
    steps = [step for text in asked for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {text}")]
    past = [step for step in steps if any(f" {table} " in step for table in ("probe", "health_event", "change"))]
    assert len(past) >= 6
    assert any("SEARCH probe_sum USING PRIMARY KEY (endpoint_id=?)" in step for step in steps), steps
    assert all("_endpoint (endpoint_id=?" in step for step in past), past
