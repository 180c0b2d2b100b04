"""Read the state of a catalogue, its frontier and its daemon: what `status`, `check` and `metrics` show."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import StatisticsError, correlation
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, and_, bindparam, case, func, or_, select

from geocrawl.model import BATCH_TIER, FrontierStats, Purpose, SourceState, State
from geocrawl.model.downtimes import Downtime
from geocrawl.model.watches import MOST_FAILURES, LateWatch
from geocrawl.sanitize import masked
from geocrawl.store.catalogue.downtimes import read_downtimes
from geocrawl.store.catalogue.read.sources import read_sources
from geocrawl.store.catalogue.write.doubt import Suspicion, suspicion
from geocrawl.store.database.connection import Connection, DatabaseSize, OpenSnapshot
from geocrawl.store.database.database import stored_fact, stored_strategy
from geocrawl.store.database.endpoints import DEVIATIONS, is_shown
from geocrawl.store.database.life import Owner, is_alive
from geocrawl.store.database.processes import (
    Holder,
    JobRun,
    counts_of_day,
    is_paused,
    read_holder,
    read_jobs,
    read_workers,
)
from geocrawl.store.database.schema.tables import (
    BLOCKED,
    ENDPOINT,
    HEALTH_EVENT,
    HOST,
    NOTICE,
    PROBE,
    RUN,
    SERVICE,
    URL,
    WATCH,
)
from geocrawl.store.frontier.budgets import QuarantinedSite, quarantined_sites
from geocrawl.store.frontier.counters import RESTING_S, read_refusals, read_stats
from geocrawl.store.frontier.lifecycle import KILLED
from geocrawl.wording import day_of


@dataclass(frozen=True, slots=True)
class RestingHost:
    """A host with queued URLs that backs off until `until`."""

    name: str
    until: float
    waiting: int
    errors: int


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A host whose services took more than a second to answer, on average."""

    name: str
    average_ms: float
    probes: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a crawl; `ended_at` is None while it runs, or when it was killed."""

    started_at: float
    ended_at: float | None
    owner: str
    strategy: str
    pages: int | None
    services: int | None
    stopped: str | None
    state: str
    """ended, runs or killed."""


@dataclass(frozen=True, slots=True)
class CatalogStatus:
    """The state of a catalogue, its frontier and its daemon."""

    running: bool
    """Whether a daemon runs on it."""
    daemon: Holder | None
    """The daemon that runs, or was killed: machine, process, since, heartbeat, what it does."""
    paused: bool
    jobs: tuple[JobRun, ...]
    """The jobs of the daemon that runs, the next one first."""
    today: Mapping[str, int]
    """The daemon's counts of this day (UTC): pages, probes, valid, failures, not modified, new endpoints, bytes
    received."""
    health: Mapping[str, int]
    """Endpoints that ever were valid, by health."""
    week: Mapping[str, int]
    """Endpoints that are `new`, `dead` or `back` since seven days ago, by their last change of health in that time."""
    due: int
    """Endpoints whose next probe is due."""
    next: Mapping[str, float]
    """`probe`, `page`, `retry` → when (seconds since the epoch) the next service is probed, page visited again,
    failed visit tried again; without those that never are."""
    last_visit_at: float | None
    """When the last visit was settled; None before the first one."""
    schema: str
    strategy: str
    order_agreement: float | None
    """Spearman's coefficient between the order of waiting pages and that of their priorities (gws eq. 4), over a sample
    by hash; None where one of both is the same for all."""
    frontier: FrontierStats
    resting: tuple[RestingHost, ...]
    """The ten hosts that are asked again first."""
    slow: tuple[SlowHost, ...]
    """The five slowest of the last thousand probes."""
    endpoints: Mapping[str, int]
    """By status: valid, invalid, unknown."""
    reasons: Mapping[str, int]
    """Endpoints that are not valid, by reason, the most frequent first."""
    tls: Mapping[str, int]
    """Valid endpoints whose server's TLS was not verified, by deviation (tls-expired …), the most frequent first."""
    refused: Mapping[str, int]
    """Refused pages and probes, by reason (robots, deny, trap:calendar …), the most frequent first."""
    held_sites: tuple[QuarantinedSite, ...]
    """Quarantined sites: they get no new visits until a person releases them."""
    blocked: int
    """Number of hosts that have opted out."""
    watched: Mapping[int, bool]
    """Services that are asked at an interval, by number → whether one of its addresses answers (alive or degraded)."""
    downtimes: tuple[Downtime, ...]
    """Downtimes that last now, planned or acknowledged."""
    watches_given_up: int
    """Watches whose notices could not be delivered ten times in a row."""
    watches_of_nothing: int
    """Watches of a service that is no longer in the catalogue."""
    watches_late: tuple[LateWatch, ...]
    """Watches whose notices do not arrive, at most ten, those with the most failures first; keys are masked."""
    watched_files: tuple[tuple[int, str, bool], ...]
    """Number of a watch that writes a file, the file, and whether it was written before; at most a hundred."""
    size: DatabaseSize
    open_snapshot: OpenSnapshot | None
    """What keeps the database from cleaning up; None for nothing."""
    services: int
    layers: int
    """Named layers."""
    runs: tuple[Run, ...]
    """The last five runs, newest first."""
    failures: tuple[tuple[str, str, float], ...]
    """(address without secrets, reason, time) of the last five visits that failed."""
    network: Suspicion | None
    """The suspicion that the network on the way answers in the place of services; None for none."""
    killers: tuple[str, ...]
    """Addresses without secrets that got processes killed twice while they were visited alone."""
    sources: tuple[SourceState, ...]
    """The last ten lists of records of other catalogues that were read, the latest first."""
    held: Mapping[str, int]
    """Sizes of the strategy's state at its last dump, such as the nodes of its graph; empty for most."""


