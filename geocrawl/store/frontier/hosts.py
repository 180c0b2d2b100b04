"""Keep the host rows: which host is next, which one backs off, which one is leased.

One row a host carries its politeness, its lease and the rank of its queue's head.

The ready query walks an index of free hosts in order of their heads and passes over those whose delay has not run out;
hosts that rest longer than `PARK_S` are taken out of its way and brought back when they are due.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geocrawl.model import HostState, Lease, Rank
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.owner import Owner, is_dead
from geocrawl.store.frontier import statements as sql
from geocrawl.urls import site_of

PARK_S = 5.0
"""A host that backs off for longer is parked: the ready query would pass over it at every lease."""
_LOWEST = Rank(-(2**31), float("-inf"))


@dataclass(slots=True)
class HostArrivals:
    """What a transaction brings to one host's queue."""

    best: Rank = _LOWEST
    waiting: int = 0
    pages: int = 0
    """Pages seen for the first time."""

    def enter(self, rank: Rank, waiting: int) -> None:
        """Let `waiting` more URLs into the queue, the best of this rank; 0: one that waits already rose to it."""
        self.waiting += waiting
        if rank > self.best:
            self.best = rank

    def merge(self, other: HostArrivals) -> None:
        """Add what came to the same host besides."""
        self.enter(other.best, other.waiting)
        self.pages += other.pages


class Hosts:
    """Reads and writes host rows. Every method works inside the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._arrivals: dict[int, HostArrivals] = {}

    def clear(self) -> None:
        """Drop what was collected in a transaction that was undone."""
        self._arrivals.clear()

    # ----------------------------------------------------------------------- what arrives

    def find(self, name: str) -> int:
        """Return the id of a host, which is added when it is new."""
        found = self._connection.execute(sql.FIND_HOST, (name,)).fetchone()
        if found is None:
            found = self._connection.execute(sql.ADD_HOST, (name,)).fetchone()
            self._connection.execute(sql.SEE_HOSTS, (site_of(name), 1))
        return int(found[0])

    def enter(self, host_id: int, rank: Rank) -> None:
        """Count a URL of this rank into the host's queue."""
        self._of(host_id).enter(rank, waiting=1)

    def raise_head(self, host_id: int, rank: Rank) -> None:
        """Note that the rank of a waiting URL rose."""
        self._of(host_id).enter(rank, waiting=0)

    def merge(self, arrivals: Mapping[int, HostArrivals]) -> None:
        """Note what a plan brings to the queues of hosts, by their ids."""
        for host_id, new in arrivals.items():
            self._of(host_id).merge(new)

    def flush(self) -> None:
        """Write what arrived, in one batch."""
        if self._arrivals:
            rows = [(host_id, *new.best, new.waiting, new.pages) for host_id, new in self._arrivals.items()]
            self._connection.executemany(sql.ENQUEUE, rows)
            self._arrivals.clear()

    def refresh(self, host_id: int, left: int) -> None:
        """Find the head of a host's queue anew after `left` URLs left it (or lost rank)."""
        new = self._arrivals.pop(host_id, None) or HostArrivals()
        head = self._head_rank(host_id)
        self._connection.execute(sql.REFRESH, (host_id, *head, new.waiting - left, new.pages))

    # ----------------------------------------------------------------------- leases

    def next_turn(self) -> int:
        """Return the number of this settlement; hosts of equal rank are served in the order of their last one."""
        return int(self._connection.execute(sql.NEXT_TURN).fetchone()[0])

    def free(self, host_id: int, state: HostState, now: float, *, left: int, turn: int) -> None:
        """End a lease: write the host's politeness, take `left` URLs off its queue, find its head anew."""
        new = self._arrivals.pop(host_id, None) or HostArrivals()
        head = self._head_rank(host_id)
        self._connection.execute(
            sql.FREE_AND_REFRESH,
            (host_id, *head, new.waiting - left, new.pages, *politeness(state, now), turn),
        )

    def release(self, lease: Lease, state: HostState | None, now: float) -> None:
        """End a lease without a visit; do nothing when another process has leased the host since."""
        row = self._connection.execute(sql.FREE, (lease.host.name, lease.token, lease.entry.id))
        if row.rowcount and state is not None:
            self._connection.execute(sql.WRITE_POLITENESS, (state.name, *politeness(state, now)))

    def leased_by(self, owner: str) -> list[tuple[int, str]]:
        """Return id and name of the hosts that `owner` has leased."""
        held = self._connection.execute(sql.HELD).fetchall()
        return [(host_id, name) for host_id, holder, name in held if holder == owner]

    def leased_by_dead_processes(self, owner: str) -> list[tuple[int, str]]:
        """Return row number and name of the hosts held by processes of which `owner` can tell that they ended."""
        here = Owner.read(owner)
        held = self._connection.execute(sql.HELD).fetchall()
        return [(host_id, name) for host_id, holder, name in held if is_dead(holder or "", here)]

    def _of(self, host_id: int) -> HostArrivals:
        arrivals = self._arrivals.get(host_id)
        if arrivals is None:
            arrivals = self._arrivals[host_id] = HostArrivals()
        return arrivals

    def _head_rank(self, host_id: int) -> tuple[int, float]:
        row: tuple[int, float] | None = self._connection.execute(sql.HEAD_RANK, (host_id,)).fetchone()
        return row or (0, 0.0)


def politeness(state: HostState, now: float) -> tuple[float, int, float, float | None, int, int, bool]:
    """Return a host's politeness columns: next_at, errors, last_error_at, crawl_delay_s, asked_day, asked, parked."""
    parked = state.next_at - now > PARK_S
    return (
        state.next_at,
        state.errors,
        state.last_error_at,
        state.crawl_delay_s,
        state.day,
        state.asked,
        parked,
    )
