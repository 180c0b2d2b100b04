"""Share the politeness of a catalogue with a scratch session, which stores nothing else in the catalogue.

For each turn the host is leased in the catalogue, as crawls and the daemon lease it, so that no other process sends
requests to it meanwhile. The turn begins with the host's stored politeness (delay, errors, robots.txt) and updates it.
A catalogue that cannot be written (locked, read-only) does not stop the session: it shows one line that nothing is
shared.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace

from geocrawl.errors import DatabaseFault
from geocrawl.fetch.fetcher import UNLEASED, OwnHosts
from geocrawl.model import Failure, FailureCode, HostState, IpPlace, IpRequest, Page, Purpose, Url, Validators
from geocrawl.ports import Clock, Fetcher, HeldHost, HostBusy, HostLease, HostLeases, NetworkWait, RobotsStore, Turn
from geocrawl.settings import Settings
from geocrawl.store import Store

_LOOK_S = 0.1
"""Pause between two attempts to lease a host: shorter than the usual delay, during which the host can be leased."""
_PATIENCE = 0.5
"""Longest wait for a host that another process has leased, as a fraction of a lease's duration."""
_BACK_OFF_S = 30.0
"""The longest back-off that a session waits for: a person waits for its answer."""
_SAID_AFTER_S = 3.0
"""Length of a wait in seconds after which a line tells the person why it lasts."""


class SharedPoliteness:
    """Lets a scratch session share a catalogue's host leases, delays, opt-outs and robots.txt.

    It is `ports.HostLeases`. As soon as the catalogue cannot be used, the session goes on with leases of its own.
    """

    def __init__(self, catalogue: Store, settings: Settings, clock: Clock, say: Callable[[str], object]) -> None:
        """`say` is given a line for a person: who is waited for, which host is in back-off, that nothing is shared."""
        self._catalogue = catalogue
        self._shared = catalogue.host_leases(settings)
        self._own: HostLeases = OwnHosts()
        self._is_shared = True
        self._settings = settings
        self._clock = clock
        self._say = say

    def robots(self, own: RobotsStore) -> RobotsStore:
        """Return a store of robots.txt that reads and writes both the catalogue's and `own`."""
        return self._catalogue.shared_robots(own)

    def hosts(self, own: HostLeases) -> HostLeases:
        """Return the catalogue's host leases; where the catalogue cannot be used, those of `own`."""
        self._own = own
        return self

    def fetcher(self, inner: Fetcher) -> Fetcher:
        """Return a fetcher that leases the host of each turn in the catalogue and sends requests through `inner`."""
        return SharingFetcher(inner, self, self._settings, self._clock, self._say)

    async def covers(self, host: str) -> bool:
        """Return whether a host opted out; False when the catalogue cannot be read."""
        try:
            return await self._shared.covers(host)
        except DatabaseFault:
            return False

    async def lease(self, name: str, now: float, *, wait_s: float) -> HostLease | HostBusy:
        """Lease a host in the catalogue, else in the session's own database."""
        found = await self.lease_shared(name, now, wait_s=wait_s)
        return await self._own.lease(name, now, wait_s=wait_s) if found is None else found

    async def lease_shared(self, name: str, now: float, *, wait_s: float) -> _SharedLease | HostBusy | None:
        """Lease a host in the catalogue; None when it cannot be used."""
        if not self._is_shared:
            return None
        try:
            found = await self._shared.lease(name, now, wait_s=wait_s)
        except DatabaseFault as error:
            self.give_up(error)
            return None
        return found if isinstance(found, HostBusy) else _SharedLease(found, self)

    async def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        """Take a place of an IP address in the catalogue, else in the session's own database."""
        if self._is_shared:
            try:
                return await self._shared.enter_ip(ip, now, request)
            except DatabaseFault as error:
                self.give_up(error)
        return await self._own.enter_ip(ip, now, request)

    async def leave_ip(self, place: IpPlace, now: float) -> None:
        """Give a place back; one that cannot be given back ends by itself."""
        with suppress(DatabaseFault):
            await (self._shared if self._is_shared else self._own).leave_ip(place, now)

    def give_up(self, error: DatabaseFault) -> None:
        """Share nothing from now on, and tell a person once."""
        if self._is_shared:
            self._is_shared = False
            self._say(not_shared(error))


def not_shared(error: Exception) -> str:
    """Return the line for a person when a catalogue cannot be used."""
    return f"{error}. Continuing without it: delays between requests are not shared with other processes"


