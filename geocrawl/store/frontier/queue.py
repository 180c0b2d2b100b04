"""Change the queue within one transaction: states and ranks of URLs, running totals, the heads of hosts' queues.

`Queue` lives as long as its transaction. It collects what is counted and what enters hosts' queues, and `write` writes
that, the last step before the commit. `changing` opens a transaction with its queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Select, bindparam, select

from geocrawl.model import LATE_TIER, HostState, Rank, Relevance, State
from geocrawl.ports import QueuedLink
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.keys import share_of_keys
from geocrawl.store.database.opt_out import FORGOTTEN
from geocrawl.store.database.schema.tables import HOST, URL
from geocrawl.store.database.steps import ChunkedWork, batches, ranges
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import CounterChanges
from geocrawl.store.frontier.hosts import HostArrivals, politeness
from geocrawl.store.frontier.lifecycle import CANDIDATE
from geocrawl.store.frontier.statements import is_rankable
from geocrawl.urls import read_url

_IN_RANGE = URL.c.id.between(bindparam("first"), bindparam("last"))
_PARENT = URL.alias("parent")
_RANKABLE = (
    select(URL.c.id, URL.c.address, URL.c.anchor, URL.c.depth, _PARENT.c.relevance, URL.c.found_on)
    .join_from(URL, _PARENT, _PARENT.c.id == URL.c.found_on, isouter=True)
    .where(URL.c.id > bindparam("after"), is_rankable(URL))
    .order_by(URL.c.id)
    .limit(2000)
)
"""Read the next pages that a strategy may rerank."""


@contextmanager
def changing(database: Database) -> Iterator[Queue]:
    """Open a transaction and yield the queue in it; what the queue collects is written before the commit."""
    with database.transaction:
        queue = Queue(database.connection)
        yield queue
        queue.write()


class Queue:
    """Moves URLs between states inside the caller's transaction, and keeps totals and hosts' queues in step."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.counters = CounterChanges()
        self._arrivals: dict[int, HostArrivals] = {}
        """By host id."""

    # ----------------------------------------------------------------------- what is collected

    def enter(self, host_id: int, rank: Rank, *, waiting: int = 1) -> None:
        """Count URLs, the best of this rank, into a host's queue; `waiting` 0: a URL of the queue rose to this rank."""
        self._of(host_id).enter(rank, waiting)

    def merge(self, arrivals: Mapping[int, HostArrivals], counters: CounterChanges) -> None:
        """Collect what a plan changes in hosts' queues, by host id, and what it counts."""
        for host_id, new in arrivals.items():
            self._of(host_id).merge(new)
        self.counters.merge(counters)

    def write(self) -> None:
        """Write what was collected, in two batches."""
        if self._arrivals:
            rows = [
                {"host": host_id, **new.best._asdict(), "waiting": new.waiting, "pages": new.pages}
                for host_id, new in self._arrivals.items()
            ]
            self._connection.write_many(sql.ENQUEUE, rows)
            self._arrivals.clear()
        self.counters.write(self._connection)

    # ----------------------------------------------------------------------- hosts

    def refresh(self, host_id: int, left: int) -> None:
        """Find the new head of a host's queue after `left` URLs left the queue (or lost rank)."""
        new = self._arrivals.pop(host_id, None) or HostArrivals()
        changed = {"host": host_id, "more": new.waiting - left, "new_pages": new.pages}
        self._connection.write(sql.REFRESH, changed)

    def refresh_all(self, left: Mapping[int, int]) -> None:
        """Find the new heads of several hosts' queues: host id → how many URLs left its queue, 0 where some changed
        their rank."""
        same = [host_id for host_id, count in left.items() if not count and host_id not in self._arrivals]
        if same:
            self._connection.write(sql.REFRESH_HEADS, {"hosts": same})
        for host_id, count in left.items():
            if count or host_id in self._arrivals:
                self.refresh(host_id, count)

    def settle_host(self, host_id: int, state: HostState, now: float, *, left: int) -> None:
        """End a lease with the next turn: hosts of equal rank are served in the order of their last one. Write the
        host's politeness, count `left` URLs out of its queue, and find the queue's new head."""
        new = self._arrivals.pop(host_id, None) or HostArrivals()
        changed = {"host": host_id, "more": new.waiting - left, "new_pages": new.pages}
        self._connection.write(sql.FREE_AND_REFRESH, changed | politeness(state, now))

    def _of(self, host_id: int) -> HostArrivals:
        arrivals = self._arrivals.get(host_id)
        if arrivals is None:
            arrivals = self._arrivals[host_id] = HostArrivals()
        return arrivals

    # ----------------------------------------------------------------------- URLs

    def change(self, url_id: int, to: State, reason: str | None = None) -> None:
        """Change the state of a URL, which keeps its attempts and rank."""
        purpose, state, _, tier, score, host_id, sub_queue, former = self._place(url_id)
        self._connection.write(sql.WRITE_URL, {"url": url_id, "state": to, "reason": reason, "retry_at": None})
        if state == State.REFUSED:
            self.counters.refuse(former or "", -1)
        if to is State.REFUSED:
            self.counters.refuse(reason or "", 1)
        self.counters.move(purpose, (state, tier), (to, tier), sub_queue)
        if to is State.WAITING:
            self.enter(host_id, Rank(tier, score))
        elif state == State.WAITING:
            self.refresh(host_id, left=1)

    def refuse(self, host_id: int, rows: Sequence[tuple[int, str, int, str, int | None]]) -> None:
        """Refuse waiting URLs of a host: (id, purpose, tier, reason, sub-queue)."""
        self._connection.write_many(
            sql.WRITE_URL,
            [{"url": row[0], "state": State.REFUSED, "reason": row[3], "retry_at": None} for row in rows],
        )
        for _, purpose, tier, reason, sub_queue in rows:
            self.counters.refuse(reason, 1)
            self.counters.move(purpose, (State.WAITING, tier), (State.REFUSED, tier), sub_queue)
        self.refresh(host_id, left=len(rows))

    def put_last(self, host_id: int, rows: Sequence[tuple[int, str, int, int]]) -> None:
        """Let waiting URLs of a host wait in the lowest tier, in the order of their keys: (id, purpose, tier, key)."""
        self._connection.write_many(
            sql.WRITE_URL, [{"url": row[0], "tier": LATE_TIER, "score": -share_of_keys(row[3])} for row in rows]
        )
        for _, purpose, tier, _ in rows:
            self.counters.move(purpose, (State.WAITING, tier), (State.WAITING, LATE_TIER), None)
        self.refresh(host_id, left=0)

    def reopen_refused(self, url_id: int, reason: str) -> bool:
        """Let a URL wait again if it is still refused for this reason; return whether it was."""
        _, state, *_, former = self._place(url_id)
        if state != State.REFUSED or former != reason:
            return False
        self.reopen(url_id)
        return True

    def reopen(self, url_id: int, *, due: bool = False) -> None:
        """Let a URL wait again, with all its attempts.

        `due`: its time has come by itself. What a person puts back is read whole, not asked by validators.
        """
        self.change(url_id, State.WAITING)
        self._connection.write(sql.WRITE_URL, {"url": url_id, "attempts": 0, "kills": 0})
        if not due:
            self.ask_whole(url_id)

    def ask_whole(self, url_id: int) -> None:
        """Drop a URL's validators, so that its next visit reads it whole."""
        self._connection.write(sql.FORGET_VALIDATORS, {"url": url_id})

    def requeue(self, url_id: int, rank: Rank) -> None:
        """Put a page of any state back into the queue, with this rank and all its attempts."""
        _, state, *_ = self._place(url_id)
        if state == State.WAITING:  # out of the queue first, so that its counters stay in step
            self.change(url_id, State.REFUSED)
        self._connection.write(sql.WRITE_URL, {"url": url_id, **rank._asdict()})
        self.reopen(url_id)

    def move(self, url_id: int, rank: Rank) -> None:
        """Give a URL of any state another rank; it keeps its state."""
        purpose, state, _, tier, _, host_id, *_ = self._place(url_id)
        self._connection.write(sql.WRITE_URL, {"url": url_id, **rank._asdict()})
        self.counters.move(purpose, (state, tier), (state, rank.tier), None)
        if state == State.WAITING:
            self.refresh(host_id, left=0)

    def _place(self, url_id: int) -> tuple[Any, ...]:
        """Return the current row of a URL, as `statements.PLACE` reads it."""
        row: tuple[Any, ...] = self._connection.execute(sql.PLACE, {"url": url_id}).fetchone()
        return row


