"""Write candidates and verdicts into the catalogue, inside the frontier's transactions, and read what a crawl needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geocrawl.model import (
    SIBLING,
    Candidate,
    ContentReport,
    Deviation,
    Endpoint,
    Evidence,
    Kind,
    Service,
    Status,
    Verdict,
    Visit,
    stored_kind,
)
from geocrawl.ports import Clock
from geocrawl.sanitize import masked
from geocrawl.store.catalog import statements as sql
from geocrawl.store.catalog.changes import ChangeWriter
from geocrawl.store.catalog.health import GUESSED, HealthWriter
from geocrawl.store.catalog.services import ServiceWriter, without_secrets
from geocrawl.store.engine.clauses import insert
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.keys import stored_url

MAX_EVIDENCE = 20
"""Most pages stored for each endpoint: a link in a site's navigation is on every page of the site."""
_TEXT_CHARS = 500
_REMEMBERED_ENDPOINTS = 5_000


@dataclass(slots=True)
class _Noted:
    """The row of an endpoint, as far as `note` needs it."""

    id: int
    pages: int
    """Number of stored pieces of evidence."""
    weakness: int


class Catalog:
    """The catalogue of one database. Methods that write, except `decide`, run inside the caller's transaction."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._connection = database.connection
        self._clock = clock
        self._services = ServiceWriter(self._connection)
        self._health = HealthWriter(self._connection)
        self._changes = ChangeWriter(self._connection)
        self._noted: dict[tuple[Kind, str], _Noted] = {}
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
                self._connection.execute(sql.NAME_GUESSED, {"weak": weakness, "endpoint": endpoint.id, "at": at})
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
        found = self._connection.execute(sql.FIND_ENDPOINTS, {"asked": json.dumps(list(unknown))}).fetchall()
        read = {(kind, key): _Noted(number, pages, weak) for number, kind, key, pages, weak, _ in found}
        new = {name: candidate for name, candidate in unknown.items() if name not in read}
        if new:
            highest = self._connection.execute(sql.HIGHEST_ENDPOINT).fetchone()[0]
            rows = [self._new_row(number, each, at) for number, each in enumerate(new.values(), highest + 1)]
            self._connection.executemany(insert("endpoint", rows[0]), rows)
            for number, (name, candidate) in enumerate(new.items(), highest + 1):
                read[name] = _Noted(number, 0, _weakness(candidate))
        if len(self._noted) + len(unknown) > _REMEMBERED_ENDPOINTS:
            self._noted.clear()
        for name in unknown:
            noted[name] = self._noted[name] = read[name]
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
        self._connection.executemany(insert("evidence", rows[0], "ON CONFLICT DO NOTHING"), rows)
        # Some rows may have been stored before, so the rows stored now are counted.
        counts = self._connection.execute(sql.COUNT_EVIDENCE, {"asked": json.dumps(list(open_endpoints))})
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
        probe = {"endpoint_id": endpoint_id, "at": at, **said, **answered}
        self._connection.execute(insert("probe", probe), probe)
        health = self._health.after_probe(endpoint_id, ok=service is not None, reason=verdict.reason, at=at)
        valid = {"valid_version": service.version if service else None, "valid_at": at if service else None}
        written = {"endpoint": endpoint_id, "last_probe": at, **said, **valid, **health}
        self._connection.execute(sql.WRITE_VERDICT, written)
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
        self._connection.execute(insert("probe", probe), probe)
        health = self._health.after_probe(endpoint_id, ok=True, reason=visit.reason, at=visit.at)
        self._connection.execute(sql.WRITE_NOT_MODIFIED, {"endpoint": endpoint_id, "at": visit.at, **health})
        self._services.confirm(endpoint_id, visit.at)

    def write_unasked(self, endpoint_id: int, reason: str, at: float) -> None:
        """Write that a probe was not allowed (robots.txt), which is neither valid nor invalid; a former verdict
        stays."""
        self._connection.execute(sql.WRITE_UNASKED, {"endpoint": endpoint_id, "reason": reason})
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
            "masked_url": masked(url.address),
            "host": url.host,
            "site": url.site,
            "weak": _weakness(candidate),
            "first_seen": at,
        }

    def _describe(self, endpoint_id: int, endpoint: Endpoint, service: Service, at: float) -> None:
        service = without_secrets(service)
        former = self._services.last_described_by(endpoint_id)
        if former is not None:
            self._changes.write(endpoint_id, former, service, at)
        self._services.write(service, endpoint_id, endpoint, at)

    # ----------------------------------------------------------------------- reading back

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of valid and invalid endpoints, of services and of their named layers."""
        return dict(self._connection.execute(sql.COUNTS, {"guessed": GUESSED}).fetchall())

    def candidate(self, endpoint_id: int) -> Candidate:
        """Return the candidate that an endpoint was first known as."""
        row = self._connection.execute(sql.FIRST_EVIDENCE, {"endpoint": endpoint_id}).fetchone()
        kind, key, address, weak, *found = row
        evidence = Evidence(*found) if found[0] is not None else Evidence("")
        return Candidate(Endpoint(stored_kind(kind), key, stored_url(address)), evidence, weak == 1)

    def verdicts_of(self, endpoints: Sequence[Endpoint]) -> dict[tuple[str, str], tuple[int, str]]:
        """Return id and last reason ('': no verdict yet) of those endpoints that are stored, by kind and key."""
        if not endpoints:
            return {}
        asked = json.dumps([(endpoint.kind, endpoint.key) for endpoint in endpoints])
        found = self._connection.execute(sql.FIND_ENDPOINTS, {"asked": asked}).fetchall()
        return {(kind, key): (number, reason) for number, kind, key, _, _, reason in found}

    def was_answered(self, key: str) -> bool:
        """Return whether an endpoint of this identity answered its last probe over HTTP, valid or not."""
        return self._connection.execute(sql.WAS_ANSWERED, {"key": key}).fetchone() is not None


