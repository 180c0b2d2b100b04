"""The engines that the store's tests are a contract for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.support.postgres import Server
from tests.support.samples import sampled

ENGINES = sampled(["disk", "memory", "postgres"], "disk", "postgres")
"""SQLite in memory is the code of SQLite on disk without a file: `make long` runs it."""


@contextmanager
def _maker(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[int], str]]:
    """Yield what makes a new database of an engine; those of PostgreSQL are removed in the end."""
    if engine != "postgres":
        yield lambda number: f"sqlite:///{tmp_path / f'{number}.db'}" if engine == "disk" else "sqlite://"
        return
    server: Server = request.getfixturevalue("postgres_server")
    made: list[str] = []

    def new(_: int) -> str:
        made.append(server.new_catalogue())
        return made[-1]

    yield new
    for url in made:
        server.drop(url)


@pytest.fixture(params=ENGINES)
def engine_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a new database: SQLite on disk, then in memory, then PostgreSQL."""
    with _maker(request.param, request, tmp_path) as new:
        yield new(0)


@pytest.fixture(params=["disk", "postgres"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a new database that several connections open: SQLite on disk, then PostgreSQL."""
    with _maker(request.param, request, tmp_path) as new:
        yield new(0)


@pytest.fixture(params=ENGINES)
def engine_urls(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Iterator[str]]:
    """The URLs of as many new databases as a test asks for: SQLite on disk, then in memory, then PostgreSQL."""
    with _maker(request.param, request, tmp_path) as new:
        yield map(new, count())


@pytest.fixture(params=sampled(["disk", "memory"], "disk"))
def sqlite_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a new database of SQLite, for what is its own: on disk, then in memory."""
    with _maker(request.param, request, tmp_path) as new:
        yield new(0)
