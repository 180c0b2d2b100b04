"""The machine's time, as `ports.Clock`."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Real time: wall clock for what is stored, monotonic clock for what is measured."""

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for this many seconds while other tasks run."""
        await asyncio.sleep(seconds)
