"""One HTTP exchange: a GET, or a POST of XML; its header fields, and as much of its body as limits and purpose allow.

It follows no redirect and remembers nothing between two exchanges; `fetcher` does both.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from email.message import Message
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.request import Request

import httpx

from geocrawl.fetch.answer_reader import AnswerReader, HttpAnswer, KeptConnectionLost, UnverifiedServer
from geocrawl.fetch.decode import ACCEPTED
from geocrawl.fetch.failures import WEB_ERRORS, Unreadable, classify, is_refused_tunnel
from geocrawl.fetch.guard import AddressGuard, is_literal
from geocrawl.fetch.ip_bounds import IpBounds
from geocrawl.fetch.names import NameCache, Resolver
from geocrawl.fetch.network import ConnectionLost
from geocrawl.fetch.own_faults import OwnFaults
from geocrawl.fetch.proxy import EnvironmentProxies, Proxy, Routes, basic
from geocrawl.fetch.tls import tls_deviation
from geocrawl.fetch.transport import PooledTransport, Route, request_for
from geocrawl.model import Failure, FailureCode, Purpose, Url, Validators
from geocrawl.model.web import conditions
from geocrawl.ports import Clock, NetworkWait, Politeness
from geocrawl.resources import lack_of
from geocrawl.settings import Settings

if TYPE_CHECKING:
    from geocrawl.fetch.record import WarcRecorder

_ACCEPT = {
    Purpose.PAGE: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    Purpose.PROBE: "*/*",
    Purpose.MAP: "*/*",
    Purpose.ROBOTS: "text/plain,*/*;q=0.8",
    Purpose.DATA: "*/*",
}
_ORIGIN = "https://viewer.example"
"""What a map viewer on a web page would send, so that a server shows whether it permits that (CORS, Fetch standard,
3.2)."""
_ABOUT = "crawler of public map services; see Politeness in its README.md; no contact set"
_MOST_COOKIES, _COOKIE_BYTES = 50, 4_096  # RFC 6265, 6.1: what a client should keep at least
_FIELD_BYTES = 6_144
"""Longest field Cookie: Apache and nginx refuse a field of 8 KiB, Tomcat and Jetty such a head with all its fields."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


def user_agent(settings: Settings, version: str) -> str:
    """Return the User-Agent: the setting, or `geocrawl/VERSION (+contact)`; one line of Latin-1.

    Without a contact it says what the crawler is and where that is described.
    """
    text = settings.user_agent
    if not text:
        text = f"geocrawl/{version} ({f'+{settings.contact}' if settings.contact else _ABOUT})"
    return _CONTROLS.sub(" ", text).encode("latin-1", "replace").decode("latin-1").strip()


class Cookies:
    """Keeps the cookies that redirects of one fetch set, and chooses those that apply to an address (RFC 6265)."""

    def __init__(self) -> None:
        self._jar = CookieJar()

    def take(self, address: str, set_cookies: Sequence[bytes]) -> None:
        """Keep what an answer from `address` sets: the values of its fields Set-Cookie, as sent."""
        short = [value for value in set_cookies if len(value) <= _COOKIE_BYTES][:_MOST_COOKIES]
        if short and len(self._jar) < _MOST_COOKIES:
            self._jar.extract_cookies(_Setting(short), _as_request(address))  # type: ignore[arg-type]

    def field(self, address: str) -> bytes:
        """Return the value of the field Cookie for a request for `address`, b'' without cookies. Of more than it may
        have the longest are left out: a session's is short."""
        request = _as_request(address)
        self._jar.add_cookie_header(request)
        field = str(request.get_header("Cookie", "")).encode("latin-1", "replace")
        if len(field) <= _FIELD_BYTES:
            return field
        cookies, kept, room = field.split(b"; "), set[int](), _FIELD_BYTES
        for number in sorted(range(len(cookies)), key=lambda each: len(cookies[each])):
            room -= len(cookies[number]) + 2
            if room >= 0:
                kept.add(number)
        return b"; ".join(cookie for number, cookie in enumerate(cookies) if number in kept)

    def names_and_values(self) -> tuple[str, ...]:
        """Return all cookies as `name=value`, sorted: two equal ones mean that nothing was set again."""
        return tuple(sorted(f"{cookie.name}={cookie.value}" for cookie in self._jar))


