"""The settings that a preset's paper fixes: a crawl and the daemon have them, and a person's own values win."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocrawl.cli.options import settings_of_run
from geocrawl.demo import DemoWeb
from geocrawl.fetch.clock import SystemClock
from geocrawl.priority.registry import presets
from geocrawl.settings import NO_DEPTH_LIMIT, Settings
from geocrawl.store import Store
from tests.support.commands import CommandResult, geocrawl


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def crawl(web: DemoWeb, database: Path, *options: str) -> CommandResult:
    common = ("--proxy", web.proxy_url, "--delay", "0", "--db", str(database), "--no-maps")
    return geocrawl("crawl", *common, *options)


def test_a_crawl_with_a_preset_has_its_papers_set_up_and_says_so(web: DemoWeb, tmp_path: Path) -> None:
    database = tmp_path / "c.db"
    first = crawl(web, database, web.seeds[0], "--strategy", "gws:paper", "--max-pages", "5", "--workers", "2")
    assert first.code == 0
    assert "gws:paper sets detect = paper, max_depth = 5, as its paper does." in first.err
    assert "workers = 2 (option) is used instead of 5, the paper's" in first.err
    assert "max_pages = 5 (option) is used instead of 0, the paper's" in first.err
    assert depth(database) == 5
    resumed = crawl(web, database, "--max-depth", "3", "--max-pages", "5")
    assert "gws:paper sets detect = paper, workers = 5, as its paper does." in resumed.err
    assert "max_depth = 3 (option) is used instead of 5" in resumed.err
    assert depth(database) == 3
    other = crawl(web, database, "--strategy", "gws", "--max-pages", "5")
    assert "paper" not in other.err.replace("gws instead of gws:paper", "")
    assert depth(database) == NO_DEPTH_LIMIT


def depth(database: Path) -> int | None:
    with Store.open(database, clock=SystemClock()) as store:
        return store.facts.max_depth()


def test_an_environment_or_a_file_wins_over_a_paper_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEOCRAWL_WORKERS", "5")
    file = tmp_path / "c.toml"
    file.write_text("strategy = 'gws:paper'\nmax_depth = 4\ndb = 'none.db'\n")
    notes: list[str] = []
    settings = settings_of_run({"config": file}, notes.append)
    assert (settings.detect, settings.max_depth, settings.workers, settings.max_pages) == ("paper", 4, 5, 0)
    assert notes == [
        "gws:paper sets detect = paper, max_pages = 0, as its paper does.",
        f"max_depth = 4 ({file}) is used instead of 5, the paper's, so the crawl cannot be compared with the paper's.",
    ]


@pytest.mark.parametrize("name", presets())
def test_a_set_up_names_settings_with_values_that_they_take(name: str) -> None:
    setup = presets()[name].setup
    settings = Settings(**{field: each.value for field, each in setup.items()})  # type: ignore[arg-type]
    assert setup and all(getattr(settings, field) == each.value and each.source for field, each in setup.items())
    shown = json.loads(geocrawl("strategies", "show", name, "--json").out)
    assert [each["value"] for each in shown["setup"]] == [each.value for each in setup.values()]
    text = geocrawl("strategies", "show", name).out
    assert all(each.source in text for each in (*setup.values(), *presets()[name].constants.values()))


def test_what_is_no_strategy_cannot_be_shown() -> None:
    assert "unknown preset 'gws:papr'" in geocrawl("strategies", "show", "gws:papr").err
    assert "expected: geocrawl strategies show NAME" in geocrawl("strategies", "gws:paper").err
