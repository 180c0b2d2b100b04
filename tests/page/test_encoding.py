"""Which characters the bytes are, whatever the labels say."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.formats.text import find_encoding
from geocrawl.page.encoding import decode

CHINESE = "<p>网络地图服务是开放地理空间信息联盟制定的标准，提供地图图像。</p>"
TRADITIONAL = "<p>網路地圖服務是開放地理空間協會制定的標準，提供地圖影像。</p>"
JAPANESE = "<p>ウェブマップサービスは地図画像を配信するための標準です。</p>"
KOREAN = "<p>웹 지도 서비스는 지도 이미지를 제공하는 표준이다.</p>"
RUSSIAN = "<p>Картографическая служба отдаёт изображения карт по запросу.</p>"


@pytest.mark.parametrize(
    ("label", "codec", "text", "name"),
    [
        ("gb2312", "gb18030", CHINESE + "镕", "gb18030"),
        ("GBK", "gbk", CHINESE, "gb18030"),
        ("gb18030", "gb18030", CHINESE + "㐀", "gb18030"),
        ("big5", "big5hkscs", TRADITIONAL, "big5"),
        ("Shift_JIS", "cp932", JAPANESE + "①", "shift_jis"),
        ("x-sjis", "cp932", JAPANESE, "shift_jis"),
        ("EUC-JP", "euc_jp", JAPANESE, "euc-jp"),
        ("iso-2022-jp", "iso2022_jp", JAPANESE, "iso-2022-jp"),
        ("euc-kr", "cp949", KOREAN, "euc-kr"),
        ("windows-1251", "cp1251", RUSSIAN, "windows-1251"),
        ("koi8-r", "koi8-r", RUSSIAN, "koi8-r"),
        ("iso-8859-1", "cp1252", "<p>Höhe – 5 €</p>", "windows-1252"),
        ("iso-8859-2", "iso8859-2", "<p>Żółć</p>", "iso-8859-2"),
        ("utf-8", "utf-8", CHINESE + JAPANESE, "utf-8"),
    ],
)
def test_a_label_is_read_as_browsers_read_it(label: str, codec: str, text: str, name: str) -> None:
    body = text.encode(codec)
    assert decode(body, label) == (text, find_encoding(label))
    assert decode(body, label).encoding.name == name
    meta = f'<meta charset="{label}">'
    assert decode(meta.encode() + body).text == meta + text


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_wins_over_every_label(codec: str) -> None:
    assert decode(CHINESE.encode(codec), "gb2312").text == CHINESE


def test_utf_16_without_a_mark_is_seen_by_its_first_tag() -> None:
    assert decode(CHINESE.encode("utf-16-le")).text == CHINESE
    assert decode(CHINESE.encode("utf-16-be")).text == CHINESE


def test_an_http_equiv_meta_names_the_charset() -> None:
    body = ('<meta http-equiv="Content-Type" content="text/html; charset=gb2312">' + CHINESE).encode("gb18030")
    assert CHINESE in decode(body).text


def test_an_xml_declaration_names_the_charset() -> None:
    body = ('<?xml version="1.0" encoding="windows-1251"?>' + RUSSIAN).encode("cp1251")
    assert RUSSIAN in decode(body).text


def test_utf_8_labelled_as_gb2312_is_utf_8() -> None:
    assert decode(CHINESE.encode(), "gb2312").text == CHINESE


def test_utf_8_labelled_as_latin_1_is_utf_8() -> None:
    assert decode("<p>Höhe</p>".encode(), "iso-8859-1").text == "<p>Höhe</p>"


def test_two_gbk_characters_that_look_like_utf_8_stay_gbk_when_so_labelled() -> None:
    assert decode("联".encode("gbk"), "gbk").text == "联"


def test_gb18030_labelled_as_utf_8_is_detected() -> None:
    assert decode(CHINESE.encode("gb18030"), "utf-8").text == CHINESE


def test_the_page_is_believed_when_the_servers_label_does_not_fit() -> None:
    body = ("<meta charset=euc-jp>" + JAPANESE).encode("euc_jp")
    assert JAPANESE in decode(body, "utf-8").text


def test_a_single_byte_default_of_the_server_gives_way_to_the_page() -> None:
    assert CHINESE in decode(("<meta charset=gb2312>" + CHINESE).encode("gb18030"), "ISO-8859-1").text
    assert RUSSIAN in decode(("<meta charset=windows-1251>" + RUSSIAN).encode("cp1251"), "ISO-8859-1").text


def test_the_servers_label_wins_where_both_fit() -> None:
    body = ("<meta charset=gb2312>" + CHINESE).encode("gb18030")
    assert decode(body, "gb18030").encoding.name == "gb18030"
    assert decode(("<meta charset=koi8-r>" + RUSSIAN).encode("cp1251"), "windows-1251").text.endswith(RUSSIAN)


def test_a_page_cut_within_a_character_keeps_its_encoding() -> None:
    long = CHINESE * 5
    assert decode(long.encode()[:-5], "utf-8").encoding.name == "utf-8"
    assert decode(long.encode("gb18030")[:-5] + b"\xff", "gb2312").encoding.name == "gb18030"


def test_one_latin_letter_in_a_page_labelled_utf_8_is_latin() -> None:
    assert decode(b"<p>Stra\xdfe und noch mehr Text auf Deutsch</p>", "utf-8").text.startswith("<p>Straße")


@given(st.binary(max_size=400), st.text(max_size=20))
def test_any_bytes_under_any_label_decode_to_text_that_utf_8_can_carry(body: bytes, label: str) -> None:
    decode(body, label).text.encode()


@given(st.text(st.characters(codec="gb18030", min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1))
def test_chinese_survives_the_round_trip_through_a_label(text: str) -> None:
    assert decode(f"<meta charset=utf-8>{text}".encode(), "gb18030").text.endswith(text)


def unlabelled(shared: Path, language: str) -> Iterator[str]:
    """The labelled pages of a language without any meta element."""
    with gzip.open(shared / "worlds" / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["lang"] == language:
                yield re.sub("<meta[^>]*>", "", row["html"])


@pytest.mark.shared
@pytest.mark.parametrize(
    ("language", "codec"),
    [("zh", "gb18030"), ("zh", "big5hkscs"), ("ja", "cp932"), ("ja", "euc_jp"), ("de", "cp1252")],
)
def test_nearly_all_real_pages_without_a_label_are_detected(shared: Path, language: str, codec: str) -> None:
    bodies = [body for html in unlabelled(shared, language) if not (body := html.encode(codec, "ignore")).isascii()]
    right = sum(decode(body).encoding.codec == codec for body in bodies)
    assert len(bodies) > 40
    assert right >= 0.95 * len(bodies)
