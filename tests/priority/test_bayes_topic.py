"""`bayes` for a topic of the directory: from its sample texts, and trained on the sites of its start pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.cli.train import bayes
from geocrawl.lab.training.bayes_samples import topic_authorities
from geocrawl.priority.naive_bayes import read_bayes
from geocrawl.priority.registry import make_strategy
from geocrawl.priority.strategies.bayes import BayesStrategy, topic_samples
from geocrawl.priority.topics import Topic, all_topics
from geocrawl.urls import read_url
from tests.priority.documents import document, link

SOIL, OCEAN = "environment/soil", "water/ocean"


def scores(strategy: object, *anchors: str) -> list[float]:
    """P(+) of links with these anchors, each alone on its page: neighbours would be each other's context."""
    assert isinstance(strategy, BayesStrategy)
    pages = [document("", link("http://a.example/x", anchor)) for anchor in anchors]
    return [rank.score for page in pages for rank in strategy.judge(page).ranks if rank is not None]


@pytest.mark.parametrize(("name", "wins"), [(SOIL, 0), (OCEAN, 1)])
def test_a_topic_that_nobody_trained_is_known_by_its_sample_texts(name: str, wins: int) -> None:
    strategy = make_strategy("bayes", {}, topic=all_topics()[name])
    found = scores(strategy, "Soil map and soil profiles", "Ocean currents and tides", "Contact and imprint")
    assert max(found) == found[wins] > 0.9
    assert found[2] < 0.5
    shipped = make_strategy("bayes", {})
    assert scores(shipped, "Soil map and soil profiles") != found[:1]


def test_the_default_topic_keeps_the_shipped_model() -> None:
    anchors = ("WMS GetCapabilities", "Soil map")
    default = make_strategy("bayes", {}, topic=all_topics()["geoservices/wms"])
    assert scores(default, *anchors) == scores(make_strategy("bayes", {}), *anchors)


def test_sites_of_start_pages_speak_for_their_topic_and_shared_ones_for_none() -> None:
    ours = Topic("a/ours", "Ours", ("moss",), ("http://www.moss.example/", "http://both.example/"))
    theirs = Topic("a/theirs", "Theirs", ("fern",), ("http://fern.example/x", "http://both.example/y"))
    domains = topic_authorities(ours, [ours, theirs])
    sides = {
        text: domains.side(url)
        for text in ("moss", "fern", "both", "new")
        if (url := read_url(f"http://data.{text}.example/"))
    }
    assert sides == {"moss": True, "fern": False, "both": None, "new": None}
    assert {(s.anchor, s.positive) for s in topic_samples(ours, [ours, theirs])} == {
        ("Ours", True),
        ("moss", True),
        ("Theirs", False),
        ("fern", False),
    }


def test_training_for_a_topic_learns_from_links_into_the_sites_of_its_start_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soil, ocean = (all_topics()[name].seeds[0] for name in (SOIL, OCEAN))
    html = "".join(f'<p><a href="{to}">{anchor}</a></p>' for to, anchor in ((soil, "quaggle"), (ocean, "brindle")))
    rows = [{"url": f"http://www{n}.example/", "label": "gis", "html": html} for n in range(5)]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    bayes(tmp_path / "soil.json", pages=tmp_path / "p.jsonl", topic=SOIL, json=True)
    made = json.loads(capsys.readouterr().out)
    assert made["topic"] == SOIL
    assert made["samples"]["pages"] == {"positive": 5, "negative": 5}
    assert read_bayes(tmp_path / "soil.json").features["anchor quaggl"] == (5, 0)
    trained = make_strategy("bayes", {"bayes.model": str(tmp_path / "soil.json")}, topic=all_topics()[SOIL])
    good, bad = scores(trained, "quaggle", "brindle")
    assert good > bad
    with pytest.raises(UsageError, match=r"unknown topic 'environment/soils'.*did you mean environment/soil"):
        bayes(tmp_path / "soil.json", topic="environment/soils")
