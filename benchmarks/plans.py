"""Leave one plan out: fusion learns on webs of all other plans and is judged on webs of the plan left out.

For each plan of `geocrawl world make`: weights that fusion starts from are learnt on webs of the other plans (seeds of
their own), then every strategy reads the left-out plan's webs to the end of their pages. Figures are the area
under the harvest curve beside the oracle's, its mean and worst, the pages read until 25, 50 and 90 % of all services
that can be reached were found, on how many plans fusion is ahead of each rival, its greatest distance behind the best,
and the recall at the end beside that of bfs. For a quick answer: `--strategies fusion,gws,bfs --plans wiki,ckan
--webs 1 --pages 400`.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from geocrawl.lab.contest.contest import study_path
from geocrawl.lab.contest.measure import area
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.made_worlds.plans.registry import KINDS
from geocrawl.lab.recorded_worlds.walk import read_web
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.lab.training.fusion_examples import examples
from geocrawl.lab.training.fusion_fit import Worth, fit
from geocrawl.lab.training.fusion_weights import fusion_with
from geocrawl.priority.registry import strategies
from geocrawl.priority.strategies.fusion.value_model import Prior, write_prior

OURS, FULL, ORACLE = "fusion", "bfs", "oracle"
JUDGED_SEED, TRAINED_SEED = 3000, 4000
SHARES = (25, 50, 90)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the plans, the webs made of each, and the rounds of the training."""
    parser.add_argument("--strategies", help="names and presets, by commas [all strategies]")
    parser.add_argument("--plans", help="plans to be left out, by commas [all]; fusion learns on all others")
    parser.add_argument("--webs", type=int, default=3, help="webs of each plan [3]")
    parser.add_argument("--pages", type=int, default=1500, help="pages of each web [1500]")
    parser.add_argument("--train-plans", help="plans to learn on, by commas, but never the one left out [all]")
    parser.add_argument("--train-webs", type=int, default=2, help="webs of each plan to learn on [2]")
    parser.add_argument("--train-pages", type=int, default=700, help="pages of such a web [700]")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of the training [2]")
    parser.add_argument("--parallel", type=int, default=1, help="crawls at once [1]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Make the webs, learn, crawl, and print the tables."""
    names = options.strategies.split(",") if options.strategies else list(strategies())
    left_out = options.plans.split(",") if options.plans else list(KINDS)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="geocrawl-plans-") as temporary:
        folder = Path(temporary)
        with ProcessPoolExecutor(options.parallel, mp_context=get_context("spawn")) as pool:
            priors = _priors(folder, left_out, options, pool) if OURS in names else {}
            webs = list(_made(folder, left_out, options.webs, options.pages, JUDGED_SEED))
            for row in pool.map(_row, [job for web in webs for job in _jobs(web, names, priors)]):
                rows.append(row)
                print(json.dumps(row), flush=True)
    figures = summary(rows)
    _print(figures)
    return {**_of(options), **figures, "crawls": rows}


def _of(options: argparse.Namespace) -> dict[str, Any]:
    names = ("webs", "pages", "train_plans", "train_webs", "train_pages", "rounds")
    return {name: getattr(options, name) for name in names}


def _made(folder: Path, plans: Iterable[str], webs: int, pages: int, seed: int) -> Iterator[Path]:
    for plan in plans:
        for number in range(webs):
            out = folder / f"{plan}-{seed + number}"
            make(plan, pages, seed + number, out)
            yield out


# --------------------------------------------------------------------------- training


def _priors(
    folder: Path, left_out: Sequence[str], options: argparse.Namespace, pool: ProcessPoolExecutor
) -> dict[str, Path]:
    """Return plan → file of the weights that were learnt on webs of all other plans.

    The first round crawls with no weights, so that its links are the same whatever is left out: it is done once.
    """
    plans = options.train_plans.split(",") if options.train_plans else list(KINDS)
    webs = list(_made(folder, plans, options.train_webs, options.train_pages, TRAINED_SEED))
    first = dict(zip(webs, pool.map(_examples, [(web, {}, n) for n, web in enumerate(webs)]), strict=True))
    print(f"{len(webs)} webs to learn on, {sum(map(len, first.values())):,} links", flush=True)
    found = {}
    for plan in left_out:
        others = [web for web in webs if _plan_of(web.name) != plan]
        taken = [link for web in others for link in first[web]]
        weights = fit(taken)
        for number in range(1, options.rounds):
            tasks = [(web, weights, number * len(webs) + place) for place, web in enumerate(others)]
            taken += [link for links in pool.map(_examples, tasks) for link in links]
            weights = fit(taken)
        found[plan] = folder / f"prior-{plan}.json"
        files = [{"file": web.name, "sha256": World(web).sha256} for web in others]
        write_prior(Prior(weights, {"how": f"all plans but {plan}", "files": files}), found[plan])
        print(f"without {plan}: {len(taken):,} links, {len(weights)} weights", flush=True)
    return found


