"""Answer as the servers of the fates do: a portal whose pages name services, and a host or two for each service."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import parse_qsl, urlsplit

import httpcore
import httpx

from geocrawl.fetch.names import Addresses
from geocrawl.fetch.network import ConnectFailed, ConnectionLost
from geocrawl.fetch.transport import EarlyEnd, RawResponse, address_of
from tests.fates.fates import HOST, LOGIN_HOST, ON_THE_WAY, QUERY, SLOW_S, MadeService, Truth
from tests.probe.content_runs import drawn
from tests.simulation.processes import Process
from tests.simulation.scheduler import SimulatedLoop
from tests.simulation.web import Reply
from tests.support.answers import CAPABILITIES

PORTAL = "portal.example"
_ON_A_PAGE = 25
_SILENT_S = 30.0
"""The longest wait between two pieces of an answer (`read_timeout_s`)."""
_NOT_FOUND = Reply(404, b"<title>404</title>")
_LAYERS = ("roads", "rivers", "parks", "wells")


@dataclass(frozen=True, slots=True)
class Request:
    """A line of all servers' logs."""

    at: float
    host: str
    process: Process
    status: int
    """0: no answer."""
    retry_after_s: int
    is_clock_wrong: bool
    """Whether the client's clock is wrong just now: it rests by its clock."""


def capabilities(document: int, *, fewer: bool = False) -> bytes:
    """Return the capabilities of a service; `fewer`: with one layer less."""
    name, layers = f"s{document}", _LAYERS[: -1 if fewer else None]
    head, _, rest = CAPABILITIES.partition("<Layer queryable")
    tail = rest[rest.rindex("</Layer></Capability>") :]
    named = "".join(f"<Layer><Name>{each}_{name}</Name><Title>{each} of {name}</Title></Layer>" for each in layers)
    head = head.replace("Roads of Härjedalen", f"Roads of {name}").replace("Road Office", f"Office {name}")
    return (head.replace("http://maps.example.org/", "") + named + tail).encode()


