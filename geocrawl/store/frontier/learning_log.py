"""Rank the queue anew, and store what restores the strategy that ranks it: its dump, and the feedback since then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from geocrawl.model import Feedback, Rank
from geocrawl.ports import Waiting
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier.feedback_log import STATE, FeedbackLog, read_version
from geocrawl.store.frontier.learner_role import LearnerRole
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.frontier.rerank import Reranking


class SqlLearningLog:
    """`ports.LearningLog` on one connection, for one process; a part of the frontier."""

    def __init__(
        self, database: Database, queue: Queue, reranking: Reranking, feedback: FeedbackLog, role: LearnerRole
    ) -> None:
        self._database = database
        self._queue = queue
        self._reranking = reranking
        self._feedback = feedback
        self._role = role

    def waiting(self) -> Iterator[Waiting]:
        """Yield pages that wait, and those that the present strategy dropped, in the order first seen.

        They may be reranked while they are read.
        """
        return self._queue.rankable()

    def rerank(self, ranks: Iterable[tuple[int, Rank | None]], *, through: int | None = None) -> int:
        """Store new ranks of waiting pages, where None drops a page from the queue. Returns how many pages changed.

        `through`: the number of the feedback after which the ranks were made. It is stored after the last of the
        ranks, so a process that is killed before reranks once more after its restart. With it,
        LearnsElsewhere is raised when another process has become the learner.
        """
        return self._reranking.write(ranks, through)

    def lead(self) -> bool:
        """Take or renew the role of the learner unless another process has it; return whether this process has it."""
        return self._role.take()

    def resign(self) -> None:
        """Give the role of the learner up, if this process has it: another one may take it at once."""
        self._role.resign()

    def feedback(self, after: int | None = None) -> Iterator[Feedback]:
        """Yield the feedback after a number, None: since the strategy's last dump, in order.

        What other processes may still be writing comes with a later call, and so does all feedback with a higher
        number."""
        return self._feedback.read(after)

    def wrote(self, number: int) -> bool:
        """Return whether this process wrote the feedback of this number, not long ago."""
        return self._feedback.wrote(number)

    def publish(self, dump: bytes, counts: Mapping[str, int], version: int) -> None:
        """Store the strategy's dump for a restart and for other processes, with counts of what it has learnt.

        `version`: the number of the last feedback that it has learnt. Raises LearnsElsewhere when another process has
        become the learner.
        """
        with self._database.transaction:
            self._feedback.store_dump(dump, counts, version)

    def version(self) -> int:
        """Return the version of the strategy's last dump, the number of the last feedback it covers; 0: none."""
        return read_version(self._database.connection)

    def revised(self) -> int:
        """Return the number of the feedback after which the queue was last reranked; 0: never."""
        return self._feedback.revised()

    def strategy_state(self) -> bytes | None:
        """Return the strategy's last dump; None when there was none."""
        return self._database.meta_bytes(STATE)

    def set_state_aside(self) -> None:
        """Keep the strategy's last dump under another name (`strategy:set-aside`), because it cannot be restored."""
        with self._database.transaction:
            self._feedback.set_state_aside()

    def clear_feedback(self) -> None:
        """Delete the dump and all feedback, because another strategy begins."""
        with self._database.transaction:
            self._feedback.clear()
