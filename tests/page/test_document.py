"""From an answer to a Document."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.page.document import PageReader
from tests.support.pages import hrefs, page, read, url

LINK = "<a href=/x>x</a>"


def test_a_document_carries_what_the_answer_was() -> None:
    document = read("<title>T</title>" + LINK, "Text/HTML; charset=utf-8", content_language="de-AT, en")
    assert (document.url.address, document.depth, document.status) == ("http://h.example/d/p", 1, 200)
    assert (document.content_type, document.encoding, document.language) == ("text/html", "utf-8", "de-at")


def test_a_redirect_that_was_not_followed_is_one_link() -> None:
    redirect = dataclasses.replace(page("", x_robots_tag="nofollow"), status=301, location=url("http://b.example/"))
    (link,) = PageReader().read(redirect, depth=3).links
    assert (link.url.address, link.where) == ("http://b.example/", "redirect")


def test_links_are_relative_to_what_answered() -> None:
    moved = dataclasses.replace(page("<a href=x>x</a>"), final=url("http://h.example/e/q"))
    assert hrefs(PageReader().read(moved, depth=0)) == ["http://h.example/e/x"]


@pytest.mark.parametrize("robots", ["nofollow", "NOINDEX, NoFollow", "none"])
def test_a_page_that_asks_robots_not_to_follow_has_no_links(robots: str) -> None:
    for document in (read(f"<meta name=Robots content='{robots}'>{LINK}"), read(LINK, x_robots_tag=robots)):
        assert document.links == ()


def test_what_is_asked_of_other_robots_does_not_concern_us() -> None:
    assert read(LINK, x_robots_tag="googlebot: noindex, nofollow").links
    assert not read(LINK, x_robots_tag="googlebot: noindex, geocrawl: nofollow").links
    assert not read(LINK, x_robots_tag="unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow").links
    assert read(f"<meta name=googlebot content=nofollow>{LINK}").links


def test_a_refresh_field_is_a_link() -> None:
    assert [link.where for link in read("", refresh="0; url=/x").links] == ["meta-refresh"]


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", "", "text/xml"])
def test_html_under_another_label_is_html(content_type: str) -> None:
    assert hrefs(read(f"\n<!DOCTYPE html><html><body>{LINK}", content_type)) == ["http://h.example/x"]


def test_plain_text_and_json_are_their_own_text() -> None:
    assert read("a  b\n<c>", "text/plain").text == "a  b\n<c>"
    assert read('{"a": "é"}', "application/json").text == '{"a": "é"}'


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        (b"\x89PNG\r\n\x1a\n\0\0", "text/html"),
        (b"<html>" + LINK.encode(), "image/gif"),
        (b"%PDF-1.4 " + LINK.encode(), "application/pdf"),
        (b"PK\x03\x04" + LINK.encode(), "application/octet-stream"),
        (b"\x1f\x8bnot really gzip", "application/gzip"),
    ],
)
def test_what_is_no_text_is_an_empty_document(body: bytes, content_type: str) -> None:
    document = read(body, content_type)
    assert (document.title, document.text, document.links) == ("", "", ())
    assert document.content_type == content_type


def test_a_sitemap_that_is_a_gzip_file_is_read_within_bounds() -> None:
    sitemap = "<urlset><url><loc>http://h.example/a</loc></url></urlset>"
    assert hrefs(read(gzip.compress(sitemap.encode()), "application/x-gzip")) == ["http://h.example/a"]
    assert len(read(gzip.compress(b"x" * 50_000_000), "text/plain").text) == 200_000


def test_an_empty_page_is_an_empty_document() -> None:
    assert (read("").title, read("").text, read(" \n").links) == ("", "", ())


TYPES = st.sampled_from(["text/html", "text/xml", "image/png", "", "text/plain; charset=gbk", "application/json", "\0"])


@given(st.binary(max_size=600), TYPES)
def test_any_bytes_under_any_type_become_a_document(body: bytes, content_type: str) -> None:
    read(body, content_type)


@given(
    st.binary(max_size=200),
    st.sampled_from([b"<html><a href='", b"<?xml version='1.0'?><r>", b"\xff\xfe<\0", b"\x1f\x8b\x08"]),
)
def test_any_bytes_behind_a_plausible_beginning_become_a_document(body: bytes, beginning: bytes) -> None:
    read(beginning + body + b"'>x</a>")


@pytest.mark.shared
def test_labelled_pages_give_their_titles_texts_and_links(shared: Path) -> None:
    with gzip.open(shared / "worlds" / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][::4]
    documents = [read(row["html"], address=row["url"]) for row in rows]
    assert [document.title for document in documents] == [" ".join(row["title"].split()) for row in rows]
    assert all(document.text for document in documents)
    assert sum(bool(document.links) for document in documents) > 0.8 * len(documents)


@pytest.mark.shared
@pytest.mark.parametrize("codec", ["gb18030", "cp932", "euc_jp"])
def test_pages_that_name_their_charset_in_meta_only_read_as_written(shared: Path, codec: str) -> None:
    label = {"gb18030": "gb2312", "cp932": "Shift_JIS", "euc_jp": "EUC-JP"}[codec]
    language = "zh" if codec == "gb18030" else "ja"
    with gzip.open(shared / "worlds" / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["lang"] == language][:60]
    for row in rows:
        written = row["html"].replace('<meta charset="utf-8">', f'<meta charset="{label}">')
        body = written.encode(codec, "xmlcharrefreplace")
        assert read(body).text == read(body.decode(codec), "text/html; charset=utf-8").text
