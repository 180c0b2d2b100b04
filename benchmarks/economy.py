"""Pages and time until half and nine tenths of the finds, for values of economy: the table of decision 011.

`fusion` crawls recorded webs to their end with a delay between two requests to a host, in virtual time.
"""

from __future__ import annotations

import argparse
from typing import Any

from geocrawl.lab.contest.measure import at_share, read_catalogue
from geocrawl.lab.contest.measure import measure as score_of
from geocrawl.lab.contest.run import Job, read_seeds, replay, settings_for
from geocrawl.lab.recorded_worlds.replay import WorldWeb
from geocrawl.lab.recorded_worlds.world import TOPIC_KIND, World
from tests.support import world_crawls

_SHARES = (0.5, 0.9)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add which webs, and what is varied."""
    parser.add_argument("--worlds", nargs="+", default=[*world_crawls.NAMES, "real"], help="[all four]")
    parser.add_argument("--economy", type=float, nargs="+", default=[0.0, 0.25, 0.5, 0.75], help="[0 .25 .5 .75]")
    parser.add_argument("--under-way", type=int, nargs="+", default=[5, 64, 200], help="requests at once [5 64 200]")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds between two requests to a host [1]")
    parser.add_argument("--pages", type=int, help="pages of a crawl [as many as the web has]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return a row for each web, economy and number of requests under way."""
    rows = []
    for name in options.worlds:
        world = World(world_crawls.folder(name))
        for economy in options.economy:
            for under_way in options.under_way:
                how: dict[str, Any] = {"workers": under_way, "delay_s": options.delay, "economy": economy}
                job = Job(world_crawls.folder(name), "fusion", options.pages or world.pages, **how)
                rows.append({"world": name, "economy": economy, "under_way": under_way, **_one_crawl(world, job)})
                print(f"   {rows[-1]}", flush=True)
    return {"delay_s": options.delay, "crawls": rows}


def _one_crawl(world: World, job: Job) -> dict[str, Any]:
    crawled = replay(WorldWeb(world), read_seeds(world.seeds), settings_for(job))
    score = score_of(world, crawled.log, crawled.catalogue, job.budget)
    found = {each.id for each in read_catalogue(world, crawled.catalogue)[0].values() if each.kind == TOPIC_KIND}
    first: dict[str, float] = {}
    for request in crawled.log:
        if request.service in found and request.status == 200:
            first.setdefault(request.service, request.at_s)
    seconds = [at_share(sorted(first.values()), share) for share in _SHARES]
    return {
        "found": score.found,
        "area": score.area,
        "pages_to_50_90": [score.pages_50, score.pages_90],
        "seconds_to_50_90": [None if each is None else round(each) for each in seconds],
        "seconds": round(crawled.wall_s),
    }
