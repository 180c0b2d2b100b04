"""Fixtures of the web's tests: the catalogue of the demo, and an application that serves it."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from geocrawl.demo import DemoWeb
from geocrawl.settings import Settings
from geocrawl.urls.database import DatabaseUrl
from geocrawl.web.application import config_of, make_application
from geocrawl.web.options import Options
from tests.support.crawls import crawl, settings_for

Serve = Callable[..., TestClient]


@pytest.fixture(scope="session")
def demo_web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@pytest.fixture(scope="session")
def crawled(demo_web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalogue of a crawl of the demo web; copy it before writing."""
    path = tmp_path_factory.mktemp("web") / "demo.db"
    crawl(settings_for(demo_web, siblings=50), path, demo_web.seeds)
    return path


@pytest.fixture
def catalogue(crawled: Path, tmp_path: Path) -> Path:
    """A copy of the demo's catalogue that a test may change."""
    return Path(shutil.copy(crawled, tmp_path / "c.db"))


def demo_settings(web: DemoWeb) -> Settings:
    """Settings with which requests reach the demo web."""
    return Settings(proxy=web.proxy_url, delay_s=0.0, contact="tests@localhost")


@pytest.fixture
def serve(demo_web: DemoWeb) -> Iterator[Serve]:
    """Serves a catalogue: `serve(path, **options)` returns a client of it."""
    with ExitStack() as stack:

        def start(path: DatabaseUrl, **options: object) -> TestClient:
            chosen = Options(path, **({"requests_per_minute": 0} | options))  # type: ignore[arg-type]
            application = make_application(chosen, demo_settings(demo_web))
            client = TestClient(application, base_url="http://localhost", raise_server_exceptions=False)
            return stack.enter_context(client)

        yield start


@contextmanager
def served(path: Path, web: DemoWeb, **chosen: object) -> Iterator[str]:
    """Serve a catalogue on a free port, with these options; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = Options(path, port=port, **({"requests_per_minute": 0} | chosen))  # type: ignore[arg-type]
    server = uvicorn.Server(config_of(make_application(options, demo_settings(web)), options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(6_000):
        if server.started:
            break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(120)


@pytest.fixture
def client(serve: Serve, crawled: Path) -> TestClient:
    """A client of the demo's catalogue."""
    return serve(crawled)