def _json(deviations: tuple[Deviation, ...]) -> str:
    return json.dumps([{"code": d.code, "detail": d.detail} for d in deviations], ensure_ascii=False)


def _weakness(candidate: Candidate) -> int:
    """Return `endpoint.weak`: 2 guessed from another endpoint, 1 known by its path alone, 0 named by a link."""
    return GUESSED if candidate.evidence.signal == SIBLING else int(candidate.weak)


# --------------------------------------------------------------------------- content reports


_DETAIL_CHARS = 500
_MOST_IMAGE_BYTES = 32_768
_LOOK_EVERY = 64
"""Number of thumbnails written between two checks of their total size; a small limit is checked every time."""


class ContentReportWriter:
    """Writes content reports; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection, *, thumbnail_bytes: int) -> None:
        """Write reports. `thumbnail_bytes`: limit on the size of all thumbnails; beyond it the oldest are deleted."""
        self._connection = connection
        self._thumbnail_bytes = thumbnail_bytes
        self._written_thumbnails = 0

    def write(self, endpoint_id: int, report: ContentReport, at: float) -> None:
        """Replace the endpoint's former report. A thumbnail stays until a new one replaces it."""
        level = {
            "level": report.level,
            "proved_at": at,
            "cors": report.cors,
            "answers_https": None if report.https is None else int(report.https),
        }
        self._connection.execute(sql.WRITE_LEVEL, {"endpoint": endpoint_id, **level})
        self._connection.execute(sql.FORGET_REQUESTS, {"endpoint": endpoint_id})
        rows = [
            {
                "endpoint_id": endpoint_id,
                "position": position,
                "layer": attempt.layer,
                "crs": attempt.crs,
                "outcome": attempt.outcome,
                "elapsed_ms": round(attempt.milliseconds, 1),
                "detail": attempt.detail[:_DETAIL_CHARS],
                "url": attempt.url,
                "zoom": attempt.zoom,
            }
            for position, attempt in enumerate(report.attempts)
        ]
        if rows:
            self._connection.executemany(insert("proof", rows[0]), rows)
        if report.thumbnail and self._thumbnail_bytes > 0:
            self._keep_thumbnail(endpoint_id, report.thumbnail, at)

    def _keep_thumbnail(self, endpoint_id: int, image: bytes, at: float) -> None:
        self._connection.execute(sql.KEEP_THUMBNAIL, {"endpoint_id": endpoint_id, "at": at, "image": image})
        self._written_thumbnails += 1
        is_small = self._thumbnail_bytes < _LOOK_EVERY * _MOST_IMAGE_BYTES
        if is_small or self._written_thumbnails % _LOOK_EVERY == 0:
            self._connection.execute(sql.DROP_OLD_THUMBNAILS, {"most_bytes": self._thumbnail_bytes})
