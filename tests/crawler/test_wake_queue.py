"""`WakeQueue` wakes one sleeping worker a call, and no call is lost."""

from __future__ import annotations

import asyncio

from geocrawl.crawler.worker_slots import WakeQueue
from geocrawl.fetch.clock import SystemClock

_LONG_S = 3_600.0


async def _asleep(wake_queue: WakeQueue, count: int) -> list[asyncio.Task[None]]:
    """Return workers that sleep until they are woken."""
    workers = [asyncio.create_task(wake_queue.sleep(_LONG_S, since=wake_queue.calls)) for _ in range(count)]
    await asyncio.sleep(0.01)
    return workers


async def _awake(workers: list[asyncio.Task[None]]) -> list[bool]:
    await asyncio.sleep(0.01)
    return [worker.done() for worker in workers]


def test_a_ring_wakes_the_worker_that_has_slept_longest() -> None:
    async def woken() -> list[list[bool]]:
        wake_queue = WakeQueue(SystemClock())
        workers = await _asleep(wake_queue, 3)
        seen = []
        for _ in range(3):
            wake_queue.wake_one()
            seen.append(await _awake(workers))
        return seen

    assert asyncio.run(woken()) == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_ring_passes_over_a_worker_that_was_cancelled() -> None:
    async def woken() -> list[bool]:
        wake_queue = WakeQueue(SystemClock())
        workers = await _asleep(wake_queue, 2)
        workers[0].cancel()
        wake_queue.wake_one()
        return await _awake(workers)

    assert asyncio.run(woken()) == [True, True]


def test_a_ring_while_a_worker_looked_for_work_is_not_lost() -> None:
    async def woken() -> None:
        wake_queue = WakeQueue(SystemClock())
        before = wake_queue.calls
        wake_queue.wake_one()  # nobody sleeps yet
        await asyncio.wait_for(wake_queue.sleep(_LONG_S, since=before), timeout=120)

    asyncio.run(woken())


def test_a_sleep_ends_by_itself() -> None:
    async def slept() -> None:
        wake_queue = WakeQueue(SystemClock())
        await asyncio.wait_for(wake_queue.sleep(0.01, since=wake_queue.calls), timeout=120)
        wake_queue.wake_one()  # for nobody

    asyncio.run(slept())
