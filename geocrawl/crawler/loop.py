"""Run the loop of a crawl: lease the best address, visit it, and settle all results of the visit in one transaction.

`PageVisitor` visits pages, `ProbeVisitor` endpoints. Whatever stops the process, no settled visit is lost: an unsettled
lease expires, and its address is visited again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from geocrawl.crawler.learning import Learning
from geocrawl.crawler.report import RunSummary
from geocrawl.crawler.visits import broken
from geocrawl.crawler.worker_slots import WakeQueue, WorkerSlot, WorkerSlots
from geocrawl.errors import GeocrawlError, GivenBack, OwnFault, PassingFault, RefusedValue
from geocrawl.model import HostState, Lease, Purpose, SettlementResult, State, Visit, WaitingHost
from geocrawl.ports import Clock, CrawlQueue, Fetcher, Observer, StoreRunner, Turn
from geocrawl.wording import counted, moment

# --------------------------------------------------------------------------- faults of this machine
# The loop waits until a fault (`errors.OwnFault`) is over, with growing pauses, and says when it begins and ends.


_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_MOST_RETURNS = 3
"""Number of times that an address is given back although others were answered in between; the fault then counts as its
own."""


class Outage:
    """The current fault of this machine, if there is one."""

    def __init__(self, clock: Clock, say: Callable[[str], object], patience_s: float) -> None:
        """`say` receives lines for a person. `patience_s`: the longest wait for the end of one outage."""
        self._clock = clock
        self._say = say
        self._patience_s = patience_s
        self._fault: OwnFault | None = None
        self._since = self._ended_at = -math.inf
        self._pauses = 0
        self._answers = 0
        self._returns = Counter[int]()
        self._returned_at: dict[int, int] = {}

    @property
    def cause(self) -> str:
        """Return the current fault of this machine as a sentence; '' for none."""
        return str(self._fault) if self._fault else ""

    def answered(self, entry_id: int) -> None:
        """Note that a server answered a visit: an outage is over."""
        self._answers += 1
        self._returns.pop(entry_id, None)
        if self._fault is not None:
            now = self._clock.monotonic()
            self._say(f"{self._fault.over} (after {now - self._since:,.0f} s).")
            self._fault, self._ended_at = None, now

    def is_of_the_address(self, entry_id: int) -> bool:
        """Return whether a fault comes again and again with this one address, while others are answered."""
        if self._returned_at.get(entry_id) != self._answers:
            self._returns[entry_id] += 1
            self._returned_at[entry_id] = self._answers
        return self._returns[entry_id] > _MOST_RETURNS

    def begin(self, fault: OwnFault) -> None:
        """Begin to wait for the end of a fault, or continue to wait."""
        now = self._clock.monotonic()
        if self._fault is None:
            self._since = now
            if now - self._ended_at > _LONGEST_PAUSE_S:
                self._pauses = 0
        if str(fault) != self.cause:
            self._say(f"{fault}: waiting; nothing is recorded as failed.")
        self._fault = fault

    def pause_s(self) -> float | None:
        """Return how long to wait before the next test, longer each time; None when the patience is over."""
        left_s = self._since + self._patience_s - self._clock.monotonic()
        if left_s <= 0:
            return None
        self._pauses += 1
        return float(min(_FIRST_PAUSE_S * 2.0 ** min(self._pauses - 1, 10), _LONGEST_PAUSE_S, left_s))

    async def is_over(self) -> bool:
        """Test whether visits may be tried again. After the longest pauses they are tried whatever the test says."""
        assert self._fault is not None, "an outage has begun"
        return await self._fault.is_over() or (self._pauses > 8 and self._pauses % 5 == 0)


# --------------------------------------------------------------------------- the loop


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """The limits of one crawl."""

    workers: int
    max_waiting: int
    """The number of visits that may wait for the network beside those of the workers."""
    max_pages: int
    max_time_s: float
    """0: no limit."""
    patience_s: float
    """The longest wait, without an answer, for hosts in back-off that have addresses never visited."""
    outage_patience_s: float
    """The longest wait for a fault of this machine, such as a proxy that is down."""
    idle_s: float
    """The longest sleep of a worker without work, because another process may have queued some."""
    settle_s: float
    """How long running visits may last after a stop."""
    retry_first_s: float
    """As in `Settings`."""


_LOOK_S = 0.2
"""How often the loop looks whether it was told to stop."""


class Visitor(Protocol):
    """Makes the visit of a leased address, to be settled by the loop."""

    async def visit(self, lease: Lease, turn: Turn) -> Visit:
        """Visit the leased address in this turn of its host."""


@dataclass(slots=True, eq=False)
class _UnderWay:
    """A lease whose visit is running. An address may be leased again while a visit whose lease ended still runs."""

    lease: Lease
    turn: Turn | None = None

    @property
    def host(self) -> HostState:
        """Return the host's state after the requests so far, even if the visit was cancelled during one."""
        return self.turn.host if self.turn is not None else self.lease.host


