"""The machine's time, as `ports.Clock`."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Real time: wall clock for what is stored, monotonic clock for what is measured.

    Machines that share a database share its server's clock: after `follow`, a step of this machine's wall clock changes
    nothing.
    """

    def __init__(self) -> None:
        self._server_ahead_s: float | None = None
        """The server's time minus the time since boot; None without a server."""

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        return time.time() if self._server_ahead_s is None else since_boot() + self._server_ahead_s

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for this many seconds while other tasks run."""
        await asyncio.sleep(seconds)

    def follow(self, server_time: float) -> None:
        """Go by a server's clock, which shows `server_time` (seconds since the epoch) now."""
        self._server_ahead_s = server_time - since_boot()


def since_boot() -> float:
    """Return the seconds since the machine was started, those of its sleep included where the system counts them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
