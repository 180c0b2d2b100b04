"""Run one strategy on one recorded web: the crawl that people run, in a temporary database."""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from geocrawl.app.crawl import run_crawl
from geocrawl.app.session import Environment
from geocrawl.app.wiring import make_strategy
from geocrawl.errors import UsageError
from geocrawl.lab.contest.measure import Score, measure
from geocrawl.lab.contest.models import Model, models_read, refuse_trained_on
from geocrawl.lab.contest.recorded_crawls import measure_recording
from geocrawl.lab.contest.study import seeds_of
from geocrawl.lab.recorded_worlds.answer_times import TimedTransport
from geocrawl.lab.recorded_worlds.recording import UNRECORDED, RecordedWeb
from geocrawl.lab.recorded_worlds.replay import Request, Web, WorldWeb
from geocrawl.lab.recorded_worlds.virtual_time import VirtualClock
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Entry, FrontierStats, Lease, SettlementResult, Url, Visit
from geocrawl.model.search import Selection
from geocrawl.settings import NO_DEPTH_LIMIT, Settings
from geocrawl.store.catalogue.services import read_endpoints
from geocrawl.urls import read_url
from geocrawl.urls.database import DatabaseUrl


@dataclass(frozen=True, slots=True)
class Job:
    """One crawl of the contest."""

    world: Path
    strategy: str
    budget: int
    """Pages downloaded at most."""
    set: Mapping[str, str] = field(default_factory=dict)
    """Options of strategies, in the form of `--set`."""
    seeds: Sequence[str] = ()
    """Start pages; none: those of the web."""
    topic: str = ""
    """Topic that strategies look for; '' for WMS."""
    workers: int = 1
    delay_s: float = 0.0
    """Delay between two requests to one host, in virtual time."""
    economy: float | None = None
    """The setting of that name; None: its default."""
    detect: Literal["all", "paper"] = "all"
    """The setting of that name."""
    max_depth: int = NO_DEPTH_LIMIT
    """The setting of that name."""
    label: str = ""
    """Name of the row in the results; '' for the strategy's."""


@dataclass(frozen=True, slots=True)
class FinishedCrawl:
    """The report, access log and catalogue of a crawl that has ended."""

    log: Sequence[Request]
    catalogue: Sequence[tuple[str, str]]
    """(url, kind) of each endpoint catalogued as valid."""
    stopped: str
    cpu_s: float
    wall_s: float
    """Virtual time from the first request to the end."""


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """The result of one crawl of the contest."""

    job: Job
    score: Score
    visited: tuple[str, ...]
    """Keys of the pages downloaded, in order."""
    stopped: str
    cpu_s: float
    """CPU time of the crawl alone, without imports and without reading the world and the models."""
    peak_mib: float
    """Peak memory of the process, the world's index included."""
    wall_s: float
    """Virtual time of the crawl: delays, and the times in which hosts answer (`recorded_worlds.answer_times`)."""
    models: tuple[Model, ...]
    """The trained models that the strategy uses."""
    unrecorded: int = 0
    """Number of requested addresses that a user's recording does not contain."""


def _owner(name: str) -> str:
    """Return the strategy of a constant (`gws.high`, `gws:paper.low`) or of a preset (`gws:paper`)."""
    return name.partition(".")[0].partition(":")[0]


def settings_for(job: Job, database: str = "") -> Settings:
    """Return the settings of a crawl in a contest.

    With one worker and no delay only the strategy decides the order: no host rests, whatever its robots.txt or its
    failures ask for, and no visit that waits for a slow host lets another one pass. With a delay hosts rest as in a
    crawl, in virtual time. No request is repeated. The crawl waits without limit for a host that answers 429. There are
    no content checks: they would change neither the order nor the services that count as found.
    """
    default = Settings()
    rests = job.delay_s > 0
    is_strict = job.workers == 1 and not rests
    return Settings(
        db=database,
        strategy=job.strategy,
        set={name: value for name, value in job.set.items() if _owner(name) == _owner(job.strategy)},
        topic=job.topic,
        max_pages=job.budget,
        max_depth=job.max_depth,
        detect=job.detect,
        workers=job.workers,
        max_waiting=0 if is_strict else default.max_waiting,
        delay_s=job.delay_s,
        economy=default.economy if job.economy is None else job.economy,
        max_crawl_delay_s=default.max_crawl_delay_s if rests else 0.0,
        backoff_first_s=default.backoff_first_s if rests else 0.0,
        patience_s=1e9,  # some thirty years
        max_attempts=1,
        allow_private=True,
        maps=False,
        wait=True,
    )


