"""Define the limits of a crawl and of its waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """The limits of one crawl."""

    workers: int
    max_waiting: int
    """The number of visits that may wait for the network beside those of the workers."""
    max_pages: int
    max_time_s: float
    """0: no limit."""
    patience_s: float
    """The longest wait, without an answer, for hosts in back-off that have addresses never visited."""
    outage_patience_s: float
    """The longest wait for a fault of this machine, such as a proxy that is down."""
    idle_s: float
    """The longest sleep of a worker without work, because another process may have queued some."""
    settle_s: float
    """How long running visits may last after a stop."""
    retry_first_s: float
    """As in `Settings`."""
