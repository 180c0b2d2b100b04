"""Find the other crawls on this database: the runs that began before this one and have not ended.

The strategy of the earliest run is the one that learns. A killed crawl leaves its run open, so an open run counts only
while its process runs. On this machine the system knows whether it does; a run of another machine counts while it has
leased a host.
"""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.owner import Owner
from geocrawl.store.frontier import statements as sql


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A crawl of another process on this database."""

    owner: Owner
    strategy: str
    since: str
    """UTC, YYYY-MM-DD HH:MM:SS"""

    def __str__(self) -> str:
        return f"{self.owner} (strategy {self.strategy}, since {self.since} UTC)"


def earlier_runs(connection: Connection, run: int, here: Owner, now: float) -> list[OtherRun]:
    """Return the crawls of other processes than `here` that began before `run` and still run, the earliest first."""
    rows = connection.execute(sql.OPEN_RUNS, (run, here.text, now)).fetchall()
    found = [(OtherRun(Owner.read(owner), strategy, since), bool(holds)) for owner, strategy, since, holds in rows]
    return [other for other, holds in found if _is_running(other.owner, here, holds=holds)]


def _is_running(owner: Owner, here: Owner, *, holds: bool) -> bool:
    known = owner.is_running(here)
    return holds if known is None else known
