"""Who crawls on a database, since when and how fast."""

from __future__ import annotations

from pathlib import Path

from geocrawl.cli.status import status_lines
from geocrawl.settings import Settings
from geocrawl.store.database.life import SILENT_S
from geocrawl.store.database.processes import read_workers
from geocrawl.store.database.sqlite.connection import MEMORY
from geocrawl.store.frontier.status import read_status
from tests.support.lives import beat
from tests.support.world import World


def test_a_crawl_is_shown_with_its_leases_and_its_speed(engine_url: str) -> None:
    world = World(engine_url, owner="here 0123abcd:17")
    connection = world.database.connection
    assert read_workers(connection, world.clock.now()) == []
    run = world.store.start_run("fusion", world.settings)
    beat(world.database, "here 0123abcd:17", world.clock.now())
    assert [worker.learns for worker in read_workers(connection, world.clock.now())] == [False]
    assert world.frontier.lead()
    world.seed("a.example/", "b.example/", "c.example/")
    for _ in range(2):
        world.visit()
    world.lease()
    world.clock.time += 20.0
    world.database.life.beat()
    if world.database.path == MEMORY:
        beat(world.database, "here 0123abcd:17", world.clock.now(), settled=2)
    (found,) = read_workers(connection, world.clock.now())
    assert (found.process, found.strategy, found.learns) == ("here:17", "fusion", True)
    assert (found.leases, found.settled, found.since) == (1, 2, world.clock.now() - 20.0)
    assert world.database.path == MEMORY or found.a_minute == 6.0
    world.store.end_run(run, pages=2, services=0, stopped="ended")
    assert read_workers(connection, world.clock.now()) == []


def test_one_on_another_machine_counts_while_it_beats(engine_url: str) -> None:
    world, owner = World(engine_url), "elsewhere 0123abcd:77"
    now, connection = world.clock.now(), world.database.connection
    connection.execute(
        "INSERT INTO run (id, started_at, owner, strategy, settings) VALUES (1, ?, ?, 'bfs', '{}')",
        (now - 10_000, owner),
    )
    assert read_workers(connection, now) == []
    beat(world.database, owner, now)
    (found,) = read_workers(connection, now + 5.0)
    assert (found.process, found.leases, found.a_minute) == ("elsewhere:77", 0, None)
    assert read_workers(connection, now + SILENT_S) == []


def test_status_says_which_unfinished_runs_go_on(engine_url: str) -> None:
    world = World(engine_url)
    connection, now = world.database.connection, world.clock.now()
    for owner in ("here:1", "here:2"):
        connection.execute(
            "INSERT INTO run (started_at, owner, strategy, settings) VALUES (?, ?, 'bfs', '{}')", (now - 900, owner)
        )
    beat(world.database, "here:1", now)
    assert [run.state for run in reversed(read_status(connection, now).runs)] == ["runs", "killed"]
    lines = [line for line in status_lines(read_status(connection, now), Path(), now, Settings()) if "bfs" in line]
    assert [line.partition("bfs: ")[2] for line in reversed(lines)] == [
        "running for 15m (here:1)",
        "killed; began 15m ago (here:2)",
    ]
