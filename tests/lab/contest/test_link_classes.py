"""Classifiers of links on a made web, and divergences of words that are worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.contest.judge import PageJudge
from geocrawl.lab.contest.link_classes import LEAST_LINKS, classify_links, divergence, host_sides
from geocrawl.lab.contest.study import study
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.world import World

NOBODY = PageJudge({}, -1.0, {})


def test_a_divergence_is_over_the_words_common_to_both() -> None:
    """Of wms and map: 3/4 and 1/4 against 1/2 and 1/2."""
    expected = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert divergence({"wms": 3, "map": 1, "soup": 9}, {"wms": 1, "map": 1, "news": 5}) == pytest.approx(expected)
    assert divergence({"wms": 3}, {"map": 1}) == 0.0
    assert divergence({"wms": 3, "map": 3}, {"wms": 1, "map": 1}) == 0.0


def test_links_are_labelled_by_the_host_that_they_lead_to() -> None:
    pages = {*(f"maps.example/{n}" for n in range(4)), *(f"half.example/{n}" for n in range(4)), "soup.example/"}
    relevant = {
        "maps.example/0",
        "maps.example/1",
        "maps.example/2",
        "half.example/0",
        "half.example/1",
        "gone.example/",
    }
    assert host_sides(pages, relevant) == {"maps.example": True, "soup.example": False}


def test_classifiers_are_trained_and_tested_on_as_many_links_of_each_class(tmp_path: Path) -> None:
    make("mixed", 200, 3, tmp_path / "mixed", ())
    relevant = study(World(tmp_path / "mixed"), NOBODY).relevant
    found = classify_links(tmp_path / "mixed", relevant)
    assert found == classify_links(tmp_path / "mixed", relevant)
    assert found.positive == found.negative >= LEAST_LINKS and found.pages > 20
    assert list(found.scores) == ["bayes:paper", "bayes:anchors", "bayes:pages"]
    for scores in found.scores.values():
        assert all(0.0 < value <= 1.0 for value in scores)
    assert found.scores["bayes:paper"].accuracy > 0.5  # better than a coin, on links that it was not trained on
    assert found.divergences["links : pages"] != found.divergences["pages : links"]
    assert found.divergences["pages : links"] > found.divergences["pages : pages"] > 0.0


def test_a_web_with_few_links_of_a_class_has_no_classifiers(small: Path) -> None:
    with pytest.raises(UsageError, match="small has fewer than 100 links to hosts of the topic"):
        classify_links(small, study(World(small), NOBODY).relevant)
