"""Classify one answer to a request for capabilities, for all kinds.

The HTTP status and the Content-Type are noted, not believed: servers send exceptions with 200 and capabilities with
500. A kind passes a function that reads its own document (`Read`). Everything else that a server may send instead is
classified here: empty, HTML, exception, access denied, capabilities of another kind.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from lxml import etree

from geocrawl.formats.json import JsonObject, read_json
from geocrawl.formats.xml import Reading, child, line_of, local_name, media_type_deviation, namespace_of
from geocrawl.model import Deviation, Failure, Kind, Page, Service
from geocrawl.probe.registry import is_capabilities, kind_of_json, kind_of_root
from geocrawl.probe.stream import read_whole

SLOW_MS = 10_000.0
"""A server that takes longer is asked again only where its answer says what may help: its host's others wait."""
_EXCEPTIONS = frozenset(
    {"ServiceExceptionReport", "ServiceException", "ExceptionReport", "WMTException", "Exception", "Fault"}
)
_HTML = re.compile(rb"<!doctype\s+html|<html\b|<head\b|<body\b", re.IGNORECASE)
_HTML_BYTES = 4_096
_BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"
_MAX_DETAIL_CHARS = 500


@dataclass(frozen=True, slots=True)
class Classification:
    """The classification of an answer: a reason code, with the service if the answer describes one."""

    reason: str
    """ok, exception, html, empty, truncated, other-kind, not-capabilities, protected, moved or http-NNN."""
    detail: str = ""
    service: Service | None = None
    """The service without its fingerprint."""
    deviations: tuple[Deviation, ...] = ()
    other_kind: Kind | None = None
    """The kind of the capabilities, when another kind was requested."""
    value: JsonObject = field(default_factory=dict)
    """The object in an accepted answer in JSON; empty for any other answer."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", self.detail[:_MAX_DETAIL_CHARS])


Read = Callable[[Page, etree._Element, Reading], Classification | None]
"""Function that reads a document of the requested kind; returns None for a root of another document."""


def is_slow(answer: Page | Failure) -> bool:
    """Return whether an answer took long."""
    return answer.elapsed_ms > SLOW_MS


def examine(page: Page, read: Read) -> Classification:
    """Classify an answer. Never raises, whatever the body."""
    if (absent := without_body(page)) is not None:
        return absent
    reading = read_whole(page)
    classification = read(page, reading.root, reading) if reading.root is not None else None
    return classification or rejection(page, reading)


def without_body(page: Page) -> Classification | None:
    """Classify an answer without a body; return None for an answer with a body."""
    if page.location is not None:
        return Classification("moved", page.location.address)
    if not page.body or page.body.isspace():
        return by_status(page) or Classification("empty", "no bytes in the answer")
    return None


def rejection(page: Page, reading: Reading) -> Classification:
    """Classify an answer with a body that is not the kind's document."""
    root = reading.root
    if refused := protection(page):
        return Classification("protected", refused)
    if root is not None and local_name(root) in _EXCEPTIONS:
        return Classification("exception", line_of(root), deviations=reading.deviations)
    return by_status(page) or _other_document(page, root)


def by_status(page: Page) -> Classification | None:
    """Classify an answer by its status alone; return None for a success."""
    if refused := protection(page):
        return Classification("protected", refused)
    return None if 200 <= page.status < 300 else Classification(f"http-{page.status}", f"HTTP {page.status}")


def _other_document(page: Page, root: etree._Element | None) -> Classification:
    name = local_name(root) if root is not None else ""
    if name.lower() == "html" or _HTML.search(page.body, 0, _HTML_BYTES):
        title = re.search(rb"<title[^>]{0,200}>([^<]{0,300})", page.body[:65_536], re.IGNORECASE)
        return Classification("html", " ".join(title[1].decode("utf-8", "replace").split()) if title else "")
    if root is None:
        return _no_xml(page)
    named = f"{name} ({namespace})" if (namespace := namespace_of(root)) else name
    if name == "Envelope" and (body := child(root, "Body")) is not None and len(body):
        named = f"a SOAP envelope around {local_name(body[0])}: no answer to a plain request"
    kind = kind_of_root(root)
    reason = "other-kind" if kind or is_capabilities(root) else "not-capabilities"
    return Classification(reason, named, other_kind=kind)


