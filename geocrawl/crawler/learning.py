"""Let the strategy learn from settled visits, store its dump from time to time, and restore it after a restart.

Feedback is stored in the transaction that settles its visit. Of the processes that crawl on one database one is the
learner: it learns from the feedback of all of them, in the order of its numbers, and reranks the queue. A dump is
stored with the number of the last feedback that it covers, its version; so whoever becomes the learner restores the
strategy from the last dump and the feedback after it, and nothing is learnt twice or lost. The other processes judge
pages by the last version that they have loaded; the learner corrects the ranks that this leads to.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, islice
from typing import TypeVar

from geocrawl.errors import DatabaseFault, LearnsElsewhere
from geocrawl.model import Feedback, Rank
from geocrawl.ports import CorrectsRanks, HasCounts, LearningLog, StoreRunner, Strategy

_T = TypeVar("_T")


class Throttle:
    """Says when something may be done again: after a pause that grows with the CPU time that it took."""

    def __init__(self, *, least_s: float, times: float) -> None:
        """Pause for `times` the CPU time of the last time, at least `least_s` seconds."""
        self._least_s = least_s
        self._times = times
        self._next = 0.0

    def is_due(self) -> bool:
        """Return whether the pause is over; at first it is."""
        return time.monotonic() >= self._next

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure what is done inside, and begin the pause at its end."""
        begun = time.thread_time()
        try:
            yield
        finally:
            self._next = time.monotonic() + max(self._least_s, self._times * (time.thread_time() - begun))


_AT_ONCE = 200
"""Feedback of other processes that is learnt without a pause for visits."""
_FEW = 1_000
"""Revised ranks that are collected, to be written together; more are written at once."""
_FOLLOWED_S = 60.0
"""Time after the last feedback of other processes in which new versions are stored for them."""
_BECAME = "This process has become the one that learns for all"
_LEAST_S = 0.05
"""Shortest time between two versions, and between two loads of a version: what is learnt first changes most."""
_SHARE = 20
"""Storing or loading a version takes at most one in so many seconds of a process."""
_LOOK_S, _LONGEST_LOOK_S = 0.05, 1.0
"""Seconds between two calls of `Learning.keep_up`: after news from another process, and at most; each call without any
doubles them."""


