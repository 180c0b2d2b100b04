"""Politeness of a database in memory, for fetchers that share their hosts with no other process."""

from __future__ import annotations

from collections.abc import Callable

from geocrawl.fetch.clock import SystemClock
from geocrawl.model import RobotsRecord
from geocrawl.ports import Clock
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.frontier.politeness import SqlPoliteness


class MemoryPoliteness(SqlPoliteness):
    """Leases of hosts in memory; answers for robots.txt can be looked at and changed."""

    def __init__(self, clock: Clock | None = None, settings: Settings | None = None) -> None:
        store = Store.open("sqlite://", clock=clock or SystemClock())
        store.stay_in_loop()
        super().__init__(store.database, settings or Settings(delay_s=0.0))
        self.records: dict[str, RobotsRecord] = {}
        self.reads = 0
        self.has_opted_out: Callable[[str], bool] = lambda host: False

    async def covers(self, host: str) -> bool:
        return self.has_opted_out(host)

    async def read_robots(self, origin: str) -> RobotsRecord | None:
        self.reads += 1
        return self.records.get(origin)

    async def write_robots(self, record: RobotsRecord) -> None:
        self.records[record.origin] = record
