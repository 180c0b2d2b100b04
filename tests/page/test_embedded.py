"""Service addresses in fields, attributes and comments, words beside links, and linked scripts."""

from __future__ import annotations

import json

import pytest

from geocrawl.model import ADDRESS_ONLY, SCRIPT_SRC, Document, Kind
from geocrawl.page.document import PageReader
from geocrawl.page.naming import kind_in_name, kind_in_phrase, may_be_program, may_be_service
from geocrawl.page.script_files import files_of_script
from tests.support.pages import page, read, url


def found(html: str) -> list[tuple[str, str, str]]:
    return [(link.where, link.url.address, link.kind) for link in read(html).links]


@pytest.mark.parametrize(
    ("html", "where"),
    [
        ("<input name=url value='http://h.org/a/wms?'>", "input"),
        ("<textarea>The address: http://h.org/a/wms</textarea>", "textarea"),
        ('<textarea>{"url": "http://h.org/a/wms"}</textarea>', "textarea"),
        ("<select><option value='http://h.org/a/wms'>Roads</option></select>", "option"),
        ("<base href='http://h.org/x/'><select><option value='/a/wms'>Roads</option></select>", "option"),
        ("<object data='http://h.org/a/wms'></object>", "object"),
        ("<embed src='http://h.org/a/wms'>", "embed"),
        ("<meta itemprop=contentUrl content='http://h.org/a/wms'>", "microdata"),
        ("<p data-layer-url='http://h.org/a/wms'>x</p>", "data-attribute"),
        ("<p data-x='{&quot;url&quot;: &quot;http:\\/\\/h.org\\/a\\/wms&quot;}'>x</p>", "data-attribute"),
        ("<!-- <a href='http://h.org/a/wms'>off</a> -->", "comment"),
        ('<script type="application/json">{"u": "http://h.org/a/wms"}</script>', "json"),
    ],
)
def test_every_part_of_a_page_may_hold_a_service(html: str, where: str) -> None:
    ((place, address, _),) = found(html)
    assert (place, address.rstrip("?")) == (where, "http://h.org/a/wms")


@pytest.mark.parametrize(
    "html",
    [
        "<input value='http://h.org/search?q=1'><textarea>http://h.org/letter</textarea>",
        "<select><option value='/de/'>Deutsch</option></select><p data-href='/page'>x</p>",
        "<meta itemprop=image content='http://h.org/a.png'><!-- http://h.org/old -->",
    ],
)
def test_ordinary_addresses_there_are_left_alone(html: str) -> None:
    assert found(html) == []


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ("<p>WMS service: <a href='http://h.org/cgi-bin/r1'>http://h.org/cgi-bin/r1</a></p>", "wms"),
        ("<p>WMS服务：<a href='/s.aspx?id=4'>点击这里</a></p>", "wms"),
        ("<p>WFS-Dienst: <a href='/s.aspx?id=4'>OGC WMS 1.3.0</a></p>", "wfs"),
        ("<p><a href='/s.php?id=4'>Web Map Service (WMS)</a></p>", "wms"),
        ("<p><a href='/s.php?id=4'>WMS服务</a></p>", "wms"),
        ("<p><a href='/s.php?id=4'>WMS 仓储模块 2</a></p>", ""),
        ("<p><a href='/s.php?id=4'>Roads of Bern WMS</a></p>", ""),
        ("<p>What a WMS is: <a href='/intro.html'>read</a></p>", ""),
        ("<p>We sell a WMS for your store. <a href='/shop?id=4'>Buy</a></p>", ""),
    ],
)
def test_words_beside_a_link_name_the_kind_of_what_may_be_a_program(html: str, kind: str) -> None:
    ((_, _, named),) = found(html)
    assert named == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("wmsUrl", "wms"), ("ol.source.TileWMS", "wms"), ("OGC:WMS-1.3.0-http-get-map", "wms"), ("wmslayer", "wms")),
        *(("WebMapTileServiceImageryProvider", "wmts"), ("esri-mapServer", "arcgis"), ("WMS-C", "wmsc")),
        *(("webpack", ""), ("forms", ""), ("warmstart", ""), ("geojson", ""), ("x" * 100 + "wms", "")),
        *((name, str(each)) for each in Kind for name in each.called),
    ],
)
def test_names_in_code_say_a_kind(name: str, kind: str) -> None:
    assert kind_in_name(name) == kind


