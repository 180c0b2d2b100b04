"""The level of a link by eq. 3: which words count in a URL and an anchor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Relevance
from geocrawl.priority.nearness import LinkMeasure, LinkModel
from tests.priority.documents import LINKS


@pytest.mark.parametrize(
    ("address", "anchor", "level", "words"),
    [
        ("http://a.example/wms130/list", "", 2, ("wms",)),
        ("http://a.example/rest/WMSServer", "", 2, ("wms",)),
        ("http://a.example/getWMS.html", "", 2, ("wms",)),
        ("http://a.example/x?u=service%3DWMS", "", 2, ("wms",)),
        ("http://a.example/%E5%9C%B0%E5%9B%BE%E6%9C%8D%E5%8A%A1", "", 2, ("地图服务",)),
        ("http://a.example/1", "在线地图服务目录", 2, ("地图服务",)),
        ("http://a.example/1", "Our WMS servers", 2, ("wms",)),
        ("http://a.example/doc/GetCapabilities", "", 2, ("getcapabilities",)),
        ("http://gis.a.example/", "", 1, ("gis",)),
        ("http://a.example/arcgis/rest", "", 1, ("arcgis",)),
        ("http://a.example/1", "地理信息中心", 1, ("地理信息",)),
        ("http://a.example/my_gis", "WMTS", 1, ("gis", "wmts")),
        ("http://a.example/gis", "WMS", 2, ("wms",)),
        ("http://a.example/register", "logistics", 0, ()),
        ("http://a.example/swms.html", "newsms", 0, ()),
        ("http://a.example/soup", "政务服务", 0, ()),
    ],
)
def test_words_count_where_they_stand_by_themselves(
    address: str, anchor: str, level: int, words: tuple[str, ...]
) -> None:
    assert LinkMeasure(LINKS).match(address, anchor) == (Relevance(level), words)


def test_a_keyword_that_is_also_an_abbreviation_is_of_level_two() -> None:
    measure = LinkMeasure(LinkModel({"en": ("wms",)}, ("wms",)))
    assert measure.match("http://a.example/wms", "").level is Relevance.HIGH


@pytest.mark.parametrize(
    ("both", "address", "level", "words"),
    [
        (Relevance.SOME, "http://a.example/wms", 1, ("wms",)),
        (Relevance.SOME, "http://a.example/ows/wmts", 1, ("ows", "wmts")),
        (Relevance.SOME, "http://a.example/wms/getcapabilities", 2, ("getcapabilities",)),
        (Relevance.HIGH, "http://a.example/ows/wmts", 2, ("ows",)),
    ],
)
def test_a_keyword_that_is_also_an_abbreviation_is_of_level_one_where_that_is_asked(
    both: Relevance, address: str, level: int, words: tuple[str, ...]
) -> None:
    measure = LinkMeasure(LinkModel({"en": ("wms", "ows", "getcapabilities")}, ("wms", "ows", "wmts")), both)
    assert measure.match(address, "") == (Relevance(level), words)


@given(st.text(max_size=60), st.text(max_size=40))
def test_any_text_has_a_level(address: str, anchor: str) -> None:
    match = LinkMeasure(LINKS).match(address, anchor)
    assert match.level in Relevance
    assert bool(match.words) == (match.level > 0)
