"""Estimate how long a crawl goes on, from what it did lately and what its queue holds.

A crawl ends when its pages are read or its queue is empty, and the probes behind them are done. Its rate changes in its
course: first many hosts are read at once, later the few with most pages, each with its delay. So the rate is that of
the last third of the run, not the mean. In the end slow services alone are waited for, one after the other at each
host: the probes that are left take as long as the slowest visit so far, in as many rounds as there are more of them
than are under way.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

_WINDOW = 1 / 3
"""The share of a run whose rates count."""
_LEAST_S = 10.0
"""The shortest window, seconds."""
_SLOWING = 1.25
"""So much longer than at the present rate do pages take, since hosts run out of them: median of recorded crawls."""
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
    slowest_s: float
    """Duration of the slowest visit."""


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
        passed_s, visits, pages = now.seconds - then.seconds, now.visits - then.visits, max(now.pages - then.pages, 1)
        if visits <= 0 or now.seconds < _LEAST_S:
            return None
        left = now.probes_waiting + now.under_way
        end_s = max(left * passed_s / visits, now.slowest_s * left / max(now.under_way, 1))
        if not now.waiting or now.pages >= self._max_pages:
            return end_s
        until_empty = _pages_until_empty(now.waiting, (then.waiting - now.waiting) / pages)
        pages_left = min(self._max_pages - now.pages, until_empty)
        return None if math.isinf(pages_left) else _SLOWING * pages_left * passed_s / pages + end_s


def _pages_until_empty(waiting: int, fewer_a_page: float) -> float:
    """Return how many pages are read until a queue is empty.

    At the present rate they are waiting / fewer; but the further a web is read the fewer links are new, and at the end
    each page makes the queue one shorter. The geometric mean of both is nearest as a rule.
    """
    return waiting / math.sqrt(fewer_a_page) if fewer_a_page > 0 else math.inf
