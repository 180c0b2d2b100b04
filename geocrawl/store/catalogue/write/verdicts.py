"""Write candidates and verdicts into the catalogue, inside the frontier's transactions, and read what a crawl needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import bindparam, case, delete, func, insert, literal, or_, select, union_all, update
from sqlalchemy.dialects.sqlite import insert as insert_or_leave

from geocrawl.model import (
    Attempt,
    Candidate,
    ContentOutcome,
    ContentReport,
    Deviation,
    Endpoint,
    Evidence,
    Field,
    Status,
    Verdict,
    Visit,
    stored_kind,
)
from geocrawl.model.downtimes import ACKNOWLEDGED
from geocrawl.model.health import Event, Health, Speed, speed_after, usual_after
from geocrawl.sanitize import masked
from geocrawl.store.catalogue.downtimes import excuse
from geocrawl.store.catalogue.index.writer import SearchWriter
from geocrawl.store.catalogue.write.doubt import NETWORK, hold_s, look_around
from geocrawl.store.catalogue.write.health import (
    FORBIDDEN_S,
    SOON_S,
    UNASKED,
    HealthSignal,
    signal_of_refusal,
    signal_without_verdict,
    write_health,
)
from geocrawl.store.catalogue.write.services import ServiceWriter, without_secrets
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import greatest, in_list, upsert
from geocrawl.store.database.database import Database
from geocrawl.store.database.keys import stored_url, twin_key
from geocrawl.store.database.schema import GUESSED
from geocrawl.store.database.schema.tables import CHANGE, ENDPOINT, EVIDENCE, LAYER, PROBE, PROOF, SERVICE, THUMBNAIL

MAX_EVIDENCE = 20
"""Most pages stored for each endpoint: a link in a site's navigation is on every page of the site."""
_TEXT_CHARS = 500
_row = ENDPOINT.c
_evidence = select(func.count()).select_from(EVIDENCE).where(EVIDENCE.c.endpoint_id == _row.id).scalar_subquery()
_FIND = select(
    *(_row.id, _row.kind, _row.key, _evidence, _row.weak, func.coalesce(_row.reason, ""), _row.health)
).where(in_list(_row.key, "keys"))
_HIGHEST = select(func.coalesce(func.max(_row.id), 0))
_ADD = insert(ENDPOINT)
_ADD_EVIDENCE = insert_or_leave(EVIDENCE).on_conflict_do_nothing()
_ADD_PROBE = insert(PROBE)
_WRITE = update(ENDPOINT).where(_row.id == bindparam("endpoint"))
_NAME_GUESSED = _WRITE.values(
    weak=bindparam("weak"),
    due_at=case((_row.last_probe.is_(None), _row.due_at), else_=func.coalesce(_row.due_at, bindparam("at"))),
)
"""Name an endpoint that was only guessed: if it was probed in vain, it is probed again from now on."""
_WRITE_UNASKED = _WRITE.where(or_(_row.status.is_(None), _row.status == "valid")).values(reason=bindparam("why"))
"""Record why an endpoint was skipped; its last invalid verdict keeps its own reason."""
_WAKE = _WRITE.where(_row.health == "gone", _row.due_at.is_(None), _row.woken_at.is_(None)).values(
    due_at=bindparam("at"), woken_at=bindparam("at")
)
"""Probe an endpoint that was given up once more, since a page names it: once for each time that it is given up."""
_LAST_VERDICT = select(_row.status, _row.last_ok, _row.probes).where(_row.id == bindparam("endpoint"))
_SPEED = select(_row.every_s, _row.usual_ms, _row.speed, _row.probes, _row.service_id).where(
    _row.id == bindparam("endpoint")
)
_ADD_CHANGE = insert(CHANGE)
_PROBE_ROW = {"detail": "", "content_type": "", "first_bytes": "", "elapsed_ms": 0.0, "requests": 0, "deviations": "[]"}
"""Columns of a probe without an answer."""
_FIND_ENDPOINT = select(_row.id, _row.status, _row.last_probe).where(
    _row.kind == bindparam("kind"), _row.key == bindparam("key")
)
_FIRST_EVIDENCE = (
    select(
        *(_row.kind, _row.key, _row.url, _row.weak),
        *(EVIDENCE.c.signal, EVIDENCE.c.page, EVIDENCE.c.link, EVIDENCE.c.anchor),
    )
    .join_from(ENDPOINT, EVIDENCE, EVIDENCE.c.endpoint_id == _row.id, isouter=True)
    .where(_row.id == bindparam("endpoint"))
    .order_by(EVIDENCE.c.id)
    .limit(1)
)
"""Read an endpoint with the evidence that was stored first."""
_WAS_ANSWERED = select(_row.id).where(_row.key == bindparam("key"), _row.http_status.is_not(None)).limit(1)
_COUNTS = union_all(
    select(literal("valid"), func.count()).select_from(ENDPOINT).where(_row.status == "valid"),
    select(literal("invalid"), func.count())
    .select_from(ENDPOINT)
    .where(_row.status == "invalid", or_(_row.weak < GUESSED, _row.last_ok.is_not(None))),
    select(literal("services"), func.count()).select_from(SERVICE),
    select(literal("layers"), func.coalesce(func.sum(SERVICE.c.layer_count), 0)),
)
"""Count valid and invalid endpoints, services and layers; of guessed endpoints those that were valid once."""
_SPEED_CHANGES = {(Speed.ONCE_SLOW, Speed.SLOW): "slow", (Speed.ONCE_USUAL, Speed.USUAL): "usual-speed"}
_NO_ANSWER = "the server does not answer, not even for robots.txt"


