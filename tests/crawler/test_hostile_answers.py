"""A live crawl of a server whose answers take long to read: processes read them, or a limit ends their reading."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.reading.hostile import PAGES, SERVICES, Hostile
from tests.support.crawls import crawl
from tests.support.loopback import Handler, Server, running

SIZE = 66_000
_PAGES = {f"/page{number}": hostile for number, hostile in enumerate(PAGES)}
_SERVICES = {f"/service{number}": hostile for number, hostile in enumerate(SERVICES)}


class _Hostile(Handler):
    def respond(self) -> None:
        path = self.path.partition("?")[0]
        found: Hostile | None = (_PAGES | _SERVICES).get(path)
        if path == "/":
            links = [*_PAGES, *(f"{each}?service=WMS&amp;request=GetCapabilities" for each in _SERVICES)]
            body, label = "".join(f'<a href="{each}">{each}</a> ' for each in links).encode(), "text/html"
        elif found is not None:
            body, label = found.body(SIZE), found.content_type
        else:
            body, label = b"", ""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", label)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.write(body)


@contextmanager
def _hostile_server() -> Iterator[str]:
    with running(Server(_Hostile)) as server:
        yield f"http://127.0.0.1:{server.server_port}/"


def _reasons(path: Path, like: str) -> dict[str, str]:
    with open_readonly(path) as connection:
        rows = connection.execute("SELECT address, reason FROM url WHERE address LIKE ?", (f"%{like}%",)).fetchall()
    return {f"/{address.partition('?')[0].rpartition('/')[2]}": reason for address, reason in rows}


def _settings(**more: float) -> Settings:
    base = Settings(delay_s=0.0, allow_private=True, allow=("127.0.0.1",), max_depth=1, siblings=0, maps=False)
    return replace(base, **more)  # type: ignore[arg-type]


@pytest.mark.long
def test_hostile_answers_are_read_and_the_crawl_ends(tmp_path: Path) -> None:
    with _hostile_server() as address:
        report, _ = crawl(_settings(), tmp_path / "c.db", [address])
    assert report.summary.stopped == "done"
    pages = _reasons(tmp_path / "c.db", "/page")
    assert {path: pages.get(path) for path in _PAGES} == dict.fromkeys(_PAGES, "ok")


def test_a_limit_ends_the_reading_of_pages_and_of_answers_to_probes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geocrawl.app.wiring.READING_TIME_S", 0.01)
    with _hostile_server() as address:
        report, _ = crawl(_settings(), tmp_path / "c.db", [address])
    assert report.summary.stopped == "done", report.summary.reasons
    pages, services = _reasons(tmp_path / "c.db", "/page"), _reasons(tmp_path / "c.db", "/service")
    slow = [path for path, hostile in _PAGES.items() if hostile.name != "<< in a script"]
    assert {path: pages.get(path) for path in slow} == dict.fromkeys(slow, "reading-time")
    assert {path: services.get(path) for path in _SERVICES} == dict.fromkeys(_SERVICES, "reading-time")