class _SharedLease:
    """A host's lease in a catalogue that may fail meanwhile (`ports.HostLease`)."""

    def __init__(self, lease: HostLease, sharing: SharedPoliteness) -> None:
        self._lease = lease
        self._sharing = sharing
        self.state = lease.state
        self.with_own: HeldHost = UNLEASED
        """The same host's lease in the session's own database, which is extended with this one."""

    async def extend(self, until: float) -> None:
        """Keep the host until this time at least."""
        await self.with_own.extend(until)
        try:
            await self._lease.extend(until)
        except DatabaseFault as error:
            self._sharing.give_up(error)

    async def release(self, state: HostState, now: float) -> None:
        """End the lease."""
        try:
            await self._lease.release(state, now)
        except DatabaseFault as error:
            self._sharing.give_up(error)


class SharingFetcher:
    """Leases the host of each turn in a catalogue, and sends the requests through another fetcher (`ports.Fetcher`)."""

    def __init__(
        self,
        inner: Fetcher,
        sharing: SharedPoliteness,
        settings: Settings,
        clock: Clock,
        say: Callable[[str], object],
    ) -> None:
        """`say` is given a line for a person: who is waited for, which host is in back-off."""
        self._inner = inner
        self._sharing = sharing
        self._settings = settings
        self._clock = clock
        self._say = say

    @asynccontextmanager
    async def turn(
        self, host: HostState, held: HeldHost = UNLEASED, waiting: NetworkWait = nullcontext
    ) -> AsyncIterator[Turn]:
        """Yield the host's turn. When the host cannot be leased in time, every request fails as `resting`."""
        lease = await self._lease(host.name)
        if isinstance(lease, HostBusy):
            yield _RefusedTurn(host, self._refusal(host.name, lease))
            return
        if lease is None:
            async with self._inner.turn(host, held, waiting) as turn:
                yield turn
            return
        state = replace(lease.state, next_at=max(lease.state.next_at, host.next_at))
        lease.with_own = held
        async with self._inner.turn(state, lease, waiting) as turn:
            settled = False
            try:
                yield turn
                settled = True
            finally:
                await self._release(lease, turn.host, settled=settled)

    async def close(self) -> None:
        """Close all connections."""
        await self._inner.close()

    async def _lease(self, name: str) -> _SharedLease | HostBusy | None:
        """Wait for a host and lease it. Returns HostBusy when it cannot be leased in time, None when no lease is needed
        (the host opted out and gets no requests) or the catalogue cannot be used."""
        begun, told = self._clock.now(), False
        while True:
            now = self._clock.now()
            if await self._sharing.covers(name):
                return None
            found = await self._sharing.lease_shared(name, now, wait_s=_BACK_OFF_S)
            if not isinstance(found, HostBusy) or not found.holder or now - begun > _PATIENCE * self._settings.lease_s:
                return found
            if not told and now - begun > _SAID_AFTER_S:
                told = True
                self._say(f"{name}: {found.holder} is sending requests to it; waiting until that ends")
            await self._clock.sleep(_LOOK_S)

    async def _release(self, lease: HostLease, state: HostState, *, settled: bool) -> None:
        """End the lease. After a turn that was cut off, the delay begins now, as if a request had just ended."""
        now = self._clock.now()
        if not settled:
            pace_s = self._settings.pace_s(state.name, state.crawl_delay_s)
            state = replace(state, next_at=max(state.next_at, now + pace_s))
        await lease.release(state, now)

    def _refusal(self, name: str, not_now: HostBusy) -> str:
        """Show a person why a host gets no request, and return the text."""
        wait_s = max(not_now.until - self._clock.now(), 0.0)
        text = (
            f"{name}: {not_now.holder} keeps sending requests to it; try again later"
            if not_now.holder
            else f"{name} is in back-off for another {wait_s:,.0f} s after an earlier answer; try again then"
        )
        self._say(text)
        return text


class _RefusedTurn:
    """The turn of a host that could not be leased: every request fails as `resting` (`ports.Turn`)."""

    def __init__(self, host: HostState, detail: str) -> None:
        self.host = host
        self._detail = detail

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
    ) -> Page | Failure:
        return Failure(url, FailureCode.RESTING, self._detail)

    async def fetch_elsewhere(self, url: Url, *, purpose: Purpose) -> Page | Failure:
        return Failure(url, FailureCode.RESTING, self._detail)

    async def sitemaps(self, url: Url) -> Sequence[Url]:
        return ()
