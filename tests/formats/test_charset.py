"""Labels, byte order marks, and text in the encoding that a document declares."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.formats.charset import byte_order_mark, decode_declared, find_encoding, header_charset


@pytest.mark.parametrize(
    "label", ["unicode_escape", "utf-7", "base64", "rot13", "idna", "nonsense", "", "a\0b", "é" * 50]
)
def test_labels_that_no_browser_knows_are_none(label: str) -> None:
    assert find_encoding(label) is None


def test_the_charset_of_a_content_type_may_be_quoted() -> None:
    assert header_charset('text/html; Charset="GB2312"') == "GB2312"
    assert header_charset("text/html") == ""


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_byte_order_mark_is_found_at_the_beginning_only(mark: bytes) -> None:
    assert byte_order_mark(mark + b"<a/>") == mark
    assert byte_order_mark(b"<a/>" + mark) == b""


@pytest.mark.parametrize("label", ["gb2312", "GBK", "x-gbk", "gb_2312-80"])
def test_labels_of_older_chinese_sets_are_read_as_gb18030(label: str) -> None:
    text, deviation = decode_declared("镕㐀".encode("gb18030"), label, "")
    assert text == "镕㐀"
    assert deviation is None


def test_a_declared_encoding_that_does_not_fit_is_named_with_the_one_that_does() -> None:
    text, deviation = decode_declared("Łódź".encode("iso-8859-2"), "utf-8", "iso-8859-2")
    assert text == "Łódź"
    assert deviation is not None
    assert (deviation.code, deviation.detail) == ("wrong-charset", "says utf-8, is iso-8859-2")


@given(st.binary(max_size=200), st.text(max_size=20), st.text(max_size=20))
def test_any_bytes_under_any_labels_decode(body: bytes, declared: str, by_header: str) -> None:
    text, _ = decode_declared(body, declared, by_header)
    assert isinstance(text, str)
