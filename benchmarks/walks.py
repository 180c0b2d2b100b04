"""Area under the harvest curve of fusion's walks over made webs: the tables of decisions 024 and 026.

A walk (`lab/recorded_worlds/walk`) reads a web in memory, without fetcher, probes and politeness. An area is the mean
share of all services found, over as many visits as the web has pages. It changes by a hundredth or two when the rate of
learning changes by a tenth, so each web is walked with several rates, and its area is their mean.

To compare two orders, measure one, then the other beside it. They may differ by an option (`--set fusion.explore=0.1`),
by weights learnt without the plan that is judged (`--set fusion.prior=weights-{plan}.json`), or by code: then measure
the first in another checkout.

    python -m benchmarks walks --world portal
    python -m benchmarks walks --world portal --set fusion.explore=0.1 --beside build/measurements/walks.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.walk import Walk, Web, read_web
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.priority.registry import make_strategy
from geocrawl.settings import Settings
from tests.support import world_crawls

PLANS = "chinese,geonetwork,govsearch,linklist,spa,university,ministry,wiki"
EVEN = 0.005
"""An area that differs by less is neither won nor lost."""

Areas = Mapping[str, float]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the webs, the rates, the strategy's options, and the figures to compare with."""
    parser.add_argument("--plans", default=PLANS, help=f"plans of `geocrawl world make`, by commas [{PLANS}]")
    parser.add_argument("--seeds", default="31,32,33", help="seeds of the made webs, by commas [31,32,33]")
    parser.add_argument("--pages", type=int, default=800, help="pages of a made web [800]")
    parser.add_argument("--rates", default="0.11,0.12,0.13", help="values of fusion.rate, by commas [0.11,0.12,0.13]")
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", default=[], help="recorded web, too")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of fusion")
    parser.add_argument("--beside", type=Path, help="figures of an earlier run, for differences and ratios")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Walk every web once a rate; return areas by web, their means, and how they stand to those of the earlier run."""
    before: Areas = json.loads(options.beside.read_text("utf-8"))["areas"] if options.beside else {}
    chosen = dict(each.split("=", 1) for each in options.set)
    areas: dict[str, float] = {}
    for name, web in _webs(options):
        plan = name.rpartition("-")[0]
        named = {key: value.replace("{plan}", plan or "all") for key, value in chosen.items()}
        by_rate = [_area(web, {"fusion.rate": rate, **named}) for rate in options.rates.split(",")]
        areas[name] = round(statistics.mean(by_rate), 4)
        print(f"   {name}: {areas[name]:.3f} {by_rate}", flush=True)
    made = [name for name in areas if name not in options.world]
    groups = {plan: [name for name in made if name.rpartition("-")[0] == plan] for plan in _plans(options)}
    return {
        "order": chosen,
        "made": _summary(areas, before, made),
        "plans": {plan: _summary(areas, before, names) for plan, names in groups.items()},
        "recorded": {name: _summary(areas, before, [name]) for name in options.world},
        "areas": areas,
    }


def _plans(options: argparse.Namespace) -> list[str]:
    return [plan for plan in options.plans.split(",") if plan]


def _webs(options: argparse.Namespace) -> Iterator[tuple[str, Web]]:
    with tempfile.TemporaryDirectory(prefix="geocrawl-walks-") as temporary:
        for plan in _plans(options):
            for seed in options.seeds.split(","):
                folder = Path(temporary) / f"{plan}-{seed}"
                make(plan, options.pages, int(seed), folder)
                yield folder.name, read_web(World(folder))
    for name in options.world:
        yield name, read_web(World(world_crawls.folder(name)))


def _area(web: Web, options: Mapping[str, str]) -> float:
    """Return the mean share found after each visit, of the services found in the end; as many visits as pages."""
    found: list[int] = []
    strategy = make_strategy("fusion", options, max_depth=Settings().max_depth)
    walk = Walk(web, strategy, lambda now: found.append(len(now.found)))
    walk.run()
    total = len(walk.found)
    after = [*found[1:], *[total] * web.pages][: web.pages]
    return round(statistics.mean(after) / max(total, 1), 4)


def _summary(areas: Areas, before: Areas, names: list[str]) -> dict[str, Any]:
    """Return the mean area of these webs; of those walked before also ratio, difference, its error, won and lost."""
    if not names:
        return {}
    mean = statistics.mean(areas[name] for name in names)
    both = [name for name in names if name in before]
    if not both:
        return {"webs": len(names), "mean": round(mean, 4)}
    steps = [areas[name] - before[name] for name in both]
    error = statistics.stdev(steps) / len(steps) ** 0.5 if len(steps) > 1 else None
    return {
        "webs": len(names),
        "mean": round(mean, 4),
        "ratio": round(statistics.mean(areas[n] for n in both) / (statistics.mean(before[n] for n in both) or 1), 4),
        "difference": round(statistics.mean(steps), 4),
        "standard_error": None if error is None else round(error, 4),
        "won": sum(step > EVEN for step in steps),
        "lost": sum(step < -EVEN for step in steps),
    }
