"""Run a contest: every strategy on every recorded web, each crawl in a process of its own.

A crawl that cannot run (incomplete world, unknown strategy, model that was trained on the world) is skipped with a line
that states the reason; all other crawls run. `random` runs with five seeds, and its row is the mean of the five crawls.
"""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Literal, TypeVar

from geocrawl.errors import GeocrawlError, UsageError
from geocrawl.lab.contest.judge import read_judge
from geocrawl.lab.contest.measure import area, at_share
from geocrawl.lab.contest.recorded_crawls import pooled, study_recording
from geocrawl.lab.contest.run import CrawlResult, Job, run
from geocrawl.lab.contest.study import Study, study
from geocrawl.lab.recorded_worlds.recording import RecordedWeb
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.priority.registry import setup_of
from geocrawl.settings import DEFAULT_STRATEGY, NO_DEPTH_LIMIT, Settings

ORACLE = "oracle"
AS_USED = "as-used"
"""The default strategy with as many workers and as much delay as a crawl has by default."""
RANDOM_RUNS = 5
W = TypeVar("W")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """The worlds and strategies that a contest compares, and the settings of its crawls."""

    worlds: Sequence[Path]
    strategies: Sequence[str]
    budget: int | None = None
    """Pages downloaded at most; None: as many as the world has."""
    seed: int = 0
    processes: int = 2
    set: Mapping[str, str] = field(default_factory=dict)
    seeds: Sequence[str] = ()
    """Start pages; each world uses those that it contains. Empty: the worlds' own."""
    topic: str = ""
    """Topic that strategies look for; '' for WMS. What counts as found does not change."""
    kind: str = ""
    """Kind of service that makes a page relevant; '' for any."""
    workers: int = 1
    delay_s: float = 0.0
    """Delay between two requests to one host, in virtual time."""
    economy: float | None = None
    """The setting of that name; None: its default."""
    detect: Literal["all", "paper"] = "all"
    """The setting of that name."""
    max_depth: int = NO_DEPTH_LIMIT
    """The setting of that name."""


def under_setup(plan: Plan, preset: str) -> Plan:
    """Return the plan with every crawl, of rivals too, under the settings that a preset's paper fixes.

    How many pages a crawl may read remains the plan's: webs have fewer than the papers'. Raises UsageError for an
    unknown name.
    """
    setup: dict[str, Any] = dict(setup_of(preset))
    setup.pop("max_pages", None)
    return replace(plan, **setup)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the results: a strategy on a world. Of several crawls, their means."""

    world: str
    strategy: str
    budget: int
    pages: float
    found: float
    reachable: int
    recall: float
    precision: float
    pages_50: float | None
    pages_90: float | None
    pages_100: float | None
    area: float
    harvest_rate: float | None
    """Relevant pages downloaded / pages downloaded, by the world's files."""
    discovery_rate: float | None
    """Relevant pages downloaded / relevant pages that can be reached."""
    judged_harvest_rate: float | None
    """Relevant pages downloaded / pages downloaded, by the fixed judge."""
    judged_discovery_rate: float | None
    false_accepts: float
    stopped: str
    cpu_s: float | None
    peak_mib: float | None
    area_sd: float | None = None
    unrecorded: float | None = None
    """Number of requested addresses that a user's recording does not contain: they count as unreachable."""
    wall_s: float | None = None
    """Virtual time of the crawl."""


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """A strategy on a world: its row, and the crawls behind the row."""

    row: Row
    results: tuple[CrawlResult, ...]
    curve: tuple[int, ...]
    """Pages downloaded at each find (of the first crawl)."""


@dataclass(frozen=True, slots=True)
class WorldResults:
    """A world and the results of all strategies that ran on it."""

    study: Study
    strategies: tuple[StrategyResult, ...]


@dataclass(frozen=True, slots=True)
class ContestResults:
    """The results of a contest."""

    worlds: tuple[WorldResults, ...]
    skipped: tuple[str, ...]
    """A line for each world, strategy or crawl that could not run."""

    def rows(self) -> Iterator[Row]:
        """Yield all rows, world by world."""
        for world in self.worlds:
            for strategy in world.strategies:
                yield strategy.row


