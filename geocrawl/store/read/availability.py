"""Compute availability and percentiles of response times from an endpoint's answers; without a database."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise


def availability(answers: Sequence[tuple[float, bool]], start: float, end: float) -> float | None:
    """Return the share of the time from `start` to `end` in which the last answer was valid; each answer counts until
    the next one.

    Counts from the first answer on where that is later than `start`; None when there is none before `end`.
    """
    up = known = 0.0
    for (at, ok), (following, _) in pairwise([*answers, (end, False)]):
        lasted = min(following, end) - max(at, start)
        if lasted > 0:
            known += lasted
            up += lasted * ok
    return up / known if known > 0 else None


def percentiles(values: Sequence[float]) -> dict[int, float]:
    """Return the values at or below which 50, 90 and 99 % of `values` lie (nearest rank); empty for no values."""
    ordered = sorted(values)
    if not ordered:
        return {}
    return {p: ordered[max(0, math.ceil(len(ordered) * p / 100) - 1)] for p in (50, 90, 99)}
