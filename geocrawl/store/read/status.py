"""Read the state of a catalogue, its frontier and its daemon: what `status`, `check` and `metrics` show.

Plain SQL: `geocrawl status` starts in a moment because it imports neither SQLModel nor SQLAlchemy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geocrawl.model import FrontierStats
from geocrawl.sanitize import masked
from geocrawl.store.engine.connection import Connection, OpenSnapshot, Size
from geocrawl.store.engine.database import stored_fact, stored_strategy
from geocrawl.store.engine.owner import Owner, is_dead, this_process
from geocrawl.store.frontier.budgets import QuarantinedSite, quarantined_sites
from geocrawl.store.frontier.counters import read_refusals, read_stats
from geocrawl.store.read.processes import (
    Holder,
    JobRun,
    counts_of_day,
    is_paused,
    read_holder,
    read_jobs,
    read_workers,
)
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
    """ended, runs, killed, seen (it says it runs where this process cannot look), or unknown (it may run there)."""


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
    due: int
    """Endpoints whose next probe is due."""
    next: Mapping[str, float]
    """`probe`, `page`, `retry` → when (seconds since the epoch) the next service is probed, page visited again,
    failed visit tried again; without those of which there are none."""
    schema: str
    strategy: str
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
    size: Size
    open_snapshot: OpenSnapshot | None
    """What keeps the database from cleaning up; None for nothing."""
    services: int
    layers: int
    """Named layers."""
    runs: tuple[Run, ...]
    """The last five runs, newest first."""
    failures: tuple[tuple[str, str, float], ...]
    """(address without secrets, reason, time) of the last five visits that failed."""
    held: Mapping[str, int]
    """Sizes of the strategy's state at its last dump, such as the nodes of its graph; empty for most."""


# Of the last thousand probes that were answered by a whole document.
_SLOW = """
SELECT e.host, avg(p.elapsed_ms), count(*) FROM
  (SELECT endpoint_id, elapsed_ms FROM probe WHERE http_status IS NOT NULL AND reason <> 'not-modified'
   ORDER BY id DESC LIMIT 1000) p
JOIN endpoint e ON e.id = p.endpoint_id GROUP BY e.host HAVING avg(p.elapsed_ms) >= 1000 ORDER BY 2 DESC LIMIT 5"""
_RESTING = """
SELECT name, next_at, waiting, errors FROM host
WHERE waiting > 0 AND lease_until = 0 AND parked = 1 AND next_at > ? ORDER BY next_at LIMIT 10"""
# An endpoint that was only guessed and never worked is not shown.
_ENDPOINTS = """
SELECT coalesce(status, 'unknown'), count(*) FROM endpoint WHERE weak < 2 OR last_ok IS NOT NULL GROUP BY 1"""
_REASONS = """
SELECT coalesce(reason, 'not asked yet'), count(*) FROM endpoint
WHERE status IS NOT 'valid' AND (weak < 2 OR last_ok IS NOT NULL)
GROUP BY 1 ORDER BY 2 DESC, 1"""
_TLS = """
SELECT json_extract(one.value, '$.code'), count(*) FROM endpoint, json_each(endpoint.deviations) one
WHERE status = 'valid' AND deviations LIKE '%"tls-%'
  AND json_extract(one.value, '$.code') LIKE 'tls-%' GROUP BY 1 ORDER BY 2 DESC, 1"""
_SERVICES = "SELECT count(*), coalesce(sum(layer_count), 0) FROM service"
_HEALTH = "SELECT health, count(*) FROM endpoint WHERE last_ok IS NOT NULL GROUP BY 1"
_DUE = "SELECT count(*) FROM endpoint WHERE due_at IS NOT NULL AND due_at <= ?"
_NEXT = {
    "probe": "SELECT min(due_at) FROM endpoint WHERE due_at IS NOT NULL",
    "page": "SELECT min(revisit_at) FROM url WHERE revisit_at IS NOT NULL",
    "retry": "SELECT min((SELECT min(retry_at) FROM url WHERE retry_at IS NOT NULL AND purpose = p.column1)) "
    "FROM (VALUES ('page'), ('probe')) p",
}
_RUNS = "SELECT started_at, ended_at, owner, strategy, pages, services, stopped FROM run ORDER BY id DESC LIMIT 5"
_FAILURES = """
SELECT address, coalesce(reason, ''), settled_at FROM url INDEXED BY url_failed WHERE state = 'failed'
ORDER BY settled_at DESC LIMIT 5"""


def _runs(connection: Connection, now: float) -> tuple[Run, ...]:
    """Return the last runs, the latest first."""
    rows = connection.execute(_RUNS).fetchall()
    is_open = any(ended_at is None for _, ended_at, *_ in rows)
    working = {each.process: each.state for each in read_workers(connection, now)} if is_open else {}
    return tuple(_run(row, working) for row in rows)


def _run(row: tuple[Any, ...], working: Mapping[str, str]) -> Run:
    started_at, ended_at, text, strategy, pages, services, stopped = row
    owner = Owner.read(text)
    state = "ended"
    if ended_at is None:
        state = working.get(owner.short) or ("killed" if is_dead(text, this_process()) else "unknown")
    return Run(started_at, ended_at, owner.short, strategy, pages, services, stopped, state)


def read_status(connection: Connection, now: float) -> CatalogStatus:
    """Return the state at the time `now`; costs the same whatever the frontier's size."""
    services, layers = connection.execute(_SERVICES).fetchone()
    holder = read_holder(connection)
    running = holder is not None and not holder.is_dead(now)
    return CatalogStatus(
        running=running,
        daemon=holder,
        paused=is_paused(connection),
        jobs=read_jobs(connection) if running else (),
        today=counts_of_day(connection, day_of(now)),
        health=dict(connection.execute(_HEALTH).fetchall()),
        due=connection.execute(_DUE, (now,)).fetchone()[0],
        next=_next(connection),
        schema=connection.execute("SELECT version_num FROM alembic_version").fetchone()[0],
        strategy=stored_strategy(connection),
        frontier=read_stats(connection, now),
        resting=tuple(RestingHost(*row) for row in connection.execute(_RESTING, (now + 60,))),
        slow=tuple(SlowHost(*row) for row in connection.execute(_SLOW)),
        endpoints=dict(connection.execute(_ENDPOINTS).fetchall()),
        reasons=dict(connection.execute(_REASONS).fetchall()),
        tls=dict(connection.execute(_TLS).fetchall()),
        refused=read_refusals(connection),
        held_sites=quarantined_sites(connection),
        blocked=connection.execute("SELECT count(*) FROM blocked").fetchone()[0],
        size=connection.size(),
        open_snapshot=connection.open_snapshot(),
        services=services,
        layers=layers,
        runs=_runs(connection, now),
        failures=tuple((masked(address), *rest) for address, *rest in connection.execute(_FAILURES)),
        held=json.loads(stored_fact(connection, "strategy:counts") or "{}"),
    )


def last_visit_at(connection: Connection) -> float | None:
    """Return when the last visit was settled, in seconds since the epoch; None before the first visit."""
    row = connection.execute("SELECT max(settled_at) FROM url WHERE settled_at IS NOT NULL").fetchone()
    return None if row[0] is None else float(row[0])


def _next(connection: Connection) -> dict[str, float]:
    """Return the times by name, each read from the first entry of an index."""
    times = {what: connection.execute(statement).fetchone()[0] for what, statement in _NEXT.items()}
    return {what: at for what, at in times.items() if at is not None}
