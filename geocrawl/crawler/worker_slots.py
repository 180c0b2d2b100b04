"""Let workers sleep while no address is ready, and let a visit that waits for the network give its slot to another.

A visit that ends frees one host, so one worker is enough to take what has become ready: `WakeQueue` wakes one at a
time. Would all wake, each would query the queue after every visit of the others.

A worker is a unit of work, not of waiting: else five servers that accept connections and never answer would hold up
five workers. A visit that has waited longer than `LONG_WAIT_S` for a name, a connection, the first byte of an answer or
its host's delay gives its slot up; its worker takes another visit, while the host of the first one stays leased and
all time limits go on. Visits at hosts that are known to be slow do so at once. When the wait is over, the next free
worker takes the visit on, before any new one. So no more visits than there are workers read answers, and at most
`max_waiting` wait beside them.

A run that visits no pages gives up slots for delays of any length, which is several times as fast. In a crawl that
would have pages read before their turn: while probes wait, the best pages are not known yet.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress

from geocrawl.model import HostState
from geocrawl.ports import Clock


class WakeQueue:
    """Wakes the worker that has slept longest, each time that `wake_one` is called."""

    def __init__(self, clock: Clock) -> None:
        """Sleeps last by this clock, which is virtual in a replay."""
        self._clock = clock
        self._sleepers = deque[asyncio.Future[None]]()
        self.calls = 0
        """How often `wake_one` was called."""

    def wake_one(self) -> None:
        """Wake one sleeper, if there is one."""
        self.calls += 1
        while self._sleepers:
            sleeper = self._sleepers.popleft()
            if not sleeper.done():
                sleeper.set_result(None)
                return

    async def sleep(self, seconds: float, *, since: int) -> None:
        """Sleep until the caller is woken, at most `seconds`.

        `since`: value of `calls` before the caller looked for work; if it was called meanwhile, do not sleep.
        """
        if since != self.calls:
            return
        woken = asyncio.get_running_loop().create_future()
        slept = asyncio.ensure_future(self._clock.sleep(seconds))
        self._sleepers.append(woken)
        try:
            await asyncio.wait({woken, slept}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if woken.done():  # woken for a worker that was just cancelled: for the next one, then
                self.wake_one()
            raise
        finally:
            slept.cancel()
            if not woken.done():
                woken.cancel()
                self._sleepers.remove(woken)


LONG_WAIT_S = 2.0
_MOST_SLOW_HOSTS = 4096


class WorkerSlots:
    """The visits of a crawl that wait without a slot, and the hosts that are known to be slow."""

    def __init__(self, most_waiting: int, wake_queue: WakeQueue, *, in_delays: bool = False) -> None:
        """`most_waiting`: limit on visits without a slot; the others keep theirs while they wait. `wake_queue` wakes a
        worker for a visit that is back. `in_delays`: whether slots are given up for delays of any length."""
        self.in_delays = in_delays
        self._most_waiting = most_waiting
        self._wake_queue = wake_queue
        self._back: deque[WorkerSlot] = deque()
        self._slow: OrderedDict[str, None] = OrderedDict()
        self.waiting = 0
        """Number of visits without a slot, those that are back among them."""
        self.is_closed = False
        """Whether the workers have ended: nobody waits for a slot any more."""

    def next_back(self) -> WorkerSlot | None:
        """Return the visit that has been back longest, to be given a slot; None when no visit is back."""
        return self._back.popleft() if self._back else None

    def is_slow(self, host: HostState) -> bool:
        """Return whether a host answered late, or not at all, when it was last asked."""
        return host.name in self._slow or host.errors > 0

    def note(self, host: HostState, waited_s: float) -> None:
        """Remember whether a host is slow."""
        self._slow.pop(host.name, None)
        if waited_s >= LONG_WAIT_S:
            self._slow[host.name] = None
            if len(self._slow) > _MOST_SLOW_HOSTS:
                self._slow.popitem(last=False)

    def leave(self) -> bool:
        """Let a visit give its slot up; return whether it may."""
        if self.waiting >= self._most_waiting:
            return False
        self.waiting += 1
        return True

    def come_back(self, slot: WorkerSlot) -> None:
        """Have the next free worker give a slot to a visit whose wait is over."""
        self._back.append(slot)
        self._wake_queue.wake_one()

    def end_wait(self, slot: WorkerSlot) -> None:
        """Count a visit that has a slot again, or ended without one."""
        self.waiting -= 1
        with suppress(ValueError):
            self._back.remove(slot)


class WorkerSlot:
    """The slot of one visit among those that workers carry out."""

    def __init__(self, slots: WorkerSlots, host: HostState) -> None:
        self._slots = slots
        self._host = host
        self._visit: asyncio.Task[None] | None = None
        self._given_up: asyncio.Future[None] | None = None
        self._given: asyncio.Future[None] | None = None

    def begin(self, visit: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Start the visit that has this slot; `work` then waits for it."""
        self._visit = asyncio.create_task(visit)
        return self._visit

    async def work(self) -> None:
        """Give the visit a slot, and wait until it ends or gives the slot up. Raises what ended it."""
        assert self._visit is not None, "the visit has begun"
        given_up = self._given_up = asyncio.get_running_loop().create_future()
        if self._given is not None and not self._given.done():
            self._given.set_result(None)
        await asyncio.wait({self._visit, given_up}, return_when=asyncio.FIRST_COMPLETED)
        if self._visit.done():
            self._visit.result()

    @asynccontextmanager
    async def waiting(self, known_s: float) -> AsyncIterator[None]:
        """Wait for the network in this context, which ends with a slot: the one at its beginning or another one.

        `known_s`: how long the wait is known to last; 0.0: not known.
        """
        loop = asyncio.get_running_loop()
        begun, is_away = loop.time(), False

        def give_up() -> None:
            nonlocal is_away
            if self._given_up is not None and not self._given_up.done() and self._slots.leave():
                is_away = True
                self._given_up.set_result(None)

        gives_up_at_once = self._slots.is_slow(self._host) or (self._slots.in_delays and known_s > 0.0)
        timer = loop.call_later(0.0 if gives_up_at_once else LONG_WAIT_S, give_up)
        try:
            yield
        except asyncio.CancelledError:  # the crawl ends: nobody gives slots any more
            if is_away:
                self._slots.end_wait(self)
            raise
        except BaseException:
            await self._end_wait(loop.time() - begun, known_s, is_away=is_away)
            raise
        else:
            await self._end_wait(loop.time() - begun, known_s, is_away=is_away)
        finally:
            timer.cancel()

    async def _end_wait(self, waited_s: float, known_s: float, *, is_away: bool) -> None:
        """Note how long a wait was; a visit that gave its slot up waits for another one."""
        if not known_s or waited_s >= LONG_WAIT_S:  # a short delay says nothing of how soon a host answers
            self._slots.note(self._host, waited_s)
        if not is_away:
            return
        if self._slots.is_closed:
            self._slots.end_wait(self)
            return
        self._given = asyncio.get_running_loop().create_future()
        self._slots.come_back(self)
        try:
            await self._given
        finally:
            self._slots.end_wait(self)
