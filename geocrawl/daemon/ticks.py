"""Schedule the daemon's ticks: jobs that are done again and again. APScheduler keeps them in memory, not in a table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from geocrawl.store.maintenance.daemon_lock import BEAT_S


@dataclass(frozen=True, slots=True)
class Tick:
    """A job of the daemon and how often it is done."""

    name: str
    every_s: float


TICKS = (
    Tick("heartbeat", BEAT_S),
    Tick("reprobe", 60.0),
    Tick("metrics", 60.0),
    Tick("watches", 300.0),
    Tick("revisit", 600.0),
    Tick("refresh", 3600.0),
    Tick("retention", 3600.0),
)
"""The ticks of a daemon. The crawl itself is not a tick: its loop runs all the time, within its budget."""


def make_scheduler(tick: Callable[[str], Awaitable[None]], watchdog_s: float, ticks: Sequence[Tick] = TICKS) -> Any:
    """Return an AsyncIOScheduler that calls `tick` with each name, the heartbeat at least every `watchdog_s` (if not
    0).

    Missed calls of a tick are replaced by one call, and a tick that is still running is not called again.
    """
    from apscheduler.schedulers.asyncio import AsyncIOScheduler

    scheduler = AsyncIOScheduler(timezone="UTC")
    for each in ticks:
        scheduler.add_job(
            tick,
            "interval",
            args=(each.name,),
            seconds=min(each.every_s, watchdog_s) if each.name == "heartbeat" and watchdog_s else each.every_s,
            id=each.name,
            replace_existing=True,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )
    return scheduler
