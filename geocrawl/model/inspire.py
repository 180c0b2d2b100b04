"""Hold a month of a service against the quality that INSPIRE demands of network services: annex I of Commission
Regulation (EC) No 976/2009, amended by (EU) No 1088/2010.

A share is judged by the bounds between which it lies with 95 % certainty (`likely_availability`): a few probes judge
nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from geocrawl.model.availability import ProbeSum, availability, likely_availability
from geocrawl.model.kinds import facts_of

LEAST_AVAILABLE = 0.99
LEAST_IN_TIME = 0.9
"""Share of the time that the regulation calls the normal situation, in which response times must hold."""
_SECONDS = {"view": 5, "discovery": 3, "download": 10}
"""Seconds within which the first byte of a description must come: of a download service 10, of a discovery service 3 as
for every answer. A view service has 5 for a picture of 470 kB and no bound for its description, which is held against
the same."""


def seconds_for(kind: str) -> int | None:
    """Return the seconds that a kind's description may take; None: the regulation has no such kind of service."""
    facts = facts_of(kind)
    is_view = not facts.serves and {"pictures", "tiles"} & facts.offers
    return _SECONDS.get("view" if is_view else facts.serves)


@dataclass(frozen=True, slots=True)
class ServiceMonth:
    """How available and how fast a service was in a month (UTC)."""

    id: int
    kind: str
    title: str
    provider: str
    url: str
    month: str
    """Such as 2026-10."""
    probes: int
    """Number of verdicts on the best address of the service."""
    valid: int
    availability: float | None
    """Share of the time, without downtimes; None: not known."""
    available_low: float | None
    """Lower bound of the share of valid answers; None for too few probes."""
    available_high: float | None
    is_available: bool | None
    """Whether the share is 0.99 or more; None: the probes do not tell."""
    within_s: int | None
    """Seconds within which the first answer must come; None: the regulation has no such kind of service."""
    timed: int
    """Number of descriptions that were read whole, with a known duration."""
    in_time: int
    """Number of these descriptions that took no longer than `within_s`."""
    in_time_low: float | None
    in_time_high: float | None
    is_fast: bool | None
    """Whether 0.9 or more of these descriptions were in time; None: they do not tell."""


def month_of(
    service: tuple[int, str, str, str, str], sums: Sequence[ProbeSum], start: float, end: float
) -> ServiceMonth:
    """Return the month from `start` to `end` of a service (number, kind, title, provider, address). `sums`: the probes
    of its best address, also those before the month."""
    within = [each for each in sums if start <= each.first_at < end]
    probes, valid, timed = (sum(getattr(each, name) for each in within) for name in ("probes", "valid", "timed"))
    seconds = seconds_for(service[1])
    in_time = sum(
        count for each in within for bound, count in each.times.items() if seconds and bound <= seconds * 1000
    )
    low, high, is_available = _judged(likely_availability(valid, probes), LEAST_AVAILABLE)
    fast_low, fast_high, is_fast = _judged(likely_availability(in_time, timed) if seconds else None, LEAST_IN_TIME)
    return ServiceMonth(
        *service,
        month=dt.datetime.fromtimestamp(start, dt.UTC).strftime("%Y-%m"),
        probes=probes,
        valid=valid,
        availability=availability(sums, start, end),
        available_low=low,
        available_high=high,
        is_available=is_available,
        within_s=seconds,
        timed=timed,
        in_time=in_time,
        in_time_low=fast_low,
        in_time_high=fast_high,
        is_fast=is_fast,
    )


def _judged(bounds: tuple[float, float] | None, least: float) -> tuple[float | None, float | None, bool | None]:
    """Return the bounds of a share, and whether it is `least` or more; None where it lies between them."""
    if bounds is None:
        return None, None, None
    low, high = bounds
    return low, high, True if low >= least else False if high < least else None


def last_months(now: float, count: int) -> list[tuple[float, float]]:
    """Return beginning and end of the last months, the present one until `now` among them, the oldest first."""
    first = dt.datetime.fromtimestamp(now, dt.UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    months, end = list[tuple[float, float]](), now
    for _ in range(count):
        months.append((first.timestamp(), end))
        end, first = first.timestamp(), (first - dt.timedelta(days=1)).replace(day=1)
    return months[::-1]
