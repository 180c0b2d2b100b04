"""What an HTML page says and where it leads."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import REFRESH
from geocrawl.page.content import (
    MAX_ANCHOR_CHARS,
    MAX_CONTEXT_CHARS,
    MAX_SUMMARY_CHARS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
)
from geocrawl.page.document import PageReader
from geocrawl.page.html import read_html, refresh_target
from geocrawl.page.html_tree import flatten
from tests.support.pages import hrefs, page, read


def test_title_and_text_are_folded_and_scripts_and_styles_left_out() -> None:
    document = read(
        "<title> Web \n Map </title><style>p{}</style><body><p>One<p>two<script>three()</script>"
        "<ul><li>a<li>b</ul>c<br>d <template>no</template><!-- no --><noscript>shown</noscript>"
    )
    assert document.title == "Web Map"
    assert document.text == "One two a b c d shown"


def test_a_page_is_summed_up_by_what_its_metadata_say_within_a_limit() -> None:
    head = '<meta name=Description content="Maps  of lakes"><meta property=og:description content=WMS>'
    document = read(f"{head}<meta name=keywords content='gis, water'><meta name=author content=Ann><p>Text")
    assert (document.summary, document.text) == ("Maps of lakes WMS gis, water", "Text")
    assert len(read(f"<meta name=keywords content='{'lake ' * 2_000}'>" * 3).summary) <= MAX_SUMMARY_CHARS


def test_inline_markup_does_not_part_words_but_blocks_and_cells_do() -> None:
    assert read("<b>J</b>ohn<div>x</div>y<table><tr><td>1<td>2</table>").text == "John x y 1 2"
    assert read("<p>地图<em>服务</em>器</p>").text == "地图服务器"


def test_links_are_found_in_all_elements_that_lead_to_pages() -> None:
    document = read(
        '<head><link rel=alternate title="Feed" href=/feed><link rel="stylesheet" href=/s.css><link rel=icon href=/i>'
        "<meta http-equiv=Refresh content=\"5; URL='/later'\"></head>"
        "<a href=a.html>A</a><map><area href=/area alt=Area></map><iframe src=/frame title=Map></iframe>"
    )
    assert [(link.where, link.url.address, link.anchor) for link in document.links] == [
        ("link", "http://h.example/feed", "Feed"),
        ("meta-refresh", "http://h.example/later", ""),
        ("a", "http://h.example/d/a.html", "A"),
        ("area", "http://h.example/area", "Area"),
        ("iframe", "http://h.example/frame", "Map"),
    ]


@pytest.mark.parametrize(
    "markup",
    [
        "<tr onclick=\"location.href='/s/1?a=b&amp;c=d'\"><td>Roads</table>",
        """<button onclick='window.open("/s/1?a=b&amp;c=d", "_blank")'>""",
        "<a href=\"javascript:openIt(); window.location = '/s/1?a=b&amp;c=d';\">Roads</a>",
        "<body onload=\"top.location='/s/1?a=b&amp;c=d'\"><a href='/x'>",
    ],
)
def test_pages_that_a_click_opens_by_script_are_linked(markup: str) -> None:
    assert "http://h.example/s/1?a=b&c=d" in hrefs(read(f"<title>x</title><table>{markup}"))


@pytest.mark.parametrize(
    "code",
    [
        "window.location.href = '/geoportal/';",
        'location.replace("http://h.example/geoportal/")',
        "if (!top.x) { document.location='../geoportal/' }",
    ],
)
def test_a_page_without_links_leads_to_where_its_script_sends_readers(code: str) -> None:
    (link,) = read(f"<title>x</title><script>{code}</script>").links
    assert (link.url.address, link.where) == ("http://h.example/geoportal/", REFRESH)
    assert hrefs(read(f"<script>{code}</script><a href='/other'>x</a>")) == ["http://h.example/other"]


@pytest.mark.parametrize(
    "markup",
    [
        """<a onclick="location.href='#top'" href="#">x</a><b onclick="open('javascript:void(0)')">""",
        """<a onclick="location.href='/s/' + id">x</a><b onclick="location = 'Berlin'">y</b>""",
        "<script>var location = 'Berlin'; location.href = base + '/s/';</script>",
    ],
)
def test_scripts_without_a_whole_address_lead_nowhere(markup: str) -> None:
    assert hrefs(read(markup)) == []


def test_framesets_lead_to_their_frames() -> None:
    document = read("<html><frameset cols=1><frame src=menu.html name=menu><frameset><frame src=/main></frameset>")
    assert [(link.where, link.url.address) for link in document.links] == [
        ("frame", "http://h.example/d/menu.html"),
        ("frame", "http://h.example/main"),
    ]


def test_base_href_holds_for_every_link_wherever_it_stands() -> None:
    assert hrefs(read("<a href=x>1</a><base href='../e/'><base href=/no/><a href=/y>2</a>")) == [
        "http://h.example/e/x",
        "http://h.example/y",
    ]


def test_links_to_fragments_scripts_and_mail_are_none() -> None:
    assert hrefs(read("<a href=#top>1</a><a href='javascript:x()'>2</a><a href=mailto:a@b.example>3</a><a>4</a>")) == []


def test_an_anchor_has_the_alt_and_title_of_its_images_and_its_own_title() -> None:
    document = read("<a href=/x title='Own'>Text <img src=i alt='Alt' title='Image'><b>bold</b></a>")
    assert document.links[0].anchor == "Text bold Alt Image Own"
    assert document.text == "Text bold"


def test_an_anchor_does_not_say_the_same_twice() -> None:
    assert read("<a href=/x title='WMS'>The WMS <img alt=WMS></a>").links[0].anchor == "The WMS"


def test_the_context_is_what_stands_beside_a_link_in_its_block() -> None:
    document = read(
        "<p>Far away.</p><p>Geology <i>of</i> <a href=/x>WMS</a> (1.3.0) and <a href=/y>WFS</a></p><p>Far behind.</p>"
    )
    assert [link.context for link in document.links] == ["Geology of (1.3.0) and WFS", "Geology of WMS (1.3.0) and"]


def test_a_link_knows_how_much_of_its_context_stands_before_it() -> None:
    document = read("<p>Geology of <a href=/a>WMS</a> (1.3.0) and <a href=/b>WFS</a></p><p><a href=/c>x</a> behind</p>")
    parts = [(link.context[: link.before], link.context[link.before :]) for link in document.links]
    assert parts == [("Geology of ", "(1.3.0) and WFS"), ("Geology of WMS (1.3.0) and", ""), ("", "behind")]
    (text,) = read("<p>WMS: https://a.example/ows?service=WMS here</p>", "text/html").links
    assert text.context[: text.before] == "WMS:"


def test_the_context_of_a_link_in_a_table_is_its_row() -> None:
    document = read("<table><tr><td>no<tr><td>Lakes<td><a href=/x>link</a><td>WMS<tr><td>no</table>")
    assert document.links[0].context == "Lakes WMS"


def test_an_empty_link_has_no_words_of_other_blocks() -> None:
    assert read("<div>no</div><div><a href=/x></a></div><div>no</div>").links[0].context == ""


def test_svg_links_count() -> None:
    assert hrefs(read('<svg><a xlink:href="/x"><text>t</text></a></svg>')) == ["http://h.example/x"]


def test_nofollow_of_a_link_is_kept_as_rel_and_obeyed_when_set() -> None:
    html = "<a rel='external NoFollow' href=/x>x</a><a href=/y>y</a>"
    assert [link.rel for link in read(html).links] == ["external NoFollow", ""]
    obedient = PageReader(respect_nofollow=True).read(page(html), depth=0)
    assert hrefs(obedient) == ["http://h.example/y"]


def test_the_language_is_that_of_the_html_element() -> None:
    assert read("<html lang=ZH-cn><p>x").language == "zh-cn"


# ------------------------------------------------------------------------- forms


def test_a_get_form_is_the_address_that_its_button_asks_for() -> None:
    document = read(
        "<form action='/cgi?dropped=1' title=Map><input type=hidden name=map value='/a b.map'><input name=q>"
        "<input type=checkbox name=c checked><input type=radio name=r value=1><input type=submit name=go value=Go>"
        "<select name=layer><option>roads &amp; rails<option selected value=l>lakes</select>"
        "<select name=s><option value=first>1<option>2</select></form>"
    )
    (link,) = document.links
    assert (link.where, link.anchor) == ("form", "Map")
    assert link.url.address == "http://h.example/cgi?map=/a+b.map&c=on&layer=l&s=first"


def test_a_form_without_fields_keeps_its_own_query_and_one_without_action_asks_its_page() -> None:
    assert hrefs(read("<form action='/cgi?map=x'><input type=submit></form>")) == ["http://h.example/cgi?map=x"]
    assert hrefs(read("<form><input type=hidden name=a value=1></form>")) == ["http://h.example/d/p?a=1"]


def test_a_post_form_is_no_link() -> None:
    assert read("<form method=POST action=/x><input name=a value=b></form>").links == ()


def test_a_form_torn_apart_by_a_table_keeps_its_fields() -> None:
    document = read("<table><form action=/x><tr><td><input name=a value=b></td></tr></form></table>")
    assert hrefs(document) == ["http://h.example/x?a=b"]


# ------------------------------------------------------------------------- odd and hostile pages


def test_a_query_is_sent_in_the_encoding_of_the_page() -> None:
    document = read("<meta charset=gb2312><a href='/地?q=地图'>地图</a>".encode("gb18030"))
    assert hrefs(document) == ["http://h.example/%E5%9C%B0?q=%B5%D8%CD%BC"]


def test_nul_bytes_do_not_end_a_page() -> None:
    document = read(b"<p>a\0b</p><a href='/x'>\0link</a>")
    assert hrefs(document) == ["http://h.example/x"]
    assert "link" in document.text


@pytest.mark.parametrize(
    "html", ["<div>" * 10_000, "<span>" * 10_000, "<a href=/y><b>" * 10_000, "<table><td>" * 10_000]
)
def test_deep_nesting_is_read_to_its_end(html: str) -> None:
    document = read(f"{html}deep<a href=/x>WMS</a>")
    assert document.links[-1].url.address == "http://h.example/x"
    assert document.text.endswith("WMS")


def test_unclosed_fonts_do_not_multiply() -> None:
    fonts = "".join(f"<font size={size}>" for size in range(3_000))
    assert read(fonts + "<p>" * 3_000 + "<a href=/x>x</a>").text == "x"


def test_a_tag_of_a_hundred_thousand_attributes_is_passed_over() -> None:
    attributes = " ".join(f"a{number}" for number in range(100_000))
    assert hrefs(read(f"<p {attributes}><a href=/x>x</a>")) == ["http://h.example/x"]


def test_links_beyond_the_bound_are_not_read() -> None:
    document = read("<a href=/x>x</a>" * 100_000)
    assert len(document.links) == 20_000


def test_texts_are_bounded() -> None:
    word = "word " * 60_000
    document = read(f"<title>{word}</title>{word}<a href=/x title='{word}'>{word}</a>{word}")
    (link,) = document.links
    assert len(document.title) <= MAX_TITLE_CHARS
    assert 0.9 * MAX_TEXT_CHARS < len(document.text) <= MAX_TEXT_CHARS
    assert 0.9 * MAX_ANCHOR_CHARS < len(link.anchor) <= MAX_ANCHOR_CHARS
    assert 0.9 * MAX_CONTEXT_CHARS < len(link.context) <= MAX_CONTEXT_CHARS


def test_one_line_of_five_mebibytes_is_read() -> None:
    assert hrefs(read("x" * (5 * 2**20) + "<a href=/x>x</a>")) == ["http://h.example/x"]


ROW = (
    "<tr><td class='a'><b>Lake</b>s</td><td><font size=2><a href='/wms?map={0}' title='T{0}'>WMS <i>{0}</i></a></font> "
    "of <em>this</em> row</td></tr>"
)


def test_a_page_large_enough_to_be_flattened_reads_the_same() -> None:
    head = "<!doctype html><html lang=en><head><title>T</title></head><body class=x><h1>H</h1><table>"
    rows = [ROW.format(number) for number in range(400)]
    large = read_html(head + "".join(rows) + "</table></body></html>", "utf-8", max_links=1_000)
    small = [read_html(f"{head}{row}</table>", "utf-8", max_links=10).links[0] for row in rows]
    assert large.links == small
    assert (large.title, large.language) == ("T", "en")
    assert large.text.startswith("H Lakes WMS 0 of this row Lakes WMS 1 of")


def test_a_page_of_ordinary_size_is_not_flattened() -> None:
    assert flatten("<div><b>x</b></div>") == "<div><b>x</b></div>"


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/x", "/x"),
        ("5; URL = '/x y'", "/x y"),
        ("0, /x", "/x"),
        ("url=/x", "/x"),
        ("30", ""),
        ("", ""),
        ("0;", ""),
    ],
)
def test_a_refresh_names_its_target(content: str, target: str) -> None:
    assert refresh_target(content) == target


SOUP = (
    "<a href='/x'> </a> <p> </p> <table> <td> <form> </form> <select> <option> <input name='a' value='b'> <b> </b> "
    "<title> <svg> <script> </script> <!-- --> <frameset> <img alt='i'> <base href='/b/'> text &amp; <![CDATA[ ]]>"
)
TAGS = st.sampled_from([*SOUP.split("> "), *SOUP.split(), "\x1e", "\n"])


@given(st.lists(TAGS, max_size=40).map("".join), st.booleans())
def test_any_soup_of_tags_is_read(soup: str, large: bool) -> None:
    read_html(soup + "<br>" * (2_500 * large), "utf-8", max_links=20)


MANY = " ".join(f"a{number}='1'" for number in range(100_000))


@pytest.mark.parametrize(
    "flood",
    [
        "<body {}",
        "<body {}>",
        "<div x='>' {}>",
        "<div x='<a>' y=\"it's\" {}>",
        "</div {}>",
        "<div {} <div {}",
        "<a href=/y {}",
        "<div / / {}/>",
    ],
)
def test_a_tag_with_a_flood_of_attributes_costs_little_and_is_dropped(flood: str) -> None:
    html = f"<a href=/x>x</a>{flood.format(MANY, MANY)}"
    begun = time.process_time()
    content = read_html(html, "utf-8", max_links=10)
    assert time.process_time() - begun < 3
    assert [link.href for link in content.links] == ["/x"]
