"""Read as much of a response as the request's purpose needs and the limits allow: header fields, redirect, body."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass, replace
from urllib.parse import quote

from geocrawl.fetch.content import SNIFF_BYTES, check_date, check_first_bytes, check_type, check_wanted_type
from geocrawl.fetch.decode import Body, Decoder, Limits, unnamed_encoding
from geocrawl.fetch.failures import WEB_ERRORS, Unreadable, is_early_end
from geocrawl.fetch.robots import ROBOTS_BODY_BYTES
from geocrawl.fetch.transport import Fields, HttpResponse, value_of
from geocrawl.model import Deviation, FailureCode, Purpose, Url
from geocrawl.settings import Settings, SiteSettings
from geocrawl.urls import read_url

_REDIRECTS = frozenset({301, 302, 303, 307, 308})  # RFC 9110, 15.4
_MAY_BE_CUT = frozenset({Purpose.ROBOTS, Purpose.PROBE})
"""Purposes for which the beginning is worth reading when the whole is too long (RFC 9309, 2.5; a service's first
layers)."""
_OF_SERVICES = frozenset({Purpose.PROBE, Purpose.MAP})
"""Purposes for which faults of coding and length are passed over, as GIS clients do."""
_NOT_MODIFIED = 304
_PROXY_AUTHENTICATION_REQUIRED = 407
_NO_SITE = SiteSettings()


@dataclass(frozen=True, slots=True)
class Content:
    """A body, as far as it was read."""

    body: bytes = b""
    sent_bytes: int = 0
    cut: bool = False
    deviations: tuple[Deviation, ...] = ()
    """Faults tolerated in the body's coding and at its end (requests to services only)."""


_NOTHING = Content()


@dataclass(frozen=True, slots=True)
class Received:
    """The parts of a response that later code needs."""

    headers: dict[str, str]
    location: Url | None
    content: Content
    not_modified: bool


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
        self._limits_of = {purpose: Limits(most) for purpose, most in longest.items()}

    async def read(
        self, response: HttpResponse, url: Url, purpose: Purpose, *, proxied: bool, conditional: bool
    ) -> Received:
        """Read as much of a response as is needed, and close it. Raise Unreadable, or an error of the transport."""
        try:
            header_bytes = _header_bytes(response.fields)
            self._on_received(header_bytes)
            if response.status == _PROXY_AUTHENTICATION_REQUIRED and proxied:
                raise Unreadable(FailureCode.PROXY, "the proxy requires a user name and password (407)")
            if header_bytes > (most := self._settings.header_bytes):
                raise Unreadable(
                    FailureCode.HEADER_LIMIT, f"the header block has {header_bytes} bytes, at most {most} are read"
                )
            headers = _headers(response.fields)
            location = _redirect_target(url, response)
            not_modified = response.status == _NOT_MODIFIED and conditional
            if location is not None or not_modified:
                content = _NOTHING
            else:
                content = await self._read_body(response.body, 200 <= response.status < 300, headers, url, purpose)
        finally:
            await response.body.aclose()
        return Received(headers, location, content, not_modified)

    async def _read_body(
        self, stream: AsyncIterable[bytes], success: bool, headers: dict[str, str], url: Url, purpose: Purpose
    ) -> Content:
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

    def _limits(self, purpose: Purpose, site: SiteSettings) -> Limits:
        limits = self._limits_of[purpose]
        if site.max_body_bytes and purpose is not Purpose.ROBOTS:
            return replace(limits, body_bytes=site.max_body_bytes)
        return limits


async def _read_stream(
    stream: AsyncIterable[bytes],
    headers: dict[str, str],
    limits: Limits,
    content_type: str,
    purpose: Purpose,
    on_received: Callable[[int], object],
) -> Content:
    encoding = headers.get("content-encoding", "")
    decoder = Decoder(encoding, limits)
    body = Body(limits, cut=purpose in _MAY_BE_CUT)
    tolerated: list[Deviation] = []
    sniffed = False
    try:
        async for data in stream:
            on_received(len(data))
            if purpose in _OF_SERVICES and not encoding and not decoder.sent_bytes and unnamed_encoding(data):
                decoder = Decoder(unnamed_encoding(data), limits)
                tolerated.append(Deviation("packed", unnamed_encoding(data)))
            for piece in decoder.feed(data):
                if not body.add(piece):
                    return Content(body.bytes(), decoder.sent_bytes, body.cut, tuple(tolerated))
            if not sniffed and len(body) >= SNIFF_BYTES:
                sniffed = True
                check_first_bytes(body.bytes(), content_type, purpose)
        decoder.finish()
    except (Unreadable, *WEB_ERRORS) as error:
        if not _may_end_early(error, purpose) or not len(body):
            raise
        tolerated.append(Deviation("body-end", f"after {decoder.sent_bytes} bytes"))
    if not sniffed:
        check_first_bytes(body.bytes(), content_type, purpose)
    return Content(body.bytes(), decoder.sent_bytes, deviations=tuple(tolerated))


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
    return fields


def _redirect_target(url: Url, response: HttpResponse) -> Url | None:
    """Return where a redirect leads (RFC 9110, 10.2.2); None for no redirect, or one to no web address.

    Bytes beyond ASCII are escaped unchanged, whatever their encoding.
    """
    if response.status not in _REDIRECTS:
        return None
    value = value_of(response.fields, b"Location").strip()
    return read_url(quote(value, safe="!\"#$%&'()*+,/:;<=>?@[\\]^_`{|}~ "), url) if value else None
