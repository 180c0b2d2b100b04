"""Queue what is to be visited, lease it and settle the visits; query the catalogue, and observe a run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import ParamSpec, Protocol, TypeVar

from geocrawl.model import (
    Entry,
    Feedback,
    FrontierStats,
    HostState,
    Lease,
    Rank,
    SettlementResult,
    Visit,
    WaitingHost,
)
from geocrawl.ports.fetching import HeldHost
from geocrawl.ports.thinking import QueuedLink

P = ParamSpec("P")
T = TypeVar("T")


class StoreRunner(Protocol):
    """Runs what the loop asks the store, one call after the other, while the loop goes on."""

    @property
    def waits_for(self) -> str:
        """Return for what all calls have waited for long, as a sentence; '' while they are answered."""

    async def run(self, call: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
        """Return what a call of the store returns, or raise what it raises. A cancellation waits for its end."""

    async def run_steps(self, work: Generator[None, None, T]) -> T:
        """Do work in steps, each a call; return its result."""


class CrawlQueue(Protocol):
    """The queue as the crawl loop sees it: durable, and leasing one host at a time.

    A `StoreRunner` calls all methods but `held`. Each raises PassingFault while the store cannot be written.
    """

    def lease_in_steps(self, *, pages: bool = True) -> Generator[None, None, Lease | None]:
        """Lease the best ready entry with its host; None when nothing is ready now. `pages=False`: probes only."""

    def ready_at(self, *, pages: bool = True) -> float | None:
        """Return when the next entry can be leased (past: at once; leased by others: when that expires); None when
        nothing waits."""

    def waiting_hosts(self, *, pages: bool = True) -> Sequence[WaitingHost]:
        """Return the hosts that have addresses never visited, the first to be ready first. `pages=False`: those that
        have probes."""

    def pages_wait(self) -> bool:
        """Return whether a run would wait for pages that were never visited; those under way count."""

    def may_lease_pages(self) -> bool:
        """Return whether the limit on pages that the processes of a run share lets another one be leased."""

    def others_at_work(self) -> bool:
        """Return whether other processes lease hosts with queued URLs while this one leases none: their results, or
        their leases when they expire, may give this process work."""

    def settle(self, visit: Visit) -> SettlementResult:
        """Write all results of a visit in one transaction, and end its lease."""

    def held(self, lease: Lease) -> HeldHost:
        """Return the host of a lease, which the fetcher extends while its requests last."""

    def put_behind(self, lease: Lease) -> None:
        """Put a leased probe behind the other probes of its host, once."""

    def release(self, lease: Lease, host: HostState) -> None:
        """End a lease whose visit was given up: the entry waits again, no attempt counts. `host`: the state of its host
        after the requests that were made."""


class LearningLog(Protocol):
    """Stores what restores a strategy: its last dump, the feedback since then, and the waiting pages to rank. Elects
    the learner, the one process that learns. While a loop runs, a `StoreRunner` calls all methods but `wrote`."""

    def strategy_state(self) -> bytes | None:
        """Return the strategy's last dump; None when there was none."""

    def lead(self) -> bool:
        """Take or renew the role of the learner unless another process has it; return whether this process has it."""

    def resign(self) -> None:
        """Give that role up, if this process has it."""

    def version(self) -> int:
        """Return the number of the last feedback that the last dump covers; 0: nothing was dumped."""

    def publish(self, dump: bytes, counts: Mapping[str, int], version: int) -> None:
        """Store a dump that covers the feedback up to `version`, with counts of what was learnt, and drop that
        feedback. Raises LearnsElsewhere when another process has become the learner."""

    def feedback(self, after: int | None = None) -> Iterator[Feedback]:
        """Yield the feedback after a number, None: since the last dump, in order, of all processes."""

    def revised(self) -> int:
        """Return the feedback after which the queue was last reranked (`rerank`'s `through`); 0: never."""

    def set_state_aside(self) -> None:
        """Keep the dump under another name, because the strategy cannot restore it."""

    def clear_feedback(self) -> None:
        """Drop the dump and the feedback: another strategy begins."""

    def wrote(self, number: int) -> bool:
        """Return whether this process wrote the feedback of this number, not long ago."""

    def waiting(self) -> Iterator[QueuedLink]:
        """Yield the pages that wait or were dropped by the present strategy, in the order first seen."""

    def rerank(self, ranks: Iterable[tuple[int, Rank | None]], *, through: int | None = None) -> int:
        """Store new ranks of waiting pages; return how many changed. A rank of None drops the page. `through`: the
        number of the feedback after which the ranks were made; then LearnsElsewhere is raised when another process has
        become the learner."""


class Observer(Protocol):
    """Receives the events of a run, for progress displays, logs and recordings."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Note the start of a run. `stats` may be called at any time during it, and returns the counts of a moment ago;
        `notes` are lines for a person (what is resumed, what was reranked)."""

    def noted(self, text: str) -> None:
        """Show a line to a person during the run."""

    def leased(self, lease: Lease) -> None:
        """Note that a visit begins."""

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        """Note the end of a visit."""


class Observers(Observer):
    """Several observers as one."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        """Pass every event on to each of `observers`, in their order."""
        self._observers = observers

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        for observer in self._observers:
            observer.started(stats, notes)

    def noted(self, text: str) -> None:
        for observer in self._observers:
            observer.noted(text)

    def leased(self, lease: Lease) -> None:
        for observer in self._observers:
            observer.leased(lease)

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        for observer in self._observers:
            observer.settled(entry, visit, result)
