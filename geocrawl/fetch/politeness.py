"""Decide what an answer, or a failure, means for its host's politeness: a small table and pure functions.

    answer                                          effect
    429, 503 of robots.txt; 429 without Retry-After OVERLOAD: the host is in back-off at once
    429, 503 of several addresses (see below)       OVERLOAD: it is not one page that is too much for the host
    500, 502, 504 of robots.txt, or of a second     ERROR: the host is in back-off after `backoff_after` in a row, for
        address                                     such errors are common on sites that are otherwise well
    429, 500, 502, 503, 504 of one address          ADDRESS: that address's trouble; the host keeps its delay, and the
                                                    address is asked again by its own retry, after Retry-After
    connection failures, time-outs                  ERROR: no address was spoken to
    any other answer                                OK: earlier errors in a row are forgotten
    an answer that breaks a limit or a format       NEUTRAL: no sign of the state of the host

A second address is a different one that fails within `trouble_window_s` of the first. All requests of one interview
with a service count as one address, whatever their parameters.

A host refuses when a quarter of its answers or more are 429 or 503: each of another address than the last one in
trouble adds three points, any other answer takes one away, and from six points on the host is in
back-off. So two addresses that refuse with no good answer between are enough, three of five are, and one in dozens
never is. Six points are the most, so that six good answers make up for all.

A 429 counts the requests of this client, whatever their address. One with Retry-After therefore slows its host down,
too: the host gets no request for that time, or for `_SLOWED_S` when it is longer and no second address has said so.

A back-off takes `backoff_first_s`, doubles with every further error up to `backoff_max_s`, and varies by 10 % so that
hosts that failed together are not requested together again. Retry-After (RFC 9110, 10.2.3) replaces it; from
`backoff_after` errors in a row on, the longer of both counts. Errors are forgiven half an hour after the
back-off that they caused. The time between two requests is `delay_s` (the host's own, or the common one) or its
Crawl-delay, whichever is longer.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from geocrawl.fetch.answer_reader import read_http_date
from geocrawl.model import FailureCode, HostState
from geocrawl.settings import Settings

DAY_S = 86_400.0
_JITTER = 0.1
_MAX_DOUBLINGS = 40
_FORGIVEN_AFTER_S = 1800.0
_REFUSED, _REFUSES = 3, 6
"""Points of one refusal, and those from which on the host itself refuses."""
_SLOWED_S = 10.0


class ExchangeSubject(NamedTuple):
    """The address that an exchange was about, and its time."""

    address: str
    """Address of the page; for a service, the address with which its interview began."""
    at: float
    """When it was answered."""
    is_robots: bool = False


class Effect(Enum):
    """The effect of an exchange on its host's politeness."""

    OK = "fine"
    NEUTRAL = "nothing"
    ADDRESS = "trouble of one address"
    ERROR = "trouble"
    OVERLOAD = "strain"


_OF_STATUS = {
    429: Effect.OVERLOAD,
    503: Effect.OVERLOAD,
    500: Effect.ERROR,
    502: Effect.ERROR,
    504: Effect.ERROR,
}
_REFUSALS = frozenset({429, 503})
_TROUBLES = frozenset({429, 500, 502, 503, 504})
_OF_FAILURE = dict.fromkeys(
    (
        FailureCode.DNS,
        FailureCode.REFUSED,
        FailureCode.TLS,
        FailureCode.TIMEOUT_CONNECT,
        FailureCode.TIMEOUT_READ,
        FailureCode.TIMEOUT_TOTAL,
        FailureCode.RESET,
    ),
    Effect.ERROR,
)


def effect_of(
    answer: int | FailureCode,
    host: HostState | None = None,
    asked: ExchangeSubject | None = None,
    *,
    within_s: float = 0.0,
    retry_after_s: float | None = None,
) -> Effect:
    """Return the effect of an HTTP status or a failure's code on `host`, its state before the exchange.

    Without `asked` trouble is the host's. `within_s`: for how long an address's trouble is remembered.
    `retry_after_s`: what the answer asks for.
    """
    if not isinstance(answer, int):
        return _OF_FAILURE.get(answer, Effect.NEUTRAL)
    if answer in _TROUBLES and host is not None and asked is not None and not asked.is_robots:
        is_first = asked.at - host.troubled_at > within_s or host.troubled_address in ("", asked.address)
        if answer not in _REFUSALS:
            return Effect.ADDRESS if is_first else _OF_STATUS[answer]
        names_time = answer != 429 or retry_after_s is not None
        if names_time and (is_first or refusals_after(host, answer, asked, within_s=within_s) < _REFUSES):
            return Effect.ADDRESS
    return _OF_STATUS.get(answer, Effect.OK)


def refusals_after(host: HostState, answer: int | FailureCode, asked: ExchangeSubject, *, within_s: float) -> int:
    """Return the points of a host's refusals after an answer about `asked`; `within_s`: as in `effect_of`."""
    points = host.refusals if asked.at - host.troubled_at <= within_s else 0
    if answer in _REFUSALS:
        is_told = points > 0 and host.troubled_address == asked.address
        return points if is_told else min(points + _REFUSED, _REFUSES)
    return points if answer in _TROUBLES or not isinstance(answer, int) else max(points - 1, 0)