_Name = tuple[str, str]
"""Kind and key of an endpoint."""


class _StoredEndpoint(NamedTuple):
    """A row of `_FIND`."""

    id: int
    pages: int
    """Number of stored pieces of evidence."""
    weakness: int
    reason: str
    """Reason of the last verdict, '' without one."""
    health: str = Health.NEW


class KnownEndpoints:
    """The stored endpoints among those of some candidates, and the ids of new ones that `CatalogueWriter.note` adds."""

    def __init__(self, stored: dict[_Name, _StoredEndpoint], highest: int) -> None:
        self.stored = stored
        self.new: dict[_Name, tuple[int, Candidate]] = {}
        """Id of each new endpoint, ascending from `highest`, and the candidate by which it is known first."""
        self._highest = highest

    def add(self, candidate: Candidate) -> int:
        """Return the id of a candidate's endpoint; a new one gets the next id."""
        name = _name(candidate.endpoint)
        if name in self.stored:
            return self.stored[name].id
        return self.new.setdefault(name, (self._highest + len(self.new) + 1, candidate))[0]

    def verdict(self, endpoint: Endpoint) -> tuple[int, str]:
        """Return id and last reason ('': no verdict yet) of an endpoint; (0, '') when it is neither stored nor new."""
        name = _name(endpoint)
        if name in self.stored:
            return self.stored[name].id, self.stored[name].reason
        return (self.new[name][0] if name in self.new else 0), ""