def _as_request(address: str) -> Request:
    """Return a request as `CookieJar` reads it; it is not sent."""
    return Request(address)  # noqa: S310 - any scheme: nothing is opened


class _Setting:
    """What `CookieJar` reads of an answer."""

    def __init__(self, set_cookies: Sequence[bytes]) -> None:
        self._message = Message()
        for value in set_cookies:
            self._message["Set-Cookie"] = value.decode("latin-1")

    def info(self) -> Message:
        return self._message


class HttpClient:
    """Makes exchanges; owns the connections."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        environment: EnvironmentProxies,
        politeness: Politeness,
        *,
        user_agent: str,
        transport: httpx.AsyncBaseTransport | None = None,
        resolver: Resolver | None = None,
        recorder: WarcRecorder | None = None,
        on_received: Callable[[int], object] | None = None,
    ) -> None:
        """Raise UsageError for a proxy that cannot be used. `politeness` has the places of IP addresses; `transport`
        replaces the network, `resolver` its names: without one, the addresses behind a replaced network are not known.

        `on_received` is called with the number of bytes of everything received, whatever becomes of the answer: header
        blocks and bodies as sent (before decoding), without what TLS, chunked coding and the network add.
        """
        self._settings = settings
        self._clock = clock
        self._reader = AnswerReader(settings, on_received or (lambda received_bytes: None))
        self._guard = AddressGuard(allow_private=settings.allow_private)
        self._routes = Routes(settings, environment)
        names = NameCache(settings.dns_timeout_s)
        self._names = resolver if transport else names
        self._ip_bounds = IpBounds(
            clock, politeness, most_at_once=settings.requests_per_ip, lasts_s=2 * settings.total_timeout_s
        )
        connections = transport or PooledTransport(settings, self._guard, names)
        self._client = httpx.AsyncClient(
            transport=connections if recorder is None else recorder.recorded(connections),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # those of a fetch are its own (`cookies`)
            trust_env=False,
        )
        common = {"User-Agent": user_agent, "Accept-Encoding": ACCEPTED}
        self._fields = {purpose: _encoded({**common, "Accept": accept}) for purpose, accept in _ACCEPT.items()}
        self._fields[Purpose.MAP] += _encoded({"Origin": _ORIGIN})
        self._own_faults = OwnFaults(settings) if transport is None else None
        self._never_conditional = recorder is not None  # a recording without bodies could not be replayed

    async def get(
        self,
        url: Url,
        purpose: Purpose,
        cookies: Cookies | None = None,
        validators: Validators | None = None,
        *,
        body: bytes | None = None,
        waiting: NetworkWait = nullcontext,
        begins_turn: bool = False,
        verified: bool = True,
        to_end: bool = False,
    ) -> HttpAnswer | Failure:
        """Request `url`, by POST with a `body`, and return the answer, or a Failure for any web failure. Raise OwnFault
        for a fault of this machine.

        `cookies` are sent as far as they apply, `validators` if they belong to this very address. `waiting`: as in
        `ports.Fetcher.turn`. With `begins_turn`
        PutOff is raised, and nothing sent, while too many requests to the IP address are under way. Without `verified`
        the server's certificate and its version of TLS do not matter. `to_end`: read the body until the server closes
        the connection, whatever Content-Length says.
        """
        started, proxy = self._clock.monotonic(), self._routes.proxy_for(url)
        # The wait ends when the answer begins: no worker is needed to send a request when its time has come.
        async with AsyncExitStack() as wait, AsyncExitStack() as under_way:
            await wait.enter_async_context(waiting(0.0))
            try:
                self._guard.check_host(url.host)
                ip = await self._look_up(url, proxy)
            except (*WEB_ERRORS, RuntimeError) as error:
                return await self._failure(error, url, proxy, started, None)
            if ip:
                gap_s = self._settings.ip_delay_factor * self._settings.delay_of_s(url.host)
                bounded = self._ip_bounds.request(ip, gap_s, begins_turn=begins_turn)
                await under_way.enter_async_context(bounded)
            conditional_fields = self._conditions(url, validators)
            fields = self._fields_for(url, purpose, cookies, conditional_fields)
            if body is not None:
                fields += _encoded({"Content-Type": "application/xml"})
            request = request_for(url.address, fields, Route(proxy, verified, to_end), body=body)
            return await self._exchange(url, purpose, request, wait, conditional=bool(conditional_fields))

    async def _exchange(
        self, url: Url, purpose: Purpose, request: httpx.Request, wait: AsyncExitStack, *, conditional: bool
    ) -> HttpAnswer | Failure:
        """Send a request and read its answer; `wait` is closed when the answer has begun."""
        route: Route = request.extensions["route"]
        proxy = route.proxy
        started = self._clock.monotonic()
        response: httpx.Response | None = None
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._settings.total_timeout_s
        try:
            async with asyncio.timeout_at(ends_at):
                response = await self._client.send(request, stream=True)
            answered, answered_at = self._clock.monotonic(), loop.time()
            await wait.aclose()
            started += self._clock.monotonic() - answered  # the wait for a place is not the server's
            async with asyncio.timeout_at(ends_at + loop.time() - answered_at):
                answer = await self._reader.read(
                    response, url, purpose, proxied=proxy is not None, conditional=conditional
                )
        except asyncio.CancelledError:
            if response is not None:  # cut off between head and body: the connection is not given back by a reader
                await response.aclose()
            raise
        except (Unreadable, *WEB_ERRORS, RuntimeError) as error:
            failure = await self._failure(error, url, proxy, started, response)
            passable = tls_deviation(error) if route.verified and failure.code is FailureCode.TLS else None
            if passable is None or not self._may_go_on_unverified(url, proxy):
                return failure
            return UnverifiedServer(url, failure.code, failure.detail, failure.elapsed_ms, deviation=passable)
        if self._own_faults:
            self._own_faults.answered(url, proxy)
        return replace(answer, elapsed_ms=self._since_ms(started))

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
        if proxy is not None and (is_refused_tunnel(error) or code.startswith("timeout-")):
            detail = f"{detail} (through the proxy {proxy.address})"
        status = response.status_code if response is not None else None
        kind = KeptConnectionLost if is_repeated else Failure
        return kind(url, code, detail, self._since_ms(started), status=status)

    def _may_go_on_unverified(self, url: Url, proxy: Proxy | None) -> bool:
        """Return whether a server that cannot be verified may be asked: nothing secret is sent to it.

        A proxy that is asked over TLS is verified with the same context as the server.
        """
        if self._settings.strict_tls or self._settings.credentials_of(url.host, url.origin):
            return False
        return proxy is None or not proxy.address.startswith("https:")

    async def _look_up(self, url: Url, proxy: Proxy | None) -> str:
        """Return the IP address that a request counts for; '' when that is not known, as through a proxy.

        Looking the name up before connecting gives the look-up its own time limit.
        """
        host = proxy.host if proxy else url.host
        if self._names is None:
            return ""
        addresses = [host] if is_literal(host) else [ip for _, ip in await self._names.addresses(host)]
        return "" if proxy else min(addresses)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def _since_ms(self, started: float) -> float:
        return (self._clock.monotonic() - started) * 1000

    def _conditions(self, url: Url, validators: Validators | None) -> dict[str, str]:
        """Return the fields that make a request conditional; a validator means nothing at another address."""
        if validators is None or validators.address != url.address or self._never_conditional:
            return {}
        return conditions(validators)

    def _fields_for(
        self, url: Url, purpose: Purpose, cookies: Cookies | None, conditional_fields: dict[str, str]
    ) -> list[tuple[bytes, bytes]]:
        """Return the header fields of a request."""
        fields = [(b"Host", url.origin.partition("://")[2].encode()), *self._fields[purpose]]
        fields += _encoded(conditional_fields)
        if credentials := self._settings.credentials_of(url.host, url.origin):
            fields += _encoded({"Authorization": basic(":".join(credentials))})
        if cookies is not None and (cookie := cookies.field(url.address)):
            fields.append((b"Cookie", cookie))
        return fields


def _encoded(fields: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in fields.items()]


def _was_kept(error: BaseException) -> bool:
    """Return whether a connection that earlier requests had used ended before the answer."""
    return isinstance(error, ConnectionLost) and error.was_kept
