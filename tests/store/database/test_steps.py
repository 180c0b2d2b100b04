"""Long work leaves pauses between its transactions, by the clock that it is given."""

from __future__ import annotations

import asyncio
import time

from geocrawl.fetch.clock import SystemClock
from geocrawl.lab.recorded_worlds.virtual_time import VirtualClock
from geocrawl.store.database.runner import InLoop
from geocrawl.store.database.steps import ChunkedWork


def slow_work() -> ChunkedWork[int]:
    for _ in range(3):
        time.sleep(0.02)
        yield
    return 7


def test_in_virtual_time_no_pause_depends_on_how_fast_the_machine_is() -> None:
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_loop) as runner:
        assert runner.run(InLoop(clock).run_steps(slow_work())) == 7
    assert clock.monotonic() == 0


def test_else_half_of_what_a_step_took_is_left_to_others() -> None:
    begun = time.monotonic()
    assert asyncio.run(InLoop(SystemClock()).run_steps(slow_work())) == 7
    assert time.monotonic() - begun >= 3 * (0.02 + 0.01)
