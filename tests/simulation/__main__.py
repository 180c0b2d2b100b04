"""Run seeds: `python -m tests.simulation --seed 7 --trace`, or `--seeds 0-2999 -j 2`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.simulation.database import engine_named
from tests.simulation.run import Result
from tests.simulation.seeds import Simulator, run_seeds


def main(arguments: Sequence[str]) -> int:
    """Run the seeds that are named; print those that fail, and return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int, help="one seed")
    which.add_argument("--seeds", metavar="A-B", help="all seeds of a range")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--crawlers", type=int, help="so many crawlers, in place of the number that the seed draws")
    parser.add_argument("--fault", help="run only seeds of this class")
    parser.add_argument("--trace", action="store_true", help="print what happened")
    parser.add_argument("-j", type=int, default=1, dest="jobs", help="number of processes that run seeds")
    options = parser.parse_args(arguments)
    first, _, last = (options.seeds or str(options.seed)).partition("-")
    seeds = range(int(first), int(last or first) + 1)
    begun = time.perf_counter()
    counts = Counter[str]()
    failed = 0
    for result in _results(options, seeds):
        counts[result.scenario.fault] += 1
        if options.trace:
            print("\n".join(result.trace))
        if result.failures:
            failed += 1
            print(f"seed {result.scenario.seed} ({result.scenario.fault}, {len(result.scenario.workers)} crawlers):")
            for text in result.failures[:5]:
                print(f"    {text}")
        if options.seed is not None:
            print(result.scenario)
            print(f"digest {result.digest}, {result.steps:,} steps, {result.seconds:,.0f} s of virtual time, ", end="")
            print(f"{result.settled} settled, {result.attempts} attempts, idle {result.longest_idle_s:g} s")
        sys.stdout.flush()
    print(f"{sum(counts.values()):,} seeds, {failed} failed, {time.perf_counter() - begun:.1f} s; {dict(counts)}")
    return int(failed > 0)


def _results(options: argparse.Namespace, seeds: range) -> Iterator[Result]:
    if options.jobs > 1:
        return run_seeds(seeds, options.engine, jobs=options.jobs, crawlers=options.crawlers, fault=options.fault)
    return _results_here(options, seeds)


def _results_here(options: argparse.Namespace, seeds: range) -> Iterator[Result]:
    """Yield each result as soon as it is there."""
    with engine_named(options.engine) as engine:
        yield from Simulator(engine, crawlers=options.crawlers, fault=options.fault).results(seeds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
