"""Read and write the rows of hosts: each has its host's politeness, its lease, and the rank of the queue's head.

The query for the next host walks an index of the hosts that are not leased, in the order of their heads, and skips
those whose delay has not run out. Hosts that back off for longer than `PARK_S` are left out of that index (*parked*)
until they are due.
"""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.model import HostState, Lease, Rank
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.owner import Owner, is_dead
from geocrawl.store.frontier import statements as sql
from geocrawl.urls import site_of

PARK_S = 5.0
"""A host that backs off for more seconds is parked: the query for the next host would skip it at every lease."""
_LOWEST = Rank(-(2**31), float("-inf"))


@dataclass(slots=True)
class HostArrivals:
    """Changes of one host's queue that a transaction collects."""

    best: Rank = _LOWEST
    waiting: int = 0
    pages: int = 0
    """Pages seen for the first time."""

    def enter(self, rank: Rank, waiting: int) -> None:
        """Add `waiting` URLs to the queue, the best of this rank; 0: a URL of the queue rose to this rank."""
        self.waiting += waiting
        if rank > self.best:
            self.best = rank

    def merge(self, other: HostArrivals) -> None:
        """Add other changes of the same host's queue."""
        self.enter(other.best, other.waiting)
        self.pages += other.pages


def add_host(connection: Connection, name: str) -> int:
    """Return the id of a host, which is added when it is new."""
    found = connection.execute(sql.FIND_HOST, (name,)).fetchone()
    if found is None:
        found = connection.execute(sql.ADD_HOST, (name,)).fetchone()
        connection.execute(sql.SEE_HOSTS, (site_of(name), 1))
    return int(found[0])


def release(connection: Connection, lease: Lease, state: HostState | None, now: float) -> None:
    """End a lease without a visit; do nothing when another process has leased the host since."""
    row = connection.execute(sql.FREE, (lease.host.name, lease.token, lease.entry.id))
    if row.rowcount and state is not None:
        connection.execute(sql.WRITE_POLITENESS, (state.name, *politeness(state, now)))


def leased_by(connection: Connection, owner: str) -> list[tuple[int, str]]:
    """Return id and name of the hosts that `owner` has leased."""
    leased = connection.execute(sql.LEASED_HOSTS).fetchall()
    return [(host_id, name) for host_id, holder, name in leased if holder == owner]


def leased_by_dead_processes(connection: Connection, owner: str) -> list[tuple[int, str]]:
    """Return id and name of the hosts that processes have leased which, as seen from `owner`, run no more."""
    here = Owner.read(owner)
    leased = connection.execute(sql.LEASED_HOSTS).fetchall()
    return [(host_id, name) for host_id, holder, name in leased if holder and holder != owner and is_dead(holder, here)]


def politeness(state: HostState, now: float) -> tuple[float, int, float, float | None, int, int, float, str, bool]:
    """Return a host's politeness columns: next_at, errors, last_error_at, crawl_delay_s, asked_day, asked, troubled_at,
    troubled_address, parked."""
    parked = state.next_at - now > PARK_S
    return (
        state.next_at,
        state.errors,
        state.last_error_at,
        state.crawl_delay_s,
        state.day,
        state.asked,
        state.troubled_at,
        state.troubled_address,
        parked,
    )
