"""Elect the learner: the one process of a database whose strategy learns from the visits of all and reranks the queue.

Its owner has the role while it lives (`store/database/life.py`); then another process takes it. A learner that was
taken for dead finds out when it writes: `demand_role` raises an error inside the transaction, which undoes it.

The learner learns from the feedback of all processes, in the order of its numbers. Feedback is written in the
transaction that settles its visit, so a visit is settled with its feedback or not at all. A dump is stored with its
version, the number of the last feedback learnt before, and feedback with lower numbers is deleted in the same
transaction. Whenever the learner is killed, the dump and the feedback after it, in order, restore the strategy's
state. Other processes load newer versions.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain

from sqlalchemy import bindparam, delete, insert, select

from geocrawl.errors import LearnsElsewhere
from geocrawl.model import Feedback, Purpose, State, Status, Visit
from geocrawl.ports import Clock
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.database import Database
from geocrawl.store.database.keys import stored_url
from geocrawl.store.database.life import BEAT, LEARNER, Owner
from geocrawl.store.database.schema.tables import LESSON, META, URL
from geocrawl.store.frontier.outlinks import pack_ids, unpack_ids

STATE = "strategy:state"
"""Key of the strategy's last dump."""
SET_ASIDE = "strategy:set-aside"
"""Key of the last dump that could not be restored, kept for diagnosis."""
VERSION = "strategy:version"
"""Key of the dump's version: the number of the last feedback that it covers, which is kept so that numbers go on."""
COUNTS = "strategy:counts"
"""Key of the strategy's sizes at that dump, as JSON: `status` need not read the dump."""
REVISED = "strategy:revised"
"""Key of the number of the feedback after which the queue was last reranked."""
_READ_AT_ONCE = 20
_MOST_WRITTEN = 20_000
"""Numbers of written feedback that are remembered."""
_FACTS = select(META.c.name, META.c.value).where(in_list(META.c.name, "names"))
_ADD_LESSON = insert(LESSON).returning(LESSON.c.number)
_FORGET_LESSONS = delete(LESSON)
_NEXT_LESSONS = (
    select(*LESSON.c).where(LESSON.c.number > bindparam("after")).order_by(LESSON.c.number).limit(_READ_AT_ONCE)
)
_ADDRESSES = select(URL.c.id, URL.c.address).where(in_list(URL.c.id, "ids"))