_PROBED = (  # the last thousand probes that were answered by a whole document
    select(PROBE.c.endpoint_id, PROBE.c.elapsed_ms)
    .where(PROBE.c.http_status.is_not(None), PROBE.c.status != "unasked", PROBE.c.reason != "not-modified")
    .order_by(PROBE.c.id.desc())
    .limit(1000)
    .subquery("probed")
)
_MEAN_MS = func.avg(_PROBED.c.elapsed_ms)
_SLOW = (
    select(ENDPOINT.c.host, _MEAN_MS, func.count())
    .select_from(_PROBED.join(ENDPOINT, ENDPOINT.c.id == _PROBED.c.endpoint_id))
    .group_by(ENDPOINT.c.host)
    .having(_MEAN_MS >= 1000)
    .order_by(_MEAN_MS.desc())
    .limit(5)
)
_RESTING = (
    select(HOST.c.name, HOST.c.next_at, HOST.c.waiting, HOST.c.errors)
    .where(HOST.c.waiting > 0, HOST.c.lease_until == 0, HOST.c.parked == 1, HOST.c.next_at > bindparam("later"))
    .order_by(HOST.c.next_at)
    .limit(10)
)
_NUMBER = func.count().label("number")
_STATUS = func.coalesce(ENDPOINT.c.status, "unknown").label("verdict")
_ENDPOINTS = select(_STATUS, _NUMBER).where(is_shown(ENDPOINT)).group_by("verdict")
_REASON = func.coalesce(ENDPOINT.c.reason, "not asked yet").label("why")
_REASONS = (
    select(_REASON, _NUMBER)
    .where(is_shown(ENDPOINT), ENDPOINT.c.status.is_distinct_from("valid"))
    .group_by("why")
    .order_by(_NUMBER.desc(), "why")
)
_TLS = DEVIATIONS.where(ENDPOINT.c.deviations.like('%"tls-%'), DEVIATIONS.selected_columns.code.startswith("tls-"))
_SERVICES = select(func.count(), func.coalesce(func.sum(SERVICE.c.layer_count), 0))
_HEALTH = select(ENDPOINT.c.health, _NUMBER).where(ENDPOINT.c.last_ok.is_not(None)).group_by(ENDPOINT.c.health)
_WEEK_S = 7 * 86_400.0
_LAST_CHANGES = (
    select(func.min(HEALTH_EVENT.c.id).label("first"), func.max(HEALTH_EVENT.c.id).label("last"))
    .where(HEALTH_EVENT.c.at >= bindparam("since"))
    .group_by(HEALTH_EVENT.c.endpoint_id)
    .subquery("last_changes")
)
_FIRST_OF_WEEK = HEALTH_EVENT.alias("first_of_week")
_IS_UP = HEALTH_EVENT.c.after.in_(("alive", "degraded"))
_WAS_DEAD = HEALTH_EVENT.c.before.in_(("down", "gone")) | _FIRST_OF_WEEK.c.before.in_(("down", "gone"))
_WEEK = (
    select(
        func.count(case((and_(_IS_UP, _FIRST_OF_WEEK.c.before == "new"), 1))).label("new"),
        func.count(case((HEALTH_EVENT.c.after.in_(("down", "gone")), 1))).label("dead"),
        func.count(case((and_(_IS_UP, _WAS_DEAD), 1))).label("back"),
    )
    .select_from(_LAST_CHANGES)
    .join(HEALTH_EVENT, HEALTH_EVENT.c.id == _LAST_CHANGES.c.last)
    .join(_FIRST_OF_WEEK, _FIRST_OF_WEEK.c.id == _LAST_CHANGES.c.first)
)
_DUE = select(func.count()).where(ENDPOINT.c.due_at.is_not(None), ENDPOINT.c.due_at <= bindparam("now"))
_WATCHES = select(
    func.count(case((WATCH.c.failures >= MOST_FAILURES, 1))),
    func.count(case((and_(WATCH.c.service_id.is_not(None), WATCH.c.known == "{}"), 1))),
)
_ANSWERS = case((ENDPOINT.c.health.in_(("alive", "degraded")), 1), else_=0)
_WATCHED = (
    select(ENDPOINT.c.service_id, func.max(_ANSWERS))
    .where(ENDPOINT.c.every_s.is_not(None), ENDPOINT.c.service_id.is_not(None))
    .group_by(ENDPOINT.c.service_id)
    .order_by(ENDPOINT.c.service_id)
)
_LATE_S = 3600.0
_LATE_WATCHES = (
    select(
        *(WATCH.c.id, WATCH.c.recipient, func.count(NOTICE.c.id), func.min(NOTICE.c.at)),
        *(WATCH.c.failures, WATCH.c.retry_at, WATCH.c.last_error),
    )
    .select_from(WATCH.outerjoin(NOTICE, and_(NOTICE.c.watch_id == WATCH.c.id, NOTICE.c.sent_at.is_(None))))
    .group_by(WATCH.c.id)
    .having(or_(WATCH.c.last_error != "", func.min(NOTICE.c.at) < bindparam("before")))
    .order_by(WATCH.c.failures.desc(), WATCH.c.id)
    .limit(10)
)
_WATCHED_FILES = (
    select(WATCH.c.id, WATCH.c.recipient, WATCH.c.sent_at)
    .where(WATCH.c.recipient.like("file:%"))
    .order_by(WATCH.c.id)
    .limit(100)
)
_BLOCKED = select(func.count()).select_from(BLOCKED)


