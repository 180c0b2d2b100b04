"""A made web of each kind, small, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.made_worlds.plans.registry import KINDS

PAGES = 500
SEED = 4


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders by kind."""
    root = tmp_path_factory.mktemp("made")
    for kind in KINDS:
        make(kind, PAGES, SEED, root / kind)
    return {kind: root / kind for kind in KINDS}


@pytest.fixture(params=sorted(KINDS))
def folder(request: pytest.FixtureRequest, made: dict[str, Path]) -> Path:
    """The folder of each kind in turn."""
    return made[request.param]