def after_exchange(
    host: HostState,
    answer: int | FailureCode,
    now: float,
    settings: Settings,
    *,
    retry_after_s: float | None = None,
    asked: ExchangeSubject | None = None,
) -> HostState:
    """Return the host's state after an exchange that ended at `now`; no request before its `next_at`.

    `asked`: what was requested; None when nothing is known of it, as of robots.txt.
    """
    wait, within_s = delay_s(host, settings), settings.trouble_window_s
    effect = effect_of(answer, host, asked, within_s=within_s, retry_after_s=retry_after_s)
    if asked is not None and not asked.is_robots:
        host = replace(host, refusals=refusals_after(host, answer, asked, within_s=within_s))
        if answer in _TROUBLES:
            host = replace(host, troubled_at=now, troubled_address=asked.address)
    if effect is Effect.OK:
        return replace(host, errors=0, next_at=now + wait)
    if effect in (Effect.NEUTRAL, Effect.ADDRESS):
        slowed_s = min(retry_after_s or 0.0, _SLOWED_S) if answer == 429 else 0.0
        return replace(host, next_at=now + max(wait, slowed_s))
    forgiven = now - max(host.last_error_at, host.next_at) > _FORGIVEN_AFTER_S
    errors = 1 if forgiven else host.errors + 1
    wait = max(wait, _backoff_s(host.name, errors, effect, settings, retry_after_s))
    return replace(host, errors=errors, last_error_at=now, next_at=now + wait)


def count_request(host: HostState, now: float) -> HostState:
    """Return the host's state with one more request at `now`."""
    today = int(now // DAY_S)
    return replace(host, day=today, asked=host.asked + 1 if host.day == today else 1)


def after_cut_off(host: HostState, now: float, settings: Settings) -> HostState:
    """Return the host's state after a request that was sent and given up at `now`, before its answer was complete.

    The server may still be at work on the request, so the delay begins when it is surely done.
    """
    host, delay = count_request(host, now), delay_s(host, settings)
    rest = delay + settings.at_work_s if delay else 0.0
    return replace(host, next_at=max(host.next_at, now + rest))


def is_day_limit_reached(host: HostState, now: float, settings: Settings) -> bool:
    """Return whether the host has received as many requests today (UTC) as it may."""
    limit = settings.requests_per_day_of(host.name)
    return 0 < limit <= host.asked and host.day == int(now // DAY_S)


def wait_for_next_day(host: HostState, now: float, settings: Settings) -> HostState:
    """Return the host's state at the end of a turn: no request before tomorrow if its daily limit is reached."""
    if not is_day_limit_reached(host, now, settings):
        return host
    return replace(host, next_at=max(host.next_at, (host.day + 1) * DAY_S))


def starts_backoff(
    before: HostState,
    host: HostState,
    answer: int | FailureCode,
    settings: Settings,
    asked: ExchangeSubject | None = None,
    retry_after_s: float | None = None,
) -> bool:
    """Return whether this answer put the host into back-off. `before`, `host`: its states around the exchange."""
    effect = effect_of(answer, before, asked, within_s=settings.trouble_window_s, retry_after_s=retry_after_s)
    return effect is Effect.OVERLOAD or (effect is Effect.ERROR and host.errors >= settings.backoff_after)


def delay_s(host: HostState, settings: Settings) -> float:
    """Return the seconds between the end of a request to this host and the next one."""
    return settings.pace_s(host.name, host.crawl_delay_s)


def read_retry_after(fields: Mapping[str, str], now: float, settings: Settings) -> float | None:
    """Return the seconds to wait by the Retry-After (seconds or a date) among an answer's header fields, at most
    `max_retry_after_s`; None without a valid one.

    A date is by the server's clock, which may be minutes off ours: the answer's Date says by how much.
    """
    value = fields.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:12]), settings.max_retry_after_s)
    moment = read_http_date(value) if value else None
    if moment is None:
        return None
    sent = read_http_date(fields.get("date", ""))
    return min(max(moment.timestamp() - (sent.timestamp() if sent else now), 0.0), settings.max_retry_after_s)


def _backoff_s(name: str, errors: int, effect: Effect, settings: Settings, retry_after_s: float | None) -> float:
    """Return the seconds of back-off after this many errors in a row; 0 for none."""
    if effect is Effect.ERROR and errors < settings.backoff_after:
        return 0.0
    doublings = errors - 1 if effect is Effect.OVERLOAD else errors - settings.backoff_after
    rest = settings.backoff_first_s * 2.0 ** min(doublings, _MAX_DOUBLINGS)
    rest = min(rest * (1 + _JITTER * _jitter(f"{name} {errors}")), settings.backoff_max_s)
    if retry_after_s is None:
        return rest
    return retry_after_s if errors < settings.backoff_after else max(rest, retry_after_s)


def _jitter(text: str) -> float:
    """Return a number in -1…1 that depends on the text alone, so that a run can be repeated."""
    return zlib.crc32(text.encode()) / 2**31 - 1
