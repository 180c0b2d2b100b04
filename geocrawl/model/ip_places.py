"""Places of an IP address: how many requests may be under way there, and when the next one may begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MOST_AHEAD_S = 3600.0
"""A request that begins later than this was noted while a clock was wrong; it bounds nothing."""


@dataclass(frozen=True, slots=True)
class IpRequest:
    """What a request asks of an IP address."""

    most_at_once: int
    """How many requests to the address may be under way."""
    gap_s: float
    """Least time between the beginnings of two requests to the address."""
    wait_s: float
    """Longest wait for the request's beginning."""
    lasts_s: float
    """Longest duration of the request."""


@dataclass(frozen=True, slots=True)
class IpSlot:
    """One of an address's concurrent requests, or the last one that was made there."""

    number: int
    begins_at: float
    until: float
    """When the request has ended at the latest; 0: it has ended."""


@dataclass(frozen=True, slots=True)
class IpPlace:
    """The right to make one request to an IP address."""

    ip: str
    slot: int
    """Number of the slot that the request occupies."""
    begins_at: float
    """When the request may begin."""


def find_place(ip: str, slots: Sequence[IpSlot], now: float, request: IpRequest) -> IpPlace | float:
    """Return the place at an address whose slots are these, or when to ask again if there is none soon enough."""
    slots = [slot for slot in slots if slot.begins_at <= now + _MOST_AHEAD_S]
    begins_at = max([now, *(slot.begins_at + request.gap_s for slot in slots)])
    busy = {slot.number: slot.until for slot in slots if slot.until > now}
    free = next((number for number in range(request.most_at_once) if number not in busy), None)
    if free is None or begins_at - now > request.wait_s:
        return begins_at
    return IpPlace(ip, free, begins_at)