def _examples(task: tuple[Path, Mapping[str, float], int]) -> list[Worth]:
    web, weights, seed = task
    return examples(read_web(World(web)), fusion_with(weights), seed)


# --------------------------------------------------------------------------- crawls


def _plan_of(web: str) -> str:
    return web.rpartition("-")[0]


def _jobs(web: Path, names: Sequence[str], priors: Mapping[str, Path]) -> Iterator[Job]:
    pages = World(web).pages
    for name in names:
        prior = {"fusion.prior": str(priors[_plan_of(web.name)])} if name == OURS else {}
        yield Job(web, name, pages, prior)
    yield Job(web, ORACLE, pages)


def _row(job: Job) -> dict[str, Any]:
    if job.strategy == ORACLE:
        reachable = sum(each.kind == "wms" and each.valid and each.reachable for each in World(job.world).services)
        curve: Sequence[int] = study_path(job.world).oracle
        pages, cpu = (curve[-1] if curve else 0), 0.0
    else:
        done = run(job)
        curve, reachable, pages = done.score.curve, done.score.reachable, done.score.pages
        cpu = 1000 * done.cpu_s / max(pages, 1)
    return {
        "web": job.world.name,
        "strategy": job.strategy,
        "budget": job.budget,
        "pages": pages,
        "found": len(curve),
        "reachable": reachable,
        "area": round(area(curve, reachable, job.budget), 4),
        **{f"pages_{share}": _pages_to(curve, reachable, share) for share in SHARES},
        "cpu_ms_a_page": round(cpu, 2),
    }


def _pages_to(curve: Sequence[int], reachable: int, share: int) -> int | None:
    """Return the pages read until this share (%) of all that can be reached was found; None when it never was."""
    needed = max(1, math.ceil(reachable * share / 100))
    return curve[needed - 1] if len(curve) >= needed else None


# --------------------------------------------------------------------------- tables


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return areas by plan, and strategy → mean, worst, pages as shares of the budget, and how fusion stands to it."""
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    plans = list(dict.fromkeys(_plan_of(row["web"]) for row in rows))
    by_plan = {
        plan: {
            name: round(
                statistics.mean(r["area"] for r in rows if r["strategy"] == name and _plan_of(r["web"]) == plan), 4
            )
            for name in names
        }
        for plan in plans
    }
    ended = {row["web"]: row["found"] for row in rows if row["strategy"] == FULL}
    found: dict[str, Any] = {}
    for name in names:
        own = [row for row in rows if row["strategy"] == name]
        areas = [by_plan[plan][name] for plan in plans]
        found[name] = {
            "mean": round(statistics.mean(areas), 4),
            "worst": min(areas),
            **{f"share_of_pages_{share}": _share(own, share) for share in SHARES},
            "fewer_than_bfs_on": sum(row["found"] < ended[row["web"]] for row in own if row["web"] in ended),
            "fusion_ahead_on": sum(of[OURS] > of[name] for of in by_plan.values()) if OURS in names else None,
        }
    rivals = [name for name in names if name not in (OURS, ORACLE)]
    behind = {
        plan: round(max((of[name] for name in rivals), default=0.0) - of[OURS], 4)
        for plan, of in by_plan.items()
        if OURS in names
    }
    ranked = dict(sorted(found.items(), key=lambda item: -item[1]["mean"]))
    return {"strategies": ranked, "plans": by_plan, "fusion_behind_the_best": behind}


def _share(rows: Sequence[Mapping[str, Any]], share: int) -> float:
    """Return the mean share of the budget that was read until `share` % were found; never found counts as all."""
    read: list[float] = [row["budget"] if row[f"pages_{share}"] is None else row[f"pages_{share}"] for row in rows]
    shares: list[float] = [pages / row["budget"] for pages, row in zip(read, rows, strict=True)]
    return round(statistics.mean(shares), 4)


def _print(figures: Mapping[str, Any]) -> None:
    plans = figures["plans"]
    print(f"{'area':<22}" + "".join(f"{plan[:9]:>10}" for plan in plans) + "   mean  worst    25%    50%    90%  ahead")
    for name, of in figures["strategies"].items():
        line = "".join(f"{plans[plan][name]:>10.3f}" for plan in plans)
        shares = "".join(f"{of[f'share_of_pages_{share}']:>7.3f}" for share in SHARES)
        ahead = "" if name == OURS or of["fusion_ahead_on"] is None else f"{of['fusion_ahead_on']} of {len(plans)}"
        print(f"{name:<22}{line}  {of['mean']:.3f}  {of['worst']:.3f}{shares}  {ahead}")
        if of["fewer_than_bfs_on"]:
            print(f"   finds less than bfs at the end on {of['fewer_than_bfs_on']} webs")
    print("fusion behind the best rival:", json.dumps(figures["fusion_behind_the_best"]))
