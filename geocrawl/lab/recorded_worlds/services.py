"""Answer for the services of a recorded web by their `behaviour` (docs/evaluation.md), as the OGC standards require."""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from geocrawl.lab.recorded_worlds.world import TrueService
from geocrawl.model.kinds import facts_of

SLOW_S = 20.0
"""How long a service of behaviour `slow` takes."""
_HTML = "text/html; charset=utf-8"
_XML = "text/xml; charset=UTF-8"
_JSON = "application/json; charset=UTF-8"
_OPERATIONS = {
    name.lower(): name
    for name in (
        "GetCapabilities",
        "GetMap",
        "GetFeatureInfo",
        "GetLegendGraphic",
        "DescribeLayer",
        "GetStyles",
        "GetFeature",
        "DescribeFeatureType",
        "GetPropertyValue",
        "ListStoredQueries",
        "GetTile",
        "GetCoverage",
        "DescribeCoverage",
        "GetRecords",
        "GetRecordById",
        "DescribeRecord",
        "GetDomain",
        "Transaction",
    )
} | {"capabilities": "GetCapabilities", "map": "GetMap"}
_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*\?>\s*")
_VARIANTS = ("content-type", "bom", "no-declaration")
_WRONG_TYPES = (_HTML.replace("utf-8", "UTF-8"), "text/plain", "application/octet-stream")
_CUT_DOCUMENT = b'<?xml version="1.0"?>\n<WMT_MS_Capabilities version="1.1.1">\n<Service><Name>OGC:WMS</Name>\n'


