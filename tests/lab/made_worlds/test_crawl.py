"""Crawls of made webs: what geocrawl recognises today it finds, and nothing false."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl as crawl
from geocrawl.lab.contest.measure import read_catalogue
from geocrawl.lab.contest.run import Job, read_seeds, replay, settings_for, valid_endpoints
from geocrawl.lab.made_worlds.plans.registry import KINDS
from geocrawl.lab.recorded_worlds.addresses import key_of, read_query
from geocrawl.lab.recorded_worlds.replay import WorldWeb
from geocrawl.lab.recorded_worlds.world import TrueService, World
from geocrawl.model import Entry, FrontierStats, Kind, Lease, SettlementResult, Visit
from geocrawl.settings import Settings
from tests.lab.made_worlds.conftest import SAMPLE
from tests.support.samples import sampled

RECOGNISED = frozenset({"href-getcapabilities", "href-getmap", "redirect", "form", "csw-record"})


class _Silent:
    """An observer that says nothing."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None: ...

    def noted(self, text: str) -> None:
        """Nothing is shown."""

    def leased(self, lease: Lease) -> None: ...

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None: ...


def _to_the_end(settings: Settings) -> Settings:
    return replace(settings, max_depth=100, max_pages=100_000)


def _claimed(world: World, catalogue: list[tuple[str, str]]) -> dict[str, TrueService | None]:
    """By catalogued address: the service of the world that stands there."""
    found = {}
    for url, kind in catalogue:
        key = key_of(url)
        parameters = {name.lower(): value for name, value in read_query(key)}
        found[url] = world.pick(key.partition("?")[0], parameters, kind)
    return found


def _must_be_found(world: World) -> set[str]:
    """Ids of the services that work, can be reached, and are named by a way that is recognised."""
    return {
        service.id
        for service in world.services
        if service.kind == Kind.WMS and service.valid and service.reachable
        if RECOGNISED & {way for _, way in service.exposures}
    }


def _hold(world: World, catalogue: list[tuple[str, str]]) -> None:
    claimed = _claimed(world, catalogue)
    for url, service in claimed.items():
        assert service is not None and (service.valid or service.behaviour == "slow"), url
        assert service.reachable or not service.valid, url
    found = {service.id for service in claimed.values() if service is not None}
    wanted = _must_be_found(world)
    assert found and wanted <= found  # nothing is wanted of applications, whose JSON names all services


def test_a_crawl_to_the_end_finds_all_that_is_recognised_and_nothing_false(folder: Path) -> None:
    world = World(folder)
    settings = _to_the_end(settings_for(Job(folder, "bfs", 1)))
    crawled = replay(WorldWeb(world), read_seeds(world.seeds), settings)
    _hold(world, list(crawled.catalogue))


@pytest.mark.parametrize("kind", sampled([kind for kind in KINDS if kind not in SAMPLE], "spa", "linklist"))
def test_bfs_finds_all_that_can_be_reached_and_nearly_all_at_the_default_depth(
    made: dict[str, Path], kind: str
) -> None:
    world = World(made[kind])
    wanted = {each.id for each in world.services if each.kind == Kind.WMS and each.valid and each.reachable}
    for depth, share in ((100, 1.0), (Settings().max_depth, 0.8)):
        settings = replace(settings_for(Job(made[kind], "bfs", 100_000)), max_depth=depth)
        found, wrong = read_catalogue(world, replay(WorldWeb(world), read_seeds(world.seeds), settings).catalogue)
        assert wrong == []
        assert len(wanted & set(found)) >= share * len(wanted) > 0


@contextmanager
def _served(shared: Path, folder: Path) -> Iterator[str]:
    command = [sys.executable, str(shared / "tools" / "world_server.py"), str(folder), "--port", "0"]
    with subprocess.Popen([*command, "--slow-seconds", "0.1"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        ready = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
        try:
            assert ready is not None
            yield ready[0]
        finally:
            server.send_signal(signal.SIGTERM)


@pytest.mark.shared
def test_the_server_of_recorded_webs_serves_a_made_one(shared: Path, made: dict[str, Path], tmp_path: Path) -> None:
    world = World(made["mixed"])
    with _served(shared, world.folder) as proxy:
        settings = Settings(proxy=proxy, delay_s=0.0, max_crawl_delay_s=0.0, backoff_first_s=0.0, max_attempts=1)
        crawl(_to_the_end(settings), tmp_path / "geocrawl.db", read_seeds(world.seeds), observer=_Silent())
    _hold(world, valid_endpoints(tmp_path / "geocrawl.db"))
