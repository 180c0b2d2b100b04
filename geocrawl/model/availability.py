"""Add up the probes of an endpoint, and tell the availability of a service from these sums.

A sum of probes follows another in time, and two that follow each other make one: an hour's probes become one sum, the
hours of a day another. What lies between two answers is known by the first of them, for 30 days at most. A single probe
is the sum of one.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from geocrawl.model.health import HOUR_S, UNSEEN_S

LEAST_OBSERVED_S = HOUR_S
"""Answers within a shorter time say nothing of how a service fares over time."""
TIMES_MS = tuple(round(step * 10**power) for power in range(6) for step in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))
"""Upper bounds of the classes in which response times are counted, in milliseconds: 1 ms to 800 s, among them the 3, 5,
10 and 30 s of INSPIRE."""


@dataclass(frozen=True, slots=True)
class ProbeSum:
    """One or several probes of an endpoint that follow each other."""

    first_at: float
    last_at: float
    """Times of the first and the last verdict or failure in a downtime; without one, of the first and the last
    attempt."""
    is_last_valid: bool = False
    probes: int = 0
    """Number of verdicts."""
    valid: int = 0
    known_s: float = 0.0
    """Seconds between the first and the last verdict in which the state is known: at most 30 days after each."""
    up_s: float = 0.0
    """Seconds of `known_s` in which the last verdict was valid."""
    refused: int = 0
    """Attempts without a verdict: it might not be asked, was asked to wait, or a filter answered."""
    unconfirmed: int = 0
    """Failures that the network on the way may have caused."""
    timed: int = 0
    """Number of valid answers that were read whole."""
    total_ms: float = 0.0
    """Sum of their durations."""
    times: Mapping[int, int] = field(default_factory=dict)
    """Upper bound in milliseconds, of `TIMES_MS` → how many of them took no longer, and longer than the one before."""
    is_last_excused: bool = False
    """Whether the last attempt failed in a downtime: from then on nothing is known until the next verdict."""

    @property
    def tells(self) -> bool:
        """Return whether it says something of the time from its first attempt on."""
        return self.probes > 0 or self.is_last_excused

    def and_then(self, later: ProbeSum) -> ProbeSum:
        """Return the sum of these probes and of `later` ones."""
        refused, unconfirmed = self.refused + later.refused, self.unconfirmed + later.unconfirmed
        if not self.tells or not later.tells:
            return replace(self if self.tells else later, refused=refused, unconfirmed=unconfirmed)
        between_s = 0.0 if self.is_last_excused else min(later.first_at - self.last_at, UNSEEN_S)
        return ProbeSum(
            self.first_at,
            later.last_at,
            later.is_last_valid,
            self.probes + later.probes,
            self.valid + later.valid,
            self.known_s + between_s + later.known_s,
            self.up_s + between_s * self.is_last_valid + later.up_s,
            refused,
            unconfirmed,
            self.timed + later.timed,
            self.total_ms + later.total_ms,
            Counter(self.times) + Counter(later.times),
            later.is_last_excused,
        )


def one_probe(at: float, is_valid: bool, milliseconds: float | None = None) -> ProbeSum:
    """Return a single verdict as a sum. `milliseconds`: duration of a valid answer that was read whole."""
    if milliseconds is None or not is_valid:
        return ProbeSum(at, at, is_valid, 1, int(is_valid))
    bound = TIMES_MS[min(bisect_left(TIMES_MS, milliseconds), len(TIMES_MS) - 1)]
    return ProbeSum(at, at, True, 1, 1, timed=1, total_ms=milliseconds, times={bound: 1})


def excused_failure(at: float) -> ProbeSum:
    """Return a failure in a downtime as a sum: an attempt that ends what the last answer tells."""
    return ProbeSum(at, at, refused=1, is_last_excused=True)


def availability(sums: Sequence[ProbeSum], start: float, end: float) -> float | None:
    """Return the share of the time from `start` to `end` in which the last answer was valid; each answer counts until
    the next one, or for 30 days (`UNSEEN_S`) at most. The time from a failure in a downtime to the next answer is left
    out.

    Counts from the first answer on where that is later than `start`; None without an answer before `end`, and when
    fewer than two answers, or less than an hour, tell of the service at all.
    """
    return availability_by_part(sums, start, end, 1)[0][1]


def availability_by_part(
    sums: Sequence[ProbeSum], start: float, end: float, parts: int
) -> list[tuple[float, float | None]]:
    """Return the beginning of each of equally long parts of the time from `start` to `end`, and the `availability` in
    that part."""
    told = [each for each in sums if each.tells]
    is_enough = sum(each.probes for each in told) > 1 and told[-1].last_at - told[0].first_at >= LEAST_OBSERVED_S
    begun = [each.first_at for each in told]
    bounds = [start + (end - start) * number / parts for number in range(parts + 1)]
    found = []
    for begin, until in pairwise(bounds):
        within = told[max(bisect_right(begun, begin) - 1, 0) : bisect_left(begun, until)] if is_enough else ()
        found.append((begin, _share(within, begin, until)))
    return found


def _share(sums: Sequence[ProbeSum], start: float, end: float) -> float | None:
    up = known = 0.0
    followed_at = chain((each.first_at for each in sums[1:]), (end,))
    for each, following in zip(sums, followed_at, strict=False):
        inside = min(each.last_at, end) - max(each.first_at, start)
        if inside > 0:
            share = inside / (each.last_at - each.first_at)
            known += each.known_s * share
            up += each.up_s * share
        lasted = min(following, end, each.last_at + UNSEEN_S) - max(each.last_at, start)
        if lasted > 0 and not each.is_last_excused:
            known += lasted
            up += lasted * each.is_last_valid
    return up / known if known > 0 else None


def response_times(sums: Sequence[ProbeSum]) -> dict[int, float]:
    """Return the milliseconds within which 50, 90 and 99 % of the valid answers came that were read whole; empty for
    fewer than two.

    They are upper bounds of the classes in which times are counted, at most a third above the time itself.
    """
    counts = Counter[int]()
    for each in sums:  # thousands, where a service is watched in minutes
        for bound, count in each.times.items():
            counts[bound] += count
    if counts.total() < 2:
        return {}
    return {percent: next(_bounds(counts, percent)) for percent in (50, 90, 99)}


def _bounds(counts: Counter[int], percent: int) -> Iterator[float]:
    """Yield the bounds at or below which a share of the times lies, the smallest first."""
    wanted, passed = math.ceil(counts.total() * percent / 100), 0
    for bound in sorted(counts):
        passed += counts[bound]
        if passed >= wanted:
            yield float(bound)


LEAST_PROBES = 100
"""Fewer probes say too little of a share to name its bounds."""


def likely_availability(valid: int, probes: int) -> tuple[float, float] | None:
    """Return the bounds, 0…1, between which the share of valid answers lies with 95 % certainty, by Wilson's score
    interval (JASA 22, 1927); None for fewer than `LEAST_PROBES` probes."""
    if probes < LEAST_PROBES:
        return None
    z, share = 1.96, valid / probes
    middle = share + z * z / (2 * probes)
    half = z * math.sqrt(share * (1 - share) / probes + z * z / (4 * probes * probes))
    scale = 1 + z * z / probes
    return max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0)
