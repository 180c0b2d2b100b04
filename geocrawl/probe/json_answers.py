"""Classify one answer to a request for a JSON document, for all kinds.

As with capabilities (`answer`), the status and the Content-Type are noted, not believed. A body that begins with `<` is
read as XML, so pages, exceptions and capabilities of another kind are classified by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass, replace

from geocrawl.formats.json import JsonObject, first_line, line_of, lines, number_of, object_of, read_json
from geocrawl.formats.text import unescape_html
from geocrawl.model import Candidate, Deviation, Failure, Page, Url, Verdict
from geocrawl.ports import Ask
from geocrawl.probe.answer import Finding, by_status, rejection
from geocrawl.probe.interview import Answer, verdict_on
from geocrawl.probe.registry import kind_of_json
from geocrawl.probe.stream import read_whole
from geocrawl.urls import read_url, with_parameters

_MAX_DETAIL_CHARS = 500
_FRONT_BYTES = 65_536
_WARNING_BEFORE = re.compile(rb'(?:<br ?/?>|</?b>|[^<>{}])*+\{\s{0,100}"')
"""Lines that PHP writes before an object."""
_DENIED = frozenset({"401", "403", "498", "499"})
"""HTTP's codes, and ArcGIS's `Invalid Token` and `Token Required`."""

ReadJson = Callable[[Page, JsonObject], Finding | None]
"""Function that reads a document of the requested kind; returns None for another document."""


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An answer with its classification and its JSON object."""

    page: Page | Failure
    finding: Finding
    value: JsonObject
    """Empty when the answer was not accepted."""

    @property
    def base(self) -> Url:
        """Return the address that links in the answer are relative to."""
        return self.page.final if isinstance(self.page, Page) else self.page.url


def examine_json(page: Page | Failure, read: ReadJson) -> JsonAnswer:
    """Classify an answer. Never raises, whatever the body."""
    if isinstance(page, Failure):
        return JsonAnswer(page, Finding(str(page.code), page.detail), {})
    if (refused := _without_json(page)) is not None:
        return JsonAnswer(page, refused, {})
    if page.cut:
        return JsonAnswer(page, Finding("over-limit", f"more than {len(page.body)} bytes of JSON"), {})
    reading = read_json(page.body, page.headers.get("content-type", ""))
    if reading.value is None:
        finding = by_status(page) or Finding(reading.fault, reading.detail, deviations=reading.deviations)
        return JsonAnswer(page, finding, {})
    found = read(page, reading.value)
    if found is None:
        return JsonAnswer(page, _other_object(page, reading.value), {})
    deviations = (*_answer_deviations(page), *reading.deviations, *found.deviations)
    return JsonAnswer(page, replace(found, deviations=deviations), reading.value)


