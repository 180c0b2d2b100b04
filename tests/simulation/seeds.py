"""Run seeds one after the other, each compared with what one undisturbed crawler does on the same web."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain

from tests.simulation.checks import simulate
from tests.simulation.database import Engine, engine_named
from tests.simulation.run import Result
from tests.simulation.scenario import Scenario, draw

_AT_ONCE = 1_000
"""Most seeds that a process runs before it hands their results back."""


class Simulator:
    """Runs seeds on one engine."""

    def __init__(
        self, engine: Engine, *, alone: Engine | None = None, crawlers: int | None = None, fault: str | None = None
    ) -> None:
        """`alone`: engine of the undisturbed crawler, which comes to the same on each. `crawlers`: number of crawlers
        in place of the drawn one. `fault`: pass over other classes of seeds."""
        self._engine = engine
        self._alone = alone or engine
        self._crawlers = crawlers
        self._fault = fault
        self._references: dict[int, Result] = {}
        gc.freeze()  # what is loaded by now stays: the collections between runs need not look at it

    def results(self, seeds: Iterable[int]) -> Iterator[Result]:
        """Yield the result of each seed."""
        return map(self.result, self.scenarios(seeds))

    def scenarios(self, seeds: Iterable[int]) -> Iterator[Scenario]:
        """Yield the scenario of each seed that is not passed over."""
        for seed in seeds:
            scenario = draw(seed, crawlers=self._crawlers)
            if self._fault in (None, scenario.fault):
                yield scenario

    def result(self, scenario: Scenario) -> Result:
        """Return the result of a scenario."""
        reference = self.reference(scenario)
        if reference.failures:
            failures = [f"one crawler alone, on web {scenario.web}: {text}" for text in reference.failures]
            return replace(reference, scenario=scenario, failures=failures)
        result = simulate(scenario, self._engine, reference=reference)
        gc.collect(1)  # a run leaves 40 MB in cycles
        return result

    def reference(self, scenario: Scenario) -> Result:
        """Return what one undisturbed crawler comes to on the web of a scenario."""
        found = self._references.get(scenario.web)
        if found is None:
            alone = replace(scenario, fault="calm", workers=(1,), starts_s=(0.0,), faults=(), disorder=0.0)
            alone = replace(alone, max_pages=0, max_time_s=0.0, requests_per_day=0, together=False, delay_s=0.5)
            found = self._references[scenario.web] = simulate(alone, self._alone)
        return found


def run_seeds(
    seeds: range, engine: str, *, jobs: int, crawlers: int | None = None, fault: str | None = None
) -> Iterator[Result]:
    """Yield the results of seeds in their order, run by so many processes. Those that pass come without their trace."""
    size = max(min(_AT_ONCE, -(-len(seeds) // jobs)), 1)
    parts = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    run = partial(_run_part, engine=engine, crawlers=crawlers, fault=fault)
    with ProcessPoolExecutor(jobs) as pool:
        yield from chain.from_iterable(pool.map(run, parts))


def _run_part(seeds: range, *, engine: str, crawlers: int | None, fault: str | None) -> list[Result]:
    found = []
    with engine_named(engine) as opened:
        for result in Simulator(opened, crawlers=crawlers, fault=fault).results(seeds):
            result.urls, result.catalogue = set(), set()
            if not result.failures:
                result.trace = []
            found.append(result)
    return found
