"""Hold failures unconfirmed while the network on the way may have answered in the place of services.

A login page, a company's filter or a provider's block page answers for many hosts alike, and a network that is down
fails for all. So a failure of a service that was well is compared with the probes of the last day, and with those since
it was seen failing: when another site (registered domain) failed in the same way, and no third one was valid since, the
failure is held; in another way, when it was well until then and nobody was valid since the service itself was asked
last. It is stored as a probe without a verdict, so nothing has to be undone. A few services that were well last, of
other sites, become due at once, and the held one is asked again after six hours: its failure counts as soon as one of
other sites was valid since. So hosts that are all parked at one registrar are told dead a day or two later, and the
services behind a login page never. A service that is watched in minutes fails three times before others are asked at
their pace: its third failure is held until one of the controls, which become due with it, has answered, for an hour at
most. All hosts of one site have one vote: a provider that is down is no fault of the network.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import bindparam, exists, func, select, update

from geocrawl.model.health import DAY_S, HOUR_S, Health, second_look_s
from geocrawl.sanitize import masked, plain
from geocrawl.store.catalogue.write.health import FILTERED
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import ENDPOINT, PROBE

NETWORK = "network"
"""Reason of a probe whose answer is held: the network on the way may have given it."""
HELD_S = 6 * HOUR_S
"""A held failure is looked at again after this time."""
_COMPARED = 2_000
"""Number of the last probes that a failure is compared with."""
_FIRST = 100
_WINDOW_S = DAY_S
_CONTROLS = 3
_CONTROL_S = HOUR_S
"""A control is asked at most once in this time."""
_JUDGED = (Health.ALIVE, Health.DEGRADED, Health.UNCONFIRMED)
_OWN_WORDS = frozenset({"exception", "other-kind"})
"""Reasons that only a service gives: nobody on the way speaks like that."""
_BREAKS, _LETTERS = re.compile(r"[\s\"'<>]+"), re.compile(r"[^\W\d_]+")
_ODD = re.compile(r"\d|://")
"""Marks words that differ from visitor to visitor: numbers, tokens, addresses."""
_LATEST = (
    select(
        *(PROBE.c.endpoint_id, PROBE.c.at, PROBE.c.status, PROBE.c.reason, PROBE.c.detail, PROBE.c.http_status),
        *(PROBE.c.first_bytes, ENDPOINT.c.host, ENDPOINT.c.site, ENDPOINT.c.health, ENDPOINT.c.in_a_row),
    )
    .join_from(PROBE, ENDPOINT, ENDPOINT.c.id == PROBE.c.endpoint_id)
    .order_by(PROBE.c.id.desc())
    .limit(bindparam("most"))
    .offset(bindparam("skipped"))
)


def _since_ok(first_or_last: Callable[..., Any]) -> Any:
    """Return the time of the first or the last probe of an endpoint since it was valid."""
    probes = select(first_or_last(PROBE.c.at)).where(PROBE.c.endpoint_id == ENDPOINT.c.id)
    return probes.where(PROBE.c.at > ENDPOINT.c.last_ok).scalar_subquery()


_ENDPOINT = select(
    *(ENDPOINT.c.host, ENDPOINT.c.site, ENDPOINT.c.last_ok, ENDPOINT.c.health, ENDPOINT.c.every_s),
    *(ENDPOINT.c.in_a_row, _since_ok(func.min), _since_ok(func.max)),
).where(ENDPOINT.c.id == bindparam("endpoint"))
_asked_lately = exists().where(PROBE.c.endpoint_id == ENDPOINT.c.id, PROBE.c.at > bindparam("lately"))
_put_off = exists().where(
    PROBE.c.endpoint_id == ENDPOINT.c.id, PROBE.c.at > ENDPOINT.c.last_ok, PROBE.c.reason != NETWORK
)
_WELL = (
    select(ENDPOINT.c.id, ENDPOINT.c.site)
    .where(ENDPOINT.c.health == Health.ALIVE, ENDPOINT.c.site != bindparam("site"))
    .where(ENDPOINT.c.due_at.is_not(None), ~_asked_lately, ~_put_off)
    .order_by(ENDPOINT.c.last_ok.desc(), ENDPOINT.c.id)
    .limit(4 * _CONTROLS)
)
"""Find services of other sites that were well last and that nobody has asked within the hour. One that has asked for
patience since its last good answer is left alone."""
_SITES = select(func.count(ENDPOINT.c.site.distinct())).where(ENDPOINT.c.health.in_(_JUDGED))
_MAKE_DUE = (
    update(ENDPOINT)
    .where(ENDPOINT.c.id == bindparam("endpoint"), ENDPOINT.c.due_at > bindparam("at"))
    .values(due_at=bindparam("at"))
)


class _Answer(NamedTuple):
    """A row of `_LATEST`."""

    endpoint_id: int
    at: float
    status: str
    reason: str
    detail: str
    http_status: int | None
    first_bytes: str
    host: str
    site: str
    health: str
    in_a_row: int
    """Successes (positive) or failures of the endpoint in a row (`model.health.Condition`)."""

    @property
    def is_held(self) -> bool:
        return self.reason == NETWORK

    @property
    def is_failure(self) -> bool:
        return self.status == "invalid" or self.is_held

    @property
    def is_surprise(self) -> bool:
        """Return whether it is the failure of an endpoint that was well until then."""
        return self.is_held or (self.is_failure and self.health == Health.DEGRADED and self.in_a_row == -1)

    @property
    def signature(self) -> tuple[int | None, str, str]:
        """Return what equal answers for several hosts share: status, reason, and the beginning of the page without
        addresses and words that contain digits, or the host to which it redirects, or the filter."""
        reason, detail = self.detail.split(" ", 1) if self.is_held else (self.reason, self.detail)
        if reason == "moved":
            return self.http_status, reason, urlsplit(detail).hostname or ""
        if reason == FILTERED:
            return self.http_status, reason, detail
        words = (word for word in _BREAKS.split(self.first_bytes) if self.host not in word and not _ODD.search(word))
        return self.http_status, reason, " ".join(_LETTERS.findall(" ".join(words).casefold()))


class Suspicion(NamedTuple):
    """The suspicion that the network on the way answers in the place of services."""

    hosts: tuple[str, ...]
    """The hosts whose failures are held or alike, sorted."""
    answer: str
    """The answer that these hosts share: its reason, and the beginning of the page."""


def hold_s(connection: Connection, endpoint_id: int, result: Mapping[str, object], at: float) -> float | None:
    """Return for how many seconds the failure `result` (columns of a probe) of an endpoint at time `at` is to be held;
    None when it counts. A service that is watched at an interval is held no longer than that.

    Makes controls due when no other site is known to have been valid lately.
    """
    row = connection.execute(_ENDPOINT, {"endpoint": endpoint_id}).fetchone()
    host, site, last_ok, health, every_s, in_a_row, first_failed_at, last_failed_at = row
    if last_ok is None or health not in _JUDGED or result["reason"] in _OWN_WORDS:
        return None
    columns = {name: result.get(name) or "" for name in ("status", "reason", "detail", "first_bytes")}
    columns |= {"host": host, "site": site, "health": health}
    failure = _Answer(endpoint_id, at, http_status=result["http_status"], in_a_row=0, **columns)  # type: ignore[arg-type]
    is_held = _is_doubtful(failure, _latest(connection, since=min(at - _WINDOW_S, last_failed_at or at)))
    if is_held:
        _call_controls(connection, site, at)
        return min(HELD_S, every_s or HELD_S)
    if every_s and in_a_row <= -2 and at - first_failed_at < _CONTROL_S:
        is_sure = _was_well(connection, site, first_failed_at)
        if not is_sure and _call_controls(connection, site, at, first_failed_at):
            return second_look_s(every_s)
    look_around(connection, endpoint_id, at)
    return None


def look_around(connection: Connection, endpoint_id: int, at: float) -> None:
    """Make controls due when no other site than an endpoint's is known to have been valid lately."""
    _, site, *_ = connection.execute(_ENDPOINT, {"endpoint": endpoint_id}).fetchone()
    if not _was_well(connection, site, at - _CONTROL_S):
        _call_controls(connection, site, at)


