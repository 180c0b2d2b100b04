"""Write what pages and probes say of endpoints, inside the frontier's transactions, and read back what is known."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import bindparam, case, func, insert, literal, or_, select, union_all, update
from sqlalchemy.dialects import sqlite

from geocrawl.model import (
    SIBLING,
    Candidate,
    Deviation,
    Endpoint,
    Evidence,
    Kind,
    Service,
    Status,
    Url,
    Verdict,
    Visit,
    stored_kind,
)
from geocrawl.ports import Clock
from geocrawl.store.cache import TwoGenerations
from geocrawl.store.catalog.changes import ChangeWriter
from geocrawl.store.catalog.health import GUESSED, HealthWriter
from geocrawl.store.catalog.index_words import Segment, spaced
from geocrawl.store.catalog.services import ServiceWriter
from geocrawl.store.engine.database import Database
from geocrawl.store.schema.tables import ENDPOINT, EVIDENCE, PROBE, SERVICE
from geocrawl.urls import read_url

MAX_EVIDENCE = 20
"""Pages kept for each endpoint: a link in a site's navigation stands on every page of it."""
_TEXT_CHARS = 500
_REMEMBERED_ENDPOINTS = 5_000

_THIS = ENDPOINT.c.id == bindparam("endpoint")
_FIND = select(
    ENDPOINT.c.id,
    select(func.count()).where(EVIDENCE.c.endpoint_id == ENDPOINT.c.id).scalar_subquery(),
    ENDPOINT.c.weak,
).where(ENDPOINT.c.kind == bindparam("kind"), ENDPOINT.c.key == bindparam("key"))
_ADD_ENDPOINT = insert(ENDPOINT).returning(ENDPOINT.c.id)
_ADD_EVIDENCE = sqlite.insert(EVIDENCE).on_conflict_do_nothing()
# A page or a person names what was only guessed: if it was probed in vain, it is probed again from now on.
_NAME_GUESSED = (
    update(ENDPOINT)
    .where(_THIS)
    .values(
        due_at=case(
            (ENDPOINT.c.last_probe.is_(None), ENDPOINT.c.due_at),
            else_=func.coalesce(ENDPOINT.c.due_at, bindparam("at")),
        )
    )
)
_FIRST_EVIDENCE = (
    select(
        *(ENDPOINT.c.kind, ENDPOINT.c.key, ENDPOINT.c.url, ENDPOINT.c.weak),
        *(EVIDENCE.c.signal, EVIDENCE.c.page, EVIDENCE.c.link, EVIDENCE.c.anchor),
    )
    .select_from(ENDPOINT.outerjoin(EVIDENCE, EVIDENCE.c.endpoint_id == ENDPOINT.c.id))
    .where(_THIS)
    .order_by(EVIDENCE.c.id)
    .limit(1)
)
_ADD_PROBE = insert(PROBE)
# The version and the service of the last valid answer stay while the endpoint is invalid.
_WRITE_VERDICT = (
    update(ENDPOINT)
    .where(_THIS)
    .values(
        version=func.coalesce(bindparam("valid_version"), ENDPOINT.c.version),
        last_ok=func.coalesce(bindparam("valid_at"), ENDPOINT.c.last_ok),
        probes=ENDPOINT.c.probes + 1,
    )
)
# What was read last still holds: version, deviations, status and reason stay.
_WRITE_NOT_MODIFIED = update(ENDPOINT).where(_THIS).values(probes=ENDPOINT.c.probes + 1)
_WRITE_UNASKED = update(ENDPOINT).where(_THIS, ENDPOINT.c.status.is_(None))
_WAS_NAMED_OR_VALID = or_(ENDPOINT.c.weak < GUESSED, ENDPOINT.c.last_ok.is_not(None))
_COUNTS = union_all(
    select(literal("valid"), func.count()).where(ENDPOINT.c.status == "valid"),
    select(literal("invalid"), func.count()).where(ENDPOINT.c.status == "invalid", _WAS_NAMED_OR_VALID),
    select(literal("services"), func.count()).select_from(SERVICE),
    select(literal("layers"), func.coalesce(func.sum(SERVICE.c.layer_count), 0)),
)
_VERDICT_OF = select(ENDPOINT.c.id, func.coalesce(ENDPOINT.c.reason, "")).where(
    ENDPOINT.c.kind == bindparam("kind"), ENDPOINT.c.key == bindparam("key")
)
_WAS_ANSWERED = (
    select(literal(1)).where(ENDPOINT.c.key == bindparam("key"), ENDPOINT.c.http_status.is_not(None)).limit(1)
)


