"""Know which hosts opted out, and lease hosts without their URLs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from geocrawl.model import HostState, IpPlace, IpRequest


class HeldHost(Protocol):
    """A host for as long as it is leased."""

    async def extend(self, until: float) -> None:
        """Keep the host until this time at least. Raises GivenBack when another process has leased it since."""


class HostLease(HeldHost, Protocol):
    """A host that was leased without its URLs."""

    @property
    def state(self) -> HostState:
        """Return the host's politeness when it was leased."""

    async def release(self, state: HostState, now: float) -> None:
        """End the lease and write the host's politeness."""


@dataclass(frozen=True, slots=True)
class HostBusy:
    """A host that cannot be leased now: leased elsewhere, or backing off for longer than we wait."""

    until: float
    """When the other lease or the back-off ends, at the latest."""
    holder: str
    """Who has leased the host, for a person; '' when it backs off."""


class OptOuts(Protocol):
    """The hosts that opted out. Awaited before every request, so that a store behind a network never blocks the loop.

    The method raises DatabaseFault.
    """

    async def covers(self, host: str) -> bool:
        """Return whether a host, or a parent domain of it, opted out."""


class HostLeases(OptOuts, Protocol):
    """Hosts of a catalogue, leased without their URLs.

    For the turns of a session that shares the catalogue's politeness, and for single requests in the middle of another
    host's turn.

    Every method is awaited, as those of `CrawlQueue` are, and raises DatabaseFault.
    """

    async def lease(self, name: str, now: float, *, wait_s: float) -> HostLease | HostBusy:
        """Lease a host, unless another lease is in force or the host's next request is more than `wait_s` away."""

    async def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        """Take one of the places of an IP address, those of all processes together; return the time at which to ask
        again when the request cannot begin within `request.wait_s`."""

    async def leave_ip(self, place: IpPlace, now: float) -> None:
        """Give a place back."""