def _was_well(connection: Connection, beside: str, since: float) -> bool:
    """Return whether another site was valid since a time."""
    return any(_is_well(answer, beside) for answer in _latest(connection, since))


def _is_doubtful(failure: _Answer, latest: Iterator[_Answer]) -> bool:
    """Return whether nobody of another site was valid since the endpoint's last failure was held, or since the same
    failure was seen at another site; or any failure of one that was well, and nobody was valid since the endpoint was
    asked. `latest`: the last probes, the newest first."""
    is_alike = is_surprise = False
    for answer in latest:
        if answer.endpoint_id == failure.endpoint_id:
            return answer.is_held or is_alike or is_surprise
        if _is_well(answer, failure.site):
            break
        if answer.is_failure and answer.site != failure.site:
            is_alike |= answer.signature == failure.signature
            is_surprise |= answer.is_surprise
    before = (answer.is_held for answer in latest if answer.endpoint_id == failure.endpoint_id)
    return is_alike and not next(before, False)


def _is_well(answer: _Answer, beside: str) -> bool:
    return answer.status == "valid" and answer.site != beside


def _call_controls(connection: Connection, site: str, at: float, unasked_since: float | None = None) -> bool:
    """Make up to three endpoints of other sites, one a site, due at once that nobody has asked since a time, an hour
    ago by default; return whether there are some."""
    lately = at - _CONTROL_S if unasked_since is None else unasked_since
    rows = connection.execute(_WELL, {"site": site, "lately": lately}).fetchall()
    controls = {site: endpoint_id for endpoint_id, site in reversed(rows)}
    for endpoint_id in list(controls.values())[-_CONTROLS:]:
        connection.execute(_MAKE_DUE, {"endpoint": endpoint_id, "at": at})
    return bool(controls)


