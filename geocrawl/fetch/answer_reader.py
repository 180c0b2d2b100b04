"""Read as much of a response as the request's purpose needs and the limits allow: header fields, redirect, body.

Media type, first bytes and date decide, before the body is read or early on, whether it is worth reading. `HttpAnswer`
is the result of an exchange, beside the failures that the fetcher can do something about.
"""

from __future__ import annotations

import codecs
import datetime as dt
import re
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from urllib.parse import quote

import httpx

from geocrawl.fetch.decode import Body, BodyLimits, Decoder, unnamed_encoding
from geocrawl.fetch.failures import WEB_ERRORS, Unreadable, is_early_end
from geocrawl.fetch.network import ANNOUNCED_LENGTH
from geocrawl.fetch.transport import Fields, fields_of
from geocrawl.formats.text import BINARY_STARTS, GZIP_START, UTF_16_STARTS, header_charset
from geocrawl.model import Deviation, Failure, FailureCode, Purpose, Url
from geocrawl.settings import Settings, SiteSettings
from geocrawl.urls import read_url


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The result of one exchange."""

    url: Url
    status: int
    headers: dict[str, str]
    """Lower-case names; values of a repeated field are joined by ', '."""
    body: bytes
    cut: bool
    """Whether the body was longer than the limit and ends there."""
    location: Url | None
    """Target of a redirect, whose body is not read."""
    sent_bytes: int
    """Bytes of the body on the wire, before decoding."""
    elapsed_ms: float
    set_cookies: tuple[bytes, ...] = ()
    """Values of the fields Set-Cookie, as sent."""
    not_modified: bool = False
    """As in `Page`."""
    deviations: tuple[Deviation, ...] = ()
    """As in `Page`."""

    @property
    def announced_length(self) -> str:
        """Return the Content-Length of an answer that was read to its end, as sent; '' for none."""
        return self.headers.get(ANNOUNCED_LENGTH, "")


@dataclass(frozen=True, slots=True)
class KeptConnectionLost(Failure):
    """A connection on which the server had answered before ended instead of an answer (`reset`).

    The server may have closed it before the request arrived, so it is worth one more request (RFC 9112, 9.3.1).
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiedServer(Failure):
    """A server whose TLS was refused (`tls`) for a fault that a probe may pass over; the request was not sent."""

    deviation: Deviation
    """The fault."""


SNIFF_BYTES = 512
_MEDIA = re.compile(r"(?:image|audio|video|font|model)/")
_NOT_A_PAGE = re.compile(
    r"application/(?:pdf|zip|x-zip.*|x-tar|x-7z.*|x-rar.*|vnd\.rar|x-bzip.*|x-xz|java-archive|x-msdownload|x-msi"
    r"|x-shockwave-flash|msword|rtf|postscript|wasm|epub\+zip|geopackage\+sqlite3|x-sqlite3"
    r"|vnd\.ms-.*|vnd\.openxmlformats.*|vnd\.oasis\.opendocument.*|vnd\.android.*|vnd\.debian.*|vnd\.google-earth\.kmz)"
)
_ONE_OF_TYPES = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+"?)+')
_MEDIA_TYPE = re.compile(r"(?!\*/\*)[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*(?:;|$)")
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
    """Raise Unreadable (wrong-type) for a media type that the site's `types` lack; a page without one is read."""
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


ROBOTS_BODY_BYTES = 500 * 1024
"""Longest robots.txt; the rest is not read (RFC 9309, 2.5)."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})  # RFC 9110, 15.4
_TAG = re.compile(rb"<(?![!?])")
_TAG_BYTES = 1 << 20
"""Longest tag of a service's markup: attributes without end are not read."""
_BEFORE_MARKUP = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"
"""Byte order marks and white space."""
_MAY_BE_CUT = frozenset({Purpose.ROBOTS, Purpose.PROBE})
"""Purposes for which the beginning is worth reading when the whole is too long (RFC 9309, 2.5; a service's first
layers)."""
_OF_SERVICES = frozenset({Purpose.PROBE, Purpose.MAP})
"""Purposes for which faults of coding and length are passed over, as GIS clients do."""
_NOT_MODIFIED = 304
_PROXY_AUTHENTICATION_REQUIRED = 407
_NO_SITE = SiteSettings()


@dataclass(frozen=True, slots=True)
class PartialBody:
    """A body, as far as it was read."""

    body: bytes = b""
    sent_bytes: int = 0
    cut: bool = False
    deviations: tuple[Deviation, ...] = ()
    """Faults tolerated in the body's coding and at its end (requests to services only)."""


_NOTHING = PartialBody()


