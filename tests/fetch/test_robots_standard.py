"""robots.txt by cases after RFC 9309 and its examples (5.1, 5.2).

What geocrawl answers differently is listed in docs/finding.md, "Where geocrawl differs from browsers".
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.fetch.robots import RobotsRules, sitemaps_of

SITE = "http://h.example"
OTHER_RECORDS = [
    *("Sitemap: http://h.example/s.xml", "Site-map: /s.txt", "Host: h.example", "Crawl-delay: 5", "Request-rate: 1/5"),
    *("Visit-time: 0100-0400", "Clean-param: ref /x/", "Noindex: /", "Cache-delay: 9", "Comment: no", "Unknown: x"),
    *("Content-Signal: ai-train=no", "X-Robots-Tag: none", "License: http://h.example/l", "no record at all", "a:b"),
]


def forbidden(text: str, *paths: str, token: str = "geocrawl") -> set[str]:
    rules = RobotsRules(text, token)
    return {path for path in paths if not rules.allows(SITE + path)}


@pytest.mark.parametrize("record", OTHER_RECORDS)
def test_no_other_record_interferes_with_a_group(record: str) -> None:
    between_names = f"User-agent: a\n{record}\nUser-agent: geocrawl\n{record}\nUser-agent: b\nDisallow: /p\n"
    assert forbidden(between_names, "/p", "/q") == {"/p"}
    assert forbidden(between_names, "/p", token="a") == {"/p"}
    among_rules = f"User-agent: geocrawl\nDisallow: /p\n{record}\nDisallow: /q\n"
    assert forbidden(among_rules, "/p", "/q") == {"/p", "/q"}
    of_all = f"{record}\nUser-agent: x\n{record}\n\nUser-agent: *\n{record}\nDisallow: /p\n{record}\nUser-agent: y\n"
    of_all += "Disallow: /q"
    assert forbidden(of_all, "/p", "/q") == {"/p"}


@given(st.lists(st.sampled_from(OTHER_RECORDS)), st.lists(st.sampled_from(OTHER_RECORDS)))
def test_other_records_change_no_rule_wherever_they_stand(some: list[str], more: list[str]) -> None:
    lines = [
        "User-agent: *",
        *some,
        "User-agent: b",
        *more,
        "Disallow: /p",
        *some,
        "Allow: /p/q",
        *more,
        "Disallow: /r",
    ]
    assert forbidden("\n".join(lines), "/p", "/p/q", "/r", "/s") == {"/p", "/r"}


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: bingbot\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /p", None),
        ("User-agent: *\nCrawl-delay: 10\n\nUser-agent: bingbot\nDisallow: /p", 10),
        ("User-agent: geocrawl\nNoindex: /\nCrawl-delay: 3\nUser-agent: *\nCrawl-delay: 7", 3),
        ("User-agent: a\nUser-agent: *\nDisallow: /p\nCrawl delay: 2.5", 2.5),
        ("User-agent: a\nFoo: 1\nUser-agent: *\nCrawl-delay: 4", 4),
        ("User-agent: *\nCrawl-delay: soon", None),
    ],
)
def test_a_crawl_delay_is_of_the_names_above_it(text: str, delay: float | None) -> None:
    assert RobotsRules(text, "geocrawl").crawl_delay_s == delay


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        # 2.2.1: groups of one name are one, names are compared without case, the most specific group is the only one
        ("User-agent: GeoCrawl\nDisallow: /a\n\nUser-agent: x\nDisallow: /c\nuser-AGENT: geocrawl\nDISALLOW: /b",
         {"/a", "/b"}),
        ("User-agent: *\nDisallow: /a\nUser-agent: geocrawl\nDisallow: /b", {"/b"}),
        ("User-agent: geocrawl\nUser-agent: *\nDisallow: /a", {"/a"}),
        ("User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", {"/a", "/b"}),
        ("User-agent: geocrawler\nDisallow: /a", set()),
        ("User-agent: geo\nDisallow: /a", set()),
        ("User-agent: geocrawl/2.0\nDisallow: /a", {"/a"}),
        ("User-agent: geocrawl # we\nDisallow: /a # why", {"/a"}),
        ("Disallow: /a\nUser-agent: *\nDisallow: /b", {"/b"}),
        # 2.2.2: the longest rule decides, of equal ones Allow; an empty Disallow forbids nothing
        ("User-agent: *\nDisallow: /\nAllow: /b", {"/a", "/c", "/e/f"}),
        ("User-agent: *\nDisallow: /b\nAllow: /b", set()),
        ("User-agent: *\nAllow: /e/f\nDisallow: /e", set()),
        ("User-agent: *\nDisallow:", set()),
        ("User-agent: *\nDisallow: /\nUser-agent: geocrawl\nDisallow:\n", set()),
        # 2.2.3: special characters
        ("User-agent: *\nDisallow: /*f$", {"/e/f"}),
        ("User-agent: *\nDisallow: *e", {"/e/f"}),
        ("User-agent: *\nDisallow: /%61", {"/a"}),
        # 2.2: line ends, byte order mark, white space
        ("\ufeffUser-agent: *\rDisallow: /a\r\n\tDisallow :/b", {"/a", "/b"}),
        ("  User-agent  :  *  \n  Disallow  :  /a  ", {"/a"}),
    ],
)  # fmt: skip
def test_the_group_and_the_rule_that_apply_are_those_of_the_standard(text: str, denied: set[str]) -> None:
    assert forbidden(text.lstrip("\ufeff"), "/a", "/b", "/c", "/e/f") == denied


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Sitemap: http://h.example/s.xml", ("http://h.example/s.xml",)),
        ("Site-map: http://h.example/s.xml", ("http://h.example/s.xml",)),
        ("SITE-MAP :\thttp://h.example/s.txt # all", ("http://h.example/s.txt",)),
        ("sitemap http://h.example/s.xml", ("http://h.example/s.xml",)),
        ("sitemap of this site", ()),
        ("Sitemap:", ()),
        ("# Sitemap: http://h.example/s.xml", ()),
        ("XSitemap: http://h.example/s.xml", ()),
    ],
)
def test_a_sitemap_is_named_by_its_record_alone(line: str, found: tuple[str, ...]) -> None:
    assert sitemaps_of(f"User-agent: x\n{line}\nDisallow: /") == found