def suspicion(connection: Connection) -> Suspicion | None:
    """Return the suspicion by the probes since the last valid one: a failure is held, or one filter refuses us at
    several sites; None for none."""
    answers = list(takewhile(lambda answer: answer.status != "valid", _latest(connection)))
    shown = next((answer for answer in answers if answer.is_held), None) or _shared_filter(connection, answers)
    if shown is None:
        return None
    hosts = {answer.host for answer in answers if answer.is_held or answer.signature == shown.signature}
    said = shown.first_bytes and f", {plain(masked(shown.first_bytes), 60)!r}"
    return Suspicion(tuple(sorted(hosts)), f"{plain(masked(shown.detail), 80).strip()}{said}")


def _shared_filter(connection: Connection, answers: Iterable[_Answer]) -> _Answer | None:
    """Return the answer of a filter that refuses us alike at a site and its controls, or at all; None for none."""
    refused = defaultdict[object, dict[str, _Answer]](dict)
    for answer in answers:
        if answer.reason == FILTERED:
            refused[answer.signature].setdefault(answer.site, answer)
    of_sites = max(refused.values(), key=len, default={})
    if len(of_sites) < 2 or len(of_sites) < min(1 + _CONTROLS, connection.execute(_SITES).fetchone()[0]):
        return None
    return next(iter(of_sites.values()))


def _latest(connection: Connection, since: float = 0.0) -> Iterator[_Answer]:
    """Yield the last probes since a time, the newest first. The first hundred mostly decide."""
    for skipped, most in ((0, _FIRST), (_FIRST, _COMPARED - _FIRST)):
        for row in connection.execute(_LATEST, {"skipped": skipped, "most": most}).fetchall():
            if (answer := _Answer(*row)).at < since:
                return
            yield answer
