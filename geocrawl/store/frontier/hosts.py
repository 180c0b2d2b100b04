"""Read and write the rows of hosts: each has its host's politeness, its lease, and the rank of the queue's head.

The query for the next host walks an index of the hosts that are not leased, in the order of their heads, and skips
those whose delay has not run out. Hosts that back off for longer than `PARK_S` are left out of that index (*parked*)
until they are due.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, func, insert, select, update

from geocrawl.model import HostState, Lease, Rank
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.life import Life
from geocrawl.store.database.schema.tables import HOST
from geocrawl.store.frontier import statements as sql
from geocrawl.urls import site_of

PARK_S = 5.0
"""A host that backs off for more seconds is parked: the query for the next host would skip it at every lease."""
_OF_NAME = update(HOST).where(HOST.c.name == bindparam("host"))
_WRITE_POLITENESS = _OF_NAME
_FREE = _OF_NAME.values(lease_until=0, lease_url=None, turn=-1).where(
    HOST.c.lease_token == bindparam("token"), HOST.c.lease_url == bindparam("url")
)
"""End a lease that was released without a settlement: the host is then the first of its equals."""
_LEASED_HOSTS = select(HOST.c.id, HOST.c.lease_owner, HOST.c.name).where(HOST.c.lease_until > 0)
_FIND_HOST = select(HOST.c.id).where(HOST.c.name == bindparam("host"))
_next_id = func.coalesce(select(func.max(HOST.c.id)).scalar_subquery(), 0) + 1
_ADD_HOST = insert(HOST).values(id=_next_id, name=bindparam("host"), turn=sql.TURN).returning(HOST.c.id)
"""Add a host, whose turn comes after those that wait already."""
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
    found = connection.execute(_FIND_HOST, {"host": name}).fetchone()
    if found is None:
        found = connection.execute(_ADD_HOST, {"host": name}).fetchone()
        connection.execute(sql.SEE_HOSTS, {"site": site_of(name), "hosts": 1})
    return int(found[0])


def release(connection: Connection, lease: Lease, state: HostState | None, now: float) -> None:
    """End a lease without a visit; do nothing when another process has leased the host since."""
    leased = {"host": lease.host.name, "token": lease.token, "url": lease.entry.id}
    if connection.execute(_FREE, leased).rowcount and state is not None:
        connection.execute(_WRITE_POLITENESS, {"host": state.name} | politeness(state, now))


def leased_by(connection: Connection, owner: str) -> list[tuple[int, str]]:
    """Return id and name of the hosts that `owner` has leased."""
    leased = connection.execute(_LEASED_HOSTS).fetchall()
    return [(host_id, name) for host_id, holder, name in leased if holder == owner]


def leased_by_dead_processes(connection: Connection, life: Life) -> list[list[tuple[int, str]]]:
    """Return id and name of the hosts that processes have leased which have ended, by process."""
    leased = connection.execute(_LEASED_HOSTS).fetchall()
    ended = [holder for holder in {row[1] for row in leased} if holder and life.has_ended(holder, connection)]
    return [[(host_id, name) for host_id, owner, name in leased if owner == holder] for holder in sorted(ended)]


def politeness(state: HostState, now: float) -> dict[str, object]:
    """Return a host's politeness: column (`statements.POLITENESS`) → value."""
    return {
        "next_at": state.next_at,
        "errors": state.errors,
        "last_error_at": state.last_error_at,
        "crawl_delay_s": state.crawl_delay_s,
        "asked_day": state.day,
        "asked": state.asked,
        "troubled_at": state.troubled_at,
        "troubled_address": state.troubled_address,
        "refusals": state.refusals,
        "parked": int(state.next_at - now > PARK_S),
    }
