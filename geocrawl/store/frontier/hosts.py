"""Read and write the rows of hosts: each has its host's politeness, its lease, and the rank of the queue's head.

The query for the next host walks an index of the hosts that are not leased, in the order of their heads, and skips
those whose delay has not run out. Hosts that back off for longer than `PARK_S` are left out of that index (*parked*)
until they are due.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geocrawl.model import HostState, Lease, Rank
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.owner import Owner, is_dead
from geocrawl.store.frontier import shared_statements as shared
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


class Hosts:
    """Reads and writes host rows. Every method works inside the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._arrivals: dict[int, HostArrivals] = {}

    def clear(self) -> None:
        """Drop the changes that were collected in a transaction that was rolled back."""
        self._arrivals.clear()

    # ----------------------------------------------------------------------- the queues of hosts

    def find(self, name: str) -> int:
        """Return the id of a host, which is added when it is new."""
        found = self._connection.execute(sql.FIND_HOST, (name,)).fetchone()
        if found is None:
            found = self._connection.execute(sql.ADD_HOST, (name,)).fetchone()
            if self._connection.shares_writes:
                self._connection.execute(shared.NUMBER_HOSTS_AFTER, found)
            self._connection.execute(sql.SEE_HOSTS, (site_of(name), 1))
        return int(found[0])

    def enter(self, host_id: int, rank: Rank) -> None:
        """Count a URL of this rank into the host's queue."""
        self._of(host_id).enter(rank, waiting=1)

    def raise_head(self, host_id: int, rank: Rank) -> None:
        """Note that the rank of a waiting URL rose."""
        self._of(host_id).enter(rank, waiting=0)

    def merge(self, arrivals: Mapping[int, HostArrivals]) -> None:
        """Collect a plan's changes of hosts' queues, by the hosts' ids."""
        for host_id, new in arrivals.items():
            self._of(host_id).merge(new)

    def flush(self) -> None:
        """Write the collected changes, in one batch."""
        if self._arrivals:
            rows = [(host_id, *new.best, new.waiting, new.pages) for host_id, new in self._arrivals.items()]
            self._connection.write_many(sql.ENQUEUE, rows)
            self._arrivals.clear()

    def refresh(self, host_id: int, left: int) -> None:
        """Find the new head of a host's queue after `left` URLs left the queue (or lost rank)."""
        new = self._arrivals.pop(host_id, None) or HostArrivals()
        self._connection.execute(sql.REFRESH, (host_id, new.waiting - left, new.pages))

    # ----------------------------------------------------------------------- leases

    def next_turn(self) -> None:
        """Number this settlement; hosts of equal rank are served in the order of their last one."""
        self._connection.write(shared.NEXT_TURN if self._connection.shares_writes else sql.NEXT_TURN)

    def free(self, host_id: int, state: HostState, now: float, *, left: int) -> None:
        """End a lease: write the host's politeness and turn (`next_turn`), count `left` URLs out of its queue, and find
        the queue's new head."""
        new = self._arrivals.pop(host_id, None) or HostArrivals()
        statement = shared.FREE_AND_REFRESH if self._connection.shares_writes else sql.FREE_AND_REFRESH
        self._connection.write(statement, (host_id, new.waiting - left, new.pages, *politeness(state, now)))

    def release(self, lease: Lease, state: HostState | None, now: float) -> None:
        """End a lease without a visit; do nothing when another process has leased the host since."""
        row = self._connection.execute(sql.FREE, (lease.host.name, lease.token, lease.entry.id))
        if row.rowcount and state is not None:
            self._connection.execute(sql.WRITE_POLITENESS, (state.name, *politeness(state, now)))

    def leased_by(self, owner: str) -> list[tuple[int, str]]:
        """Return id and name of the hosts that `owner` has leased."""
        leased = self._connection.execute(sql.LEASED_HOSTS).fetchall()
        return [(host_id, name) for host_id, holder, name in leased if holder == owner]

    def leased_by_dead_processes(self, owner: str) -> list[tuple[int, str]]:
        """Return id and name of the hosts that processes have leased which, as seen from `owner`, run no more."""
        here = Owner.read(owner)
        leased = self._connection.execute(sql.LEASED_HOSTS).fetchall()
        return [
            (host_id, name) for host_id, holder, name in leased if holder and holder != owner and is_dead(holder, here)
        ]

    def _of(self, host_id: int) -> HostArrivals:
        arrivals = self._arrivals.get(host_id)
        if arrivals is None:
            arrivals = self._arrivals[host_id] = HostArrivals()
        return arrivals


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
