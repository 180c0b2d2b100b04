"""Title finding, and the text without its anchors: on pages written by hand and on real ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Document
from geocrawl.page.document import PageReader
from tests.support.pages import page

BODY = "<p>" + "This paragraph is long enough to be body text, as a reader sees at a glance. " * 3 + "</p>"


def read(html: str, content_type: str = "text/html") -> Document:
    return PageReader(headline=True, prose=True).read(page(html, content_type), depth=1)


def headline(before_body: str, behind: str = "") -> str:
    return read(f"<title>The site</title><body>{before_body}{BODY}{behind}").headline


@pytest.mark.parametrize(
    "markup",
    [
        "<h1>Soil map</h1>",
        "<h2>Soil map</h2>",
        "<p><font size=5>Soil map</font></p>",
        "<p><font size='+2'>Soil map</font></p>",
        "<div style='font-size: 22px'>Soil map</div>",
        "<div style='color: black; FONT-SIZE: 150%'>Soil map</div>",
        "<div style='font: bold 2em serif'>Soil map</div>",
        "<span style='font-size:x-large'>Soil map</span>",
        "<center>Soil map</center>",
        "<td align=center>Soil map</td>",
        "<div style='text-align: center'><b>Soil map</b></div>",
        "<font color='#cc0000'>Soil map</font>",
        "<p style='color: navy'>Soil map</p>",
    ],
)
def test_what_stands_out_before_the_body_is_the_headline(markup: str) -> None:
    table = f"<table><tr>{markup}</tr></table>" if markup.startswith("<td") else markup
    assert headline(f"<p>Our institute</p>{table}<p>by the editors</p>") == "Soil map"


def test_size_outweighs_centring_and_centring_outweighs_colour() -> None:
    coloured, centred = "<p style='color:red'>red line</p>", "<center>middle line</center>"
    assert headline(centred + coloured) == "middle line"
    assert headline("<h1>large line</h1>" + centred + coloured) == "large line"
    assert headline(coloured + "<h2 align=center>both lines</h2>" + "<h2>large line</h2>") == "both lines"


def test_of_equals_the_one_next_to_the_body_is_the_headline() -> None:
    assert headline("<h1>Institute of maps</h1><p>a line</p><h1>Soil map</h1>") == "Soil map"


def test_a_headline_in_several_lines_is_put_together() -> None:
    assert headline("<center><font size=6>Soil map<br>of the valley</font></center>") == "Soil map of the valley"


def test_a_label_that_stands_out_gives_way_to_its_neighbour() -> None:
    assert headline("<h1>No 7</h1><h3>The soil map of the valley</h3>") == "The soil map of the valley"


def test_headings_behind_the_body_and_in_the_navigation_do_not_count() -> None:
    navigation = "<h1><a href=/>Institute</a></h1><h2><a href=/maps>Maps</a></h2>"
    assert headline(f"{navigation}<h3>Soil map</h3>", "<h1>Comments</h1>") == "Soil map"


def test_a_chinese_headline_is_found() -> None:
    assert headline("<p>某研究所</p><p align='center'><font size='5'>土壤图服务</font></p>") == "土壤图服务"


@pytest.mark.parametrize("markup", ["", "<p>plain</p>", "<p style='color:#000'>plain</p>", "<h1>***</h1>"])
def test_where_nothing_stands_out_it_is_the_title(markup: str) -> None:
    assert headline(markup) == "The site"


def test_prose_is_the_text_without_its_anchors() -> None:
    document = read("<p>Maps: <a href=/a>soil</a>, <a href=/b>water <b>levels</b></a> and <a name=c>more</a>.</p>")
    assert document.text == "Maps: soil, water levels and more."
    assert document.prose == "Maps: , and more."
    assert document.anchor_chars == len("soil water levels")


def test_what_is_not_html_is_prose() -> None:
    assert read("only text", "text/plain").prose == "only text"
    assert read("<rss><title>t</title><link>http://h.example/</link></rss>", "text/xml").headline == "t"


def test_they_are_made_on_request_only() -> None:
    document = PageReader().read(page(f"<h1>Soil map</h1>{BODY}<a href=/a>soil</a>"), depth=1)
    assert (document.headline, document.prose, document.anchor_chars) == ("", "", 0)


@given(st.lists(st.sampled_from(["<h1>", "</h1>", "<font size=9>", "<p style='font-size:1.2.3px'>", "<br>", "a b"])))
def test_no_markup_makes_it_fail(parts: list[str]) -> None:
    document = read("".join(parts))
    assert document.headline in document.text or not document.headline


@pytest.mark.shared
def test_real_pages_that_name_their_headline_before_a_dash_in_the_title_agree(shared: Path) -> None:
    same = counted = 0
    with gzip.open(shared / "worlds" / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            record = json.loads(line)
            name, dash, _ = record["title"].partition(" — ")
            if number % 3 or not dash:
                continue
            counted += 1
            same += read(record["html"]).headline == name
    assert counted > 50
    assert same / counted > 0.8
