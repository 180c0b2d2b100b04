"""A limit on the database's size: what can be had again goes, in its order; the catalogue stays."""

from __future__ import annotations

import asyncio

import pytest

from geocrawl.model import Kind, Rank, RobotsRecord, Service, StoredPage
from geocrawl.settings import Settings
from geocrawl.store.frontier.politeness import SqlPoliteness
from geocrawl.store.upkeep.retention import Retention
from tests.support.invariants import check_invariants
from tests.support.world import World, candidate, link, verdict

DAYS = 400


@pytest.fixture
def world(sqlite_url: str) -> World:
    """A page that named 3,000 others of two tiers; one page and one service are kept."""
    settings = Settings(delay_s=0, max_fruitless_per_pattern=0, store_pages=True)
    world = World(sqlite_url, settings)
    world.seed("a.example/")
    links = [link(f"h{n % 7}.example/{'x' * 300}/{n}", tier=2 if n % 3 else 6) for n in range(3_000)]
    found = [(candidate("maps.example/wms?service=WMS"), None)]
    world.settle(world.lease(), *links, candidates=found, stored=StoredPage("utf-8", b"z" * 200_000, 0.5))
    world.settle(world.lease(), verdict=verdict(service=Service(Kind.WMS, "1.3.0", "Soils")))
    return world


def tidied(world: World, max_bytes: int) -> dict[str, int]:
    retention = Retention(world.database, keep_days=DAYS, max_bytes=max_bytes)
    return retention.tidy(world.clock.now())


def waiting(world: World) -> dict[int, int]:
    return dict(world.frontier.stats().waiting_by_tier)


def used(world: World) -> int:
    return world.database.connection.size().used_bytes


def test_nothing_goes_below_the_limit_or_without_one(world: World) -> None:
    before = waiting(world)
    assert tidied(world, 0) == {"probes": 0} == tidied(world, used(world))
    assert waiting(world) == before == {6: 1000, 2: 2000}


def test_waiting_pages_of_the_lowest_tier_go_first_the_oldest_of_them_before_others(world: World) -> None:
    limit = used(world) - 100_000
    dropped = tidied(world, limit)
    assert used(world) <= limit and "kept pages dropped" not in dropped
    assert waiting(world)[6] == 1000 and waiting(world).get(2, 0) < 2000
    check_invariants(world.database.connection)
    assert world.lease().entry.rank == Rank(6)


def test_of_one_tier_the_oldest_go_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geocrawl.store.upkeep.retention._PAGES", 50)
    rows = "SELECT id FROM url WHERE state = 'waiting' AND tier = 2 ORDER BY id"
    connection = world.database.connection
    before = [row[0] for row in connection.execute(rows)]
    dropped = tidied(world, round(used(world) * 0.97))["waiting pages dropped"]
    assert 0 < dropped < 2000
    assert [row[0] for row in connection.execute(rows)] == before[dropped:]
    check_invariants(connection)


def test_kept_pages_go_next_and_the_catalogue_never(world: World) -> None:
    dropped = tidied(world, 1)
    assert dropped["waiting pages dropped"] == 3000 and dropped["kept pages dropped"] == 1
    connection = world.database.connection
    assert connection.execute("SELECT value FROM counter WHERE name = 'stored-bytes'").fetchone() == (0,)
    assert connection.execute("SELECT status FROM endpoint").fetchall() == [("valid",)]
    assert connection.execute("SELECT title FROM service").fetchall() == [("Soils",)]
    assert connection.execute("SELECT value FROM counter WHERE name = 'refused:no-space'").fetchone() == (3000,)
    assert world.frontier.lease() is None
    check_invariants(connection)


def test_a_page_that_was_dropped_may_come_back(world: World) -> None:
    tidied(world, 1)
    assert world.seed("a.example/", again=True) == 1
    again = link(f"h1.example/{'x' * 300}/1", tier=7)
    world.settle(world.lease(), again)
    assert world.lease().entry.url == again.link.url


def test_a_page_that_is_being_visited_stays(world: World) -> None:
    lease = world.lease()
    tidied(world, 1)
    world.settle(lease)
    assert world.row(lease.entry.url.address)[0] == "visited"
    check_invariants(world.database.connection)


