"""Estimate how long a crawl goes on, from what it did lately and what its queue holds.

A crawl ends when its pages are read or its queue is empty. Its rate changes in its course: first many hosts are read at
once, later the few with most pages, each with its delay, and in the end slow services alone are waited for. So the rate
is that of the last third of the run, not the mean.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

_WINDOW = 1 / 3
"""The share of a run whose rates count."""
_LEAST_S = 10.0
"""The shortest window, seconds."""
_SAMPLES = 100
"""Number of samples in a window."""


class Progress(NamedTuple):
    """What a crawl has done until a moment, and what its queue holds then."""

    seconds: float
    """Since the beginning."""
    pages: int
    visits: int
    """Pages, probes and failures."""
    waiting: int
    """Pages in the queue."""
    probes_waiting: int
    under_way: int
    """Visits that wait for their answers."""


class TimeLeft:
    """The time that a crawl still takes."""

    def __init__(self, max_pages: int = 0) -> None:
        """`max_pages`: those that the crawl reads at most; 0 for no limit."""
        self._max_pages = max_pages or math.inf
        self._samples: deque[Progress] = deque()

    def note(self, now: Progress) -> None:
        """Note how far the crawl is; called several times a second."""
        window_s = max(now.seconds * _WINDOW, _LEAST_S)
        if self._samples and now.seconds - self._samples[-1].seconds < window_s / _SAMPLES:
            return
        self._samples.append(now)
        while len(self._samples) > 2 and self._samples[1].seconds <= now.seconds - window_s:
            self._samples.popleft()

    def seconds(self) -> float | None:
        """Return the seconds until the end; None while nothing tells."""
        if len(self._samples) < 2:
            return None
        then, now = self._samples[0], self._samples[-1]
        passed_s, visits, pages = now.seconds - then.seconds, now.visits - then.visits, now.pages - then.pages
        if visits <= 0 or now.seconds < _LEAST_S:
            return None
        left_s = (now.probes_waiting + now.under_way) * passed_s / visits
        if not now.waiting or now.pages >= self._max_pages:
            return left_s
        pages_left = min(
            self._max_pages - now.pages, _pages_until_empty(now.waiting, (then.waiting - now.waiting) / max(pages, 1))
        )
        return None if math.isinf(pages_left) else left_s + pages_left * passed_s / max(pages, 1)


def _pages_until_empty(waiting: int, fewer_a_page: float) -> float:
    """Return how many pages are read until a queue is empty.

    At the present rate they are waiting / fewer; but the further a web is read the fewer links are new, and at the end
    each page makes the queue one shorter. The geometric mean of both is nearest as a rule.
    """
    return waiting / math.sqrt(fewer_a_page) if fewer_a_page > 0 else math.inf
