"""Watches report each change once: deaths, returns, lost layers, new services; and they are quiet after repeats."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.errors import NothingFound, UsageError
from geocrawl.model import Kind, Layer, Service
from geocrawl.model.health import DAY_S
from geocrawl.model.watches import MOST_FAILURES, Notice, What
from geocrawl.settings import Settings
from geocrawl.store.upkeep.clock_limits import shorten_waits
from geocrawl.store.upkeep.forget import forget
from geocrawl.store.upkeep.watches import QUIET_AFTER, Watches
from tests.store.transactions import transactions_of
from tests.support.world import World, candidate, verdict

ROADS = Service(
    kind=Kind.WMS,
    version="1.3.0",
    title="Roads",
    layers=tuple(Layer(f"l{number}", f"L {number}") for number in range(30)),
    fingerprint="f1",
)
RIVERS = replace(ROADS, title="Rivers", fingerprint="f2")


class Watched(World):
    """A catalogue with watches, whose searches find services by a part of their title."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(path)
        self.watches: Watches = Watches(self.store.database)

    def probe(self, at: str, service: Service | None, reason: str = "ok") -> None:
        self.clock.time += 3600
        self.record(candidate(at), verdict(reason, service), self.clock.now())

    def die(self, at: str) -> None:
        for _ in range(4):
            self.probe(at, None, "timeout-read")

    def numbers(self, query: str) -> Collection[int]:
        if query == "broken:":
            raise UsageError("broken: no such condition")
        rows = self.database.connection.execute("SELECT id FROM service WHERE title LIKE ?", (f"%{query}%",))
        return [row[0] for row in rows]

    def look(self) -> list[tuple[What, int]]:
        """Look, deliver everything, and return what was delivered."""
        self.clock.time += 1
        self.watches.look(self.numbers, self.clock.now())
        found = []
        for delivery in self.watches.due(self.clock.now()):
            found += [(notice.what, notice.service_id) for notice in delivery.notices]
            self.watches.delivered(delivery, self.clock.now())
        return found

    def watch(self, subject: int | str) -> int:
        return self.watches.add(subject, "mail:a@b.example", "", self.numbers, self.clock.now()).id


@pytest.fixture
def world(tmp_path: Path) -> Watched:
    made = Watched(tmp_path / "crawl.db")
    made.probe("a.example/wms", ROADS)
    return made


def test_a_death_and_a_return_are_reported_once(world: Watched) -> None:
    world.watch(1)
    assert world.look() == []
    world.probe("a.example/wms", None, "timeout-read")
    assert world.look() == [], "one failure is no death"
    world.die("a.example/wms")
    assert world.look() == [(What.DIED, 1)]
    assert world.look() == []
    world.probe("a.example/wms", ROADS)
    assert world.look() == [(What.RETURNED, 1)]
    assert world.look() == []


def test_what_was_before_the_watch_is_not_reported_but_a_return_is(world: Watched) -> None:
    world.die("a.example/wms")
    world.watch(1)
    assert world.look() == []
    world.probe("a.example/wms", ROADS)
    assert world.look() == [(What.RETURNED, 1)]


def test_a_service_with_another_address_that_lives_is_not_dead(world: Watched) -> None:
    world.probe("www.a.example/wms", ROADS)
    assert world.database.connection.execute("SELECT count(*) FROM service").fetchone() == (1,)
    world.watch(1)
    world.die("a.example/wms")
    assert world.look() == []
    world.die("www.a.example/wms")
    assert world.look() == [(What.DIED, 1)]


def test_lost_layers_are_named(world: Watched) -> None:
    world.watch(1)
    world.probe("a.example/wms", replace(ROADS, layers=ROADS.layers[:5], fingerprint="f9"))
    world.watches.look(world.numbers, world.clock.now())
    (delivery,) = world.watches.due(world.clock.now())
    (notice,) = delivery.notices
    assert (notice.what, notice.title, notice.url) == (What.LAYERS_REMOVED, "Roads", "http://a.example/wms")
    assert notice.layers == tuple(f"l{number}" for number in range(5, 25)) and notice.more_layers == 5


