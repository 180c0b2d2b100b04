"""The engines that the store's tests are a contract for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest


@pytest.fixture(params=["disk", "memory"])
def engine_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database: SQLite on disk, then in memory."""
    return f"sqlite:///{tmp_path / 'crawl.db'}" if request.param == "disk" else "sqlite://"


@pytest.fixture(params=["disk", "memory"])
def engine_urls(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URLs of as many new databases as a test asks for: SQLite on disk, then in memory."""
    return (f"sqlite:///{tmp_path / f'{number}.db'}" if request.param == "disk" else "sqlite://" for number in count())
