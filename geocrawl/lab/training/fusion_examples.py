"""Sample links with their worth from crawls of recorded webs by fusion, for the training of fusion.

At some moments of a crawl a part of the waiting links is sampled: those that fusion would visit next, and random ones.
The world's files determine what each link is worth at that moment: the greatest mean reward per page over the paths
that begin with the link and lead to pages not linked to so far, with rewards discounted for each step (reinforcement
spidering: Rennie, McCallum, ICML 1999; a link's index among bandits: Gittins 1979). Each round crawls with the weights
learnt so far and adds its examples to those of earlier rounds, so that the weights are fitted to the links that they
themselves lead to (DAgger: Ross, Gordon, Bagnell, AISTATS 2011).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from geocrawl.lab.recorded_worlds.walk import Walk, Web
from geocrawl.lab.training.fusion_fit import Worth, generic_places
from geocrawl.priority.strategies.fusion.strategy import FusionStrategy

DISCOUNT = 0.7
"""Factor on a page's worth for each link that leads to it."""
HORIZON = 2
"""Number of links behind a page over which its worth is computed."""
LOOKS = 30
"""Moments of a crawl at which links are sampled, besides some at its beginning."""
NEXT, OTHERS = 60, 60
"""Links sampled at one moment: the best-ranked ones, and random ones."""
_BEGINNING, _OFTEN = 40, 4
"""In this many first visits, links are sampled after every so many visits."""


def examples(web: Web, strategy: FusionStrategy, seed: int) -> list[Worth]:
    """Return links that waited in a crawl of `web` by `strategy`, with their worth.

    The same seed results in the same links.
    """
    rng = random.Random(seed)  # noqa: S311 - a sample, no secret
    sampler = _LinkSampler(strategy, rng, max(10, web.pages // LOOKS))
    Walk(web, strategy, sampler.look).run()
    return sampler.samples


@dataclass(slots=True)
class _LinkSampler:
    strategy: FusionStrategy
    rng: random.Random
    every: int
    samples: list[Worth] = field(default_factory=list)
    places: Mapping[int, int] = field(default_factory=generic_places)

    def look(self, walk: Walk) -> None:
        """Sample waiting links when it is time."""
        visits = walk.visits
        if visits and (visits % self.every == 0 or (visits <= _BEGINNING and visits % _OFTEN == 0)):
            worth = _Worths(walk).of
            self.samples += self._links(walk, worth)

    def _links(self, walk: Walk, worth: Callable[[str, int], float]) -> Iterator[Worth]:
        waiting = [(number, score) for number, score in self.strategy.waiting_scores() if walk.waits(number)]
        best = sorted(waiting, key=lambda entry: (-entry[1], entry[0]))[:NEXT]
        for number, _ in best + self.rng.sample(waiting, min(len(waiting), OTHERS)):
            features = self.strategy.features(number)
            generic = tuple(self.places[feature] for feature in features if feature in self.places)
            offset = self.strategy.logit([feature for feature in features if feature not in self.places])
            steps = max(min(HORIZON, walk.steps_behind(number)), 0)
            yield Worth(generic, offset, worth(walk.places[number].key, steps))


class _Worths:
    """Computes the worth of pages at one moment of a walk, 0…1."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._known: dict[tuple[str, int], float] = {}

    def of(self, key: str, steps: int) -> float:
        """Return the worth of a page: 1 with a new service, else that of up to `steps` links over unknown pages."""
        worth = self._known.get((key, steps))
        if worth is None:
            self._known[key, steps] = 0.0  # a path that returns to this page is worth nothing
            worth = self._known[key, steps] = self._measured(key, steps)
        return worth

    def _measured(self, key: str, steps: int) -> float:
        answer = self._walk.web.answers.get(key)
        if answer is None:
            return 0.0
        if answer.services - self._walk.found:
            return 1.0
        behind = self._behind([target for _, target in answer.leads], steps - 1) if steps else []
        return _greatest_mean(sorted(behind, reverse=True), float(answer.is_page))

    def _behind(self, targets: Sequence[str], steps: int) -> list[float]:
        known = self._walk.known
        return [self.of(target, steps) for target in targets if target not in known]


def _greatest_mean(worths: Sequence[float], cost: float) -> float:
    """Return the greatest discounted mean of the first 1, 2, … of `worths`; the page that leads there costs `cost`."""
    best = total = 0.0
    for count, worth in enumerate(worths, 1):
        total += worth
        best = max(best, DISCOUNT * total / (cost + count))
    return best
