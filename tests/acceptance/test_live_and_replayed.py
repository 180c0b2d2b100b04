"""One live crawl of a made world through a server, and its replay in memory: the same pages, finds and area."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.lab.contest.measure import measure
from geocrawl.lab.contest.run import Job, read_seeds, replay, settings_for, valid_endpoints
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.replay import WorldWeb
from geocrawl.lab.recorded_worlds.world import World
from tests.support import world_crawls

DEPTH = 5
"""Deeper, how many pages of an endless calendar are read depends on the clock."""
AS_REPLAYED = (
    ("GEOCRAWL_MAX_CRAWL_DELAY", "0"),
    ("GEOCRAWL_BACKOFF_FIRST", "0"),
    ("GEOCRAWL_MAX_ATTEMPTS", "1"),
    ("GEOCRAWL_MAPS", "false"),
    ("GEOCRAWL_MAX_DEPTH", str(DEPTH)),
)
"""What a contest sets (`lab.contest.run.settings_for`): who rests, and for how long, would be a matter of real time."""


@pytest.mark.acceptance
@pytest.mark.shared
@pytest.mark.timeout(1_800)
def test_a_live_crawl_and_its_replay_agree(shared: Path, tmp_path: Path) -> None:
    folder, work = tmp_path / "mixed", tmp_path / "work"
    make("mixed", 400, 3, folder, ())
    world = World(folder)
    world_crawls.crawl(folder, work, world_crawls.Plan(workers=1, environment=AS_REPLAYED), "--slow-seconds", "0.2")
    live = world_crawls.score(folder, work, world.pages)
    settings = replace(settings_for(Job(folder, "gws", world.pages)), max_depth=DEPTH)
    crawled = replay(WorldWeb(world), read_seeds(world.seeds), settings)
    again = measure(world, crawled.log, crawled.catalogue, world.pages)
    figures = (live["pages_downloaded"], live["wms_found"], live["area"])
    assert figures == (again.pages, again.found, again.area)
    assert set(valid_endpoints(work / "geocrawl.db")) == set(crawled.catalogue)
    assert again.pages > 200 and again.found > 5
