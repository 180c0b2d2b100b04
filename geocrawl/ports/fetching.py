"""Ask hosts, politely, and remember what their robots.txt said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from geocrawl.model import Failure, HostState, Page, Purpose, RobotsRecord, Url, Validators


class Turn(Protocol):
    """One leased host's turn: every request of the lease goes through it, and it keeps the host's delay."""

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
    ) -> Page | Failure:
        """Ask for `url` on the leased host, robots.txt and delay obeyed.

        A redirect within the host is followed while `follow(target)` is true (None: always); to another host it is
        never followed: the Page then has `location` and an empty body, and the target takes its own turn.
        `validators` are sent with a request for their own address, no other; `Page.not_modified` says that they hold.
        """

    def sitemaps(self, url: Url) -> Sequence[Url]:
        """The sitemaps that robots.txt of this address's origin names, as far as it was read."""

    @property
    def host(self) -> HostState:
        """The host as it stands after the requests so far, to be written back when the lease is settled."""


class Fetcher(Protocol):
    """Makes turns. Holds the connections; close it once."""

    def turn(self, host: HostState) -> AbstractAsyncContextManager[Turn]: ...

    async def close(self) -> None: ...


class RobotsStore(Protocol):
    """Where robots.txt answers are kept, so that they hold over processes and restarts."""

    def read_robots(self, origin: str) -> RobotsRecord | None: ...

    def write_robots(self, record: RobotsRecord) -> None: ...
