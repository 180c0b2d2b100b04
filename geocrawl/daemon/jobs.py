"""Queue what is due, and maintain the database: the daemon's jobs, which the store's thread runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from geocrawl.app.watches import WatchRound
from geocrawl.daemon.metrics import MetricsFile
from geocrawl.ports import Clock
from geocrawl.settings import Settings
from geocrawl.store.upkeep.clock_limits import shorten_waits
from geocrawl.store.upkeep.retention import Retention

if TYPE_CHECKING:
    from geocrawl.store import SqlFrontier, Store

_MOST_DUE = 500
"""Services or pages that one tick queues at most."""


class Jobs:
    """The daemon's jobs, one method for each tick of that name.

    Each job makes its own transactions, may be called at any time and returns counts for the log. The store's thread
    calls those that are not awaited: they are short.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        frontier: SqlFrontier,
        clock: Clock,
        log: Callable[..., object] = lambda event, **values: None,
    ) -> None:
        """Set up the jobs; `log(event, **values)` writes a line."""
        self._connection = store.connection
        self._runner = store.runner
        self._metrics = MetricsFile(settings.metrics_file, settings.traffic_per_day_bytes, log)
        self._frontier = frontier
        self._clock = clock
        self._retention = Retention(
            store.database, keep_days=settings.keep_probes_days, max_bytes=settings.max_db_bytes
        )
        self._watch_round = WatchRound(settings, store, clock, log)
        self._shorten_waits = partial(shorten_waits, store.database, settings)
        self._log = log
        self._is_network_suspected = False

    def reprobe(self) -> Mapping[str, int]:
        """Queue services whose next probe is due. Logs once that the network on the way is suspected, and that it is
        well again."""
        suspected = self._frontier.suspicion()
        if suspected and not self._is_network_suspected:
            hosts = f"{len(suspected.hosts)} hosts: {suspected.answer}"
            self._log(f"warning: the network on the way answers for {hosts}; their failures are held as unconfirmed")
        elif self._is_network_suspected and not suspected:
            self._log("the network on the way is well again")
        self._is_network_suspected = suspected is not None
        return {"services": self._frontier.reprobe(self._clock.now(), _MOST_DUE)}

    def revisit(self) -> Mapping[str, int]:
        """Queue seeds, and pages that named services or led to such a page, when their next visit is due."""
        return {"pages": self._frontier.revisit(self._clock.now(), _MOST_DUE, catalogues=False)}

    def refresh(self) -> Mapping[str, int]:
        """Queue sitemaps and catalogues' pages of records whose next visit is due."""
        return {"pages": self._frontier.revisit(self._clock.now(), _MOST_DUE, catalogues=True)}

    def check_clock(self) -> None:
        """Shorten the times that a wrong clock wrote far into the future, and log that."""
        if off := self._shorten_waits(self._clock.now()):
            self._log("warning: times that a wrong clock wrote were shortened", **off)

    async def retention(self) -> Mapping[str, int]:
        """Delete what is older than the settings allow, and let the database update its statistics, while visits are
        settled between its transactions. Checks the clock, and calls services unconfirmed that nobody has asked for
        long."""
        await self._runner.run(self.check_clock)
        if unconfirmed := await self._runner.run(lambda: self._frontier.age_health(self._clock.now())):
            self._log("services that nobody could confirm", unconfirmed=unconfirmed)
        return await self._runner.run_steps(self._retention.tidy_in_steps(self._clock.now()))

    async def watches(self) -> Mapping[str, int]:
        """Tell people of changes, while other tasks run as messages are delivered."""
        sent = await self._watch_round.send_news()
        return {"notices": sent.found, "messages": sent.messages, "not_delivered": len(sent.failures)}

    def metrics(self) -> Mapping[str, int]:
        """Write the file for Prometheus, if the settings name one."""
        self._metrics.write(self._connection, self._clock.now())
        return {}
