"""Request pages politely, and store robots.txt answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from geocrawl.model import Failure, HostState, Page, Purpose, RobotsRecord, Url, Validators
from geocrawl.ports.hosts import HeldHost

NetworkWait = Callable[[], AbstractAsyncContextManager[None]]
"""Makes a context in which a visit waits for the network, and other visits may take its place meanwhile."""


class Turn(Protocol):
    """The requests of one lease to its host, with the host's delay between them."""

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
    ) -> Page | Failure:
        """Request `url` from the leased host, within robots.txt and the delay.

        A redirect within the host is followed while `follow(target)` is true (None: always). A redirect to another host
        is never followed: the Page then has `location` and an empty body, and the target needs a lease of its own.
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


class RobotsStore(Protocol):
    """Stores robots.txt answers for all processes and over restarts.

    Both methods are awaited, as those of `CrawlQueue` are: a request waits for them.
    """

    async def read_robots(self, origin: str) -> RobotsRecord | None:
        """Return the last answer of an origin, expired or not; None when the origin was never asked."""

    async def write_robots(self, record: RobotsRecord) -> None:
        """Write an answer, which replaces the last one of its origin."""