def _first(column: ColumnElement[float], *conditions: ColumnElement[bool]) -> ScalarSelect[float]:
    """Return the earliest time of a column, read from the first entry of an index."""
    return select(func.min(column)).where(column.is_not(None), *conditions).scalar_subquery()


_NEXT = select(
    _first(ENDPOINT.c.due_at).label("probe"),
    _first(URL.c.revisit_at).label("page"),
    *(_first(URL.c.retry_at, URL.c.purpose == purpose).label("retry") for purpose in Purpose),
)
_LAST_VISIT = select(func.max(URL.c.settled_at)).where(URL.c.settled_at.is_not(None))
_RUN_COLUMNS = ("started_at", "ended_at", "owner", "strategy", "pages", "services", "stopped")
_RUNS = select(*(RUN.c[name] for name in _RUN_COLUMNS)).order_by(RUN.c.id.desc()).limit(5)
_FAILURES = (
    select(URL.c.address, func.coalesce(URL.c.reason, ""), URL.c.settled_at)
    .with_hint(URL, "INDEXED BY url_failed", "sqlite")
    .where(URL.c.state == State.FAILED)
    .order_by(URL.c.settled_at.desc())
    .limit(5)
)


_KILLER = select(URL.c.address).where(URL.c.id == bindparam("url"), URL.c.state == State.FAILED, URL.c.reason == KILLED)
_SAMPLE = 5_000
"""Pages, waiting or not, among which the order of waiting ones is compared with that of their priorities."""
_SAMPLED = (
    select(URL.c.tier, URL.c.score, URL.c.sub_queue)
    .where(URL.c.key.between(-(2**63), bindparam("last")), URL.c.purpose == Purpose.PAGE, URL.c.state == State.WAITING)
    .where(URL.c.tier.between(0, BATCH_TIER - 1), URL.c.sub_queue.is_not(None))
)


