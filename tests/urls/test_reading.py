"""`read_url`: browsers' leniency, the address' escaping, the identity."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Url
from geocrawl.urls import read_url
from geocrawl.urls.reading import (
    MAX_TEXT_CHARS,
    canonical_path,
    canonical_unusual_path,
    read_absolute,
    remove_dot_segments,
)
from tests.urls.strategies import crooked_absolute, texts

PAGE = "http://www.example.org/a/b/page.html?x=/1"


def url(text: str, base: Url | str | None = None) -> Url:
    found = read_url(text, base)
    assert found is not None, text
    return found


# --------------------------------------------------------------------------- joining


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c.html", "http://www.example.org/a/b/c.html"),
        ("../c.html", "http://www.example.org/a/c.html"),
        ("../../../../c", "http://www.example.org/c"),
        ("./", "http://www.example.org/a/b/"),
        ("..", "http://www.example.org/a/"),
        ("/c", "http://www.example.org/c"),
        ("//other.org/c", "http://other.org/c"),
        ("\\\\other.org\\c", "http://other.org/c"),
        ("/\\other.org", "http://other.org/"),
        ("\\c\\d", "http://www.example.org/c/d"),
        ("?q=1", "http://www.example.org/a/b/page.html?q=1"),
        ("", "http://www.example.org/a/b/page.html?x=/1"),
        ("#top", "http://www.example.org/a/b/page.html?x=/1"),
        ("c#top", "http://www.example.org/a/b/c"),
        ("c?x=../d", "http://www.example.org/a/b/c?x=../d"),
        ("http:c.html", "http://www.example.org/a/b/c.html"),
        ("https:other.org", "https://other.org/"),
        ("HTTP:///other.org/c", "http://other.org/c"),
        (" \n c d.html\t ", "http://www.example.org/a/b/c%20d.html"),
        ("ht\ntp://other.org/\r\nc", "http://other.org/c"),
        ("http://other.org?x=1", "http://other.org/?x=1"),
        ("a/b:c", "http://www.example.org/a/b/a/b:c"),
    ],
)
def test_a_link_is_joined_with_its_page_as_browsers_do(text: str, expected: str) -> None:
    assert url(text, PAGE).address == expected
    assert url(text, url(PAGE)).address == expected


@pytest.mark.parametrize(
    "text",
    [
        "mailto:a@b.org",
        "javascript:void(0)",
        "ftp://a.org/",
        "data:text/html,x",
        "tel:12",
        "localhost:80/x",
        "HTTPS:",
        "http://",
        "http://?x",
        "http://a b.org/",
        "http://a..b/",
        "http://.a/",
        "http://a.org:x/",
        "http://a.org:65536/",
        "http://[::1/",
        "http://%00/",
    ],
)
def test_what_is_not_http_or_names_no_host_is_none(text: str) -> None:
    assert read_url(text, PAGE) is None


def test_a_relative_link_without_a_base_is_none() -> None:
    assert read_url("/c") is None
    assert read_url("www.example.org/c") is None
    assert read_url("c", "no base") is None


def test_a_text_longer_than_any_request_line_is_none() -> None:
    assert read_url("http://a.org/" + "x" * MAX_TEXT_CHARS) is None
    assert url("http://a.org/" + "x" * 30_000).host == "a.org"


# --------------------------------------------------------------------------- the address


@pytest.mark.parametrize(
    "target",
    [
        "/a%2Fb%2fc",
        "/x%2Bx+y",
        "/%b5%d8%cd%bc?k=%b5%d8",
        "/a|b;c=1;d",
        "/a'b(c)",
        "/q?a=1|2;b&&c={z}&d[]=1",
        "/q?",
        "/a//b",
        "/%zz%",
        "/x;jsessionid=1?utm_source=a&sid=2",
        "/~u/%7Eu",
        "/q?a=\\1^`",
    ],
)
def test_the_address_keeps_the_sites_own_escaping_byte_for_byte(target: str) -> None:
    assert url("http://example.org" + target).address == "http://example.org" + target


def test_only_what_cannot_be_sent_is_escaped_in_the_address() -> None:
    found = url('HTTP://User:pw@Example.ORG:80/a b/地"<x>\x7f?q=é "\x01#part')
    assert found.address == "http://example.org/a%20b/%E5%9C%B0%22%3Cx%3E%7F?q=%C3%A9%20%22%01"


def test_halves_of_surrogate_pairs_are_joined_or_replaced() -> None:
    assert url("http://a.org/\ud83d\ude00").address == "http://a.org/%F0%9F%98%80"
    assert url("http://a.org/\ud83d").address == "http://a.org/%EF%BF%BD"


def test_dot_segments_are_removed_however_they_are_written() -> None:
    assert url("http://a.org/x/%2E%2e/./y/.%2e/z/.").address == "http://a.org/z/"
    assert url("http://a.org/.well-known/x").address == "http://a.org/.well-known/x"
    assert url("http://a.org/a//../b").address == "http://a.org/a/b"


# --------------------------------------------------------------------------- the identity

ONE_PAGE = [
    ("http://EXAMPLE.org:80", "http://example.org/"),
    ("http://example.org./?", "http://example.org/"),
    ("http://example.org/%7euser/%e5%9c%b0", "http://example.org/~user/地"),
    ("http://example.org/a|b?x={y}", "http://example.org/a%7Cb?x=%7By%7D"),
    ("http://example.org/?b=2&a=1", "http://example.org/?a=1&b=2"),
    ("http://example.org/?a=1&&b=2&", "http://example.org/?a=1&b=2"),
    ("http://example.org/?a=1&utm_source=x&UTM_Medium=y&fbclid=z", "http://example.org/?a=1"),
    ("http://example.org/p;jsessionid=0A1B?a=1", "http://example.org/p?a=1"),
    ("http://example.org/p;JSESSIONID=0A1B.node1/q", "http://example.org/p/q"),
    ("http://example.org/p?PHPSESSID=abc&ASPSESSIONIDQACC=F", "http://example.org/p"),
    ("http://example.org/p?sid=0123456789abcdef0123456789abcdef", "http://example.org/p"),
    ("http://example.org/p?CFID=12&CFTOKEN=34&x=1", "http://example.org/p?x=1"),
    ("http://example.org/(S(lit3py55t21z5v55vlm25s55))/p.aspx", "http://example.org/p.aspx"),
    ("http://user@example.org/#x", "http://example.org/"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
]
TWO_PAGES = [
    ("http://example.org/", "https://example.org/"),
    ("http://example.org/", "http://www.example.org/"),
    ("http://example.org/", "http://example.org/index.html"),
    ("http://example.org/a", "http://example.org/a/"),
    ("http://example.org/a%2Fb", "http://example.org/a/b"),
    ("http://example.org/A", "http://example.org/a"),
    ("http://example.org/?a=1&a=2", "http://example.org/?a=2&a=1"),
    ("http://example.org/?x&y", "http://example.org/?y&x"),
    ("http://example.org/?sid=12", "http://example.org/?sid=13"),
    ("http://example.org/?a=1+2", "http://example.org/?a=1%202"),
    ("http://example.org/a;v=1", "http://example.org/a;v=2"),
    ("http://example.org:8080/", "http://example.org/"),
]


@pytest.mark.parametrize(("one", "other"), ONE_PAGE)
def test_two_spellings_of_one_page_have_one_identity(one: str, other: str) -> None:
    assert url(one).identity == url(other).identity


@pytest.mark.parametrize(("one", "other"), TWO_PAGES)
def test_what_may_be_two_pages_has_two_identities(one: str, other: str) -> None:
    assert url(one).identity != url(other).identity


# --------------------------------------------------------------------------- properties


@given(texts, st.one_of(st.none(), texts, st.just(PAGE)))
def test_no_text_makes_it_raise(text: str, base: str | None) -> None:
    found = read_url(text, base)
    if found is not None:
        assert found.address.isascii()
        assert found.address.startswith(found.origin + "/")
        assert found.identity.startswith(found.origin + "/")


@given(texts)
def test_reading_is_idempotent(text: str) -> None:
    found = read_url(text, PAGE)
    if found is None:
        return
    assert read_url(found.address) == found
    again = url(found.identity)
    assert (again.identity, again.address) == (found.identity, found.identity)
    assert again.origin == found.origin


@given(st.text("aB/.~%2eE;=(S)|[", max_size=30).map(lambda text: remove_dot_segments("/" + text)))
def test_the_short_way_for_plain_paths_agrees_with_the_long_way(path: str) -> None:
    assert canonical_path(path) == canonical_unusual_path(path)


@given(crooked_absolute)
def test_what_is_remembered_agrees_with_what_is_read_again(text: str) -> None:
    assert read_url(text) == read_url(text) == read_absolute(text)


@given(st.text("abcXYZ0129-._~!$&'()*+,;=:@/|%[]{}^`?", max_size=60))
def test_no_printable_character_of_a_query_is_changed_in_the_address(query: str) -> None:
    assert url(f"http://example.org/p?{query}").address == f"http://example.org/p?{query}"


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.text("xyz012%", max_size=4), max_size=6), st.randoms()
)
def test_the_order_of_named_parameters_does_not_matter(parameters: dict[str, str], random: Random) -> None:
    parts = [f"{name}={value}" for name, value in parameters.items()]
    shuffled = sorted(parts, key=lambda _: random.random())
    assert url("http://a.org/?" + "&".join(parts)).identity == url("http://a.org/?" + "&".join(shuffled)).identity


@pytest.mark.shared
def test_the_urls_of_the_corpus_are_read(shared: Path) -> None:
    with (shared / "corpus/urls.csv").open(encoding="utf-8", newline="") as file:
        rows = [row["url"] for row in csv.DictReader(file)]
    unread = [text for text in rows if read_url(text) is None]
    assert len(rows) > 19_000
    assert [text[:24] for text in unread] == ["http://giscafer.com这个地址，", "http://www.oec2003.cn,但一"]
    for text in rows:
        if found := read_url(text):
            assert url(found.identity).identity == found.identity
