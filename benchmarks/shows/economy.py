"""Five workers with a delay beside one worker, in virtual time, with several shares of `economy`; and live.

On the recorded webs, and on made ones of the three kinds. Writes h_economy.json: area under the harvest curve, finds
and virtual wall time of each crawl. With `--live` also crawls through the server of recorded webs, in real time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import machine, replays
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.settings import Settings
from tests.support import world_crawls

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
STRATEGIES = ("fusion", "bfs", "gws")
MADE = (("portal", 930), ("agency", 931), ("mixed", 932))
LIVE_DELAY_S = "0.2"


def main(arguments: list[str]) -> None:
    """Crawl, print the table, write the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows economy", description=__doc__)
    parser.add_argument("--pages", type=int, default=1500, help="pages of a crawl, at most [%(default)s]")
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--strategy", action="append", help="only this one (may be repeated)")
    parser.add_argument("--made", type=int, default=1000, help="pages of a made web; 0: none [%(default)s]")
    parser.add_argument("--live", type=int, default=0, help="pages of a live crawl of `mixed`; 0: none [%(default)s]")
    parser.add_argument("--parallel", type=int, default=1, help="replays at once")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-economy-") as temporary:
        folders = [world_crawls.folder(name) for name in options.world or world_crawls.NAMES]
        folders += made(Path(temporary), options.made)
        jobs = [job for name in options.strategy or STRATEGIES for job in crawls(folders, name, options.pages)]
        rows = compared(list(replays.measure(jobs, replayed, options.parallel)))
        live = [live_crawls("mixed", name, options.live, Path(temporary)) for name in ("fusion", "bfs") if options.live]
    print(json.dumps(rows, indent=1), json.dumps(live, indent=1))
    if not options.no_write:
        print(machine.write("h_economy", {"pages": options.pages, "crawls": rows, "live": live}))


def made(folder: Path, pages: int) -> list[Path]:
    """Make a web of each kind, with seeds that nothing was fitted to."""
    found = []
    for kind, seed in MADE if pages else ():
        found.append(folder / f"{kind}-{seed}")
        make(kind, pages, seed, found[-1])
    return found


def crawls(folders: list[Path], strategy: str, pages: int) -> Iterator[Job]:
    """Yield for each web one worker without delays, one with the default delay, and five with each share."""
    delay_s = Settings().delay_s
    for folder in folders:
        budget = min(pages, World(folder).pages)
        yield Job(folder, strategy, budget)
        yield Job(folder, strategy, budget, delay_s=delay_s)
        for share in SHARES:
            yield Job(folder, strategy, budget, workers=5, delay_s=delay_s, economy=share)


def replayed(job: Job) -> dict[str, Any]:
    """Return the figures of one crawl in virtual time."""
    done = run(job)
    return {
        "world": job.world.name,
        "strategy": job.strategy,
        "workers": job.workers,
        "delay_s": job.delay_s,
        "economy": Settings().economy if job.economy is None else job.economy,
        "pages": done.score.pages,
        "found": done.score.found,
        "area": round(done.score.area, 4),
        "wall_s": done.wall_s,
        "stopped": done.stopped,
    }


def compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add each area as a share of that of one worker without delays on the same web, whose order is the strategy's."""
    ideal = {(row["world"], row["strategy"]): row["area"] for row in rows if not row["delay_s"]}
    return [{**row, "of_one": round(row["area"] / (ideal[row["world"], row["strategy"]] or 1), 3)} for row in rows]


def live_crawls(name: str, strategy: str, pages: int, work: Path) -> dict[str, Any]:
    """Crawl a recorded web through its server, with one worker and with five; return areas and wall times."""
    folder, found = world_crawls.folder(name), dict[str, Any]()
    for label, workers, options in (
        ("one", 1, ("--delay", "0")),
        ("five", 5, ("--delay", LIVE_DELAY_S)),
        ("five, economy 0", 5, ("--delay", LIVE_DELAY_S, "--economy", "0")),
    ):
        here = work / f"{name}-{strategy}-{label.replace(' ', '-').replace(',', '')}"
        plan = world_crawls.Plan(strategy, options, max_pages=pages, workers=workers, environment=LIVE)
        begun = time.monotonic()
        world_crawls.crawl(folder, here, plan, "--slow-seconds", "0.2")
        scored = world_crawls.score(folder, here, pages)
        found[label] = {
            "pages": scored["pages_downloaded"],
            "found": scored["wms_found"],
            "area": scored["area"],
            "wall_s": round(time.monotonic() - begun, 1),
        }
    return {"world": name, "strategy": strategy, "delay_s": float(LIVE_DELAY_S), **found}


LIVE = (("GEOCRAWL_MAPS", "false"), ("GEOCRAWL_MAX_CRAWL_DELAY", "1"), ("GEOCRAWL_BACKOFF_FIRST", "1"))
"""Settings of the live crawls, so that one with a budget of pages does not last for hours."""
