"""Relays before real servers; each breaks one thing that GIS clients meet, and probes of what is behind."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from PIL import Image, ImageDraw

from tests.support.processes import clean_environment

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


_QUERIED = frozenset({"wms", "wfs", "wmts"})
_DRAWN = frozenset({"wms", "wmts", "tms"})
_ALL = _QUERIED | {"csw", "tms", "ogcapi"}
_PLACE = "/moved"
_DAY = "2020-01-02"
_MOST_SCALE = 1_500_000.0
"""Greatest scale denominator at which the relay draws."""
_PIXEL_M, _DEGREE_M = 0.00028, 111_319.49
_OPERATION = re.compile(
    rb"<(?:\w+:)?Operation name=\"(?:GetMap|GetTile|GetFeature)\".*?</(?:\w+:)?Operation>"
    rb"|<(GetMap|GetFeature)>.*?</\1>|<ResourceURL [^>]*resourceType=\"tile\"[^>]*>",
    re.DOTALL,
)
_NAMED_LAYER = re.compile(rb"(<Layer[^>]*>\s*<Name>[^<]*</Name>\s*<Title>[^<]*</Title>)")
_ROOT_VERSION = re.compile(rb"<WMS_Capabilities")


@dataclass(frozen=True)
class Defect:
    """One thing that a relay breaks."""

    name: str
    make: Callable[[], Behaviour]
    """Returns the behaviour of one relay, which may remember what it was asked."""
    kinds: frozenset[str] = _ALL
    delivers: bool = True
    """Whether a person with a GIS gets the content nevertheless."""


def _nothing(request: Request, forward: Forward, relay: Relay) -> Reply:
    return forward(request)


# --------------------------------------------------------------------------- addresses


def _moved(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Have content at another path only, which the document names."""
    if request.path.startswith(_PLACE):
        return forward(replace(request, path=request.path.removeprefix(_PLACE)))
    return _with_address(request, forward, relay.origin, relay.origin + _PLACE)


