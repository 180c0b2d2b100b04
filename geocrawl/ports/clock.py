"""Tell the time, and sleep."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The only source of time, so that a year can be simulated in minutes."""

    def now(self) -> float:
        """Return the seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start, which never run backwards."""

    async def sleep(self, seconds: float) -> None: ...
