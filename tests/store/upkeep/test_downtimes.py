"""A failure in a downtime is neither told nor counted, nor is one that a person acknowledged, until all is well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocrawl.errors import NothingFound, UsageError
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.model.watches import What
from geocrawl.store.catalogue.downtimes import read_downtimes
from geocrawl.store.catalogue.read.history import history_of_service
from geocrawl.store.upkeep.downtimes import Downtimes
from geocrawl.store.upkeep.forget import forget
from geocrawl.store.upkeep.retention import Retention
from tests.store.upkeep.test_watches import RIVERS, ROADS, Watched
from tests.support.world import candidate, verdict

AT = "a.example/wms"


@pytest.fixture
def world(engine_url: str) -> Watched:
    """A watched service that is alive."""
    made = Watched(engine_url)
    made.clock.time = 1_790_000_000.0 // DAY_S * DAY_S
    made.probe(AT, ROADS)
    made.watch(1)
    return made


def hours(world: Watched, count: int, *, ok: bool = False) -> None:
    for _ in range(count):
        world.probe(AT, ROADS if ok else None, "ok" if ok else "timeout-read")


def health(world: Watched) -> str:
    return str(world.database.connection.execute("SELECT health FROM endpoint WHERE id = 1").fetchone()[0])


def plan(world: Watched, subject: int | str, begin: float, end: float | None, weekly: str = "") -> int:
    now, downtimes = world.clock.time, Downtimes(world.database)
    until = None if end is None else now + end
    return downtimes.plan(subject, starts_at=now + begin, ends_at=until, weekly=weekly, at=now).id


@pytest.mark.parametrize("subject", [1, "a.example"])
def test_a_failure_in_a_planned_downtime_is_neither_told_nor_counted(world: Watched, subject: int | str) -> None:
    plan(world, subject, 0.0, 12 * HOUR_S)
    hours(world, 11)
    hours(world, 12, ok=True)
    assert health(world) == "alive" and world.look() == []
    (history,) = history_of_service(world.database.connection, 1, world.clock.time)
    assert history.availability[7] == 1.0 and [event["reason"] for event in history.unasked] == ["planned"] * 11


def test_the_first_failure_at_the_end_of_a_downtime_counts(world: Watched) -> None:
    plan(world, 1, 0.0, 4 * HOUR_S)
    hours(world, 3)
    assert (health(world), world.look()) == ("alive", [])
    hours(world, 2)
    assert (health(world), world.look()) == ("degraded", [])
    hours(world, 1)
    assert (health(world), world.look()) == ("down", [(What.DIED, 1)])


def test_a_death_that_began_before_a_downtime_is_told_before_it_and_its_return_within(world: Watched) -> None:
    hours(world, 3)
    assert world.look() == [(What.DIED, 1)]
    plan(world, 1, 0.0, DAY_S)
    hours(world, 5)
    assert world.look() == []
    hours(world, 1, ok=True)
    assert world.look() == [(What.RETURNED, 1)]


def test_of_downtimes_that_overlap_the_last_to_end_counts(world: Watched) -> None:
    plan(world, 1, 0.0, 2 * HOUR_S)
    first = plan(world, "a.example", HOUR_S, 6 * HOUR_S)
    hours(world, 5)
    assert health(world) == "alive" and Downtimes(world.database).remove(first)
    hours(world, 1)
    assert health(world) == "degraded" and not Downtimes(world.database).remove(first)


def test_the_service_is_asked_again_when_its_downtime_ends(world: Watched) -> None:
    plan(world, 1, 0.0, 5 * HOUR_S)
    hours(world, 1)
    (due,) = world.database.connection.execute("SELECT due_at FROM endpoint").fetchone()
    assert due == world.clock.time + 4 * HOUR_S


def test_the_time_of_a_downtime_is_left_out_also_of_sums(world: Watched) -> None:
    """Ten hours well, ten of downtime with failures, ten dead: half of what is known."""
    hours(world, 10, ok=True)
    plan(world, 1, 0.0, 10 * HOUR_S + 1)
    hours(world, 10)
    hours(world, 11)
    hours(world, 2, ok=True)
    then = world.clock.time
    world.clock.time += 30 * DAY_S
    (single,) = history_of_service(world.database.connection, 1, then)
    while Retention(world.database, keep_days=7).tidy(world.clock.time)["probes"]:
        pass
    assert world.database.connection.execute("SELECT count(*) FROM probe").fetchone() == (2,)
    (rolled,) = history_of_service(world.database.connection, 1, then)
    for history in (single, rolled):
        assert history.availability[7] == pytest.approx(12 / 23)
        assert history.probes == 24


def test_a_death_that_a_person_knows_is_not_told_until_the_service_is_well_again(world: Watched) -> None:
    hours(world, 3)
    world.watches.look(world.numbers, world.clock.now())
    known = Downtimes(world.database).acknowledge(1, world.clock.time, "ticket 212")
    assert world.look() == [], "what waited is dropped"
    hours(world, 48)
    hours(world, 1, ok=True)
    assert world.look() == [(What.RETURNED, 1)]
    hours(world, 1)
    (before,) = read_downtimes(world.database.connection)
    assert (before.ends_at, before.end_at(world.clock.time)) == (None, float("inf")), "it is not well yet"
    hours(world, 1, ok=True)
    (ended,) = read_downtimes(world.database.connection)
    assert ended == replace(known, ends_at=ended.ends_at) and ended.ends_at == world.clock.time
    hours(world, 3)
    assert world.look() == [(What.DIED, 1)], "the next death counts"


def test_an_acknowledged_failure_of_a_service_that_became_another_ones_still_holds(world: Watched) -> None:
    hours(world, 1)
    Downtimes(world.database).acknowledge(1, world.clock.time)
    world.record(candidate("b.example/wms"), verdict("ok", RIVERS), world.clock.time)
    world.database.connection.execute("INSERT INTO service_alias (old, new) VALUES (1, 2)")
    world.database.connection.execute("UPDATE endpoint SET service_id = 2")
    hours(world, 3)
    assert health(world) == "degraded"


def test_what_cannot_be_planned_is_refused(world: Watched) -> None:
    downtimes, now = Downtimes(world.database), world.clock.time
    with pytest.raises(UsageError, match="is well"):
        downtimes.acknowledge(1, now)
    with pytest.raises(NothingFound, match="no service 7"):
        downtimes.acknowledge(7, now)
    with pytest.raises(NothingFound, match=r"b\.example"):
        downtimes.plan("b.example", starts_at=now, ends_at=now + 1, at=now)
    with pytest.raises(UsageError, match="after --from"):
        downtimes.plan(1, starts_at=now, ends_at=now, at=now)


def test_the_downtimes_of_a_forgotten_host_are_gone(world: Watched) -> None:
    world.record(candidate("b.example/wms"), verdict("ok", RIVERS), world.clock.time)
    plan(world, "a.example", 0.0, 1.0)
    kept = plan(world, "b.example", 0.0, 1.0)
    forget(world.database, "a.example", "by request", world.clock.time)
    assert [each.id for each in read_downtimes(world.database.connection)] == [kept]
