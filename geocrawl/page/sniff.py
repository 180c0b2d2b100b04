"""Detect the format of an answer by its beginning, not by its label: servers send HTML as text, and XML as HTML."""

from __future__ import annotations

import re
from enum import StrEnum

from geocrawl.formats.text import BINARY_STARTS, GZIP_START, UTF_16_STARTS

_BINARY_TYPES = ("image/", "audio/", "video/", "font/")
_MARKUP = re.compile(rb"\s*<[!?a-zA-Z]")

# Before the root: declaration and instructions, comments, a document type. Matched one by one, so never quadratic.
_PROLOG = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[<>]*(?:\[[^\]]*\]\s*)?>)", re.I | re.S)
_ROOT = re.compile(r"\s*<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)([^>]{0,4000})")
_HEAD_CHARS = 65_536
_XML_ROOTS = frozenset(
    {
        "rss",
        "rdf",
        "feed",
        "urlset",
        "sitemapindex",
        "opml",
        "kml",
        "opensearchdescription",
        "viewcontext",
        "qgis",
        "qlr",
    }
    | {"gdal_wms", "gdal_wmts", "wcs_gdal", "ogrwfsdatasource", "qgswmsconnections", "qgswfsconnections"}
)
_XML_ROOT_ENDS = ("capabilities", "metadata", "exceptionreport", "recordsresponse", "recordbyidresponse")


class Form(StrEnum):
    """The format of an answer, which decides its reader."""

    HTML = "html"
    XML = "xml"
    TEXT = "text"


def is_binary(body: bytes, content_type: str) -> bool:
    """Return whether `body` is no text, by its media type, its first bytes, or NULs before any markup."""
    if content_type.startswith(_BINARY_TYPES) and content_type != "image/svg+xml":
        return True
    if _MARKUP.match(body) or body.startswith(UTF_16_STARTS):
        return False
    return body.startswith((GZIP_START, *BINARY_STARTS)) or b"\0" in body[:1024]


def text_form(text: str, content_type: str) -> Form:
    """Return the format of decoded text, by its beginning more than by `content_type`."""
    head = text[:_HEAD_CHARS].lstrip("\ufeff")
    if not head.lstrip().startswith("<"):
        return Form.HTML if "html" in content_type and "<" in text else Form.TEXT
    declared = head.lstrip().startswith("<?xml")
    name, attributes = _root(head)
    if name == "html" or not name:
        return Form.HTML
    if declared or "xml" in content_type or name in _XML_ROOTS or name.endswith(_XML_ROOT_ENDS):
        return Form.XML
    return Form.XML if "xmlns" in attributes and name != "svg" else Form.HTML


def _root(head: str) -> tuple[str, str]:
    """Return local name (lower case) and attributes of the first element's tag; ('', '') without elements."""
    position = 0
    while prolog := _PROLOG.match(head, position):
        position = prolog.end()
    root = _ROOT.match(head, position)
    return (root[1].lower(), root[2]) if root else ("", "")
