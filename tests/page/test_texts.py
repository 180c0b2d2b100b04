"""Service addresses in running text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.page.content import BOUNDARY
from geocrawl.page.texts import MAX_ADDRESSES, addresses_in_text
from tests.support.pages import read


def hrefs(text: str, page_kind: str = "") -> list[str]:
    return [link.href for link in addresses_in_text(text, page_kind=page_kind)]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Use http://h.org/ows?service=WMS.", "http://h.org/ows?service=WMS"),
        ("(see http://h.org/wms)", "http://h.org/wms"),
        ("http://h.org/wms(1), too", "http://h.org/wms(1)"),
        ("<http://h.org/geoserver/wms>;", "http://h.org/geoserver/wms"),
        ("www.x.org/ows?service=WMS", "http://www.x.org/ows?service=WMS"),
        ("at maps.y.org/a?SERVICE=WMS&x=1 now", "http://maps.y.org/a?SERVICE=WMS&x=1"),
        ("http://h.org/a?service=WMS&amp;amp;request=GetMap", "http://h.org/a?service=WMS&request=GetMap"),
        ("地址为http://h.org/geoserver/wms，详见说明", "http://h.org/geoserver/wms"),
        ("http://h.org/ows？service＝WMS＆version＝1.3.0。", "http://h.org/ows?service=WMS&version=1.3.0"),
        ("http：//h.org/wms", "http：//h.org/wms".translate({0xFF1A: ":"})),
        ("http://h.org/wms服务器地址", "http://h.org/wms"),
        ("http://h.org/地图/wms", "http://h.org/地图/wms"),
        ("http://h.org/ge\u00adoserver/\u200bows", "http://h.org/geoserver/ows"),
    ],
)
def test_an_address_ends_where_its_sentence_goes_on(text: str, address: str) -> None:
    assert hrefs(text) == [address]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("http://h.org/ows?service=WMS&\n   request=GetMap", ["http://h.org/ows?service=WMS&request=GetMap"]),
        ("http://h.org/geoserver/ows\n?service=WMS", ["http://h.org/geoserver/ows?service=WMS"]),
        ("http://h.org/wms?\nThen choose a layer", ["http://h.org/wms"]),
        ("http://h.org/wms\nhttp://h.org/wfs", ["http://h.org/wms", "http://h.org/wfs"]),
        (f"http://h.org/ows?{BOUNDARY}\nservice=WMS", ["http://h.org/ows"]),
    ],
)
def test_an_address_goes_on_in_the_next_line_only_where_it_must(text: str, addresses: list[str]) -> None:
    assert hrefs(text) == addresses


def test_ordinary_addresses_are_left_alone() -> None:
    assert (
        hrefs("Our shop: http://shop.org/basket?id=3, news at www.news.org/a and http://h.org/rooms/forms.html") == []
    )


def test_words_before_an_address_name_its_kind_when_it_may_be_a_program() -> None:
    links = list(
        addresses_in_text(
            f"WMS service URL: http://h.org/cgi-bin/r1{BOUNDARY}WFS: http://h.org/x?id=4{BOUNDARY}"
            f"WMS: http://h.org/about.html{BOUNDARY}and http://h.org/cgi-bin/r2"
        )
    )
    assert [(link.href, link.kind) for link in links] == [
        ("http://h.org/cgi-bin/r1", "wms"),
        ("http://h.org/x?id=4", "wfs"),
    ]


def test_a_lone_address_of_a_program_takes_the_kind_of_its_page() -> None:
    text = f"List{BOUNDARY}http://h.org/cgi-bin/abc?{BOUNDARY}words http://h.org/cgi-bin/other words"
    (link,) = addresses_in_text(text, page_kind="wms")
    assert (link.href, link.kind) == ("http://h.org/cgi-bin/abc", "wms")
    assert hrefs(text) == []


def test_pages_give_the_addresses_of_their_text_behind_their_links() -> None:
    document = read(
        "<title>Maps</title><p>See <a href='http://h.org/wms?service=WMS'>http://h.org/wms?service=WMS</a></p>"
        "<table><tr><td>WMS service</td><td><code>http://h.org/cgi-bin/<wbr>roads?</code></td></tr></table>"
        "<pre>http://h.org/ows?<br>service=WFS</pre><p>http://h.org/page.html</p>"
    )
    assert [(link.where, link.url.address, link.kind) for link in document.links] == [
        ("a", "http://h.org/wms?service=WMS", ""),
        ("text", "http://h.org/cgi-bin/roads", "wms"),
        ("text", "http://h.org/ows?service=WFS", ""),
    ]


def test_plain_text_is_read_too() -> None:
    document = read("Roads\n\nWMS: http://h.org/cgi-bin/roads\n\nsee http://h.org/wms", "text/plain")
    assert [(link.where, link.kind) for link in document.links] == [("text", "wms"), ("text", "")]


def test_addresses_are_bounded() -> None:
    assert len(hrefs(" ".join(f"http://h.org/wms{n}?service=WMS" for n in range(2 * MAX_ADDRESSES)))) == MAX_ADDRESSES


_PIECES = st.sampled_from(
    [
        "http://",
        "https：／／",
        "www.",
        "h.org",
        "/wms",
        "?",
        "service=WMS",
        "&",
        "&amp;",
        " ",
        "\n",
        BOUNDARY,
        "，",
        "图",
        ")",
        "\u00ad",
    ]
)


@given(st.lists(_PIECES | st.text(max_size=3), max_size=40).map("".join))
def test_any_text_gives_addresses_without_space_and_ends(text: str) -> None:
    for link in addresses_in_text(text, page_kind="wms"):
        assert link.href.startswith("http")
        assert not any(character.isspace() or character == BOUNDARY for character in link.href)
