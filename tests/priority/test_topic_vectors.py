"""Keywords in text, page vectors and the cosine with the topic."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.priority.nearness import TopicMeasure, TopicModel, page_vector
from geocrawl.priority.text_terms import Keywords
from tests.priority.documents import TOPIC

WORDS = (
    "wms",
    "map",
    "web map service",
    "map service",
    "getmap",
    "srs",
    "地图",
    "地图服务",
    "web地图服务",
    "géoportail",
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A WMS, two wms_layers and WMS 1.1.1; WMS130", ["wms", "wms", "wms", "wms"]),
        ("swms wmsx bitmap mapping", []),
        ("Maps and more maps", ["map", "map"]),
        ("A Web Map Service is a map service", ["web map service", "map service"]),
        ("发布WMS服务与地图服务", ["wms", "地图服务"]),
        ("Web地图服务在线地图", ["web地图服务", "地图"]),
        ("SRS GetMap", ["srs", "getmap"]),
        ("Les Géoportails, la géologie et un WMS", ["géoportail", "wms"]),
        ("", []),
    ],
)
def test_keywords_are_found_at_word_boundaries_the_longest_first(text: str, found: list[str]) -> None:
    assert Keywords(WORDS).found_in(text) == found


def test_the_heaviest_keyword_is_capped_at_a_share_of_the_length() -> None:
    """Weights 3, 2, 1 with a cap of 0.6: 0.6/0.8 · √(4 + 1) = 1.677, which is 0.6 of the new length 2.795."""
    capped = TOPIC.capped(0.6).vectors["en"]
    assert capped == {"wms": pytest.approx(0.75 * math.sqrt(5)), "layer": 2.0, "map": 1.0}
    assert capped["wms"] / math.sqrt(sum(w * w for w in capped.values())) == pytest.approx(0.6)
    assert TOPIC.capped(0.9).vectors == TOPIC.vectors == TOPIC.capped(1.0).vectors
    assert TopicModel({"en": {"wms": 1.0}, "zh": {}}).capped(0.5).vectors == {"en": {"wms": 1.0}, "zh": {}}


def test_no_keywords_find_nothing() -> None:
    assert Keywords(()).found_in("WMS") == []


@given(st.lists(st.sampled_from([*WORDS, "bit", "S", " ", "x", "图"]), max_size=12))
def test_the_fast_pattern_finds_what_a_plain_one_finds(parts: list[str]) -> None:
    text = "".join(parts)
    latin = sorted((word for word in WORDS if word.isascii()), key=len, reverse=True)
    han = sorted((word for word in WORDS if not word.isascii()), key=len, reverse=True)
    plain = f"{'|'.join(han)}|(?<![a-z])(?:{'|'.join(latin)})s?(?![a-z])"
    found = [hit if hit in WORDS else hit.removesuffix("s") for hit in re.findall(plain, text.lower())]
    assert Keywords(WORDS).found_in(text) == found


def test_a_page_vector_mixes_the_relative_frequencies_of_title_and_body() -> None:
    keywords = Keywords(["wms", "map"])
    vector = page_vector(keywords, "WMS list", "a map, a map and a WMS here", 0.25)
    assert vector["wms"] == pytest.approx(0.25 * 1 / 8 + 0.75 * 1 / 27)
    assert vector["map"] == pytest.approx(0.75 * 2 / 27)


def test_a_page_without_title_is_measured_by_its_body() -> None:
    assert TopicMeasure(TOPIC, 0.5).nearness("", "wms layer").r == pytest.approx(5 / math.sqrt(2 * 14))


def test_a_page_of_one_language_can_reach_the_highest_nearness() -> None:
    measure = TopicMeasure(TOPIC, 0.5)
    english = measure.nearness("", "WMS WMS WMS layer layer map")
    chinese = measure.nearness("", "WMS WMS 图层图层 地图")
    assert (english.language, chinese.language) == ("en", "zh")
    assert english.r == pytest.approx(1.0)
    assert chinese.r == pytest.approx(1.0)


@given(st.text(max_size=20), st.text(max_size=200), st.floats(0.0, 1.0))
def test_nearness_is_between_zero_and_one_whatever_the_text(title: str, text: str, weight: float) -> None:
    assert 0.0 <= TopicMeasure(TOPIC, weight).nearness(title, text).r <= 1.0


def test_a_model_without_weights_is_near_to_nothing() -> None:
    assert TopicMeasure(TopicModel({"en": {}}), 0.5).nearness("WMS", "WMS").r == 0.0
