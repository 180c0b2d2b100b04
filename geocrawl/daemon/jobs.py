"""What is due, put into the frontier: the daemon's due-logic, without a loop, so that a year can be simulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from geocrawl.daemon.metrics import MetricsFile
from geocrawl.store.operations.retention import Retention

if TYPE_CHECKING:
    from geocrawl.ports import Clock
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database
    from geocrawl.store.frontier.frontier import SqlFrontier


class Work:
    """One method a tick. Each is short, makes its own transactions and may be called at any time.

    All return how many of what, for the log.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        frontier: SqlFrontier,
        clock: Clock,
        log: Callable[..., object] = lambda event, **values: None,
    ) -> None:
        """`log(event, **values)` writes a line."""
        self._connection = database.connection
        self._metrics = MetricsFile(settings.metrics_file, settings.traffic_per_day_bytes, log)
        self._most = settings.due_per_tick
        self._frontier = frontier
        self._clock = clock
        self._retention = Retention(database, keep_days=settings.keep_probes_days, max_bytes=settings.max_db_bytes)

    def reprobe(self) -> Mapping[str, int]:
        """Services whose next probe is due."""
        return {"services": self._frontier.reprobe(self._clock.now(), self._most)}

    def revisit(self) -> Mapping[str, int]:
        """Seeds, and pages that named services or led to one that did."""
        return {"pages": self._frontier.revisit(self._clock.now(), self._most, catalogues=False)}

    def refresh(self) -> Mapping[str, int]:
        """Sitemaps, and catalogues' pages of records."""
        return {"pages": self._frontier.revisit(self._clock.now(), self._most, catalogues=True)}

    def retention(self) -> Mapping[str, int]:
        """Drop what is older than it is to be kept, and let SQLite look after its statistics."""
        return self._retention.tidy(self._clock.now())

    def metrics(self) -> Mapping[str, int]:
        """Write the file for Prometheus, where one is wanted."""
        self._metrics.write(self._connection, self._clock.now())
        return {}
