"""Find the other crawls on this database: the runs that began before this one and have not ended.

They decide the strategy: a later run keeps it. A killed crawl leaves its run open, so an open run counts only
while its process runs. On this machine the system knows whether it does; a run of another machine counts while it has
leased a host.
"""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.owner import Owner, this_process
from geocrawl.store.frontier import statements as sql
from geocrawl.store.maintenance.daemon_lock import alive_holder
from geocrawl.wording import moment

_ANY_RUN = 2**62
"""Above the number of every run."""


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


@dataclass(frozen=True, slots=True)
class WorkingProcess:
    """A process that crawls, harvests or runs the daemon on a database."""

    what: str
    """daemon, harvest or crawl."""
    owner: Owner
    since: str
    """UTC, YYYY-MM-DD HH:MM:SS"""

    def __str__(self) -> str:
        return f"{self.owner} ({self.what} since {self.since} UTC)"

    def is_running(self) -> bool | None:
        """Return whether it runs, with the start time that was stored; None when this process cannot tell, as for one
        on another machine or in another container, and for one whose start time is not known."""
        return self.owner.is_running(this_process()) if self.owner.started else None


def working_processes(connection: Connection, now: float) -> list[WorkingProcess]:
    """Return the daemon, crawls and harvests of other processes than this one that run on the database."""
    here, found = this_process(), list[WorkingProcess]()
    holder = alive_holder(connection, now)
    if holder is not None and not holder.is_this_process():
        found.append(WorkingProcess("daemon", holder.owner, moment(holder.since)))
    for other in earlier_runs(connection, _ANY_RUN, here, now):
        found.append(WorkingProcess("harvest" if other.strategy == "harvest" else "crawl", other.owner, other.since))
    return found


def _is_running(owner: Owner, here: Owner, *, holds: bool) -> bool:
    known = owner.is_running(here)
    return holds if known is None else known
