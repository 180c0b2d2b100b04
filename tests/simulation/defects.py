"""Put defects back that the simulation has to find: `python -m tests.simulation.defects` says after how many seeds.

Each changes as little as it can, at a port or at the statements where it is possible, so that it stands after the code
behind has changed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType
from typing import Any

import pytest

from geocrawl.model import Lease, Rank
from geocrawl.store.database.connection import Statement
from geocrawl.store.frontier.economy import Economy
from geocrawl.store.frontier.frontier import SqlFrontier
from geocrawl.store.frontier.plan import Current
from geocrawl.store.frontier.settle import CURRENT, Settlement
from geocrawl.store.frontier.statements import COUNT
from tests.simulation.database import InterruptedConnection, SimulatedStore, engine_named
from tests.simulation.processes import PROCESS, Process
from tests.simulation.run import Result
from tests.simulation.seeds import Simulator
from tests.support.politeness import MemoryPoliteness

SEEDS = 300
"""Within so many seeds each defect is found."""
_EVERY = 50


@contextmanager
def waits_by_memory() -> Iterator[None]:
    """Wait for better pages until this process finds another page ready, though another process may take that one."""
    held_until, ready_at = Economy.held_until, SqlFrontier.ready_at
    remembered: dict[Process | None, float | None] = {}

    def held_and_remembered(self: Economy, rank: Rank, now: float) -> float | None:
        at = remembered[PROCESS.get()] = held_until(self, rank, now)
        return at

    def remembered_time(self: SqlFrontier, *, pages: bool = True) -> float | None:
        at = ready_at(self, pages=pages)
        known = remembered.get(PROCESS.get())
        return known if pages and known is not None else at

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Economy, "held_until", held_and_remembered)
        patch.setattr(SqlFrontier, "ready_at", remembered_time)
        yield


@contextmanager
def leases_without_fencing() -> Iterator[None]:
    """Settle a visit whoever has leased its host since."""

    def leased(self: Settlement, lease: Lease) -> Any:
        row = self.database.connection.execute(CURRENT, {"url": lease.entry.id}).fetchone()
        return Current(*row) if row else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settlement, "_leased", leased)
        yield


@contextmanager
def lost_counter() -> Iterator[None]:
    """Forget now and then to write what a transaction adds to the running totals."""
    write_many, count = InterruptedConnection.write_many, 0

    def write_most(self: InterruptedConnection, statement: Statement, values: Any) -> None:
        nonlocal count
        if statement is COUNT:
            count += 1
            if count % _EVERY == 0:
                return
        write_many(self, statement, values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InterruptedConnection, "write_many", write_most)
        yield


@contextmanager
def missing_rollback() -> Iterator[None]:
    """Commit what a transaction had written before it failed."""
    execute = InterruptedConnection.execute

    def execute_without(self: InterruptedConnection, statement: Statement, values: Any = ()) -> Any:
        return execute(self, "COMMIT" if statement == "ROLLBACK" else statement, values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InterruptedConnection, "execute", execute_without)
        yield


@contextmanager
def bounds_of_each_process() -> Iterator[None]:
    """Bound the requests to an IP address in each process alone."""
    shared = SimulatedStore.politeness

    def politeness_of_process(self: SimulatedStore, settings: Any) -> Any:
        politeness, own = shared(self, settings), MemoryPoliteness(self.clock)

        class Mixed:
            enter_ip, leave_ip = own.enter_ip, own.leave_ip

            def __getattr__(self, name: str) -> Any:
                return getattr(politeness, name)

        return Mixed()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimulatedStore, "politeness", politeness_of_process)
        yield


DEFECTS: Mapping[str, Callable[[], AbstractContextManager[None]]] = MappingProxyType(
    {
        each.__name__: each
        for each in (
            waits_by_memory,
            leases_without_fencing,
            lost_counter,
            missing_rollback,
            bounds_of_each_process,
        )
    }
)


def first_failure(simulator: Simulator, name: str, seeds: Sequence[int] = range(SEEDS)) -> Result | None:
    """Return the first result that fails with a defect, None if all pass. References are made without the defect."""
    for scenario in simulator.scenarios(seeds):
        simulator.reference(scenario)
        with DEFECTS[name]():
            result = simulator.result(scenario)
        if result.failures:
            return result
    return None


def main(arguments: Sequence[str]) -> int:
    """Print after how many seeds each defect is found; return 1 if one is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.defects", description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    options = parser.parse_args(arguments)
    missed = 0
    with engine_named(options.engine) as engine:
        simulator = Simulator(engine)
        for name in DEFECTS:
            begun = time.perf_counter()
            found = first_failure(simulator, name)
            if found is None:
                missed += 1
                print(f"{name}: not found within {SEEDS} seeds")
                continue
            seed, seconds = found.scenario.seed, time.perf_counter() - begun
            print(f"{name}: found after {seed + 1} seeds, {seconds:.1f} s ({found.scenario.fault})", flush=True)
            print(f"    {' '.join(found.failures[0].split())[:200]}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
