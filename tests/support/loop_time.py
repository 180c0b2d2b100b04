"""The time of a running event loop in the hands of a test.

So a limit is as long as a busy machine needs for what keeps it, and what does not keep it ends without a wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


class LoopTime:
    """Moves the running loop's time ahead; `still`: it passes by that alone, and no limit of asyncio ends before."""

    def __init__(self, *, still: bool = False) -> None:
        loop = asyncio.get_running_loop()
        passing, self._ahead_s, stood = loop.time, 0.0, loop.time()
        loop.time = lambda: self._ahead_s + (stood if still else passing())  # type: ignore[method-assign]

    def move(self, seconds: float) -> None:
        """Let time pass: the limits that end by then are over at the loop's next turn."""
        self._ahead_s += seconds

    async def hang(self, seconds: float) -> None:
        """Let so much time pass once all that is ready has been done, and never return: as a server that is silent."""
        for _ in range(20):
            await asyncio.sleep(0)
        self.move(seconds)
        await asyncio.Event().wait()


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, whatever the loop's time does; the test's own limit ends a wait in vain."""
    while not condition():
        await asyncio.to_thread(time.sleep, 0.01)
