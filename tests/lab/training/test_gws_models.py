"""How the models are learnt, what is left out, and what is said when the examples are none."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.lab.training.gws_files import train_links_file, train_topic_file
from geocrawl.lab.training.gws_models import (
    LabelledLink,
    LabelledPage,
    initial_keywords,
    standard_keywords,
    train_links,
    train_topic,
)
from geocrawl.lab.training.labelled_pages import read_pages
from geocrawl.lab.training.overlap import contained, shingles
from geocrawl.lab.training.train import text_of as text_of_training
from geocrawl.priority.models import LINKS_FILE, TOPIC_FILE, read_links, read_topic, shipped_models, write_topic
from geocrawl.priority.nearness import TopicModel

DAY = dt.date(2025, 3, 1)
INITIAL = {"en": ["wms", "map", "layer", "client"], "zh": ["地图", "图层"]}


def text_of(body: bytes, content_type: str) -> tuple[str, str]:
    """Title and text of the simple pages of these tests."""
    html = body.decode("utf-8")
    title = re.search("<title>(.*?)</title>", html)
    return title[1] if title else "", re.sub("<title>.*?</title>|<[^>]+>", " ", html)


def page(text: str, *, label: str = "ogc", language: str = "en", url: str = "http://a.example/") -> LabelledPage:
    return LabelledPage(url, language, label, "", text)


def story(topic: str, words: int = 60) -> str:
    return " ".join(f"{topic}{number}" for number in range(words))


def write_pages(path: Path, pages: Iterable[tuple[str, str, str]]) -> Path:
    """JSON lines of (url, label, text)."""
    rows = [{"url": u, "lang": "en", "label": label, "html": f"<p>{text}</p>"} for u, label, text in pages]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


def write_world(folder: Path, *texts: str) -> Path:
    """A recorded web with a robots.txt and one HTML page for each text."""
    folder.mkdir()
    answers = [(b"text/plain", b"User-agent: *\r\n\r\n"), *((b"text/html", f"<p>{t}</p>".encode()) for t in texts)]
    with (folder / "pages.warc.gz").open("wb") as file:
        for content_type, body in answers:
            block = b"HTTP/1.1 200 OK\r\nContent-Type: " + content_type + b"\r\n\r\n" + body
            head = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n" % len(block)
            file.write(gzip.compress(head + block + b"\r\n\r\n"))
    return folder


# --------------------------------------------------------------------------- topic


def test_the_keywords_of_the_topic_are_those_with_the_highest_tf_idf() -> None:
    pages = [page("wms wms layer map client"), page("wms layer map client")]
    pages += [page("client", label="other"), page("client map", label="other")]
    vectors = train_topic(pages, INITIAL, n=3).vectors
    assert list(vectors) == ["en"]
    assert list(vectors["en"]) == ["wms", "layer", "map"]


def test_each_language_has_a_vector_of_length_one() -> None:
    vectors = train_topic([page("wms map"), page("地图 图层 图层", language="zh")], INITIAL).vectors
    for vector in vectors.values():
        assert sum(weight**2 for weight in vector.values()) == pytest.approx(1.0, abs=1e-5)
    assert list(vectors["zh"]) == ["图层", "地图"]


def test_without_a_page_on_the_topic_there_is_nothing_to_learn() -> None:
    with pytest.raises(UsageError, match="nothing to learn from"):
        train_topic([page("wms", label="other"), page("soup")], INITIAL)


# --------------------------------------------------------------------------- overlap


def test_a_page_that_stands_in_a_recorded_web_is_recognised_in_another_frame(tmp_path: Path) -> None:
    world = write_world(tmp_path / "w", "Home | News " + story("wms") + " Imprint", story("other"))
    assert contained([story("wms"), story("fresh")], [world], text_of) == {0}


def test_a_page_that_was_cut_in_the_recorded_web_is_recognised(tmp_path: Path) -> None:
    world = write_world(tmp_path / "w", story("long", 60))
    assert contained([story("long", 600), story("fresh")], [world], text_of) == {0}


def test_a_frame_in_common_is_no_text_in_common(tmp_path: Path) -> None:
    frame = story("menu", 40)
    texts = [f"{frame} {story(f'topic{letter}')}" for letter in "abcdef"]
    world = write_world(tmp_path / "w", f"{frame} {story('elsewhere')}")
    assert contained(texts, [world], text_of) == set()


def test_a_text_too_short_to_tell_is_not_learnt_from(tmp_path: Path) -> None:
    assert contained(["wms map", story("fresh")], [write_world(tmp_path / "w", story("x"))], text_of) == {0}


def test_without_recorded_webs_nothing_is_left_out() -> None:
    assert contained(["wms"], [], text_of) == set()


def test_han_characters_are_words_of_shingles() -> None:
    assert len(shingles("网络地图服务接口规范")) == 3
    assert shingles("") == set()


def test_a_folder_that_is_no_recorded_web_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no pages\.warc\.gz"):
        contained(["wms"], [tmp_path], text_of)
    (tmp_path / "pages.warc.gz").write_bytes(b"\x1f\x8bnot gzip at all")
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        contained(["wms"], [tmp_path], text_of)


# --------------------------------------------------------------------------- links


def test_link_keywords_are_frequent_over_sites_not_over_links() -> None:
    rows = [LabelledLink(f"http://one.example/alpha{i}/ows", "wms") for i in range(9)]
    rows += [LabelledLink(f"http://s{i}.com/getMap?SERVICE=WMS", "wms") for i in range(3)]
    keywords = train_links(rows, k=5).keywords["en"]
    assert set(keywords) == {"getmap", "get", "map", "service", "wms"}


def test_words_of_ordinary_links_countries_and_templates_are_no_keywords() -> None:
    rows = [LabelledLink(f"http://maps{i}.gob.mx/wms/service", "wms") for i in range(3)]
    rows += [LabelledLink("http://shop.example/service", "other"), LabelledLink("http://t.com/{z}/tiles?wms", "wms")]
    rows += [LabelledLink("http://doc.example/wms", "other", "", "hard-negative")]
    assert train_links(rows).keywords["en"] == ("maps", "wms")


def test_the_papers_link_keywords_may_be_everyday_words_but_no_abbreviations() -> None:
    rows = [LabelledLink(f"http://maps{i}.gob.mx/wms/service", "wms") for i in range(3)]
    rows += [LabelledLink("http://shop.example/service", "other"), LabelledLink("http://b.com/", "other", "天地图")]
    model = train_links(rows, ["图层", "天地图"], ["wms"])
    assert (model.keywords["en"], model.standard["en"]) == (("maps", "wms"), ("maps", "service"))
    assert (model.keywords["zh"], model.standard["zh"]) == (("天地图", "图层"), ("天地图",))


def test_the_papers_initial_keywords_have_the_everyday_words_of_the_standard() -> None:
    own, paper = initial_keywords(), standard_keywords()
    assert {"map", "service", "style", "format", "version"} <= set(paper["en"]) - set(own["en"])
    assert {"地图", "服务", "样式"} <= set(paper["zh"]) - set(own["zh"])
    assert all(set(own[language]) < set(paper[language]) for language in own)


def test_chinese_link_keywords_are_ranked_by_the_anchors_that_hold_them() -> None:
    rows = [LabelledLink("http://a.com/wms", "wms"), LabelledLink("http://b.com/", "other", "天地图服务")]
    assert train_links(rows, ["图层", "天地图", "瓦片"], k=2).keywords["zh"] == ("天地图", "图层")


def test_without_a_wms_link_there_is_nothing_to_learn() -> None:
    with pytest.raises(UsageError, match="nothing to learn from"):
        train_links([LabelledLink("http://a.com/", "other")])


# --------------------------------------------------------------------------- files


def test_a_topic_is_trained_from_files_with_the_record_of_its_making(tmp_path: Path) -> None:
    sites = [f"http://s{i}.com/" for i in range(12)]
    pages = [(site, "ogc", f"{story(f'a{i}b')} wms layers") for i, site in enumerate(sites)]
    pages += [("http://known.com/", "ogc", story("known") + " sld"), ("http://soup.com/", "other", story("soup"))]
    source = write_pages(tmp_path / "pages.jsonl.gz", pages)
    world = write_world(tmp_path / "web", story("known"))
    summary = train_topic_file(source, tmp_path / "out" / "topic.json", [world], text_of, on=DAY)
    model = read_topic(tmp_path / "out" / "topic.json")
    assert set(model.vectors["en"]) == {"wms", "layer"}
    assert model.made["excluded_pages"] == ["http://known.com/"]
    assert model.made["date"] == "2025-03-01"
    assert model.made["held_out_levels_0_1_2"] == {"en": {"ogc": [0, 0, 12], "other": [1, 0, 0]}}
    assert summary["pages"] == {"read": 14, "excluded": 1, "learnt_from": {"ogc en": 12, "other en": 1}}


def test_links_are_trained_from_files_with_the_record_of_their_making(tmp_path: Path) -> None:
    source = tmp_path / "urls.csv"
    source.write_text("url,label,anchor\nhttp://a.com/wms,wms,WMS\nhttp://b.com/,other,\n", "utf-8")
    train_links_file(source, tmp_path / "links.json", on=DAY)
    model = read_links(tmp_path / "links.json")
    assert model.keywords["en"] == ("wms",)
    assert model.made["links"] == {"wms": 1, "other": 1}
    assert model.made["sites_with_keyword"] == {"wms": 1}


@pytest.mark.parametrize("line", ["[]", "{", '{"url": "http://a.com/"}', '{"url":1,"lang":"en","label":"x","html":2}'])
def test_a_line_that_is_no_page_is_named(tmp_path: Path, line: str) -> None:
    source = tmp_path / "pages.jsonl"
    source.write_text('{"url":"http://a.com/","lang":"en","label":"ogc","html":"<p>wms"}\n\n' + line, "utf-8")
    with pytest.raises(UsageError, match=r"pages\.jsonl, line 3"):
        train_topic_file(source, tmp_path / "out.json", [], text_of, on=DAY)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe"])
def test_a_table_that_is_no_list_of_links_is_named(tmp_path: Path, content: bytes) -> None:
    source = tmp_path / "urls.csv"
    source.write_bytes(content)
    with pytest.raises(UsageError, match=r"urls\.csv"):
        train_links_file(source, tmp_path / "out.json", on=DAY)


def test_an_absent_or_damaged_file_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        train_links_file(tmp_path / "none.csv", tmp_path / "out.json", on=DAY)
    (tmp_path / "pages.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        train_topic_file(tmp_path / "pages.jsonl.gz", tmp_path / "out.json", [], text_of, on=DAY)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "is no geocrawl-topic-model"),
        ('{"format": "geocrawl-link-model", "version": 1}', "is no geocrawl-topic-model"),
        ('{"format": "geocrawl-topic-model", "version": 2}', "has version 2, this geocrawl reads 1"),
        ('{"format": "geocrawl-topic-model", "version": 1}', "is malformed"),
        ('{"format": "geocrawl-topic-model", "version": 1, "vectors": {}, "made": {}}', "is malformed"),
        ('{"format": "geocrawl-topic-model", "version": 1, "vectors": {"en": {"a": "x"}}, "made": {}}', "is malformed"),
        ('{"format": "geocrawl-topic-model", "version": 1, "vectors": {"en": {"a": NaN}}, "made": {}}', "is malformed"),
    ],
)
def test_a_file_that_is_no_model_is_refused_in_one_line(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "topic.json"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=says) as caught:
        read_topic(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("words", ['"wms"', "[1]", '[""]', "{}"])
def test_link_words_must_be_lists_of_words(tmp_path: Path, words: str) -> None:
    path = tmp_path / "links.json"
    path.write_text(
        f'{{"format": "geocrawl-link-model", "version": 1, "keywords": {{}}, "abbreviations": {words}, "made": {{}}}}',
        "utf-8",
    )
    with pytest.raises(UsageError, match="malformed"):
        read_links(path)


def test_a_model_that_cannot_be_written_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(EnvironmentFault, match="cannot be written"):
        write_topic(TopicModel({"en": {"wms": 1.0}}), tmp_path / "file" / "topic.json")


@pytest.mark.shared
def test_the_shipped_models_are_those_that_training_makes(shared: Path, tmp_path: Path) -> None:
    train_links_file(shared / "corpus" / "urls.csv", tmp_path / LINKS_FILE, on=DAY)
    trained, shipped = read_links(tmp_path / LINKS_FILE), read_links(shipped_models() / LINKS_FILE)
    assert trained.keywords == shipped.keywords and trained.standard == shipped.standard
    assert (trained.abbreviations, trained.wider) == (shipped.abbreviations, shipped.wider)


@pytest.mark.shared
def test_the_papers_topic_has_the_idf_of_pages_on_the_topic_alone(shared: Path) -> None:
    """Shen et al.: the training pages are search hits, and the corpus of the IDF, too."""
    shipped = read_topic(shipped_models() / TOPIC_FILE)
    excluded = shipped.made["excluded_pages"]
    assert isinstance(excluded, list)
    pages = [
        page for page in read_pages(shared / "worlds" / "pages.jsonl.gz", text_of_training) if page.url not in excluded
    ]
    on_topic = [page for page in pages if page.label == "ogc"]
    assert train_topic(on_topic, standard_keywords()).vectors == shipped.standard
    assert train_topic(pages).vectors == shipped.vectors


def test_the_abbreviations_of_the_papers_preset_are_abbreviations() -> None:
    """Of level 1 in gws alone are the words that they stand for (data/gws_words.toml)."""
    shipped = read_links(shipped_models() / LINKS_FILE)
    assert all(len(word) <= 4 and word.isascii() and word.isalpha() for word in shipped.abbreviations)
    assert "wms" in shipped.abbreviations and not set(shipped.abbreviations) & set(shipped.wider)
    assert "geoportal" in shipped.standard["en"]


@pytest.mark.shared
def test_the_shipped_topic_leaves_out_the_recorded_worlds(shared: Path) -> None:
    made = read_topic(shipped_models() / TOPIC_FILE).made
    assert isinstance(made["exclude"], list)
    assert {world["file"] for world in made["exclude"]} == {"portal", "agency", "mixed"}
    assert isinstance(made["excluded_pages"], list)
    assert len(made["excluded_pages"]) > 300