def test_of_many_watched_services_those_with_news_alone_are_looked_at_one_by_one(world: Watched) -> None:
    for number in range(2, 20):
        world.probe(f"s{number}.example/wms", replace(ROADS, title=f"Roads {number}", fingerprint=f"n{number}"))
        world.watch(number)
    world.watch(1)
    world.die("s7.example/wms")
    world.probe("s9.example/wms", replace(ROADS, title="Roads 9", layers=ROADS.layers[:5], fingerprint="n9b"))
    with transactions_of(world.database) as done:
        assert world.watches.look(world.numbers, world.clock.now()) == 2
    assert len(done) == 4, "of all, of each of the two, and of what is too old"
    assert world.look() == [(What.DIED, 7), (What.LAYERS_REMOVED, 9)]


def test_a_search_reports_what_it_finds_for_the_first_time(world: Watched) -> None:
    world.watch("R")
    assert world.look() == []
    world.probe("b.example/wms", RIVERS)
    assert world.look() == [(What.NEW, 2)]
    assert world.look() == []
    world.die("b.example/wms")
    assert world.look() == [(What.DIED, 2)]
    world.probe("b.example/wms", replace(RIVERS, title="Water", fingerprint="f3"))
    assert world.look() == [(What.RETURNED, 2)], "also of one that the search finds no more"
    world.probe("b.example/wms", RIVERS)
    assert world.look() == [], "it was found before"