class AnswerReader:
    """Reads responses and closes them."""

    def __init__(self, settings: Settings, on_received: Callable[[int], object]) -> None:
        """`on_received`: as in `HttpClient`."""
        self._settings = settings
        self._on_received = on_received
        longest = {
            Purpose.PAGE: settings.page_body_bytes,
            Purpose.PROBE: settings.probe_body_bytes,
            Purpose.MAP: settings.map_body_bytes,
            Purpose.ROBOTS: ROBOTS_BODY_BYTES,
            Purpose.DATA: settings.page_body_bytes,
        }
        self._limits_of = {purpose: BodyLimits(most) for purpose, most in longest.items()}

    async def read(
        self, response: httpx.Response, url: Url, purpose: Purpose, *, proxied: bool, conditional: bool
    ) -> HttpAnswer:
        """Read as much of a response as is needed, and close it. Raise Unreadable, or an error of the transport.

        How long the answer took is left to the caller.
        """
        try:
            header_bytes = _header_bytes(fields_of(response))
            self._on_received(header_bytes)
            if response.status_code == _PROXY_AUTHENTICATION_REQUIRED and proxied:
                raise Unreadable(FailureCode.PROXY, "the proxy requires a user name and password (407)")
            if header_bytes > (most := self._settings.header_bytes):
                raise Unreadable(
                    FailureCode.HEADER_LIMIT, f"the header block has {header_bytes} bytes, at most {most} are read"
                )
            headers = _headers(fields_of(response))
            location = _redirect_target(url, response)
            not_modified = response.status_code == _NOT_MODIFIED and conditional
            if location is not None or not_modified:
                content = _NOTHING
            else:
                content = await self._read_body(response.aiter_raw(), response.is_success, headers, url, purpose)
        finally:
            await response.aclose()
        return HttpAnswer(
            url=url,
            status=response.status_code,
            headers=headers,
            body=content.body,
            cut=content.cut,
            location=location,
            sent_bytes=content.sent_bytes,
            elapsed_ms=0.0,
            set_cookies=tuple(value for name, value in fields_of(response) if name.lower() == b"set-cookie"),
            not_modified=not_modified,
            deviations=content.deviations,
        )

    async def _read_body(
        self, stream: AsyncIterable[bytes], success: bool, headers: dict[str, str], url: Url, purpose: Purpose
    ) -> PartialBody:
        """Return the decoded body. Raise Unreadable, or an error of the transport.

        For an error page only the status matters: when its body is not worth reading, it stays empty.
        """
        site = self._settings.sites.get(url.host, _NO_SITE)
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        limits = self._limits(purpose, site)
        try:
            if purpose is Purpose.PAGE:
                check_date(headers.get("last-modified", ""), site)
                check_wanted_type(content_type, site)
            check_type(content_type, purpose)
            return await _read_stream(stream, headers, limits, content_type, purpose, self._on_received)
        except Unreadable as problem:
            if problem.code is FailureCode.WRONG_TYPE and not success:
                return _NOTHING
            raise

    def _limits(self, purpose: Purpose, site: SiteSettings) -> BodyLimits:
        limits = self._limits_of[purpose]
        if site.max_body_bytes and purpose is not Purpose.ROBOTS:
            return replace(limits, body_bytes=site.max_body_bytes)
        return limits


async def _read_stream(
    stream: AsyncIterable[bytes],
    headers: dict[str, str],
    limits: BodyLimits,
    content_type: str,
    purpose: Purpose,
    on_received: Callable[[int], object],
) -> PartialBody:
    encoding = headers.get("content-encoding", "")
    decoder = Decoder(encoding, limits)
    body = Body(limits, cut=purpose in _MAY_BE_CUT)
    tolerated: list[Deviation] = []
    sniffed = is_markup = False
    tag_at: int | None = None  # where the last tag begins that has not ended
    try:
        async for data in stream:
            on_received(len(data))
            if purpose in _OF_SERVICES and not encoding and not decoder.sent_bytes and unnamed_encoding(data):
                decoder = Decoder(unnamed_encoding(data), limits)
                tolerated.append(Deviation("packed", unnamed_encoding(data)))
            for piece in decoder.feed(data):
                if (end := piece.rfind(b">")) >= 0:
                    tag_at = None
                if tag_at is None and (begin := _TAG.search(piece, end + 1)):
                    tag_at = len(body) + begin.start()
                if is_markup and tag_at is not None and len(body) - tag_at > _TAG_BYTES:
                    raise Unreadable(FailureCode.BODY_LIMIT, f"a tag is longer than {_TAG_BYTES} bytes")
                if not body.add(piece):
                    return PartialBody(body.bytes(), decoder.sent_bytes, body.cut, tuple(tolerated))
            if not sniffed and len(body) >= SNIFF_BYTES:
                sniffed = True
                is_markup = purpose is Purpose.PROBE and body.bytes().lstrip(_BEFORE_MARKUP).startswith(b"<")
                check_first_bytes(body.bytes(), content_type, purpose)
        decoder.finish()
    except (Unreadable, *WEB_ERRORS) as error:
        if not _may_end_early(error, purpose) or not len(body):
            raise
        tolerated.append(Deviation("body-end", f"after {decoder.sent_bytes} bytes"))
    if not sniffed:
        check_first_bytes(body.bytes(), content_type, purpose)
    return PartialBody(body.bytes(), decoder.sent_bytes, deviations=tuple(tolerated))


