"""Decide which answers are worth their body: by media type, first bytes and date, before the body is read or early
on."""

from __future__ import annotations

import codecs
import datetime as dt
import re
from email.utils import parsedate_to_datetime

from geocrawl.fetch.failures import Unreadable
from geocrawl.formats.text import BINARY_STARTS, GZIP_START, UTF_16_STARTS
from geocrawl.model import FailureCode, Purpose
from geocrawl.settings import SiteSettings

SNIFF_BYTES = 512
_MEDIA = re.compile(r"(?:image|audio|video|font|model)/")
_NOT_A_PAGE = re.compile(
    r"application/(?:pdf|zip|x-zip.*|x-tar|x-7z.*|x-rar.*|vnd\.rar|x-bzip.*|x-xz|java-archive|x-msdownload|x-msi"
    r"|x-shockwave-flash|msword|rtf|postscript|wasm|epub\+zip|geopackage\+sqlite3|x-sqlite3"
    r"|vnd\.ms-.*|vnd\.openxmlformats.*|vnd\.oasis\.opendocument.*|vnd\.android.*|vnd\.debian.*|vnd\.google-earth\.kmz)"
)
_WIDE = (*UTF_16_STARTS, codecs.BOM_UTF32_BE)
# Bytes that occur in no text, whatever its encoding (0x1b begins ISO 2022 escapes); WHATWG MIME Sniffing standard, 7.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def check_type(content_type: str, purpose: Purpose) -> None:
    """Raise Unreadable (wrong-type) when the media type alone says that a page or its data are not worth reading."""
    if purpose in (Purpose.PAGE, Purpose.DATA) and (_MEDIA.match(content_type) or _NOT_A_PAGE.fullmatch(content_type)):
        raise Unreadable(FailureCode.WRONG_TYPE, f"Content-Type {content_type}")


def check_first_bytes(head: bytes, content_type: str, purpose: Purpose) -> None:
    """Raise Unreadable (wrong-type) when the body is not text.

    Media types are wrong both ways: octet-stream may be HTML.
    """
    # A gzip file may be a compressed sitemap, which `page` decompresses.
    if purpose in (Purpose.ROBOTS, Purpose.MAP) or head.startswith((*_WIDE, GZIP_START)):
        return
    if content_type.startswith("text/") or content_type.endswith(("xml", "json", "javascript")):
        return
    if head.startswith(BINARY_STARTS) or _BINARY.search(head, 0, SNIFF_BYTES):
        raise Unreadable(FailureCode.WRONG_TYPE, f"binary content, Content-Type {content_type or 'not named'}")


def check_date(last_modified: str, site: SiteSettings) -> None:
    """Raise Unreadable (date) when Last-Modified is outside the site's `not_before`…`not_after`; days in UTC."""
    if not (site.not_before or site.not_after) or not last_modified:
        return
    moment = read_http_date(last_modified)
    if moment is None:
        return
    day = moment.date().isoformat()
    if (site.not_before and day < site.not_before) or (site.not_after and day > site.not_after):
        wanted = f"{site.not_before or '…'} to {site.not_after or '…'}"
        raise Unreadable(FailureCode.DATE, f"last modified on {day}, wanted: {wanted}")


def check_wanted_type(content_type: str, site: SiteSettings) -> None:
    """Raise Unreadable (wrong-type) when a page's media type is none of the site's `types`; without one it is read."""
    wanted = site.types
    if content_type and wanted and content_type not in wanted and f"{content_type.partition('/')[0]}/*" not in wanted:
        raise Unreadable(FailureCode.WRONG_TYPE, f"Content-Type {content_type}, wanted: {', '.join(wanted)}")


def read_http_date(text: str) -> dt.datetime | None:
    """Return the time of an HTTP date (RFC 9110, 5.6.7) in UTC; None when it is not valid."""
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        return moment.astimezone(dt.UTC)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
