"""Worlds for the tests of the lab: a small one made here, and a crawl of a recorded one where it is at hand."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from geocrawl.lab.contest.run import FinishedCrawl, Job, read_seeds, replay, settings_for
from geocrawl.lab.recorded_worlds.replay import WorldWeb
from geocrawl.lab.recorded_worlds.world import World
from tests.lab.small_world import write_world


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The folder of a small world."""
    return write_world(tmp_path / "small")


@dataclass(frozen=True)
class Recorded:
    """A recorded world, a crawl of its beginning, and the tools that belong to it."""

    world: World
    crawled: FinishedCrawl
    server: ModuleType
    scorer: ModuleType
    budget: int


@pytest.fixture(scope="session")
def recorded(shared: Path) -> Recorded:
    """The world `mixed` and a breadth-first crawl of 500 pages."""
    world = World(shared / "worlds" / "mixed")
    budget = 500
    crawled = replay(WorldWeb(world), read_seeds(world.seeds), settings_for(Job(world.folder, "bfs", budget)))
    tools = shared / "tools"
    return Recorded(world, crawled, _module(tools / "world_server.py"), _module(tools / "score_world.py"), budget)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module
