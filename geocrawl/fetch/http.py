"""One HTTP exchange: a GET, its header fields, and as much of its body as the limits and the purpose allow.

It follows no redirect and remembers nothing between two exchanges; `fetcher` does both.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from urllib.parse import quote

import httpx

from geocrawl.fetch.connections import ConnectionLost, ExactTransport
from geocrawl.fetch.content import SNIFF_BYTES, check_date, check_first_bytes, check_type
from geocrawl.fetch.decode import ACCEPTED, Body, Decoder, Limits
from geocrawl.fetch.failures import WEB_ERRORS, Unreadable, classify
from geocrawl.fetch.guard import AddressGuard, is_literal
from geocrawl.fetch.names import Names
from geocrawl.fetch.own_faults import OwnFaults
from geocrawl.fetch.proxy import EnvironmentProxies, Proxy, Routes, basic
from geocrawl.fetch.record import RecordingTransport, WarcRecorder
from geocrawl.fetch.transport import Transport
from geocrawl.model import Failure, FailureCode, Purpose, Url, Validators
from geocrawl.model.validators import conditions
from geocrawl.ports import Clock
from geocrawl.resources import lack_of
from geocrawl.settings import Settings, SiteSettings
from geocrawl.urls import read_url

_REDIRECTS = frozenset({301, 302, 303, 307, 308})  # RFC 9110, 15.4
_ACCEPT = {
    Purpose.PAGE: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    Purpose.PROBE: "*/*",
    Purpose.MAP: "*/*",
    Purpose.ROBOTS: "text/plain,*/*;q=0.8",
}
_ORIGIN = "https://viewer.example"
"""What a map viewer on a web page would send, so that a server shows whether it permits that (CORS, Fetch standard,
3.2)."""
_MAY_BE_CUT = frozenset({Purpose.ROBOTS, Purpose.PROBE})
"""Purposes for which the beginning is worth reading when the whole is too long (RFC 9309, 2.5; a service's first
layers)."""
_NOT_MODIFIED = 304
_PROXY_AUTHENTICATION_REQUIRED = 407
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_NO_SITE = SiteSettings()


@dataclass(frozen=True, slots=True)
class Answer:
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
    response: httpx.Response
    """The response, for its cookies."""
    not_modified: bool = False
    """As in `Page`."""


@dataclass(frozen=True, slots=True)
class KeptConnectionLost(Failure):
    """A connection on which the server had answered before ended instead of an answer (`reset`).

    The server may have closed it before the request arrived, so it is worth one more request (RFC 9112, 9.3.1).
    """


@dataclass(frozen=True, slots=True)
class _Content:
    body: bytes = b""
    sent_bytes: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Received:
    headers: dict[str, str]
    location: Url | None
    content: _Content
    not_modified: bool


def user_agent(settings: Settings, version: str) -> str:
    """Return the User-Agent: the setting, or `geocrawl/VERSION (+contact)`; one line of Latin-1."""
    text = settings.user_agent
    if not text:
        text = f"geocrawl/{version}" + (f" (+{settings.contact})" if settings.contact else "")
    return _CONTROLS.sub(" ", text).encode("latin-1", "replace").decode("latin-1").strip()


class HttpClient:
    """Makes exchanges; owns the connections."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        environment: EnvironmentProxies,
        *,
        user_agent: str,
        transport: Transport | None = None,
        recorder: WarcRecorder | None = None,
        on_received: Callable[[int], object] = lambda received_bytes: None,
    ) -> None:
        """Raise UsageError for a proxy that cannot be used. `transport` replaces the network.

        `on_received` is called with the number of bytes of everything received, whatever becomes of the answer: header
        blocks and bodies as sent (before decoding), without what TLS, chunked coding and the network add.
        """
        self._settings = settings
        self._clock = clock
        self._on_received = on_received
        self._guard = AddressGuard(allow_private=settings.allow_private)
        self._routes = Routes(settings, environment)
        names = Names(settings.dns_timeout_s)
        self._names = None if transport else names
        self._transport: Transport = transport or ExactTransport(settings, self._guard, names)
        if recorder is not None:
            self._transport = RecordingTransport(self._transport, recorder)
        common = {"User-Agent": user_agent, "Accept-Encoding": ACCEPTED}
        self._headers = {purpose: {**common, "Accept": accept} for purpose, accept in _ACCEPT.items()}
        self._headers[Purpose.MAP]["Origin"] = _ORIGIN
        self._own_faults = OwnFaults(settings) if transport is None else None
        self._never_conditional = recorder is not None  # a recording without bodies could not be replayed

    async def get(
        self,
        url: Url,
        purpose: Purpose,
        cookies: httpx.Cookies | None = None,
        validators: Validators | None = None,
    ) -> Answer | Failure:
        """Request `url` and return the answer, or a Failure for any web failure. Raise OwnFault for one of ours.

        `cookies` are sent as far as they apply, `validators` if they belong to this very address.
        """
        started = self._clock.monotonic()
        proxy = self._routes.proxy_for(url)
        conditional_fields = self._conditions(url, validators)
        response: httpx.Response | None = None
        try:
            self._guard.check_host(url.host)
            await self._look_up(proxy.host if proxy else url.host)
            async with asyncio.timeout(self._settings.total_timeout_s):
                request = self._request(url, purpose, cookies, proxy, conditional_fields)
                response = await self._transport.handle_async_request(request)
                got = await self._receive(
                    response, url, purpose, proxied=proxy is not None, conditional=bool(conditional_fields)
                )
        except (Unreadable, *WEB_ERRORS, RuntimeError) as error:
            return await self._failure(error, url, proxy, started, response)
        if self._own_faults:
            self._own_faults.answered(url, proxy)
        return Answer(
            url=url,
            status=response.status_code,
            headers=got.headers,
            body=got.content.body,
            cut=got.content.cut,
            location=got.location,
            sent_bytes=got.content.sent_bytes,
            elapsed_ms=self._since_ms(started),
            response=response,
            not_modified=got.not_modified,
        )

    async def _failure(
        self, error: Exception, url: Url, proxy: Proxy | None, started: float, response: httpx.Response | None
    ) -> Failure:
        """Return the failure of a server; raise OwnFault for one of this machine, and `error` if it is a defect."""
        if isinstance(error, RuntimeError) and not lack_of(error):
            raise error
        code, detail = classify(error, proxied=proxy is not None)
        is_repeated = _was_kept(error)
        if self._own_faults and not is_repeated:
            fault = await self._own_faults.fault_of(error, code, url, proxy)
            if fault is not None:
                raise fault from error
        if code is FailureCode.TIMEOUT_TOTAL:
            detail = f"no whole answer within {self._settings.total_timeout_s:g} s"
        status = response.status_code if response is not None else None
        kind = KeptConnectionLost if is_repeated else Failure
        return kind(url, code, detail, self._since_ms(started), status=status)

    async def _receive(
        self, response: httpx.Response, url: Url, purpose: Purpose, *, proxied: bool, conditional: bool
    ) -> _Received:
        """Read a response as far as it is wanted and close it. Raise Unreadable, or an error of the transport."""
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream), "our transport is asynchronous"
        try:
            self._on_received(_header_bytes(response))
            if response.status_code == _PROXY_AUTHENTICATION_REQUIRED and proxied:
                raise Unreadable(FailureCode.PROXY, "the proxy requires a user name and password (407)")
            headers = _headers(response, self._settings.header_bytes)
            location = _redirect_target(url, response)
            content = _Content()
            not_modified = response.status_code == _NOT_MODIFIED and conditional
            if location is None and not not_modified:
                content = await self._read(stream, response.is_success, headers, url, purpose)
        finally:
            await stream.aclose()
        return _Received(headers, location, content, not_modified)

    async def _look_up(self, host: str) -> None:
        """Have the addresses of a host at hand before it is connected, so that the wait for them has its own limit."""
        if self._names is not None and not is_literal(host):
            await self._names.addresses(host)

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    def _since_ms(self, started: float) -> float:
        return (self._clock.monotonic() - started) * 1000

    def _conditions(self, url: Url, validators: Validators | None) -> dict[str, str]:
        """Return the fields that make a request conditional; a validator means nothing at another address."""
        if validators is None or validators.address != url.address or self._never_conditional:
            return {}
        return conditions(validators)

    def _request(
        self,
        url: Url,
        purpose: Purpose,
        cookies: httpx.Cookies | None,
        proxy: Proxy | None,
        conditional_fields: dict[str, str],
    ) -> httpx.Request:
        request = httpx.Request(
            "GET",
            url.address,
            headers={**self._headers[purpose], **conditional_fields},
            extensions={"address": url.address, "proxy": proxy},
        )
        if credentials := self._settings.credentials_of(url.host, url.origin):
            request.headers["Authorization"] = basic(":".join(credentials))
        if cookies is not None:
            cookies.set_cookie_header(request)
        return request

    async def _read(
        self, stream: AsyncIterable[bytes], success: bool, headers: dict[str, str], url: Url, purpose: Purpose
    ) -> _Content:
        """Return the decoded body. Raise Unreadable, or an error of the transport.

        Of an error page the status alone counts: when its body is not worth reading, it stays empty.
        """
        site = self._settings.sites.get(url.host, _NO_SITE)
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        limits = self._limits(purpose, site)
        try:
            if purpose is Purpose.PAGE:
                check_date(headers.get("last-modified", ""), site)
            check_type(content_type, purpose)
            return await _read_body(stream, headers, limits, content_type, purpose, self._on_received)
        except Unreadable as problem:
            if problem.code is FailureCode.WRONG_TYPE and not success:
                return _Content()
            raise

    def _limits(self, purpose: Purpose, site: SiteSettings) -> Limits:
        s = self._settings
        longest = {
            Purpose.PAGE: s.page_body_bytes,
            Purpose.PROBE: s.probe_body_bytes,
            Purpose.MAP: s.map_body_bytes,
            Purpose.ROBOTS: s.robots_body_bytes,
        }[purpose]
        if site.max_body_bytes and purpose is not Purpose.ROBOTS:
            longest = site.max_body_bytes
        return Limits(longest, s.max_ratio, s.ratio_free_bytes, s.max_encodings)


