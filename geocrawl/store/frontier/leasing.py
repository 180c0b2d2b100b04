"""Lease the next URL, after all that decides which one that is.

Short cuts are followed to their end, due URLs are made ready, URLs that caps or budgets exclude by now are refused, and
when nothing is ready, addresses that a budget refused may wait again. Each of these may concern any number of URLs, so
a lease takes as many transactions as it needs; mostly one. With one worker the order of visits is the same as if it
were always one: nothing is leased before all of it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from geocrawl.model import Lease
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import Portion, Steps
from geocrawl.store.frontier.batches import Batches
from geocrawl.store.frontier.leases import Leases
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.reopen_budgeted import BudgetReopener


class Leasing:
    """Leases URLs, each in as many short transactions as it needs."""

    def __init__(
        self,
        database: Database,
        leases: Leases,
        queue: Queue,
        first: Sequence[Callable[[], Steps[None]]],
        reopener: BudgetReopener,
        batches: Batches | None,
        *,
        records_only: bool,
    ) -> None:
        """`first`: the work that settlements left and that decides what comes next. `batches`: None for a strategy
        without them. `records_only`: of pages only those of a harvest are leased."""
        self._database = database
        self._leases = leases
        self._queue = queue
        self._first = first
        self._reopener = reopener
        self._batches = batches
        self._records_only = records_only
        self._looks_first = False

    def expect_work(self) -> None:
        """Let the next lease begin without a look whether anything is ready: a visit was settled, so mostly it is."""
        self._looks_first = False

    def lease(self, now: float, most: int, *, pages: bool) -> Steps[list[Lease]]:
        """Lease the best ready entries and their hosts, `most` at most; none: nothing is ready now.

        `pages=False`: probes only."""
        if (
            self._looks_first
            and not self._leases.may_be_ready(now, pages=pages)
            and not self._may_reopen(now, pages=pages)
        ):
            return []
        self._looks_first = True  # it costs less than a transaction in vain, as most leases are after another one
        for work in self._first:
            yield from work()
        leases = yield from self._lease_ready(now, most, pages=pages, begins=True)
        if not leases and (yield from self._reopen(now, pages=pages)):
            leases = yield from self._lease_ready(now, most, pages=pages, begins=False)
        return leases

    def _lease_ready(self, now: float, most: int, *, pages: bool, begins: bool) -> Steps[list[Lease]]:
        """Lease the best entries of those that are ready, beside other processes if that is possible.

        `begins`: make ready what is due, and a batch if need be."""
        if self._database.connection.shares_writes and self._batches is None:
            with self._database.shared_transaction:
                found = self._leases.lease_beside(now, most, pages=pages)
            if found is not None:
                return found
        return (yield from self._lease_alone(now, most, pages=pages, begins=begins))

    def _lease_alone(self, now: float, most: int, *, pages: bool, begins: bool) -> Steps[list[Lease]]:
        while True:
            portion, leases = Portion(), list[Lease]()
            with self._database.transaction:
                if begins:
                    self._leases.wake(now, portion)
                    if not portion.is_spent:
                        begins = False
                        if self._batches and pages:
                            self._batches.refill()
                while not begins and len(leases) < most:
                    lease = self._leases.lease(now, portion, pages=pages)
                    if lease is None:
                        break
                    leases.append(lease)
                self._queue.flush()
            if leases or not portion.is_spent:
                return leases
            yield

    def _may_reopen(self, now: float, *, pages: bool) -> bool:
        """Return whether addresses that a budget refused may wait again: it was raised since, or nothing else waits."""
        if not pages or self._records_only:
            return False
        is_due = self._reopener.is_due(lambda: self._nothing_waits(now))
        return is_due or self._reopener.is_late_due(self._leases.is_queue_empty)

    def _reopen(self, now: float, *, pages: bool) -> Steps[int]:
        """Let addresses that a budget refused wait again, if it is time to; return how many."""
        if not pages or self._records_only:
            return 0
        count = (yield from self._reopener.reopen()) if self._reopener.is_due(lambda: self._nothing_waits(now)) else 0
        if not count and self._reopener.is_late_due(self._leases.is_queue_empty):
            count = yield from self._reopener.reopen_late()
        return count

    def _nothing_waits(self, now: float) -> bool:
        return self._leases.ready_at(now) is None
