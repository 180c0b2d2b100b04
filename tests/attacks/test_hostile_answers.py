"""Among fifty hosts whose answers break the rules of HTTP, JSON, XML, charsets, robots.txt and addresses a crawl ends,
no visit breaks, and each good service is read.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from geocrawl.crawler.visits import INTERNAL_ERROR
from geocrawl.settings import Settings
from tests.support.answers import CAPABILITIES
from tests.support.crawls import crawl, valid
from tests.support.loopback import Handler, Server, running

_MOST_REQUESTS = 60
_WAIT = b"Content-Length: 0\r\nRetry-After: "
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_ADDRESSES = (
    *("http://[::1]:8080/wms", "http://[fe80::1%25lo]/wms", "http://a.example:0/wms", "http://a.example:65536/wms"),
    *("http://a.example:-1/wms", f"http://a.example:{'9' * 50}/wms", f"http://{'a' * 70}.example/wms", "http:///wms"),
    *(
        f"http://{'a.' * 200}example/wms",
        "http://xn--a/wms",
        f"http://xn--{'9' * 60}/wms",
        "http://\u0430pple.example/",
    ),
    *(
        "http://a..b/wms",
        f"/{'a' * 65_536}",
        "//",
        "?",
        "http:",
        "http://u:p:s@b.example@c.example/wms",
        "http://0/wms",
    ),
    *("http://\u202egro.elpmaxe/wms", "http://%61.example/wms", "ws://a/", "file:///etc/passwd", "\x01javascript:1"),
)


def _head(*lines: str, status: str = "200 OK", body: bytes = b"hi") -> bytes:
    """Return an answer with a Content-Length unless a line has one."""
    length = (
        () if any(line.lower().startswith("content-length") for line in lines) else (f"Content-Length: {len(body)}",)
    )
    return "\r\n".join((f"HTTP/1.1 {status}", *lines, *length, "", "")).encode("latin-1", "replace") + body


def _typed(content_type: str, body: bytes | str) -> bytes:
    return _head(f"Content-Type: {content_type}", body=body if isinstance(body, bytes) else body.encode())


def _moved(to: str) -> bytes:
    return _head(f"Location: {to}", status="302 Found")


def _page(host: str, more: str = "") -> bytes:
    return _typed("text/html", f"<title>Maps</title><a href='http://{host}/wms?service=WMS'>WMS of maps</a>{more}")


_PAGES: dict[str, Callable[[], bytes]] = {
    "negative length": lambda: _head("Content-Length: -1"),
    "length of no digit": lambda: "HTTP/1.1 200 OK\r\nContent-Length: ²\r\n\r\nhi".encode(),
    "length of 5,000 digits": lambda: _head(f"Content-Length: {'9' * 5_000}"),
    "two lengths": lambda: _head("Content-Length: 2", "Content-Length: 3"),
    "status 000": lambda: _head(status="000 x"),
    "status 9999": lambda: _head(status="9999 x"),
    "no status": lambda: b"<html>old",
    "http of another kind": lambda: b"ICY 200 OK\r\n\r\nhi",
    "switched protocols": lambda: b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
    "interim answers": lambda: b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000 + _head(),
    "early hints": lambda: b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 5_000 + _head(),
    "chunk of no number": lambda: _CHUNKED + b"zz\r\nhi\r\n0\r\n\r\n",
    "chunk without end": lambda: _CHUNKED + b"f" * 400 + b"\r\nhi\r\n0\r\n\r\n",
    "chunks of a byte": lambda: _CHUNKED + b"1\r\na\r\n" * 50_000 + b"0\r\n\r\n",
    "trailers": lambda: _CHUNKED + b"2\r\nhi\r\n0\r\n" + b"t: x\r\n" * 50_000 + b"\r\n",
    "2,000 encodings": lambda: _head(f"Content-Encoding: {'gzip, ' * 2_000}gzip"),
    "no colon": lambda: _head("broken header"),
    "NUL in a field": lambda: _head("X: a\0b"),
    "304 to nobody": lambda: b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "moved to no address": lambda: _moved("http://[::1"),
    "moved to no port": lambda: _moved("http://a.example:65536/"),
    "moved to bytes": lambda: _moved("\xff\xfe\x01//"),
    "moved far": lambda: _moved(f"http://moved-far.example/{'a' * 60_000}"),
    "moved to 1,000 hosts": lambda: _moved("http://1.moved.example/"),
    "lists in lists": lambda: _typed("application/json", b"[" * 100_000),
    "objects in objects": lambda: _typed("application/json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "100,000 digits": lambda: _typed("application/geo+json", f'{{"numberMatched":{"9" * 100_000},"links":[]}}'),
    "no numbers": lambda: _typed("application/json", '{"links":[],"extent":{"spatial":{"bbox":[[NaN,1e999]]}}}'),
    "lone surrogate": lambda: _typed("application/json", '{"title":"\\ud800","links":[{"href":"\\udfff"}]}'),
    "utf-7": lambda: _typed("text/html; charset=utf-7", "+ADw-a href=/wms+AD4-"),
    "utf-16 called utf-8": lambda: _typed("text/html; charset=utf-8", "<a href=/wms>WMS</a>".encode("utf-16")),
    "charset rot13": lambda: _typed("text/html; charset=rot13", "uv"),
    "charset idna": lambda: _typed("text/html; charset=idna", "hi" * 100),
    "charset unicode_escape": lambda: _typed("text/html; charset=unicode_escape", r"\ud800\U00110000"),
    "encoding of xml": lambda: _typed("text/xml", '<?xml version="1.0" encoding="rot13"?><a/>'),
    "namespaces": lambda: _typed("text/xml", "<a " + " ".join(f"xmlns:a{n}='u'" for n in range(5_000)) + "/>"),
    "times of feeds": lambda: _typed("application/rss+xml", _feed("Fri, 31 Dec 99999 23:59:59 GMT", "0", "9" * 9_000)),
    "odd addresses": lambda: _page("odd.example", "".join(f"<a href='{each}'>WMS map</a>" for each in _ADDRESSES)),
    "base": lambda: _typed("text/html", "<base href='http://['><a href=x>WMS</a><base href='//'><a href=y>map</a>"),
    "linked data": lambda: _typed("text/html", f"<script type='application/ld+json'>{'[' * 50_000}</script>"),
    "turtle": lambda: _typed("text/turtle", f"@prefix a: <http://[> . a:b a:c {'(' * 20_000}"),
    "patience of 5,000 digits": lambda: _wait("9" * 5_000),
    "patience of no number": lambda: _wait("NaN"),
    "patience to year 0": lambda: _wait("Sat, 01 Jan 0000 00:00:00 GMT"),
}
_RULES: dict[str, Callable[[], bytes]] = {
    "any bytes": lambda: _typed("text/plain", bytes(range(256)) * 4_000),
    "delays": lambda: _typed("text/plain", "\ufeffUser-agent: *\nCrawl-delay: nan\nCrawl-delay: -5\nCrawl-delay: ²\n"),
    "moved rules": lambda: _moved("http://["),
    "sitemap of itself": lambda: _typed(
        "text/plain", "Sitemap: http://[\nSitemap: http://rules-3.example/sitemap.xml\n"
    ),
}
"""Answers for robots.txt, of which a service with 3 MiB is good all the same."""
_SITEMAP = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</sitemapindex>".format(
    "<sitemap><loc>http://rules-3.example/sitemap.xml?{0}</loc><lastmod>99999-99-99</lastmod></sitemap>" * 2
)
_ALTERED: dict[str, tuple[str, str]] = {
    "no extent": (">10<", ">NaN<"),
    "endless extent": (">20<", f">{'9' * 5_000}<"),
    "times": (
        "<Title>",
        "<Dimension name='time'>0000-00-00/99999-12-31/PT0S,-5000-01-01/2000/P99999999Y</Dimension><Title>",
    ),
    "names": ("<Name>", "<Name>\u202e&#xD;\u2028\u0085"),
    "limits": ("<Title>", "<LayerLimit>-1</LayerLimit><MaxWidth>" + "9" * 6_000 + "</MaxWidth><Title>"),
    "version": ('version="', 'version="' + "9." * 3_000),
    "references": ("EPSG:", "EPSG:" + "9" * 5_000),
}
"""What is put into a service's capabilities: text → text in its place."""