def retry(database: Database, host: str | None, reason: str | None) -> ChunkedWork[int]:
    """Reopen failed URLs (of a host, for a reason) and those refused for that reason, in short transactions; return
    how many."""
    if reason in (CANDIDATE, FORGOTTEN):
        return 0
    count, retryable = 0, _retryable(host, reason)
    for first, last in ranges(database.connection, URL):
        rows = database.connection.execute(retryable, {"first": first, "last": last}).fetchall()
        for batch in batches(rows):
            with changing(database) as queue:
                for url_id, state, former in batch:
                    place = database.connection.execute(sql.PLACE, {"url": url_id}).fetchone()
                    _, state_now, *_, reason_now = place
                    if (state_now, reason_now) == (state, former):
                        queue.reopen(url_id)
                        count += 1
            yield
    return count


def _retryable(host: str | None, reason: str | None) -> Select[Any]:
    """Return the query for pages and probes that failed, and those refused for that reason, in a range of ids."""
    is_open = URL.c.state == State.FAILED
    conditions = [is_open if reason is None else is_open | (URL.c.state == State.REFUSED)]
    if host is not None:
        conditions.append(HOST.c.name == host)
    if reason is not None:
        conditions.append(URL.c.reason == reason)
    return (
        select(URL.c.id, URL.c.state, URL.c.reason)
        .join_from(URL, HOST, HOST.c.id == URL.c.host_id)
        .where(_IN_RANGE, *conditions)
        .order_by(URL.c.id)
    )


def waiting_pages(connection: Connection) -> Iterator[QueuedLink]:
    """Yield pages that a strategy may rank. They are read in batches, so they may be written meanwhile."""
    last = 0
    while rows := connection.execute(_RANKABLE, {"after": last}).fetchall():
        for url_id, address, anchor, depth, relevance, found_on in rows:
            url = read_url(address)
            if url is not None:
                seen = Relevance.HIGH if found_on is None else Relevance(relevance or 0)
                yield QueuedLink(url_id, url, anchor or "", depth, seen)
        last = rows[-1][0]
