"""Keep what is done again and again to a small share of a processor's time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Pace:
    """Says when something may be done again: after a pause that grows with the CPU time that it took."""

    def __init__(self, *, least_s: float, times: float) -> None:
        """Pause for `times` the CPU time of the last time, at least `least_s` seconds."""
        self._least_s = least_s
        self._times = times
        self._next = 0.0

    def is_due(self) -> bool:
        """Return whether the pause is over; at first it is."""
        return time.monotonic() >= self._next

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure what is done inside, and begin the pause at its end."""
        begun = time.thread_time()
        try:
            yield
        finally:
            self._next = time.monotonic() + max(self._least_s, self._times * (time.thread_time() - begun))