def _elsewhere(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Have content on another host only, which the document names."""
    if request.at_second_host:
        return forward(request) if request.is_for_content else _not_there()
    return _with_address(request, forward, relay.origin, relay.second_origin)


def _with_address(request: Request, forward: Forward, old: str, new: str) -> Reply:
    if request.is_for_content:
        return _not_there()
    reply = forward(request)
    body = _OPERATION.sub(lambda found: found[0].replace(old.encode(), new.encode()), reply.body)
    return replace(reply, body=body)


def _dead_address(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Name an address for content at which nothing is."""
    return (
        _not_there()
        if request.path.startswith(_PLACE)
        else _named_only(request, forward, relay.origin, relay.origin + _PLACE)
    )


def _dead_host(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Name an address for content on another host, where nothing is."""
    return _not_there() if request.at_second_host else _named_only(request, forward, relay.origin, relay.second_origin)


def _named_only(request: Request, forward: Forward, old: str, new: str) -> Reply:
    reply = forward(request)
    if request.is_for_content:
        return reply
    return replace(reply, body=_OPERATION.sub(lambda found: found[0].replace(old.encode(), new.encode()), reply.body))


def _redirected(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Redirect every request to another path."""
    if request.path.startswith(_PLACE):
        return forward(replace(request, path=request.path.removeprefix(_PLACE)))
    return Reply(b"", "text/html", 302, {"Location": relay.origin + _PLACE + request.target})


def _not_there() -> Reply:
    return Reply(b"<html><title>Not found</title></html>", "text/html", 404)


# --------------------------------------------------------------------------- what a layer needs


def _dimension(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Draw for a stated time only."""
    if request.is_for_content:
        if request.get("time") != _DAY:
            return _exception("TIME is missing", "MissingDimensionValue")
        return forward(request.without("time"))
    reply = forward(request)
    new = f'<Dimension name="time" units="ISO8601" default="{_DAY}">{_DAY}</Dimension>'
    old = f'<Dimension name="time" units="ISO8601"/><Extent name="time" default="{_DAY}">{_DAY}</Extent>'
    tiles = (
        f"<Dimension><ows:Identifier>time</ows:Identifier><Default>{_DAY}</Default><Value>{_DAY}</Value></Dimension>"
    )
    body = _of_layers(reply.body, new, old).replace(b"<TileMatrixSetLink>", tiles.encode() + b"<TileMatrixSetLink>", 1)
    return replace(reply, body=body)


def _scale(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Draw at large scales only."""
    if request.is_for_content:
        return forward(request) if _scale_of(request) <= _MOST_SCALE else _blank(request)
    reply = forward(request)
    new = f"<MaxScaleDenominator>{_MOST_SCALE:g}</MaxScaleDenominator>"
    old = f'<ScaleHint min="0" max="{_MOST_SCALE * 2**0.5 * _PIXEL_M:g}"/>'
    return replace(reply, body=_of_layers(reply.body, new, old))


def _of_layers(body: bytes, new: str, old: str) -> bytes:
    """Add an element to each named layer of a WMS; `new` for 1.3.0, `old` for earlier ones."""
    added = new if _ROOT_VERSION.search(body) else old
    return _NAMED_LAYER.sub(rb"\1" + added.encode(), body)


def _scale_of(request: Request) -> float:
    sides = [float(side) for side in request.get("bbox").split(",")]
    code = (request.get("crs") or request.get("srs")).upper()
    turned = code == "EPSG:4326" and request.get("version").startswith("1.3")
    across = sides[3] - sides[1] if turned else sides[2] - sides[0]
    unit = _DEGREE_M if code in ("EPSG:4326", "CRS:84") else 1.0
    return across * unit / int(request.get("width")) / _PIXEL_M


def _system(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Refuse degrees, which are stated first."""
    code = (request.get("crs") or request.get("srs")).upper()
    if request.is_for_content and code in ("EPSG:4326", "CRS:84"):
        return _exception(f"{code} is not supported", "InvalidCRS" if request.get("crs") else "InvalidSRS")
    return forward(request)


def _transparent(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Refuse the optional parameter TRANSPARENT."""
    if request.is_for_content and request.get("transparent"):
        return _exception("Parameter TRANSPARENT is not supported")
    return forward(request)


def _lower_case(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Know parameters by names in lower case only."""
    known = tuple(each for each in request.parameters if each[0] == each[0].lower())
    if not any(name == "request" for name, _ in known) and any(
        name.lower() == "request" for name, _ in request.parameters
    ):
        return _exception("Missing parameter: request", "MissingParameterValue")
    return forward(replace(request, parameters=known))


def _exception(text: str, code: str = "") -> Reply:
    named = f' code="{code}"' if code else ""
    body = f"<ServiceExceptionReport><ServiceException{named}>{text}</ServiceException></ServiceExceptionReport>"
    return Reply(body.encode(), "text/xml")


def _blank(request: Request) -> Reply:
    return _png(Image.new("RGB", _size(request), "white"))


def _drawn_text(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Send an error drawn as an image instead of content."""
    if not request.is_for_content:
        return forward(request)
    image = Image.new("RGB", _size(request), "white")
    ImageDraw.Draw(image).text((8, 8), "Could not connect\nto the database.\nPlease try again.", "red")
    return _png(image)


def _size(request: Request) -> tuple[int, int]:
    return int(request.get("width") or 256), int(request.get("height") or 256)


def _png(image: Image.Image) -> Reply:
    written = io.BytesIO()
    image.save(written, "PNG")
    return Reply(written.getvalue(), "image/png")


# --------------------------------------------------------------------------- HTTP


def _short_length(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Announce half of the bytes."""
    reply = forward(request)
    return replace(reply, length=len(reply.body) // 2)


def _counted_characters(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Announce as many bytes as a text has characters."""
    reply = forward(request)
    return replace(reply, length=len(reply.body.decode("utf-8", "replace"))) if reply.is_text else reply


def _long_length(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Announce more bytes than come."""
    reply = forward(request)
    return replace(reply, length=len(reply.body) + 100)


def _packed(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Compress without saying so."""
    reply = forward(request)
    return replace(reply, body=gzip.compress(reply.body))


def _endless(request: Request, forward: Forward, relay: Relay) -> Reply:
    """Send chunks without a last one."""
    return replace(forward(request), has_last_chunk=False)


def _busy() -> Behaviour:
    """Be busy at first."""
    asked: defaultdict[str, int] = defaultdict(int)

    def behaviour(request: Request, forward: Forward, relay: Relay) -> Reply:
        asked[""] += 1
        return Reply(b"", "text/html", 503, {"Retry-After": "1"}) if asked[""] == 1 else forward(request)

    return behaviour


def _always(behaviour: Behaviour) -> Callable[[], Behaviour]:
    return lambda: behaviour


DEFECTS = (
    Defect("none", _always(_nothing)),
    Defect("content at another path", _always(_moved), _QUERIED),
    Defect("content on another host", _always(_elsewhere), _QUERIED),
    Defect("a dead path named", _always(_dead_address), _QUERIED),
    Defect("a dead host named", _always(_dead_host), _QUERIED),
    Defect("a required dimension", _always(_dimension), frozenset({"wms", "wmts"})),
    Defect("scale limits", _always(_scale), frozenset({"wms"})),
    Defect("a refused CRS", _always(_system), frozenset({"wms"})),
    Defect("TRANSPARENT refused", _always(_transparent), frozenset({"wms"})),
    Defect("Content-Length of half", _always(_short_length)),
    Defect("Content-Length in characters", _always(_counted_characters)),
    Defect("Content-Length too long", _always(_long_length)),
    Defect("gzip without saying so", _always(_packed)),
    Defect("busy at first", _busy),
    Defect("lower-case names only", _always(_lower_case), _QUERIED),
    Defect("text drawn as image", _always(_drawn_text), _DRAWN, delivers=False),
    Defect("redirected to another path", _always(_redirected)),
    Defect("chunks without a last one", _always(_endless)),
)


Servers = dict[str, dict[str, Any]]

SERVICES = (
    *((server, "wms") for server in ("mapserver", "qgis", "mapproxy", "mapcache")),
    *((server, "wfs") for server in ("mapserver", "qgis")),
    *((server, "wmts") for server in ("qgis", "mapproxy", "mapcache")),
    *((server, "tms") for server in ("mapproxy", "mapcache")),
    *((server, "ogcapi") for server in ("mapserver", "qgis", "pygeoapi")),
    ("pycsw", "csw"),
)
"""Servers and the kinds of service that each is probed for."""
_LIMIT_S = 600


def probe_relayed(
    servers: Servers, folder: Path, services: Iterable[tuple[str, str]] = SERVICES, defects: Iterable[Defect] = DEFECTS
) -> list[dict[str, Any]]:
    """Return a row for each service behind each relay that makes sense for its kind."""
    names: dict[str, list[str]] = {}
    for name, kind in services:
        names.setdefault(kind, []).append(name)
    chosen = tuple(defects)
    return [row for kind, of_kind in names.items() for row in _of_kind(servers, folder, kind, of_kind, chosen)]


def _of_kind(
    servers: Servers, folder: Path, kind: str, names: list[str], defects: tuple[Defect, ...]
) -> Iterator[dict[str, Any]]:
    with ExitStack() as running:
        addresses, relays = [], {}
        for name in names:
            address = urlsplit(str(servers[name][kind]))
            for defect in (each for each in defects if kind in each.kinds):
                relay = running.enter_context(relaying(address.geturl(), defect.make()))
                relays[urlsplit(relay.origin).netloc] = name, defect, relay
                addresses.append(relay.origin + address.path)
        for verdict in _probed(addresses, kind, folder):
            name, defect, relay = relays[urlsplit(verdict["url"]).netloc]
            yield {
                "server": name,
                "kind": kind,
                "defect": defect.name,
                "verdict": verdict["status"],
                "reason": verdict["reason"],
                "level": verdict.get("level") or "",
                "proof": [f"{each['outcome']}: {each['detail']}" for each in verdict.get("proof") or ()],
                "deviations": verdict["deviations"],
                "requests": len(relay.requests),
            }


def _probed(addresses: Iterable[str], kind: str, folder: Path) -> list[dict[str, Any]]:
    """Return the verdicts of one command on all addresses."""
    command = [sys.executable, "-m", "geocrawl", "probe", *addresses, "--kind", kind, "--maps", "--json"]
    environment = clean_environment(folder) | {"GEOCRAWL_ALLOW_PRIVATE": "true", "GEOCRAWL_DELAY": "0"}
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, text=True, capture_output=True, timeout=_LIMIT_S
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"geocrawl probe ended with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def as_expected(row: dict[str, Any], rows: Iterable[dict[str, Any]]) -> bool:
    """Return whether a service behind a relay has the level that it has without a defect.

    Where the defect takes the content away, it is one that answers and delivers nothing.
    """
    alone = next(
        each["level"]
        for each in rows
        if (each["server"], each["kind"], each["defect"]) == (row["server"], row["kind"], DEFECTS[0].name)
    )
    delivers = next(each.delivers for each in DEFECTS if each.name == row["defect"])
    return bool(row["level"] == (alone if delivers else "answers"))
