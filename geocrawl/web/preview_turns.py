"""Ask services for previews without taking anything from the daemon that watches them.

A preview leases its host in the catalogue as every request does, as a visitors' guest (`fetch/guests.py`): it has
requests a day, errors and back-offs of its own, and writes nothing into the catalogue but when the host may be asked
next and a robots.txt that was read. Without a lease nothing is asked.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from geocrawl.app.fetchers import make_guest_fetcher
from geocrawl.errors import DatabaseFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.guests import RefusedTurn
from geocrawl.model import Failure, HostState, IpPlace, IpRequest, Page, Purpose, RobotsRecord, Url
from geocrawl.ports import HostBusy, HostLease, Politeness
from geocrawl.settings import MIB, Settings
from geocrawl.store import Store
from geocrawl.urls.database import Place
from geocrawl.web.answers import Problem
from geocrawl.web.reader import identity_of

REQUESTS_PER_DAY = 500
"""Most requests for previews to one host a day (UTC), where the operator sets no limit for all requests."""
_SHARE, _LEAST = 0.1, 2
"""Share of such a limit that previews have besides, and the fewest requests: robots.txt and a picture."""
_BUSY_S = 0.25
"""Longest wait for a locked catalogue."""
_MAX_BODY_BYTES = 4 * MIB
_TOTAL_TIMEOUT_S = 15.0


def preview_settings(settings: Settings) -> Settings:
    """Return the settings with the limits of previews."""
    sites = {
        # A password was given for the crawl, not for whoever visits the pages.
        name: replace(site, user="", password="", requests_per_day=_share(site.requests_per_day, 0))
        for name, site in settings.sites.items()
    }
    return replace(
        settings,
        map_body_bytes=min(settings.map_body_bytes, _MAX_BODY_BYTES),
        total_timeout_s=min(settings.total_timeout_s, _TOTAL_TIMEOUT_S),
        ignore_robots=False,
        requests_per_host_per_day=_share(settings.requests_per_host_per_day, REQUESTS_PER_DAY),
        requests_per_ip=max(settings.requests_per_ip - 1, min(settings.requests_per_ip, 1)),  # one is the daemon's
        sites=sites,
    )


def _share(limit: int, unlimited: int) -> int:
    return min(max(int(_SHARE * limit), _LEAST), REQUESTS_PER_DAY) if limit else unlimited


class _Catalogue:
    """Politeness of a catalogue, which is opened again when another file took its place (`ports.Politeness`)."""

    def __init__(self, place: Place, settings: Settings, clock: SystemClock) -> None:
        self._place = place
        self._settings = settings
        self._clock = clock
        self._store: Store | None = None
        self._politeness: Politeness | None = None
        self._identity: object = None
        self._opening = asyncio.Lock()

    async def _opened(self) -> Politeness:
        async with self._opening:
            if self._politeness is None or self._identity != identity_of(self._place):
                self.close()
                self._identity = identity_of(self._place)
                self._store = await asyncio.to_thread(Store.join, self._place, clock=self._clock, busy_s=_BUSY_S)
                self._politeness = self._store.politeness(self._settings)
            return self._politeness

    def close(self) -> None:
        """Close the catalogue."""
        if self._store is not None:
            self._store.close()
        self._store = self._politeness = None

    async def covers(self, host: str) -> bool:
        return await (await self._opened()).covers(host)

    async def lease(self, name: str, now: float, *, wait_s: float) -> HostLease | HostBusy:
        return await (await self._opened()).lease(name, now, wait_s=wait_s)

    async def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        return await (await self._opened()).enter_ip(ip, now, request)

    async def leave_ip(self, place: IpPlace, now: float) -> None:
        await (await self._opened()).leave_ip(place, now)

    async def read_robots(self, origin: str) -> RobotsRecord | None:
        return await (await self._opened()).read_robots(origin)

    async def write_robots(self, record: RobotsRecord) -> None:
        await (await self._opened()).write_robots(record)


Fetch = Callable[[Url], Awaitable[Page | Failure]]


class PreviewTurns:
    """Makes the requests of previews, one host's after the other."""

    def __init__(self, settings: Settings, place: Place) -> None:
        settings, clock = preview_settings(settings), SystemClock()
        self._catalogue = _Catalogue(place, settings, clock)
        self._fetcher = make_guest_fetcher(settings, self._catalogue, clock, for_visitors=True)
        self.asked: Counter[str] = Counter()
        """Host → previews about it now, to be counted by the caller."""

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[Fetch]:
        """Yield what requests addresses of a host, which is leased meanwhile; what it returns for a host that may not
        be asked says why. Raises Problem 503 when the host cannot be leased; requests raise GivenBack when the lease is
        lost."""
        try:
            async with self._fetcher.turn(HostState(host)) as turn:
                if isinstance(turn, RefusedTurn) and turn.is_busy:
                    problem = "the service's host cannot be asked now; try again"
                    raise Problem(503, problem, headers={"Retry-After": "5"})
                yield partial(turn.fetch, purpose=Purpose.MAP)
        except DatabaseFault:
            problem = "the catalogue cannot be written now; try again"
            raise Problem(503, problem, headers={"Retry-After": "5"}) from None

    async def close(self) -> None:
        """Close all connections, and the catalogue."""
        await self._fetcher.close()
        self._catalogue.close()
