"""Strategies by name, and the models that come with them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.model import Rank, Relevance
from geocrawl.priority.models import (
    LINKS_FILE,
    TOPIC_FILE,
    read_links,
    read_topic,
    shipped_models,
    write_links,
    write_topic,
)
from geocrawl.priority.registry import (
    make_levels,
    make_strategy,
    presets,
    strategies,
    strategy_options,
    strategy_values,
)
from geocrawl.priority.text_terms import stop_words
from tests.priority.documents import document, link


@pytest.mark.parametrize("name", strategies())
def test_every_strategy_can_be_made_and_names_its_options(name: str) -> None:
    strategy = make_strategy(name, {})
    assert strategy.name == name
    assert all(option.help for option in strategy_options(name).values())


@pytest.mark.parametrize("name", presets())
def test_every_preset_sets_every_option_and_keeps_its_name(name: str) -> None:
    preset, options = presets()[name], strategy_options(name)
    assert make_strategy(name, {}).name == name
    assert set(preset.constants) == set(options)
    assert strategy_values(name, {}) == {option: constant.value for option, constant in preset.constants.items()}
    for option, constant in preset.constants.items():
        assert type(constant.value) is type(options[option].default)
        assert constant.source


def test_an_option_that_people_set_replaces_that_of_a_preset() -> None:
    plain = make_strategy("gws:paper", {"gws.drop_zero": "false"}).judge(document("news", link("http://a.example/b")))
    assert plain.ranks == (Rank(0),)
    (dropped,) = make_strategy("gws:paper", {}).judge(document("news", link("http://a.example/b"))).ranks
    assert dropped is None


def test_an_option_of_a_preset_alone_is_not_that_of_its_strategy() -> None:
    own = {"gws:paper.lambda": "0.5"}
    assert strategy_values("gws:paper", own)["lambda"] == 0.5
    assert strategy_values("gws", own)["lambda"] == 0.7
    make_strategy("gws", own)
    with pytest.raises(UsageError, match=r"unknown option gws:nosuch\.lambda"):
        make_strategy("gws", {"gws:nosuch.lambda": "0.5"})


@pytest.mark.parametrize("name", ["gws:papr", "gws:", "bfs:paper"])
def test_an_unknown_preset_is_refused_with_the_known_ones(name: str) -> None:
    known = "none" if name.startswith("bfs") else "gws:paper"
    with pytest.raises(UsageError, match=f"unknown preset '{name}'.*: {known}"):
        make_strategy(name, {})


def test_an_unknown_strategy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"'gsw', did you mean gws\? \(known: fusion, gws, .*random\)"):
        make_strategy("gsw", {})


def test_an_option_of_no_strategy_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown option lambda"):
        make_strategy("gws", {"lambda": "0.7"})


def test_a_folder_without_models_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=str(tmp_path / TOPIC_FILE)):
        make_strategy("gws", {}, tmp_path)


def test_shipped_keywords_are_ten_a_language_without_stop_words() -> None:
    topic, links = read_topic(shipped_models() / TOPIC_FILE), read_links(shipped_models() / LINKS_FILE)
    for words in (*topic.vectors.values(), *links.keywords.values()):
        assert len(words) == 10
        assert not stop_words().intersection(words)
    assert "wms" in topic.vectors["en"].keys() & topic.vectors["zh"].keys()


def test_the_papers_words_follow_pages_that_only_speak_of_maps() -> None:
    """Without "map" gws discards the links of an agency's first page: no other word of WMS stands there."""
    page = document("Interactive map of the lakes", link("http://a.example/lakes"))
    for options, followed in (({}, True), ({"gws:paper.standard": "false"}, False)):
        assert (make_strategy("gws:paper", options).judge(page).ranks != (None,)) is followed
    assert make_strategy("gws:paper", {}).judge(document("Soup", link("http://a.example/lakes"))).ranks == (None,)


def test_the_threshold_of_level_one_never_decides() -> None:
    for standard in ("true", "false"):
        strategy = make_strategy("gws:paper", {"gws:paper.standard": standard})
        model = read_topic(shipped_models() / TOPIC_FILE)
        for words in (model.standard if standard == "true" else model.vectors).values():
            assert min(strategy.judge(document(word)).score for word in words) > 0.09


def test_a_model_without_words_of_the_standard_is_refused_by_the_preset_alone(tmp_path: Path) -> None:
    topic, links = read_topic(shipped_models() / TOPIC_FILE), read_links(shipped_models() / LINKS_FILE)
    write_topic(replace(topic, standard={}), tmp_path / TOPIC_FILE)
    write_links(links, tmp_path / LINKS_FILE)
    make_strategy("gws", {}, tmp_path)
    with pytest.raises(UsageError, match="train it again with geocrawl train topic"):
        make_strategy("gws:paper", {}, tmp_path)


def test_no_single_word_makes_a_page_highly_relevant() -> None:
    levels = make_levels(None)
    for words in read_topic(shipped_models() / TOPIC_FILE).vectors.values():
        for word in words:
            assert levels.page(document(f"The {word} page")) is Relevance.SOME


@pytest.mark.parametrize(
    ("title", "text", "level"),
    [
        ("Web Map Services", "A list of WMS servers: OGC WMS and WFS, layers, geospatial maps, more WMS layers.", 2),
        ("WMS 地图服务", "本站提供 OGC 标准的 WMS 与 WFS 地图服务,图层说明与瓦片,WMS 图层列表。", 2),
        ("Town council", "Minutes of the meeting on bus lines and schools.", 0),
        ("办事指南", "政务服务大厅为您服务,请携带身份证办理业务。", 0),
    ],
)
def test_shipped_models_tell_the_topic_from_other_pages(title: str, text: str, level: int) -> None:
    assert make_levels(None).page(document(text, title=title)) == level


def test_shipped_link_words_leave_ordinary_services_alone() -> None:
    links = [
        link("http://a.example/customer-service", "Customer service"),
        link("http://a.example/zwfw", "政务服务"),
        link("http://a.example/statistics/register.html", "Register"),
    ]
    assert {rank.tier for rank in make_strategy("gws", {}).judge(document("", *links)).ranks if rank} == {0}


def test_making_a_strategy_loads_neither_jieba_nor_training() -> None:
    code = (
        "import sys; from geocrawl.priority.registry import make_strategy; make_strategy('gws', {});"
        "print([m for m in ('jieba', 'geocrawl.lab.training.gws_models', 'lxml', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_fusion_loads_jieba_at_the_first_page_with_chinese_text() -> None:
    code = (
        "import sys; from geocrawl.priority.registry import make_strategy;"
        "from tests.priority.documents import document, link;"
        "strategy = make_strategy('fusion', {});"
        "strategy.judge(document('Landkarten, カタログ и карты', link('http://a.example/wms', 'Dienste für Karten')));"
        "print('jieba' in sys.modules);"
        "strategy.judge(document('more', link('http://a.example/wms', '地图服务')));"
        "print('jieba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
