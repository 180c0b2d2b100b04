"""Who crawls on a database, since when and how fast."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.cli.status import status_lines
from geocrawl.settings import Settings
from geocrawl.store.database.owner import this_process
from geocrawl.store.database.processes import read_workers
from geocrawl.store.frontier import counters
from geocrawl.store.frontier.status import read_status
from tests.support.world import World


def test_a_crawl_is_shown_with_its_leases_and_its_speed(engine_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "_EVERY_S", 0.0)
    world = World(engine_url, owner=this_process().text)
    connection = world.database.connection
    assert read_workers(connection, world.clock.now()) == []
    run = world.store.start_run("fusion", world.settings)
    assert [worker.learns for worker in read_workers(connection, world.clock.now())] == [False]
    assert world.frontier.lead()
    world.seed("a.example/", "b.example/", "c.example/")
    for _ in range(2):
        world.visit()
    world.lease()
    (found,) = read_workers(connection, world.clock.now())
    assert (found.process, found.state, found.strategy, found.learns) == (this_process().short, "runs", "fusion", True)
    assert (found.leases, found.settled, found.since) == (1, 2, world.clock.now())
    assert found.a_minute is not None and found.a_minute > 0
    world.store.end_run(run, pages=2, services=0, stopped="ended")
    assert read_workers(connection, world.clock.now()) == []


def test_one_on_another_machine_counts_while_it_writes_or_has_leases(engine_url: str) -> None:
    world = World(engine_url, owner="elsewhere b n 5:77")
    world.database.connection.execute(
        "INSERT INTO run (id, started_at, owner, strategy, settings) VALUES (1, ?, 'elsewhere b n 5:77', 'bfs', '{}')",
        (world.clock.now() - 10_000,),
    )
    now = world.clock.now()
    assert read_workers(world.database.connection, now) == []
    world.seed("a.example/")
    world.lease()
    (found,) = read_workers(world.database.connection, now)
    assert (found.process, found.state, found.leases, found.a_minute) == ("elsewhere:77", "seen", 1, None)


def test_status_says_which_unfinished_runs_go_on(engine_url: str) -> None:
    world, here = World(engine_url), this_process()
    connection, now = world.database.connection, world.clock.now()
    owners = (here.text, replace(here, pid=2**22 + 1, started=1).text, "elsewhere b n 5:77")
    for owner in owners:
        connection.execute(
            "INSERT INTO run (started_at, owner, strategy, settings) VALUES (?, ?, 'bfs', '{}')", (now, owner)
        )
    assert [run.state for run in reversed(read_status(connection, now).runs)] == ["runs", "killed", "seen"]
    lines = [
        line
        for line in status_lines(read_status(connection, now + 900), Path(), now + 900, Settings())
        if "bfs" in line
    ]
    assert [line.partition("bfs: ")[2] for line in reversed(lines)] == [
        f"running for 15m ({here.short})",
        f"killed; began 15m ago ({here.machine}:{2**22 + 1})",
        "unfinished after 15m, running elsewhere or killed (elsewhere:77)",
    ]
