"""Elect the learner: the one process of a database whose strategy learns from the visits of all and reranks the queue.

The role is a lease, as hosts have: it has an owner and an end. The owner renews it long before; another process takes
it when it ran out, or at once when its owner was killed on the same machine. A learner that slept through the end of
its role finds out when it writes: `demand` raises an error inside the transaction, which undoes it.
"""

from __future__ import annotations

from geocrawl.errors import LearnsElsewhere
from geocrawl.ports import Clock
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.owner import LEARNER, Owner, is_dead, this_process
from geocrawl.store.frontier import statements as sql

UNTIL = "strategy:learner-until"
"""Key of the time at which the learner's role runs out."""
TERM_S = 30.0
"""Seconds that the learner's role lasts without being renewed."""


class LearnerRole:
    """The role as one process sees it."""

    def __init__(self, database: Database, clock: Clock, owner: str) -> None:
        self._database = database
        self._clock = clock
        self._owner = owner
        self._process = this_process()

    def take(self) -> bool:
        """Take the role if it is free, renew it if it is ours; return whether this process has it."""
        now = self._clock.now()
        owner, until = self._read()
        if owner == self._owner and until - now > TERM_S / 2:
            return True
        if self._is_anothers(owner, until, now):
            return False
        with self._database.transaction:
            if self._is_anothers(*self._read(), now):
                return False
            self._database.write_meta(LEARNER, self._owner)
            self._database.write_meta(UNTIL, repr(now + TERM_S))
        return True

    def demand(self) -> None:
        """Raise LearnsElsewhere, inside the caller's transaction, when another process has the role."""
        owner, _ = self._read()
        if owner not in ("", self._owner):
            raise LearnsElsewhere(f"{self._database.path}: {Owner.read(owner)} learns from the visits now")

    def resign(self) -> None:
        """Give the role up, if this process has it: another one may take it at once."""
        if self._read()[0] != self._owner:
            return
        with self._database.transaction:
            if self._read()[0] == self._owner:
                self.clear()

    def clear(self) -> None:
        """Let nobody have the role, inside the caller's transaction."""
        for name in (LEARNER, UNTIL):
            self._database.delete_meta(name)

    def _read(self) -> tuple[str, float]:
        """Return the owner, '' for none, and the end of the role."""
        rows = self._database.connection.execute(sql.READ_ROLE, (LEARNER, UNTIL)).fetchall()
        found = {name: bytes(value).decode() for name, value in rows}
        return found.get(LEARNER, ""), float(found.get(UNTIL, 0.0))

    def _is_anothers(self, owner: str, until: float, now: float) -> bool:
        return owner not in ("", self._owner) and until > now and not is_dead(owner, self._process)
