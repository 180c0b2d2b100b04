"""The charset of a page and the queries of its links, by cases after the HTML, Encoding and URL standards of WHATWG.

What geocrawl answers differently is listed in docs/finding.md, "Where geocrawl differs from browsers".
"""

from __future__ import annotations

import re

import pytest
import webencodings
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.formats.text import find_encoding
from geocrawl.page.encoding import decode
from tests.support.pages import read

RUSSIAN = "Карта".encode("koi8-r")
"""Bytes that every single-byte encoding reads as something."""


@pytest.mark.parametrize(
    "head",
    [
        "<!-- <meta charset=windows-1251> --><meta charset=koi8-r>",
        "<!--> <meta charset=koi8-r> <!-- <meta charset=gbk> -->",
        "<script>document.write('<meta charset=windows-1251>')</script><meta charset=koi8-r>",
        "<style>/* <meta charset=windows-1251> */</style><meta charset=koi8-r>",
        "<title><meta charset=windows-1251></title><meta charset=koi8-r>",
        "<a title='<meta charset=windows-1251>'></a><meta charset=koi8-r>",
        "</p title='<meta charset=windows-1251>'><meta charset=koi8-r>",
        "<!doctype html <meta charset=windows-1251><meta charset=koi8-r>",
        "<meta charset=no-such-charset><meta charset=koi8-r>",
        "<meta charset=''><meta charset='koi8-r'>",
        "<META  CHARSET = KOI8-R >",
        "<meta/charset=koi8-r>",
        "<meta\ncharset\t=\n'koi8-r'>",
        "<meta name=x charset=koi8-r charset=windows-1251>",
        "<meta name=charset content=windows-1251><meta charset=koi8-r>",
        "<meta content='text/html; charset=windows-1251'><meta charset=koi8-r>",
        "<meta http-equiv=refresh content='0; charset=windows-1251'><meta charset=koi8-r>",
        "<meta http-equiv=Content-Type content='text/html; charset = koi8-r'>",
        "<meta content='charset charset=\"koi8-r\"' http-equiv=CONTENT-TYPE>",
        "<meta http-equiv=content-type content=\"text/html;charset='koi8-r';x\">",
        "<metal charset=windows-1251><meta charset=koi8-r>",
    ],
)
def test_the_first_known_charset_of_a_meta_element_counts(head: str) -> None:
    assert decode(head.encode() + RUSSIAN).text.endswith("Карта")


@pytest.mark.parametrize("opened", ["<!--", "<script>", "<title>", "<a x='", "<meta x='", "<a" + " x" * 4_000])
def test_a_charset_in_what_is_never_closed_is_none(opened: str) -> None:
    assert decode(f"{opened}<meta charset=koi8-r>".encode() + RUSSIAN).encoding.name != "koi8-r"


@given(
    st.lists(st.sampled_from(["<", "!--", "-->", "meta", " ", "charset", "=", "koi8-r", "'", '"', ">", "/", "script"]))
)
def test_any_markup_is_searched_for_a_charset(parts: list[str]) -> None:
    head = "".join(parts)
    found = decode(head.encode() + RUSSIAN, "")
    assert found.encoding.name != "koi8-r" or re.search("charset *= *[\"']?koi8-r", head)


@pytest.mark.parametrize("label", sorted(webencodings.LABELS))
def test_every_label_of_the_encoding_standard_is_known(label: str) -> None:
    name = {"gbk": "gb18030", "x-user-defined": "windows-1252"}.get(found := webencodings.LABELS[label], found)
    encoding = find_encoding(f" {label.upper()}\t")
    assert (encoding.name if encoding else "replacement") == name
    if encoding:
        assert b"a".decode(encoding.codec, "replace")


def test_euc_jp_by_its_oldest_name_and_korean_by_its_standard_are_read() -> None:
    assert decode("地図".encode("euc_jp"), "csEUCPkdFmtJapanese").text == "地図"
    assert decode("지도".encode("cp949"), "KS_C_5601-1989").text == "지도"


@pytest.mark.parametrize(
    ("charset", "href", "query"),
    [
        (
            "iso-8859-1",
            "wms?map=&#321;&#243;d&#378;.map&amp;SERVICE=WMS",
            "map=%26%23321%3B%F3d%26%23378%3B.map&SERVICE=WMS",
        ),
        ("iso-8859-2", "wms?map=&#321;&#243;d&#378;.map&amp;SERVICE=WMS", "map=%A3%F3d%BC.map&SERVICE=WMS"),
        ("windows-1251", "/?m=Карта&amp;x=日", "m=%CA%E0%F0%F2%E0&x=%26%2326085%3B"),
        ("shift_jis", "/?m=地図&amp;x=&#128512;", "m=%92n%90%7D&x=%26%23128512%3B"),
        ("gbk", "/?m=地图", "m=%B5%D8%CD%BC"),
        ("big5", "/?m=地圖", "m=%A6a%B9%CF"),
        ("euc-kr", "/?m=지도", "m=%C1%F6%B5%B5"),
        ("utf-8", "/?m=Łódź", "m=%C5%81%C3%B3d%C5%BA"),
        ("utf-16le", "/?m=Łódź", "m=%C5%81%C3%B3d%C5%BA"),
        ("iso-8859-1", "/?m=ó&amp;n=%C3%B3#Ł", "m=%F3&n=%C3%B3"),
        ("iso-8859-1", "/?a=%26%23321%3B&amp;b=ó", "a=%26%23321%3B&b=%F3"),
        ("iso-8859-1", "/Ł?m=1", "m=1"),
    ],
)
def test_the_query_of_a_link_is_sent_in_the_encoding_of_its_page(charset: str, href: str, query: str) -> None:
    markup = f"<a href='{href}'>x</a>"
    encoding = find_encoding(charset)
    assert encoding is not None
    body = markup.encode(encoding.codec, "xmlcharrefreplace")
    (link,) = read(body, f"text/html; charset={charset}").links
    # `_mend` escapes what no request line may contain; `}` is such for Shift JIS's second byte.
    assert link.url.address.partition("?")[2].replace("}", "%7D") == query


@given(
    st.text(min_size=1, max_size=20),
    st.sampled_from(["iso-8859-1", "windows-1251", "gbk", "big5", "euc-jp", "iso-2022-jp"]),
)
def test_what_follows_a_character_in_a_query_is_never_cut(text: str, charset: str) -> None:
    written = "".join(f"&#{ord(each)};" for each in text if each not in "#\0" and not "\ud800" <= each <= "\udfff")
    body = f"<meta charset={charset}><a href='/?m={written}&amp;SERVICE=WMS'>x</a>"
    (link,) = read(body, f"text/html; charset={charset}").links
    assert link.url.address.endswith("&SERVICE=WMS")
