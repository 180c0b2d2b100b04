"""Stop rules: what is never visited, and files of a user's own."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given

from geocrawl.errors import UsageError
from geocrawl.urls import StopRules, read_url
from tests.urls.strategies import texts


@pytest.fixture(scope="module")
def rules() -> StopRules:
    return StopRules.load()


def reason(rules: StopRules, text: str) -> str:
    url = read_url(text)
    assert url is not None, text
    return rules.reason(url)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.org/x/Photo.JPG", "stop:media"),
        ("http://a.org/photo.jpg?size=2", "stop:media"),
        ("http://a.org/film.mp4;v=1", "stop:media"),
        ("http://a.org/js/ol.min.js", "stop:script"),
        ("http://a.org/s.css?v=3", "stop:style"),
        ("http://a.org/data.tar.gz", "stop:archive"),
        ("http://a.org/report.pdf", "stop:document"),
        ("http://a.org/roads.shp", "stop:data"),
        ("https://www.facebook.com/x", "stop:social"),
        ("https://m.weibo.cn/x", "stop:social"),
        ("http://service.weibo.com/share/share.php", "stop:share"),
        ("http://a.org/post/?share=Twitter", "stop:share"),
        ("http://a.org/user/login", "stop:login"),
        ("http://a.org/Login.aspx?next=/", "stop:login"),
        ("http://a.org/登录/", "stop:login"),
        ("http://a.org/w/index.php?title=Special:UserLogin&returnto=X", "stop:login"),
        ("http://ad.doubleclick.net/x", "stop:ads"),
    ],
)
def test_an_address_that_is_not_worth_a_visit_is_named(rules: StopRules, text: str, expected: str) -> None:
    assert reason(rules, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "http://a.org/",
        "http://media.org/",
        "http://notfacebook.com/",
        "http://a.png/",
        "http://a.org/wms.xml",
        "http://a.org/data.json",
        "http://a.org/list.csv",
        "http://a.org/robots.txt",
        "http://a.org/x.asp",
        "http://a.org/x.php?file=a.jpg",
        "http://a.org/qgis_mapserv.fcgi?map=a",
        "http://a.org/roads.map",
        "http://a.org/sitemap.xml.gz",
        "http://a.org/wms?service=WMS&request=GetMap&format=image/png",
        "http://a.org/map.png?service=WMS&request=GetMap",
        "http://a.org/login/ows?REQUEST=GetCapabilities",
        "http://a.org/cgi-bin/mapserv.exe?map=roads",
        "http://a.org/mapserv.exe?map=roads",
        "http://a.org/share/maps/",
        "http://a.org/blogin/",
        "http://a.org/.png",
    ],
)
def test_pages_and_services_are_not_stopped(rules: StopRules, text: str) -> None:
    assert reason(rules, text) == ""


@given(texts)
def test_a_reason_names_a_section_of_the_rules(rules: StopRules, text: str) -> None:
    sections = ("media", "script", "style", "archive", "document", "data", "social", "share", "login", "ads")
    if url := read_url(text, "http://a.org/x"):
        assert rules.reason(url) in ("", *(f"stop:{name}" for name in sections))


def test_a_users_file_adds_to_the_rules(tmp_path: Path) -> None:
    extra = tmp_path / "stop.toml"
    extra.write_text(
        '[shop]\nsegments = ["购物车", "basket"]\nhosts = ["Shop.Example"]\n[keep]\nextensions = [".js"]\n', "utf-8"
    )
    rules = StopRules.load(extra)
    assert reason(rules, "http://a.org/basket/1") == "stop:shop"
    assert reason(rules, "http://a.org/%E8%B4%AD%E7%89%A9%E8%BD%A6") == "stop:shop"
    assert reason(rules, "http://www.shop.example/") == "stop:shop"
    assert reason(rules, "http://a.org/x.js") == ""
    assert reason(rules, "http://a.org/x.jpg") == "stop:media"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[media]\nextensions = 3", r"\[media\] extensions: expected a list"),
        ("[media]\nextensions = [3]", r"\[media\] extensions: expected a text, got 3"),
        ("[media]\nextensions = ['']", r"\[media\] extensions: expected a text"),
        ("[media]\nsegments = ['a/b']", r"\[media\] segments: 'a/b' contains a '/'"),
        ("[media]\nhosts = ['a b']", r"\[media\] hosts: 'a b' is not a host"),
        ("[media]\nwords = ['a']", r"\[media\] words: unknown key"),
        ("[Media x]\nhosts = []", "line 1"),
        ("['Media x']\nhosts = []", r"section \[Media x\]"),
        ("media = ['a']", "expected a section"),
        ("[media]\n\nhosts = x", "line 3"),
    ],
)
def test_a_fault_in_a_users_file_is_named_with_file_and_place(tmp_path: Path, content: str, expected: str) -> None:
    extra = tmp_path / "stop.toml"
    extra.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=expected) as caught:
        StopRules.load(extra)
    assert str(extra) in str(caught.value)


def test_a_users_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: cannot be read"):
        StopRules.load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xff")
    with pytest.raises(UsageError, match=r"latin\.toml: cannot be read"):
        StopRules.load(tmp_path / "latin.toml")


@pytest.mark.shared
def test_no_service_of_the_corpus_is_stopped(shared: Path, rules: StopRules) -> None:
    with (shared / "corpus/urls.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if row["label"] in ("wms", "wfs", "wmts", "wcs", "csw", "wps", "sos")
        ]
    stopped = [row["url"] for row in rows if (url := read_url(row["url"])) and rules.reason(url)]
    assert len(rows) > 7000
    assert stopped == []
