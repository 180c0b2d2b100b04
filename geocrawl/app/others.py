"""The other processes of one crawl (`crawl --processes`), as the one that runs a session deals with them."""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.crawler.loop import Crawler
    from geocrawl.crawler.page_slots import PageSlots
    from geocrawl.crawler.summary import RunSummary


class Others(Protocol):
    """The helpers, for the first process; the first process, for a helper."""

    @property
    def slots(self) -> PageSlots:
        """Return the limit on pages that all share."""

    @property
    def signals(self) -> tuple[signal.Signals, ...]:
        """Return the signals that stop this process."""

    def heard(self, session: Session, crawler: Crawler) -> AbstractContextManager[None]:
        """Heed the others' messages while the loop of this process runs."""

    def stop(self, *, at_once: bool) -> None:
        """Pass on that a person stops the crawl."""

    @property
    def under_way(self) -> int:
        """Return the number of pages that the others are visiting."""

    async def ended(self, summary: RunSummary) -> RunSummary:
        """Wait, after the end of this process's own loop, for those that it started; return what all did."""