def run_contest(plan: Plan, tell: Callable[[str], None]) -> ContestResults:
    """Run the contest; `tell` is called with a line for each crawl that has ended.

    Raises UsageError when no strategy could run.
    """
    skipped: list[str] = []
    worlds = []
    with ThreadPoolExecutor(max(plan.processes, 1)) as pool:
        studies = {
            path: pool.submit(in_own_process, partial(study_path, seeds=tuple(plan.seeds), kind=plan.kind), path)
            for path in plan.worlds
        }
        for path in plan.worlds:
            known = _result_or_skip(studies[path], str(path), skipped, tell)
            if known is not None:
                worlds.append(_run_on_world(plan, path, known, pool, skipped, tell))
    if not any(strategy.results for world in worlds for strategy in world.strategies):
        raise UsageError("nothing could be compared: " + ("; ".join(skipped) or "no world and no strategy was named"))
    return ContestResults(tuple(worlds), tuple(skipped))


def study_path(path: Path, seeds: Sequence[str] = (), kind: str = "") -> Study:
    """Return the truth about a world, or the judge's verdicts on a recording. Runs in a separate process."""
    if path.is_file():
        return study_recording(RecordedWeb(path), read_judge())
    return study(World(path), read_judge(), chosen_seeds=seeds, kind=kind)


def _run_on_world(
    plan: Plan,
    path: Path,
    known: Study,
    pool: ThreadPoolExecutor,
    skipped: list[str],
    tell: Callable[[str], None],
) -> WorldResults:
    budget = plan.budget or known.pages
    running = [
        (name, [pool.submit(in_own_process, run, job) for job in jobs(plan, path, name, budget)])
        for name in plan.strategies
        if name != ORACLE
    ]
    ran: list[tuple[CrawlResult, ...]] = []
    for name, futures in running:
        got = [_result_or_skip(future, f"{name} on {known.world}", skipped, tell) for future in futures]
        if results := tuple(result for result in got if result is not None):
            ran.append(results)
            tell(f"{known.world} {name}: {results[0].score.found} found in {results[0].score.pages:,} pages")
    if not known.has_truth:
        ran = _with_pool(ran, budget)
    strategies = [StrategyResult(mean_row(known, results), results, results[0].score.curve) for results in ran]
    if ORACLE in plan.strategies and known.has_truth:
        strategies.append(oracle_result(known, strategies, budget))
    return WorldResults(known, tuple(strategies))


def _with_pool(ran: Sequence[tuple[CrawlResult, ...]], budget: int) -> list[tuple[CrawlResult, ...]]:
    """Where no truth is known, replace scores: services that any of the crawls found count as reachable."""
    flat = [result for results in ran for result in results]
    scores = pooled({number: result.score for number, result in enumerate(flat)}, budget)
    again = iter([replace(result, score=scores[number]) for number, result in enumerate(flat)])
    return [tuple(next(again) for _ in results) for results in ran]


def jobs(plan: Plan, path: Path, strategy: str, budget: int) -> list[Job]:
    """Return the crawls of one strategy on one world: one, or for `random` one for each of five seeds.

    `as-used` is the default strategy as people use it.
    """
    job = Job(path, strategy, budget, dict(plan.set), tuple(plan.seeds), plan.topic)
    job = replace(job, workers=plan.workers, delay_s=plan.delay_s, economy=plan.economy, detect=plan.detect)
    job = replace(job, max_depth=plan.max_depth)
    if strategy == AS_USED:
        used = Settings()
        return [replace(job, strategy=DEFAULT_STRATEGY, workers=used.workers, delay_s=used.delay_s, label=AS_USED)]
    if strategy != "random":
        return [job]
    return [replace(job, set={**plan.set, "random.seed": str(plan.seed + n)}) for n in range(RANDOM_RUNS)]


def in_own_process(work: Callable[[W], T], what: W) -> T:
    """Run `work(what)` in a fresh process: its memory and time are measured alone, and its crash ends nothing else."""
    with ProcessPoolExecutor(1, mp_context=_fresh_processes()) as pool:
        return pool.submit(work, what).result()


