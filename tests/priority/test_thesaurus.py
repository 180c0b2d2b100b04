"""Similarity of words: synonyms 1, near words 0.5 to 1, far ones below 0.5."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.priority.strategies.ipagerank import FAR, Thesaurus, TopicWords, form_similarity, shipped_thesaurus

words = st.text("abcdeorsv地图服务层", min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("map", "map"),
        ("map", "地图"),
        ("wms", "web map service"),
        ("crs", "srs"),
        ("layer", "图层"),
        ("gis", "地理信息系统"),
    ],
)
def test_synonyms_are_one_word_in_either_language(a: str, b: str) -> None:
    assert shipped_thesaurus().similarity(a, b) == 1.0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("wms", "wfs"),
        ("layer", "layers"),
        ("map", "atlas"),
        ("geoserver", "qgis"),
        ("地图服务器", "地图服务"),
        ("瓦片", "layer"),
    ],
)
def test_words_of_one_field_or_one_stem_are_near(a: str, b: str) -> None:
    assert 0.5 <= shipped_thesaurus().similarity(a, b) < 1.0


@pytest.mark.parametrize(
    ("a", "b"),
    [("server", "service"), ("map", "mad"), ("wms", "cms"), ("地图", "服务"), ("layer", "lawyer"), ("soup", "wms")],
)
def test_words_that_share_letters_only_are_far(a: str, b: str) -> None:
    assert shipped_thesaurus().similarity(a, b) < 0.5


@given(words, words)
def test_similarity_is_symmetric_and_in_its_range(a: str, b: str) -> None:
    one, other = form_similarity(a, b), form_similarity(b, a)
    assert one == other
    assert 0.0 <= one <= FAR or 0.5 <= one <= 1.0
    assert form_similarity(a, a) == 1.0


def test_every_word_of_the_shipped_thesaurus_is_in_lower_case_and_means_one_thing() -> None:
    seen: dict[str, frozenset[str]] = {}
    for group in shipped_thesaurus().groups:
        for word in group:
            assert word == word.lower().strip()
            assert seen.setdefault(word, group) is group, word


def test_near_groups_lie_between_a_half_and_one() -> None:
    with pytest.raises(ValueError, match=r"from 0.5 to 1"):
        Thesaurus([(0.3, [["a"], ["b"]])])


TOPIC = TopicWords(shipped_thesaurus(), ["wms", "map", "layer"])


@pytest.mark.parametrize(
    ("text", "similarity"),
    [
        ("", 0.0),
        ("The map of the town", 1.0),
        ("WMS服务列表", 1.0),
        ("国土局网络地图服务目录", 1.0),
        ("Our WFS", 0.8),
        ("网站地图", 0.0),
        ("Site map", 0.0),
        ("站点地图 - 图层", 1.0),
    ],
)
def test_a_text_is_as_near_as_its_nearest_word(text: str, similarity: float) -> None:
    assert TOPIC.of_text(text) == pytest.approx(similarity)


def test_a_text_of_other_things_is_far() -> None:
    assert TOPIC.of_text("Contact us for recipes of soup and bread, 联系我们") < 0.5


def test_the_word_that_counted_is_named() -> None:
    assert TOPIC.best_word("All our data as WMS") == "wms"
    assert TOPIC.best_word("") == ""
