"""The time of a running event loop in the hands of a test: what may take no longer than it is told from what may."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


class StillTime:
    """Makes the running loop's time stand still until the test moves it.

    No time limit of asyncio is over before that, however busy the machine is.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        loop.time = lambda: self._now  # type: ignore[method-assign]

    def move(self, seconds: float) -> None:
        """Let time pass: the limits that end by then are over at the loop's next turn."""
        self._now += seconds


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, whatever the loop's time does; the test's own limit ends a wait in vain."""
    while not condition():
        await asyncio.to_thread(time.sleep, 0.01)
