"""The bell wakes one sleeping worker a ring, and no ring is lost."""

from __future__ import annotations

import asyncio

from geocrawl.crawler.bell import Bell
from geocrawl.fetch.clock import SystemClock

_LONG_S = 3_600.0


async def _asleep(bell: Bell, count: int) -> list[asyncio.Task[None]]:
    """Return workers that sleep until the bell rings."""
    workers = [asyncio.create_task(bell.sleep(_LONG_S, since=bell.rings)) for _ in range(count)]
    await asyncio.sleep(0.01)
    return workers


async def _awake(workers: list[asyncio.Task[None]]) -> list[bool]:
    await asyncio.sleep(0.01)
    return [worker.done() for worker in workers]


def test_a_ring_wakes_the_worker_that_has_slept_longest() -> None:
    async def rung() -> list[list[bool]]:
        bell = Bell(SystemClock())
        workers = await _asleep(bell, 3)
        seen = []
        for _ in range(3):
            bell.ring()
            seen.append(await _awake(workers))
        return seen

    assert asyncio.run(rung()) == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_ring_passes_over_a_worker_that_was_cancelled() -> None:
    async def rung() -> list[bool]:
        bell = Bell(SystemClock())
        workers = await _asleep(bell, 2)
        workers[0].cancel()
        bell.ring()
        return await _awake(workers)

    assert asyncio.run(rung()) == [True, True]


def test_a_ring_while_a_worker_looked_for_work_is_not_lost() -> None:
    async def rung() -> None:
        bell = Bell(SystemClock())
        before = bell.rings
        bell.ring()  # nobody sleeps yet
        await asyncio.wait_for(bell.sleep(_LONG_S, since=before), timeout=120)

    asyncio.run(rung())


def test_a_sleep_ends_by_itself() -> None:
    async def slept() -> None:
        bell = Bell(SystemClock())
        await asyncio.wait_for(bell.sleep(0.01, since=bell.rings), timeout=120)
        bell.ring()  # for nobody

    asyncio.run(slept())
