"""The crawl: lease the best URL, fetch it, think about it, settle everything it brought in one transaction.

`Crawler` is the loop; `PageVisitor` makes the visit of one page, `ProbeVisitor` that of one endpoint. Whatever stops
the process, no settled visit is lost: an unsettled lease expires and is done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from geocrawl.model import (
    Feedback,
    Lease,
    Purpose,
    Rank,
    Settled,
    State,
    Status,
    Visit,
)
from geocrawl.ports import Clock, Counted, Frontier, Observer, Strategy


class Visitor(Protocol):
    """Makes a settled visit out of a lease."""

    async def visit(self, lease: Lease) -> Visit: ...


@dataclass(slots=True)
class Summary:
    """What one run did."""

    pages: int = 0
    """Pages answered: neither robots.txt, nor redirects, nor probes."""
    failures: int = 0
    probes: int = 0
    valid: int = 0
    links: int = 0
    """New links."""
    seconds: float = 0.0
    stopped: str = ""
    """Why it ended: done, max-pages, max-time, signal, resting (all that is left is to be asked again later)."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Failed and refused visits by reason."""


class Crawler:
    """N workers on one frontier."""

    _IDLE_S = 1.0
    """Longest sleep of a worker without work: another process may have brought some."""
    _NAP_S = 0.005
    """Shortest one: a host that is ready by the clock may still be held."""

    def __init__(
        self,
        *,
        frontier: Frontier,
        strategy: Strategy,
        visitors: Mapping[Purpose, Visitor],
        observer: Observer,
        clock: Clock,
        workers: int,
        max_pages: int,
        max_time_s: float = 0.0,
        patience_s: float = 30.0,
        settle_s: float = 8.0,
        dump_every: int = 1000,
        undumped: int = 0,
        pages_counted: Callable[[], int] | None = None,
    ) -> None:
        """`dump_every`: feedback after which the strategy's dump is stored; `undumped`: feedback since the last one.

        `pages_counted`: the number that `max_pages` is held against, when somebody else counts (a replay's access log).
        """
        self._frontier = frontier
        self._strategy = strategy
        self._visitors = visitors
        self._observer = observer
        self._clock = clock
        self._workers = workers
        self._max_pages = max_pages
        self._max_time_s = max_time_s
        self._patience_s = patience_s
        self._settle_s = settle_s
        self._dump_every = dump_every
        self._undumped = undumped
        self._summary = Summary()
        self._pages_counted = pages_counted or (lambda: self._summary.pages)
        self._pages_under_way = 0
        self._under_way: set[int] = set()
        self._changed = asyncio.Event()
        self._stopping = False

    @property
    def undumped(self) -> int:
        """Lessons since the strategy's last dump."""
        return self._undumped

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping

    @property
    def visits(self) -> int:
        """Visits that came to something so far."""
        return self._summary.pages + self._summary.probes + self._summary.failures

    def stop(self, reason: str) -> None:
        """Let visits under way settle, lease nothing new. Safe to call from a signal handler, any number of times."""
        if not self._stopping:
            self._stopping = True
            self._summary.stopped = reason
            self._changed.set()

    async def run(self) -> Summary:
        """Crawl until nothing waits, a limit is reached or `stop` is called.

        A run that an error ended may be run again: it goes on with its figures and limits.
        """
        started = self._clock.monotonic()
        self._under_way.clear()
        timer = asyncio.create_task(self._end_in_time()) if self._max_time_s > 0 else None
        tasks = [asyncio.create_task(self._work()) for _ in range(self._workers)]
        try:
            await self._until_done(tasks)
        finally:
            for task in (*tasks, timer):
                if task is not None:
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._frontier.flush()
            self._summary.seconds += self._clock.monotonic() - started
        return self._summary

    async def _until_done(self, tasks: list[asyncio.Task[None]]) -> None:
        """Wait for the workers; once stopping, only `settle_s`: then they are cancelled and give their lease back."""
        waiting = set(tasks)
        while waiting and not self._stopping:
            done, waiting = await asyncio.wait(waiting, timeout=0.2, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        if waiting:
            done, _ = await asyncio.wait(waiting, timeout=self._settle_s)
            for task in done:
                task.result()

    async def _end_in_time(self) -> None:
        await self._clock.sleep(max(self._max_time_s - self._summary.seconds, 0.0))
        self.stop("max-time")

    async def _work(self) -> None:
        while not self._stopping:
            lease = self._frontier.lease(pages=self._pages_left())
            if lease is not None:
                await self._carry_out(lease)
            elif not await self._wait_for_work():
                self._changed.set()
                return

    def _pages_left(self) -> bool:
        """Whether another page may be started: those under way count, for they may all be answered."""
        return self._pages_counted() + self._pages_under_way < self._max_pages

    async def _wait_for_work(self) -> bool:
        """Sleep until something may be ready; False when this crawl has nothing more to do."""
        ready_at = self._frontier.ready_at(pages=self._pages_left())
        idle = not self._under_way
        wait_s = self._IDLE_S if ready_at is None else ready_at - self._clock.now()
        if idle and ready_at is None:
            self._end("done" if self._pages_left() else "max-pages")
            return False
        if idle and wait_s > self._patience_s and not (self._pages_left() and self._frontier.others_at_work()):
            self._end("resting" if self._pages_left() else "max-pages")
            return False
        self._changed.clear()
        await self._sleep_or_change(min(max(wait_s, self._NAP_S), self._IDLE_S))
        return True

    def _end(self, reason: str) -> None:
        self._summary.stopped = self._summary.stopped or reason

    async def _sleep_or_change(self, seconds: float) -> None:
        changed = asyncio.ensure_future(self._changed.wait())
        slept = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({changed, slept}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()
            slept.cancel()

    async def _carry_out(self, lease: Lease) -> None:
        entry = lease.entry
        page = entry.purpose is Purpose.PAGE
        self._under_way.add(entry.id)
        self._pages_under_way += page
        self._observer.leased(lease)
        settled = False
        try:
            visit = await self._visitors[entry.purpose].visit(lease)
            result = self._frontier.settle(self._with_dump(visit))
            settled = True
            self._count(visit, result)
            if result.feedback is not None:
                self._learn(result.feedback)
            self._observer.settled(entry, visit, result)
        finally:
            self._under_way.discard(entry.id)
            self._pages_under_way -= page
            if not settled:
                self._frontier.release(lease)
            self._changed.set()

    def _with_dump(self, visit: Visit) -> Visit:
        """The visit, with what the strategy learnt before it when it is time to store that."""
        if (
            self._undumped < self._dump_every or visit.not_modified
        ):  # no feedback comes of that, and the dump goes with one
            return visit
        self._undumped = 0
        strategy = self._strategy
        counts = strategy.counts if isinstance(strategy, Counted) else {}
        return replace(visit, learnt=strategy.dump(), learnt_counts=counts)

    def _learn(self, feedback: Feedback) -> None:
        self._undumped += 1
        self._strategy.learn(feedback)
        batches = self._strategy.revise()
        if batches is not None:
            self._frontier.rerank(chain.from_iterable(batches), through=feedback.number)

    def _count(self, visit: Visit, result: Settled) -> None:
        summary = self._summary
        if visit.lease.entry.purpose is Purpose.PROBE:
            summary.probes += visit.found is not None
            summary.valid += visit.found is Status.VALID
        elif visit.is_page_answered:
            summary.pages += 1
        if visit.state in (State.FAILED, State.REFUSED):
            summary.failures += visit.state is State.FAILED
            summary.reasons[visit.reason] = summary.reasons.get(visit.reason, 0) + 1
        summary.links += result.new_links


def restore(
    strategy: Strategy,
    state: bytes | None,
    feedback: Iterable[Feedback],
    rerank: Callable[[Feedback, Iterator[tuple[int, Rank | None]]], object],
) -> int:
    """Make a strategy what it was when the last process ended: its dump, then the feedback since, fed again.

    `rerank` is given the ranks that come after a feedback, and must read them all. Returns how many feedback were fed.
    """
    count = 0
    if state is not None:
        strategy.load(state)
    for each in feedback:
        count += 1
        strategy.learn(each)
        batches = strategy.revise()
        if batches is not None:
            rerank(each, chain.from_iterable(batches))
    return count
