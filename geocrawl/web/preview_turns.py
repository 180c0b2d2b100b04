"""Ask services for previews without taking anything from the daemon that watches them.

A preview leases its host in the catalogue as every request does. It draws on requests a day of its own, remembers
errors and back-offs for itself, and writes nothing into the catalogue but when the host may be asked next. It takes a
host that was free for a moment, so that a probe which is due is always first. Without a lease nothing is asked.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from geocrawl.app.fetchers import make_fetcher
from geocrawl.errors import DatabaseFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import OwnHosts
from geocrawl.fetch.politeness import is_day_limit_reached
from geocrawl.model import Failure, FailureCode, HostState, IpPlace, IpRequest, Page, Purpose, RobotsRecord, Url
from geocrawl.ports import HostBusy, HostLease, HostLeases
from geocrawl.settings import MIB, Settings
from geocrawl.store import Store
from geocrawl.urls.database import Place
from geocrawl.web.answers import Problem
from geocrawl.web.reader import identity_of

REQUESTS_PER_DAY = 500
"""Most requests for previews to one host a day (UTC), where the operator sets no limit for all requests."""
_SHARE, _LEAST = 0.1, 2
"""Share of such a limit that previews have besides, and the fewest requests: robots.txt and a picture."""
FREE_S = 2.0
"""A host that was free for so long was wanted by no probe: workers look every second."""
_PATIENCE_S = 8.0
"""A preview that has waited for so long takes its turn with the crawl."""
_LOOK_S = 0.1
_REST_S = 15.0
"""A host that rests for longer is not waited for."""
_BUSY_S = 0.25
"""Longest wait for a locked catalogue."""
_MOST_HOSTS = 10_000
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
    """The catalogue whose hosts are leased, opened again when another file took its place."""

    def __init__(self, place: Place, settings: Settings, clock: SystemClock) -> None:
        self._place = place
        self._settings = settings
        self._clock = clock
        self._store: Store | None = None
        self._leases: HostLeases | None = None
        self._identity: object = None
        self._opening = asyncio.Lock()

    async def opened(self) -> tuple[Store, HostLeases]:
        """Return the catalogue and its leases. Raises DatabaseFault when it cannot be opened."""
        async with self._opening:
            if self._store is None or self._leases is None or self._identity != identity_of(self._place):
                self.close()
                self._identity = identity_of(self._place)
                self._store = await asyncio.to_thread(Store.join, self._place, clock=self._clock, busy_s=_BUSY_S)
                self._leases = self._store.host_leases(self._settings)
            return self._store, self._leases

    def close(self) -> None:
        """Close the catalogue."""
        if self._store is not None:
            self._store.close()
        self._store = self._leases = None


class _Hosts(OwnHosts):
    """The hosts of previews that are under way (`ports.HostLeases`): a redirect leads nowhere else."""

    def __init__(self, catalogue: _Catalogue) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        """Host → previews that ask it now."""
        self._catalogue = catalogue

    async def covers(self, host: str) -> bool:
        """Return whether a host must not be asked: no preview is about it, or it opted out."""
        return not self.asked[host] or await (await self._catalogue.opened())[1].covers(host)

    async def lease(self, name: str, now: float, *, wait_s: float) -> HostLease | HostBusy:
        """Refuse a host that a robots.txt is redirected to."""
        return HostBusy(now, "another preview")

    async def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        """Take one of the places of an IP address in the catalogue."""
        return await (await self._catalogue.opened())[1].enter_ip(ip, now, request)

    async def leave_ip(self, place: IpPlace, now: float) -> None:
        """Give a place back."""
        await (await self._catalogue.opened())[1].leave_ip(place, now)


class _Robots:
    """`ports.RobotsStore` that reads the catalogue's answers, too, and keeps its own in memory."""

    def __init__(self, catalogue: _Catalogue) -> None:
        self._catalogue = catalogue
        self._own: OrderedDict[str, RobotsRecord] = OrderedDict()

    async def read_robots(self, origin: str) -> RobotsRecord | None:
        """Return the later of the two last answers; None when the origin was never asked."""
        stored = await (await self._catalogue.opened())[0].robots().read_robots(origin)
        found = (record for record in (self._own.get(origin), stored) if record is not None)
        return max(found, key=lambda record: record.fetched_at, default=None)

    async def write_robots(self, record: RobotsRecord) -> None:
        """Keep an answer: one that was unreachable for a visitor is none of the daemon's business."""
        self._own[record.origin] = record
        if len(self._own) > _MOST_HOSTS:
            self._own.popitem(last=False)


