"""Request pages politely: time, hosts and their leases, robots.txt, turns, and a browser that runs scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from geocrawl.model import (
    Failure,
    HostState,
    IpPlace,
    IpRequest,
    Page,
    Purpose,
    RenderedPage,
    RobotsRecord,
    Url,
    Validators,
)


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


class Politeness(Protocol):
    """What all who ask hosts share: leases of hosts without their URLs, delays and back-offs, opt-outs, bounds of IP
    addresses and answers for robots.txt.

    For requests that come from no queue, as those of guests and in the middle of another host's turn. Every method is
    awaited, as those of `CrawlQueue` are, and raises DatabaseFault.
    """

    async def covers(self, host: str) -> bool:
        """Return whether a host, or a parent domain of it, opted out; awaited before every request."""

    async def lease(self, name: str, now: float, *, wait_s: float) -> HostLease | HostBusy:
        """Lease a host, unless another lease is in force or the host's next request is more than `wait_s` away."""

    async def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        """Take one of the places of an IP address, those of all processes together; return the time at which to ask
        again when the request cannot begin within `request.wait_s`."""

    async def leave_ip(self, place: IpPlace, now: float) -> None:
        """Give a place back."""

    async def read_robots(self, origin: str) -> RobotsRecord | None:
        """Return the last answer of an origin for /robots.txt, expired or not; None when the origin was never asked."""

    async def write_robots(self, record: RobotsRecord) -> None:
        """Write an answer for /robots.txt, which replaces the last one of its origin."""


class Clock(Protocol):
    """The only source of time, so that a year can be simulated in minutes."""

    def now(self) -> float:
        """Return the seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start, which never run backwards."""

    async def sleep(self, seconds: float) -> None: ...


NetworkWait = Callable[[float], AbstractAsyncContextManager[object]]
"""Makes a context in which a visit waits for the network, and other visits may take its place meanwhile.

The argument is the seconds that the wait is known to last; 0.0: not known.
"""


class Turn(Protocol):
    """The requests of one lease to its host, with the host's delay between them."""

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
        body: bytes | None = None,
    ) -> Page | Failure:
        """Request `url` from the leased host, within robots.txt and the delay; with a `body`, an XML document, by POST.

        A redirect within the host is followed while `follow(target)` is true (None: always). A redirect to another host
        is not followed: the Page then has `location` and an empty body, and the target needs a lease of its own.
        Content (`Purpose.MAP`) of another host is requested as by `fetch_elsewhere`, where hosts can be borrowed.
        `validators` are sent only with the request for their own address; `Page.not_modified` is the answer 304. Raises
        GivenBack when the visit cannot go on now: another process has leased the host, or its robots.txt is redirected
        to a host that is not free.
        """

    async def fetch_elsewhere(self, url: Url, *, purpose: Purpose) -> Page | Failure:
        """Request an address of another host, which is leased for this request alone, within that host's robots.txt and
        delay.

        A redirect to a third host is not followed, as in `fetch`. A host that is not free soon is a Failure (resting).
        """

    async def sitemaps(self, url: Url) -> Sequence[Url]:
        """Return the sitemaps that robots.txt of this address's origin names, as far as it was read."""

    @property
    def host(self) -> HostState:
        """Return the host's politeness after the requests so far, to be stored when the lease is settled."""


class Fetcher(Protocol):
    """Makes turns and owns the connections; to be closed once."""

    def turn(
        self, host: HostState, held: HeldHost = ..., waiting: NetworkWait = ...
    ) -> AbstractAsyncContextManager[Turn]:
        """Return the turn of a leased host. `held` is extended before each request that needs the host for longer; by
        default the lease does not end. `waiting` is entered for each wait for a name, a connection, the beginning of an
        answer and the host's delay; by default nobody is told."""

    async def close(self) -> None: ...


class Renderer(Protocol):
    """A browser that sends no request by itself; to be closed once."""

    async def render(self, page: Page, turn: Turn, may_request: Callable[[Url], bool]) -> RenderedPage | None:
        """Run the scripts of a page and return what they wrote and requested; None when no browser can do that.

        What the scripts request is requested in this turn if `may_request` permits it, within the limits of a page.
        Raises what `Turn.fetch`
        raises.
        """

    async def close(self) -> None:
        """End the browser, if it was started."""
