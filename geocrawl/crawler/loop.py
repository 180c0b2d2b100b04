"""Run the loop of a crawl: lease the best address, visit it, and settle all results of the visit in one transaction.

`PageVisitor` visits pages, `ProbeVisitor` endpoints. Whatever stops the process, no settled visit is lost: an unsettled
lease expires, and its address is visited again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from geocrawl.crawler.learning import Learning
from geocrawl.crawler.report import RunSummary
from geocrawl.crawler.slots import Slot, Slots
from geocrawl.crawler.visits import broken
from geocrawl.errors import GeocrawlError, GivenBack, Late, OwnFault, PassingFault, RefusedValue
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
    """The number of slots: of visits that ask or read at once."""
    max_waiting: int
    """The number of visits that may wait besides those."""
    max_pages: int
    max_time_s: float
    """0: no limit."""
    patience_s: float
    """The longest wait, without an answer, for hosts in back-off that have addresses never visited."""
    outage_patience_s: float
    """The longest wait for a fault of this machine, such as a proxy that is down."""
    slow_s: float
    """How long nothing but probes of slow services may be under way before the run ends without them; inf: no limit."""
    idle_s: float
    """The longest sleep without work, because another process may have queued some."""
    settle_s: float
    """How long running visits may last after a stop."""
    retry_first_s: float
    """As in `Settings`."""
    retry_wait_s: float
    """The longest wait for a retry when nothing else is left; later retries are left to the next run."""


_LOOK_S = 0.2
"""How often the loop looks whether it was told to stop."""


class Visitor(Protocol):
    """Makes the visit of a leased address, to be settled by the loop."""

    async def visit(self, lease: Lease, turn: Turn) -> Visit:
        """Visit the leased address in this turn of its host."""


class _Outlook(NamedTuple):
    """What the queue holds when nothing can be leased."""

    may_be_pages: bool
    """Whether pages may be leased."""
    ready_at: float | None
    """When an address can be leased; None: nothing waits."""
    hosts: Sequence[WaitingHost] | None
    """The hosts for which a run without a visit under way may wait; None: it waits in any case."""
    waits_for_slow: bool
    """Whether nothing but probes of slow services is under way, and no page is left to be visited."""


@dataclass(slots=True, eq=False)
class _UnderWay:
    """A lease whose visit is running. An address may be leased again while a visit whose lease ended still runs."""

    lease: Lease
    turn: Turn | None = None

    @property
    def host(self) -> HostState:
        """Return the host's state after the requests so far, even if the visit was cancelled during one."""
        return self.turn.host if self.turn is not None else self.lease.host


class _Naps:
    """The sleeps between looks in vain; a new one begins with each lease."""

    SHORTEST_S = 0.005
    """A host that is due may still be leased."""
    LONGEST_S = 0.5

    def __init__(self) -> None:
        self._promised_at = -math.inf
        """Time at which an address was to be ready at the last look."""
        self._broken_promises = 0
        """Number of looks in a row that leased nothing although an address was to be ready."""

    def next_s(self, now: float, ready_at: float) -> float:
        """Return the shortest sleep before the next look; it doubles each time that nothing could be leased when
        something was to be ready, so that no wrong promise keeps the store busy."""
        if -math.inf < self._promised_at <= now:
            self._broken_promises += 1
        self._promised_at = ready_at
        return float(min(self.SHORTEST_S * 2.0 ** min(self._broken_promises, 20), self.LONGEST_S))


