"""One learner, several processes: each of their visits is learnt once, whoever is killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from geocrawl.app import crawl as crawls
from geocrawl.app import wiring
from geocrawl.app.crawl import run_crawl
from geocrawl.demo import DemoWeb
from geocrawl.model import Feedback
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.frontier.learner import read_feedback, read_state
from geocrawl.urls import read_url
from geocrawl.urls.database import place_of
from tests.support.killed_crawl import Learner, Watcher, settings_for
from tests.support.postgres import Server
from tests.support.samples import sampled
from tests.support.world import ManualClock

LIMIT_S = 120.0
FIRST_VISITS, SECOND_VISITS = 10, 5


class Listing(Learner):
    """The strategy whose order hangs on every feedback, with the numbers of all of it."""

    def __init__(self) -> None:
        super().__init__(lambda moment: None)
        self.numbers: list[int] = []

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        self.numbers.append(feedback.number)

    def dump(self) -> bytes:
        return json.dumps([super().dump().decode(), self.numbers]).encode()

    def load(self, state: bytes) -> None:
        mine, self.numbers = json.loads(state)
        super().load(mine.encode())


class Steps:
    """What two processes tell each other, as files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def reach(self, step: str) -> None:
        (self._folder / step).touch()

    def wait(self, step: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not (self._folder / step).exists():
            assert time.monotonic() < end, step
            time.sleep(0.01)


def first_crawl(database: str, proxy: str, seeds: list[str], steps: Steps) -> None:
    """Crawl as the learner, and be killed after some visits, when another process has made some, too."""
    visits = count(1)

    def die(moment: str) -> None:
        if moment == "settled" and next(visits) == FIRST_VISITS:
            steps.reach("first learns")
            steps.wait("second follows")
            os.kill(os.getpid(), signal.SIGKILL)

    crawl(database, proxy, seeds, die)


def second_crawl(database: str, proxy: str, seeds: list[str], steps: Steps) -> None:
    """Crawl beside the learner, and go on after it was killed."""
    visits = count(1)

    def die(moment: str) -> None:
        if moment == "settled":
            if next(visits) == SECOND_VISITS:
                steps.reach("second follows")
                steps.wait("first is dead")
            time.sleep(0.02)  # the process looks several times a second whether somebody learns

    crawl(database, proxy, seeds, die)


def crawl(database: str, proxy: str, seeds: list[str], die: Callable[[str], None]) -> None:
    wiring.make_strategy = lambda *_: Listing()
    setattr(crawls, "demand_usable", lambda *_: None)  # noqa: B010 the registry does not know the strategy
    urls = [url for url in map(read_url, seeds) if url is not None]
    run_crawl(settings_for(proxy, "listing"), place_of(database), urls, observer=Watcher(die))


@pytest.fixture(params=sampled(["disk", "postgres"], "disk"))
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a new database."""
    if request.param == "disk":
        yield f"sqlite:///{tmp_path / 'crawl.db'}"
        return
    server: Server = request.getfixturevalue("postgres_server")
    url = server.new_catalogue()
    yield url
    server.drop(url)


def test_a_killed_learner_is_followed_by_another_and_each_visit_is_learnt_once(database: str, tmp_path: Path) -> None:
    forks, steps = multiprocessing.get_context("forkserver"), Steps(tmp_path)
    forks.set_forkserver_preload([__name__])
    with DemoWeb() as web:
        given = (database, web.proxy_url, list(web.seeds), steps)
        first = forks.Process(target=first_crawl, args=given)
        first.start()
        steps.wait("first learns")
        second = forks.Process(target=second_crawl, args=given)
        second.start()
        first.join(LIMIT_S)
        assert first.exitcode == -signal.SIGKILL
        steps.reach("first is dead")
        second.join(LIMIT_S)
        assert second.exitcode == 0
    strategy = Listing()
    with Store.open(database, clock=ManualClock()) as store:
        strategy.load(read_state(store.connection) or b"")
        rest = [each.number for each in read_feedback(store.connection)]
        world = store.frontier(Settings(), store.catalog())
        assert [*strategy.numbers, *rest] == [*range(1, (rest or strategy.numbers)[-1] + 1)]
        assert world.version() == strategy.numbers[-1] and world.revised() > FIRST_VISITS + SECOND_VISITS
    assert len(strategy.numbers) + len(rest) > FIRST_VISITS + 4 * SECOND_VISITS
