"""What one answer to GetCapabilities is: a WMS, or by which code it is none.

Accepted as in the gws paper (Shen et al. 2015): the root is `WMS_Capabilities` or `WMT_MS_Capabilities` and has
`Service` and `Capability`, after tolerant reading. The HTTP status and the Content-Type are noted, not believed:
servers send exceptions with 200 and capabilities with 500.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lxml import etree

from geocrawl.model import Deviation, Page, Service
from geocrawl.probe import owslib_reader, wms_reader
from geocrawl.probe.elements import child, line_of, local_name
from geocrawl.probe.layers import read_layers
from geocrawl.probe.normalise import Cut, Reading, media_type_deviation, read_xml

_ROOTS = {"wms_capabilities": "WMS_Capabilities", "wmt_ms_capabilities": "WMT_MS_Capabilities"}
_EXCEPTIONS = frozenset({"ServiceExceptionReport", "ServiceException", "ExceptionReport", "WMTException", "Exception"})
_HTML = re.compile(rb"<!doctype\s+html|<html\b|<head\b|<body\b", re.IGNORECASE)
_HTML_BYTES = 4_096
_MAX_DETAIL_CHARS = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """What an answer is."""

    reason: str
    """ok, exception, html, empty, truncated, other-kind, not-capabilities, protected, moved or http-NNN."""
    detail: str = ""
    service: Service | None = None
    deviations: tuple[Deviation, ...] = ()


def examine(page: Page, address: str) -> Finding:
    """What an answer is. `address` is the endpoint's. Never raises, whatever the body."""
    if page.location is not None:
        return Finding("moved", page.location.address)
    if not page.body.strip():
        return _by_status(page) or Finding("empty", "no bytes in the answer")
    reading = read_xml(page.body, page.headers.get("content-type", ""))
    root = reading.root
    name = local_name(root) if root is not None else ""
    if root is not None and name.lower() in _ROOTS:
        return _capabilities(page, root, reading, address)
    if page.status in (401, 403):
        return Finding("protected", f"HTTP {page.status}")
    if root is not None and name in _EXCEPTIONS:
        return Finding("exception", line_of(root)[:_MAX_DETAIL_CHARS], deviations=reading.deviations)
    return _by_status(page) or _none(page, root, name)


def _by_status(page: Page) -> Finding | None:
    if page.status in (401, 403):
        return Finding("protected", f"HTTP {page.status}")
    return None if 200 <= page.status < 300 else Finding(f"http-{page.status}", f"HTTP {page.status}")


def _none(page: Page, root: etree._Element | None, name: str) -> Finding:
    if name.lower() == "html" or _HTML.search(page.body, 0, _HTML_BYTES):
        title = re.search(rb"<title[^>]{0,200}>([^<]{0,300})", page.body[:65_536], re.IGNORECASE)
        return Finding("html", " ".join(title[1].decode("utf-8", "replace").split()) if title else "")
    if root is None:
        return Finding("not-capabilities", f"no XML: {page.content_type or 'no Content-Type'}")
    namespace = etree.QName(root).namespace if isinstance(root.tag, str) and root.tag.startswith("{") else None
    named = f"{name} ({namespace})" if namespace else name
    is_kind = name.endswith("Capabilities") and name != "GetCapabilities"
    return Finding("other-kind" if is_kind else "not-capabilities", named[:_MAX_DETAIL_CHARS])


def _capabilities(page: Page, root: etree._Element, reading: Reading, address: str) -> Finding:
    if reading.cut is Cut.INSIDE:
        return Finding("truncated", f"ends with {page.body[-60:]!r}", deviations=reading.deviations)
    missing = [part for part in ("Service", "Capability") if child(root, part) is None]
    if missing:
        return Finding("not-capabilities", f"{local_name(root)} without {' and '.join(missing)}")
    deviations = (*_of_answer(page), *reading.deviations, *_of_root(root))
    layers, of_layers = read_layers(root)
    service = replace(wms_reader.read_service(root), version=wms_reader.read_version(root) or _usual_version(root))
    by_owslib = owslib_reader.read_service(root, service, address)
    service = replace(by_owslib.service or service, layers=layers)
    service = replace(service, fingerprint=wms_reader.fingerprint(service))
    reader = "read by OWSLib" if by_owslib.service else f"read without OWSLib ({by_owslib.failure})"
    return Finding("ok", reader, service, (*deviations, *of_layers))


def _of_answer(page: Page) -> list[Deviation]:
    found = []
    if not 200 <= page.status < 300:
        found.append(Deviation("http-status", str(page.status)))
    if (wrong_type := media_type_deviation(page.headers.get("content-type", ""))) is not None:
        found.append(wrong_type)
    return found


def _usual_version(root: etree._Element) -> str:
    return "1.3.0" if local_name(root).lower() == "wms_capabilities" else "1.1.1"


def _of_root(root: etree._Element) -> list[Deviation]:
    """Departures in name, version and namespace (WMS 1.3.0, 7.2.4.1 and annex E; 1.1.1, annex A)."""
    found = []
    name, version = local_name(root), wms_reader.read_version(root)
    if name != _ROOTS[name.lower()]:
        found.append(Deviation("root-case", name))
    if not version:
        found.append(Deviation("no-version", f"taken for {_usual_version(root)}"))
    if version and (name.lower() == "wms_capabilities") != version.startswith("1.3"):
        found.append(Deviation("root-name", f"{name} for version {version}"))
    expected = owslib_reader.WMS_NAMESPACE if (version or _usual_version(root)).startswith("1.3") else None
    namespace = etree.QName(root).namespace if str(root.tag).startswith("{") else None
    if namespace != expected:
        code = "namespace-missing" if namespace is None else "namespace-wrong"
        found.append(Deviation(code, f"{namespace or 'none'} instead of {expected or 'none'}"))
    return found
