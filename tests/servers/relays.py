"""Relays on loopback: each stands in front of a real server and breaks one thing (`relay_defects`).

A relay has an address of 127.0.0.0/8 to itself, so that each is a host of its own. The origin of the server is replaced
by the relay's in all texts, as by a proxy that rewrites addresses.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

_TEXTS = ("xml", "json", "html", "text")
_CONTENT = frozenset({"getmap", "map", "gettile", "getfeature", "getrecords"})
_TILES = (".png", ".jpg", ".jpeg")
_LIMIT_S = 240
_hosts = iter(f"127.88.{n // 250}.{n % 250 + 1}" for n in range(60_000))


@dataclass(frozen=True)
class Request:
    """A request as it reached the relay."""

    path: str
    parameters: tuple[tuple[str, str], ...]
    at_second_host: bool = False

    def get(self, name: str) -> str:
        """Return a parameter by its name in any case; '' for none."""
        return {key.lower(): value for key, value in self.parameters}.get(name.lower(), "")

    def without(self, name: str) -> Request:
        """Return the request without a parameter."""
        kept = tuple(each for each in self.parameters if each[0].lower() != name.lower())
        return replace(self, parameters=kept)

    @property
    def target(self) -> str:
        return self.path + (f"?{urlencode(self.parameters)}" if self.parameters else "")

    @property
    def is_for_content(self) -> bool:
        """Return whether a map, tile, feature or record is requested, by a parameter or by the path."""
        if operation := self.get("request").lower():
            return operation in _CONTENT
        return self.path.lower().endswith(_TILES) or self.path.rstrip("/").endswith(("/items", "/map"))


@dataclass(frozen=True)
class Reply:
    """What the relay sends."""

    body: bytes
    media_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    """Content-Length, where it is not the body's."""
    has_last_chunk: bool = True
    """False: the body is sent in chunks, and the last one, which is empty, is missing."""

    @property
    def is_text(self) -> bool:
        return any(word in self.media_type for word in _TEXTS)


Forward = Callable[[Request], Reply]
"""Has the real server answer."""


@dataclass
class Relay:
    """A running relay."""

    origin: str
    second_origin: str = ""
    """An address on another host that leads to the same server."""
    requests: list[Request] = field(default_factory=list)
    """Requests without those for robots.txt."""


Behaviour = Callable[[Request, Forward, Relay], Reply]
"""Answers a request: itself, or by the real server's answer, changed."""


@contextmanager
def relaying(target: str, behaviour: Behaviour) -> Iterator[Relay]:
    """Run a relay in front of the server of an address."""
    server = urlsplit(target)
    real = f"{server.scheme}://{server.netloc}"
    relay = Relay("")

    def respond(handler: BaseHTTPRequestHandler, *, at_second_host: bool) -> None:
        path, _, query = handler.path.partition("?")
        request = Request(path, tuple(parse_qsl(query, keep_blank_values=True)), at_second_host)
        if path == "/robots.txt":
            _send(handler, Reply(b"", "text/plain", 404))
            return
        relay.requests.append(request)
        own = relay.second_origin if at_second_host else relay.origin

        def forward(asked: Request) -> Reply:
            reply = _forwarded(server.netloc, asked)
            body = reply.body.replace(real.encode(), own.encode()) if reply.is_text else reply.body
            return replace(reply, body=body)

        _send(handler, behaviour(request, forward, relay))

    with (
        _serving(lambda handler: respond(handler, at_second_host=False)) as relay.origin,
        _serving(lambda handler: respond(handler, at_second_host=True)) as relay.second_origin,
    ):
        yield relay


@contextmanager
def _serving(respond: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Serve on a free port of an address of its own; yields the origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            respond(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that have read enough hang up."""

    host = next(_hosts)
    with Server((host, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _forwarded(netloc: str, request: Request) -> Reply:
    connection = http.client.HTTPConnection(netloc, timeout=_LIMIT_S)
    try:
        connection.request("GET", request.target, headers={"Accept": "*/*"})
        answer = connection.getresponse()
        location = {"Location": value} if (value := answer.headers["Location"]) else {}
        return Reply(answer.read(), answer.headers["Content-Type"] or "", answer.status, location)
    finally:
        connection.close()


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    handler.send_response(reply.status)
    handler.send_header("Content-Type", reply.media_type)
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    if reply.has_last_chunk:
        handler.send_header("Content-Length", str(len(reply.body) if reply.length is None else reply.length))
        handler.end_headers()
        handler.wfile.write(reply.body)
    else:
        handler.protocol_version = "HTTP/1.1"
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(reply.body), reply.body) if reply.body else b"")