def write_robots(world: World, count: int, text: str, expires_in_s: float = 86_400.0) -> None:
    robots, now = SqlPoliteness(world.database, world.settings), world.clock.now()
    for number in range(count):
        origin = f"http://h{number}.example"
        record = RobotsRecord(origin, 200, text, now, now + expires_in_s)
        asyncio.run(robots.write_robots(record))


def test_a_long_robots_txt_takes_little_room_and_is_read_as_it_was(world: World) -> None:
    text, before = "User-agent: *\nDisallow: /ä\n" * 17_000, used(world)
    write_robots(world, 50, text)
    assert used(world) - before < 500_000
    record = asyncio.run(SqlPoliteness(world.database, world.settings).read_robots("http://h7.example"))
    assert record is not None and record.body == text


def test_expired_robots_txt_go_without_any_limit(world: World) -> None:
    write_robots(world, 20, "Disallow: /")
    expire = "UPDATE robots SET expires_at = ? WHERE origin NOT IN ('http://h0.example', 'http://h1.example')"
    world.database.connection.execute(expire, (world.clock.now() - 31 * 86_400.0,))
    assert tidied(world, 0) == {"probes": 0, "expired robots.txt": 18}
    assert world.database.connection.execute("SELECT count(*) FROM robots").fetchone() == (2,)


def test_expired_robots_txt_go_without_a_daemon(world: World) -> None:
    robots, now = SqlPoliteness(world.database, world.settings), world.clock.now()

    async def grow() -> None:
        for number in range(2_000):
            at = now + 86_400 * number  # each lives a day, and is known for a month
            await robots.write_robots(RobotsRecord(f"http://w{number}.example", 200, "", at, at + 86_400))

    asyncio.run(grow())
    rows = world.database.connection.execute("SELECT origin FROM robots").fetchall()
    assert 31 <= len(rows) <= 31 + 256 and ("http://w1999.example",) in rows


def test_what_a_robots_txt_said_and_since_when_it_is_unreachable_is_kept_for_a_month(world: World) -> None:
    robots, now = SqlPoliteness(world.database, world.settings), world.clock.now()
    asyncio.run(robots.write_robots(RobotsRecord("http://down.example", 503, None, now, now + 600)))
    asyncio.run(robots.write_robots(RobotsRecord("http://rules.example", 200, "Disallow: /", now, now + 600)))
    asyncio.run(robots.write_robots(RobotsRecord("http://none.example", 404, "", now, now + 600)))
    for days, is_kept in ((20, True), (40, False)):
        at = now + 86_400 * days
        asyncio.run(
            SqlPoliteness(world.database, world.settings).write_robots(
                RobotsRecord("http://a.example", 200, "", at, at + 600)
            )
        )
        assert (asyncio.run(robots.read_robots("http://down.example")) is not None) is is_kept
        assert (asyncio.run(robots.read_robots("http://rules.example")) is not None) is is_kept
        assert (asyncio.run(robots.read_robots("http://none.example")) is not None) is is_kept


def test_robots_txt_and_history_go_before_any_waiting_page(world: World) -> None:
    connection, limit = world.database.connection, round(used(world) * 1.2)
    write_robots(world, 400, "".join(f"Disallow: /{n * 7919 % 10_007}\n" for n in range(2_000)))
    row = (1, 1, 5.0, "abstract", "", "x" * 500, "y" * 500)
    with world.database.transaction:
        connection.executemany(
            "INSERT INTO change (endpoint_id, service_id, at, what, name, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [row] * 3_000,
        )
        connection.executemany(
            "INSERT INTO probe (endpoint_id, at, status, reason, detail, content_type, first_bytes, elapsed_ms, "
            "requests, deviations) VALUES (1, ?, 'valid', 'ok', '', '', ?, 1, 1, '[]')",
            [(float(n), "z" * 300) for n in range(3_000)],
        )
    dropped = tidied(world, limit)
    assert dropped["robots.txt dropped"] == 400 and dropped["probes dropped"] and dropped["changes dropped"]
    assert "waiting pages dropped" not in dropped and sum(waiting(world).values()) == 3000
    assert connection.execute("SELECT count(*) FROM probe").fetchone()[0] >= 2
