"""Bound the requests to one IP address, however many host names lead to it and however many processes crawl.

The delay spares a host; but five hundred hosts may be one machine. At most `requests_per_ip` requests to an IP address
are under way at once, and their beginnings are `ip_delay_factor` of the delay apart. The places of an address are rows
of the catalogue (`ports.Politeness`), so all processes on one catalogue keep the bound together.

A turn whose first request would have to wait for longer than a moment is put off: the visit is given back, and its
worker visits a host elsewhere. Turns that are put off get different times to come back, so that five hundred hosts of
one address are not leased over and over. The later requests of a turn wait.

A name with several addresses counts for the first in the order of their texts, so that all names of a machine count
for the same one. Through a proxy no address is known, and nothing is bounded.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from geocrawl.errors import DatabaseFault
from geocrawl.model import IpPlace, IpRequest
from geocrawl.ports import Clock, Politeness

_MOMENT_S = 1.0
"""Longest wait for the first request of a turn, seconds."""
_LOOK_S = 0.05
"""Time between two looks for a free place, seconds."""
_LATE_S = 0.05
"""A request that would begin so much after its time takes another place, seconds."""
_LATENCY_S = 1.0
"""Longest time, seconds, by which requests of a busy process are expected to begin late; what is later slept."""
_FORGOTTEN = 0.9
"""Share of that expectation that is left after a request that was in time."""
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

    def __init__(self, clock: Clock, politeness: Politeness, *, most_at_once: int, lasts_s: float) -> None:
        """`most_at_once`: limit on concurrent requests to one address; 0: no limit. `lasts_s`: longest duration of a
        request."""
        self._clock = clock
        self._politeness = politeness
        self._most_at_once = most_at_once
        self._lasts_s = lasts_s
        self._latency_s = 0.0
        """By how much requests begin after their time, because this process is busy with other things."""
        self._put_off_to: OrderedDict[str, float] = OrderedDict()
        """IP address → the latest time to which a turn was put off."""

    @asynccontextmanager
    async def request(self, ip: str, gap_s: float, *, begins_turn: bool) -> AsyncIterator[None]:
        """Make a request to `ip` in this context; it begins `gap_s` after the one before.

        `begins_turn`: raise PutOff rather than wait for long.
        """
        if not self._most_at_once:
            yield
            return
        place = await self._enter_in_time(ip, gap_s, begins_turn=begins_turn)
        try:
            yield
        finally:
            await self._leave(place)

    async def _enter_in_time(self, ip: str, gap_s: float, *, begins_turn: bool) -> IpPlace:
        """Take a place and wait for its beginning.

        A place whose beginning passed while this process could not go on (suspended, or its database busy) is taken
        again: others whose beginnings passed meanwhile would begin at the same time. A busy process begins each request
        a little late: it takes places in which it may, or it would take each of them several times.
        """
        while True:
            place = await self._enter(ip, gap_s, begins_turn=begins_turn)
            if (wait_s := place.begins_at - self._clock.now()) > 0:
                await self._clock.sleep(wait_s)
            now = self._clock.now()
            if (late_s := now - place.begins_at) <= _LATENCY_S:
                self._latency_s = max(late_s, _FORGOTTEN * self._latency_s)
            if now - place.counts_from <= _LATE_S or not gap_s:
                return place
            await self._leave(place)

    async def _leave(self, place: IpPlace) -> None:
        with suppress(DatabaseFault):  # the place ends by itself
            await self._politeness.leave_ip(place, self._clock.now())

    async def _enter(self, ip: str, gap_s: float, *, begins_turn: bool) -> IpPlace:
        """Take a place, however long that takes; raise PutOff for a turn that has not begun."""
        wait_s, late_s = _MOMENT_S if begins_turn else math.inf, min(self._latency_s, gap_s)
        wanted = IpRequest(self._most_at_once, gap_s, wait_s, self._lasts_s, late_s)
        while True:
            place = await self._politeness.enter_ip(ip, self._clock.now(), wanted)
            if isinstance(place, IpPlace):
                return place
            if begins_turn:
                raise self._put_off(ip, place, gap_s)
            await self._clock.sleep(_LOOK_S)

    def _put_off(self, ip: str, free_at: float, gap_s: float) -> PutOff:
        now = self._clock.now()
        at = max(self._put_off_to.pop(ip, 0.0), free_at, now) + max(gap_s, _LEAST_SPACING_S)
        at = self._put_off_to[ip] = min(at, now + _LONGEST_S)
        if len(self._put_off_to) > _MOST_KEPT:
            self._put_off_to.popitem(last=False)
        return PutOff(at - now)
