"""Stand between the public and the pages: methods, names of hosts, lengths, rates, and headers of every answer."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geocrawl.web.answers import CLIENT, Problem, problem_response, too_slow
from geocrawl.web.options import ANSWER_S, MAX_AT_ONCE, MAX_AT_ONCE_OF_CLIENT, MAX_URL_CHARS
from geocrawl.web.rates import Client, Rates

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


class Guard:
    """Answers what needs no page, and adds the headers of safety to every answer (ASGI)."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        requests_per_minute: int,
        hosts: Collection[str],
        methods: Collection[str] = METHODS,
        reads_bodies: bool = False,
        images: str = "",
    ) -> None:
        """`hosts`: the names by which this server may be asked, against pages elsewhere whose name was bound to our
        address; empty for any. `reads_bodies`: the application reads the bodies of requests, and bounds them. `images`:
        another origin from which pages may load pictures, '' for none."""
        policy = POLICY.replace("img-src 'self'", f"img-src 'self' {images}".rstrip())
        self._headers = {**HEADERS, "Content-Security-Policy": policy}
        self._methods = methods
        self._reads_bodies = reads_bodies
        self._app = app
        self._rates = Rates(requests_per_minute)
        self._hosts = frozenset(hosts)
        self._at_once = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        path, has_begun = scope["path"], False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if not (path.startswith(_PAGES_ONLY) or path.endswith(RELAYS)):
                    headers.setdefault("Access-Control-Allow-Origin", "*")
            await send(message)

        client = self._rates.client((scope.get("client") or ("",))[0], time.monotonic())
        try:
            self._check(scope, client)
        except Problem as problem:
            await problem_response(problem)(scope, receive, send_with_headers)
            return
        if scope["method"] == "OPTIONS":
            await Response(status_code=204, headers=_PREFLIGHT)(scope, receive, send_with_headers)
            return
        scope["state"] = {**scope.get("state", {}), "client": client}
        CLIENT.set(id(client))
        self._at_once += 1
        client.at_once += 1
        try:
            async with asyncio.timeout(ANSWER_S + 30):
                if self._reads_bodies:
                    await self._app(scope, receive, send_with_headers)
                else:
                    await _until_left(self._app, scope, receive, send_with_headers)
        except TimeoutError:
            if not has_begun:
                await problem_response(too_slow())(scope, receive, send_with_headers)
            # else the client does not take its answer; the server closes the connection
        finally:
            self._at_once -= 1
            client.at_once -= 1

    def _check(self, scope: Scope, client: Client) -> None:
        """Raise the Problem of a request that is not answered."""
        if scope["method"] not in self._methods:
            named = " and ".join(method for method in self._methods if method != "OPTIONS")
            raise Problem(405, f"the catalogue is read with {named}", headers={"Allow": ", ".join(self._methods)})
        if len(scope["path"]) + len(scope["query_string"]) > MAX_URL_CHARS:
            raise Problem(414, f"the address has more than {MAX_URL_CHARS:,} characters; shorten it")
        host = Request(scope).headers.get("host", "")
        if not (found := _HOST.fullmatch(host)):
            raise Problem(400, "the Host header names no host")
        if self._hosts and found[1].lower() not in self._hosts:
            raise Problem(421, "this server is not asked by that name; its operator sets it with --public-url")
        if self._at_once >= MAX_AT_ONCE or client.at_once >= MAX_AT_ONCE_OF_CLIENT:
            raise Problem(503, "too many requests at once; try again", headers={"Retry-After": "2"})
        if wait_s := self._rates.wait_s(client):
            headers = {"Retry-After": str(max(1, round(wait_s)))}
            raise Problem(429, "too many requests of one client; slow down", headers=headers)


async def _until_left(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request; stop when the client has left."""

    async def leave() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass  # a body, which nobody reads

    async def received() -> Message:
        await asyncio.shield(leaving)
        return {"type": "http.disconnect"}

    async def answer() -> None:
        await app(scope, received, send)

    leaving, answering = asyncio.create_task(leave()), asyncio.create_task(answer())
    try:
        await asyncio.wait((leaving, answering), return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            await answering
    finally:
        leaving.cancel()
        answering.cancel()


_PAGES_ONLY = ("/operations", "/mcp")
"""Beginnings of paths whose answers scripts of other sites may not read."""
RELAYS = ("/preview", "/legend", "/info")
"""Ends of paths at which services' answers are relayed, which only the pages read."""