def _order_agreement(connection: Connection, pages: int) -> float | None:
    """Return Spearman's coefficient of a sample of `pages` known pages, as `CatalogStatus` explains."""
    last = min(2**63 - 1, -(2**63) + 2**64 * _SAMPLE // max(pages, 1))
    rows = connection.execute(_SAMPLED, {"last": last}).fetchall()
    places = _places([row[:2] for row in rows]), _places([row[2] for row in rows])
    try:
        return correlation(*places)
    except StatisticsError:
        return None


def _places(values: Sequence[Any]) -> list[float]:
    """Return the place of each value in their order; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value)) / 2 for value in values]


def _runs(connection: Connection, now: float) -> tuple[Run, ...]:
    """Return the last runs, the latest first."""
    rows = connection.execute(_RUNS).fetchall()
    is_open = any(ended_at is None for _, ended_at, *_ in rows)
    working = {worker.process for worker in read_workers(connection, now)} if is_open else set()
    return tuple(_run(row, working) for row in rows)


def _run(row: tuple[Any, ...], working: Set[str]) -> Run:
    started_at, ended_at, text, strategy, pages, services, stopped = row
    owner = Owner.read(text)
    state = "ended"
    if ended_at is None:
        state = "runs" if owner.short in working else "killed"
    return Run(started_at, ended_at, owner.short, strategy, pages, services, stopped, state)


def read_status(connection: Connection, now: float) -> CatalogStatus:
    """Return the state at the time `now`; costs the same whatever the frontier's size."""
    services, layers = connection.execute(_SERVICES).fetchone()
    given_up, of_nothing = connection.execute(_WATCHES).fetchone()
    frontier = read_stats(connection, now)
    holder = read_holder(connection)
    running = holder is not None and is_alive(connection, holder.process, now)
    return CatalogStatus(
        running=running,
        daemon=holder,
        paused=is_paused(connection),
        jobs=read_jobs(connection) if running else (),
        today=counts_of_day(connection, day_of(now)),
        health=dict(connection.execute(_HEALTH).fetchall()),
        week=next(iter(connection.execute(_WEEK, {"since": now - _WEEK_S}).dicts())),
        due=connection.execute(_DUE, {"now": now}).fetchone()[0],
        next=_next(connection),
        last_visit_at=connection.execute(_LAST_VISIT).fetchone()[0],
        schema=connection.version() or "",
        strategy=stored_strategy(connection),
        order_agreement=_order_agreement(connection, sum(frontier.states.values())),
        frontier=frontier,
        resting=tuple(RestingHost(*row) for row in connection.execute(_RESTING, {"later": now + RESTING_S})),
        slow=tuple(SlowHost(*row) for row in connection.execute(_SLOW)),
        endpoints=dict(connection.execute(_ENDPOINTS).fetchall()),
        reasons=dict(connection.execute(_REASONS).fetchall()),
        tls=dict(connection.execute(_TLS).fetchall()),
        refused=read_refusals(connection),
        held_sites=quarantined_sites(connection),
        blocked=connection.execute(_BLOCKED).fetchone()[0],
        watched={number: bool(answers) for number, answers in connection.execute(_WATCHED)},
        downtimes=tuple(each for each in read_downtimes(connection) if each.end_at(now) is not None),
        watches_given_up=given_up,
        watches_of_nothing=of_nothing,
        watches_late=tuple(
            LateWatch(number, masked(recipient), *rest)
            for number, recipient, *rest in connection.execute(_LATE_WATCHES, {"before": now - _LATE_S})
        ),
        watched_files=_watched_files(connection),
        size=connection.size(),
        open_snapshot=connection.open_snapshot(),
        services=services,
        layers=layers,
        runs=_runs(connection, now),
        failures=tuple((masked(address), *rest) for address, *rest in connection.execute(_FAILURES)),
        network=suspicion(connection),
        killers=_killers(connection),
        sources=read_sources(connection, most=10),
        held=json.loads(stored_fact(connection, "strategy:counts") or "{}"),
    )


def _watched_files(connection: Connection) -> tuple[tuple[int, str, bool], ...]:
    rows = connection.execute(_WATCHED_FILES)
    return tuple((number, recipient.removeprefix("file:"), sent_at is not None) for number, recipient, sent_at in rows)


def _killers(connection: Connection) -> tuple[str, ...]:
    told = json.loads(stored_fact(connection, KILLED) or "[]")
    rows = (connection.execute(_KILLER, {"url": url_id}).fetchone() for url_id in dict.fromkeys(told))
    return tuple(masked(row[0]) for row in rows if row is not None)


def _next(connection: Connection) -> dict[str, float]:
    """Return the times by name."""
    probe, page, *retries = connection.execute(_NEXT).fetchone()
    times = {"probe": probe, "page": page, "retry": min((at for at in retries if at is not None), default=None)}
    return {what: at for what, at in times.items() if at is not None}
