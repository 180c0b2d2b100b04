"""TF-IDF vectors and cosine, by hand and by their laws; the text model and its file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.priority.models import VECTORS_FILE, read_vectors, shipped_models, write_vectors
from geocrawl.priority.text_terms import TextModel, cosine, mean, norm, page_text, tf_idf, unit
from tests.priority.documents import document

MODEL = TextModel(
    {"wms": 3.0, "map": 1.0, "图层": 2.0},
    {"en": {"wms": 3.0, "map": 4.0}, "zh": {"图层": 5.0}},
    threshold=0.2,
    typical=0.5,
)
VECTORS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.001, 1000.0), max_size=6)


def test_cosine_by_hand() -> None:
    assert cosine({"a": 3.0, "b": 4.0}, {"a": 4.0, "c": 3.0}) == pytest.approx(12 / 25)
    assert cosine({"a": 1.0}, {"b": 1.0}) == 0.0
    assert cosine({}, {"b": 1.0}) == 0.0


def test_a_weight_is_one_and_the_log_of_the_count_times_idf() -> None:
    vector = tf_idf({"wms": 2, "map": 1, "unknown": 9}, MODEL.idf)
    wms = (1 + math.log(2)) * 3.0
    length = math.hypot(wms, 1.0)
    assert vector == {"wms": pytest.approx(wms / length), "map": pytest.approx(1.0 / length)}


def test_similarity_is_the_highest_of_the_languages() -> None:
    assert MODEL.similarity("图层") == pytest.approx(1.0)
    assert MODEL.similarity("maps") == pytest.approx(4 / 5)
    mixed = MODEL.vector("图层 map")
    assert MODEL.nearness(mixed) == pytest.approx(2 / math.sqrt(5))


def test_a_text_without_known_terms_is_not_similar() -> None:
    assert MODEL.similarity("football") == MODEL.similarity("") == MODEL.anchor_similarity("") == 0.0


def test_an_anchor_is_measured_like_any_text() -> None:
    for anchor in ("wms map", "map " * 60):
        assert MODEL.anchor_similarity(anchor) == MODEL.anchor_similarity(anchor) == MODEL.similarity(anchor)


def test_a_page_is_its_title_and_its_text() -> None:
    page = document("layers", title="WMS")
    assert page_text(page) == "WMS\nlayers"
    assert MODEL.page_similarity(page) == MODEL.similarity("wms")


def test_the_mean_is_taken_over_all_vectors() -> None:
    assert mean([{"a": 1.0}, {"a": 0.5, "b": 1.0}]) == {"a": 0.75, "b": 0.5}


@given(VECTORS, VECTORS)
def test_cosine_is_symmetric_and_between_zero_and_one(a: dict[str, float], b: dict[str, float]) -> None:
    assert cosine(a, b) == cosine(b, a)
    assert 0.0 <= cosine(a, b) <= 1.0


@given(VECTORS, st.floats(0.01, 100.0))
def test_cosine_does_not_heed_length(a: dict[str, float], factor: float) -> None:
    scaled = {term: weight * factor for term, weight in a.items()}
    assert cosine(a, scaled) == pytest.approx(1.0 if a else 0.0)
    assert norm(unit(a)) == pytest.approx(1.0 if a else 0.0)


@given(st.text())
def test_similarity_of_any_text_is_between_zero_and_one(text: str) -> None:
    assert 0.0 <= MODEL.similarity(text) <= 1.0


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_vectors(MODEL, tmp_path / "model.json")
    read = read_vectors(tmp_path / "model.json")
    assert (read.idf, read.topics, read.threshold, read.typical) == (MODEL.idf, MODEL.topics, 0.2, 0.5)


def test_a_model_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        read_vectors(path)
    for text, message in (
        ("{", "not JSON"),
        ('{"format": "geocrawl-topic-model"}', "no geocrawl-text-model"),
        ('{"format": "geocrawl-text-model", "version": 99}', "version 99"),
        ('{"format": "geocrawl-text-model", "version": 1, "idf": {}}', "malformed"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=message):
            read_vectors(path)


@pytest.mark.parametrize(
    "text",
    [
        "OGC Web Map Service: list of WMS servers, layers and GetCapabilities addresses",
        "网络地图服务 WMS 图层列表与服务地址",
        "OGC標準の地図サービス、WMSのレイヤー一覧",
        "OGC WMS Darstellungsdienst: Layer, Karten, Capabilities",
    ],
)
def test_the_shipped_model_tells_the_topic_from_other_texts(text: str) -> None:
    model = read_vectors(shipped_models() / VECTORS_FILE)
    assert model.similarity(text) > model.threshold
    for other in ("Results of the football league on Sunday", "今日足球比赛结果", "日曜日のサッカーの試合結果"):
        assert model.similarity(other) < model.threshold


def test_the_shipped_model_says_what_it_was_trained_on() -> None:
    made = read_vectors(shipped_models() / VECTORS_FILE).made
    exclude = made["exclude"]
    assert isinstance(exclude, list)
    assert {world["file"] for world in exclude} == {"portal", "agency", "mixed"}
    assert {"files", "pages", "held_out", "date"} <= made.keys()
