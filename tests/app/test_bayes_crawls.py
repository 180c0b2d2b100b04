"""Crawls of the demo web by bayes, with and without learning, and training from what they found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geocrawl.demo import DemoWeb
from geocrawl.errors import UsageError
from geocrawl.lab.cli.train import bayes
from geocrawl.lab.training import train
from geocrawl.priority.naive_bayes import read_bayes
from geocrawl.store.database.database import open_readonly
from geocrawl.store.frontier.yields import link_finds
from tests.support.crawls import crawl, settings_for, valid
from tests.support.samples import sampled


@pytest.mark.parametrize("online", sampled(["false", "true"], "true"))
def test_bayes_finds_what_there_is_and_its_finds_train_the_next_crawl(tmp_path: Path, online: str) -> None:
    with DemoWeb() as web:
        settings = settings_for(web, strategy="bayes", set={"bayes.online": online, "bayes.revise": "20"})
        crawl(settings, tmp_path / "c.db", web.seeds)
        assert valid(tmp_path / "c.db") == web.expected_valid
    with open_readonly(tmp_path / "c.db") as connection:
        led = [good for _, _, good in link_finds(connection)]
    assert 0 < sum(led) < len(led)
    train.train_bayes(tmp_path / "m.json", pages=None, urls=None, database=tmp_path / "c.db", exclude=[])
    model = read_bayes(tmp_path / "m.json")
    assert (model.positive, model.negative) == (sum(led), len(led) - sum(led))
    with DemoWeb() as web:
        again = settings_for(web, strategy="bayes", set={"bayes.model": str(tmp_path / "m.json")})
        crawl(again, tmp_path / "d.db", web.seeds)
        assert valid(tmp_path / "d.db") == web.expected_valid


@pytest.mark.long
def test_with_one_worker_a_learning_crawl_goes_the_same_way_twice(tmp_path: Path) -> None:
    orders = []
    with DemoWeb() as web:
        for name in ("one", "two"):
            learning = {"bayes.online": "true", "bayes.revise": "10"}
            settings = settings_for(web, strategy="bayes", set=learning, workers=1)
            orders.append(crawl(settings, tmp_path / f"{name}.db", web.seeds)[1].visits)
    assert orders[0] == orders[1]


def test_training_needs_a_source(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name --pages, --urls, --db or --topic"):
        bayes(tmp_path / "m.json")


def test_the_command_tells_what_went_into_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["http://a.example/x,other,soup,", "http://b.example/wms,wms,maps,kvp"]
    (tmp_path / "u.csv").write_text("\n".join(["url,label,anchor,note", *rows]))
    bayes(tmp_path / "m.json", urls=tmp_path / "u.csv")
    assert "samples: {'pages': {'positive': 0, 'negative': 0}, 'urls': {'positive': 1" in capsys.readouterr().out
    bayes(tmp_path / "m.json", urls=tmp_path / "u.csv", json=True)
    assert json.loads(capsys.readouterr().out)["samples"]["urls"] == {"positive": 1, "negative": 1}


def test_a_training_page_needs_an_address() -> None:
    with pytest.raises(ValueError, match="no address"):
        train.training_document("mailto:me", "")