def _wait(value: str) -> bytes:
    return b"HTTP/1.1 503 Busy\r\n" + _WAIT + value.encode() + b"\r\n\r\n"


def _feed(*times: str) -> str:
    items = "".join(f"<item><title>map</title><link>/i</link><pubDate>{time}</pubDate></item>" for time in times)
    return f"<rss version='2.0'><channel><title>WMS</title>{items}</channel></rss>"


class HostileWeb(Server):
    """A proxy of hosts, each with one bad answer, and of good ones; `asked`: requests by host."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.asked = Counter[str]()
        kinds = {"page": len(_PAGES), "rules": len(_RULES), "caps": len(_ALTERED)}
        self.hosts = [f"{kind}-{number}.example" for kind, count in kinds.items() for number in range(count)]
        self.good = [f"good-{number}.example" for number in range(6)]

    def answer(self, host: str, path: str) -> bytes:
        """Return the bytes of an answer."""
        kind, _, rest = host.partition("-")
        number = int(rest.partition(".")[0] or 0) if rest[:1].isdigit() else 0
        if host.endswith(".moved.example"):
            return _moved(f"http://{(int(host.partition('.')[0]) + 1) % 1_000}.moved.example/")
        if path == "/robots.txt":
            return list(_RULES.values())[number]() if kind == "rules" else _head(status="404 Not Found")
        if path == "/sitemap.xml" and kind == "rules":
            return _typed("text/xml", _SITEMAP.format(self.asked[host]))
        if kind == "page":
            return list(_PAGES.values())[number]()
        if path != "/wms":
            return _page(host)
        before, after = list(_ALTERED.values())[number] if kind == "caps" else ("", "")
        return _typed("text/xml", CAPABILITIES.replace(before, after) if before else CAPABILITIES)


class _Handler(Handler):
    server: HostileWeb

    def respond(self) -> None:
        parts = urlsplit(self.path)
        self.server.asked[parts.hostname or ""] += 1
        self.write(self.server.answer(parts.hostname or "", parts.path))
        self.close_connection = True


@pytest.mark.long
def test_a_crawl_among_hostile_answers_reads_all_good_services(tmp_path: Path) -> None:
    with running(HostileWeb()) as web:
        settings = Settings(
            proxy=f"http://127.0.0.1:{web.server_port}", delay_s=0.0, max_pages=0, siblings=0, maps=False, guesses=0
        )
        seeds = [f"http://{host}/" for host in (*web.hosts[:20], *web.good[:3], *web.hosts[20:], *web.good[3:])]
        crawl(settings, tmp_path / "c.db", seeds)
    with closing(sqlite3.connect(tmp_path / "c.db")) as database:
        broken = database.execute("SELECT address FROM url WHERE reason = ?", (INTERNAL_ERROR,)).fetchall()
    assert not broken
    services = {urlsplit(f"http://{key.partition('://')[2] or key}").hostname for key in valid(tmp_path / "c.db")}
    assert {*web.good, *(host for host in web.hosts if host.startswith("rules"))} <= services
    assert {host: count for host, count in web.asked.items() if count > _MOST_REQUESTS} == {}