class FateWeb:
    """All servers. What they answer depends on the day alone."""

    def __init__(self, services: Sequence[MadeService], today: Callable[[], float]) -> None:
        """`today` returns the day of the run, from 0."""
        self._services = services
        self._today = today
        self.on_the_way: Reply | None = None
        """What the network answers in place of all servers."""
        self.pictures = 0
        self._by_host = {service.host: service for service in services}

    def service_at(self, host: str) -> tuple[MadeService | None, str]:
        """Return the service of a host, and which of its hosts it is: '' for its own, `new` or `other`."""
        if (own := self._by_host.get(host)) is not None:
            return own, ""
        role, _, rest = host.partition(".")
        return self._by_host.get(rest), role

    def is_named(self, host: str) -> bool:
        """Return whether a name server knows a host."""
        service, role = self.service_at(host)
        if service is None:
            return host in (PORTAL, LOGIN_HOST)
        return role in ("", "new", "other") and service.behaviour(self._today()).is_named

    def respond(self, host: str, target: str) -> Reply:
        """Return what a server answers to a request now."""
        path, _, query = target.partition("?")
        if host == LOGIN_HOST:
            return ON_THE_WAY["login page"]
        if self.on_the_way is not None:
            return self.on_the_way
        if host == PORTAL:
            return self._portal(path)
        service, role = self.service_at(host)
        if service is None:
            return Reply(fault="refused")
        if role:
            return self._elsewhere(service, role, path)
        behaviour = service.behaviour(self._today())
        if path == "/robots.txt":
            return behaviour.robots or _NOT_FOUND
        if path == "/elsewhere":
            return Reply(200, capabilities(service.document), "text/xml")
        if path != "/ows":
            return Reply(200, b"<!DOCTYPE html><title>Log in</title>") if path == "/login" else _NOT_FOUND
        reply = behaviour.service or Reply()
        if reply.location:
            address = reply.location.replace(HOST, host).replace(QUERY, query)
            return reply._replace(location=address)
        if reply.status != 200 or reply.body or reply.content_type == "text/xml":
            return reply
        asked = {name.lower(): value for name, value in parse_qsl(query)}
        if asked.get("request") == "GetMap":
            self.pictures += 1
            return reply._replace(body=_picture(int(asked["width"]), int(asked["height"])), content_type="image/png")
        document = service.document + (1_000_000 if reply.fault == "other-document" else 0)
        body = capabilities(document, fewer=reply.fault == "other-layers")
        return reply._replace(body=body, content_type="text/xml")

    def _elsewhere(self, service: MadeService, role: str, path: str) -> Reply:
        """Return what the host answers to which a service moved; `other`: one that offers something else."""
        if path == "/ows":
            document = service.document if role == "new" else service.document + 2_000_000
            return Reply(200, capabilities(document), "text/xml")
        return Reply(200, b"<!DOCTYPE html><title>Welcome</title>") if path == "/" else _NOT_FOUND

    def _portal(self, path: str) -> Reply:
        pages = -(-len(self._services) // _ON_A_PAGE)
        if path == "/":
            links = "".join(f'<p><a href="/p{page}">WMS web map service list {page}</a>' for page in range(pages))
        elif path[:2] == "/p" and path[2:].isdigit() and int(path[2:]) < pages:
            first = int(path[2:]) * _ON_A_PAGE
            today = self._today()
            links = "".join(
                f'<p><a href="{each.address}?service=WMS&amp;request=GetCapabilities">WMS of s{each.number}</a>'
                for each in self._services[first : first + _ON_A_PAGE]
                if each.behaviour(today).truth is not Truth.UNBORN
            )
        else:
            return _NOT_FOUND
        return Reply(200, f"<!DOCTYPE html><title>Map services (WMS)</title>{links}".encode())


class FateTransport(httpx.AsyncBaseTransport):
    """The transport and `fetch.names.Resolver` of one process; writes the servers' log."""

    def __init__(self, web: FateWeb, loop: SimulatedLoop, process: Process, log: list[Request]) -> None:
        self._web, self._loop, self._process, self._log = web, loop, process, log

    async def addresses(self, name: str) -> Addresses:
        """Return the address of a host: each has one of its own."""
        if not self._web.is_named(name):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        service, role = self._web.service_at(name)
        number = service.number if service else 1 << 16
        net = {"new": 21, "other": 22}.get(role, 20)
        return ((socket.AF_INET, f"{net}.{number >> 16}.{number >> 8 & 255}.{number & 255}"),)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as the web does, after a while."""
        parts = urlsplit(address_of(request))
        host, at = parts.hostname or "", self._loop.time()
        reply = self._web.respond(host, f"{parts.path}?{parts.query}" if parts.query else parts.path)
        is_verified = request.extensions["route"].verified
        is_answered = reply.fault not in ("refused", "reset", "silent") and not (
            reply.fault == "certificate" and is_verified
        )
        status = reply.status if is_answered else 0
        self._log.append(Request(at, host, self._process, status, reply.retry_after_s, self._process.wrong_by_s != 0))
        await asyncio.sleep({"silent": _SILENT_S, "slow": SLOW_S}.get(reply.fault, 0.1))
        if not is_answered:
            raise _failure(reply.fault, host)
        fields = [(b"Content-Type", reply.content_type.encode())]
        if reply.location:
            fields.append((b"Location", reply.location.encode()))
        if reply.retry_after_s:
            fields.append((b"Retry-After", str(reply.retry_after_s).encode()))
        if reply.fault == "truncated":
            half = reply.body[: len(reply.body) // 2]
            length = (b"Content-Length", str(len(reply.body)).encode())
            return RawResponse(200, headers=[*fields, length], stream=_CutBody(half))
        return RawResponse(reply.status, headers=fields, stream=httpx.ByteStream(reply.body))


@cache
def _picture(width: int, height: int) -> bytes:
    return drawn(width, height).body


def _failure(fault: str, host: str) -> Exception:
    if fault == "silent":
        return httpcore.ReadTimeout("timeout")
    if fault == "reset":
        lost = ConnectionLost(was_kept=False)
        lost.__cause__ = OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        return lost
    error: OSError = OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    if fault == "certificate":
        error = ssl.SSLCertVerificationError(1, "certificate verify failed: certificate has expired")
        error.verify_code = 10  # X509_V_ERR_CERT_HAS_EXPIRED
    failed = ConnectFailed(host, 80, error)
    failed.__cause__ = error
    return failed


class _CutBody(httpx.AsyncByteStream):
    """A body whose connection ends early."""

    def __init__(self, begins: bytes) -> None:
        self._begins = begins

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._begins
        raise EarlyEnd("the connection ended")
