"""The engines that the store's tests are a contract for."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["disk", "memory"])
def engine_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database: SQLite on disk, then in memory."""
    return f"sqlite:///{tmp_path / 'crawl.db'}" if request.param == "disk" else "sqlite://"