@lru_cache(maxsize=1)
def _fresh_processes() -> BaseContext:
    """Return how fresh processes are made: by a server that has imported what a crawl needs, where there are such."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([run.__module__])
    return context


def _result_or_skip(future: Future[T], what: str, skipped: list[str], tell: Callable[[str], None]) -> T | None:
    """Return the result of a crawl, or None after noting why it could not run."""
    try:
        return future.result()
    except GeocrawlError as error:
        line = f"{what}: {error}"
    except BrokenProcessPool:
        line = f"{what}: its process was killed, most often for lack of memory"
    if line not in skipped:
        skipped.append(line)
        tell(f"skipped {line}")
    return None


def mean_row(known: Study, results: Sequence[CrawlResult]) -> Row:
    """Return the means of a strategy's crawls as one row."""
    first, scores = results[0], [result.score for result in results]
    true = [rates(result.visited, known.relevant, known.relevant & known.reachable) for result in results]
    judged = [rates(result.visited, known.judged, known.judged & known.reachable) for result in results]
    areas = [score.area for score in scores]
    return Row(
        world=known.world,
        strategy=first.job.label or first.job.strategy,
        budget=first.job.budget,
        pages=_mean([s.pages for s in scores]),
        found=_mean([s.found for s in scores]),
        reachable=first.score.reachable,
        recall=_mean([s.recall for s in scores]),
        precision=_mean([s.precision for s in scores]),
        pages_50=_mean_or_none([s.pages_50 for s in scores]),
        pages_90=_mean_or_none([s.pages_90 for s in scores]),
        pages_100=_mean_or_none([s.pages_100 for s in scores]),
        area=_mean(areas),
        harvest_rate=_mean([rate for rate, _ in true]) if known.has_truth else None,
        discovery_rate=_mean([share for _, share in true]) if known.has_truth else None,
        judged_harvest_rate=_mean([rate for rate, _ in judged]),
        judged_discovery_rate=_mean([share for _, share in judged]),
        false_accepts=_mean([len(s.false_accepts) for s in scores]),
        stopped=first.stopped,
        cpu_s=_mean([result.cpu_s for result in results]),
        peak_mib=max(result.peak_mib for result in results),
        unrecorded=None if known.has_truth else _mean([result.unrecorded for result in results]),
        wall_s=_mean([result.wall_s for result in results]),
        area_sd=round(statistics.stdev(areas), 6) if len(areas) > 1 else None,
    )


def oracle_result(known: Study, others: Sequence[StrategyResult], budget: int) -> StrategyResult:
    """Return the result of the oracle, which downloads the pages it needs and no more."""
    reachable = others[0].row.reachable if others else len(known.oracle)
    times = [time for time in known.oracle if time <= budget]
    pages = times[-1] if times else 0
    row = Row(
        world=known.world,
        strategy=ORACLE,
        budget=budget,
        pages=pages,
        found=len(times),
        reachable=reachable,
        recall=round(len(times) / reachable, 6) if reachable else 0.0,
        precision=round(len(times) / pages, 6) if pages else 0.0,
        pages_50=at_share(times, 0.5),
        pages_90=at_share(times, 0.9),
        pages_100=at_share(times, 1.0),
        area=area(times, reachable, budget),
        harvest_rate=None,
        discovery_rate=None,
        judged_harvest_rate=None,
        judged_discovery_rate=None,
        false_accepts=0,
        stopped="done",
        cpu_s=None,
        peak_mib=None,
    )
    return StrategyResult(row, (), tuple(times))


def rates(visited: Sequence[str], relevant: frozenset[str], wanted: frozenset[str]) -> tuple[float, float]:
    """Return (share of relevant pages among those downloaded, share of `wanted` among them); a page counts once."""
    seen = set(visited)
    harvest = len(seen & relevant) / len(seen) if seen else 0.0
    return harvest, len(seen & wanted) / len(wanted) if wanted else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(statistics.fmean(values), 6)


def _mean_or_none(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _mean(known) if known else None
