"""Store the feedback that a strategy learns from until its next dump covers it.

Feedback is written in the transaction that settles its visit, so a visit is settled with its feedback or not at all. A
dump comes with the visit that follows it: the dump is stored, and the feedback before that visit is deleted. Whenever
the process is killed, the dump and the feedback after it, in order, restore the strategy's state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from geocrawl.model import Feedback, Purpose, State, Status, Visit
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.outlinks import pack_ids, unpack_ids
from geocrawl.urls import read_url

STATE = "strategy:state"
"""Key of the strategy's last dump."""
SET_ASIDE = "strategy:set-aside"
"""Key of the last dump that could not be restored, kept for diagnosis."""
COUNTS = "strategy:counts"
"""Key of the strategy's sizes at that dump, as JSON: `status` need not read the dump."""
REVISED = "strategy:revised"
"""Key of the number of the feedback after which the queue was last reranked."""


class FeedbackLog:
    """Reads and writes feedback since the last dump. Methods that write work inside the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection = database.connection

    def write(self, visit: Visit, depth: int, found_on: int | None, targets: Sequence[int]) -> Feedback:
        """Write and return the feedback of a visit; with `visit.dump` store the dump and delete earlier feedback.

        `targets`: the ids of `visit.links`.
        """
        entry, verdict = visit.lease.entry, visit.verdict
        valid = None if verdict is None else verdict.status is Status.VALID
        links = tuple(
            (ranked.link.url.identity, target)
            for ranked, target in zip(visit.links, targets, strict=True)
            if not ranked.refused
        )
        packed = pack_ids([target for _, target in links])
        row = (entry.id, entry.purpose, depth, found_on, visit.state, visit.reason, valid, packed, visit.features)
        number = int(self._connection.execute(sql.ADD_LESSON, row).fetchone()[0])
        if visit.dump is not None:
            # After the insert, because a new row's number follows the highest one in the table.
            self._connection.execute(sql.FORGET_LESSONS, (number,))
            self._database.write_meta(STATE, visit.dump)
            self._database.write_meta(COUNTS, json.dumps(dict(visit.dump_counts)))
        return Feedback(
            number, entry.id, entry.purpose, depth, found_on, visit.state, visit.reason, valid, links, visit.features
        )

    def read(self) -> Iterator[Feedback]:
        """Yield the feedback since the last dump, in order, one in memory at a time."""
        return read_feedback(self._connection)

    def set_state_aside(self) -> None:
        """Keep the dump under another name, so that the next start finds none."""
        state = self._database.meta_bytes(STATE)
        if state is not None:
            self._database.write_meta(SET_ASIDE, state)
        for name in (STATE, COUNTS):
            self._database.delete_meta(name)

    def clear(self) -> None:
        """Delete the dump and all feedback, because another strategy begins."""
        self._connection.execute(sql.FORGET_LESSONS, (None,))
        for name in (STATE, COUNTS, REVISED):
            self._database.delete_meta(name)

    def revised(self) -> int:
        """Return the number of the feedback after which the queue was last reranked; 0: never."""
        return int(self._database.meta(REVISED) or 0)

    def write_revised(self, number: int) -> None:
        """Record that the queue was reranked after this feedback."""
        self._database.write_meta(REVISED, str(number))


def read_state(connection: Connection) -> bytes | None:
    """Return the strategy's last dump; None when there was none."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (STATE,)).fetchone()
    return None if row is None else bytes(row[0])


def read_feedback(connection: Connection) -> Iterator[Feedback]:
    """Yield the feedback since the last dump, in order, one in memory at a time."""
    last = 0
    while row := connection.execute(sql.NEXT_LESSON, (last,)).fetchone():
        last, url_id, purpose, depth, found_on, state, reason, valid, links, features = row
        yield Feedback(
            number=last,
            entry_id=url_id,
            purpose=Purpose(purpose),
            depth=depth,
            found_on=found_on,
            state=State(state),
            reason=reason,
            valid=None if valid is None else bool(valid),
            links=tuple((_identity(connection, target), target) for target in unpack_ids(links)),
            features=features,
        )


def _identity(connection: Connection, url_id: int) -> str:
    """Return the identity of a URL from its stored address: all spellings of one page have the same."""
    url = read_url(connection.execute(sql.ADDRESS, (url_id,)).fetchone()[0])
    assert url is not None, "an address that was written by read_url is read by it"
    return url.identity
