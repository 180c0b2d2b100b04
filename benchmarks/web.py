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
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO

from tests.support.computed_web import ProxyConnection, serve
from tests.support.loopback import served_by
from tests.support.scale_web import CAPABILITIES, MISSING, WORDS

HOSTS = 24
LINKS = 25
PARAGRAPHS = 9
SEED = "http://www.site00.example/pages/0.html"


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


class _Connection(ProxyConnection):
    """One client, answered at once."""

    def __init__(self, pages: dict[str, tuple[str, str, bytes]], log: TextIO) -> None:
        super().__init__()
        self._pages, self._log = pages, log

    def asked(self, url: str) -> None:
        kind, content_type, body = self._pages.get(url.partition("?")[0], ("unknown", "text/html", MISSING))
        status = "404 Not Found" if kind == "unknown" else "200 OK"
        self._log.write(json.dumps({"method": "GET", "url": url, "status": int(status[:3]), "kind": kind}) + "\n")
        self.send(status, content_type, body)


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
        pages = answers(options.pages)
        asyncio.run(serve(lambda: _Connection(pages, log), f"{options.pages} pages"))


if __name__ == "__main__":
    main()