Fetch = Callable[[Url], Awaitable[Page | Failure]]


def _refused(code: FailureCode) -> Fetch:
    """Return what requests nothing."""

    async def refuse(url: Url) -> Page | Failure:
        return Failure(url, code, "")

    return refuse


class PreviewTurns:
    """Makes the requests of previews, one host's after the other."""

    def __init__(self, settings: Settings, place: Place) -> None:
        self._settings = preview_settings(settings)
        self._clock = SystemClock()
        self._catalogue = _Catalogue(place, self._settings, self._clock)
        self._hosts = _Hosts(self._catalogue)
        self._states: OrderedDict[str, HostState] = OrderedDict()
        """Requests of the day, errors and back-off of each host, as previews have met them."""
        self._fetcher = make_fetcher(self._settings, _Robots(self._catalogue), self._clock, hosts=self._hosts)

    @property
    def asked(self) -> Counter[str]:
        """Return how many previews are about each host now, to be counted by the caller."""
        return self._hosts.asked

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[Fetch]:
        """Yield what requests addresses of a host, which is leased meanwhile; what it returns for a host that may not
        be asked says why. Raises Problem 503 when the host cannot be leased; requests raise GivenBack when the lease is
        lost."""
        own = self._states.get(host)
        if own is not None and is_day_limit_reached(own, self._clock.now(), self._settings):
            yield _refused(FailureCode.BUDGET)
            return
        try:
            lease = await self._leased(host)
        except DatabaseFault:
            lease = HostBusy(0.0, "a catalogue that is locked or cannot be written")
        if isinstance(lease, HostBusy) and not lease.holder:
            yield _refused(FailureCode.RESTING)
            return
        if isinstance(lease, HostBusy):
            problem = "the service's host cannot be asked now; try again"
            raise Problem(503, problem, headers={"Retry-After": "5"})
        state = self._own_state(lease.state)
        after = state
        try:
            async with self._fetcher.turn(state, lease) as turn:
                try:
                    yield partial(turn.fetch, purpose=Purpose.MAP)
                finally:
                    after = turn.host
        except DatabaseFault:
            problem = "the catalogue cannot be written now; try again"
            raise Problem(503, problem, headers={"Retry-After": "5"}) from None
        finally:
            self._keep(after)
            await self._release(lease, after, was_asked=after.asked != state.asked)

    async def close(self) -> None:
        """Close all connections, and the catalogue."""
        await self._fetcher.close()
        self._catalogue.close()

    async def _leased(self, name: str) -> HostLease | HostBusy:
        """Wait for a host and lease it; return HostBusy when it rests, or is not free in time."""
        begun = self._clock.now()
        while True:
            now = self._clock.now()
            own = self._states.get(name)
            if own is not None and own.next_at - now > _REST_S:
                return HostBusy(own.next_at, "")
            waited_s = now - begun
            _, leases = await self._catalogue.opened()
            found = await leases.lease(name, now, wait_s=-FREE_S if waited_s < _PATIENCE_S else 0.0)
            if not isinstance(found, HostBusy):
                return found
            if waited_s > _REST_S or (not found.holder and found.until - now > _REST_S):
                return found
            await self._clock.sleep(_LOOK_S)

    def _own_state(self, stored: HostState) -> HostState:
        """Return a host's state for a turn: what previews have met, at the pace of all."""
        own = self._states.get(stored.name) or HostState(stored.name)
        next_at = max(stored.next_at, own.next_at)
        return replace(own, next_at=next_at, crawl_delay_s=stored.crawl_delay_s)

    def _keep(self, state: HostState) -> None:
        self._states[state.name] = state
        self._states.move_to_end(state.name)
        if len(self._states) > _MOST_HOSTS:
            self._states.popitem(last=False)

    async def _release(self, lease: HostLease, after: HostState, *, was_asked: bool) -> None:
        """End the lease; the host is asked next after its delay, however it answered."""
        stored, now = lease.state, self._clock.now()
        if was_asked:
            latest = now + self._settings.at_work_s + self._settings.pace_s(stored.name, after.crawl_delay_s)
            stored = replace(stored, next_at=max(stored.next_at, min(after.next_at, latest)))
        try:
            await lease.release(stored, now)
        except DatabaseFault:
            return  # it ends by itself