class Reply(NamedTuple):
    """The answer of a service."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def operation(parameters: Mapping[str, str]) -> str | None:
    """Return the OGC operation asked for, as the standards spell it; None when the request names none."""
    name = parameters.get("request")
    return _OPERATIONS.get(name.lower(), name[:40]) if name else None


def reply(service: TrueService, parameters: Mapping[str, str], document: Callable[[], bytes]) -> Reply:
    """Return what `service` answers to a GET with these parameters (names in lower case).

    `document` returns the service's capabilities document. The caller adds the delay of slow services (`SLOW_S`).
    """
    match service.behaviour:
        case "notfound":
            return Reply(404, "text/html; charset=iso-8859-1", _page("404 Not Found", "There is nothing here."))
        case "auth":
            login = (("WWW-Authenticate", 'Basic realm="GIS"'),)
            return Reply(401, _HTML, _page("401 Unauthorized", "Please log in."), login)
        case "html200":
            moved = 'This map service has moved; see the <a href="/">home page</a>.'
            return Reply(200, _HTML, _page("Service temporarily unavailable", moved))
        case "exception":
            return exception(service.kind, _version(parameters), "NoApplicableCode", "The map cannot be loaded.")
        case "garbage":
            whole = document() or _CUT_DOCUMENT
            return Reply(200, _document_type(whole), whole[: max(40, len(whole) * 3 // 5)])
    if facts_of(service.kind).by_path:
        return _rest(service, parameters, document)
    return _ogc(service, parameters, document)


def unknown_service(parameters: Mapping[str, str]) -> Reply:
    """Return the answer to a request at an address of services that matches none of these services."""
    return exception("wms", "1.1.1", "NoApplicableCode", "A required parameter is missing or unknown.")


def _rest(service: TrueService, parameters: Mapping[str, str], document: Callable[[], bytes]) -> Reply:
    wanted = parameters.get("f", "").lower()
    if service.kind == "arcgis" and wanted not in ("json", "pjson"):
        text = f'{service.id} (MapServer) <a href="?f=pjson">JSON</a>'
        return Reply(200, _HTML, _page("ArcGIS REST Services Directory", text))
    if wanted == "html":
        return Reply(200, _HTML, _page("Landing page", '<a href="?f=json">JSON</a>'))
    return Reply(200, service.content_type or _JSON, document())


def _ogc(service: TrueService, parameters: Mapping[str, str], document: Callable[[], bytes]) -> Reply:
    request = (parameters.get("request") or "").lower()
    version = _version(parameters)
    if request in ("getcapabilities", "capabilities") or (not request and _is_document(service)):
        asked = parameters.get("service", "").lower()
        if asked and asked != service.kind:
            return exception("ows", version, "InvalidParameterValue", "No such service here.")
        return _capabilities(service, document())
    if not request:
        return exception(service.kind, version, "MissingParameterValue", "REQUEST is missing.")
    if service.kind == "wms" and request in ("getmap", "map"):
        if not (parameters.get("layers") or parameters.get("sld")):
            return exception("wms", version, "LayerNotDefined", "LAYERS is missing.")
        size = _pixels(parameters.get("width")), _pixels(parameters.get("height"))
        return Reply(200, "image/png", png(*size))
    if (service.kind, request) in (("wms", "getlegendgraphic"), ("wmts", "gettile")):
        side = 24 if service.kind == "wms" else 256
        return Reply(200, "image/png", png(side, side))
    if service.kind == "wms" and request == "getfeatureinfo":
        return Reply(200, "text/plain; charset=UTF-8", b"Nothing is here.\n")
    return exception(service.kind, version, "OperationNotSupported", "This operation is not supported.")


def _capabilities(service: TrueService, document: bytes) -> Reply:
    if service.behaviour != "lenient":
        return Reply(200, service.content_type or _document_type(document), document)
    variant = service.variant
    if variant is None:  # then the id decides which one
        variant = _VARIANTS[int(hashlib.sha1(service.id.encode(), usedforsecurity=False).hexdigest()[:4], 16) % 3]
    if variant == "content-type":
        return Reply(200, _WRONG_TYPES[len(document) % 3], document)
    if variant == "bom":
        return Reply(200, _XML, b"\xef\xbb\xbf" + document)
    return Reply(200, _XML, _DECLARATION.sub(b"", document, count=1))


def exception(kind: str, version: str, code: str, text: str) -> Reply:
    """Return an exception report: WMS 1.3.0 (OGC 06-042, E.2), WMS 1.1.1 (01-068r3, A.3), else OWS Common."""
    if kind != "wms":
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1" version="1.1.0">'
            f'<ows:Exception exceptionCode="{code}"><ows:ExceptionText>{text}</ows:ExceptionText></ows:Exception>'
            "</ows:ExceptionReport>\n"
        )
        return Reply(200, "application/xml; charset=UTF-8", body.encode())
    new = version.startswith("1.3")
    space = ' xmlns="http://www.opengis.net/ogc"' if new else ""
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<ServiceExceptionReport version="{"1.3.0" if new else "1.1.1"}"{space}>'
        f'<ServiceException code="{code}">{text}</ServiceException></ServiceExceptionReport>\n'
    )
    return Reply(200, _XML if new else "application/vnd.ogc.se_xml", body.encode())


def png(width: int, height: int) -> bytes:
    """Return a map in two colours: a chequered PNG of this size."""
    square = bytes(16) + b"\1" * 16
    even, odd = (b"\0" + (shifted * (width // 32 + 1))[:width] for shifted in (square, square[16:] + square[:16]))
    pixels = zlib.compress(((even * 16 + odd * 16) * (height // 32 + 1))[: (width + 1) * height], 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", bytes((240, 240, 230, 80, 140, 190))), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def _is_document(service: TrueService) -> bool:
    """Return whether the address is that of a document, which answers without REQUEST."""
    return service.base.partition("?")[0].lower().endswith((".xml", "/1.0.0"))


def _document_type(document: bytes) -> str:
    if document[:1] in (b"{", b"["):
        return _JSON
    if b"<WMT_MS_Capabilities" in document[:3000]:
        return "application/vnd.ogc.wms_xml; charset=UTF-8"
    return _XML


def _version(parameters: Mapping[str, str]) -> str:
    return parameters.get("version") or parameters.get("wmtver") or "1.1.1"


def _pixels(text: str | None) -> int:
    try:
        return min(max(int(float(text or 64)), 1), 1024)
    except (ValueError, OverflowError):
        return 64


def _page(title: str, text: str) -> bytes:
    head, body = f"<head><title>{title}</title></head>", f"<body><h1>{title}</h1><p>{text}</p></body>"
    return f"<!DOCTYPE html>\n<html>{head}\n{body}</html>\n".encode()