class CatalogueWriter:
    """The catalogue of one database. Methods that write, except `decide`, run inside the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._services = ServiceWriter(self._connection)

    # ----------------------------------------------------------------------- writing

    def known(self, candidates: Sequence[Candidate]) -> KnownEndpoints:
        """Read which of the candidates' endpoints are stored."""
        asked = {_name(candidate.endpoint) for candidate in candidates}
        if not asked:
            return KnownEndpoints({}, 0)
        rows = self._connection.execute(_FIND, {"keys": {key for _, key in asked}}).fetchall()
        stored = {
            (kind, key): _StoredEndpoint(number, *more) for number, kind, key, *more in rows if (kind, key) in asked
        }
        if len(stored) == len(asked):
            return KnownEndpoints(stored, 0)
        return KnownEndpoints(stored, self._connection.execute(_HIGHEST).fetchone()[0])

    def note(self, candidates: Sequence[Candidate], known: KnownEndpoints, at: float) -> None:
        """Store candidates, whose endpoints `known` has read or was given, and the pages that named them."""
        if known.new:
            new = [self._new_row(number, candidate, at) for number, candidate in known.new.values()]
            self._connection.executemany(_ADD, new)
        rows, pages, weakness, woken = [], dict[int, int](), dict[int, int](), set[int]()
        for candidate in candidates:
            name = _name(candidate.endpoint)
            if (stored := known.stored.get(name)) is None:
                number, first = known.new[name]
                stored = _StoredEndpoint(number, 0, _weakness(first), "")
            number = stored.id
            if (seen := pages.get(number, stored.pages)) < MAX_EVIDENCE:
                pages[number] = seen + 1
                rows.append(_evidence_row(number, candidate.evidence, at))
            if stored.weakness == GUESSED > _weakness(candidate):
                weakness.setdefault(number, _weakness(candidate))
            if stored.health == Health.GONE and candidate.evidence.page:
                woken.add(number)
        if rows:
            self._connection.executemany(_ADD_EVIDENCE, rows)
        for number, weak in weakness.items():
            self._connection.execute(_NAME_GUESSED, {"weak": weak, "endpoint": number, "at": at})
        for number in woken:
            self._connection.execute(_WAKE, {"endpoint": number, "at": at})

    def write(
        self,
        endpoint_id: int,
        candidate: Candidate,
        verdict: Verdict,
        at: float,
        moved_to: Endpoint | None = None,
        *,
        is_light: bool = False,
    ) -> None:
        """Write the verdict of a probe, and the description of a valid service. `moved_to`: where the endpoint says
        that it has moved for good. `is_light`: as in `Entry`."""
        service = verdict.service if verdict.status is Status.VALID else None
        last_status, last_ok, probes = self._last_verdict(endpoint_id)
        result = {
            "status": verdict.status,
            "reason": verdict.reason,
            "detail": masked(verdict.detail)[:_TEXT_CHARS],
            "http_status": verdict.http_status,
            "deviations": _json(verdict.deviations),
        }
        answered = {
            "content_type": verdict.content_type,
            "first_bytes": "" if service is not None else masked(verdict.first_bytes),
            "elapsed_ms": verdict.elapsed_ms,
            "requests": verdict.requests,
        }
        probe = {**result, **answered}
        if service is not None:
            signal = HealthSignal(Event.OK, verdict.reason)
        else:
            is_filtered = bool(verdict.filter) and last_ok is not None
            signal = signal_of_refusal(verdict.reason, verdict.retry_after_s, is_filtered=is_filtered)
            if signal.event is Event.FAIL and self._is_held(endpoint_id, probe, at):
                return
            if moved_to is not None and last_ok is not None:
                signal = self._signal_of_move(endpoint_id, replace(moved_to, kind=candidate.endpoint.kind), at)
        if signal.event is Event.FILTERED:
            look_around(self._connection, endpoint_id, at)
        if signal.event is Event.FILTERED or (signal.event is Event.LIMITED and last_status == Status.VALID):
            self._write_unasked(endpoint_id, signal, verdict.filter or verdict.detail, verdict.http_status, at)
            return
        valid = self._columns_of_valid(endpoint_id, verdict, at, is_light=is_light)
        row = {**result, **valid, "moved_to": moved_to.key if moved_to is not None else None, "probes": probes + 1}
        self._write_probe(endpoint_id, signal, at, probe, last_probe=at, **row)
        if service is not None:
            self._services.write(without_secrets(service), endpoint_id, candidate.endpoint, at)
        else:
            self._services.choose_best(endpoint_id)

    def _columns_of_valid(
        self, endpoint_id: int, verdict: Verdict, at: float, *, is_light: bool
    ) -> Mapping[str, object]:
        """Return the columns of an endpoint that a valid verdict alone changes."""
        if verdict.status is not Status.VALID or verdict.service is None:
            return {}
        whole = {} if is_light else {"whole_at": at}
        speed = self._speed(endpoint_id, verdict.elapsed_ms, at)
        return {"version": verdict.service.version, "last_ok": at, **whole, **speed}

    def write_not_modified(self, endpoint_id: int, visit: Visit) -> None:
        """Write that an endpoint answered "not modified" (304), which counts as a valid answer."""
        answered = {"http_status": visit.http_status, "elapsed_ms": visit.elapsed_ms, "requests": 1}
        probe = {"status": Status.VALID, "reason": visit.reason, **answered}
        row = {"status": Status.VALID, "reason": "ok", "detail": "", "moved_to": None, "last_ok": visit.at}
        row |= self._speed(endpoint_id, visit.elapsed_ms, visit.at, is_whole=False)
        probes = self._last_verdict(endpoint_id)[-1] + 1
        signal = HealthSignal(Event.OK, visit.reason)
        self._write_probe(endpoint_id, signal, visit.at, probe, last_probe=visit.at, probes=probes, **row)
        self._services.confirm(endpoint_id, visit.at)

    def ask_whole(self, endpoint_id: int) -> None:
        """Let the next probe of a watched endpoint be a full one."""
        self._connection.execute(_WRITE, {"endpoint": endpoint_id, "whole_at": None})

    def write_refused(self, endpoint_id: int, reason: str) -> None:
        """Write why an endpoint that was just found is not asked: the operator's lists, an opt-out."""
        self._connection.execute(_WRITE_UNASKED, {"endpoint": endpoint_id, "why": reason})

    def write_unasked(self, endpoint_id: int, visit: Visit) -> None:
        """Write that a probe was not made: because it is not allowed (robots.txt), or because the server did not even
        answer for robots.txt, which is a failure of a service that was valid."""
        signal = signal_without_verdict(visit.reason, visit.http_status, visit.retry_after_s)
        _, last_ok, probes = self._last_verdict(endpoint_id)
        if last_ok is None:
            self.write_refused(endpoint_id, visit.reason)
            signal = HealthSignal(Event.UNASKED, visit.reason, FORBIDDEN_S)
            write_health(self._connection, endpoint_id, signal, visit.at)
            return
        if signal.event is not Event.FAIL:
            self._write_unasked(endpoint_id, signal, "", visit.http_status, visit.at)
            return
        result = {"status": Status.INVALID, "reason": signal.reason, "detail": _NO_ANSWER, "http_status": None}
        if self._is_held(endpoint_id, result, visit.at):
            return
        self._write_probe(endpoint_id, signal, visit.at, result, last_probe=visit.at, probes=probes + 1, **result)
        self._services.choose_best(endpoint_id)

    def _is_held(self, endpoint_id: int, result: Mapping[str, object], at: float) -> bool:
        """Write a failure that does not count, because it lies in a downtime, or as unconfirmed when the network on the
        way may be its cause; return whether it is so."""
        excused = excuse(self._connection, endpoint_id, at)
        if excused is not None and (excused[0], result["reason"]) != (ACKNOWLEDGED, "moved"):
            reason, wait_s = excused
        elif (held_s := hold_s(self._connection, endpoint_id, result, at)) is not None:
            reason, wait_s = NETWORK, held_s
        else:
            return False
        held = {"status": UNASKED, "reason": reason, "detail": f"{result['reason']} {result['detail']}"}
        self.write_refused(endpoint_id, reason)
        self._write_probe(endpoint_id, HealthSignal(Event.UNASKED, reason, wait_s), at, {**result, **held})
        return True

    def _speed(
        self, endpoint_id: int, answer_ms: float, at: float, *, is_whole: bool = True
    ) -> Mapping[str, float | None]:
        """Return the columns that say how fast a watched endpoint is after a valid answer, and write the change when it
        became slow or usual again. An answer that nothing had changed (304, not `is_whole`) is faster than the
        document, so it is no part of what is usual."""
        every_s, usual_ms, before, probes, service = self._connection.execute(
            _SPEED, {"endpoint": endpoint_id}
        ).fetchone()
        if every_s is None:
            return {}
        speed = speed_after(Speed(before), usual_ms, answer_ms, probes)
        if (what := _SPEED_CHANGES.get((Speed(before), speed))) is not None and service is not None:
            change = {"endpoint_id": endpoint_id, "service_id": service, "at": at, "what": what, "name": ""}
            times = {"before": f"{usual_ms:.0f}", "after": f"{answer_ms:.0f}"}
            self._connection.execute(_ADD_CHANGE, {**change, **times})
        return {"speed": speed, "usual_ms": usual_after(speed, usual_ms, answer_ms) if is_whole else usual_ms}

    def _last_verdict(self, endpoint_id: int) -> tuple[str | None, float | None, int]:
        """Return the status, the time of the last valid answer and the number of probes of an endpoint."""
        status, last_ok, probes = self._connection.execute(_LAST_VERDICT, {"endpoint": endpoint_id}).fetchone()
        return status, last_ok, probes

    def _write_probe(
        self, endpoint_id: int, signal: HealthSignal, at: float, probe: Mapping[str, object], **row: object
    ) -> None:
        """Write a probe, and what it changes in the row of its endpoint, with the health that follows."""
        self._connection.execute(_ADD_PROBE, {**_PROBE_ROW, **probe, "endpoint_id": endpoint_id, "at": at})
        write_health(self._connection, endpoint_id, signal, at, **row)

    def _signal_of_move(self, endpoint_id: int, target: Endpoint, at: float) -> HealthSignal:
        """Return what a permanent move says of an endpoint's health: no failure while its target was not asked yet, or
        is the same service, which then goes on at the new address."""
        row = self._connection.execute(_FIND_ENDPOINT, {"kind": target.kind, "key": target.key}).fetchone()
        if row is None:
            return HealthSignal(Event.FAIL, "moved")
        target_id, status, last_probe = row
        if last_probe is None:
            return HealthSignal(Event.UNASKED, "moved", SOON_S)
        if status == Status.VALID and self._services.follow(endpoint_id, target_id, at):
            return HealthSignal(Event.UNASKED, "moved", FORBIDDEN_S)
        return HealthSignal(Event.FAIL, "moved")

    def _write_unasked(
        self, endpoint_id: int, signal: HealthSignal, detail: str, http_status: int | None, at: float
    ) -> None:
        """Write an event that is no verdict: the last verdict stays, with the reason why it could not be confirmed."""
        result = {
            "status": UNASKED,
            "reason": signal.reason,
            "detail": masked(detail)[:_TEXT_CHARS],
            "http_status": http_status,
        }
        self.write_refused(endpoint_id, signal.reason)
        self._write_probe(endpoint_id, signal, at, result)

    def decide(self, *pairs: tuple[int, int], same: bool, at: float) -> None:
        """Store a person's decision that the endpoints of each pair are one service, or are two, all in one separate
        transaction."""
        with self._database.transaction:
            for one, other in pairs:
                self._services.decide(one, other, same=same, at=at)

    @staticmethod
    def _new_row(endpoint_id: int, candidate: Candidate, at: float) -> dict[str, object]:
        endpoint, url = candidate.endpoint, candidate.endpoint.url
        return {
            "id": endpoint_id,
            "kind": endpoint.kind,
            "key": endpoint.key,
            "server": twin_key(endpoint.key),
            "url": url.address,
            "masked_url": masked(url.address),
            "host": url.host,
            "site": url.site,
            "weak": _weakness(candidate),
            "first_seen": at,
        }

    # ----------------------------------------------------------------------- reading back

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of valid and invalid endpoints, of services and of their named layers."""
        return dict(self._connection.execute(_COUNTS).fetchall())

    def candidate(self, endpoint_id: int) -> Candidate:
        """Return the candidate that an endpoint was first known as."""
        return stored_candidate(*self._connection.execute(_FIRST_EVIDENCE, {"endpoint": endpoint_id}).fetchone())

    def was_answered(self, key: str) -> bool:
        """Return whether an endpoint of this identity answered its last probe over HTTP, valid or not."""
        return self._connection.execute(_WAS_ANSWERED, {"key": key}).fetchone() is not None


def stored_candidate(kind: str, key: str, address: str, weak: int, *found: str | None) -> Candidate:
    """Return the candidate of an endpoint's columns and those of its first evidence (`_FIRST_EVIDENCE`)."""
    signal, page, link, anchor = found
    evidence = Evidence("") if signal is None else Evidence(signal, page or "", link or "", anchor or "")
    return Candidate(Endpoint(stored_kind(kind), key, stored_url(address)), evidence, weak == 1)


