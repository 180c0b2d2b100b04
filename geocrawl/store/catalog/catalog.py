"""The catalogue: endpoints, why we believe in them, and what their probes proved."""

from __future__ import annotations

import json
from collections.abc import Mapping

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
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.urls import read_url

MAX_EVIDENCE = 20
"""Pages kept for each endpoint: a link in a site's navigation stands on every page of it."""
_TEXT_CHARS = 500

_FIND = """
SELECT id, (SELECT count(*) FROM evidence WHERE endpoint_id = endpoint.id), weak FROM endpoint
WHERE kind = ? AND key = ?"""
_ADD = """
INSERT INTO endpoint (kind, key, url, host, site, weak, first_seen) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id"""
_ADD_EVIDENCE = """
INSERT OR IGNORE INTO evidence (endpoint_id, signal, page, link, anchor, at) VALUES (?, ?, ?, ?, ?, ?)"""
# Somebody names what was only guessed before: one that did not answer then is asked again from now on.
_NAMED = """
UPDATE endpoint SET weak = ?2, due_at = iif(last_probe IS NULL, due_at, coalesce(due_at, ?3)) WHERE id = ?1"""
_CANDIDATE = """
SELECT e.kind, e.key, e.url, e.weak, v.signal, v.page, v.link, v.anchor FROM endpoint e
LEFT JOIN evidence v ON v.endpoint_id = e.id WHERE e.id = ? ORDER BY v.id LIMIT 1"""
_ADD_PROBE = """
INSERT INTO probe (endpoint_id, at, status, reason, detail, http_status, content_type, first_bytes, elapsed_ms,
requests,
                   deviations)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# The version and the service of the last valid answer stay while the endpoint is invalid.
_WRITE_VERDICT = """
UPDATE endpoint SET status = ?2, reason = ?3, detail = ?4, http_status = ?5, deviations = ?6, last_probe = ?7,
  version = coalesce(?8, version), last_ok = coalesce(?9, last_ok),
  probes = probes + 1
