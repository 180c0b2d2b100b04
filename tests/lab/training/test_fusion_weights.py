"""`geocrawl train fusion`: walks of made webs, what links are worth there, and the file that comes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app
from geocrawl.errors import UsageError
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.walk import Walk, Web, read_web
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.lab.training.fusion_examples import DISCOUNT, _greatest_mean, _Worths, examples
from geocrawl.lab.training.fusion_weights import train_fusion_file
from geocrawl.priority.registry import make_strategy
from geocrawl.priority.strategies.fusion.feature_names import generic_names
from geocrawl.priority.strategies.fusion.strategy import FusionStrategy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "mixed-4"
    make("mixed", 200, 4, out)
    return out


@pytest.fixture(scope="module")
def web(folder: Path) -> Web:
    return read_web(World(folder))


def fusion() -> FusionStrategy:
    strategy = make_strategy("fusion", {})
    assert isinstance(strategy, FusionStrategy)
    return strategy


def test_a_walk_finds_what_a_crawl_finds(folder: Path, web: Web) -> None:
    walk = Walk(web, make_strategy("bfs", {}))
    walk.run()
    crawled = run(Job(folder, "bfs", World(folder).pages)).score
    assert walk.found
    assert len(walk.found) == pytest.approx(crawled.found, rel=0.35)
    assert sum(place.visited for place in walk.places) == pytest.approx(crawled.pages, rel=0.15)


def test_the_same_walk_gives_the_same_examples(web: Web) -> None:
    assert examples(web, fusion(), 1) == examples(web, fusion(), 1) != examples(web, fusion(), 2)


def test_examples_have_generic_features_and_a_worth_between_0_and_1(web: Web) -> None:
    taken = examples(web, fusion(), 1)
    assert all(0 <= place < len(generic_names()) for example in taken for place in example.features)
    worths = {example.worth for example in taken}
    assert min(worths) == 0.0
    assert max(worths) == 1.0
    assert any(0.0 < worth <= DISCOUNT for worth in worths)


def test_a_page_with_a_new_service_is_worth_most_until_it_is_found(web: Web) -> None:
    walk = Walk(web, fusion())
    key, answer = next((key, answer) for key, answer in web.answers.items() if answer.services)
    assert _Worths(walk).of(key, 0) == 1.0
    walk.found |= answer.services
    assert _Worths(walk).of(key, 0) == 0.0


def test_a_way_is_worth_the_greatest_mean_along_it() -> None:
    assert _greatest_mean([], 1.0) == 0.0
    assert _greatest_mean([1.0], 1.0) == pytest.approx(DISCOUNT / 2)
    assert _greatest_mean([1.0, 1.0, 0.0], 1.0) == pytest.approx(DISCOUNT * 2 / 3)
    assert _greatest_mean([1.0], 0.0) == pytest.approx(DISCOUNT)


def test_weights_name_the_webs_they_were_learnt_on_and_are_refused_there(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "weights.json"
    done = CliRunner().invoke(app, ["train", "fusion", str(folder), "--rounds", "1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    data = json.loads(out.read_text("utf-8"))
    assert set(data["weights"]) <= set(generic_names())
    assert data["made"]["files"][0]["sha256"] == World(folder).sha256
    assert "world make mixed --pages 200 --seed 4" in data["made"]["files"][0]["file"]
    with pytest.raises(UsageError, match="was trained on mixed-4"):
        run(Job(folder, "fusion", 20, {"fusion.prior": str(out)}))


def test_nothing_to_learn_from_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to learn from"):
        train_fusion_file([], tmp_path / "w.json", rounds=1, tell=lambda line: None)
    with pytest.raises(UsageError, match="is no recorded web"):
        train_fusion_file([tmp_path], tmp_path / "w.json", rounds=1, tell=lambda line: None)