def _name(endpoint: Endpoint) -> _Name:
    return endpoint.kind, endpoint.key


def _evidence_row(endpoint_id: int, found: Evidence, at: float) -> dict[str, object]:
    shown = masked(found.page)
    return {
        "endpoint_id": endpoint_id,
        "signal": found.signal,
        "page": found.page,
        "masked_page": shown if shown != found.page else None,
        "link": found.link,
        "anchor": masked(found.anchor)[:_TEXT_CHARS],
        "at": at,
        "time_start": found.times and found.times.start,
        "time_end": found.times and found.times.end,
    }


def _json(deviations: tuple[Deviation, ...]) -> str:
    return json.dumps([{"code": d.code, "detail": masked(d.detail)} for d in deviations], ensure_ascii=False)


def _weakness(candidate: Candidate) -> int:
    """Return `endpoint.weak`: 2 guessed, 1 known by its path alone, 0 named by a link."""
    return GUESSED if candidate.evidence.is_guess else int(candidate.weak)


# --------------------------------------------------------------------------- content reports


_DETAIL_CHARS = 500
_MOST_IMAGE_BYTES = 32_768
_LOOK_EVERY = 64
"""Number of thumbnails written between two checks of their total size; a small limit is checked every time."""

_WRITE_LEVEL = _WRITE.values(
    {name: bindparam(name) for name in ("level", "proved_at", "cors")}
    | {"https": func.coalesce(bindparam("answers_https"), _row.https)}
)
_RAISE_LEVEL = _WRITE.values(
    level=greatest(func.coalesce(_row.level, ""), bindparam("proven")), proved_at=bindparam("at")
)
_FORGET_REQUESTS = delete(PROOF).where(PROOF.c.endpoint_id == bindparam("endpoint"))
_FORGET_LAYERS = _FORGET_REQUESTS.where(or_(in_list(PROOF.c.layer, "layers"), PROOF.c.position < bindparam("least")))
_NEXT_REQUEST = select(func.coalesce(func.max(PROOF.c.position), -1) + 1).where(
    PROOF.c.endpoint_id == bindparam("endpoint")
)
_MOST_REQUESTS = 50
"""Most requests that are kept of a watched endpoint, whose layers are asked for in turn."""
_ADD_REQUEST = insert(PROOF)
_KEEP_THUMBNAIL = upsert(THUMBNAIL, "endpoint_id")
_newest = select(
    THUMBNAIL.c.endpoint_id,
    func.sum(func.length(THUMBNAIL.c.image))
    .over(order_by=(THUMBNAIL.c.at.desc(), THUMBNAIL.c.endpoint_id.desc()))
    .label("bytes"),
).subquery("newest")
_DROP_OLD_THUMBNAILS = delete(THUMBNAIL).where(
    THUMBNAIL.c.endpoint_id.in_(select(_newest.c.endpoint_id).where(_newest.c.bytes > bindparam("most_bytes")))
)
"""Delete the oldest thumbnails that all newer ones together leave no room for."""