def test_of_very_many_new_services_the_first_have_notices(world: Watched) -> None:
    world.watch("Mass")
    with world.database.transaction:
        columns = (
            "kind, fingerprint, site, title, abstract, keywords, provider, contact, fees, access_constraints, version"
        )
        statement = f"INSERT INTO service ({columns}, formats, online_resource, layer_count, first_seen, last_ok) "
        values = ("wms", "f", "x", "Mass", "", "[]", "", "{}", "", "", "1", "[]", "", 0, 1.0, 1.0)
        for number in range(600):
            added = world.database.connection.execute(
                f"{statement} VALUES ({', '.join('?' * len(values))}) RETURNING id", values
            )
            row = ("wms", f"k{number}", "http://x.example/", "x", "x", 0, added.fetchone()[0], 1.0)
            names = "kind, key, url, host, site, weak, service_id, first_seen"
            world.database.connection.execute(f"INSERT INTO endpoint ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    world.watches.look(world.numbers, world.clock.now())
    (delivery,) = world.watches.due(world.clock.now())
    assert [each.more_services for each in delivery.notices] == [0] * 499 + [100]
    world.watches.delivered(delivery, world.clock.now())
    assert world.look() == []


def test_a_service_that_flaps_is_reported_a_few_times(world: Watched) -> None:
    world.watch(1)
    reported = list[Notice]()
    for _ in range(5):
        world.die("a.example/wms")
        world.watches.look(world.numbers, world.clock.now())
        world.probe("a.example/wms", ROADS)
        world.watches.look(world.numbers, world.clock.now())
        for delivery in world.watches.due(world.clock.now()):
            reported += delivery.notices
            world.watches.delivered(delivery, world.clock.now())
    assert [each.what for each in reported] == [What.DIED, What.RETURNED] * (QUIET_AFTER // 2)
    assert [each.is_last for each in reported] == [False] * (QUIET_AFTER - 1) + [True]
    world.clock.time += 8 * DAY_S
    world.die("a.example/wms")
    assert world.look() == [(What.DIED, 1)], "it was quiet for a week"


def test_what_is_not_delivered_waits_and_is_given_up_in_the_end(world: Watched) -> None:
    world.watch(1)
    world.die("a.example/wms")
    world.watches.look(world.numbers, world.clock.now())
    pauses = []
    for _ in range(MOST_FAILURES):
        (delivery,) = world.watches.due(world.clock.now())
        world.watches.failed(delivery, "no answer", world.clock.now())
        (watch,) = world.watches.all()
        assert world.watches.due(world.clock.now()) == []
        pauses.append(watch.retry_at - world.clock.now())
        world.clock.time = watch.retry_at
    assert pauses == [60.0 * 2**failure for failure in range(MOST_FAILURES)]
    assert len(world.watches.due(world.clock.now())) == 1, "it is given up, and still tried"
    world.clock.time += 400  # until when another process may be delivering
    (delivery,) = world.watches.due(world.clock.now(), again=True)
    world.watches.delivered(delivery, world.clock.now())
    (watch,) = world.watches.all()
    assert (watch.unsent, watch.failures, watch.last_error) == (0, 0, "")


def test_two_processes_do_not_deliver_the_same(world: Watched) -> None:
    world.watch(1)
    world.die("a.example/wms")
    world.watches.look(world.numbers, world.clock.now())
    assert len(world.watches.due(world.clock.now())) == 1
    assert Watches(world.store.database).due(world.clock.now(), again=True) == []
    world.clock.time += 301
    assert len(Watches(world.store.database).due(world.clock.now())) == 1, "a killed process keeps it for five minutes"


def test_many_notices_are_sent_in_parts(world: Watched) -> None:
    world.watch("S")
    with world.database.transaction:
        rows = [(1, 1.0, "new", 1, "{}")] * 700
        statement = "INSERT INTO notice (watch_id, at, what, service_id, detail) VALUES (?, ?, ?, ?, ?)"
        world.database.connection.executemany(statement, rows)
    assert [len(world.look()) for _ in range(3)] == [500, 200, 0]


def test_a_search_that_cannot_be_read_stops_no_other(world: Watched) -> None:
    with pytest.raises(UsageError):
        world.watch("broken:")
    number = world.watch("Roads")
    with world.database.transaction:
        world.database.connection.execute("UPDATE watch SET query = 'broken:' WHERE id = ?", (number,))
    world.watch(1)
    world.die("a.example/wms")
    assert world.look() == [(What.DIED, 1)]
    assert world.watches.all()[0].last_error == "broken: no such condition"


def test_a_watch_is_added_once_and_removed_with_its_notices(world: Watched) -> None:
    number = world.watch(1)
    with pytest.raises(UsageError, match=f"watch {number} tells mail:a@b.example of that already"):
        world.watch(1)
    with pytest.raises(NothingFound, match="no service 99"):
        world.watch(99)
    world.die("a.example/wms")
    world.watches.look(world.numbers, world.clock.now())
    assert world.watches.remove(number) and not world.watches.remove(number)
    assert world.database.connection.execute("SELECT count(*) FROM notice").fetchone() == (0,)


def test_a_service_that_was_removed_is_forgotten_silently(world: Watched) -> None:
    world.watch(1)
    world.watch("R")
    forget(world.store.database, "a.example", "asked", world.clock.now())
    assert world.look() == []
    assert [watch.services for watch in world.watches.all()] == [0, 0]


def test_a_watch_follows_its_service_into_another_one_and_out_again(world: Watched) -> None:
    world.probe("b.example/wms", RIVERS)
    world.watch(2)
    catalog = world.store.catalog()
    catalog.decide((1, 2), same=True, at=world.clock.now())
    assert world.look() == [] and world.watches.all()[0].services == 1
    world.die("b.example/wms")
    assert world.look() == [], "the service answers at its other address"
    catalog.decide((1, 2), same=False, at=world.clock.now())
    assert world.look() == [(What.DIED, 2)]
    world.die("a.example/wms")
    assert world.look() == [], "the other one is a service that nobody watches"


def test_what_becomes_another_service_is_no_loss_of_the_one_that_it_was(world: Watched) -> None:
    world.probe("a.example/maps", ROADS)
    world.watch(1)
    world.probe("a.example/maps", replace(RIVERS, layers=RIVERS.layers[:3]))
    assert world.database.connection.execute("SELECT count(*) FROM service").fetchone() == (2,)
    assert world.look() == []
    assert world.database.connection.execute("SELECT what FROM change WHERE service_id = 1").fetchall() == []


def test_a_wrong_clock_silences_no_watch(world: Watched) -> None:
    world.watch(1)
    right = world.clock.time
    world.clock.time = right + 400 * DAY_S
    world.die("a.example/wms")
    world.watches.look(world.numbers, world.clock.now())
    (delivery,) = world.watches.due(world.clock.now())
    world.watches.failed(delivery, "away", world.clock.now())
    (delivery,) = world.watches.due(world.clock.now() + DAY_S)
    world.clock.time = right  # and the process that delivers was killed
    off = shorten_waits(world.store.database, Settings(), right)
    assert {"watch.retry_at", "watch.busy_until", "notice.at"} <= off.keys()
    (delivery,) = world.watches.due(right + DAY_S)
    assert [notice.what for notice in delivery.notices] == [What.DIED]