def _without_json(page: Page) -> Finding | None:
    """Classify an answer with no body or with markup; return None for any other answer."""
    if page.location is not None:
        return Finding("moved", page.location.address)
    body = page.body[:_FRONT_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not body:
        return by_status(page) or Finding("empty", "no bytes in the answer")
    if body.startswith(b"<") and not _WARNING_BEFORE.match(body):
        return rejection(page, read_whole(page))
    return None


def json_of(page: Page | Failure) -> JsonObject | None:
    """Return the object in a success, for the further questions of an interview; None for anything else."""
    if isinstance(page, Failure) or page.location is not None or not 200 <= page.status < 300:
        return None
    return read_json(page.body, page.headers.get("content-type", "")).value


def json_verdict(answers: Sequence[JsonAnswer], candidate: Candidate) -> Verdict:
    """Return the verdict on the most informative answer, the first of equals."""
    return verdict_on([Answer(each.page, each.finding) for each in answers], candidate)


def error_of(value: JsonObject) -> tuple[str, str] | None:
    """Return (code, message) of an error in JSON; None for any other object.

    ArcGIS sends `{"error": {"code": …, "message": …}}` with 200, OGC APIs `{"code": …, "description": …}` or a problem
    (RFC 9457).
    """
    error = value.get("error")
    if isinstance(error, str):
        return "", line_of(error)
    inner = object_of(error) or value
    message = first_line(inner, "message", "description", "detail", "title")
    if not error and not (message and "links" not in value and _names_an_error(value)):
        return None
    details = " ".join(lines(inner.get("details")))
    return first_line(inner, "code", "status"), f"{message} {details}".strip()


def _names_an_error(value: JsonObject) -> bool:
    """Return whether an object contains a proprietary error code, or an HTTP status that is an error."""
    status = number_of(value.get("status"))
    return isinstance(value.get("code"), (str, int)) or (status is not None and status >= 400)


def _other_object(page: Page, value: JsonObject) -> Finding:
    """Classify an answer in JSON that is not the kind's document."""
    if (error := error_of(value)) is not None:
        code, message = error
        if code in _DENIED or page.status in (401, 403):
            return Finding("protected", f"{code or page.status} {message}"[:_MAX_DETAIL_CHARS])
        return by_status(page) or Finding("exception", f"{code} {message}".strip()[:_MAX_DETAIL_CHARS])
    if (refused := by_status(page)) is not None:
        return refused
    if (kind := kind_of_json(value)) is not None:
        return Finding("other-kind", f"a document of {kind}", other_kind=kind)
    return Finding("not-capabilities", f"JSON with {', '.join(list(value)[:12])}"[:_MAX_DETAIL_CHARS])


def _answer_deviations(page: Page) -> list[Deviation]:
    """Return departures of an accepted answer outside its document: status and media type."""
    found = []
    if not 200 <= page.status < 300:
        found.append(Deviation("http-status", str(page.status)))
    if page.content_type not in ("application/json", "text/json") and not page.content_type.endswith("+json"):
        found.append(Deviation("content-type", page.content_type or "none"))
    return found


# --------------------------------------------------------------------------- requests in several forms


FOR_PEOPLE = frozenset({"html", "empty", "not-json", "http-406"})
"""Reasons that may change when the document is requested in another form."""
_LOOK_BYTES = 65_536
_LINK = re.compile(r"<(?:link|a)\s[^<>]{1,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(rel|type|href)\s*=\s*(?:"([^"<>]{0,1500})"|'([^'<>]{0,1500})')""", re.IGNORECASE)

Asking = Generator[Ask, Page | Failure, list[JsonAnswer]]


def in_turn(urls: Iterable[Url], read: ReadJson, goes_on: Collection[str] = FOR_PEOPLE) -> Asking:
    """Request these addresses until the answer's reason is not in `goes_on`; return all answers."""
    answers: list[JsonAnswer] = []
    for url in urls:
        answers.append(examine_json((yield Ask(url)), read))
        if answers[-1].finding.reason not in goes_on:
            break
    return answers


def plain_then_json(endpoint: Url, read: ReadJson) -> Asking:
    """Request the address unchanged; after a page for people, the JSON that it links to, else `f=json`."""
    first = examine_json((yield Ask(endpoint)), read)
    if first.finding.reason not in FOR_PEOPLE:
        return [first]
    stated = stated_json(first.page) if isinstance(first.page, Page) else None
    return [first, examine_json((yield Ask(stated or with_parameters(endpoint, {"f": "json"}))), read)]


def stated_json(page: Page) -> Url | None:
    """Return the address of the JSON form that a page names: `<link rel="alternate" type="application/json">`.

    None without such an address on the page's host.
    """
    for tag in _LINK.finditer(page.body[:_LOOK_BYTES].decode("utf-8", "replace")):
        found = {name.lower(): unescape_html(one or other).strip() for name, one, other in _ATTRIBUTE.findall(tag[0])}
        if "alternate" in found.get("rel", "").lower().split() and found.get("type", "").lower() == "application/json":
            url = read_url(found.get("href", ""), page.final)
            if url is not None and url.host == page.final.host and url != page.url:
                return url
    return None
