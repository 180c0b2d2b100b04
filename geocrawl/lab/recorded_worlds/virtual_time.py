"""Run a crawl of several workers in virtual time: an event loop that never waits, and its clock.

When every task waits, the loop advances its clock to the next timer instead of sleeping. So all that waits by a timer
(answers, delays, back-offs, time limits) happens in the order of its times, the same in every run, and at once.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from typing import TYPE_CHECKING

from geocrawl.lab.recorded_worlds.replay import ReplayClock

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike


class VirtualClock(ReplayClock):
    """Clock of a `VirtualLoop` (`ports.Clock`): sleepers wake in the order of their times."""

    def __init__(self) -> None:
        super().__init__()
        self._passed_s = 0.0
        """Counted by itself: seconds since the epoch are too coarse for a loop's timers."""

    def now(self) -> float:
        """Return the virtual time in seconds since the epoch."""
        return self._start + self._passed_s

    def monotonic(self) -> float:
        """Return the seconds since the replay began."""
        return self._passed_s

    def advance(self, seconds: float) -> None:
        """Advance the virtual time."""
        self._passed_s += seconds

    async def sleep(self, seconds: float) -> None:
        """Sleep in virtual time; other tasks go on meanwhile."""
        await asyncio.sleep(max(seconds, 0.0))

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Return an event loop that runs by this clock."""
        return VirtualLoop(self)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Event loop whose time is that of a `VirtualClock`."""

    def __init__(self, clock: VirtualClock) -> None:
        self._virtual = clock
        super().__init__(_AdvancingSelector(clock))
        self._clock_resolution = 1e-6  # asyncio's own: a nanosecond, which is less than a float's step after weeks

    def time(self) -> float:
        """Return the seconds of virtual time since the replay began."""
        return self._virtual.monotonic()


class _AdvancingSelector(selectors.BaseSelector):
    """Selector that advances the clock by as long as it is to wait; real events, such as a signal, come first."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:  # no timer: only a real event can continue
            return self._real.select(None)
        events = self._real.select(0)
        if timeout > 0 and not events:
            self._clock.advance(timeout)
        return events

    def register(self, fileobj: FileDescriptorLike, events: int, data: object = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: FileDescriptorLike) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: FileDescriptorLike, events: int, data: object = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[FileDescriptorLike, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()
