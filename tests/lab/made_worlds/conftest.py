"""A made web of each kind, small, made when a test asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.made_worlds.plans.registry import KINDS
from tests.support.samples import sampled

PAGES = 250
SEED = 4
SAMPLE = ("portal", "agency", "mixed")


class Made(dict[str, Path]):
    """The folders of made webs by kind."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def __missing__(self, kind: str) -> Path:
        make(kind, PAGES, SEED, self._root / kind)
        return self.setdefault(kind, self._root / kind)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The folders by kind."""
    return Made(tmp_path_factory.mktemp("made"))


@pytest.fixture(params=sampled(sorted(KINDS), *SAMPLE))
def folder(request: pytest.FixtureRequest, made: Made) -> Path:
    """The folder of each kind in turn."""
    return made[request.param]
