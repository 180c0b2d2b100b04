"""Classifiers of links on a made web, and divergences of words that are worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.contest.judge import PageJudge
from geocrawl.lab.contest.link_classes import LEAST_LINKS, classify_links, divergence
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


def test_classifiers_are_trained_and_tested_on_as_many_links_of_each_class(tmp_path: Path) -> None:
    make("portal", 200, 3, tmp_path / "portal", ())
    relevant = study(World(tmp_path / "portal"), NOBODY).relevant
    found = classify_links(tmp_path / "portal", relevant)
    assert found == classify_links(tmp_path / "portal", relevant)
    assert found.positive == found.negative >= LEAST_LINKS and found.pages > 20
    assert list(found.scores) == ["bayes:paper", "bayes:anchors", "bayes:pages"]
    for scores in found.scores.values():
        assert all(0.0 < value <= 1.0 for value in scores)
    assert found.scores["bayes:paper"].accuracy > 0.5  # better than a coin, on links that it was not trained on
    assert found.divergences["pages : links"] > found.divergences["pages : pages"] > 0.0


def test_a_web_with_few_links_of_a_class_has_no_classifiers(small: Path) -> None:
    with pytest.raises(UsageError, match="small has fewer than 100 links to relevant pages"):
        classify_links(small, study(World(small), NOBODY).relevant)
