"""Killed at any moment and resumed, a crawl with one worker visits in the order of an undisturbed one."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app import crawl as crawls
from geocrawl.app import wiring
from geocrawl.app.crawl import run_crawl
from geocrawl.app.recognise import explain
from geocrawl.demo import DemoWeb
from geocrawl.priority.registry import strategies
from geocrawl.store import stored_strategy
from geocrawl.store.store import Store
from geocrawl.urls import read_url
from tests.support.killed_crawl import (
    DUMP_EVERY,
    LEARNER,
    PAGES,
    Learner,
    Watcher,
    order_of_visits,
    run,
    run_killed,
    settings_for,
)
from tests.support.samples import sampled


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@pytest.fixture(scope="module")
def undisturbed(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The learner's order."""
    path = tmp_path_factory.mktemp("undisturbed") / "crawl.db"
    run(path, web.proxy_url, LEARNER, web.seeds)
    return order_of_visits(path)


def crawl_killed(web: DemoWeb, path: Path, strategy: str, moments: Sequence[tuple[str, int]]) -> list[str]:
    """The order of visits of a crawl that is killed at each of the moments and at last ends by itself."""
    for moment, count in moments:
        # The seeds are given each time, as people would: known ones change nothing.
        assert run_killed(path, web.proxy_url, strategy, web.seeds, moment, count) == -signal.SIGKILL
    run(path, web.proxy_url, strategy, web.seeds)
    return order_of_visits(path)


@pytest.mark.parametrize(
    "moments",
    sampled(
        [
            [("settled", DUMP_EVERY - 4)],
            [("leased", 2 * DUMP_EVERY + 9)],
            [("learning", 2 * DUMP_EVERY)],
            [("revising", 9)],
            [("settled", 20), ("learning", 3), ("leased", 1), ("revising", 2)],
        ],
        [("settled", 20), ("learning", 3), ("leased", 1), ("revising", 2)],
    ),
    ids=str,
)
def test_a_strategy_that_learns_is_what_it_was_wherever_the_crawl_was_killed(
    web: DemoWeb, undisturbed: list[str], tmp_path: Path, moments: list[tuple[str, int]]
) -> None:
    order = crawl_killed(web, tmp_path / "crawl.db", LEARNER, moments)
    assert order[: len(undisturbed)] == undisturbed


def test_a_rank_is_explained_with_what_the_crawl_had_learnt(
    web: DemoWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Learner] = []

    def make(*_: object) -> Learner:
        made.append(Learner(lambda moment: None))
        return made[-1]

    monkeypatch.setattr(wiring, "make_strategy", make)
    monkeypatch.setattr(crawls, "demand_usable", lambda *_: None)  # the registry does not know the strategy
    settings, seed = settings_for(web.proxy_url, LEARNER), read_url(web.seeds[0])
    said: list[str] = []
    assert seed is not None
    run_crawl(settings, tmp_path / "crawl.db", [seed], observer=Watcher(lambda moment: None))
    _, name, reasons, _ = explain(settings, tmp_path / "crawl.db", seed, said.append)
    crawled, asked = made
    assert said == []
    assert (name, reasons) == (LEARNER, {"digest": crawled.digest})
    assert asked is not crawled and asked.digest == crawled.digest


def test_a_catalogue_keeps_the_preset_and_goes_on_with_it(web: DemoWeb, tmp_path: Path) -> None:
    path, settings = tmp_path / "crawl.db", replace(settings_for(web.proxy_url, "gws:paper"), max_pages=3)
    run_crawl(settings, path, [url for url in map(read_url, web.seeds) if url], observer=Watcher(lambda moment: None))
    with Store.open_readonly(path) as connection:
        assert stored_strategy(connection) == "gws:paper"
    run_crawl(replace(settings, strategy=""), path, [], observer=Watcher(lambda moment: None))
    with Store.open_readonly(path) as connection:
        assert stored_strategy(connection) == "gws:paper"


@pytest.mark.parametrize("strategy", sampled(strategies(), "fusion", "gws"))
def test_every_strategy_goes_on_in_the_order_it_had(web: DemoWeb, tmp_path: Path, strategy: str) -> None:
    run(tmp_path / "calm.db", web.proxy_url, strategy, web.seeds)
    calm = order_of_visits(tmp_path / "calm.db")
    assert len(calm) >= PAGES
    order = crawl_killed(web, tmp_path / "killed.db", strategy, [("settled", 2 * DUMP_EVERY + DUMP_EVERY // 2)])
    assert order[: len(calm)] == calm