class Learning:
    """Lets one strategy learn during one or several runs, as the learner, or follow the learner.

    A defect of a strategy, or a dump that it cannot read, costs what would have been learnt, and never ends the crawl.
    """

    def __init__(self, strategy: Strategy, log: LearningLog, store: StoreRunner, dump_every: int) -> None:
        """Connect a strategy with its log, which `store` calls during a run; `dump_every` is the number of feedbacks
        after which a dump is stored."""
        self._strategy = strategy
        self._corrects = strategy if isinstance(strategy, CorrectsRanks) else None
        self._log = log
        self._store = store
        self._dump_every = dump_every
        self._takes_part = False
        """Whether this session's strategy learns, or follows one that does."""
        self._leads = False
        self._through = 0
        """Number of the last feedback that the strategy has learnt, itself or by the version it has loaded."""
        self._undumped = 0
        self._followed_until = 0.0
        """Until then other processes count as following, because feedback of theirs came; by `time.monotonic`."""
        self._loaded: bytes | None = None
        """The version that was loaded last."""
        self._is_torn = False
        """Whether ranks were lost that follow from what the strategy has learnt: it is to be restored."""
        self._unlearnt: bytes | None = None
        """The strategy's dump from before it learnt anything."""
        self._ranks: list[tuple[int, Rank | None]] | None = None
        """Revised ranks to be written; None: nothing is to be written."""
        self._dump: tuple[bytes, Mapping[str, int], int] | None = None
        """A dump to be stored, with its counts and its version."""
        self._writing = asyncio.Lock()
        """Held while ranks and dumps are written, in the order in which they were made."""
        self._publishing = Throttle(least_s=_LEAST_S, times=_SHARE)
        self._loading = Throttle(least_s=_LEAST_S, times=_SHARE)
        self.look_s = _LOOK_S
        """Seconds to wait before the next call of `keep_up`."""
        self.lock = asyncio.Lock()
        """Held while the strategy judges, learns or is dumped: it may judge a document of many links in a thread."""
        self.begins_again = False
        """Whether the last dump could not be restored."""
        self.failures = 0
        """Number of times that the strategy failed to learn, revise its ranks, dump its state or load a version."""

    # ----------------------------------------------------------------------- begin and end

    @property
    def leads(self) -> bool:
        """Return whether this process is the learner."""
        return self._leads

    @property
    def _is_followed(self) -> bool:
        return time.monotonic() < self._followed_until

    def begin(self) -> None:
        """Begin with a strategy that has learnt nothing, on a log without feedback."""
        if not self._strategy.learns:
            return
        self._takes_part = True
        if self._unlearnt is None:
            with suppress(Exception):  # a strategy that cannot be dumped learns all the same
                self._unlearnt = self._strategy.dump()
        self._leads = self._log.lead()

    def restore(self) -> list[str]:
        """Restore the strategy from the log. The learner also finishes a reranking that the last process did not
        finish. Returns lines for a person about what could not be restored."""
        self.begin()
        return self._restore()

    def end(self) -> None:
        """Give up the role of the learner: another process may take it at once."""
        if self._leads:
            self._leads = False
            self._log.resign()

    def _restore(self) -> list[str]:
        notes = []
        version, state = self._log.version(), self._log.strategy_state()
        try:
            load(self._strategy, self._unlearnt if state is None and self._through else state)
        except Exception as error:  # whatever is wrong with a dump, the crawl continues without it
            if self._leads:
                self._log.set_state_aside()
            self.begins_again = self._leads
            name = self._strategy.name
            notes.append(
                f"What {name} learnt cannot be restored and was set aside ({error}): {name} starts learning again."
            )
        self._through, self._ranks, self._dump, revised = version, None, None, self._log.revised()

        def rerank(feedback: Feedback, ranks: Iterator[tuple[int, Rank | None]]) -> None:
            if self._leads and feedback.number > revised:
                self._log.rerank(ranks, through=feedback.number)
            else:
                read_all(feedback, ranks)

        self._undumped, failures = relearn(self._strategy, self._noting(self._log.feedback(version)), rerank)
        self.failures += failures
        if failures:
            notes.append(f"{self._strategy.name} could not learn from {failures:,} of {self._undumped:,} visits.")
        return notes

    def _noting(self, feedback: Iterable[Feedback]) -> Iterator[Feedback]:
        for entry in feedback:
            self._through = entry.number
            yield entry

    # ----------------------------------------------------------------------- during a run

    async def learn(self, feedback: Feedback) -> str:
        """Let the strategy learn from the feedback of a settled visit, and from others' before it; `write` stores the
        ranks that it revises. Does nothing in a process that is not the learner.

        Returns a line about the first failure to learn, '' otherwise: the visit is settled in any case.
        """
        async with self.lock:
            if not self._leads or self._is_torn or feedback.number <= self._through:
                return ""
            return await self._learn((feedback,) if feedback.number == self._through + 1 else await self._news())

    async def keep_up(self) -> str:
        """Learn what other processes have found, if this one is the learner or becomes it; else load the learner's
        last version if it is newer. To be called every `look_s` seconds. Returns a line for a person, mostly ''.
        """
        self.look_s = min(2 * self.look_s, _LONGEST_LOOK_S)
        if not self._takes_part:
            return ""
        async with self.lock:
            led, self._leads = self._leads, await self._store.run(self._log.lead)
            if not self._leads:
                return await self._load_newer()
            if led and not self._is_torn:
                return await self._learn(await self._news())
            with self._torn_by_faults():
                notes = await self._store.run(self._restore)
                self._is_torn = False
            return "" if led else f"{_BECAME} ({self._strategy.name}). {' '.join(notes)}".rstrip()

    async def _news(self) -> list[Feedback]:
        """Return the first of the feedback that was not learnt yet."""
        return await self._store.run(lambda: list(islice(self._log.feedback(self._through), _AT_ONCE)))

    async def _learn(self, news: Iterable[Feedback]) -> str:
        """Learn from feedback; collect the ranks that this revises, and a dump when one is due."""
        said = ""
        with self._torn_by_faults():
            for entry in news:
                if not self._log.wrote(entry.number):
                    self._followed_until = time.monotonic() + _FOLLOWED_S
                    self.look_s = _LOOK_S
                said = await self._learn_one(entry) or said
            self._publish()
        return said

    async def write(self) -> None:
        """Write the ranks and the dump that are due."""
        if self._ranks is not None or self._dump is not None:
            await self.run_steps(_nothing())

    async def run_steps(self, work: Generator[None, None, _T]) -> _T:
        """Do work of the store, such as a lease, after the ranks and the dump that are due are written, in one call:
        `lock` is not held over a write, so visits go on meanwhile."""
        if self._ranks is None and self._dump is None:
            return await self._store.run_steps(work)
        async with self._writing:
            ranks, self._ranks, dump, self._dump = self._ranks, None, self._dump, None
            return await self._store.run_steps(self._write_before(work, ranks, self._through, dump))

    def _write_before(
        self,
        work: Generator[None, None, _T],
        ranks: Iterable[tuple[int, Rank | None]] | None,
        through: int,
        dump: tuple[bytes, Mapping[str, int], int] | None,
    ) -> Generator[None, None, _T]:
        with self._torn_by_faults():
            self._write(ranks, through, dump)
        return (yield from work)

    def _write(
        self,
        ranks: Iterable[tuple[int, Rank | None]] | None,
        through: int,
        dump: tuple[bytes, Mapping[str, int], int] | None,
    ) -> None:
        """Write ranks that follow from the feedback up to `through`, and then a dump; the store's runner calls this."""
        if ranks is not None:
            self._log.rerank(ranks, through=through)
        if dump is not None:
            self._log.publish(*dump)

    async def _learn_one(self, feedback: Feedback) -> str:
        self._through = feedback.number
        self._undumped += 1
        try:
            self._strategy.learn(feedback)
            if self._corrects is not None and not self._log.wrote(feedback.number):
                self._corrects.correct(feedback)
            batches = self._strategy.revise()
            if batches is not None:
                await self._collect(chain.from_iterable(batches))
        except (DatabaseFault, LearnsElsewhere):
            raise
        except Exception as error:
            self.failures += 1
            if self.failures > 1:
                return ""
            where = "".join(traceback.format_exception(error)[-2:])
            return f"{self._strategy.name} could not learn from a visit (later failures are counted only): {where}"
        return ""

    async def _collect(self, ranks: Iterator[tuple[int, Rank | None]]) -> None:
        """Keep revised ranks to be written later; write them at once when they are many."""
        few = list(islice(ranks, _FEW + 1))
        self._ranks = [*(self._ranks or ()), *few]
        if len(self._ranks) > _FEW:
            async with self._writing:
                all_ranks, self._ranks = chain(self._ranks, ranks), None
                await self._store.run(self._write, all_ranks, self._through, None)

    def _publish(self) -> None:
        """Make a dump when one is due: after `dump_every` feedbacks, and sooner for processes that follow."""
        is_wanted = self._is_followed and self._publishing.is_due()
        if not self._undumped or (self._undumped < self._dump_every and not is_wanted):
            return
        self._undumped = 0
        strategy = self._strategy
        with self._publishing.timed():
            try:
                counts = strategy.counts if isinstance(strategy, HasCounts) else {}
                self._dump = strategy.dump(), counts, self._through
            except Exception:  # it is tried again when the next dump is due
                self.failures += 1

    async def _load_newer(self) -> str:
        """Load the learner's last version if it is newer; return a line about the first failure."""
        if not self._loading.is_due() or (version := await self._store.run(self._log.version)) <= self._through:
            return ""
        self._through, self.look_s = version, _LOOK_S
        state = await self._store.run(self._log.strategy_state)
        with self._loading.timed():
            try:
                load(self._strategy, state, before=self._loaded)
            except Exception as error:
                self.failures += 1
                name = self._strategy.name
                return f"What another process has learnt cannot be read by {name} here: {error}" * (self.failures == 1)
            self._loaded = state
        return ""

    @contextmanager
    def _torn_by_faults(self) -> Iterator[None]:
        """Note that the strategy is to be restored when a fault of the database, or the loss of the role, came between
        what it learnt and the ranks that follow from it."""
        try:
            yield
        except LearnsElsewhere:
            self._leads = False
        except DatabaseFault:
            self._is_torn = True
            raise


def _nothing() -> Generator[None, None, None]:
    yield from ()


def load(strategy: Strategy, state: bytes | None, *, before: bytes | None = None) -> None:
    """Restore a strategy's dump, if there is one. Raises what the strategy raises, which then is as it was before.

    `before`: a dump of how it was before, if there is one already."""
    if state is None:
        return
    before = strategy.dump() if before is None else before
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
    for entry in feedback:
        count += 1
        try:
            strategy.learn(entry)
            batches = strategy.revise()
            if batches is not None:
                rerank(entry, chain.from_iterable(batches))
        except (DatabaseFault, LearnsElsewhere):
            raise
        except Exception:
            failures += 1
    return count, failures


def read_all(feedback: Feedback, ranks: Iterator[tuple[int, Rank | None]]) -> None:
    """Read revised ranks and ignore them: a `rerank` for `restore` that changes no queue."""
    for _ in ranks:
        pass
