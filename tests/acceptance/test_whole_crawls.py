"""Crawls of a recorded world to their end, undisturbed and killed, and answers made to exhaust the machine."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.attacks import bombs
from tests.support import world_crawls
from tests.support.processes import Started, clean_environment

pytestmark = pytest.mark.acceptance

BOMB_MIB = 256
PAGE_LIMIT_MIB, PROBE_LIMIT_MIB = 5, 128


@pytest.mark.shared
@pytest.mark.timeout(1_800)
def test_the_portal_is_crawled_politely_nothing_false_is_accepted_and_kills_change_nothing(
    shared: Path, tmp_path: Path
) -> None:
    """Breadth-first, by gws, and by gws killed three times: the second is what both others are compared with."""
    portal, quickly = world_crawls.folder("portal"), ("--slow-seconds", "2")
    world_crawls.crawl(portal, tmp_path / "bfs", world_crawls.Plan("bfs"), *quickly)
    bfs = world_crawls.score(portal, tmp_path / "bfs")
    world_crawls.crawl(portal, tmp_path / "calm", world_crawls.Plan(), *quickly)
    crawl_with_kills(portal, tmp_path / "killed", (tmp_path / "calm" / "access.jsonl").stat().st_size, *quickly)
    scores = [world_crawls.score(portal, tmp_path / name) for name in ("calm", "killed")]
    for row in (bfs, *scores):
        assert (row["false_accepts"], row["robots_violations"]) == (0, 0), row
    assert scores[0]["wms_found"] >= 0.99 * bfs["wms_found"]
    with closing(sqlite3.connect(tmp_path / "killed" / "geocrawl.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert catalogue(tmp_path / "killed") == catalogue(tmp_path / "calm")


def crawl_with_kills(world: Path, work: Path, log_bytes: int, *server_options: str) -> None:
    """Crawl a world to its end, and kill the crawl three times at random moments; each next one goes on.

    `log_bytes`: the length of the server's log of an undisturbed crawl, over which the kills are spread.
    """
    work.mkdir()
    chance, log, plan = random.Random(2015), work / "access.jsonl", world_crawls.Plan()
    moments = sorted(chance.uniform(0.02, 0.9) * log_bytes for _ in range(3))
    with world_crawls.served(world, log, *server_options) as proxy:
        while True:
            # The seeds are given each time: the first kill may come before they are in the database.
            command = plan.command(world_crawls.seeds(world), work / "geocrawl.db", proxy)
            started = Started(command, env=clean_environment(work))
            if moments and gets_to(started, log, moments[0], chance.uniform(0.0, 2.0)):
                started.kill()
                started.wait()
                moments.pop(0)
                continue
            ended = started.wait(limit_s=world_crawls.LIMIT_S)
            assert ended.exit_code == 0, ended.stderr
            if json.loads(ended.stdout)["stopped"] in ("done", "resting"):
                break
    assert not moments
    world_crawls.export(work / "geocrawl.db", work / "catalog.csv")


def gets_to(started: Started, log: Path, size: float, pause_s: float) -> bool:
    """Return whether a crawl is still under way when the server's log is so long and a pause has passed since."""
    while started.running() and log.stat().st_size < size:
        time.sleep(0.01)
    # The log is written four times a second; the pause makes the moment a random one, the start of a run included.
    until = time.monotonic() + pause_s
    while started.running() and time.monotonic() < until:
        time.sleep(0.005)
    return started.running()


def catalogue(work: Path) -> set[tuple[str, ...]]:
    """Return what the export of a crawl says of its endpoints."""
    with (work / "catalog.csv").open(newline="", encoding="utf-8-sig") as file:
        names = ("url", "kind", "status", "title", "version", "layers")
        return {tuple(row[name] for name in names) for row in csv.DictReader(file)}


@pytest.mark.timeout(1_800)
def test_bombs_and_endless_bodies_end_at_their_limits() -> None:
    rows = {(row["case"], row["asked_as"]): row for row in bombs.measure(BOMB_MIB)["cases"]}
    assert rows.pop(("small page", "page"))["ended_by"] == "its end"
    assert rows["endless slow body", "page"]["ended_by"] == "timeout-total"
    assert rows["endless fast body", "page"]["ended_by"] == "body-limit"
    for case in bombs.ENCODINGS:
        assert rows[case, "page"]["ended_by"] in ("ratio", "body-limit"), case
    for (case, asked_as), row in rows.items():
        # The body may stand in memory twice, as pieces and as a whole.
        limit_mib = 2 * (PAGE_LIMIT_MIB if asked_as == "page" else PROBE_LIMIT_MIB) + 16
        assert row["more_mib"] < limit_mib, (case, asked_as, row)
