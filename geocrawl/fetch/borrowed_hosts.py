"""Borrow hosts to which others' robots.txt are redirected: each is leased for one request, with its own pace.

A host that is leased by somebody else or rests is not waited for in the middle of a visit: its time is told, and the
visit is given back until then. Many hosts may redirect to one, so those that were told a time are served at that
host's pace, one after the other, instead of all coming back at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from geocrawl.errors import GivenBack
from geocrawl.fetch.held_host import HeldHost
from geocrawl.fetch.paced_host import PacedHost, Parts
from geocrawl.ports import HostBusy
from geocrawl.utc import moment

_SOON_S = 5.0
"""The longest wait for another host's delay in the middle of a visit."""
_LEAST_APART_S = 0.2
"""Time between two visits that wait for the same host, where it has no delay."""
_MOST_TOLD = 1000
"""Hosts for which told times are remembered before those that are over are dropped."""


class BorrowedHosts:
    """Leases other hosts in the middle of a turn."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._told: dict[str, float] = {}
        """The last time that was told, by host."""

    @asynccontextmanager
    async def borrow(self, name: str, borrower: PacedHost) -> AsyncIterator[PacedHost]:
        """Lease a host, and write its state back in the end.

        Raises GivenBack when the host cannot be had soon; the borrower rests until it can.
        """
        leases, now = self._parts.hosts, self._parts.clock.now()
        found = await leases.lease(name, now, wait_s=_SOON_S)
        if isinstance(found, HostBusy):
            at = self._tell(name, now if found.holder else found.until - _SOON_S, now)
            borrower.rest_until(at)
            raise GivenBack(f"robots.txt of {borrower.name} redirects to {name}, to be asked from {moment(at)} UTC on")
        held = HeldHost(leases, found)
        host = PacedHost(self._parts, found.state, held.extend)
        try:
            yield host
        finally:
            await leases.release(held.lease, host.state, self._parts.clock.now())

    def _tell(self, name: str, earliest: float, now: float) -> float:
        """Return when to come back for a host: after all who were told a time before."""
        if len(self._told) > _MOST_TOLD:
            self._told = {host: at for host, at in self._told.items() if at > now}
        apart_s = max(self._parts.settings.delay_of_s(name), _LEAST_APART_S)
        at = max(self._told.get(name, 0.0), earliest, now) + apart_s
        self._told[name] = at
        return at
