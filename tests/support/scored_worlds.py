"""The recorded worlds to the end: gws with and without its zero-priority links, and breadth-first beside it."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.support import world_crawls

PLANS = {
    "bfs": world_crawls.Plan("bfs"),
    "gws": world_crawls.Plan("gws"),
    "gws-drop": world_crawls.Plan("gws", ("--set", "gws.drop_zero=true")),
}


SHARES = (50, 75, 90)


KEPT = (
    "pages_downloaded",
    "service_requests",
    "other_requests",
    "repeated_requests",
    "robots_violations",
    "wms_reachable",
    "wms_found",
    "recall",
    "precision",
    "area",
    "budget",
    "false_accepts",
    "false_accept_examples",
    "catalog_duplicates",
    "catalog_never_asked",
    "slow_accepted",
)


COLUMNS = ("pages", "found", "recall", "precision", "area", "50 %", "75 %", "90 %", "false", "robots", "repeated")


def measure(names: list[str], strategies: list[str], work: Path, parallel: int) -> dict[str, Any]:
    """Figures by world and strategy; `ratios` compare each with bfs."""
    jobs = [(name, strategy) for name in names for strategy in strategies]
    with ThreadPoolExecutor(parallel) as pool:
        runs = dict(zip(jobs, pool.map(lambda job: _crawl(job[0], job[1], work), jobs), strict=True))
    figures: dict[str, Any] = {}
    for name in names:
        world = world_crawls.folder(name)
        bfs = world_crawls.score(world, work / name / "bfs")
        budget = int(bfs["pages_downloaded"])
        scores = {each: world_crawls.score(world, work / name / each, budget) for each in strategies}
        figures[name] = {each: _figures(scores[each], bfs, runs[name, each]) for each in strategies}
        figures[name]["ratios"] = {each: _ratios(scores[each], bfs) for each in strategies if each != "bfs"}
    return figures


def _crawl(name: str, strategy: str, work: Path) -> dict[str, Any]:
    done, summary = world_crawls.crawl(world_crawls.folder(name), work / name / strategy, PLANS[strategy])
    print(f"   {name} {strategy}: {summary['pages']} pages, {done.wall_s:.0f} s, {summary['stopped']}", flush=True)
    costs = {"cpu_s": done.cpu_s, "wall_s": done.wall_s, "peak_mib": done.peak_mib}
    return {**costs, "stopped": summary["stopped"], "waiting": summary["waiting"]}


def _figures(score: dict[str, Any], bfs: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    pages_to = {str(share): pages_to_share(score["moments"], bfs["wms_found"], share) for share in SHARES}
    return {**{key: score[key] for key in KEPT}, "pages_to_share_of_bfs_finds": pages_to, "run": run}


def pages_to_share(moments: list[int], bfs_found: int, share: int) -> int | None:
    """Pages downloaded when `share` percent as many services as bfs finds in the end had been found; None: never."""
    wanted = math.ceil(bfs_found * share / 100)
    return moments[wanted - 1] if 0 < wanted <= len(moments) else None


def _ratios(score: dict[str, Any], bfs: dict[str, Any]) -> dict[str, Any]:
    """Compared with bfs: finds, area and precision as multiples, pages to 75 % of its finds as a share of its pages."""
    at_75 = pages_to_share(score["moments"], bfs["wms_found"], 75)
    return {
        "found": _ratio(score["wms_found"], bfs["wms_found"]),
        "area": _ratio(score["area"], bfs["area"]),
        "precision": _ratio(score["precision"], bfs["precision"]),
        "pages_to_75_of_bfs_pages": _ratio(at_75, bfs["pages_downloaded"]),
    }


def _ratio(part: float | None, whole: float) -> float | None:
    return round(part / whole, 3) if part is not None and whole else None


def show(figures: dict[str, Any]) -> None:
    """Print the table."""
    print(f"{'':<18}" + "".join(f"{column:>11}" for column in COLUMNS))
    for name, strategies in figures.items():
        for strategy, row in strategies.items():
            if strategy not in PLANS:
                continue
            cells = [row["pages_downloaded"], row["wms_found"], f"{row['recall']:.3f}", f"{row['precision']:.4f}"]
            cells += [f"{row['area']:.3f}", *row["pages_to_share_of_bfs_finds"].values()]
            cells += [row["false_accepts"], row["robots_violations"], row["repeated_requests"]]
            print(f"{name + ' ' + strategy:<18}" + "".join(f"{'-' if c is None else c:>11}" for c in cells))
        for strategy, ratios in strategies["ratios"].items():
            print(f"   {strategy} / bfs: " + ", ".join(f"{key} {value}" for key, value in ratios.items()))
        if "lost_by_dropping" in strategies:
            lost = strategies["lost_by_dropping"]
            print(f"   gws-drop loses {lost['lost']} valid endpoints; the way to them ends {lost['way_ends']}")