WHERE id = ?1"""
# What was read last still holds: its version, deviations, status and reason stay.
_WRITE_NOT_MODIFIED = "UPDATE endpoint SET last_probe = ?2, last_ok = ?2, probes = probes + 1 WHERE id = ?1"
_COUNTS = """
SELECT 'valid', count(*) FROM endpoint WHERE status = 'valid'
UNION ALL SELECT 'invalid', count(*) FROM endpoint WHERE status = 'invalid' AND (weak < 2 OR last_ok IS NOT NULL)
UNION ALL SELECT 'services', count(*) FROM service
UNION ALL SELECT 'layers', coalesce(sum(layer_count), 0) FROM service"""


class SqlCatalog:
    """`record` is a transaction of its own; the other writing methods belong to the frontier's."""

    def __init__(self, database: Database, clock: Clock, segment: Segment = spaced) -> None:
        """`segment` splits texts into words for the index; a search must use the same (`reading.search`)."""
        self._database = database
        self._connection: Connection = database.connection
        self._clock = clock
        self._services = ServiceWriter(self._connection, segment)
        self._health = HealthWriter(self._connection)
        self._changes = ChangeWriter(self._connection)
        self._noted: TwoGenerations[tuple[Kind, str], list[int]] = TwoGenerations(5_000)
        database.on_undo(self._noted.clear)

    def record(self, candidate: Candidate, verdict: Verdict, at: float) -> int:
        """Write a verdict with its evidence; returns the endpoint's id."""
        with self._database.transaction:
            endpoint_id = self.note(candidate, at)
            self.write(endpoint_id, candidate, verdict, at)
        return endpoint_id

    def counts(self) -> Mapping[str, int]:
        """valid, invalid, services, layers."""
        return dict(self._connection.execute(_COUNTS).fetchall())

    # ----------------------------------------------------------------------- inside a transaction

    def note(self, candidate: Candidate, at: float) -> int:
        """Keep a candidate and the page that named it; returns the endpoint's id."""
        endpoint = candidate.endpoint
        noted = self._noted.get((endpoint.kind, endpoint.key))
        if noted is None:
            found = self._connection.execute(_FIND, (endpoint.kind, endpoint.key)).fetchone()
            noted = [*found] if found else [self._add(candidate, at), 0, _weakness(candidate)]
            self._noted.put((endpoint.kind, endpoint.key), noted)
        if noted[1] < MAX_EVIDENCE:
            found = candidate.evidence
            noted[1] += self._connection.execute(
                _ADD_EVIDENCE, (noted[0], found.signal, found.page, found.link, found.anchor[:_TEXT_CHARS], at)
            ).rowcount
        if noted[2] > (weakness := _weakness(candidate)) and noted[2] == GUESSED:
            noted[2] = weakness
            self._connection.execute(_NAMED, (noted[0], weakness, at))
        return noted[0]

    def write(self, endpoint_id: int, candidate: Candidate, verdict: Verdict, at: float) -> None:
        """Write what a probe proved."""
        deviations = _json(verdict.deviations)
        self._connection.execute(
            _ADD_PROBE,
            (
                endpoint_id,
                at,
                verdict.status,
                verdict.reason,
                verdict.detail[:_TEXT_CHARS],
                verdict.http_status,
                verdict.content_type,
                verdict.first_bytes,
                verdict.elapsed_ms,
                verdict.requests,
                deviations,
            ),
        )
        valid = verdict.status is Status.VALID and verdict.service is not None
        self._health.probed(endpoint_id, ok=valid, reason=verdict.reason, at=at)
        self._connection.execute(
            _WRITE_VERDICT,
            (
                endpoint_id,
                verdict.status,
                verdict.reason,
                verdict.detail[:_TEXT_CHARS],
                verdict.http_status,
                deviations,
                at,
                verdict.service.version if valid and verdict.service else None,
                at if valid else None,
            ),
        )
        if valid and verdict.service is not None:
            self._describe(endpoint_id, candidate.endpoint, verdict.service, at)
        else:
            self._services.choose_best(endpoint_id)

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Keep a person's word that two endpoints are one service, or are not; in a transaction of its own."""
        with self._database.transaction:
            self._services.decide(one, other, same=same, at=at)

    def _describe(self, endpoint_id: int, endpoint: Endpoint, service: Service, at: float) -> None:
        former = self._services.described_by(endpoint_id)
        if former is not None:
            self._changes.described(endpoint_id, former, service, at)
        self._services.write(service, endpoint_id, endpoint, at)

    def write_not_modified(self, endpoint_id: int, visit: Visit) -> None:
        """The endpoint says what it said when it was last read whole: it is well, and its service stays as it is."""
        probe = (visit.at, Status.VALID, visit.reason, "", visit.http_status, "", "", visit.elapsed_ms, 1, "[]")
        self._connection.execute(_ADD_PROBE, (endpoint_id, *probe))
        self._health.probed(endpoint_id, ok=True, reason=visit.reason, at=visit.at)
        self._connection.execute(_WRITE_NOT_MODIFIED, (endpoint_id, visit.at))
        self._services.touch(endpoint_id, visit.at)

    def write_unasked(self, endpoint_id: int, reason: str, at: float) -> None:
        """The endpoint could not be asked (robots.txt): neither valid nor invalid, and a former verdict stands."""
        self._connection.execute(
            "UPDATE endpoint SET reason = ? WHERE id = ? AND status IS NULL", (reason, endpoint_id)
        )
        self._health.unasked(endpoint_id, at)

    def _add(self, candidate: Candidate, at: float) -> int:
        endpoint = candidate.endpoint
        url = endpoint.url
        values = (endpoint.kind, endpoint.key, url.address, url.host, url.site, _weakness(candidate), at)
        return int(self._connection.execute(_ADD, values).fetchone()[0])

    # ----------------------------------------------------------------------- reading back

    def candidate(self, endpoint_id: int) -> Candidate:
        """The candidate that an endpoint was first known as."""
        kind, key, address, weak, *found = self._connection.execute(_CANDIDATE, (endpoint_id,)).fetchone()
        url: Url | None = read_url(address)
        assert url is not None, "an address that was written by read_url is read by it"
        evidence = Evidence(*found) if found[0] is not None else Evidence("")
        return Candidate(Endpoint(stored_kind(kind), key, url), evidence, weak == 1)

    def verdict_of(self, endpoint: Endpoint) -> tuple[int, str]:
        """Number and last reason of an endpoint; 0 when it is not kept, '' when it has no verdict yet."""
        row = self._connection.execute(
            "SELECT id, coalesce(reason, '') FROM endpoint WHERE kind = ? AND key = ?", (endpoint.kind, endpoint.key)
        ).fetchone()
        return (row[0], row[1]) if row else (0, "")

    def was_answered(self, key: str) -> bool:
        """Whether an endpoint of this identity answered its last probe over HTTP, whatever it said."""
        found = self._connection.execute(
            "SELECT 1 FROM endpoint WHERE key = ? AND http_status IS NOT NULL LIMIT 1", (key,)
        ).fetchone()
        return found is not None


def _json(deviations: tuple[Deviation, ...]) -> str:
    return json.dumps([{"code": d.code, "detail": d.detail} for d in deviations], ensure_ascii=False)


def _weakness(candidate: Candidate) -> int:
    """`endpoint.weak`: 2 guessed beside another, 1 known by its path alone, 0 named."""
    return GUESSED if candidate.evidence.signal == SIBLING else int(candidate.weak)
