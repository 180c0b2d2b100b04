"""Stand between the public and the pages: methods, names of hosts, lengths, rates, and headers of every answer."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from collections import OrderedDict
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geocrawl.web.answers import Problem, problem_response
from geocrawl.web.options import ANSWER_S, MAX_AT_ONCE, MAX_URL_CHARS

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"
)
"""Content-Security-Policy: nothing inline, nothing of other servers."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(), camera=(), microphone=(), payment=(), usb=()",
}
METHODS = ("GET", "HEAD", "OPTIONS")
_PREFLIGHT = {
    "Allow": ", ".join(METHODS),
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Accept, Accept-Language, If-None-Match",
    "Access-Control-Max-Age": "86400",
}
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")
_MOST_CLIENTS = 10_000
_BURST_S = 10.0
"""A client may send at once what it may send in this time on average."""


class Guard:
    """Answers what needs no page, and adds the headers of safety to every answer (ASGI)."""

    def __init__(self, app: ASGIApp, *, requests_per_minute: int, hosts: Collection[str]) -> None:
        """`hosts`: the names by which this server may be asked, against pages elsewhere whose name was bound to our
        address; empty for any."""
        self._app = app
        self._rates = Rates(requests_per_minute) if requests_per_minute else None
        self._hosts = frozenset(hosts)
        self._at_once = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith(_PAGES_ONLY):
                    headers.setdefault("Access-Control-Allow-Origin", "*")
            await send(message)

        try:
            self._check(scope)
        except Problem as problem:
            await problem_response(problem)(scope, receive, send_with_headers)
            return
        if scope["method"] == "OPTIONS":
            await Response(status_code=204, headers=_PREFLIGHT)(scope, receive, send_with_headers)
            return
        self._at_once += 1
        try:
            async with asyncio.timeout(ANSWER_S + 30):
                await self._app(scope, receive, send_with_headers)
        except TimeoutError:
            return  # the client does not take its answer; the server closes the connection
        finally:
            self._at_once -= 1

    def _check(self, scope: Scope) -> None:
        """Raise the Problem of a request that is not answered."""
        if scope["method"] not in METHODS:
            raise Problem(405, "the catalogue is read with GET and HEAD", headers={"Allow": ", ".join(METHODS)})
        if len(scope["path"]) + len(scope["query_string"]) > MAX_URL_CHARS:
            raise Problem(414, f"the address has more than {MAX_URL_CHARS:,} characters; shorten it")
        host = Request(scope).headers.get("host", "")
        if not (found := _HOST.fullmatch(host)):
            raise Problem(400, "the Host header names no host")
        if self._hosts and found[1].lower() not in self._hosts:
            raise Problem(421, "this server is not asked by that name; its operator sets it with --public-url")
        if self._at_once >= MAX_AT_ONCE:
            raise Problem(503, "too many requests at once; try again", headers={"Retry-After": "2"})
        client = scope.get("client")
        if self._rates and client and (wait_s := self._rates.wait_s(client[0], time.monotonic())):
            headers = {"Retry-After": str(max(1, round(wait_s)))}
            raise Problem(429, "too many requests of one client; slow down", headers=headers)


_PAGES_ONLY = ("/operations", "/preview")
"""Answers that scripts of other sites may not read."""


class Rates:
    """Counts the requests of clients (token bucket); an IPv6 client is its network of 64 bits."""

    def __init__(self, per_minute: int) -> None:
        self._per_s = per_minute / 60
        self._most = max(self._per_s * _BURST_S, 20.0)
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Client → requests that it may send, at which time."""

    def wait_s(self, client: str, now: float) -> float:
        """Count a request; return 0, or how long the client must wait, in seconds."""
        key = _network(client)
        left, at = self._clients.pop(key, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_s)
        waits = left < 1
        self._clients[key] = (left if waits else left - 1, now)
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return (1 - left) / self._per_s if waits else 0.0


def _network(client: str) -> str:
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return client
