"""The daemon runs its loop many times a day; of each host it reads a few pages a day in the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.app import wiring
from geocrawl.app.crawl import claim
from geocrawl.daemon.budget import Budget, CountingObserver, DayCounts, Hours, without_limits
from geocrawl.daemon.service import BudgetedCrawl
from geocrawl.fetch.clock import SystemClock
from geocrawl.model.health import DAY_S
from geocrawl.store import Store
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from tests.browser.portal_crawls import settings_with
from tests.browser.portal_web import REACT, PortalWeb
from tests.support.crawls import Watcher, url


class Days(SystemClock):
    """A clock whose days pass when that is said."""

    passed = 0

    def now(self) -> float:
        return super().now() + self.passed * DAY_S


@pytest.mark.long
@pytest.mark.usefixtures("chromium")
async def test_a_few_pages_of_a_host_are_read_in_a_day(web: PortalWeb, tmp_path: Path) -> None:
    clock = Days()
    with Store.open(tmp_path / "c.db", clock=clock) as store:
        settings = settings_with(browser_pages_per_host=1, max_depth=0)
        session = wiring.make_session(without_limits(settings), store, clock)
        claim(session)
        observer = CountingObserver(Watcher(), ended=lambda visit: None)
        day = DayCounts(DaemonLock(store.database), store.runner, clock, observer)
        crawl = BudgetedCrawl(session, Budget(Hours(), 0), observer=observer, day=day, clock=clock)
        read = []
        for path, days in (("/", 0), ("/dataset/0", 0), ("/dataset/1", 1), ("/dataset/2", 1)):
            clock.passed = days
            session.add_seeds([url(web.address(REACT, path))], again=False)
            await crawl.run()
            read.append([request.target for request in web.log if "/api/" in request.target])
            web.log.clear()
    assert read == [["/api/v1/datasets?page=1&size=50"], [], ["/api/v1/datasets/1"], []]
