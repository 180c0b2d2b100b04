"""Watch a crowd: how long it idles although it could work, and how often it asks for work in vain."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

from geocrawl.model import BATCH_TIER, Entry, Rank, State, Visit
from geocrawl.store.frontier.economy import promise
from tests.simulation.processes import Process

if TYPE_CHECKING:
    from tests.simulation.run import Run

MOST_IDLE_S = 14.0
"""Longest time without a lease while an address is ready, its host free and a worker's place free: a page may be held
back for ten seconds for a better one (`economy`), a worker sleeps for a second, and the watch looks once a second."""
_LOOK_S = 1.0
_WINDOW_S = 5.0
MOST_IN_VAIN = 15.0
"""Most attempts to lease in vain a second and worker, over five seconds, and as many for each lease or settlement: a
worker that waits for another process looks ten times a second."""
_FORGIVEN_S = 12.0
"""After a fault of the database its users need this long to go on."""


class Watch:
    """Looks at one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._in_vain: dict[Process, deque[float]] = defaultdict(deque)
        self._progress: deque[float] = deque()
        self._idle_since: float | None = None
        self.longest_idle_s = 0.0
        self.attempts = self.leases = self.settlements = 0
        self.visited = Counter[tuple[str, str]]()
        """How often each page and each endpoint was visited with success."""
        self._told = set[str]()

    def attempted(self, process: Process, found: bool) -> None:
        """Note an attempt to lease."""
        self.attempts += 1
        now = self._run.loop.time()
        if found:
            self.leases += 1
            self._progress.append(now)
            return
        mine = self._in_vain[process]
        mine.append(now)
        while mine[0] < now - _WINDOW_S:
            mine.popleft()
        while self._progress and self._progress[0] < now - _WINDOW_S:
            self._progress.popleft()
        workers = max(self._run.scenario.workers)
        most = MOST_IN_VAIN * (_WINDOW_S * workers + len(self._progress))
        if len(mine) > most:
            self._fail("spins", f"{process.name} asked for work {len(mine)} times in vain within {_WINDOW_S:g} s")

    def settled(self, entry: Entry, visit: Visit) -> None:
        """Note a settlement."""
        self.settlements += 1
        self.visited[entry.purpose, entry.url.address] += visit.state is State.VISITED
        self._progress.append(self._run.loop.time())

    def noted(self, process: Process, text: str) -> None:
        """Note a line for a person: none may tell of a defect."""
        if "could not learn" in text or "cannot be read" in text or "cannot be restored" in text:
            self._fail("learning", f"{process.name}: {text}")

    async def look(self) -> None:
        """Look for idleness until the crowd has ended."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self._look(self._run.loop.time())

    def _look(self, now: float) -> None:
        seen = self.leases
        if not self._could_work(now):
            self._idle_since = None
            return
        if self._idle_since is None or seen != self._seen:
            self._idle_since, self._seen = now, seen
            return
        self.longest_idle_s = max(self.longest_idle_s, now - self._idle_since)
        if now - self._idle_since > MOST_IDLE_S:
            self._fail("idles", f"nobody leased anything for {MOST_IDLE_S:g} s though hosts were ready")

    _seen = -1

    def _could_work(self, now: float) -> bool:
        run = self._run
        if run.scenario.fault == "clock" or any(
            fault.crawler < 0 and fault.at <= now <= fault.at + fault.for_s + _FORGIVEN_S
            for fault in run.scenario.faults
        ):
            return False
        if not any(crawler.has_place for crawler in run.crawlers):
            return False
        if run.scenario.max_pages:
            return False  # what is left may be pages, and no more may be requested
        utc = run.utc()
        waiting = run.rows(
            f"SELECT next_at, best_tier, best_score FROM host WHERE waiting > 0 AND lease_until <= {utc}"
        )
        ready = [Rank(tier, score) for next_at, tier, score in waiting if next_at <= utc]
        if not ready or max(ready).tier >= BATCH_TIER:
            return bool(ready)
        promised = max((promise(score, next_at - utc) for next_at, _, score in waiting if next_at > utc), default=0.0)
        return max(ready).score >= promised  # else they may be held for better pages at hosts that rest

    def crowd_ended(self) -> None:
        """Note the end of the crowd: time that passes from now on is not idle."""
        self._idle_since = None

    def _fail(self, kind: str, text: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._run.fail(f"{kind}: {text}")