class SqlLearningLog:
    """`ports.LearningLog` but for the ranks: the learner's role, the strategy's dump, and the feedback since then."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._connection: Connection = database.connection
        self.clock = clock
        self._owner = database.life.owner
        self._written = OrderedDict[int, None]()
        """Numbers of the last feedback that this process wrote."""

    # ----------------------------------------------------------------------- the role of the learner

    def lead(self) -> bool:
        """Take the role of the learner unless a living process has it; return whether this process has it."""
        if (owner := self._learner()) == self._owner:
            return True
        if self._lives(owner):
            return False
        with self._database.transaction:
            if self._lives(self._learner()):
                return False
            self._database.write_meta(LEARNER, self._owner)
        return True

    def resign(self) -> None:
        """Give the role of the learner up, if this process has it: another one may take it at once."""
        if self._learner() != self._owner:
            return
        with self._database.transaction:
            if self._learner() == self._owner:
                self._delete(LEARNER)

    def demand_role(self) -> None:
        """Raise LearnsElsewhere, inside the caller's transaction, when another process has become the learner."""
        owner = self._learner()
        if owner not in ("", self._owner):
            raise LearnsElsewhere(f"{self._database.path}: {Owner.read(owner)} learns from the visits now")

    def _learner(self) -> str:
        return self._database.meta(LEARNER) or ""

    def _lives(self, owner: str) -> bool:
        """Return whether another process lives that has the role."""
        if owner in ("", self._owner) or self._database.meta(BEAT + owner) is None:
            return False
        life = self._database.life
        return not (life.is_silent(owner) or life.has_ended(owner, self._connection))

    def _delete(self, *names: str) -> None:
        for name in names:
            self._database.delete_meta(name)

    # ----------------------------------------------------------------------- feedback

    def add(self, visit: Visit, depth: int, found_on: int | None, targets: Sequence[int]) -> Feedback:
        """Write and return the feedback of a visit, inside its settlement; `targets`: the ids of `visit.links`."""
        entry, verdict = visit.lease.entry, visit.verdict
        valid = None if verdict is None else verdict.status is Status.VALID
        links = tuple(
            (ranked.link.url.identity, target)
            for ranked, target in zip(visit.links, targets, strict=True)
            if not ranked.refused
        )
        packed = pack_ids([target for _, target in links])
        row = {
            "url_id": entry.id,
            "purpose": entry.purpose,
            "depth": depth,
            "found_on": found_on,
            "state": visit.state,
            "reason": visit.reason,
            "valid": valid,
            "links": packed,
            "memo": visit.features,
        }
        number = int(self._connection.execute(_ADD_LESSON, row).fetchone()[0])
        self._written[number] = None
        if len(self._written) > _MOST_WRITTEN:
            self._written.popitem(last=False)
        return Feedback(
            number, entry.id, entry.purpose, depth, found_on, visit.state, visit.reason, valid, links, visit.features
        )

    def feedback(self, after: int | None = None) -> Iterator[Feedback]:
        """Yield the feedback after a number, None: since the strategy's last dump, in order, a few in memory at a time.

        One process writes at a time, so numbers follow the commits.
        """
        return read_feedback(self._connection, after)

    def wrote(self, number: int) -> bool:
        """Return whether this process wrote the feedback of this number, not long ago."""
        return number in self._written

    # ----------------------------------------------------------------------- what restores a strategy

    def publish(self, dump: bytes, counts: Mapping[str, int], version: int) -> None:
        """Store the strategy's dump for a restart and for other processes, with counts of what it has learnt, and
        delete the feedback that it covers.

        `version`: the number of the last feedback that it has learnt. Raises LearnsElsewhere when another process has
        become the learner.
        """
        with self._database.transaction:
            self.demand_role()
            self._connection.execute(_FORGET_LESSONS.where(LESSON.c.number < version))
            self._database.write_meta(STATE, dump)
            self._database.write_meta(VERSION, str(version))
            self._database.write_meta(COUNTS, json.dumps(dict(counts)))

    def version(self) -> int:
        """Return the version of the strategy's last dump, the number of the last feedback it covers; 0: none."""
        return read_version(self._connection)

    def strategy_state(self) -> bytes | None:
        """Return the strategy's last dump; None when there was none."""
        return self._database.meta_bytes(STATE)

    def set_state_aside(self) -> None:
        """Keep the strategy's last dump under another name (`SET_ASIDE`), because it cannot be restored."""
        with self._database.transaction:
            state = self._database.meta_bytes(STATE)
            if state is not None:
                self._database.write_meta(SET_ASIDE, state)
            self._delete(STATE, COUNTS)

    def clear_feedback(self) -> None:
        """Delete the dump and all feedback, because another strategy begins."""
        with self._database.transaction:
            self._connection.execute(_FORGET_LESSONS)
            self._delete(LEARNER, STATE, VERSION, COUNTS, REVISED)

    def revised(self) -> int:
        """Return the number of the feedback after which the queue was last reranked; 0: never."""
        return int(self._database.meta(REVISED) or 0)

    def write_revised(self, number: int) -> None:
        """Record that the queue was reranked after this feedback, inside the caller's transaction.

        Raises LearnsElsewhere when another process has become the learner."""
        self.demand_role()
        self._database.write_meta(REVISED, str(number))


def read_state(connection: Connection) -> bytes | None:
    """Return the strategy's last dump; None when there was none."""
    row = connection.execute(_FACTS, {"names": [STATE]}).fetchone()
    return None if row is None else bytes(row[1])


def read_version(connection: Connection) -> int:
    """Return the number of the last feedback that the strategy's last dump covers; 0 without a dump."""
    row = connection.execute(_FACTS, {"names": [VERSION]}).fetchone()
    return 0 if row is None else int(bytes(row[1]))


def read_feedback(connection: Connection, after: int | None = None) -> Iterator[Feedback]:
    """Yield the feedback after a number, None: since the last dump, in order, a few in memory at a time."""
    last = read_version(connection) if after is None else after
    while rows := connection.execute(_NEXT_LESSONS, {"after": last}).fetchall():
        last = rows[-1][0]
        targets = [unpack_ids(row[8]) for row in rows]
        identities = _identities(connection, {*chain.from_iterable(targets)})
        for row, ids in zip(rows, targets, strict=True):
            number, url_id, purpose, depth, found_on, state, reason, valid, _, features = row
            yield Feedback(
                number=number,
                entry_id=url_id,
                purpose=Purpose(purpose),
                depth=depth,
                found_on=found_on,
                state=State(state),
                reason=reason,
                valid=None if valid is None else bool(valid),
                links=tuple((identities[target], target) for target in ids if target in identities),
                features=features,
            )


def _identities(connection: Connection, ids: Set[int]) -> dict[int, str]:
    """Return the identities of URLs from their stored addresses: all spellings of one page have the same."""
    rows = connection.execute(_ADDRESSES, {"ids": ids}).fetchall()
    return {url_id: stored_url(address).identity for url_id, address in rows}
