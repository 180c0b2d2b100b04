"""Write candidates and verdicts into the catalogue, inside the frontier's transactions, and read what a crawl needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, bindparam, case, func, insert, literal, or_, select, union_all, update
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
"""Most pages stored for each endpoint: a link in a site's navigation is on every page of the site."""
_TEXT_CHARS = 500
_REMEMBERED_ENDPOINTS = 5_000

_THIS = ENDPOINT.c.id == bindparam("endpoint")
_ASKED = func.json_each(bindparam("asked")).table_valued("value")
"""A JSON list as a table."""
_EVIDENCE_COUNT = select(func.count()).where(EVIDENCE.c.endpoint_id == ENDPOINT.c.id).scalar_subquery()
# Endpoints by a JSON list of [kind, key].
_FIND = select(
    *(ENDPOINT.c.id, ENDPOINT.c.kind, ENDPOINT.c.key, _EVIDENCE_COUNT, ENDPOINT.c.weak),
    func.coalesce(ENDPOINT.c.reason, ""),
).select_from(
    _ASKED.join(
        ENDPOINT,
        and_(
            ENDPOINT.c.kind == func.json_extract(_ASKED.c.value, "$[0]"),
            ENDPOINT.c.key == func.json_extract(_ASKED.c.value, "$[1]"),
        ),
    )
)
_COUNT_EVIDENCE = (
    select(EVIDENCE.c.endpoint_id, func.count())
    .where(EVIDENCE.c.endpoint_id.in_(select(_ASKED.c.value)))
    .group_by(EVIDENCE.c.endpoint_id)
)
_HIGHEST_ID = select(func.coalesce(func.max(ENDPOINT.c.id), 0))
_ADD_ENDPOINT = insert(ENDPOINT)
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
# The last full answer is still valid: version, deviations, status and reason stay.
_WRITE_NOT_MODIFIED = update(ENDPOINT).where(_THIS).values(probes=ENDPOINT.c.probes + 1)
_WRITE_UNASKED = update(ENDPOINT).where(_THIS, ENDPOINT.c.status.is_(None))
_WAS_NAMED_OR_VALID = or_(ENDPOINT.c.weak < GUESSED, ENDPOINT.c.last_ok.is_not(None))
_COUNTS = union_all(
    select(literal("valid"), func.count()).where(ENDPOINT.c.status == "valid"),
    select(literal("invalid"), func.count()).where(ENDPOINT.c.status == "invalid", _WAS_NAMED_OR_VALID),
    select(literal("services"), func.count()).select_from(SERVICE),
    select(literal("layers"), func.coalesce(func.sum(SERVICE.c.layer_count), 0)),
)
_WAS_ANSWERED = (
    select(literal(1)).where(ENDPOINT.c.key == bindparam("key"), ENDPOINT.c.http_status.is_not(None)).limit(1)
)


@dataclass(slots=True)
class _Noted:
    """The row of an endpoint, as far as `note` needs it."""

    id: int
    pages: int
    """Number of stored pieces of evidence."""
    weakness: int