def _no_xml(page: Page) -> Classification:
    """Classify an answer without XML: JSON of a service of another kind, or unknown."""
    value = read_json(page.body).value if page.body.lstrip(_BEFORE_JSON).startswith(b"{") else None
    kind = kind_of_json(value) if value is not None else None
    if kind is not None:
        return Classification("other-kind", f"a JSON document of {kind}", other_kind=kind)
    media_type = "JSON" if value is not None else page.content_type or "no Content-Type"
    return Classification("not-capabilities", f"no XML: {media_type}")


def answer_deviations(page: Page, *, is_json: bool = False) -> list[Deviation]:
    """Return departures of an accepted answer outside its document: status and media type."""
    deviations = [] if 200 <= page.status < 300 else [Deviation("http-status", str(page.status))]
    if not is_json:
        wrong_type = media_type_deviation(page.headers.get("content-type", ""))
    elif page.content_type in ("application/json", "text/json") or page.content_type.endswith("+json"):
        wrong_type = None
    else:
        wrong_type = Deviation("content-type", page.content_type or "none")
    return [*deviations, *((wrong_type,) if wrong_type is not None else ())]


_STATUS = frozenset({401, 403, 407, 511})
"""RFC 9110, 15.5.2, 15.5.4 and 15.5.8; RFC 6585, 6 (a network that wants a login first)."""
_PASSWORD = re.compile(rb"<input\b[^>]{0,300}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_PAGE_BYTES = 262_144
_BLOCKED = re.compile(
    rb"\b(?:request|access|url|page|client)\b[^<>]{0,60}\b(?:rejected|blocked|denied|unsuccessful|forbidden)\b",
    re.IGNORECASE,
)
_TICKET = re.compile(
    rb"\b(?:support|incident|event|attack|reference|request|ray|transaction) ?(?:id|#|number)\b", re.IGNORECASE
)
_BLOCKED_BYTES = 16_384
"""Filters of requests answer with short pages: a sentence that refuses, and a number for whoever asks about it."""


def protection(page: Page) -> str:
    """Return how the answer refuses access, as a line for people; '' when it does not."""
    if page.status in _STATUS:
        return f"HTTP {page.status}"
    if page.headers.get("cf-mitigated", "").strip().lower() == "challenge":
        return f"HTTP {page.status}, a puzzle for browsers"
    if page.status == 406 and b"mod_security" in page.body[:_PAGE_BYTES].lower():
        return "HTTP 406, a filter of requests (Mod_Security)"
    if refused := refusal_with_number(page):
        return refused
    if page.hops and _PASSWORD.search(page.body, 0, _PAGE_BYTES):
        return f"redirected to a login at {page.final.address}"
    return ""


def refusal_with_number(page: Page) -> str:
    """Return that a filter of requests answered with a short page that refuses and gives a number to quote; '' for
    another answer."""
    is_short_page = len(page.body) <= _BLOCKED_BYTES and _HTML.search(page.body, 0, _HTML_BYTES) is not None
    is_refusal = is_short_page and _BLOCKED.search(page.body) and _TICKET.search(page.body)
    return f"HTTP {page.status}, a filter of requests" if is_refusal else ""


def with_fingerprint(service: Service) -> Service:
    """Return a service with a hash, 32 digits, of its kind, title, abstract, and names and titles of layers.

    The hash includes no address, so it is the same at two addresses of one service.
    """
    layers = [(layer.name, layer.title) for layer in service.layers]
    text = json.dumps([service.kind, service.title, service.abstract, layers], ensure_ascii=False)
    return replace(service, fingerprint=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
