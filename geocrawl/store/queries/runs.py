"""Who else crawls on this database: the runs that began before ours and have not ended.

The earliest of them is the one whose strategy learns. A killed crawl leaves its run open, so an open run counts only
while its process lives: on this machine the system is asked; one of another machine lives while it holds a host.
"""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.hosts import is_dead


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A crawl that is under way elsewhere."""

    owner: str
    """machine:process"""
    strategy: str
    since: str
    """UTC, YYYY-MM-DD HH:MM:SS"""

    def __str__(self) -> str:
        machine, _, process = self.owner.rpartition(":")
        return f"process {process} on {machine} (strategy {self.strategy}, since {self.since} UTC)"


def earlier_runs(connection: Connection, run: int, owner: str, now: float) -> list[OtherRun]:
    """The crawls of other processes that began before `run` and live, the earliest first. `owner`: ours."""
    machine = owner.rpartition(":")[0]
    rows = connection.execute(sql.OPEN_RUNS, (run, owner, now)).fetchall()
    return [
        OtherRun(other, strategy, since)
        for other, strategy, since, holds in rows
        if (not is_dead(other, machine) if other.rpartition(":")[0] == machine else holds)
    ]
