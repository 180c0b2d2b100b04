"""Write the results of a contest: results.csv for tables, results.json with everything needed to repeat the contest."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from pathlib import Path

from geocrawl import __version__
from geocrawl.errors import UsageError
from geocrawl.lab.contest.contest import ContestResults, Plan, Row, StrategyResult, jobs
from geocrawl.lab.contest.judge import JUDGE_FILE, read_judge
from geocrawl.lab.contest.run import settings_for
from geocrawl.priority.options import Value
from geocrawl.priority.registry import strategy_values

COLUMNS = tuple(field.name for field in fields(Row))
COSTS = ("cpu_s", "peak_mib")
"""The columns that differ between two runs of one contest."""
_LIBRARIES = ("selectolax", "lxml", "httpx", "numpy", "scipy", "jieba", "OWSLib", "warcio")


def to_csv(results: ContestResults) -> str:
    """Return one line per world and strategy, in the order of the plan."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in results.rows():
        writer.writerow(["" if value is None else _number(value) for value in asdict(row).values()])
    return text.getvalue()


def _number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def to_json(plan: Plan, results: ContestResults) -> str:
    """Return versions, settings, models and their training files, rows, curves, false accepts and what was skipped."""
    judge = read_judge()
    data = {
        "geocrawl": __version__,
        "python": platform.python_version(),
        "libraries": {name: found for name in _LIBRARIES if (found := _version(name))},
        "plan": {
            "strategies": list(plan.strategies),
            "budget": plan.budget,
            "seed": plan.seed,
            "set": dict(plan.set),
            "seeds": list(plan.seeds),
            "topic": plan.topic,
            "workers": plan.workers,
            "delay_s": plan.delay_s,
            "economy": plan.economy,
            "detect": plan.detect,
            "max_depth": plan.max_depth,
        },
        "options": options_of(plan),
        "settings": _settings(plan),
        "models": _models(results),
        "page_judge": {"file": JUDGE_FILE, "made": dict(judge.made)},
        "worlds": [
            {
                "world": world.study.world,
                "pages_sha256": world.study.sha256,
                "pages": world.study.pages,
                "relevant": len(world.study.relevant),
                "relevant_reachable": len(world.study.relevant & world.study.reachable),
                "judged_relevant": len(world.study.judged),
                "rows": [_strategy_as_json(strategy) for strategy in world.strategies],
            }
            for world in results.worlds
        ],
        "skipped": list(results.skipped),
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _strategy_as_json(strategy: StrategyResult) -> dict[str, object]:
    false = sorted({address for result in strategy.results for address in result.score.false_accepts})
    areas = [result.score.area for result in strategy.results]
    return {**asdict(strategy.row), "curve": list(strategy.curve), "areas": areas, "false_accept_addresses": false}


def _settings(plan: Plan) -> dict[str, object]:
    """Return every setting that a crawl of the contest changes from its default."""
    used = settings_for(jobs(plan, Path(), "", plan.budget or 0)[0])
    default = type(used)()
    names = (field.name for field in fields(used) if field.name not in ("strategy", "max_pages", "sites"))
    return {n: getattr(used, n) for n in names if getattr(used, n) != getattr(default, n)}


def options_of(plan: Plan) -> dict[str, Mapping[str, Value]]:
    """Return, for each strategy of the plan that exists, option → the value in the contest."""
    found: dict[str, Mapping[str, Value]] = {}
    for name in plan.strategies:
        with suppress(UsageError):  # the plan's crawls have already said so
            found[name] = strategy_values(name, plan.set)
    return found


def _models(results: ContestResults) -> dict[str, Mapping[str, object]]:
    """Return strategy → model → how it was made."""
    used: dict[str, Mapping[str, object]] = {}
    for world in results.worlds:
        for strategy in world.strategies:
            if strategy.results:
                used[strategy.row.strategy] = {m.name: dict(m.made) for m in strategy.results[0].models}
    return used


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