async def _read_body(
    stream: AsyncIterable[bytes],
    headers: dict[str, str],
    limits: Limits,
    content_type: str,
    purpose: Purpose,
    on_received: Callable[[int], object],
) -> _Content:
    decoder = Decoder(headers.get("content-encoding", ""), limits)
    body = Body(limits, cut=purpose in _MAY_BE_CUT)
    sniffed = False
    async for data in stream:
        on_received(len(data))
        for piece in decoder.feed(data):
            if not body.add(piece):
                return _Content(body.bytes(), decoder.sent_bytes, body.cut)
        if not sniffed and len(body) >= SNIFF_BYTES:
            sniffed = True
            check_first_bytes(body.bytes(), content_type, purpose)
    decoder.finish()
    if not sniffed:
        check_first_bytes(body.bytes(), content_type, purpose)
    return _Content(body.bytes(), decoder.sent_bytes)


def _was_kept(error: BaseException) -> bool:
    """Return whether a connection that earlier requests had used ended before the answer; httpx wraps the error."""
    return isinstance(error.__cause__, ConnectionLost) and error.__cause__.was_kept


def _header_bytes(response: httpx.Response) -> int:
    """Return the length of the header fields as HTTP/1.1 writes them: `name: value` and a line end each."""
    return sum(len(name) + len(value) + 4 for name, value in response.headers.raw)


def _headers(response: httpx.Response, limit: int) -> dict[str, str]:
    """Return the header fields; bytes that are not UTF-8 are read as Latin-1. Raise Unreadable (header-limit)."""
    fields: dict[str, str] = {}
    size = _header_bytes(response)
    for raw_name, raw_value in response.headers.raw:
        name = raw_name.decode("latin-1").lower()
        try:
            value = raw_value.decode()
        except UnicodeDecodeError:
            value = raw_value.decode("latin-1")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    if size > limit:
        raise Unreadable(FailureCode.HEADER_LIMIT, f"the header block has {size} bytes, at most {limit} are read")
    return fields


def _redirect_target(url: Url, response: httpx.Response) -> Url | None:
    """Return where a redirect leads (RFC 9110, 10.2.2); None for no redirect, or one to no web address.

    Bytes beyond ASCII are escaped unchanged, whatever their encoding.
    """
    if response.status_code not in _REDIRECTS:
        return None
    for name, value in response.headers.raw:
        if name.lower() == b"location":
            return read_url(quote(value.strip(), safe="!\"#$%&'()*+,/:;<=>?@[\\]^_`{|}~ "), url)
    return None
