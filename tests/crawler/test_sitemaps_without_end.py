"""A host whose sitemaps name no page is asked for few of them; many sitemaps of pages beside them are read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from geocrawl.settings import Settings
from tests.support.crawls import crawl
from tests.support.loopback import Handler, Server, running

SETTINGS = Settings(
    delay_s=0.0,
    allow_private=True,
    allow=("127.0.0.1", "localhost"),
    siblings=0,
    maps=False,
    strategy="bfs",
    max_pages=1000,
)
GOOD = 60


class _Site(Server):
    """Says where its sitemaps are, and counts the requests for each folder."""

    def __init__(self, *sitemaps: str) -> None:
        super().__init__(_Handler)
        self.sitemaps = sitemaps
        self.asked = Counter[str]()


class _Handler(Handler):
    server: _Site

    def respond(self) -> None:
        folder, _, name = self.path.strip("/").partition("/")
        self.server.asked[folder] += 1
        base = f"http://127.0.0.1:{self.server.server_port}"
        if folder == "robots.txt":
            self._send("text/plain", "".join(f"Sitemap: {base}{path}\n" for path in self.server.sitemaps))
        elif folder in ("indexes", "wide", "hosts", "empty", "missing", "good"):
            self._send("text/xml", _sitemap(base, folder, int(name or 0)))
        else:
            self._send("text/html", "<title>Maps</title><p>Maps of the city.</p>", 404 if folder == "lost" else 200)

    def _send(self, kind: str, body: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.write(body.encode())


def _sitemap(base: str, folder: str, number: int) -> str:
    within = {
        "indexes": [f"indexes/{10 * number + n}" for n in range(1, 11)],  # each names ten, without end
        "wide": [f"wide/{1000 * number + n}" for n in range(1, 120)],
        "hosts": [f"hosts/{1000 * number + n}" for n in range(1, 120)],
        "empty": [] if number else [f"empty/{n}" for n in range(1, 120)],
        "missing": [f"lost/{n}/{n}" for n in range(1, 120)],
        "good": [] if number else [f"good/{n}" for n in range(1, GOOD + 1)],
    }[folder]
    if not within:
        pages = f"<url><loc>{base}/page/{number}</loc></url>" if folder == "good" else ""
        return f"<urlset>{pages}</urlset>"
    bases = [base, base.replace("127.0.0.1", "localhost") if folder == "hosts" else base]
    named = (f"<sitemap><loc>{bases[n % 2]}/{each}</loc></sitemap>" for n, each in enumerate(within))
    return f"<sitemapindex>{''.join(named)}</sitemapindex>"


@pytest.mark.parametrize("bomb", ["indexes", "wide", "hosts", "empty", "missing"])
def test_sitemaps_without_pages_end_and_the_others_are_read(tmp_path: Path, bomb: str) -> None:
    with running(_Site("/good/0", f"/{bomb}/0")) as site:
        crawl(SETTINGS, tmp_path / "c.db", [f"http://127.0.0.1:{site.server_port}/"])
    assert 10 < site.asked[bomb] + site.asked["lost"] <= 100
    assert site.asked["page"] == GOOD


def test_sitemaps_that_name_pages_are_not_bounded(tmp_path: Path) -> None:
    with running(_Site("/good/0")) as site:
        crawl(SETTINGS, tmp_path / "c.db", [f"http://127.0.0.1:{site.server_port}/"])
    assert site.asked["page"] == GOOD
