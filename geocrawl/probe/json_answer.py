"""What one answer to a request for a JSON document is, whatever the kind that was asked for.

As with capabilities (`answer`), the status and the Content-Type are noted, not believed. What begins with `<` is read
as XML, so a page, an exception or capabilities of another kind are told apart by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from geocrawl.model import Deviation, Page
from geocrawl.probe.answer import Finding, by_status, rejected
from geocrawl.probe.json_kinds import kind_of_json
from geocrawl.probe.json_reader import JsonObject, read_json
from geocrawl.probe.json_values import first_line, line_of, lines, object_of
from geocrawl.probe.normalise import read_xml

_MAX_DETAIL_CHARS = 500
_DENIED = frozenset({"401", "403", "498", "499"})
"""HTTP's codes, and ArcGIS's `Invalid Token` and `Token Required`."""

ReadJson = Callable[[Page, JsonObject], Finding | None]
"""Reads a kind's own document; None when the object is not one of its."""


def examine_json(page: Page, read: ReadJson) -> Finding:
    """What an answer is. Never raises, whatever the body."""
    if page.location is not None:
        return Finding("moved", page.location.address)
    body = page.body.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not body:
        return by_status(page) or Finding("empty", "no bytes in the answer")
    if body.startswith(b"<"):
        return rejected(page, read_xml(page.body, page.headers.get("content-type", "")))
    reading = read_json(page.body, page.headers.get("content-type", ""))
    if reading.value is None:
        return by_status(page) or Finding(reading.fault, reading.detail, deviations=reading.deviations)
    found = read(page, reading.value)
    if found is None:
        return _none(page, reading.value)
    return replace(found, deviations=(*_of_answer(page), *reading.deviations, *found.deviations))


def json_of(page: Page) -> JsonObject | None:
    """The object in a success; None for anything else. For the second question of an interview."""
    if page.location is not None or not 200 <= page.status < 300:
        return None
    return read_json(page.body, page.headers.get("content-type", "")).value


def error_of(value: JsonObject) -> tuple[str, str] | None:
    """(code, message) of an error that was sent as JSON; None for anything else.

    ArcGIS sends `{"error": {"code": …, "message": …}}` with 200, OGC APIs `{"code": …, "description": …}` or a problem
    (RFC 9457).
    """
    error = value.get("error")
    if isinstance(error, str):
        return "", line_of(error)
    inner = object_of(error) or value
    message = first_line(inner, "message", "description", "detail", "title")
    if not error and (("code" not in value and "status" not in value) or "links" in value or not message):
        return None
    details = " ".join(lines(inner.get("details")))
    return first_line(inner, "code", "status"), f"{message} {details}".strip()


def _none(page: Page, value: JsonObject) -> Finding:
    """What an answer in JSON is that is not the kind's document."""
    if (error := error_of(value)) is not None:
        code, message = error
        if code in _DENIED or page.status in (401, 403):
            return Finding("protected", f"{code or page.status} {message}"[:_MAX_DETAIL_CHARS])
        return by_status(page) or Finding("exception", f"{code} {message}".strip()[:_MAX_DETAIL_CHARS])
    if (refused := by_status(page)) is not None:
        return refused
    if (kind := kind_of_json(value)) is not None:
        return Finding("other-kind", f"a document of {kind}", names=kind)
    return Finding("not-capabilities", f"JSON with {', '.join(list(value)[:12])}"[:_MAX_DETAIL_CHARS])


def _of_answer(page: Page) -> list[Deviation]:
    """Departures of an accepted answer outside its document: status and media type."""
    found = []
    if not 200 <= page.status < 300:
        found.append(Deviation("http-status", str(page.status)))
    if page.content_type not in ("application/json", "text/json") and not page.content_type.endswith("+json"):
        found.append(Deviation("content-type", page.content_type or "none"))
    return found