def run(job: Job) -> CrawlResult:
    """Run one job in this process.

    Raises UsageError for an incomplete world, an unknown strategy or setting, a model that was trained on this world.
    """
    settings = settings_for(job)
    models = models_read(lambda: make_strategy(settings, job.strategy))
    web: Web
    if job.world.is_file():
        web = recorded = RecordedWeb(job.world)
        refuse_trained_on(models, recorded.name, recorded.sha256)
        crawled = replay(
            web, read_seeds(seeds_of(recorded.seeds, recorded.warc.records, job.seeds, recorded.name)), settings
        )
        score = measure_recording(crawled.log, crawled.catalogue, job.budget)
    else:
        world = World(job.world)
        refuse_trained_on(models, world.name, world.sha256)
        crawled = replay(
            WorldWeb(world), read_seeds(seeds_of(world.seeds, world.warc.records, job.seeds, world.name)), settings
        )
        score = measure(world, crawled.log, crawled.catalogue, job.budget)
    return CrawlResult(
        job=job,
        score=score,
        visited=tuple(request.key for request in crawled.log if request.is_page),
        stopped=crawled.stopped,
        cpu_s=crawled.cpu_s,
        wall_s=crawled.wall_s,
        peak_mib=peak_mib(),
        models=models,
        unrecorded=len({request.url for request in crawled.log if request.kind == UNRECORDED}),
    )


def replay(web: Web, seeds: Sequence[Url], settings: Settings) -> FinishedCrawl:
    """Crawl a closed web from `seeds` in virtual time.

    Raises UsageError for an unknown strategy or setting and when no seed answers, EnvironmentFault when there is no
    space for the database.
    """
    clock = VirtualClock()
    transport = TimedTransport(web, clock)
    environment = Environment(clock, transport, lambda: transport.pages, idle_s=math.inf, new_loop=clock.new_loop)
    with tempfile.TemporaryDirectory(prefix="geocrawl-replay-") as folder:
        database = Path(folder) / "geocrawl.db"
        watch = _Stopwatch()
        report = run_crawl(settings, database, seeds, observer=watch, environment=environment)
        cpu_s = round(time.process_time() - watch.begun, 3)
        if report.no_seed_answered:
            raise UsageError(f"none of the seeds answered: {', '.join(seed.address for seed in seeds)[:200]}")
        summary = report.summary
        return FinishedCrawl(
            transport.log, valid_endpoints(database), summary.stopped, cpu_s, round(summary.seconds, 1)
        )


def valid_endpoints(database: DatabaseUrl) -> list[tuple[str, str]]:
    """Return (url, kind) of the valid endpoints of a catalogue, in the order of its export."""
    from geocrawl.store import Store

    with Store.open_readonly(database) as connection:
        return [(row.url, str(row.kind)) for row in read_endpoints(connection, Selection()) if row.status == "valid"]


def read_seeds(addresses: Sequence[str]) -> list[Url]:
    """Return the Urls of a crawl's seeds. Raises UsageError when none of the `addresses` is valid."""
    urls = [url for url in map(read_url, addresses) if url is not None]
    if not urls:
        raise UsageError(f"none of the seeds is an address: {', '.join(addresses)[:200]}")
    return urls


def peak_mib() -> float:
    """Return the peak memory of the process in MiB; 0 on other systems than Linux."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s*(\d+)", status)
    return round(int(found[1]) / 1024, 1) if found else 0.0


class _Stopwatch:
    """`ports.Observer` that shows nothing and records the CPU time when the crawl begins, after imports and schema."""

    begun = 0.0

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Record the CPU time at which the crawl begins."""
        self.begun = time.process_time()

    def noted(self, text: str) -> None:
        """Show nothing."""

    def leased(self, lease: Lease) -> None:
        """Show nothing."""

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        """Show nothing."""