class Catalog:
    """The catalogue of one database. Methods that write, except `decide`, run inside the caller's transaction."""

    def __init__(self, database: Database, clock: Clock, segment: Segment = spaced) -> None:
        """`segment` splits texts into words for the index; a search must use the same (`queries.search`)."""
        self._database = database
        self._connection = database.connection
        self._clock = clock
        self._services = ServiceWriter(self._connection, segment)
        self._health = HealthWriter(self._connection)
        self._changes = ChangeWriter(self._connection)
        self._noted: TwoGenerations[tuple[Kind, str], _Noted] = TwoGenerations(_REMEMBERED_ENDPOINTS)
        database.on_undo(self._noted.clear)

    # ----------------------------------------------------------------------- writing

    def note(self, candidates: Sequence[Candidate], at: float) -> list[int]:
        """Store candidates and the pages that named them; return the endpoint id of each."""
        if not candidates:
            return []
        noted = self._read_or_add(candidates, at)
        endpoints = [noted[each.endpoint.kind, each.endpoint.key] for each in candidates]
        self._add_evidence(candidates, endpoints, at)
        for candidate, endpoint in zip(candidates, endpoints, strict=True):
            if endpoint.weakness == GUESSED and (weakness := _weakness(candidate)) < GUESSED:
                endpoint.weakness = weakness
                self._connection.run(_NAME_GUESSED, {"weak": weakness, "endpoint": endpoint.id, "at": at})
        return [endpoint.id for endpoint in endpoints]

    def _read_or_add(self, candidates: Sequence[Candidate], at: float) -> dict[tuple[Kind, str], _Noted]:
        """Return the endpoints of candidates by kind and key; new ones are added in the candidates' order."""
        noted: dict[tuple[Kind, str], _Noted] = {}
        unknown: dict[tuple[Kind, str], Candidate] = {}
        for candidate in candidates:
            name = (candidate.endpoint.kind, candidate.endpoint.key)
            if (known := self._noted.get(name)) is not None:
                noted[name] = known
            else:
                unknown.setdefault(name, candidate)
        if not unknown:
            return noted
        found = self._connection.run(_FIND, {"asked": json.dumps(list(unknown))}).fetchall()
        read = {(kind, key): _Noted(number, pages, weak) for number, kind, key, pages, weak, _ in found}
        new = {name: candidate for name, candidate in unknown.items() if name not in read}
        if new:
            highest = self._connection.run(_HIGHEST_ID).fetchone()[0]
            rows = [self._new_row(number, each, at) for number, each in enumerate(new.values(), highest + 1)]
            self._connection.run_many(_ADD_ENDPOINT, rows)
            for number, (name, candidate) in enumerate(new.items(), highest + 1):
                read[name] = _Noted(number, 0, _weakness(candidate))
        for name in unknown:
            noted[name] = read[name]
            self._noted.put(name, read[name])
        return noted

    def _add_evidence(self, candidates: Sequence[Candidate], endpoints: Sequence[_Noted], at: float) -> None:
        """Store where candidates were found, while their endpoints have room for more evidence."""
        rows, open_endpoints = [], dict[int, _Noted]()
        for candidate, endpoint in zip(candidates, endpoints, strict=True):
            if endpoint.pages >= MAX_EVIDENCE:
                continue
            endpoint.pages += 1
            open_endpoints[endpoint.id] = endpoint
            found = candidate.evidence
            rows.append(
                {
                    "endpoint_id": endpoint.id,
                    "signal": found.signal,
                    "page": found.page,
                    "link": found.link,
                    "anchor": found.anchor[:_TEXT_CHARS],
                    "at": at,
                }
            )
        if not rows:
            return
        self._connection.run_many(_ADD_EVIDENCE, rows)
        # Some rows may have been stored before, so the rows stored now are counted.
        counts = self._connection.run(_COUNT_EVIDENCE, {"asked": json.dumps(list(open_endpoints))})
        for endpoint_id, pages in counts.fetchall():
            open_endpoints[endpoint_id].pages = pages

    def write(self, endpoint_id: int, candidate: Candidate, verdict: Verdict, at: float) -> None:
        """Write the verdict of a probe, and the description of a valid service."""
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
        """Write that an endpoint answered "not modified" (304), which counts as a valid answer."""
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
        """Write that a probe was not allowed (robots.txt), which is neither valid nor invalid; a former verdict
        stays."""
        self._connection.run(_WRITE_UNASKED, {"endpoint": endpoint_id, "reason": reason})
        self._health.write_unasked(endpoint_id, at)

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Store a person's decision that two endpoints are one service, or are two, in a separate transaction."""
        with self._database.transaction:
            self._services.decide(one, other, same=same, at=at)

    @staticmethod
    def _new_row(endpoint_id: int, candidate: Candidate, at: float) -> dict[str, object]:
        endpoint, url = candidate.endpoint, candidate.endpoint.url
        return {
            "id": endpoint_id,
            "kind": endpoint.kind,
            "key": endpoint.key,
            "url": url.address,
            "host": url.host,
            "site": url.site,
            "weak": _weakness(candidate),
            "first_seen": at,
        }

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

    def verdicts_of(self, endpoints: Sequence[Endpoint]) -> dict[tuple[str, str], tuple[int, str]]:
        """Return id and last reason ('': no verdict yet) of those endpoints that are stored, by kind and key."""
        if not endpoints:
            return {}
        asked = json.dumps([(endpoint.kind, endpoint.key) for endpoint in endpoints])
        found = self._connection.run(_FIND, {"asked": asked}).fetchall()
        return {(kind, key): (number, reason) for number, kind, key, _, _, reason in found}

    def was_answered(self, key: str) -> bool:
        """Return whether an endpoint of this identity answered its last probe over HTTP, valid or not."""
        return self._connection.run(_WAS_ANSWERED, {"key": key}).fetchone() is not None


def _json(deviations: tuple[Deviation, ...]) -> str:
    return json.dumps([{"code": d.code, "detail": d.detail} for d in deviations], ensure_ascii=False)


def _weakness(candidate: Candidate) -> int:
    """Return `endpoint.weak`: 2 guessed from another endpoint, 1 known by its path alone, 0 named by a link."""
    return GUESSED if candidate.evidence.signal == SIBLING else int(candidate.weak)
