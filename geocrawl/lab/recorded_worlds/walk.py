"""Walk a recorded web by a strategy without fetcher, probes and database: quick, and realistic enough to learn from.

Every answer is read once. A walk visits the best link first and observes the limit of depth, as the frontier does. It
sends the strategy the feedback of a crawl: one for each visit, and one for each service that the world's files name on
the page. Politeness, caps and services that a probe would reject are left out, so measurements are made by
`contest.run`, not by walks.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.documents import documents, named_at, targets
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Document, Feedback, Purpose, Rank, State
from geocrawl.ports import Strategy
from geocrawl.settings import Settings

_PROBE_ID = 1 << 40
"""Entry id in the feedback of a probe; a walk has no endpoints of its own."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """A recorded answer, read as a crawl reads it."""

    document: Document
    leads: Sequence[tuple[str, str]]
    """(identity, key) of each link to a recorded page, each once; of a redirect, those of its target."""
    services: frozenset[str]
    """Ids of the valid services that the page, or a script or file that it loads, names."""
    is_page: bool
    redirects: bool


@dataclass(frozen=True, slots=True)
class Web:
    """A recorded web in memory: key (`addresses.key_of`) → answer."""

    answers: Mapping[str, ReadAnswer]
    seeds: Sequence[str]
    pages: int


def read_web(world: World) -> Web:
    """Read every recorded answer."""
    records, named = world.warc.records, named_at(world)
    answers = {}
    for key, document, stored in documents(world):
        redirects = 300 <= stored.status < 400
        near = [key, *(target for target in targets(world, key, document, stored))]
        loaded = [target for target in near if target == key or records[target].kind not in ("page", "sitemap")]
        services = frozenset[str]().union(*(named.get(target, set()) for target in loaded))
        leads = dict(_leads(world, document, near[1:] if redirects else ()))
        is_page = records[key].kind == "page" and not redirects
        answers[key] = ReadAnswer(document, tuple(leads.items()), services, is_page, redirects)
    return Web(answers, [key for key in map(key_of, world.seeds) if key in answers], world.pages)


def _leads(world: World, document: Document, redirected: Sequence[str]) -> Iterator[tuple[str, str]]:
    records = world.warc.records
    for target in redirected:
        yield f"http://{target}", target
    for link in document.links:
        key = key_of(link.url.address)
        if key in records and records[key].kind in ("page", "sitemap"):
            yield link.url.identity, key


@dataclass(slots=True)
class Place:
    """An address known to a walk, with its state."""

    key: str
    depth: int
    rank: Rank
    found_on: int | None
    visited: bool = False


@dataclass(slots=True)
class Walk:
    """One walk, from the seeds until `budget` pages were read."""

    web: Web
    strategy: Strategy
    look: Callable[[Walk], None] = lambda walk: None
    """Called before each visit."""
    found: set[str] = field(default_factory=set)
    """Ids of the services found so far."""
    visits: int = 0
    known: dict[str, int] = field(default_factory=dict)
    """Key → number of its place."""
    places: list[Place] = field(default_factory=list)
    _queue: list[tuple[int, float, int]] = field(default_factory=list)
    _max_depth: int = field(default_factory=lambda: Settings().max_depth)

    def run(self) -> None:
        """Walk from the seeds until the queue is empty or all pages were read."""
        pages = 0
        for seed in self.web.seeds:
            self._arrive(seed, 0, self.strategy.seed_rank(), None)
        while self._queue and pages < self.web.pages:
            tier, score, number = heapq.heappop(self._queue)
            place = self.places[number]
            if place.visited or place.rank != Rank(-tier, -score):
                continue
            self.look(self)
            place.visited = True
            self.visits += 1
            pages += self._visit(number, place)

    def waits(self, number: int) -> bool:
        """Return whether a place may still be visited."""
        place = self.places[number]
        return not place.visited and place.depth <= self._max_depth

    def steps_behind(self, number: int) -> int:
        """Return how many links a crawl may still follow behind a place."""
        return self._max_depth - self.places[number].depth

    def _visit(self, number: int, place: Place) -> bool:
        answer = self.web.answers[place.key]
        features, ranks, depth = b"", dict.fromkeys((identity for identity, _ in answer.leads), place.rank), place.depth
        if not answer.redirects:
            judgement = self.strategy.judge(answer.document._replace(depth=place.depth))
            features, ranks, depth = judgement.features, _best(answer.document, judgement.ranks), place.depth + 1
        links = []
        for identity, key in answer.leads:
            if key in self.web.answers and identity in ranks:
                links.append((identity, self._arrive(key, depth, ranks[identity], number)))
        reason = "redirect" if answer.redirects else "ok"
        self._tell(
            Feedback(
                0,
                number,
                Purpose.PAGE,
                place.depth,
                place.found_on,
                State.VISITED,
                reason,
                links=tuple(links),
                features=features,
            )
        )
        for _ in sorted(answer.services - self.found):
            self._tell(Feedback(0, _PROBE_ID, Purpose.PROBE, place.depth + 1, number, State.VISITED, "ok", True))
        self.found |= answer.services
        return answer.is_page

    def _arrive(self, key: str, depth: int, rank: Rank, found_on: int | None) -> int:
        """Record a link and return the number of its place, whose rank and depth are the best known so far."""
        number = self.known.setdefault(key, len(self.places))
        if number == len(self.places):
            self.places.append(Place(key, depth, rank, found_on))
        place = self.places[number]
        place.depth, place.rank = min(place.depth, depth), max(place.rank, rank)
        self._queue_up(number)
        return number

    def _queue_up(self, number: int) -> None:
        if self.waits(number):
            rank = self.places[number].rank
            heapq.heappush(self._queue, (-rank.tier, -rank.score, number))

    def _tell(self, feedback: Feedback) -> None:
        if not self.strategy.learns:
            return
        self.strategy.learn(feedback)
        for batch in self.strategy.revise() or ():
            for number, rank in batch:
                if rank is not None and rank != self.places[number].rank:
                    self.places[number].rank = rank
                    self._queue_up(number)


def _best(document: Document, ranks: Sequence[Rank | None]) -> dict[str, Rank]:
    """Return identity → the best rank of the page's links with that identity; dropped links are left out."""
    best: dict[str, Rank] = {}
    for link, rank in zip(document.links, ranks, strict=True):
        if rank is not None:
            best[link.url.identity] = max(rank, best.get(link.url.identity, rank))
    return best
