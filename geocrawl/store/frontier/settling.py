"""Settle visits, several in one transaction, beside other processes where the engine and the visit allow it.

The visit of a page that named no service changes its own row, the rows of its links, and their hosts. Such visits lock
these hosts and are settled beside those of other processes. All others may change any row of the catalogue (which
endpoints are one service, what a budget lets in again), so each process writes them alone: probes, pages with
candidates, kept pages, and better links to pages that were visited before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from geocrawl.errors import DatabaseFault, RefusedValue, WriteConflict
from geocrawl.model import Purpose, Settled, Visit
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier.notes import Notes
from geocrawl.store.frontier.settlement import Settlement

T = TypeVar("T")


class Settling:
    """Opens and closes the transactions of settlements."""

    def __init__(self, database: Database, settlement: Callable[[], Settlement], notes: Notes) -> None:
        """`settlement` returns what writes visits at present."""
        self._database = database
        self._settlement = settlement
        self._notes = notes

    @property
    def groups(self) -> bool:
        """Return whether settling several visits together is worth waiting for them."""
        return self._database.connection.shares_writes

    def settle_many(self, visits: Sequence[Visit]) -> list[Settled | Exception]:
        """Write all results of visits and free their hosts; return what each brought, for one that could not be written
        the exception."""
        try:
            done = self._beside(visits)
        except DatabaseFault as fault:
            return [fault] * len(visits)
        return [self._alone(visit) if each is None else each for visit, each in zip(visits, done, strict=True)]

    def _beside(self, visits: Sequence[Visit]) -> list[Settled | None]:
        """Settle beside other processes what can be; None for what has to be written alone.

        Raises DatabaseFault for one that concerns all visits, not one of them."""
        if not self.groups or not any(map(is_of_hosts_alone, visits)):
            return [None] * len(visits)
        settlement = self._settlement()
        try:
            with self._database.shared_transaction:
                locked = settlement.lock([visit for visit in visits if is_of_hosts_alone(visit)])
                return [
                    self._noted(visit, settlement.write_beside(visit, locked)) if is_of_hosts_alone(visit) else None
                    for visit in visits
                ]
        except (WriteConflict, RefusedValue):  # another process wrote the same new host: all was undone
            return [None] * len(visits)
        except DatabaseFault:
            raise
        except Exception:  # one of the visits is the cause
            return [None] * len(visits)

    def _alone(self, visit: Visit) -> Settled | Exception:
        try:
            with self._database.transaction:
                return self._noted(visit, self._settlement().write(visit))
        except Exception as error:
            return error

    def _noted(self, visit: Visit, settled: T) -> T:
        if settled is not None:
            self._notes.settled(visit.at)
        return settled


def is_of_hosts_alone(visit: Visit) -> bool:
    """Return whether a visit changes rows of its own host and of its links' hosts alone, as far as it shows itself."""
    is_plain = not visit.candidates and visit.stored is None
    return is_plain and visit.lease.entry.purpose is Purpose.PAGE
