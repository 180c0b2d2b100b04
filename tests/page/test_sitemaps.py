"""Sitemaps in plain text (sitemaps.org, "Text file"), and lists of addresses like them."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pages import hrefs, read

TWO = ["http://h.example/a?b=1", "https://h.example/%C3%B6"]


@pytest.mark.parametrize(
    "text",
    [
        "http://h.example/a?b=1\nhttps://h.example/ö\n",
        "\ufeffhttp://h.example/a?b=1\r\nhttps://h.example/ö",
        "  http://h.example/a?b=1\t\r\r\nHTTPS://h.example/ö\n\n",
        "http://h.example/a?b=1\nhttps://h.example/ö\nwhat belongs elsewhere\n# and a remark\n",
    ],
)
@pytest.mark.parametrize("content_type", ["text/plain; charset=utf-8", "text/plain", ""])
def test_each_line_of_a_sitemap_in_plain_text_is_a_link(text: str, content_type: str) -> None:
    document = read(text, content_type)
    assert hrefs(document) == TWO
    assert {link.where for link in document.links} == {"sitemap"}


def test_a_sitemap_in_plain_text_may_be_a_gzip_file() -> None:
    assert hrefs(read(gzip.compress("\n".join(TWO).encode()), "application/gzip")) == TWO


@pytest.mark.parametrize(
    "text",
    [
        "See http://h.example/a for more,\nand http://h.example/b.\n",
        "A text of three lines\nwith one address:\nhttp://h.example/a\n",
        "ftp://h.example/a\n/b\n",
        "",
    ],
)
def test_a_text_with_some_addresses_is_no_sitemap(text: str) -> None:
    assert read(text, "text/plain").links == ()


@given(st.lists(st.from_regex(r"[!$-;=?-~]{0,9}", fullmatch=True), max_size=9))
def test_every_listed_address_becomes_a_link(paths: list[str]) -> None:
    lines = [f"http://h.example/list/{path}" for path in paths]
    assert len(read("\n".join(lines), "text/plain").links) == len(lines)


def test_addresses_in_sitemaps_may_be_relative() -> None:
    text = "<urlset><url><loc> /a?b=1 </loc></url><url><loc><![CDATA[c]]></loc><note>d</note></url></urlset>"
    assert hrefs(read(text, "text/xml", "http://h.example/m/sitemap.xml")) == [
        "http://h.example/a?b=1", "http://h.example/m/c"
    ]  # fmt: skip
