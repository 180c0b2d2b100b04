"""Service addresses in running text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.page.content import BOUNDARY
from geocrawl.page.naming import NO_SUBJECT, Subject
from geocrawl.page.text import MAX_ADDRESSES, addresses_in_text
from tests.support.pages import read


def hrefs(text: str, subject: Subject = NO_SUBJECT) -> list[str]:
    return [link.href for link in addresses_in_text(text, subject=subject)]


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
        ("le service « http://h.org/wms », gratuit", "http://h.org/wms"),
        ("der Dienst «http://h.org/wms», frei", "http://h.org/wms"),
        ("der Dienst „http://h.org/wms“, frei", "http://h.org/wms"),
        ("der Dienst ›http://h.org/wms‹ ist frei", "http://h.org/wms"),
        ("服务「http://h.org/wms」可用", "http://h.org/wms"),
        ("服务（http://h.org/wms）可用", "http://h.org/wms"),
        ("地址：h.org/ows?service=WMS。", "http://h.org/ows?service=WMS"),
        ("خدمة http://h.org/wms؟", "http://h.org/wms"),
        ("خدمة \u200fhttp://h.org/wms\u200f، ثم", "http://h.org/wms"),
        ("сервис http://h.org/wms — бесплатный", "http://h.org/wms"),
        ("see http://h.org/wms—free", "http://h.org/wms"),
        ("HTTP://H.org/wms", "http://H.org/wms"),
        ("hxxps://h.org/wms", "https://h.org/wms"),
        ("http: //h.org/wms", "http://h.org/wms"),
        ("http:// h.org/wms", "http://h.org/wms"),
        ("//maps.h.org/a?service=WMS", "http://maps.h.org/a?service=WMS"),
        ("The WMS is at maps.h.org/geoserver/wms and is free", "http://maps.h.org/geoserver/wms"),
        ("at maps.h.org:8080/cgi-bin/mapserv?map=/a.map", "http://maps.h.org:8080/cgi-bin/mapserv?map=/a.map"),
        ("viewer?url=maps.h.org/geoserver/wms", "http://maps.h.org/geoserver/wms"),
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
        ("http://h.org/geoserver/\n   wms", ["http://h.org/geoserver/wms"]),
        ("http://h.org/maps/\n   where maps are", []),
        ("> http://h.org/ows?service=WMS&\n> request=GetMap", ["http://h.org/ows?service=WMS&request=GetMap"]),
        ("http://h.org/ows?service=WMS\\\n  &request=GetMap", ["http://h.org/ows?service=WMS&request=GetMap"]),
    ],
)
def test_an_address_goes_on_in_the_next_line_only_where_it_must(text: str, addresses: list[str]) -> None:
    assert hrefs(text) == addresses


def test_ordinary_addresses_are_left_alone() -> None:
    assert (
        hrefs("Our shop: http://shop.org/basket?id=3, news at www.news.org/a and http://h.org/rooms/forms.html") == []
    )


@pytest.mark.parametrize(
    "text",
    [
        "e.g. the file.name is v1.3.0, see a.b.c and readme.md/wms or node.js/wms, e.g./wms",
        "org.geotools/wms, com.esri.wms.Esrimap and org.geotools.wms.WebMapServer",
        "figure 1.2/wms, src/main/wms, config.yaml/stac and /my.site/wms",
        "set service=WMS in the dialog, then REQUEST=GetCapabilities is sent",
        "write to user@maps.h.org/ows or to user@h.org",
        "http://h.org/docs.html with the parameter SERVICE=WMS",
    ],
)
def test_file_names_packages_and_lone_parameters_are_no_addresses(text: str) -> None:
    assert hrefs(text, Subject("wms", "h.org")) == []


@pytest.mark.parametrize(
    "text",
    [
        "The address is http://h.org/x/roads with the parameters SERVICE=WMS&REQUEST=GetCapabilities.",
        "Die Adresse http://h.org/x/roads? wird um SERVICE=WMS&REQUEST=GetCapabilities ergänzt",
        f"Base URL: http://h.org/x/roads{BOUNDARY}Query: ?SERVICE=WMS&REQUEST=GetCapabilities",
        f"URL de base : http://h.org/x/roads{BOUNDARY}Paramètres : SERVICE=WMS&amp;REQUEST=GetCapabilities",
        "http://h.org/x/roads  SERVICE=WMS&REQUEST=GetCapabilities",
        "基本地址：http://h.org/x/roads，参数：SERVICE=WMS&REQUEST=GetCapabilities。",
    ],
)
def test_a_query_apart_belongs_to_the_address_before_it(text: str) -> None:
    assert hrefs(text)[-1] == "http://h.org/x/roads?SERVICE=WMS&REQUEST=GetCapabilities"


def test_a_query_apart_keeps_the_parameters_of_its_address() -> None:
    text = "http://h.org/cgi-bin/x?map=/a.map and then version=1.3.0&service=WMS, or http://h.org/b? with service=WFS"
    assert hrefs(text) == [
        "http://h.org/cgi-bin/x?map=/a.map&version=1.3.0&service=WMS",
        "http://h.org/b?service=WFS",
    ]


def test_a_query_far_from_any_address_belongs_to_none() -> None:
    assert hrefs(f"http://h.org/x/roads {'words ' * 40} service=WMS&request=GetMap") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Adresse des Kartendienstes (WMS): {}", "wms"),
        ("Darstellungsdienst: {}", "wms"),
        ("Adresse du service WMS : {}.", "wms"),
        ("Service de visualisation : {}", "wms"),
        ("Servicio de visualización: {}", "wms"),
        ("Адрес картографического сервиса: {}", "wms"),
        ("网络地图服务地址：{}。", "wms"),
        ("地図サービス：{}", "wms"),
        ("지도 서비스: {}", "wms"),
        ("Downloaddienst: {}", "wfs"),
        ("STAC API: {}", "stac"),
        ("OGC API - Features: {}", "ogcapi"),
        ("{} (WMS)", "wms"),
        ("{} (OGC WMS 1.3.0)", "wms"),
        ("{} – WFS 2.0", "wfs"),
        ("{} WMTS", "wmts"),
        (f"WMS{BOUNDARY} \n{BOUNDARY}{{}}", "wms"),
        (f"WFS (INSPIRE){BOUNDARY}URL: {{}}", "wfs"),
        ("We like maps, see {} for more", None),
        ("{} has news of the WMS", None),
        (f"The WMS of the town was made by students in the summer of 1999 for the fair{BOUNDARY}{{}}", None),
    ],
)
def test_words_near_an_address_name_its_kind(text: str, kind: str | None) -> None:
    found = list(addresses_in_text(text.format("http://h.org/dienste/roads")))
    assert [(link.href, link.kind) for link in found] == ([("http://h.org/dienste/roads", kind)] if kind else [])


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
    (link,) = addresses_in_text(text, subject=Subject("wms", "h.org"))
    assert (link.href, link.kind) == ("http://h.org/cgi-bin/abc", "wms")
    assert hrefs(text) == []


def test_a_labelled_address_takes_the_kind_of_its_page_on_the_site_of_the_page() -> None:
    text = f"Geodaten: http://maps.h.org/dienste/a{BOUNDARY}Daten: http://o.org/dienste/b{BOUNDARY}or http://h.org/c"
    (link,) = addresses_in_text(text, subject=Subject("wfs", "h.org"))
    assert (link.href, link.kind) == ("http://maps.h.org/dienste/a", "wfs")


def test_a_lone_address_in_a_folder_of_ogc_services_is_taken_for_a_wms() -> None:
    (link,) = addresses_in_text(f"Map{BOUNDARY}http://h.org/ows/roads?{BOUNDARY}")
    assert (link.href, link.kind) == ("http://h.org/ows/roads", "wms")


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
    for link in addresses_in_text(text, subject=Subject("wms", "h.org")):
        assert link.href.startswith("http")
        assert not any(character.isspace() or character == BOUNDARY for character in link.href)


_BRACKETS = st.sampled_from(
    ["()", "<>", "«»", "„“", "“”", "「」", "『』", "（）", "【】", "《》", "‹›", '""', "[]", "  "]
)
_ENDS = st.sampled_from(
    ["", ".", ",", ";", ":", "!", "?", "。", "，", "；", "！", "？", "؟", "،", "…", "।", " —", ")."]
)
_ADDRESSES = st.sampled_from(
    [
        "http://maps.h.org/geoserver/wms",
        "https://h.org:8080/ows?service=WMS&request=GetCapabilities",
        "http://h.org/cgi-bin/mapserv?map=/srv/a_(1).map&service=WMS",
        "maps.h.org/geoserver/wms",
        "www.h.org/a?SERVICE=WFS",
        "HTTP://H.ORG/wms",
    ]
)


@given(
    _ADDRESSES,
    _BRACKETS,
    _ENDS,
    st.sampled_from(["", "see ", "siehe: ", "地址：", "сервис ", "* ", "- ", "\n", "\u200f"]),
)
def test_an_address_is_read_whole_in_any_brackets_and_before_any_sign(
    address: str, brackets: str, end: str, before: str
) -> None:
    whole = address.replace("HTTP:", "http:") if address.lower().startswith("http") else f"http://{address}"
    assert hrefs(f"{before}{brackets[0]}{address}{brackets[1]}{end} more words") == [whole]
    assert hrefs(f"{before}{address}{end}") == [whole]


@given(
    _ADDRESSES.filter(lambda address: "(" not in address),
    st.integers(1, 4),
    st.sampled_from("\u00ad\u200b\u2060\ufeff"),
)
def test_invisible_characters_change_no_address(address: str, every: int, invisible: str) -> None:
    assert hrefs(invisible.join(address[i : i + every] for i in range(0, len(address), every))) == hrefs(address)


_HOSTILE = (
    "/wms|service=|a.b/wms|http://|http://h.org/wms)))))|x&service=|：//|http: //|中a/wms|(((((|hxxp://a&amp;amp;"
)


@pytest.mark.parametrize(
    "piece", [*_HOSTILE.split("|"), "www.a.b", "http://h.org/?a=b)\n", f"h.org/wms WMS {BOUNDARY}"]
)
def test_hostile_text_takes_time_proportional_to_its_length(piece: str) -> None:
    begun = time.process_time()
    hrefs(piece * (200_000 // len(piece)), Subject("wms", "h.org"))
    assert time.process_time() - begun < 3
