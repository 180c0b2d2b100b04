"""Labels, byte order marks, and text in the encoding that a document declares."""

from __future__ import annotations

import codecs
import encodings
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.formats.text import byte_order_mark, decode_declared, find_encoding, header_charset
from geocrawl.formats.xml import read_xml
from geocrawl.page.encoding import decode

CODECS = sorted({module.name for module in pkgutil.iter_modules(encodings.__path__)} - {"aliases", "mbcs", "oem"})
"""Every codec of Python that works on every system."""
OF_BROWSERS = {
    "ascii", "big5", "big5hkscs", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "cp1258", "cp866", "cp874", "cp932", "cp949", "cp950", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso2022_jp",
    "iso8859_1", "iso8859_10", "iso8859_11", "iso8859_13", "iso8859_14", "iso8859_15", "iso8859_16", "iso8859_2",
    "iso8859_3", "iso8859_4", "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8", "iso8859_9", "koi8_r", "koi8_u",
    "latin_1", "mac_cyrillic", "mac_roman", "shift_jis", "tis_620", "utf_16", "utf_16_be", "utf_16_le",
    "utf_8", "utf_8_sig",
}  # fmt: skip
"""The codecs of Python that stand for an encoding of the Encoding Standard."""
READ_IN_MANY_WAYS = (
    b"a-b",
    b"+AGE- a",
    b"xn--map-4ca",
    b"\\u0041",
    b"~{<:Ky2;~}",
    b"caf\x82",
    b"=41 a\x1b$B",
    b"00000000",
)
"""Punycode, UTF-7, IDNA, escapes, HZ, DOS and others read something else in one of these than a browser does."""


@pytest.mark.parametrize(
    "label", ["punycode", "unicode_escape", "utf-7", "base64", "rot13", "idna", "nonsense", "", "a\0b", "é" * 50]
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


def test_a_document_may_ask_for_the_encodings_of_browsers_and_for_no_other_codec() -> None:
    assert {name for name in CODECS if find_encoding(name)} == OF_BROWSERS


@pytest.mark.parametrize("codec", sorted(set(CODECS) - OF_BROWSERS))
def test_no_other_codec_reads_what_declares_it(codec: str) -> None:
    for body in READ_IN_MANY_WAYS:
        expected, _ = decode_declared(body, "nonsense", "")
        for declared, by_header in ((codec, ""), ("", codec), (codec, codec), (codec.upper().replace("_", "-"), "")):
            assert decode_declared(body, declared, by_header)[0] == expected
        assert decode(body, codec).text == decode(body).text
        by_markup, unknown = (decode(b"<meta charset=%s>" % name + body).text for name in (codec.encode(), b"nonsense"))
        assert by_markup.partition(">")[2] == unknown.partition(">")[2]


@pytest.mark.parametrize(
    "codec", ["punycode", "idna", "utf-7", "unicode_escape", "rot13", "zlib", "hz", "no-such-codec"]
)
def test_xml_that_declares_another_codec_is_read_as_text(codec: str) -> None:
    body = f'<?xml version="1.0" encoding="{codec}"?><a>+AGE- xn--map-4ca \\u0041 ~~</a>'.encode()
    root = read_xml(body, f"text/xml; charset={codec}").root
    assert root is not None
    assert root.text == r"+AGE- xn--map-4ca \u0041 ~~"