def test_the_head_of_a_column_or_a_row_names_the_kind_of_the_addresses_in_its_cells() -> None:
    table = (
        "<table><thead><tr><th>Name</th><th colspan=2>Topic</th><th>WMS</th><th>WFS URL</th></tr></thead>"
        "<tr><td>Roads<td>a<td>b<td><a href=/serve.ashx?x=1>link</a><td>http://f.example/serve.exe</tr>"
        "<tr><td>Lakes<td>a<td>b<td><a href=/help/maps.html>link</a><td>http://f.example/read.html</tr></table>"
        "<table><tr><th>Web Map Service</th><td><a href=/serve.ashx?x=2>here</a></table>"
        "<table><tr><th>Format</th><td><a href=/serve.ashx?x=3>here</a></table>"
    )
    kinds = {link.url.address.partition("://")[2]: link.kind for link in read(table).links}
    assert kinds == {
        "h.example/serve.ashx?x=1": "wms",
        "h.example/help/maps.html": "",
        "h.example/serve.ashx?x=2": "wms",
        "h.example/serve.ashx?x=3": "",
        "f.example/serve.exe": "wfs",
    }


def test_phrases_say_the_kind_that_they_name_last() -> None:
    assert kind_in_phrase("WFS and WMS-Dienst: ") == "wms"
    assert kind_in_phrase("Web Feature Service") == "wfs"
    assert kind_in_phrase("rooms, wms.html and http://wms.org/") == ""


def test_addresses_remind_of_services_or_programs() -> None:
    assert may_be_service("http://h.org/arcgis/rest/services")
    assert not may_be_service("http://h.org/windows/rooms")
    assert may_be_program("/cgi-bin/x")
    assert not may_be_program("http://h.org/")
    assert not may_be_program("http://h.org/a/page.html")


# --------------------------------------------------------------------------- linked scripts


def scripts_of(html: str, limit: int = 5) -> list[str]:
    document: Document = PageReader(max_scripts=limit).read(page(html), depth=0)
    return [link.url.address for link in document.links if link.where == SCRIPT_SRC]


def test_names_order_scripts_and_forbid_none_but_libraries() -> None:
    html = "".join(f"<script src='/d/{name}'></script>" for name in ("menu.js", "jquery.min.js", "map0.js?v=3"))
    assert scripts_of(html) == ["http://h.example/d/map0.js", "http://h.example/d/menu.js"]
    assert scripts_of(html, limit=1) == ["http://h.example/d/map0.js"]
    assert scripts_of(html, limit=0) == []


def test_scripts_of_the_site_come_before_the_cut_and_those_of_the_page_first() -> None:
    others = "".join(f"<script src='https://cdn{n}.example.org/layers{n}.js'></script>" for n in range(9))
    html = others + "<script src=/layers.js></script><script src=app/start.js></script>"
    assert scripts_of(html, limit=2) == ["http://h.example/d/app/start.js", "http://h.example/layers.js"]


def test_data_without_a_telling_name_is_read_where_a_map_is_shown() -> None:
    html = "<script>load('data/stations.json'); load('package.json'); load('layers.json')</script>"
    assert scripts_of(html) == ["http://h.example/d/layers.json"]
    assert scripts_of(f"<div id='map'></div>{html}") == [
        "http://h.example/d/layers.json",
        "http://h.example/d/data/stations.json",
    ]


@pytest.mark.parametrize(
    "src",
    [
        *("/lib/ol.js", "/lib/OpenLayers-2.13.1.min.js", "/leaflet/leaflet-src.js", "/js/jquery-ui-1.12.custom.min.js"),
        *("/map/bootstrap.bundle.min.js", "/node_modules/map/map.js", "/js/map.css", "/js/proj4js-compressed.js"),
        *("https://cdn.other.org/map/config.js", "//unpkg.other.net/layers.js"),
    ],
)
def test_libraries_and_other_sites_are_not_fetched(src: str) -> None:
    assert scripts_of(f"<script src='{src}'></script>") == []


def test_configurations_are_named_in_attributes_and_scripts() -> None:
    html = (
        "<div data-config='/config/layers5.json'></div>"
        "<script>var app = load('conf/mapConfig.json?x=1'); other('/data/people.json')</script>"
    )
    assert scripts_of(html) == [
        "http://h.example/d/conf/mapConfig.json?x=1",
        "http://h.example/config/layers5.json",
        "http://h.example/data/people.json",
    ]


def test_each_file_is_chosen_once() -> None:
    assert scripts_of("<script src='a/map.js?v=1'></script><script src='a/map.js?v=2'></script>") == [
        "http://h.example/d/a/map.js"
    ]