class Crawler:
    """Runs workers that visit the addresses leased from one queue."""

    _RETRY_S = 1.0
    """Longest wait for a retry; later retries are left to the next run."""
    _SILENT_S = 5.0
    """Shorter waits are not reported."""
    _NAP_S = 0.005
    """Shortest sleep of a worker without work: a host that is due may still be leased."""
    _LONGEST_NAP_S = 0.5
    """Longest sleep when an address is said to be ready and cannot be leased."""

    def __init__(
        self,
        *,
        queue: CrawlQueue,
        store: StoreRunner,
        learning: Learning,
        fetcher: Fetcher,
        visitors: Mapping[Purpose, Visitor],
        observer: Observer,
        clock: Clock,
        limits: CrawlLimits,
        pages_counted: Callable[[], int] | None = None,
    ) -> None:
        """Set the parts of a crawl; `store` calls the queue. `pages_counted` returns the number of pages that
        `max_pages` limits, if the crawler is not to count them itself (a replay's access log)."""
        self._queue = queue
        self._store = store
        self._learning = learning
        self._fetcher = fetcher
        self._visitors = visitors
        self._observer = observer
        self._clock = clock
        self._limits = limits
        self.summary = RunSummary()
        """The counts so far."""
        self._pages_counted = pages_counted or (lambda: self.summary.pages)
        self._under_way = set[_UnderWay]()
        """Visits that are running."""
        self._wake_queue = WakeQueue(clock)
        self._slots = WorkerSlots(limits.max_waiting, self._wake_queue, in_delays=limits.max_pages == 0)
        self._visits: set[asyncio.Task[None]] = set()
        self._leasing = asyncio.Lock()
        """Workers lease one after the other, because each counts the pages that others are visiting."""
        self._stopping = False
        self._at_once = False
        """Whether running visits are cut off rather than settled."""
        self._answered_at = clock.monotonic()
        """Time of the last answer that a retry would not improve, monotonic; patience is counted from then on."""
        self._promised_at = -math.inf
        """Time at which an address was to be ready when a worker last looked for one in vain."""
        self._broken_promises = 0
        """How many times in a row nothing could be leased at that time."""
        self._look_at, self._calls_at_look = -math.inf, 0
        """When to look again after a look in vain, monotonic, and calls of the wake queue at that look."""
        self._told = ""
        self._fault: OwnFault | None = None
        self._is_concluded = False
        """Whether a worker found that nothing is left to do, which ends all of them."""
        self._outage = Outage(clock, observer.noted, limits.outage_patience_s)

    @property
    def waits_for(self) -> str:
        """Return which fault of this machine prevents visits now; '' for none."""
        return self._outage.cause

    @property
    def stopping(self) -> bool:
        """Return whether `stop` was called."""
        return self._stopping

    @property
    def under_way(self) -> int:
        """Return the number of running visits."""
        return len(self._under_way)

    def stop(self, reason: str, *, at_once: bool = False) -> None:
        """Stop leasing, and let running visits settle. Safe in a signal handler, and may be called repeatedly.

        `at_once`: cut running visits off, to be made again by the next run.
        """
        self._at_once = self._at_once or at_once
        if not self._stopping:
            self._stopping = True
            self.summary.stopped = reason
            self._wake_queue.wake_one()

    async def run(self) -> RunSummary:
        """Crawl until the queue is empty, a limit is reached or `stop` is called.

        May be called again after an error: counts and limits continue.
        """
        started = self._clock.monotonic()
        timer = asyncio.create_task(self._end_in_time()) if self._limits.max_time_s > 0 else None
        try:
            await self._run_workers()
            while self._fault is not None and await self._outage_is_over(self._fault):
                self.summary.stopped = ""  # an idle worker may have ended the run for want of hosts that do not rest
                await self._run_workers()
        finally:
            if timer is not None:
                timer.cancel()
            self.summary.seconds += self._clock.monotonic() - started
        return self.summary

    async def _run_workers(self) -> None:
        """Have the workers visit until there is nothing to do, a stop, or a fault of this machine."""
        self._fault, self._is_concluded = None, False
        self._answered_at = self._clock.monotonic()
        self._under_way.clear()
        self._slots.is_closed = False
        tasks = [asyncio.create_task(self._work()) for _ in range(self._limits.workers)]
        keeping_up = asyncio.create_task(self._keep_up())
        try:
            await self._until_done(tasks, keeping_up)
        finally:
            self._slots.is_closed = True
            await _cancelled([keeping_up, *tasks])  # a lease that is under way is granted, and its visit begins
            await _cancelled(self._visits)
            self._visits.clear()
            for left in list(self._under_way):  # cancelled before it began
                with suppress(PassingFault):
                    await self._store.run(self._queue.release, left.lease, left.host)

    async def _outage_is_over(self, fault: OwnFault) -> bool:
        """Wait until a fault of this machine is over, and return True; False after a stop or when patience ends."""
        self._outage.begin(fault)
        while not self._stopping:
            pause_s = self._outage.pause_s()
            if pause_s is None:
                self._end("outage")
                return False
            await self._wake_queue.sleep(pause_s, since=self._wake_queue.calls)
            if not self._stopping and await self._outage.is_over():
                return True
        return False

    async def _until_done(self, tasks: list[asyncio.Task[None]], keeping_up: asyncio.Task[None]) -> None:
        """Wait for the workers, after a stop or a fault of this machine for `settle_s` at most; `_run_workers` then
        cancels those left. Raises what ended a worker, or `keeping_up`."""
        waiting = set(tasks)
        while waiting and not self._is_halted:
            done, left = await asyncio.wait(
                {*waiting, keeping_up}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            waiting &= left
        left_s = self._limits.settle_s
        while waiting and left_s > 0 and not self._at_once:
            done, waiting = await asyncio.wait(waiting, timeout=min(left_s, _LOOK_S))
            left_s -= _LOOK_S
            for task in done:
                task.result()

    async def _keep_up(self) -> None:
        """Let the strategy keep up with other processes, now and then in real time."""
        kept_up_at = time.monotonic()
        while True:
            await asyncio.sleep(self._learning.look_s)
            if time.monotonic() - kept_up_at >= self._learning.look_s:
                if said := await self._learning.keep_up():
                    self._observer.noted(said)
                kept_up_at = time.monotonic()

    @property
    def _is_halted(self) -> bool:
        return self._stopping or self._is_concluded or self._fault is not None

    async def _end_in_time(self) -> None:
        await self._clock.sleep(max(self._limits.max_time_s - self.summary.seconds, 0.0))
        self.stop("max-time", at_once=True)

    async def _work(self) -> None:
        """Lease and visit until there is nothing to do, or the run is halted and no visit waits without a worker.

        A worker that finds an address wakes the next one, because there may be more, and so does one that ends.
        """
        has_slept = False
        while not self._is_halted or self._slots.waiting:
            calls = self._wake_queue.calls
            slot = self._slots.next_back()
            if slot is not None:
                await slot.work()
                has_slept = False
                continue
            if self._is_halted:
                await self._wake_queue.sleep(_LOOK_S, since=calls)
                continue
            async with self._leasing:
                calls = self._wake_queue.calls
                under_way, pause_s = await self._lease(calls, has_slept=has_slept)
            has_slept = under_way is None
            if under_way is not None:
                self._wake_queue.wake_one()
                await self._begin(under_way).work()
            elif pause_s is not None:
                await self._wake_queue.sleep(pause_s, since=calls)
            else:
                break
        self._wake_queue.wake_one()

    async def _lease(self, calls: int, *, has_slept: bool) -> tuple[_UnderWay | None, float | None]:
        """Lease an address. Without one, return how long to sleep, None when this crawl has nothing more to do.

        One worker looks for all whose sleep ends at the same time: when nothing has called a worker since (`calls` of
        the wake queue), they sleep on with it.
        """
        left_s = self._look_at - self._clock.monotonic()
        if has_slept and left_s > self._NAP_S and calls == self._calls_at_look:
            return None, left_s
        lease = await self._store.run_steps(self._queue.lease_in_steps(pages=self._pages_left() > 0))
        if lease is not None:
            self._promised_at, self._broken_promises = -math.inf, 0
            under_way = _UnderWay(lease)
            self._under_way.add(under_way)
            return under_way, None
        pause_s = await self._pause_s()
        self._is_concluded = pause_s is None
        self._look_at, self._calls_at_look = self._clock.monotonic() + (pause_s or 0.0), calls
        return None, pause_s

    def _begin(self, under_way: _UnderWay) -> WorkerSlot:
        """Begin the visit of a leased address, and return its slot."""
        slot = WorkerSlot(self._slots, under_way.lease.host)
        visit = slot.begin(self._carry_out(under_way, slot))
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)
        visit.add_done_callback(lambda done: done.cancelled() or done.exception())  # its worker may be gone
        return slot

    def _pages_left(self) -> int:
        """Return how many pages may still be leased: those under way count, because all may be answered."""
        under_way = sum(visit.lease.entry.purpose is Purpose.PAGE for visit in self._under_way)
        return self._limits.max_pages - self._pages_counted() - under_way

    async def _pause_s(self) -> float | None:
        """Return how long to sleep until an address may be ready; None when this crawl has nothing more to do."""
        pages_left = self._pages_left() > 0 and await self._store.run(self._queue.may_lease_pages)
        idle = not self._under_way
        ready_at = await self._store.run(self._queue.ready_at, pages=pages_left)
        now = self._clock.now()
        wait_s = self._limits.idle_s if ready_at is None else ready_at - now
        if idle and ready_at is None:
            self._end("done" if pages_left else "max-pages")
            return None
        if (
            idle
            and wait_s > min(self._RETRY_S, self._limits.patience_s)
            and not (pages_left and await self._store.run(self._queue.others_at_work))
        ):
            hosts = await self._store.run(self._queue.waiting_hosts, pages=pages_left)
            waited_s = self._clock.monotonic() - self._answered_at
            next_at = hosts[0].ready_at if hosts else now  # before now: it is held for better ones
            if not hosts or (next_at > now and waited_s + next_at - now > self._limits.patience_s):
                self._end(("patience" if hosts else "resting") if pages_left else "max-pages")
                return None
            self._tell(hosts, now)
        return min(max(wait_s, self._nap_s(now, now + wait_s)), self._limits.idle_s)

    def _nap_s(self, now: float, ready_at: float) -> float:
        """Return the shortest sleep before the next look; it doubles each time that nothing could be leased when
        something was to be ready, so that no wrong promise keeps the workers busy."""
        if -math.inf < self._promised_at <= now:
            self._broken_promises += 1
        self._promised_at = ready_at
        return float(min(self._NAP_S * 2.0 ** min(self._broken_promises, 20), self._LONGEST_NAP_S))

    def _tell(self, hosts: Sequence[WaitingHost], now: float) -> None:
        """Report for which host the run waits and until when, once for each wait."""
        hosts = [host for host in hosts if host.ready_at > now]  # pages of the others are held for theirs
        if not hosts:
            return
        first = hosts[0]
        waiting = counted(first.urls, "address")
        said = f"Waiting for {first.name} until {moment(first.ready_at)} UTC ({waiting} queued there"
        others = counted(len(hosts) - 1, "other host")
        said += f", {sum(host.urls for host in hosts[1:]):,} on {others})." if hosts[1:] else ")."
        if first.ready_at - now > self._SILENT_S and said != self._told:
            self._told = said
            self._observer.noted(said)

    def _end(self, reason: str) -> None:
        self.summary.stopped = self.summary.stopped or reason

    async def _visit(self, under_way: _UnderWay, slot: WorkerSlot) -> Visit:
        """Visit the leased address in a turn of its host; return a failed visit when an exception ended the visit."""
        lease = under_way.lease
        try:
            async with self._fetcher.turn(lease.host, self._queue.held(lease), slot.waiting) as turn:
                under_way.turn = turn
                return await self._visitors[lease.entry.purpose].visit(lease, turn)
        except OwnFault as fault:
            if not self._outage.is_of_the_address(lease.entry.id):
                raise
            return broken(lease, fault, under_way.host, self._clock.now(), self._limits.retry_first_s)
        except GeocrawlError:
            raise
        except Exception as error:
            return broken(lease, error, under_way.host, self._clock.now(), self._limits.retry_first_s)

    async def _settle(self, visit: Visit) -> tuple[Visit, SettlementResult]:
        """Settle a visit; if its results cannot be written, settle it as failed. Return the visit that was settled.

        Faults of the database are raised, because the visit is not their cause.
        """
        try:
            return visit, await self._store.run(self._queue.settle, visit)
        except Exception as error:
            if isinstance(error, GeocrawlError) and not isinstance(error, RefusedValue):
                raise
            bare = broken(visit.lease, error, visit.host, visit.at, self._limits.retry_first_s)
            return bare, await self._store.run(self._queue.settle, bare)

    async def _carry_out(self, under_way: _UnderWay, slot: WorkerSlot) -> None:
        lease = under_way.lease
        entry = lease.entry
        self._observer.leased(lease)
        settled = False
        try:
            visit = await self._visit(under_way, slot)
            visit, result = await self._settle(visit)
            settled = True
            if result.ignored:  # another process has leased the host since, and makes this visit again
                return
            if visit.http_status is not None:
                self._outage.answered(entry.id)
            self.summary.count(visit, result)
            if visit.state is not State.FAILED or visit.retry_after_s is None:
                self._answered_at = self._clock.monotonic()
            if result.feedback is not None and (said := await self._learning.learn(result.feedback)):
                self._observer.noted(said)
            self._observer.settled(entry, visit, result)
        except OwnFault as fault:
            self._fault = fault
        except GivenBack:
            pass  # the host's state says when the address may be leased again
        finally:
            self._under_way.discard(under_way)
            if not settled:
                await self._store.run(self._queue.release, lease, under_way.host)


async def _cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
