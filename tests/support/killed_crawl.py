"""A crawl of the demo web that kills itself, in a process of its own.

A moment is where in a visit the process dies: `leased` (an entry is held), `learning` (settled, its feedback not yet
learnt), `revising` (the new ranks half given), `settled` (over and done with).
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from geocrawl.app import crawl as crawls
from geocrawl.app import wiring
from geocrawl.app.crawl import run_crawl
from geocrawl.app.findings import demand_usable
from geocrawl.model import (
    Document,
    Entry,
    Feedback,
    FrontierStats,
    Judgement,
    Lease,
    Rank,
    SettlementResult,
    Visit,
)
from geocrawl.ports import QueuedLink, Strategy
from geocrawl.settings import Settings
from geocrawl.store.frontier import rerank
from geocrawl.urls import read_url
from tests.support.forked import loaded

PAGES = 60
DUMP_EVERY = 15
LEARNER = "learner"
_RANKS_A_TRANSACTION = 10
_REVISE_EVERY = 7


def settings_for(proxy: str, strategy: str) -> Settings:
    return Settings(
        proxy=proxy,
        strategy=strategy,
        delay_s=0.0,
        workers=1,
        max_pages=PAGES,
        dump_every=DUMP_EVERY,
        patience_s=0.2,
        quiet=True,
    )


def run(
    path: Path,
    proxy: str,
    strategy: str,
    seeds: Sequence[str],
    die: Callable[[str], None] = lambda moment: None,
) -> None:
    """Crawl `PAGES` more pages; `die` is called at each moment. LEARNER names the strategy `Learner`."""
    make, per_batch = wiring.make_strategy, rerank._WRITTEN
    if strategy == LEARNER:
        wiring.make_strategy = lambda *_: Learner(die)
        setattr(crawls, "demand_usable", lambda *_: None)  # noqa: B010 the registry does not know the strategy
        rerank._WRITTEN = _RANKS_A_TRANSACTION
    try:
        given = [url for url in map(read_url, seeds) if url is not None]
        run_crawl(settings_for(proxy, strategy), path, given, observer=Watcher(die))
    finally:
        wiring.make_strategy, rerank._WRITTEN = make, per_batch
        setattr(crawls, "demand_usable", demand_usable)  # noqa: B010


def order_of_visits(path: Path) -> list[str]:
    """Pages and probes that were settled, in that order."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT purpose, address FROM url WHERE settled_at IS NOT NULL ORDER BY settled_at, id")
    order = [f"{purpose} {address}" for purpose, address in rows]
    connection.close()
    return order


class Watcher:
    """Passes moments on."""

    def __init__(self, die: Callable[[str], None]) -> None:
        self._die = die

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        pass

    def noted(self, text: str) -> None:
        """Nothing is shown."""

    def leased(self, lease: Lease) -> None:
        self._die("leased")

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        self._die("settled")


class Learner:
    """Its order hangs on every word of every feedback so far: whatever is lost or doubled changes it."""

    name = LEARNER
    stride = 1
    by_depth = False
    by_yield = False
    learns = True
    needs: frozenset[str] = frozenset()

    def __init__(self, die: Callable[[str], None]) -> None:
        self._die = die
        self.digest = ""
        self._count = 0
        self._waiting: dict[int, None] = {}

    def seed_rank(self) -> Rank:
        return Rank(1)

    def judge(self, document: Document) -> Judgement:
        ranks = tuple(self._rank(link.url.identity) for link in document.links)
        return Judgement(0.0, ranks, features=document.title.encode())

    def rank(self, waiting: QueuedLink) -> Rank | None:
        return self._rank(waiting.url.identity)

    def learn(self, feedback: Feedback) -> None:
        self._die("learning")
        self.digest = blake2b(f"{self.digest} {feedback}".encode()).hexdigest()
        self._count += 1
        self._waiting.update(dict.fromkeys(number for _, number in feedback.links))
        self._waiting.pop(feedback.entry_id, None)

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        return self._ranks() if self._count % _REVISE_EVERY == 0 else None

    def _ranks(self) -> Iterator[Sequence[tuple[int, Rank | None]]]:
        numbers = list(self._waiting)
        for start in range(0, len(numbers), _RANKS_A_TRANSACTION):
            yield [(number, self._rank(str(number))) for number in numbers[start : start + _RANKS_A_TRANSACTION]]
            if start:
                self._die("revising")

    def _rank(self, text: str) -> Rank:
        return Rank(0, int.from_bytes(blake2b(f"{self.digest} {text}".encode(), digest_size=4).digest()) / 2**32)

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        return {"digest": self.digest}

    def dump(self) -> bytes:
        return json.dumps([self.digest, self._count, list(self._waiting)]).encode()

    def load(self, state: bytes) -> None:
        self.digest, self._count, waiting = json.loads(state)
        self._waiting = dict.fromkeys(waiting)


def run_killed(path: Path, proxy: str, strategy: str, seeds: Sequence[str], moment: str, count: int) -> int:
    """Crawl in a new process, which is killed when it reaches the moment for the `count`-th time; return its exit code.

    The process is forked from one that has loaded what a crawl loads: that alone takes two seconds.
    """
    process = loaded().Process(target=_run_to_death, args=(path, proxy, strategy, list(seeds), moment, count))
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _run_to_death(path: Path, proxy: str, strategy: str, seeds: Sequence[str], moment: str, count: int) -> None:
    times = {moment: 0}

    def die(reached: str) -> None:
        if reached in times:
            times[reached] += 1
            if times[reached] == count:
                os.kill(os.getpid(), signal.SIGKILL)

    run(path, proxy, strategy, seeds, die)


_CHECKED: Callable[[Callable[[str], None]], Strategy] = Learner
