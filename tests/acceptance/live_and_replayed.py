"""A live crawl of a recorded world through its server, beside the replay of the same crawl."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from geocrawl.lab.contest.measure import measure as score_of
from geocrawl.lab.contest.run import Job, read_seeds, replay, settings_for, valid_endpoints
from geocrawl.lab.recorded_worlds.replay import WorldWeb
from geocrawl.lab.recorded_worlds.world import World
from tests.support import world_crawls

SLOW = ("--slow-seconds", "0.2")
"""Of the live server: in a replay twenty seconds cost nothing."""


AS_REPLAYED = (
    ("GEOCRAWL_MAX_CRAWL_DELAY", "0"),
    ("GEOCRAWL_BACKOFF_FIRST", "0"),
    ("GEOCRAWL_MAX_ATTEMPTS", "1"),
    ("GEOCRAWL_MAPS", "false"),
)
"""What a contest sets (`lab.contest.run.settings_for`): who rests, and for how long, would be a matter of real time."""


def live_and_replayed(folder: Path, strategy: str, work: Path) -> dict[str, Any]:
    """Pages, finds and area of one crawl of a world through the server, with one worker, and of its replay."""
    world = World(folder)
    plan = world_crawls.Plan(strategy, workers=1, environment=AS_REPLAYED)
    work.mkdir(parents=True, exist_ok=True)
    live_run, _ = world_crawls.crawl(folder, work, plan, *SLOW)
    live = world_crawls.score(folder, work, world.pages)
    begun = time.monotonic()
    crawled = replay(WorldWeb(world), read_seeds(world.seeds), settings_for(Job(folder, strategy, world.pages)))
    again = score_of(world, crawled.log, crawled.catalogue, world.pages)
    endpoints = set(valid_endpoints(work / "geocrawl.db")) == set(crawled.catalogue)
    return {
        "world": folder.name,
        "strategy": strategy,
        "live": {"pages": live["pages_downloaded"], "found": live["wms_found"], "area": live["area"]},
        "replayed": {"pages": again.pages, "found": again.found, "area": again.area},
        "same_catalogue": endpoints,
        "wall_s": {"live": live_run.wall_s, "replayed": round(time.monotonic() - begun, 1)},
    }
