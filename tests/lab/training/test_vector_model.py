"""How the text model is learnt from labelled pages."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.training.gws_models import LabelledPage
from geocrawl.lab.training.vector_model import heaviest, quantile, train_vectors, train_vectors_file
from geocrawl.priority.models import read_vectors
from tests.lab.training.test_gws_models import page, story, text_of, write_pages, write_world
from tests.priority.documents import document

DAY = dt.date(2026, 11, 21)


def pages() -> list[LabelledPage]:
    return [
        page("wms layer", url="http://a.example/"),
        page("wms layer", url="http://b.example/"),
        page("football layer", label="other", url="http://c.example/"),
        page("football cup", label="other", url="http://d.example/"),
        page("图层 服务", language="zh", url="http://e.example/"),
        page("图层 服务", language="zh", url="http://f.example/"),
    ]


def test_idf_is_that_of_the_language_and_rare_words_have_none() -> None:
    model = train_vectors(pages())
    assert model.idf["wms"] == pytest.approx(math.log(5 / 3) + 1, abs=1e-4)
    assert model.idf["layer"] == pytest.approx(math.log(5 / 4) + 1, abs=1e-4)
    assert model.idf["图层"] == pytest.approx(math.log(3 / 3) + 1, abs=1e-4)
    assert "cup" not in model.idf


def test_the_topic_is_what_its_pages_say_more_than_the_others() -> None:
    model = train_vectors(pages())
    assert model.topics["en"].keys() == {"wms", "layer"}
    assert model.topics["en"]["wms"] > model.topics["en"]["layer"]
    assert model.topics["zh"].keys() == {"图层", "服务"}
    assert model.similarity("football") == 0.0


def test_the_threshold_lies_below_the_typical_score_of_held_out_pages() -> None:
    model = train_vectors(pages() * 3)
    assert 0.0 <= model.threshold <= model.typical <= 1.0


def test_the_same_pages_give_the_same_model() -> None:
    first, second = train_vectors(pages()), train_vectors(pages())
    assert (first.idf, first.topics, first.threshold) == (second.idf, second.topics, second.threshold)


def test_without_a_page_on_the_topic_there_is_nothing_to_learn() -> None:
    with pytest.raises(UsageError, match="nothing to learn from"):
        train_vectors([page("football", label="other")])


def test_quantiles_are_values_that_occur() -> None:
    assert [quantile([1.0, 2.0, 3.0], share) for share in (0.0, 0.05, 0.5, 1.0)] == [1.0, 1.0, 2.0, 3.0]
    assert quantile([], 0.5) == 0.0


def test_percentiles_are_over_held_out_pages_and_relevant_pages_of_webs() -> None:
    """Two pages of the web: one of the topic's words alone, and one without any, whose similarity is 0."""
    web = [document("wms layer"), document("soup")]
    model, without = train_vectors(pages() * 3, web), train_vectors(pages() * 3)
    assert len(model.percentiles) == len(without.percentiles) == 101
    assert model.made["percentiles_of"] == {"held out": 12, "on webs": 2}
    every = sorted(model.percentiles)
    assert list(model.percentiles) == every and every[0] == 0.0
    assert every[-1] == round(max(model.similarity("wms layer"), without.percentiles[-1]), 4)
    assert (model.threshold, model.typical) == (without.threshold, without.typical)


def test_terms_are_selected_that_tell_the_topic() -> None:
    """Of terms of two sites, football is on both pages off the topic, wms on 2 of 4 on it: the former tells more."""
    model = train_vectors(pages())
    assert model.selections["gain"][0] == model.selections["chi2"][0] == "footbal"
    assert set(model.selections["gain"]) == set(model.idf)


def test_ties_among_the_heaviest_fall_by_the_alphabet() -> None:
    assert list(heaviest({"b": 1.0, "a": 1.0, "c": 2.0}, 2)) == ["c", "a"]


def test_pages_that_stand_in_an_excluded_world_are_not_learnt_from(tmp_path: Path) -> None:
    rows = [(f"http://{site}.example/", "ogc", story("layer") + f" {story(site)}") for site in ("a", "b", "c")]
    rows.append(("http://d.example/", "ogc", story("leaked", 80)))
    rows.append(("http://e.example/", "ogc", story("leaked", 80)))
    world = write_world(tmp_path / "world", story("leaked", 80))
    record = train_vectors_file(
        write_pages(tmp_path / "pages.jsonl.gz", rows), tmp_path / "out.json", [world], text_of, on=DAY
    )
    assert record["excluded_pages"] == 2
    model = read_vectors(tmp_path / "out.json")
    assert "layer1" in model.idf
    assert "leaked1" not in model.idf
    assert model.made["date"] == "2026-11-21"
