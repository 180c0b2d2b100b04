"""Bound what a crawl does at once: a visit has a slot while it asks or reads, and none while it rests.

What limits a crawl is the number of requests under way, not that of hosts that rest. So a visit gives its slot up for
its host's delay, and when it has waited longer than `LONG_WAIT_S` for a name, a connection or the first byte of an
answer; at a host that is known to be slow it does so at once. The host stays leased meanwhile, and all time limits go
on. When the wait is over, the visit takes the next free slot, before any new one. So no more visits than there are
slots read answers, and at most `max_waiting` more wait.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from geocrawl.errors import Late
from geocrawl.model import HostState

LONG_WAIT_S = 2.0
LATE_S = 5.0
"""The longest wait for the beginning of an answer in the first try of a service while others of its host wait."""
_MOST_SLOW_HOSTS = 4096


class Slots:
    """The slots of a crawl, the visits that wait without one, and the hosts that are known to be slow."""

    def __init__(self, most: int, most_waiting: int, freed: Callable[[], object]) -> None:
        """`most`: number of slots. `most_waiting`: limit on visits without a slot; the others keep theirs while they
        wait. `freed` is called when a visit leaves the only slot that is free."""
        self._free = most
        self._most_waiting = most_waiting
        self.may_wait = most_waiting > 0
        """Whether a visit may wait without a slot."""
        self._freed = freed
        self._back: deque[asyncio.Future[None]] = deque()
        """Visits whose wait is over."""
        self._slow: OrderedDict[str, None] = OrderedDict()
        self._waiting = 0

    def take(self) -> bool:
        """Take a slot for a new visit, and return True; False when none is free."""
        is_free = self._free > 0
        self._free -= is_free
        return is_free

    def put_back(self) -> None:
        """Return a slot that was taken: the visit that has been back longest takes it."""
        while self._back:
            if not (visit := self._back.popleft()).done():
                visit.set_result(None)
                return
        self._free += 1

    def leave(self) -> None:
        """Give a visit's slot up."""
        self.put_back()
        if self._free == 1:
            self._freed()

    def rest(self) -> bool:
        """Let a visit give its slot up while it waits; return whether it may."""
        if self._waiting >= self._most_waiting:
            return False
        self._waiting += 1
        self.leave()
        return True

    async def come_back(self) -> None:
        """Take a slot again, as soon as one is free, for a visit whose wait is over."""
        if not self.take():
            given: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._back.append(given)
            try:
                await given
            except asyncio.CancelledError:
                if not given.cancelled():  # a slot was given to a visit that was just cancelled
                    self.leave()
                raise
        self._waiting -= 1

    def end_rest(self) -> None:
        """Count a visit that ends without a slot."""
        self._waiting -= 1

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


class Slot:
    """The slot of one visit, which begins with it."""

    def __init__(self, slots: Slots, host: HostState) -> None:
        self._slots = slots
        self._host = host
        self._is_away = False

    def end(self) -> None:
        """Return the slot at the end of the visit."""
        if self._is_away:
            self._slots.end_rest()
        else:
            self._slots.leave()

    @asynccontextmanager
    async def waiting(self, known_s: float) -> AsyncIterator[None]:
        """Wait for the network in this context, which ends with a slot: the one at its beginning or another one.

        `known_s`: how long the wait is known to last, as a delay; 0.0: not known.
        """
        loop = asyncio.get_running_loop()
        begun, timer = loop.time(), None
        if known_s > 0.0 or self._slots.is_slow(self._host):
            self._give_up()
        else:
            timer = loop.call_later(LONG_WAIT_S, self._waits_long)
        is_cut_off = False
        try:
            yield
        except asyncio.CancelledError:  # the crawl ends
            is_cut_off = True
            raise
        finally:
            if timer is not None:
                timer.cancel()
            if not is_cut_off:
                if not known_s:  # a delay says nothing of how soon a host answers
                    self._slots.note(self._host, loop.time() - begun)
                if self._is_away:
                    await self._slots.come_back()
                    self._is_away = False

    @asynccontextmanager
    async def first_try(self, known_s: float) -> AsyncIterator[None]:
        """Do what `waiting` does, but raise Late when no answer begins in time. There is no limit for a host that was
        slow before or never asked, nor where nothing may wait without a slot."""
        was_quick = self._host.asked > 0 and not self._slots.is_slow(self._host)
        is_limited = known_s == 0.0 and was_quick and self._slots.may_wait
        async with self.waiting(known_s):
            try:
                async with asyncio.timeout(LATE_S if is_limited else None) as limit:
                    yield
            except TimeoutError:
                if not limit.expired():
                    raise
                raise Late(f"{self._host.name}: no answer began within {LATE_S:g} s") from None

    def _give_up(self) -> None:
        self._is_away = self._is_away or self._slots.rest()

    def _waits_long(self) -> None:
        self._slots.note(self._host, LONG_WAIT_S)
        self._give_up()
