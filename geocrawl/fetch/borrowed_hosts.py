"""Borrow hosts in the middle of another host's turn, each leased for a few requests, with its own pace.

A visit borrows a host when another host's robots.txt is redirected there, when a document names the host for its
content, or when the scripts of a page request something there in a browser.

A visit does not wait for a host that is leased elsewhere or in back-off: the visit is given back until the time at
which that host should be free. Many hosts may redirect to one host, so their visits get different times, one after the
other at that host's pace, instead of all coming back at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from geocrawl.errors import GivenBack
from geocrawl.fetch.paced_host import PacedHost, Parts
from geocrawl.ports import HostBusy, NetworkWait
from geocrawl.wording import moment

_SOON_S = 5.0
"""The longest wait for another host's delay in the middle of a visit."""
_BETWEEN_TRIES_S = 1.0
_LEAST_APART_S = 0.2
"""Time between two visits that wait for the same host, where it has no delay."""
_MOST_RETURNS = 1000
"""Number of hosts with a remembered time at which times in the past are dropped."""


class BorrowedHosts:
    """Leases other hosts in the middle of a turn."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._return_at: dict[str, float] = {}
        """Host → the latest time at which a visit that was given back comes back for the host."""

    @asynccontextmanager
    async def borrow(self, name: str, borrower: PacedHost) -> AsyncIterator[PacedHost]:
        """Lease a host, and write its state back at the end.

        Raises GivenBack when the host is not free soon; the borrower gets no requests until it is.
        """
        async with self.lend(name, borrower.waiting) as found:
            if isinstance(found, HostBusy):
                now = self._parts.clock.now()
                at = self._next_return(name, now if found.holder else found.until - _SOON_S, now)
                borrower.rest_until(at)
                detail = f"robots.txt of {borrower.name} redirects to {name}, to be asked from {moment(at)} UTC on"
                raise GivenBack(detail)
            yield found

    @asynccontextmanager
    async def lend(self, name: str, waiting: NetworkWait, *, tries: int = 1) -> AsyncIterator[PacedHost | HostBusy]:
        """Lease a host, and write its state back at the end; yield HostBusy when it is not free soon.

        `waiting`: as in `ports.Fetcher.turn`. `tries`: how often to try, a second apart, while another worker has
        leased the host.
        """
        leases, clock = self._parts.hosts, self._parts.clock
        found = await leases.lease(name, clock.now(), wait_s=_SOON_S)
        for _ in range(tries - 1):
            if not isinstance(found, HostBusy) or not found.holder:
                break
            await clock.sleep(_BETWEEN_TRIES_S)
            found = await leases.lease(name, clock.now(), wait_s=_SOON_S)
        if isinstance(found, HostBusy):
            yield found
            return
        host = PacedHost(self._parts, found.state, found, waiting)
        try:
            yield host
        finally:
            await found.release(host.state, self._parts.clock.now())

    def _next_return(self, name: str, earliest: float, now: float) -> float:
        """Return when to come back for a host: later than all times returned before."""
        if len(self._return_at) > _MOST_RETURNS:
            self._return_at = {host: at for host, at in self._return_at.items() if at > now}
        apart_s = max(self._parts.settings.delay_of_s(name), _LEAST_APART_S)
        at = max(self._return_at.get(name, 0.0), earliest, now) + apart_s
        self._return_at[name] = at
        return at