class Crawler:
    """Visits the addresses leased from one queue: leases one after the other, and begins a visit in each free slot."""

    _SILENT_S = 5.0
    """Shorter waits are not reported."""

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
        self._news = asyncio.Event()
        """Set when something happened for which leasing may have waited: a visit ended, a slot is free, a stop."""
        self._slots = Slots(limits.workers, limits.max_waiting, self._news.set)
        self._visits: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._at_once = False
        """Whether running visits are cut off rather than settled."""
        self._answered_at = clock.monotonic()
        """Time of the last answer that a retry would not improve, monotonic; patience is counted from then on."""
        self._naps = _Naps()
        self._returns_at = -math.inf
        """When the last of the visits that were given back may be made, monotonic."""
        self._slow_since = math.inf
        """Since when nothing but probes of slow services is under way, monotonic; inf: something else is."""
        self._told = ""
        self._fault: OwnFault | None = None
        self._defect: BaseException | None = None
        """Exception that ended a visit without a settlement: a fault of the database."""
        self._is_concluded = False
        """Whether nothing was left to do at the last look."""
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
            self._news.set()

    async def run(self) -> RunSummary:
        """Crawl until the queue is empty, a limit is reached or `stop` is called.

        May be called again after an error: counts and limits continue.
        """
        started = self._clock.monotonic()
        timer = asyncio.create_task(self._end_in_time()) if self._limits.max_time_s > 0 else None
        try:
            await self._visit_all()
            while self._fault is not None and await self._outage_is_over(self._fault):
                self.summary.stopped = ""  # the run may have ended for want of hosts that do not rest
                await self._visit_all()
            await self._learning.write()
        finally:
            if timer is not None:
                timer.cancel()
            self.summary.seconds += self._clock.monotonic() - started
        return self.summary

    async def _visit_all(self) -> None:
        """Visit until there is nothing to do, a stop, or a fault of this machine."""
        self._fault, self._defect, self._is_concluded = None, None, False
        self._answered_at = self._clock.monotonic()
        self._under_way.clear()
        leasing, keeping_up = asyncio.create_task(self._begin_visits()), asyncio.create_task(self._keep_up())
        try:
            await self._until_done(leasing, keeping_up)
        finally:
            await _cancelled([keeping_up, leasing])  # a lease that is under way is granted, and its visit begins
            await _cancelled(self._visits)
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
            self._news.clear()
            await self._sleep(pause_s)
            if not self._stopping and await self._outage.is_over():
                return True
        return False

    async def _until_done(self, leasing: asyncio.Task[None], keeping_up: asyncio.Task[None]) -> None:
        """Wait until the run is halted, then for the visits under way, for `settle_s` at most; `_visit_all` then
        cancels those left. Raises what ended a task."""
        while not self._is_halted:
            done, _ = await asyncio.wait({leasing, keeping_up}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        left_s = self._limits.settle_s
        while (running := {task for task in (leasing, *self._visits) if not task.done()}) and left_s > 0:
            if self._at_once or self._defect is not None:
                break
            await asyncio.wait(running, timeout=min(left_s, _LOOK_S))
            left_s -= _LOOK_S
        if self._defect is not None:
            raise self._defect
        if leasing.done():
            leasing.result()

    async def _keep_up(self) -> None:
        """Let the strategy keep up with other processes, now and then in real time."""
        kept_up_at = time.monotonic()
        while True:
            await asyncio.sleep(self._learning.look_s)
            if time.monotonic() - kept_up_at >= self._learning.look_s:
                if said := await self._learning.keep_up():
                    self._observer.noted(said)
                await self._learning.write()
                kept_up_at = time.monotonic()

    @property
    def _is_halted(self) -> bool:
        return self._stopping or self._is_concluded or self._fault is not None or self._defect is not None

    async def _end_in_time(self) -> None:
        await self._clock.sleep(max(self._limits.max_time_s - self.summary.seconds, 0.0))
        self.stop("max-time", at_once=True)

    async def _begin_visits(self) -> None:
        """Lease addresses and begin their visits while slots are free, until there is nothing to do or the run is
        halted."""
        while not self._is_halted:
            self._news.clear()
            if not self._slots.take():
                await self._news.wait()
                continue
            found: Lease | _Outlook | None = None
            idle, are_slow = not self._under_way, self._are_slow()
            try:
                steps = self._lease_in_steps(pages=self._pages_left() > 0, idle=idle, are_slow=are_slow)
                found = await self._learning.run_steps(steps)
            finally:
                if not isinstance(found, Lease):
                    self._slots.put_back()
            if isinstance(found, Lease):
                self._naps = _Naps()
                if found.entry.is_visited_alone:
                    await self._visit_alone(found)
                else:
                    self._begin(_UnderWay(found))
                continue
            pause_s = self._pause_s(found, idle=idle)
            if pause_s is None:
                self._is_concluded = True
                return
            await self._sleep(pause_s)

    async def _sleep(self, seconds: float) -> None:
        """Sleep until there is news, at most `seconds`."""
        woken = asyncio.ensure_future(self._news.wait())
        slept = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({woken, slept}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
            slept.cancel()

    def _lease_in_steps(self, *, pages: bool, idle: bool, are_slow: bool) -> Generator[None, None, Lease | _Outlook]:
        """Lease an address, or read when one may be had. The store's runner calls it.

        `idle`: no visit is under way; `are_slow`: nothing but probes of slow services is.
        """
        lease = yield from self._queue.lease_in_steps(pages=pages)
        if lease is not None:
            return lease
        may_be_pages = pages and self._queue.may_lease_pages()
        ready_at, hosts = self._queue.ready_at(pages=may_be_pages), None
        retry_s = min(self._limits.retry_wait_s, self._limits.patience_s)
        soon_s = max(retry_s, self._returns_at - self._clock.monotonic())
        if idle and ready_at is not None and ready_at - self._clock.now() > soon_s:
            others_at_work = may_be_pages and self._queue.others_at_work()
            hosts = None if others_at_work else self._queue.waiting_hosts(pages=may_be_pages)
        waits_for_slow = are_slow and not (may_be_pages and self._queue.pages_wait())
        return _Outlook(may_be_pages, ready_at, hosts, waits_for_slow)

    def _are_slow(self) -> bool:
        """Return whether nothing is under way but probes at hosts that answer late."""
        visits = list(self._under_way)
        return bool(visits) and all(
            visit.lease.entry.purpose is Purpose.PROBE and self._slots.is_slow(visit.lease.host) for visit in visits
        )

    async def _visit_alone(self, lease: Lease) -> None:
        """Visit an address that was under way when processes were killed, after all others and before new ones."""
        self._under_way.add(under_way := _UnderWay(lease))  # given back when the run ends before its visit begins
        self._slots.put_back()
        while self._visits:
            await asyncio.wait(self._visits)
        if not self._is_halted and self._slots.take():
            self._begin(under_way)
            await asyncio.wait(self._visits)

    def _begin(self, under_way: _UnderWay) -> None:
        """Begin the visit of a leased address in the slot that was taken for it."""
        slot = Slot(self._slots, under_way.lease.host)
        self._under_way.add(under_way)

        def end(visit: asyncio.Task[None]) -> None:
            slot.end()
            self._visits.discard(visit)
            if not visit.cancelled() and (error := visit.exception()) is not None:
                self._defect = self._defect or error
            self._news.set()

        visit = asyncio.create_task(self._carry_out(under_way, slot))
        self._visits.add(visit)
        visit.add_done_callback(end)

    def _pages_left(self) -> int:
        """Return how many pages may still be leased: those under way count, because all may be answered."""
        under_way = sum(visit.lease.entry.purpose is Purpose.PAGE for visit in self._under_way)
        return self._limits.max_pages - self._pages_counted() - under_way

    def _pause_s(self, outlook: _Outlook, *, idle: bool) -> float | None:
        """Return how long to sleep until an address may be ready; None when this crawl has nothing more to do."""
        pages_left, ready_at, hosts, waits_for_slow = outlook
        now = self._clock.now()
        self._slow_since = min(self._slow_since, self._clock.monotonic()) if waits_for_slow else math.inf
        if self._clock.monotonic() - self._slow_since >= self._limits.slow_s:
            self.stop("slow", at_once=True)
            return None
        wait_s = self._limits.idle_s if ready_at is None else ready_at - now
        if idle and ready_at is None:
            self._end("done" if pages_left else "max-pages")
            return None
        if hosts is not None:
            waited_s = self._clock.monotonic() - self._answered_at
            next_at = hosts[0].ready_at if hosts else now  # before now: it is held for better ones
            if not hosts or (next_at > now and waited_s + next_at - now > self._limits.patience_s):
                self._end(("patience" if hosts else "resting") if pages_left else "max-pages")
                return None
            self._tell(hosts, now)
        return min(max(wait_s, self._naps.next_s(now, now + wait_s)), self._limits.idle_s)

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

    async def _visit(self, under_way: _UnderWay, slot: Slot) -> Visit:
        """Visit the leased address in a turn of its host; return a failed visit when an exception ended the visit."""
        lease, waiting = under_way.lease, slot.waiting
        if lease.others_wait and lease.entry.purpose is Purpose.PROBE and not lease.entry.is_behind:
            waiting = slot.first_try
        try:
            async with self._fetcher.turn(lease.host, self._queue.held(lease), waiting) as turn:
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

    async def _carry_out(self, under_way: _UnderWay, slot: Slot) -> None:
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
        except (
            GivenBack
        ) as given_back:  # the host's state says when the address may be leased again: the run waits for that
            rest_s = min(under_way.host.next_at - self._clock.now(), self._limits.patience_s)
            self._returns_at = max(self._returns_at, self._clock.monotonic() + rest_s)
            if isinstance(given_back, Late):
                await self._store.run(self._queue.put_behind, lease)
        finally:
            try:
                if not settled:  # before it counts as ended: else its host would seem to be leased elsewhere
                    await self._store.run(self._queue.release, lease, under_way.host)
            finally:
                self._under_way.discard(under_way)


async def _cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