def _may_end_early(error: BaseException, purpose: Purpose) -> bool:
    """Return whether a body is used although it ended early: whether a service's description or content is whole shows
    in itself, and a wrong Content-Length is common."""
    if purpose not in _OF_SERVICES:
        return False
    return error.code is FailureCode.TRUNCATED if isinstance(error, Unreadable) else is_early_end(error)


def _header_bytes(fields: Fields) -> int:
    """Return the length of the header fields as HTTP/1.1 writes them: `name: value` and a line end each."""
    return sum(len(name) + len(value) + 4 for name, value in fields)


def _headers(sent: Fields) -> dict[str, str]:
    """Return the header fields; bytes that are not UTF-8 are read as Latin-1."""
    fields: dict[str, str] = {}
    for raw_name, raw_value in sent:
        name = raw_name.decode("latin-1").lower()
        try:
            value = raw_value.decode()
        except UnicodeDecodeError:
            value = raw_value.decode("latin-1")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    if "," in (media_type := fields.get("content-type", "")):
        fields["content-type"] = _last_media_type(media_type)
    return fields


def _last_media_type(written: str) -> str:
    """Return the media type that browsers take of several ones, with a charset that one of its name before it had
    (Fetch standard, "extract a MIME type"); the whole text when none is a media type."""
    chosen = charset = ""
    for part in (text.strip() for text in _ONE_OF_TYPES.findall(written)):
        if not _MEDIA_TYPE.match(part):
            continue
        own = header_charset(part)
        is_same = part.partition(";")[0].strip().lower() == chosen.partition(";")[0].strip().lower()
        charset = own or (charset if is_same else "")
        chosen = part if own or not charset else f"{part};charset={charset}"
    return chosen or written


def _redirect_target(url: Url, response: httpx.Response) -> Url | None:
    """Return where a redirect leads (RFC 9110, 10.2.2); None for no redirect, or one to no web address.

    Bytes beyond ASCII are escaped unchanged, whatever their encoding.
    """
    if response.status_code not in _REDIRECTS:
        return None
    values = (value for name, value in fields_of(response) if name.lower() == b"location")
    value = next(values, b"").strip()
    return read_url(quote(value, safe="!\"#$%&'()*+,/:;<=>?@[\\]^_`{|}~ "), url) if value else None


# --------------------------------------------------------------------------- answers longer than announced

_HEAD_BYTES = 4_096
_TAIL_BYTES = 4_096
_ROOT = re.compile(rb"<([A-Za-z_][\w:.-]{0,200})")
_PNG, _END_OF_PNG = b"\x89PNG", b"IEND"
_AFTER_JSON = (b"}", b"]", b")", b";")


def may_be_longer(answer: HttpAnswer | Failure) -> bool:
    """Return whether a body may go on behind its Content-Length: its text breaks off there.

    Programs that count the characters of a text instead of its bytes announce too little. The length is all that
    separates two answers on one connection, so what follows it is garbage to a client: a parser refuses it, or it is
    dropped. Only a request that the server answers on a connection of its own, which it closes, can be read to its
    real end.
    """
    if isinstance(answer, Failure):
        return False
    announced = answer.headers.get("content-length", "")
    if (
        answer.cut
        or not {"content-encoding", "transfer-encoding"}.isdisjoint(answer.headers)
        or announced != str(answer.sent_bytes)
    ):
        return False
    return _breaks_off(answer.body)


def length_deviation(short: HttpAnswer | Failure, whole: HttpAnswer) -> Deviation | None:
    """Return the deviation of an answer that was longer than announced; None when nothing more came."""
    if isinstance(short, HttpAnswer) and len(whole.body) <= len(short.body):
        return None
    return Deviation("body-end", f"{whole.sent_bytes} bytes, Content-Length: {whole.announced_length or 'unreadable'}")


def _breaks_off(body: bytes) -> bool:
    """Return whether XML, JSON or a PNG lacks its end. A page in HTML needs none."""
    if body.startswith(_PNG):
        return _END_OF_PNG not in body[-_TAIL_BYTES:]
    head, tail = body[:_HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n"), body[-_TAIL_BYTES:].rstrip(b"\0 \t\r\n")
    if head.startswith((b"{", b"[")):
        return not tail.endswith(_AFTER_JSON)
    root = _ROOT.search(head) if head.startswith(b"<") else None
    if root is None or root[1].lower() == b"html":
        return False
    is_empty_element = head[root.start() :].partition(b">")[0].endswith(b"/")
    return b"</" + root[1] not in tail and not is_empty_element
