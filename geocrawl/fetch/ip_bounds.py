"""Bound the requests to one IP address, however many host names lead to it.

The delay spares a host; but five hundred hosts may be one machine. At most `requests_per_ip` requests to an IP address
are under way at once, and their beginnings are `ip_delay_factor` of the delay apart.

A turn whose first request would have to wait for longer than a moment is put off: the visit is given back, and its
worker visits a host elsewhere. Turns that are put off get different times to come back, so that five hundred hosts of
one address are not leased over and over. The later requests of a turn wait, before turns that begin.

A name with several addresses counts for the first in the order of their texts, so that all names of a machine count
for the same one. Through a proxy no address is known, and nothing is bounded. Each process bounds its own requests.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from geocrawl.ports import Clock

_MOMENT_S = 1.0
"""Longest wait for the first request of a turn, seconds."""
_LEAST_SPACING_S = 0.1
"""Least time between two turns that are put off, seconds: an address without a delay may be busy, too."""
_LONGEST_S = 600.0
"""Longest time for which a turn is put off, seconds: the crawl that keeps the address busy may end before."""
_MOST_KEPT = 4096


class PutOff(Exception):
    """A turn would have to wait for its first request. It never leaves this room."""

    def __init__(self, for_s: float) -> None:
        """`for_s`: when to come again, in seconds from now."""
        super().__init__(f"its IP address is busy with other hosts; to be requested in {for_s:.1f} s")
        self.for_s = for_s


class IpBounds:
    """Lets requests to IP addresses begin when they may."""

    def __init__(self, clock: Clock, most_at_once: int) -> None:
        """`most_at_once`: limit on concurrent requests to one address; 0: no limit."""
        self._clock = clock
        self._most_at_once = most_at_once
        self._addresses: OrderedDict[str, _Address] = OrderedDict()

    def request(self, ip: str, gap_s: float, *, begins_turn: bool) -> AbstractAsyncContextManager[None]:
        """Return a context in which a request to `ip` is made; it begins `gap_s` after the one before.

        `ip`: '' for an address that is not known. `begins_turn`: raise PutOff rather than wait for long.
        """
        if not ip or not self._most_at_once:
            return nullcontext()
        return self._bounded(self._address(ip), gap_s, begins_turn=begins_turn)

    @asynccontextmanager
    async def _bounded(self, address: _Address, gap_s: float, *, begins_turn: bool) -> AsyncIterator[None]:
        await (address.begin_turn(gap_s) if begins_turn else address.go_on())
        try:
            await address.keep_gap(gap_s)
            yield
        finally:
            address.leave()

    def _address(self, ip: str) -> _Address:
        found = self._addresses.get(ip)
        if found is None:
            found = self._addresses[ip] = _Address(self._clock, self._most_at_once)
        self._addresses.move_to_end(ip)
        if len(self._addresses) > _MOST_KEPT:
            self._addresses.popitem(last=False)
        return found


class _Address:
    """The requests to one IP address: a number of places, and when the next request may begin."""

    def __init__(self, clock: Clock, most_at_once: int) -> None:
        self._clock = clock
        self._most_at_once = most_at_once
        self._places = asyncio.Semaphore(most_at_once)
        self._turns_waiting = 0
        self._free_at = 0.0
        self._put_off_to = 0.0

    async def begin_turn(self, gap_s: float) -> None:
        """Take a place for the first request of a turn; raise PutOff if that or the gap takes longer than a moment."""
        if self._places.locked() and self._turns_waiting >= self._most_at_once:
            raise self._put_off(gap_s)
        self._turns_waiting += 1
        try:
            async with asyncio.timeout(_MOMENT_S):
                await self._places.acquire()
        except TimeoutError:
            raise self._put_off(gap_s) from None
        finally:
            self._turns_waiting -= 1
        if self._free_at - self._clock.monotonic() > _MOMENT_S:
            self.leave()
            raise self._put_off(gap_s)

    async def go_on(self) -> None:
        """Take a place for a later request of a turn, however long it takes."""
        await self._places.acquire()

    async def keep_gap(self, gap_s: float) -> None:
        """Wait until the gap to the request before is over."""
        now = self._clock.monotonic()
        wait_s = self._free_at - now
        self._free_at = max(self._free_at, now) + gap_s
        if wait_s > 0:
            await self._clock.sleep(wait_s)

    def leave(self) -> None:
        """Give a place back."""
        self._places.release()

    def _put_off(self, gap_s: float) -> PutOff:
        now = self._clock.monotonic()
        at = max(self._put_off_to, self._free_at, now) + max(gap_s, _LEAST_SPACING_S)
        self._put_off_to = min(at, now + _LONGEST_S)
        return PutOff(self._put_off_to - now)
