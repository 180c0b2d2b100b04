"""Draw what happens in a run from its seed: the web, the crawlers and their settings, the faults."""

from __future__ import annotations

import random
from dataclasses import dataclass

STRATEGIES = ("fusion", "adaptive", "hits", "bfs", "gws", "best-n-first", "ipagerank", "random")
"""By the number of the web: what a run comes to is compared with one crawler's work by the same strategy."""
WEBS = 16
_FAULTS = ("calm", "calm", "calm", "kill", "kill", "pause", "clock", "busy", "full", "away", "stop", "limits", "mixed")
FAULTS = tuple(dict.fromkeys(_FAULTS))
"""Classes of seeds, by what is done to the crawlers."""
_YEARS_S = 10 * 365.25 * 86_400


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that happens."""

    kind: str
    """Of a crawler kill, kill-statement, pause, pause-request, clock, stop, cut; of the database busy, full, away."""
    crawler: int
    """Number of the crawler; -1: the database."""
    at: float
    """Step, statement or request of the process (kill, pause), else virtual seconds."""
    for_s: float = 0.0
    """How long it lasts; of a kill, until the crawler is started again."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a seed decides before a run begins."""

    seed: int
    fault: str
    """Class of the seed, one of `FAULTS`."""
    web: int
    strategy: str
    workers: tuple[int, ...]
    """Of each crawler."""
    starts_s: tuple[float, ...]
    """When each begins."""
    faults: tuple[Fault, ...]
    disorder: float
    max_pages: int
    max_time_s: float
    requests_per_day: int
    together: bool
    """Whether the crawlers share the limit on pages, as `--processes` does."""
    delay_s: float


def draw(seed: int, *, crawlers: int | None = None) -> Scenario:
    """Return the scenario of a seed; `crawlers`: so many of them instead of those that it draws."""
    rng = random.Random(f"scenario {seed}")
    web = seed % WEBS + seed // 1_000 * WEBS
    fault = rng.choice(_FAULTS)
    count = rng.choice((1, 2, 2, 2, 3, 3, 4, 5, 8))
    count = count if crawlers is None else crawlers
    has_limits = fault == "limits"
    return Scenario(
        seed=seed,
        fault=fault,
        web=web,
        strategy=STRATEGIES[web % len(STRATEGIES)],
        workers=tuple(rng.choice((1, 1, 2, 3, 5)) for _ in range(count)),
        starts_s=tuple(0.0 if each == 0 else rng.choice((0.0, 0.0, 0.3, 5.0)) for each in range(count)),
        faults=tuple(_faults(rng, fault, count)),
        disorder=rng.choice((0.0, 0.3, 1.0, 1.0)),
        max_pages=rng.choice((0, 3, 8)) if has_limits else 0,
        max_time_s=rng.choice((0.0, 5.0, 30.0)) if has_limits else 0.0,
        requests_per_day=rng.choice((0, 4, 8)) if has_limits else 0,
        together=has_limits and rng.random() < 0.5,
        delay_s=rng.choice((0.0, 0.5, 0.5, 1.0)),
    )


def _faults(rng: random.Random, fault: str, crawlers: int) -> list[Fault]:
    if fault == "mixed":
        kinds = rng.choices(("kill", "pause", "busy", "full", "away", "stop"), k=rng.randrange(2, 5))
        return [each for kind in kinds for each in _faults(rng, kind, crawlers)[:1]]
    who = rng.randrange(crawlers)
    if fault == "kill":
        return [
            Fault("kill", rng.randrange(crawlers), float(rng.randrange(1, 1_500)), rng.choice((0.0, 2.0, 20.0)))
            if rng.random() < 0.6
            else Fault("kill-statement", rng.randrange(crawlers), float(rng.randrange(1, 1_200)), 2.0)
            for _ in range(rng.randrange(1, 4))
        ]
    if fault == "pause":
        return [
            Fault("pause", rng.randrange(crawlers), float(rng.randrange(1, 1_500)), rng.choice((1.0, 20.0, 70.0)))
            if rng.random() < 0.5
            else Fault("pause-request", rng.randrange(crawlers), float(rng.randrange(1, 15)), 70.0)  # outlasts a lease
            for _ in range(rng.randrange(1, 4))
        ]
    if fault == "clock":
        return [Fault("clock", who, rng.uniform(0.0, 30.0), rng.choice((2.0, 15.0)) * rng.choice((-1, 1)))]
    if fault in ("busy", "full", "away"):
        return [Fault(fault, -1, rng.uniform(0.0, 30.0), rng.choice((3.0, 20.0, 60.0)))]
    if fault == "stop":
        return [Fault(rng.choice(("stop", "cut")), who, rng.uniform(0.0, 30.0))]
    return []


def wrong_by_s(fault: Fault) -> float:
    """Return how far a clock is stepped."""
    return _YEARS_S if fault.for_s > 0 else -_YEARS_S
