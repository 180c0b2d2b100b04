"""Wake workers that sleep because no address is ready, one at a time.

A visit that ends frees one host, so one worker is enough to take what has become ready. Would all wake, each would
query the queue after every visit of the others.
"""

from __future__ import annotations

import asyncio
from collections import deque

from geocrawl.ports import Clock


class Bell:
    """Wakes the worker that has slept longest, each time it rings."""

    def __init__(self, clock: Clock) -> None:
        """Sleeps last by this clock, which is virtual in a replay."""
        self._clock = clock
        self._sleepers = deque[asyncio.Future[None]]()
        self.rings = 0
        """How often the bell rang."""

    def ring(self) -> None:
        """Wake one sleeper, if there is one."""
        self.rings += 1
        while self._sleepers:
            sleeper = self._sleepers.popleft()
            if not sleeper.done():
                sleeper.set_result(None)
                return

    async def sleep(self, seconds: float, *, since: int) -> None:
        """Sleep until the bell rings for the caller, at most `seconds`.

        `since`: value of `rings` before the caller looked for work; if the bell rang meanwhile, do not sleep.
        """
        if since != self.rings:
            return
        rung = asyncio.get_running_loop().create_future()
        slept = asyncio.ensure_future(self._clock.sleep(seconds))
        self._sleepers.append(rung)
        try:
            await asyncio.wait({rung, slept}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if rung.done():  # rung for a worker that was just cancelled: for the next one, then
                self.ring()
            raise
        finally:
            slept.cancel()
            if not rung.done():
                rung.cancel()
                self._sleepers.remove(rung)
