"""Workers without work: what they are told about the queue may be untrue by the time they look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from geocrawl.app import fetchers, wiring
from geocrawl.app.session import Environment
from geocrawl.crawler.limits import CrawlLimits
from geocrawl.crawler.loop import Crawler
from geocrawl.lab.recorded_worlds.replay import ReplayTransport, Response, error_page
from geocrawl.lab.recorded_worlds.virtual_time import VirtualClock
from geocrawl.model import HostState, Lease, Settled, Visit, WaitingHost
from geocrawl.settings import Settings
from tests.support.soak import Silent

HOUR_S = 3600.0


class _BrokenPromise:
    """`ports.CrawlQueue` of which something is ready at all times, and never leased."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.looks = 0

    async def lease(self, wanted: Callable[[], int] = lambda: 1, *, pages: bool = True) -> Sequence[Lease]:
        self.looks += 1
        return []

    async def ready_at(self, *, pages: bool = True) -> float | None:
        return self._clock.now() - 1.0

    async def waiting_hosts(self, *, pages: bool = True) -> Sequence[WaitingHost]:
        return [WaitingHost("a.example", self._clock.now() - 1.0, 1)]

    async def others_at_work(self) -> bool:
        return True

    async def settle(self, visit: Visit) -> Settled:
        raise NotImplementedError

    async def renew(self, lease: Lease, until: float) -> Lease | None:
        raise NotImplementedError

    async def release(self, lease: Lease, host: HostState) -> None:
        raise NotImplementedError

    async def rerank(self, ranks: object, *, through: int | None = None) -> int:
        return 0


class _EmptyWeb:
    def respond(self, scheme: str, host: str, target: str) -> Response:
        return error_page(404)


def test_a_promise_that_is_never_kept_costs_two_looks_a_second_and_worker() -> None:
    clock = VirtualClock()
    transport = ReplayTransport(_EmptyWeb(), clock)
    environment = Environment(clock, transport, lambda: 0, new_loop=clock.new_loop)
    with wiring.open_store(Path(":memory:"), clock) as store:
        session = wiring.make_session(Settings(strategy="bfs"), store, clock, environment=environment)
        queue = _BrokenPromise(clock)
        crawler = Crawler(
            queue=queue,
            learning=session.learning,
            fetcher=fetchers.make_session_fetcher(session),
            visitors={},
            observer=Silent(),
            clock=clock,
            limits=CrawlLimits(
                workers=5,
                max_waiting=0,
                max_pages=10,
                max_time_s=HOUR_S,
                patience_s=60.0,
                outage_patience_s=60.0,
                idle_s=1.0,
                settle_s=8.0,
                retry_first_s=60.0,
            ),
        )
        with asyncio.Runner(loop_factory=clock.new_loop) as runner:
            summary = runner.run(crawler.run())
    assert summary.stopped == "max-time"
    assert queue.looks < 5 * 2.1 * HOUR_S