class Catalog:
    """The catalogue of one database. Methods that write belong into a transaction of the caller, but for `decide`."""

    def __init__(self, database: Database, clock: Clock, segment: Segment = spaced) -> None:
        """`segment` splits texts into words for the index; a search must use the same (`queries.search`)."""
        self._database = database
        self._connection = database.connection
        self._clock = clock
        self._services = ServiceWriter(self._connection, segment)
        self._health = HealthWriter(self._connection)
        self._changes = ChangeWriter(self._connection)
        self._noted: TwoGenerations[tuple[Kind, str], list[int]] = TwoGenerations(_REMEMBERED_ENDPOINTS)
        database.on_undo(self._noted.clear)

    # ----------------------------------------------------------------------- writing

    def note(self, candidate: Candidate, at: float) -> int:
        """Keep a candidate and the page that named it; return the endpoint's id."""
        endpoint = candidate.endpoint
        noted = self._noted.get((endpoint.kind, endpoint.key))
        if noted is None:
            found = self._connection.run(_FIND, {"kind": endpoint.kind, "key": endpoint.key}).fetchone()
            noted = [*found] if found else [self._add(candidate, at), 0, _weakness(candidate)]
            self._noted.put((endpoint.kind, endpoint.key), noted)
        endpoint_id, pages, weakness = noted
        if pages < MAX_EVIDENCE:
            noted[1] += self._add_evidence(endpoint_id, candidate.evidence, at)
        if weakness == GUESSED and (now := _weakness(candidate)) < GUESSED:
            noted[2] = now
            self._connection.run(_NAME_GUESSED, {"weak": now, "endpoint": endpoint_id, "at": at})
        return endpoint_id

    def write(self, endpoint_id: int, candidate: Candidate, verdict: Verdict, at: float) -> None:
        """Write the verdict of a probe, and what a valid endpoint describes."""
        service = verdict.service if verdict.status is Status.VALID else None
        said = {
            "status": verdict.status,
            "reason": verdict.reason,
            "detail": verdict.detail[:_TEXT_CHARS],
            "http_status": verdict.http_status,
            "deviations": _json(verdict.deviations),
        }
        answered = {
            "content_type": verdict.content_type,
            "first_bytes": verdict.first_bytes,
            "elapsed_ms": verdict.elapsed_ms,
            "requests": verdict.requests,
        }
        self._connection.run(_ADD_PROBE, {"endpoint_id": endpoint_id, "at": at, **said, **answered})
        self._health.write_probe(endpoint_id, ok=service is not None, reason=verdict.reason, at=at)
        valid = {"valid_version": service.version if service else None, "valid_at": at if service else None}
        self._connection.run(_WRITE_VERDICT, {"endpoint": endpoint_id, "last_probe": at, **said, **valid})
        if service is not None:
            self._describe(endpoint_id, candidate.endpoint, service, at)
        else:
            self._services.choose_best(endpoint_id)

    def write_not_modified(self, endpoint_id: int, visit: Visit) -> None:
        """Write that an endpoint still says what it said when it was last read whole: it is well."""
        probe = {
            "endpoint_id": endpoint_id,
            "at": visit.at,
            "status": Status.VALID,
            "reason": visit.reason,
            "detail": "",
            "http_status": visit.http_status,
            "content_type": "",
            "first_bytes": "",
            "elapsed_ms": visit.elapsed_ms,
            "requests": 1,
            "deviations": "[]",
        }
        self._connection.run(_ADD_PROBE, probe)
        self._health.write_probe(endpoint_id, ok=True, reason=visit.reason, at=visit.at)
        times = {"last_probe": visit.at, "last_ok": visit.at}
        self._connection.run(_WRITE_NOT_MODIFIED, {"endpoint": endpoint_id, **times})
        self._services.confirm(endpoint_id, visit.at)

    def write_unasked(self, endpoint_id: int, reason: str, at: float) -> None:
        """Write that an endpoint could not be asked (robots.txt), neither valid nor invalid; a former verdict stays."""
        self._connection.run(_WRITE_UNASKED, {"endpoint": endpoint_id, "reason": reason})
        self._health.write_unasked(endpoint_id, at)

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Keep a person's word that two endpoints are one service, or are not; in a transaction of its own."""
        with self._database.transaction:
            self._services.decide(one, other, same=same, at=at)

    def _add(self, candidate: Candidate, at: float) -> int:
        endpoint, url = candidate.endpoint, candidate.endpoint.url
        row = {
            "kind": endpoint.kind,
            "key": endpoint.key,
            "url": url.address,
            "host": url.host,
            "site": url.site,
            "weak": _weakness(candidate),
            "first_seen": at,
        }
        return int(self._connection.run(_ADD_ENDPOINT, row).fetchone()[0])

    def _add_evidence(self, endpoint_id: int, found: Evidence, at: float) -> int:
        """Return how many rows that made: 0 when this link of this page is known."""
        row = {
            "endpoint_id": endpoint_id,
            "signal": found.signal,
            "page": found.page,
            "link": found.link,
            "anchor": found.anchor[:_TEXT_CHARS],
            "at": at,
        }
        return self._connection.run(_ADD_EVIDENCE, row).rowcount

    def _describe(self, endpoint_id: int, endpoint: Endpoint, service: Service, at: float) -> None:
        former = self._services.last_described_by(endpoint_id)
        if former is not None:
            self._changes.write(endpoint_id, former, service, at)
        self._services.write(service, endpoint_id, endpoint, at)

    # ----------------------------------------------------------------------- reading back

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of valid and invalid endpoints, of services and of their named layers."""
        return dict(self._connection.run(_COUNTS).fetchall())

    def candidate(self, endpoint_id: int) -> Candidate:
        """Return the candidate that an endpoint was first known as."""
        row = self._connection.run(_FIRST_EVIDENCE, {"endpoint": endpoint_id}).fetchone()
        kind, key, address, weak, *found = row
        url: Url | None = read_url(address)
        assert url is not None, "an address that was written by read_url is read by it"
        evidence = Evidence(*found) if found[0] is not None else Evidence("")
        return Candidate(Endpoint(stored_kind(kind), key, url), evidence, weak == 1)

    def verdict_of(self, endpoint: Endpoint) -> tuple[int, str]:
        """Return the id and the last reason of an endpoint: 0 when it is not known, '' when it has no verdict yet."""
        row = self._connection.run(_VERDICT_OF, {"kind": endpoint.kind, "key": endpoint.key}).fetchone()
        return (row[0], row[1]) if row else (0, "")

    def was_answered(self, key: str) -> bool:
        """Return whether an endpoint of this identity answered its last probe over HTTP, whatever it said."""
        return self._connection.run(_WAS_ANSWERED, {"key": key}).fetchone() is not None


def _json(deviations: tuple[Deviation, ...]) -> str:
    return json.dumps([{"code": d.code, "detail": d.detail} for d in deviations], ensure_ascii=False)


def _weakness(candidate: Candidate) -> int:
    """Return `endpoint.weak`: 2 guessed beside another endpoint, 1 known by its path alone, 0 named."""
    return GUESSED if candidate.evidence.signal == SIBLING else int(candidate.weak)
