"""Visit a recorded web twice by one strategy, in one queue and with hosts that take turns: what ties alone change.

The papers' crawlers have one queue; of links of equal rank the first seen comes first. In geocrawl hosts whose best
links are equal take turns, so that none is asked more than others. A walk (`recorded_worlds.walk`) visits in either
order, all else being equal.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from geocrawl.lab.contest.contest import rates
from geocrawl.lab.contest.rates import pages_at
from geocrawl.lab.contest.study import Study
from geocrawl.lab.recorded_worlds.walk import Place, Walk, Web
from geocrawl.model import Rank
from geocrawl.ports import Strategy
from geocrawl.priority.registry import make_strategy

STRATEGIES = ("bfs", "pagerank:paper", "ipagerank:paper")
LAST = 4_000
"""Pages after which rates are compared, or a third of the web (Li, Zhao, Yu)."""


class OneQueue(Walk):
    """A walk that records the pages that it reads, in their order."""

    def __init__(self, web: Web, strategy: Strategy) -> None:
        super().__init__(web, strategy)
        self.read: list[str] = []

    def _visit(self, number: int, place: Place) -> bool:
        is_page = Walk._visit(self, number, place)
        if is_page:
            self.read.append(place.key)
        return is_page


class TurnsWalk(OneQueue):
    """A walk in which hosts whose best links are equal take turns, as in the frontier."""

    def run(self) -> None:
        """Walk from the seeds until the queue is empty."""
        for seed in self.web.seeds:
            self._arrive(seed, 0, self.strategy.seed_rank(), None)
        queues: dict[str, list[tuple[int, float, int]]] = {}
        turns: dict[str, int] = {}
        while True:
            for entry in self._queue:
                host = self.places[entry[2]].key.partition("/")[0]
                turns.setdefault(host, self.visits)
                heapq.heappush(queues.setdefault(host, []), entry)
            self._queue.clear()
            heads = [
                (*head[:2], turns[host], known, host)
                for known, (host, queue) in enumerate(queues.items())
                if (head := self._head(queue))
            ]
            if not heads:
                return
            host = min(heads)[-1]
            number = heapq.heappop(queues[host])[2]
            place = self.places[number]
            place.visited = True
            self.visits += 1
            turns[host] = self.visits
            self._visit(number, place)

    def _head(self, queue: list[tuple[int, float, int]]) -> tuple[int, float, int] | None:
        """Return the head of a host's queue after removing entries that no longer count; None without any."""
        while queue:
            tier, score, number = queue[0]
            place = self.places[number]
            if not place.visited and place.rank == Rank(-tier, -score):
                return queue[0]
            heapq.heappop(queue)
        return None


def compare(web: Web, study: Study, strategies: Sequence[str] = STRATEGIES) -> dict[str, Any]:
    """Return strategy → order of equals → harvest and discovery rate after as many pages as the papers' report."""
    pages = pages_at(LAST, study.pages)
    return {
        name: {how: _rates(walk(web, make_strategy(name, {})), study, pages) for how, walk in _WALKS.items()}
        for name in strategies
    } | {"pages": pages}


_WALKS = {"one queue": OneQueue, "hosts take turns": TurnsWalk}


def _rates(walk: OneQueue, study: Study, pages: int) -> dict[str, float]:
    walk.run()
    harvest, discovery = rates(walk.read[:pages], study.relevant, study.relevant & study.reachable)
    return {"harvest_rate": round(harvest, 4), "discovery_rate": round(discovery, 4)}
