"""A run of the daemon's loop ends with the day or its paper's pages, however much is ready, and the limits of one run
begin again."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path

from geocrawl.app import wiring
from geocrawl.app.crawl import claim
from geocrawl.crawler.report import RunSummary
from geocrawl.daemon.budget import CountingObserver, DayCounts, budget_of, without_limits
from geocrawl.daemon.service import BudgetedCrawl
from geocrawl.demo import DemoWeb
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Visit
from geocrawl.model.health import DAY_S
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database.database import open_readonly
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from tests.support.crawls import Watcher, settings_for, url

VISITS_A_DAY = 30


class ShortDays(SystemClock):
    """A clock whose days pass when that is said."""

    days = 0

    def now(self) -> float:
        return super().now() + self.days * DAY_S


async def _runs(path: Path, web: DemoWeb, settings: Settings, visits_a_day: int) -> list[RunSummary]:
    """Crawl the demo's web until nothing is ready; return the runs."""
    clock, runs, visits = ShortDays(), list[RunSummary](), count(1)

    def ended(visit: Visit) -> None:
        clock.days = next(visits) // visits_a_day

    with Store.open(path, clock=clock) as store:
        session = wiring.make_session(without_limits(settings), store, clock)
        claim(session)
        session.add_seeds([url(seed) for seed in web.seeds], again=False)
        observer = CountingObserver(Watcher(), ended=ended)
        day = DayCounts(DaemonLock(store.database), store.runner, clock, observer)
        budget = budget_of(settings, session.strategy.name)
        crawl = BudgetedCrawl(session, budget, observer=observer, day=day, clock=clock)
        while not runs or runs[-1].stopped == "a new day begins" or "paper" in runs[-1].stopped:
            runs.append(await crawl.run())
    return runs


def test_the_pages_of_a_paper_end_a_run_but_not_the_daemon(tmp_path: Path) -> None:
    with DemoWeb() as web:
        settings = settings_for(web, workers=1, strategy="best-first:paper", max_pages=40)
        runs = asyncio.run(_runs(tmp_path / "c.db", web, settings, 10**6))
    assert [run.pages for run in runs[:-1]] == [40] * (len(runs) - 1) and len(runs) > 3
    assert {run.stopped for run in runs[:-1]} == {"40 pages are read, after which the paper's crawl ends"}


def test_a_run_ends_with_its_day_and_the_budgets_of_one_run_begin_again(tmp_path: Path) -> None:
    with DemoWeb() as web:
        settings = settings_for(web, workers=1, map_requests_per_host=1)
        runs = asyncio.run(_runs(tmp_path / "c.db", web, settings, VISITS_A_DAY))
    assert len(runs) > 3 and {run.stopped for run in runs[:-1]} == {"a new day begins"}
    with open_readonly(tmp_path / "c.db") as connection:
        most = connection.execute(
            "SELECT max(n) FROM (SELECT count(*) AS n FROM proof p JOIN endpoint e ON e.id = p.endpoint_id "
            "GROUP BY e.host)"
        ).fetchone()[0]
    assert most > 1, "a host was asked for content in more than one run"
