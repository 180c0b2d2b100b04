"""Serve a generated web where there are no recorded worlds: `python -m benchmarks.web --pages 5000`.

Pages of about 4.5 kB with 25 links each on 24 hosts under `.example`, a WMS on every hundredth; the same for the same
number of pages. One process of its own serves it as an HTTP proxy on loopback, everything held in memory, and writes
one JSON line a request as the recorded worlds' server does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO

from tests.support.loopback import served_by

HOSTS = 24
LINKS = 25
PARAGRAPHS = 9
WORDS = """map survey water river soil geology layer service data catalogue region office annual report open street
index people school market forest energy transport climate history music garden travel science library archive
coast station network method result table figure project team news event contact document public local"""
SEED = "http://www.site00.example/pages/0.html"
MISSING = b"<html><title>404</title><body>There is no such page.</body></html>"
CAPABILITIES = """<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name><Title>Maps {0}</Title>
</Service><Capability><Request><GetMap><Format>image/png</Format></GetMap></Request><Layer><Title>Maps {0}</Title>
<Layer><Name>layer{0}</Name><Title>Layer {0}</Title><CRS>EPSG:4326</CRS></Layer></Layer></Capability>
</WMS_Capabilities>"""


def address(number: int) -> str:
    """Where page `number` stands."""
    return f"http://www.site{number % HOSTS:02}.example/pages/{number}.html"


def page(number: int, count: int) -> bytes:
    """Page `number` of a web of `count` pages."""
    source = random.Random(number)
    targets = [source.randrange(count) for _ in range(LINKS - 2)] + [2 * number + 1, 2 * number + 2]
    links = "".join(f'<li><a href="{address(n % count)}">{_words(source, 3)}</a></li>' for n in targets)
    service = f'<p><a href="/maps/{number}?service=WMS&amp;request=GetCapabilities">WMS</a></p>' * (number % 100 == 0)
    text = "".join(f"<p>{_words(source, 30)}.</p>" for _ in range(PARAGRAPHS))
    title = _words(source, 4)
    head = f'<head><meta charset="utf-8"><title>{title}</title><style>p {{ margin: 1em }}</style></head>'
    return f"<!DOCTYPE html><html>{head}<body><h1>{title}</h1><ul>{links}</ul>{text}{service}</body></html>".encode()


def _words(source: random.Random, count: int) -> str:
    return " ".join(source.choices(WORDS.split(), k=count))


def answers(count: int) -> dict[str, tuple[str, str, bytes]]:
    """(kind, content type, body) by URL."""
    pages = {address(n): ("page", "text/html; charset=utf-8", page(n, count)) for n in range(count)}
    for number in range(0, count, 100):
        base = address(number).partition("/pages/")[0]
        pages[f"{base}/maps/{number}"] = ("service", "text/xml", CAPABILITIES.format(number).encode())
    return pages


class _Connection(asyncio.Protocol):
    """One client; a request is its head alone, answered at once."""

    def __init__(self, pages: dict[str, tuple[str, str, bytes]], log: TextIO) -> None:
        self._pages, self._log = pages, log
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport), "a TCP connection can be written to"
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self._answer(head.split(b" ", 2)[1].decode("latin-1"))

    def _answer(self, url: str) -> None:
        kind, content_type, body = self._pages.get(url.partition("?")[0], ("unknown", "text/html", MISSING))
        status = "404 Not Found" if kind == "unknown" else "200 OK"
        self._log.write(json.dumps({"method": "GET", "url": url, "status": int(status[:3]), "kind": kind}) + "\n")
        head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


async def _serve(count: int, log: TextIO) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    pages = answers(count)
    server = await loop.create_server(lambda: _Connection(pages, log), "127.0.0.1", 0, backlog=512)
    print(f"{count} pages; listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await ended.wait()
    server.close()


def served(count: int, log: Path) -> AbstractContextManager[str]:
    """Serve `count` pages from a process of its own; yields the proxy's URL. The log is whole afterwards."""
    return served_by("benchmarks.web", "--pages", str(count), "--log", str(log))


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--log", type=Path, default=Path("/dev/null"))
    options = parser.parse_args()
    with options.log.open("w", encoding="utf-8") as log:
        asyncio.run(_serve(options.pages, log))


if __name__ == "__main__":
    main()
