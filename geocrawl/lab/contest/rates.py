"""Compute what the papers report of a crawl: rates after so many pages, the first find, which crawl finds sooner."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from geocrawl.lab.contest.contest import ORACLE, ContestResults, StrategyResult, WorldResults, rates
from geocrawl.lab.contest.run import CrawlResult
from geocrawl.lab.contest.study import Study

STEP = 500
"""Pages between two checkpoints (Li, Zhao, Yu: 500, 1,000 … 4,000)."""
LAST_SHARE = 3
"""Rates are compared no later than after this part of the web's pages: crawls that may read a whole web end alike."""


def value_of(strategy: StrategyResult, world: WorldResults, name: str, least: int = 0) -> float | None:
    """Return a column of the row, `first_find` (its page), `cpu_ms` (a page), or a RATE@PAGES of `rate_after`.

    A rate is the mean of the strategy's crawls, after so many pages, but no later than after a third of the web
    or after the `least` pages that say something.
    None when the strategy found nothing or has no crawl.
    """
    if name == "first_find":
        return float(strategy.curve[0]) if strategy.curve else None
    if name == "cpu_ms":
        row = strategy.row
        return None if row.cpu_s is None else 1000 * row.cpu_s / max(row.pages, 1)
    rate, at, pages = name.partition("@")
    if not at:
        value = getattr(strategy.row, name)
        return None if value is None else float(value)
    return mean_rate(strategy, world.study, rate, _pages_at(pages, strategy, world, least))


def value_label(strategy: StrategyResult, world: WorldResults, name: str, least: int = 0) -> str:
    """Return the name of a value of `value_of` for people."""
    rate, at, pages = name.partition("@")
    if name == "first_find":
        return "page of the first find"
    if name == "cpu_ms":
        return "CPU milliseconds a page"
    if name.startswith("pages_"):
        return f"pages until {name.removeprefix('pages_')} % of what it finds"
    words = rate.replace("_", " ")
    return f"{words} after {_pages_at(pages, strategy, world, least):,} pages" if at else words


def pages_at(pages: int, web: int) -> int:
    """Return after how many pages a rate is compared: `pages`, no more than a third of the `web`'s pages."""
    return max(1, min(pages, web // LAST_SHARE))


def _pages_at(pages: str, strategy: StrategyResult, world: WorldResults, least: int) -> int:
    return min(max(pages_at(int(pages), world.study.pages), least), strategy.row.budget)


def rate_after(result: CrawlResult, study: Study, rate: str, pages: int) -> float:
    """Return `precision`, `recall`, `harvest_rate`, `discovery_rate` or `judged_harvest_rate` after the first pages.

    Precision is services found / pages read, the harvest rate relevant pages / pages read, the discovery rate relevant
    pages read / relevant pages that can be reached. A crawl that ended earlier keeps its last values.
    """
    found = sum(time <= pages for time in result.score.pages_at_finds)
    if rate == "precision":
        return found / max(1, min(pages, result.score.pages))
    if rate == "recall":
        found = sum(time <= pages for time in result.score.curve)
        return found / result.score.reachable if result.score.reachable else 0.0
    relevant = study.judged if rate == "judged_harvest_rate" else study.relevant
    harvest, discovery = rates(result.visited[:pages], relevant, relevant & study.reachable)
    return discovery if rate == "discovery_rate" else harvest


def mean_rate(strategy: StrategyResult, study: Study, rate: str, pages: int) -> float | None:
    """Return the mean of `rate_after` over the strategy's crawls, None without any."""
    values = [rate_after(result, study, rate, pages) for result in strategy.results]
    return sum(values) / len(values) if values else None


def sooner(better: Sequence[int], worse: Sequence[int]) -> tuple[int, int]:
    """Return (finds that `better` makes after no more pages than `worse` makes as many, finds of `worse`).

    The sequences are the pages downloaded at each find, ascending.
    """
    return sum(one <= other for one, other in zip(better, worse, strict=False)), len(worse)


# --------------------------------------------------------------------------- every 500 pages


RATES: Mapping[str, str] = {
    "precision": "Precision: services found / pages downloaded",
    "harvest_rate": "Harvest rate: relevant pages / pages downloaded",
    "discovery_rate": "Discovery rate: relevant pages downloaded / relevant pages that can be reached",
    "judged_harvest_rate": "Judged harvest rate: pages on the topic by the fixed judge / pages downloaded",
    "recall": "Recall: services found / services that can be found",
}
"""Rate → its name for people."""
COLUMNS = ("experiment", "world", "strategy", "pages", *RATES)


def checkpoints(budget: int, most: int) -> list[int]:
    """Return the numbers of pages at which rates are shown: every 500 to `most`; the budget of a small web."""
    return list(range(STEP, min(budget, most) + 1, STEP)) or [budget]


def rates_csv(named: Mapping[str, ContestResults]) -> str:
    """Return a line for each experiment (name → results), world, strategy and 500 pages of the budget.

    A crawl that ended earlier has no further lines. `random` is the mean of its crawls.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for experiment, results in named.items():
        for world in results.worlds:
            for strategy in world.strategies:
                for row in _lines(strategy, world):
                    writer.writerow([experiment, world.study.world, strategy.row.strategy, *row])
    return text.getvalue()


def _lines(strategy: StrategyResult, world: WorldResults) -> Iterator[list[object]]:
    if strategy.row.strategy == ORACLE:
        return
    for pages in checkpoints(strategy.row.budget, strategy.row.budget):
        if pages - STEP < strategy.row.pages:
            values = (mean_rate(strategy, world.study, name, pages) for name in RATES)
            yield [pages, *("" if value is None else round(value, 6) for value in values)]


def rate_rows(world: WorldResults, strategies: Sequence[str], rate: str, points: Sequence[int]) -> Iterator[list[str]]:
    """Yield for each of the `strategies` that ran its name and its rate at each checkpoint.

    A rate after the end of a crawl has an asterisk: it is the last one.
    """
    for strategy in world.strategies:
        if strategy.row.strategy in strategies and strategy.results:
            values = [mean_rate(strategy, world.study, rate, pages) or 0.0 for pages in points]
            ends = ["*" if strategy.row.pages < pages else "" for pages in points]
            cells = [f"{value:.1%}{end}" for value, end in zip(values, ends, strict=True)]
            yield [strategy.row.strategy, *cells]
