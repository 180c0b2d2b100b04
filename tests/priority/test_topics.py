"""The directory of topics: what ships, people's own, and the models that are learnt from sample texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import UsageError
from geocrawl.priority.models import VECTORS_FILE, read_vectors, shipped_models
from geocrawl.priority.registry import make_strategy
from geocrawl.priority.text_terms import TextModel, language_of
from geocrawl.priority.topics import (
    DEFAULT_TOPIC,
    Topic,
    all_topics,
    find_topic,
    keyword_model,
    text_model,
    write_topic,
)
from geocrawl.urls import read_url
from tests.priority.documents import document, link

PEAT = Topic(
    "environment/peat",
    "Peat",
    ("Peat bogs store carbon. A bog grows from moss, and moss becomes peat.", "泥炭沼泽储存碳，苔藓变成泥炭。"),
    ("http://bog.example/",),
    own=True,
)


@pytest.fixture(scope="module")
def base() -> TextModel:
    return read_vectors(shipped_models() / VECTORS_FILE)


def test_shipped_topics_stand_in_two_levels_with_texts_in_two_languages_and_seeds() -> None:
    topics = all_topics()
    groups = {name.partition("/")[0] for name in topics}
    assert len(groups) == 3
    assert DEFAULT_TOPIC in topics
    for topic in topics.values():
        assert {language_of(text) for text in topic.texts} == {"en", "zh"}
        assert 1 <= len(topic.seeds) <= 50
        assert all(read_url(seed) for seed in topic.seeds)
        assert "CC-BY 4.0" in topic.seeds_source
        assert "Dateno" in topic.seeds_source


def test_each_topic_is_nearest_to_its_own_texts(base: TextModel) -> None:
    topics = {name: topic for name, topic in all_topics().items() if not topic.shipped_model}
    models = {name: text_model(topic, base) for name, topic in topics.items()}
    for name, topic in topics.items():
        for text in topic.texts:
            assert max(models, key=lambda each: models[each].similarity(text)) == name
    for model in models.values():
        assert 0.0 < model.threshold < model.typical


def test_words_that_the_vocabulary_lacks_come_from_the_sample_texts(base: TextModel) -> None:
    assert "sphagnum" not in base.idf
    model = text_model(Topic("a/b", "", ("Sphagnum mosses",)), base)
    assert model.similarity("sphagnum") > model.threshold
    assert model.similarity("football") == 0.0


def test_the_default_topic_has_the_trained_model(base: TextModel) -> None:
    assert text_model(find_topic(DEFAULT_TOPIC), base) is base


def test_gws_takes_the_heaviest_words_of_each_language_as_keywords(base: TextModel) -> None:
    vectors = keyword_model(PEAT, base).vectors
    assert vectors.keys() == {"en", "zh"}
    assert list(vectors["en"])[:2] == ["moss", "peat"]
    assert "泥炭" in vectors["zh"]
    for vector in vectors.values():
        assert len(vector) <= 10
        assert sum(weight**2 for weight in vector.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("strategy", ["gws", "best-first", "hits"])
def test_a_chosen_topic_takes_the_place_of_the_trained_one(strategy: str) -> None:
    peat = document("Peat and moss in the bog, peat bogs", link("http://b.example/", "peat bog"))
    maps = document("OGC WMS web map service layers", link("http://b.example/", "peat bog"))
    chosen, trained = make_strategy(strategy, {}, topic=PEAT), make_strategy(strategy, {})
    assert chosen.judge(peat).score > chosen.judge(maps).score
    assert trained.judge(peat).score < trained.judge(maps).score


def test_a_topic_of_ones_own_is_kept_and_found_again(tmp_path: Path) -> None:
    assert write_topic(PEAT, tmp_path) == tmp_path / "environment" / "peat.toml"
    assert find_topic("environment/peat", tmp_path) == PEAT
    assert find_topic("environment/soil", tmp_path) == find_topic("environment/soil")


def test_a_topic_of_ones_own_takes_the_place_of_a_shipped_one(tmp_path: Path) -> None:
    own = Topic(DEFAULT_TOPIC, "Mine", ("peat",), own=True)
    write_topic(own, tmp_path)
    assert find_topic(DEFAULT_TOPIC, tmp_path) == own


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_kept(tmp_path_factory: pytest.TempPathFactory, title: str, text: str) -> None:
    folder = tmp_path_factory.mktemp("topics")
    write_topic(Topic("a/b", title, (f"peat {text}",)), folder)
    assert find_topic("a/b", folder).texts[0].split()[0] == "peat"


@pytest.mark.parametrize("name", ["peat", "a/b/c", "../x/y", "A/b", "/b", "a/", "a/.b"])
def test_a_name_that_is_not_group_and_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected GROUP/NAME"):
        write_topic(Topic(name, "", ("peat",)), tmp_path)
    assert not list(tmp_path.rglob("*"))


def test_a_topic_without_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contain no words"):
        write_topic(Topic("a/b", "", ("the 12 -",)), tmp_path)


def test_an_unknown_topic_is_refused_with_a_near_one() -> None:
    with pytest.raises(UsageError, match=r"'environment/soils', did you mean environment/soil\?"):
        find_topic("environment/soils")


def test_a_file_that_is_no_topic_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.toml"
    path.parent.mkdir()
    for text in ("title = ", "title = 'x'"):
        path.write_text(text)
        with pytest.raises(UsageError, match=str(path)):
            all_topics(tmp_path)
