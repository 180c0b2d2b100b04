"""A web in which every address answers with a damaged or hostile document, chosen by a hash of the address.

The same seed gives the same web. It stands in place of the network (`FuzzTransport`) or behind a proxy on loopback
(`fuzz_proxy`), where real connections carry the status lines and header fields, however odd.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import httpx

from geocrawl.fetch.transport import RawResponse, address_of
from geocrawl.lab.recorded_worlds.replay import ReplayClock
from tests.crawler.fuzz_documents import HOSTILE, MUTATIONS
from tests.probe import fuzz
from tests.support.loopback import Handler, Server, running

_LATENCY_S = 0.001
_HOSTILE_SHARE, _FULL_SIZE_SHARE, _ODD_FIELDS_SHARE, _ODD_STATUS_SHARE, _ROBOTS_SHARE = 0.15, 0.05, 0.4, 0.15, 0.1
_SMALL_BYTES = 20_000
STATUSES = (
    204,
    206,
    226,
    300,
    301,
    302,
    303,
    304,
    307,
    308,
    400,
    401,
    403,
    404,
    410,
    418,
    429,
    451,
    500,
    502,
    503,
    520,
    599,
)
CONTENT_TYPES = (
    b"text/html", b"text/html; charset=gb2312", b"text/html; charset=punycode", b"text/html; charset=utf-7",
    b"text/html;charset=" + b"x" * 5_000, b"application/xml", b"text/xml; charset=idna", b"text/xml; charset=utf-16",
    b"application/json", b"application/json; charset=rot13", b"application/ld+json", b"application/javascript",
    b"text/plain; charset=unicode_escape", b"image/png", b"text/html; charset=\xff\xfe", b"\xe5\x9c\xb0/\xb5", b"",
    b";;=",
    b"text/turtle", b"application/rdf+xml", b"application/atom+xml",
)  # fmt: skip
FIELDS = (
    (b"Retry-After", b"9" * 4_301), (b"Retry-After", b"-1"), (b"Retry-After", b"1e999"), (b"Retry-After", b"NaN"),
    (b"Retry-After", b"Fri, 31 Dec 99999 23:59:59 GMT"), (b"Retry-After", b"\xb2"), (b"Retry-After", b"1" * 400),
    (b"Retry-After", b"Mon, 01 Jan 0001 00:00:00 +2359"), (b"Last-Modified", b"Fri, 31 Dec 9999 23:59:59 -2359"),
    (b"Last-Modified", b"\xff\x80\x00"[:2]), (b"Last-Modified", b"0" * 20_000),
    (b"ETag", b'W/"' + b"\xe9" * 3_000 + b'"'),
    (b"ETag", b'"\xed\xa0\x80"'), (b"ETag", b'"a", "b"'), (b"Location", b"http://[::1"),
    (b"Location", b"//\xff.example/"),
    (b"Location", b"http://xn--\x80.example/%zz%00"), (b"Location", b"http://a:" + b"9" * 5_000 + b"/"),
    (b"Location", b"http://\xed\xa0\x80.example/"), (b"Location", b"/\xe5\x9c\xb0?a=%ED%A0%80"),
    (b"Location", b"?" * 9_000),
    (b"Location", b"http://a.example:0/"), (b"Location", b"javascript:alert(1)"), (b"Link", b"<" * 9_000),
    (b"Link", b'<http://[>; rel="next"'), (b"Link", b'</a\xed\xa0\x80>; rel=alternate; title*=punycode\'\'%ff'),
    (b"Link", b'</x>; rel="service"; type="\xff"'), (b"Link", b"</y>;" + b"a=b;" * 2_000), (b"Date", b"9" * 5_000),
    (b"Age", b"9" * 4_301), (b"Cache-Control", b"max-age=" + b"9" * 5_000), (b"Expires", b"0000"),
    (b"Set-Cookie", b"a=\xff\x80; Max-Age=" + b"9" * 4_301), (b"Set-Cookie", b"=; Domain=\xed\xa0\x80; Expires=99999"),
    (b"Content-Disposition", b"attachment; filename*=rot13''%ed%a0%80"), (b"Content-Language", b"\xd9\xa3"),
    (b"X-Robots-Tag", b"unavailable_after: 31 Feb " + b"9" * 4_400), (b"Refresh", b"9" * 4_301 + b"; url=//["),
    (b"Content-Location", b"http://[x]/"), (b"X-\xe9", b"\xe9"),
)  # fmt: skip
PLACES = (
    "/", "/index.html", "/wms?service=WMS&request=GetCapabilities", "/ows?service=WFS&request=GetCapabilities",
    "/csw?service=CSW&request=GetCapabilities", "/arcgis/rest/services", "/stac/catalog.json", "/collections",
    "/tiles/tilejson.json", "/tms/1.0.0/", "/geonetwork/srv/eng/q?_content_type=json", "/feed.xml",
    "/api/3/action/package_search",
    "/record.jsonld", "/wmts/1.0.0/WMTSCapabilities.xml", "/map.js", "/maps/", "/data/list.html", "/a.html",
    "/dataset/roads",
    "/search?q=wms", "/metadata.xml", "/news.html", "/links.php", "/d.json", "/sitemap.xml", "/about",
    "/portal/map.jsp",
)  # fmt: skip


class Answer(NamedTuple):
    """What an address answers."""

    status: int
    fields: list[tuple[bytes, bytes]]
    body: bytes
    name: str
    """The document and what was done to it."""


class FuzzWeb:
    """Answers every address."""

    def __init__(self, bodies: Sequence[tuple[str, bytes]], seed: int, *, hostile_bytes: int) -> None:
        """`bodies`: names and documents to be damaged. `hostile_bytes`: size of the longest documents that are made."""
        self._bodies = bodies
        self._others = [body for _, body in bodies]
        self._seed = seed
        self._hostile_bytes = hostile_bytes
        self.answered = 0
        self.latest = ""
        """The last answer: its address, document and size."""

    def seeds(self, hosts: int) -> list[str]:
        """Return addresses on so many hosts, of pages and of services."""
        return [f"http://h{number}.example{PLACES[number % len(PLACES)]}" for number in range(hosts)]

    def answer(self, address: str) -> Answer:
        """Return what an address answers; always the same for the same address."""
        self.answered += 1
        digest = hashlib.sha256(f"{self._seed} {address}".encode("utf-8", "surrogatepass")).digest()
        rng = random.Random(digest)
        if address.endswith("/robots.txt") and rng.random() > _ROBOTS_SHARE:
            return Answer(404, [(b"Content-Type", b"text/plain")], b"", "no robots.txt")
        name, body = self._document(rng)
        status = rng.choice(STATUSES) if rng.random() < _ODD_STATUS_SHARE else 200
        fields = [(b"Content-Type", rng.choice(CONTENT_TYPES))]
        if rng.random() < _ODD_FIELDS_SHARE or 300 <= status < 400:
            fields += rng.choices(FIELDS, k=rng.randint(1, 5))
        self.latest = f"{address[:200]}: {name}, {len(body)} bytes"
        return Answer(status, fields, body, name)

    def _document(self, rng: random.Random) -> tuple[str, bytes]:
        if rng.random() < _HOSTILE_SHARE:
            name, make = rng.choice(HOSTILE)
            is_full = rng.random() < _FULL_SIZE_SHARE
            return name, make(rng, self._hostile_bytes if is_full else min(self._hostile_bytes, _SMALL_BYTES))
        name, body = rng.choice(self._bodies)
        for mutation in rng.choices(MUTATIONS, k=rng.choice((1, 1, 2, 3))):
            if body:
                body = mutation(body, rng, self._others)[: fuzz.MAX_BYTES]
                name = f"{name} {mutation.__name__[1:]}"
        return name, body


# --------------------------------------------------------------------------- in place of the network


class FuzzTransport(httpx.AsyncBaseTransport):
    """A transport over a fuzzed web, in virtual time."""

    def __init__(self, web: FuzzWeb, clock: ReplayClock) -> None:
        self._web = web
        self._clock = clock

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request at once."""
        found = self._web.answer(address_of(request))
        self._clock.advance(_LATENCY_S)
        await asyncio.sleep(0)  # nothing else waits in virtual time, and the loop is to see signals and tickers
        return RawResponse(found.status, headers=list(found.fields), stream=httpx.ByteStream(found.body))


@contextmanager
def fuzz_proxy(web: FuzzWeb) -> Iterator[str]:
    """Serve the web as a proxy on loopback, its header fields byte for byte; yields the proxy's address."""

    class Answers(Handler):
        def respond(self) -> None:
            found = web.answer(self.path)
            lines = [b"HTTP/1.1 %d \xff odd" % found.status, b"Content-Length: %d" % len(found.body)]
            lines += [name + b": " + value for name, value in found.fields]
            self.write(b"\r\n".join(lines) + b"\r\n\r\n" + found.body)

    with running(Server(Answers)) as server:
        yield f"http://127.0.0.1:{server.server_port}"
