"""Change states outside visits: URLs that become due, are put back, or are shut out by a new depth limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geocrawl.model import Rank, Relevance, State
from geocrawl.ports import Waiting
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.opt_out import FORGOTTEN
from geocrawl.store.engine.steps import ChunkedWork, batches, ranges
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.lifecycle import CANDIDATE
from geocrawl.urls import read_url


class Queue:
    """Moves URLs between states and keeps counters and hosts' queues in step. Works inside the caller's transaction."""

    def __init__(self, connection: Connection, hosts: Hosts, counters: Counters) -> None:
        self._connection = connection
        self._hosts = hosts
        self._counters = counters

    def change(self, url_id: int, to: State, reason: str | None = None) -> None:
        """Change the state of a URL, which keeps its attempts and rank."""
        purpose, state, _, tier, score, host_id, former = self._connection.execute(sql.PLACE, (url_id,)).fetchone()
        self._connection.execute(sql.WRITE_STATE, (url_id, to, reason))
        if state == State.REFUSED:
            self._counters.refuse(former or "", -1)
        if to is State.REFUSED:
            self._counters.refuse(reason or "", 1)
        self._counters.add(purpose, state, tier, -1)
        self._counters.add(purpose, to, tier, 1)
        if to is State.WAITING:
            self._hosts.enter(host_id, Rank(tier, score))
        elif state == State.WAITING:
            self._hosts.refresh(host_id, left=1)

    def refuse(self, host_id: int, rows: Sequence[tuple[int, str, int, str]]) -> None:
        """Refuse waiting URLs of a host: (id, purpose, tier, reason)."""
        self._connection.executemany(sql.WRITE_STATE, [(row[0], State.REFUSED, row[3]) for row in rows])
        for _, purpose, tier, reason in rows:
            self._counters.refuse(reason, 1)
            self._counters.add(purpose, State.WAITING, tier, -1)
            self._counters.add(purpose, State.REFUSED, tier, 1)
        self._hosts.refresh(host_id, left=len(rows))

    def flush(self) -> None:
        """Write the collected changes of hosts and counters: the last step before a commit."""
        self._hosts.flush()
        self._counters.flush()

    def reopen_refused(self, url_id: int, reason: str) -> bool:
        """Let a URL wait again if it is still refused for this reason; return whether it was."""
        _, state, *_, former = self._connection.execute(sql.PLACE, (url_id,)).fetchone()
        if state != State.REFUSED or former != reason:
            return False
        self.reopen(url_id)
        return True

    def reopen(self, url_id: int, *, due: bool = False) -> None:
        """Let a URL wait again, with all its attempts.

        `due`: its time has come by itself. What a person puts back is read whole, not asked by validators.
        """
        self.change(url_id, State.WAITING)
        self._connection.execute(sql.FORGET_ATTEMPTS, (url_id,))
        if not due:
            self.ask_whole(url_id)

    def ask_whole(self, url_id: int) -> None:
        """Drop a URL's validators, so that its next visit reads it whole."""
        self._connection.write(sql.FORGET_VALIDATORS, (url_id,))

    def requeue(self, url_id: int, rank: Rank) -> None:
        """Put a page of any state back into the queue, with this rank and all its attempts."""
        _, state, depth, *_ = self._connection.execute(sql.PLACE, (url_id,)).fetchone()
        if state == State.WAITING:  # out of the queue first, so that its counters stay in step
            self.change(url_id, State.REFUSED)
            state = State.REFUSED
        self._connection.execute(sql.MOVE, (url_id, depth, *rank, state))
        self.reopen(url_id)

    def move(self, url_id: int, rank: Rank) -> None:
        """Give a URL of any state another rank; it keeps its state."""
        purpose, state, depth, tier, _, host_id, _ = self._connection.execute(sql.PLACE, (url_id,)).fetchone()
        self._connection.execute(sql.MOVE, (url_id, depth, *rank, state))
        self._counters.add(purpose, state, tier, -1)
        self._counters.add(purpose, state, rank.tier, 1)
        if state == State.WAITING:
            self._hosts.refresh(host_id, left=0)

    def retry(self, database: Database, host: str | None, reason: str | None) -> ChunkedWork[int]:
        """Reopen failed URLs (of a host, for a reason) and those refused for that reason, in short transactions; return
        how many."""
        if reason in (CANDIDATE, FORGOTTEN):
            return 0
        count = 0
        for first, last in ranges(self._connection, "url"):
            rows = self._connection.execute(sql.RETRYABLE, (host, reason, first, last)).fetchall()
            for batch in batches(rows):
                with database.transaction:
                    for url_id, state, former in batch:
                        _, state_now, *_, reason_now = self._connection.execute(sql.PLACE, (url_id,)).fetchone()
                        if (state_now, reason_now) == (state, former):
                            self.reopen(url_id)
                            count += 1
                    self.flush()
                yield
        return count

    def heed_depth(self, database: Database, max_depth: int) -> ChunkedWork[None]:
        """Set aside waiting pages beyond the depth limit, and let in those within it, in short transactions."""
        for first, last in ranges(self._connection, "url"):
            rows = self._connection.execute(sql.ACROSS_DEPTH, (max_depth, first, last)).fetchall()
            for batch in batches(rows):
                with database.transaction:
                    for (url_id,) in batch:
                        _, state, depth, *_ = self._connection.execute(sql.PLACE, (url_id,)).fetchone()
                        to = State.WAITING if depth <= max_depth else State.TOO_DEEP
                        if state in (State.WAITING, State.TOO_DEEP) and state != to:
                            self.change(url_id, to)
                    self.flush()
                yield

    def rankable(self) -> Iterator[Waiting]:
        """Yield pages that a strategy may rank. They are read in batches, so they may be written meanwhile."""
        last = 0
        while rows := self._connection.execute(sql.RANKABLE, (last,)).fetchall():
            for url_id, address, anchor, depth, relevance, found_on in rows:
                url = read_url(address)
                if url is not None:
                    seen = Relevance.HIGH if found_on is None else Relevance(relevance or 0)
                    yield Waiting(url_id, url, anchor or "", depth, seen)
            last = rows[-1][0]
