"""Serve a web of any size that is computed from its addresses: `python -m tests.support.scale_web --hosts 1000`.

Hosts under `.example`, each with the same number of pages of about 3 kB: a tree of pages in which each names
three others of its host, ten known ones, and pages of other hosts; a WMS on one page of a hundred. Nothing is held
in memory: a page follows from its address. Each answer takes 50 to 200 ms, by its address, while others are answered.
One process serves all as an HTTP proxy on loopback and writes a JSON line a request with the times of its beginning and
end. With `--ready` all answers of a small web are made before it listens, and each is given at once: little CPU is
spent on it during a measurement.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import time
import zlib
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from urllib.parse import parse_qsl, urlsplit

from tests.probe.content_runs import drawn
from tests.support.loopback import served_by


class ProxyConnection(asyncio.Protocol):
    """One client of the proxy; a request is its head alone."""

    def __init__(self) -> None:
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for answers."""
        assert isinstance(transport, asyncio.WriteTransport), "a TCP connection can be written to"
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Call `asked` for each whole head."""
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self.asked(head.split(b" ", 2)[1].decode("latin-1"))

    @abstractmethod
    def asked(self, url: str) -> None:
        """Answer a request now or later, with `send`."""

    def send(self, status: str, content_type: str, body: bytes) -> None:
        """Send an answer, unless the client has gone."""
        head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        if not self._transport.is_closing():
            self._transport.write(head.encode() + body)


async def serve(connection: Callable[[], ProxyConnection], content: str) -> None:
    """Serve until SIGINT or SIGTERM; print the content and the proxy's URL, for `loopback.served_by`."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    server = await loop.create_server(connection, "127.0.0.1", 0, backlog=1024)
    print(f"{content}; listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await ended.wait()
    server.close()


LEAST_S, MOST_S = 0.05, 0.2
"""The time of an answer."""
CHILDREN, KNOWN, ELSEWHERE = 3, 10, 2
"""Links of a page: to pages below it, to others of its host, to other hosts."""
A_SERVICE = 100
"""Pages for each service."""
WORDS = """map survey water river soil geology layer service data catalogue region office annual report open street
index people school market forest energy transport climate history music garden travel science library archive
coast station network method result table figure project team news event contact document public local"""
MISSING = b"<html><title>404</title><body>There is no such page.</body></html>"
CAPABILITIES = """<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name><Title>Maps {0}</Title>
</Service><Capability><Request><GetMap><Format>image/png</Format></GetMap></Request><Layer><Title>Maps {0}</Title>
<Layer><Name>layer{0}</Name><Title>Layer {0}</Title><CRS>EPSG:4326</CRS></Layer></Layer></Capability>
</WMS_Capabilities>"""
_SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu")
_FORMS = {"page": "text/html; charset=utf-8", "service": "text/xml", "picture": "image/png", "unknown": "text/html"}


class Web(NamedTuple):
    """How large a web is."""

    hosts: int = 1_000
    pages_a_host: int = 1_000
    is_lively: bool = False
    """Whether services draw maps, and one in three is dead for ten minutes of each half an hour."""


def host_of(number: int) -> str:
    """Return the name of a host."""
    return f"www.{_word(number)}.example"


def address(host: int, page: int) -> str:
    """Return where a page of a host stands; its words have no digits, so the addresses have no common pattern."""
    return f"http://{host_of(host)}/{_word(page)}.html" if page else f"http://{host_of(host)}/"


def _word(number: int) -> str:
    """Return a number as a word: 407 is `hubale`."""
    return "".join(_SYLLABLES[int(digit)] for digit in str(number))


def _number(word: str) -> int | None:
    parts = [word[at : at + 2] for at in range(0, len(word), 2)]
    if not parts or any(part not in _SYLLABLES for part in parts):
        return None
    return int("".join(str(_SYLLABLES.index(part)) for part in parts))


def answer(url: str, web: Web) -> tuple[str, bytes]:
    """Return kind and body of an address."""
    name, _, path = url.partition("://")[2].partition("/")
    host = _number(name.removeprefix("www.").removesuffix(".example"))
    path, _, query = path.partition("?")
    if host is None or host >= web.hosts:
        return "unknown", MISSING
    if query:
        number = _number(path.removeprefix("maps/"))
        if number is None:
            return "unknown", MISSING
        return _lively(url, query) if web.is_lively else ("service", CAPABILITIES.format(number).encode())
    page = 0 if not path else _number(path.removesuffix(".html"))
    if page is None or page >= web.pages_a_host:
        return "unknown", MISSING
    return "page", _page(host, page, web)


def _lively(url: str, query: str) -> tuple[str, bytes]:
    """Return what a service answers now."""
    address = url.partition("?")[0]
    lot = zlib.crc32(address.encode())
    if lot % 3 == 0 and (time.time() + lot % 1800) % 1800 < 600:
        return "unknown", f"<title>404</title>{address}".encode()
    asked = {name.lower(): value for name, value in parse_qsl(query)}
    if asked.get("request") == "GetMap":
        return "picture", _picture(int(asked["width"]), int(asked["height"]))
    return "service", CAPABILITIES.format(lot).encode()


@cache
def _picture(width: int, height: int) -> bytes:
    return drawn(width, height).body


def _page(host: int, page: int, web: Web) -> bytes:
    size = web.pages_a_host
    source = random.Random(host * size + page)
    own = [CHILDREN * page + each for each in range(1, CHILDREN + 1)]
    own += [source.randrange(page + 1) for _ in range(KNOWN)]
    places = [(host, each) for each in own if each < size]
    others = (2 * host + 1, 2 * host + 2) if not page else (source.randrange(web.hosts), source.randrange(web.hosts))
    places += [(other % web.hosts, source.randrange(1 + page // 2)) for other in others[:ELSEWHERE]]
    links = "".join(f'<li><a href="{address(*place)}">{_words(source, 3)}</a></li>' for place in places)
    service = f'<p><a href="/maps/{_word(page)}?service=WMS&amp;request=GetCapabilities">WMS</a></p>'
    text = "".join(f"<p>{_words(source, 30)}.</p>" for _ in range(5)) + service * (source.randrange(A_SERVICE) == 0)
    title = _words(source, 4)
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return f"<!DOCTYPE html><html>{head}<body><h1>{title}</h1><ul>{links}</ul>{text}</body></html>".encode()


def _words(source: random.Random, count: int) -> str:
    return " ".join(source.choices(WORDS.split(), k=count))


def latency_s(url: str) -> float:
    """Return how long the answer of an address takes."""
    return LEAST_S + (MOST_S - LEAST_S) * (zlib.crc32(url.encode()) % 1000) / 1000


class _Connection(ProxyConnection):
    """One client, answered after the time that each address takes."""

    def __init__(self, web: Web, log: TextIO, ready: Mapping[str, tuple[str, bytes]]) -> None:
        super().__init__()
        self._web, self._log, self._ready = web, log, ready

    def asked(self, url: str) -> None:
        if self._ready:
            self._answer(url, time.time())
        else:
            asyncio.get_running_loop().call_later(latency_s(url), self._answer, url, time.time())

    def _answer(self, url: str, begun: float) -> None:
        kind, body = self._ready.get(url) or answer(url, self._web)
        entry = {"url": url, "kind": kind, "begun": round(begun, 4), "ended": round(time.time(), 4)}
        self._log.write(json.dumps(entry) + "\n")
        self.send("404 Not Found" if kind == "unknown" else "200 OK", _FORMS[kind], body)


def all_answers(web: Web) -> dict[str, tuple[str, bytes]]:
    """Return kind and body of every page, by address."""
    pages = (address(host, page) for host in range(web.hosts) for page in range(web.pages_a_host))
    return {url: answer(url, web) for url in pages}


def served(web: Web, log: Path, *, ready: bool = False) -> AbstractContextManager[str]:
    """Serve a web from a process of its own; yields the proxy's URL. The log is whole afterwards. `ready`: without
    latency, all pages made before."""
    size = ("--hosts", str(web.hosts), "--pages-a-host", str(web.pages_a_host))
    how = ("--ready",) * ready + ("--lively",) * web.is_lively
    return served_by("tests.support.scale_web", *size, "--log", str(log), *how)


def politeness(requests: Sequence[dict[str, Any]], delay_s: float) -> dict[str, Any]:
    """Return how many requests met another one of their host under way, or came before its delay."""
    met, early, smallest, asked = 0, 0, float("inf"), Counter[str]()
    by_host = defaultdict[str, list[dict[str, Any]]](list)
    for each in requests:
        by_host[urlsplit(each["url"]).netloc].append(each)
    for of_host in by_host.values():
        ordered = sorted(of_host, key=lambda each: float(each["begun"]))
        for former, each in pairwise(ordered):
            gap_s = each["begun"] - former["ended"]
            met += gap_s < 0
            early += gap_s < delay_s - 0.001  # the log's times are rounded
            smallest = min(smallest, gap_s)
    asked.update(each["url"] for each in requests if each["kind"] == "page")
    return {
        "requests": len(requests),
        "two_at_once": met,
        "before_the_delay": early,
        "smallest_gap_s": round(smallest, 4),
        "pages_asked_twice": sum(count > 1 for count in asked.values()),
    }


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--pages-a-host", type=int, default=1_000)
    parser.add_argument("--log", type=Path, default=Path("/dev/null"))
    parser.add_argument("--ready", action="store_true", help="make all pages first, answer at once")
    parser.add_argument("--lively", action="store_true", help="services draw maps, and some die and return")
    options = parser.parse_args()
    with options.log.open("w", encoding="utf-8") as log:
        web = Web(options.hosts, options.pages_a_host, options.lively)
        ready = all_answers(web) if options.ready else {}
        asyncio.run(serve(lambda: _Connection(web, log, ready), f"{web.hosts} hosts"))


if __name__ == "__main__":
    main()