_SERVICE_OF = select(ENDPOINT.c.service_id).where(ENDPOINT.c.id == bindparam("endpoint"))
_LAYER_FIELDS = select(LAYER.c.position, LAYER.c.name, LAYER.c.fields).where(LAYER.c.service_id == bindparam("service"))
_WRITE_FIELDS = (
    update(LAYER)
    .where(LAYER.c.service_id == bindparam("service"), LAYER.c.position == bindparam("layer"))
    .values(fields=bindparam("told"))
)


def _fields_text(fields: Iterable[Field]) -> str:
    """Return fields as the database stores them, without texts that are empty, and secrets masked."""
    shown = ({name: masked(text) for name, text in each._asdict().items() if text} for each in fields)
    return json.dumps(list(shown), ensure_ascii=False)


class ContentReportWriter:
    """Writes content reports; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection, *, thumbnail_bytes: int) -> None:
        """Write reports. `thumbnail_bytes`: limit on the size of all thumbnails; beyond it the oldest are deleted."""
        self._connection = connection
        self._thumbnail_bytes = thumbnail_bytes
        self._written_thumbnails = 0

    def write(
        self, endpoint_id: int, report: ContentReport, at: float, *, is_watched: bool = False, is_light: bool = False
    ) -> None:
        """Replace the endpoint's former report. A thumbnail stays until a new one replaces it.

        Of a watched endpoint, what is known of other layers stays; a light probe (`Entry.is_light`) makes its level no
        lower, as it asks for one layer."""
        if is_light:
            if asked := [attempt for attempt in report.attempts if attempt.outcome is not ContentOutcome.REFUSED]:
                self._write_requests(endpoint_id, asked, is_watched=True)
                self._connection.execute(_RAISE_LEVEL, {"endpoint": endpoint_id, "proven": report.level, "at": at})
            return
        level = {
            "level": report.level,
            "proved_at": at,
            "cors": report.cors,
            "answers_https": None if report.https is None else int(report.https),
        }
        self._connection.execute(_WRITE_LEVEL, {"endpoint": endpoint_id, **level})
        self._write_requests(endpoint_id, report.attempts, is_watched=is_watched)
        if report.thumbnail and self._thumbnail_bytes > 0:
            self._keep_thumbnail(endpoint_id, report.thumbnail, at)
        if report.fields:
            self._write_fields(endpoint_id, report.fields)

    def _write_requests(self, endpoint_id: int, attempts: Sequence[Attempt], *, is_watched: bool) -> None:
        """Write the requests of a report in place of the former ones; of a watched endpoint, of those for the same
        layers and of the oldest."""
        first, of_endpoint = 0, {"endpoint": endpoint_id}
        if is_watched:
            first = self._connection.execute(_NEXT_REQUEST, of_endpoint).fetchone()[0]
            layers = [attempt.layer for attempt in attempts]
            least = first + len(attempts) - _MOST_REQUESTS
            self._connection.execute(_FORGET_LAYERS, {**of_endpoint, "layers": layers, "least": least})
        else:
            self._connection.execute(_FORGET_REQUESTS, of_endpoint)
        rows = [
            {
                "endpoint_id": endpoint_id,
                "position": position,
                "layer": attempt.layer,
                "crs": attempt.crs,
                "outcome": attempt.outcome,
                "elapsed_ms": round(attempt.milliseconds, 1),
                "detail": masked(attempt.detail)[:_DETAIL_CHARS],
                "url": attempt.url,
                "zoom": attempt.zoom,
            }
            for position, attempt in enumerate(attempts, first)
        ]
        if rows:
            self._connection.executemany(_ADD_REQUEST, rows)

    def _write_fields(self, endpoint_id: int, fields: Mapping[str, tuple[Field, ...]]) -> None:
        """Write the fields of an endpoint's layers that differ from those that are known, into the search, too."""
        (number,) = self._connection.execute(_SERVICE_OF, {"endpoint": endpoint_id}).fetchone()
        known = self._connection.execute(_LAYER_FIELDS, {"service": number}).fetchall()
        told = {name: _fields_text(each) for name, each in fields.items()}
        rows = [
            {"service": number, "layer": position, "told": told[name]}
            for position, name, stored in known
            if told.get(name, stored) != stored
        ]
        if rows:
            self._connection.executemany(_WRITE_FIELDS, rows)
            SearchWriter(self._connection).write(number)

    def _keep_thumbnail(self, endpoint_id: int, image: bytes, at: float) -> None:
        self._connection.execute(_KEEP_THUMBNAIL, {"endpoint_id": endpoint_id, "at": at, "image": image})
        self._written_thumbnails += 1
        is_small = self._thumbnail_bytes < _LOOK_EVERY * _MOST_IMAGE_BYTES
        if is_small or self._written_thumbnails % _LOOK_EVERY == 0:
            self._connection.execute(_DROP_OLD_THUMBNAILS, {"most_bytes": self._thumbnail_bytes})