def test_a_script_names_modules_beside_it_and_data_beside_its_page() -> None:
    code = "import {a} from './layers.js'; import('/lib/ol.js'); map = L.map('m'); fetch('config/layers.json', 'a.xml')"
    files = files_of_script(code, url("http://h.example/app/static/js/main.js"))
    assert [link.href for link in files] == [
        "http://h.example/app/config/layers.json",
        "http://h.example/app/static/js/layers.js",
        "http://h.example/app/a.xml",
    ]
    assert len(files_of_script("".join(f"'layers{n}.json' " for n in range(50)), url("http://h.example/a.js"))) == 5


@pytest.mark.parametrize(
    ("markup", "address", "kind"),
    [
        (
            "<a href='https://b.org/stac-browser/#/external/c.org/x/catalog.json'>c</a>",
            "https://c.org/x/catalog.json",
            "stac",
        ),
        ("<a href='https://b.org/stac-browser/#/external/c.org/v1?.language=en'>c</a>", "https://c.org/v1", "stac"),
        ("<a href='https://b.org/stac-browser/#/external/http:/c.org/v1/'>c</a>", "http://c.org/v1/", "stac"),
        ("<a href='https://b.org/stac-browser/#/c.org/v1/'>c</a>", "https://c.org/v1/", "stac"),
        (
            "<a href='https://stacindex.b.org/external/c.org/v1/collections/x'>c</a>",
            "https://c.org/v1/collections/x",
            "stac",
        ),
        ("<a href='v.html#url=http://c.org/geoserver/wms'>c</a>", "http://c.org/geoserver/wms", ""),
        ("<a href='v.html#url=http%3A%2F%2Fc.org%2Fgeoserver%2Fwms'>c</a>", "http://c.org/geoserver/wms", ""),
        ("<a href=\"javascript:add('http://c.org/geoserver/wms')\">c</a>", "http://c.org/geoserver/wms", ""),
        ("<a href='http:// c.org/geoserver/wms'>c</a>", "http://c.org/geoserver/wms", ""),
        ("<a href='http://http://c.org/geoserver/wms'>c</a>", "http://c.org/geoserver/wms", ""),
        ("<a href='maps.c.org/geoserver/wms?service=WMS'>c</a>", "http://maps.c.org/geoserver/wms?service=WMS", ""),
        ("<button onclick=\"copy('http://c.org/geoserver/wms')\">c</button>", "http://c.org/geoserver/wms", ""),
        ("<span title='WMS: http://c.org/dienste/wms'>c</span>", "http://c.org/dienste/wms", "wms"),
        ("<my-map url='http://c.org/geoserver/wms'></my-map>", "http://c.org/geoserver/wms", ""),
        ("<script>var u = 'http%3A%2F%2Fc.org%2Fgeoserver%2Fwms';</script>", "http://c.org/geoserver/wms", ""),
        (
            r'<script>var u = "http:\u002F\u002Fc.org\u002Fgeoserver\u002Fwms";</script>',
            "http://c.org/geoserver/wms",
            "",
        ),
    ],
)
def test_addresses_within_links_and_attributes_are_found(markup: str, address: str, kind: str) -> None:
    found = [link for link in read(markup).links if link.where in ADDRESS_ONLY]
    assert [(link.url.address, link.kind) for link in found] == [(address, kind)]


@pytest.mark.parametrize(
    "href",
    [
        "#top",
        "/a#/b/c.d/e",
        "page.html#section/2",
        "/external/c.org/x",
        "javascript:void(0)",
        "img.2.png/x",
        "http://h.org/#!/a",
    ],
)
def test_ordinary_fragments_and_paths_contain_no_address(href: str) -> None:
    assert [link for link in read(f"<a href='{href}'>c</a>").links if link.where in ADDRESS_ONLY] == []


@pytest.mark.parametrize(
    "values",
    [
        [{"data": 1}, {"list": 2}, [3, 6], {"type": 4, "url": 5}, "WMS", "http://m.example/a", {"type": 4, "url": 7}, "http://m.example/b"],
        [["Reactive", 1], [2, 5], {"kind": 3, "at": 4}, "wms", "http://m.example/a", {"kind": 3, "at": 6}, "http://m.example/b"],
    ],
)  # fmt: skip
def test_data_whose_objects_name_the_places_of_their_members_are_read(values: list[object]) -> None:
    code = json.dumps(values)
    found = read(f'<title>x</title><script type="application/json">{code}</script>').links
    assert [(link.url.address, link.kind) for link in found] == [
        ("http://m.example/a", "wms"),
        ("http://m.example/b", "wms"),
    ]


def test_data_that_contain_themselves_are_read_to_a_bound() -> None:
    code = '[[1,1],[2,2],[0,0],"http://m.example/wms"]'
    found = read(f'<script type="application/json">{code}</script><a href="http://m.example/wms"></a>').links
    assert [link.url.address for link in found] == ["http://m.example/wms"]
