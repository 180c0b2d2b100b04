"""Workers without work: what they are told about the queue may be untrue by the time they look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from geocrawl.app import fetchers, wiring
from geocrawl.app.session import Environment
from geocrawl.crawler.loop import Crawler, CrawlLimits
from geocrawl.crawler.report import RunSummary
from geocrawl.lab.recorded_worlds.replay import ReplayTransport, Response, error_page
from geocrawl.lab.recorded_worlds.virtual_time import VirtualClock
from geocrawl.model import HostState, Lease, SettlementResult, Visit, WaitingHost
from geocrawl.ports import HeldHost
from geocrawl.settings import Settings
from geocrawl.store import Store
from tests.support.soak import Silent

HOUR_S = 3600.0


class _BrokenPromise:
    """`ports.CrawlQueue` with something that is ready, or will be, which leases nothing."""

    def __init__(self, clock: VirtualClock, *, ready_in_s: float = -1.0) -> None:
        self._clock = clock
        self._ready_in_s = ready_in_s
        self.looks = 0

    def lease_in_steps(self, *, pages: bool = True) -> Generator[None, None, Lease | None]:
        self.looks += 1
        yield from ()
        return None

    def ready_at(self, *, pages: bool = True) -> float | None:
        return self._clock.now() + self._ready_in_s

    def waiting_hosts(self, *, pages: bool = True) -> Sequence[WaitingHost]:
        return [WaitingHost("a.example", self._clock.now() + self._ready_in_s, 1)]

    def pages_wait(self) -> bool:
        return True

    def may_lease_pages(self) -> bool:
        return True

    def others_at_work(self) -> bool:
        return self._ready_in_s < 0

    def settle(self, visit: Visit) -> SettlementResult:
        raise AssertionError("nothing was leased")

    def held(self, lease: Lease) -> HeldHost:
        raise AssertionError("nothing was leased")

    def put_behind(self, lease: Lease) -> None:
        raise AssertionError("nothing was leased")

    def release(self, lease: Lease, host: HostState) -> None:
        raise AssertionError("nothing was leased")


class _EmptyWeb:
    def respond(self, scheme: str, host: str, target: str) -> Response:
        return error_page(404)


def crawl(
    make_queue: Callable[[VirtualClock], _BrokenPromise], clock: VirtualClock
) -> tuple[_BrokenPromise, RunSummary]:
    """Crawl for an hour at most with five workers, and return the queue and the summary."""
    transport = ReplayTransport(_EmptyWeb(), clock)
    environment = Environment(clock, transport, lambda: 0, new_loop=clock.new_loop)
    with Store.open(Path(":memory:"), clock=clock) as store:
        session = wiring.make_session(Settings(strategy="bfs"), store, clock, environment=environment)
        queue = make_queue(clock)
        limits = CrawlLimits(
            workers=5,
            max_waiting=0,
            max_pages=10,
            max_time_s=HOUR_S,
            patience_s=60.0,
            outage_patience_s=60.0,
            slow_s=30.0,
            idle_s=1.0,
            settle_s=8.0,
            retry_first_s=60.0,
            retry_wait_s=1.0,
        )
        crawler = Crawler(
            queue=queue,
            store=store.runner,
            learning=session.learning,
            fetcher=fetchers.make_session_fetcher(session),
            visitors={},
            observer=Silent(),
            clock=clock,
            limits=limits,
        )
        with asyncio.Runner(loop_factory=clock.new_loop) as runner:
            return queue, runner.run(crawler.run())


def test_a_promise_that_is_never_kept_costs_two_looks_a_second_and_worker() -> None:
    queue, summary = crawl(_BrokenPromise, VirtualClock())
    assert summary.stopped == "max-time"
    assert queue.looks < 5 * 2.1 * HOUR_S


class _SteppedClock(VirtualClock):
    """A clock that is ten years ahead at first."""

    def now(self) -> float:
        return super().now() + (10 * 365 * 86_400.0 if self.monotonic() < 1.0 else 0.0)


def test_patience_is_over_in_time_though_the_clock_was_wrong_when_the_crawl_began() -> None:
    _, summary = crawl(lambda clock: _BrokenPromise(clock, ready_in_s=50.0), _SteppedClock())
    assert summary.stopped == "patience"
    assert summary.seconds < 60.0


def test_one_worker_that_finds_nothing_left_ends_all() -> None:
    queue, summary = crawl(lambda clock: _BrokenPromise(clock, ready_in_s=90.0), VirtualClock())
    assert (summary.stopped, queue.looks) == ("patience", 1)
