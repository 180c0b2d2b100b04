"""Tests of the tag paths of links."""

from geocrawl.page.document import PageReader
from geocrawl.page.html_tree import MAX_ELEMENTS
from tests.support.pages import page


def paths(html: str) -> list[str]:
    return [link.tag_path for link in PageReader(tag_paths=True).read(page(html), depth=0).links]


def test_links_of_one_list_share_a_path_and_those_of_a_menu_have_another() -> None:
    html = (
        '<body><nav id="menu"><a href="/a">A</a></nav><div class="main wide extra"><ul>'
        '<li id="hit-12"><a href="/b">B</a></li><li id="hit-345"><a class="x" href="/c">C</a></li></ul></div></body>'
    )
    assert paths(html) == [
        "body nav#menu a",
        "body div.main.wide ul li#hit-0 a",
        "body div.main.wide ul li#hit-0 a.x",
    ]


def test_a_path_keeps_the_elements_nearest_to_the_link() -> None:
    html = "<div>" * 100 + '<p class="deep"><a href="/a">A</a></p>'
    (path,) = paths(html)
    assert path.split() == ["div"] * (MAX_ELEMENTS - 2) + ["p.deep", "a"]


def test_other_readers_make_no_paths() -> None:
    (link,) = PageReader().read(page('<div id="x"><a href="/a">A</a></div>'), depth=0).links
    assert link.tag_path == ""


def test_hostile_names_are_cut() -> None:
    (path,) = paths(f'<div id="{"x" * 100_000}"><a href="/a">A</a></div>')
    assert len(path) < 100
