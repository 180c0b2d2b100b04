"""How often each claim of the papers is seen on made webs of several seeds: what one seed shows may be its own."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from geocrawl.lab.contest.claims import Verdict, findings
from geocrawl.lab.contest.contest import Plan, run_contest
from geocrawl.lab.contest.experiments import run_experiments
from geocrawl.lab.contest.papers import strategies_of_papers
from tests.support.commands import geocrawl

WEBS = ("portal:600", "agency:1200", "mixed:1000")
"""Kind and pages of the webs, those of `make papers`."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the seeds and the webs."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="[1 2 3]")
    parser.add_argument("--webs", nargs="+", default=list(WEBS), metavar="KIND:PAGES", help=f"[{' '.join(WEBS)}]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return for each claim the number of webs on which it is seen, not seen, and not comparable."""
    counts: dict[str, Counter[Verdict]] = {}
    for seed in options.seeds:
        with tempfile.TemporaryDirectory(prefix="geocrawl-claims-") as folder:
            worlds = [_made(web, seed, Path(folder)) for web in options.webs]
            plan = Plan(worlds, strategies_of_papers(), seed=seed)
            evidence = run_experiments(plan, run_contest(plan, _tell), _tell)
        for each in findings(evidence):
            if each.where:
                experiment = each.where.partition(" ")[2]
                claim = " ".join(filter(None, (f"{each.paper}: {each.claim}", experiment)))
                counts.setdefault(claim, Counter())[each.verdict] += 1
    return {
        "seeds": options.seeds,
        "webs": options.webs,
        "claims": {claim: {str(verdict): found[verdict] for verdict in Verdict} for claim, found in counts.items()},
    }


def _made(web: str, seed: int, folder: Path) -> Path:
    kind, _, pages = web.partition(":")
    world = folder / kind
    made = geocrawl("world", "make", kind, "--pages", pages, "--seed", str(seed), "--out", str(world))
    if made.code:
        raise SystemExit(made.err)
    return world


def _tell(line: str) -> None:
    print(f"   {line}", flush=True)
