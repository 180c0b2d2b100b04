"""Pass feedback of visits to a strategy, store its dump from time to time, and restore the strategy after a restart.

A dump is stored in the transaction that settles a visit, and feedback in the transaction that settles its visit. So a
killed crawl restores its strategy from the last dump and the feedback after it.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from geocrawl.errors import DatabaseFault
from geocrawl.model import Feedback, Rank, Visit
from geocrawl.ports import Counted, CrawlQueue, LearningLog, Strategy


class Learning:
    """Passes feedback to one strategy during one or several runs, and stores the strategy's dumps.

    A defect of a strategy, or a dump that it cannot read, costs what would have been learnt, and never ends the crawl.
    """

    def __init__(self, strategy: Strategy, log: LearningLog, queue: CrawlQueue, dump_every: int) -> None:
        """Connect a strategy with its log; `dump_every` is the number of feedbacks after which a dump is stored."""
        self._strategy = strategy
        self._log = log
        self._queue = queue
        self._dump_every = dump_every
        self._undumped = 0
        self.lock = asyncio.Lock()
        """Held while the strategy judges, learns or is dumped: it may judge a document of many links in a thread."""
        self.begins_anew = False
        """Whether the last dump could not be restored."""
        self.failures = 0
        """How often the strategy could not learn, revise its ranks or dump its state."""

    def restore(self) -> list[str]:
        """Restore the strategy from the log, and finish a reranking that the last process did not finish. Returns lines
        for a person about what could not be restored."""
        notes = []
        state = self._log.strategy_state()
        try:
            load(self._strategy, state)
        except Exception as error:  # whatever is wrong with a dump, the crawl continues without it
            self._log.set_state_aside()
            self.begins_anew = True
            name = self._strategy.name
            notes.append(
                f"What {name} learnt cannot be restored and was set aside ({error}): {name} starts learning again."
            )

        def rerank(feedback: Feedback, ranks: Iterator[tuple[int, Rank | None]]) -> None:
            if feedback.number > self._log.revised():
                self._log.rerank(ranks, through=feedback.number)
            else:
                read_all(feedback, ranks)

        self._undumped, failures = relearn(self._strategy, self._log.feedback(), rerank)
        self.failures += failures
        if failures:
            notes.append(f"{self._strategy.name} could not learn from {failures:,} of {self._undumped:,} visits.")
        return notes

    def with_dump(self, visit: Visit) -> Visit:
        """Return the visit, with the strategy's dump from before the visit when a dump is due.

        A visit with the answer "not modified" brings no feedback, and a dump is stored with feedback only. A dump that
        fails is tried again when the next one is due.
        """
        if self._undumped < self._dump_every or visit.not_modified:
            return visit
        self._undumped = 0
        strategy = self._strategy
        try:
            counts = strategy.counts if isinstance(strategy, Counted) else {}
            return replace(visit, dump=strategy.dump(), dump_counts=counts)
        except Exception:
            self.failures += 1
            return visit

    async def learn(self, feedback: Feedback) -> str:
        """Let the strategy learn from the feedback of a settled visit, and store the ranks that it revises.

        Returns a line about the first failure to learn, '' otherwise: the visit is settled in any case.
        """
        async with self.lock:
            return await self._learn(feedback)

    async def _learn(self, feedback: Feedback) -> str:
        self._undumped += 1
        try:
            self._strategy.learn(feedback)
            batches = self._strategy.revise()
            if batches is not None:
                await self._queue.rerank(chain.from_iterable(batches), through=feedback.number)
        except DatabaseFault:
            raise
        except Exception as error:
            self.failures += 1
            if self.failures > 1:
                return ""
            where = "".join(traceback.format_exception(error)[-2:])
            return f"{self._strategy.name} could not learn from a visit (later failures are counted only): {where}"
        return ""


def load(strategy: Strategy, state: bytes | None) -> None:
    """Restore a strategy's dump, if there is one. Raises what the strategy raises, which then is as it was before."""
    if state is None:
        return
    before = strategy.dump()
    try:
        strategy.load(state)
    except Exception:
        strategy.load(before)
        raise


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
    load(strategy, state)
    return relearn(strategy, feedback, rerank)[0]


def relearn(
    strategy: Strategy,
    feedback: Iterable[Feedback],
    rerank: Callable[[Feedback, Iterator[tuple[int, Rank | None]]], object],
) -> tuple[int, int]:
    """Let a strategy learn from feedback once more; `rerank` as in `restore`. Returns how much feedback there was, and
    how much of it the strategy could not learn from."""
    count = failures = 0
    for each in feedback:
        count += 1
        try:
            strategy.learn(each)
            batches = strategy.revise()
            if batches is not None:
                rerank(each, chain.from_iterable(batches))
        except DatabaseFault:
            raise
        except Exception:
            failures += 1
    return count, failures


def read_all(feedback: Feedback, ranks: Iterator[tuple[int, Rank | None]]) -> None:
    """Read revised ranks and ignore them: a `rerank` for `restore` that changes no queue."""
    for _ in ranks:
        pass
