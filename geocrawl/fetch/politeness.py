"""What an answer, or none, means for its host: a small table and pure functions from state to state.

    answer                                          effect
    429, 503                                        STRAIN: the host rests at once
    502, 504, connection failures, time-outs        TROUBLE: it rests after `backoff_after` in a row
    any other answer                                FINE: what went before is forgotten
    an answer that breaks a limit or a format       NOTHING: says nothing about how the host is

A rest takes `backoff_first_s`, doubles with every further error up to `backoff_max_s`, and varies by 10 % so that hosts
that failed together are not asked together again. Retry-After (RFC 9110, 10.2.3) stands instead of it; from
`backoff_after` errors in a row on, the longer of both. Errors are forgiven `backoff_forgive_s` after the rest they
caused. Between two requests lies `delay_s` (the host's own, or the common one) or its Crawl-delay, whichever is longer.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from enum import Enum

from geocrawl.fetch.content import read_http_date
from geocrawl.model import FailureCode, HostState
from geocrawl.settings import Settings

DAY_S = 86_400.0
_JITTER = 0.1
_MAX_DOUBLINGS = 40


class Effect(Enum):
    """What an exchange means for its host."""

    FINE = "fine"
    NOTHING = "nothing"
    TROUBLE = "trouble"
    STRAIN = "strain"


_OF_STATUS = {429: Effect.STRAIN, 503: Effect.STRAIN, 502: Effect.TROUBLE, 504: Effect.TROUBLE}
_OF_FAILURE = dict.fromkeys(
    (
        FailureCode.DNS,
        FailureCode.REFUSED,
        FailureCode.TLS,
        FailureCode.TIMEOUT_CONNECT,
        FailureCode.TIMEOUT_READ,
        FailureCode.TIMEOUT_TOTAL,
        FailureCode.RESET,
        FailureCode.PROXY,
    ),
    Effect.TROUBLE,
)


def effect_of(outcome: int | FailureCode) -> Effect:
    """The table: an HTTP status or a failure's code to its effect."""
    if isinstance(outcome, int):
        return _OF_STATUS.get(outcome, Effect.FINE)
    return _OF_FAILURE.get(outcome, Effect.NOTHING)


def after_exchange(
    host: HostState, outcome: int | FailureCode, now: float, settings: Settings, *, retry_after_s: float | None = None
) -> HostState:
    """The host after an exchange that ended at `now`; `next_at` is when it may be asked again."""
    delay = delay_s(host, settings)
    effect = effect_of(outcome)
    if effect is Effect.FINE:
        return replace(host, errors=0, next_at=now + delay)
    if effect is Effect.NOTHING:
        return replace(host, next_at=now + delay)
    forgiven = now - max(host.last_error_at, host.next_at) > settings.backoff_forgive_s
    errors = 1 if forgiven else host.errors + 1
    wait = max(delay, _rest_s(host.name, errors, effect, settings, retry_after_s))
    return replace(host, errors=errors, last_error_at=now, next_at=now + wait)


def counted(host: HostState, now: float) -> HostState:
    """The host after one more request at `now`."""
    today = int(now // DAY_S)
    return replace(host, day=today, asked=host.asked + 1 if host.day == today else 1)


def is_spent(host: HostState, now: float, settings: Settings) -> bool:
    """Whether the host was asked today as often as it may be."""
    limit = settings.requests_per_day_of(host.name)
    return 0 < limit <= host.asked and host.day == int(now // DAY_S)


def until_tomorrow(host: HostState, now: float, settings: Settings) -> HostState:
    """The host at the end of a turn: one whose day's requests are spent is left alone until the next day begins."""
    if not is_spent(host, now, settings):
        return host
    return replace(host, next_at=max(host.next_at, (host.day + 1) * DAY_S))


def rests(host: HostState, outcome: int | FailureCode, settings: Settings) -> bool:
    """Whether the exchange with this outcome, after which the host stands so, sent it to rest."""
    effect = effect_of(outcome)
    return effect is Effect.STRAIN or (effect is Effect.TROUBLE and host.errors >= settings.backoff_after)


def delay_s(host: HostState, settings: Settings) -> float:
    """Seconds between the end of a request and the next one to this host."""
    return settings.pace_s(host.name, host.crawl_delay_s)


def read_retry_after(value: str, now: float, settings: Settings) -> float | None:
    """Seconds to wait by a Retry-After field (seconds or a date), at most `max_retry_after_s`; None when unreadable."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:12]), settings.max_retry_after_s)
    moment = read_http_date(value) if value else None
    if moment is None:
        return None
    return min(max(moment.timestamp() - now, 0.0), settings.max_retry_after_s)


def _rest_s(name: str, errors: int, effect: Effect, settings: Settings, retry_after_s: float | None) -> float:
    """How long a host rests after this many errors in a row; 0: it does not."""
    if effect is Effect.TROUBLE and errors < settings.backoff_after:
        return 0.0
    doublings = errors - 1 if effect is Effect.STRAIN else errors - settings.backoff_after
    rest = settings.backoff_first_s * 2.0 ** min(doublings, _MAX_DOUBLINGS)
    rest = min(rest * (1 + _JITTER * _spread(f"{name} {errors}")), settings.backoff_max_s)
    if retry_after_s is None:
        return rest
    return retry_after_s if errors < settings.backoff_after else max(rest, retry_after_s)


def _spread(text: str) -> float:
    """A number in -1…1 that depends on the text alone, so that a run can be repeated."""
    return zlib.crc32(text.encode()) / 2**31 - 1
