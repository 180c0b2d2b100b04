"""Pass feedback of visits to a strategy, store its dump from time to time, and restore the strategy after a restart.

A dump is stored in the transaction that settles a visit, and feedback in the transaction that settles its visit. So a
killed crawl restores its strategy from the last dump and the feedback after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from geocrawl.model import Feedback, Rank, Visit
from geocrawl.ports import Counted, CrawlQueue, LearningLog, Strategy


class Learning:
    """Passes feedback to one strategy during one or several runs, and stores the strategy's dumps."""

    def __init__(self, strategy: Strategy, log: LearningLog, queue: CrawlQueue, dump_every: int) -> None:
        """Connect a strategy with its log; `dump_every` is the number of feedbacks after which a dump is stored."""
        self._strategy = strategy
        self._log = log
        self._queue = queue
        self._dump_every = dump_every
        self._undumped = 0

    def restore(self) -> None:
        """Restore the strategy from the log, and finish a reranking that the last process did not finish."""

        def rerank(feedback: Feedback, ranks: Iterator[tuple[int, Rank | None]]) -> None:
            if feedback.number > self._log.revised():
                self._log.rerank(ranks, through=feedback.number)
            else:
                read_all(feedback, ranks)

        self._undumped = restore(self._strategy, self._log.strategy_state(), self._log.feedback(), rerank)

    def with_dump(self, visit: Visit) -> Visit:
        """Return the visit, with the strategy's dump from before the visit when a dump is due.

        A visit with the answer "not modified" has no feedback, and a dump is only stored together with feedback.
        """
        if self._undumped < self._dump_every or visit.not_modified:
            return visit
        self._undumped = 0
        strategy = self._strategy
        counts = strategy.counts if isinstance(strategy, Counted) else {}
        return replace(visit, dump=strategy.dump(), dump_counts=counts)

    async def learn(self, feedback: Feedback) -> None:
        """Let the strategy learn from the feedback of a settled visit, and store the revised ranks."""
        self._undumped += 1
        self._strategy.learn(feedback)
        batches = self._strategy.revise()
        if batches is not None:
            await self._queue.rerank(chain.from_iterable(batches), through=feedback.number)


def restore(
    strategy: Strategy,
    state: bytes | None,
    feedback: Iterable[Feedback],
    rerank: Callable[[Feedback, Iterator[tuple[int, Rank | None]]], object],
) -> int:
    """Restore a strategy's learnt state: load its dump, then let it learn from the feedback after the dump.

    `rerank(feedback, ranks)` is called after each feedback for which the strategy revises ranks. `rerank` must read all
    ranks, because the strategy's state changes while it yields them. Returns the number of feedbacks.
    """
    count = 0
    if state is not None:
        strategy.load(state)
    for each in feedback:
        count += 1
        strategy.learn(each)
        batches = strategy.revise()
        if batches is not None:
            rerank(each, chain.from_iterable(batches))
    return count


def read_all(feedback: Feedback, ranks: Iterator[tuple[int, Rank | None]]) -> None:
    """Read revised ranks and ignore them: a `rerank` for `restore` that changes no queue."""
    for _ in ranks:
        pass
