"""Service addresses in scripts and configurations."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.page.scripts import addresses_in_code, read_tokens, unescape
from tests.support.pages import read


def found(code: str, *, relative: bool = True) -> list[tuple[str, str]]:
    return [(link.href, link.kind) for link in addresses_in_code(code, "script", relative=relative)]


@pytest.mark.parametrize(
    ("code", "address", "kind"),
    [
        ("L.tileLayer.wms('https://h.org/x/y', {layers: 'base', attribution: '&copy;'})", "https://h.org/x/y", "wms"),
        (
            'new OpenLayers.Layer.WMS("WMS", "http://h.org/s.aspx?id=9&amp;t=w", {layers: "0"})',
            "http://h.org/s.aspx?id=9&t=w",
            "wms",
        ),
        (
            "new ol.source.TileWMS({url: 'http://h.org/cgi-bin/x', params: {LAYERS: '0'}})",
            "http://h.org/cgi-bin/x",
            "wms",
        ),
        ("new ol.source.WMTS({url: 'https://h.org/t/1', layer: 'a'})", "https://h.org/t/1", "wmts"),
        ("new Cesium.WebMapServiceImageryProvider({url : `https://h.org/any`})", "https://h.org/any", "wms"),
        ("new Cesium.WebMapTileServiceImageryProvider({url: '//h.org/any'})", "//h.org/any", "wmts"),
        ("const layer = new WFSLayer({ url: '/local/service' })", "/local/service", "wfs"),
        ('{"catalog": [{"name": "Water", "type": "wms-group", "url": "https://h.org/a"}]}', "https://h.org/a", "wms"),
        ('{"map": {"layers": [{"url": "https://h.org/b", "type": "wms", "name": "r"}]}}', "https://h.org/b", "wms"),
        ('{"layerType": "wmslayer", "url": "https://h.org/c"}', "https://h.org/c", "wms"),
        ('{"soort": "WMS", "adres": "https://h.org/e", "icon": "https://h.org/e.png"}', "https://h.org/e", "wms"),
        (
            'push("[{\\"kind\\":\\"wms\\",\\"to\\":\\"https:\\\\u002F\\\\u002Fh.org\\\\u002Ff\\"}]")',
            "https://h.org/f",
            "wms",
        ),
        ('{"type": "OGC:WFS-1.1.0-http-get", "options": {"url": "https://h.org/d"}}', "https://h.org/d", "wfs"),
        ('var wmsUrl = "https://h.org/e/f"', "https://h.org/e/f", "wms"),
        (r"var u = 'http:\/\/h.org\/geoserver\u002Fows\x3f'", "http://h.org/geoserver/ows?", ""),
        ("tiles: ['https://h.org/a?b={bbox}&service=WMS']", "https://h.org/a?b={bbox}&service=WMS", ""),
        ("L.tileLayer.wms('https://{s}.h.org/cgi-bin/x')", "https://a.h.org/cgi-bin/x", "wms"),
        ("f({url: flag ? 'https://h.org/wms' : other})", "https://h.org/wms", ""),
        (
            '{"metadataAccessPath": "https://h.org/ows/elevation", "kindOfLayer": "ogcWms"}',
            "https://h.org/ows/elevation",
            "wms",
        ),
        ("new ol.source.TileWMS({legendUrl: 'http://h.org/legend?wms'})", "http://h.org/legend?wms", ""),
        ("var layers = ['wms*Roads*https://h.org/geo/a.cgi*roads']", "https://h.org/geo/a.cgi", "wms"),
        ("var layer = 'Roads|https://h.org/geoserver/ows|roads'", "https://h.org/geoserver/ows", ""),
        (
            "div.innerHTML = \"<img src='https://h.org/geo/wms?REQUEST=GetLegendGraphic&amp;LAYER=a b'> legend\"",
            "https://h.org/geo/wms?REQUEST=GetLegendGraphic&LAYER=a",
            "",
        ),
        ('popup("<a href=/geo/wms?request=GetCapabilities>all</a>")', "/geo/wms?request=GetCapabilities", ""),
        ("tiles: [`https://h.org/geo/wms?layers=${name}&bbox={bbox-epsg-3857}`]", "https://h.org/geo/wms?layers=", ""),
        ("(0,r.jsx)(WMSTileLayer, {layers: 'x', url: 'https://h.org/f'})", "https://h.org/f", "wms"),
        ("o.createElement(p.WMSTileLayer, {url: 'https://h.org/g'})", "https://h.org/g", "wms"),
        ("_c('l-wms-tile-layer', {attrs: {'base-url': 'https://h.org/h'}})", "https://h.org/h", "wms"),
        (
            "new n.A({url: 'https://h.org/i', params: {LAYERS: e, TILED: !0}, serverType: 'geoserver'})",
            "https://h.org/i",
            "wms",
        ),
        ("$.ajax({url: 'https://h.org/j', data: {service: 'WFS', typename: t}})", "https://h.org/j", "wfs"),
        ("axios.get('https://h.org/k', {params: {service: 'WCS'}})", "https://h.org/k", "wcs"),
        ("fetch('https://h.org/l?' + new URLSearchParams({service: 'WFS'}))", "https://h.org/l?", "wfs"),
        ('var layers = [["Roads", "WMS", "https://h.org/m/n", "roads"]]', "https://h.org/m/n", "wms"),
        (
            '{"wmslayers": [{"url": "https://h.org/o", "legend": [{"url": "https://h.org/p?q=1"}]}]}',
            "https://h.org/o",
            "wms",
        ),
        ("const base = window.location.origin; go(base + '/geo/wms?map=')", "/geo/wms?map=", ""),
        ("go(location.protocol + '//' + location.host + '/geo/wms')", "/geo/wms", ""),
        ("go(document.location.protocol + '//h.org/geo/wms')", "//h.org/geo/wms", ""),
    ],
)
def test_viewers_of_many_makes_are_understood(code: str, address: str, kind: str) -> None:
    assert found(code) == [(address, kind)]


@pytest.mark.parametrize(
    "code",
    [
        "var host = 'https://h.org'; var base = host + '/geo'; go(base + \"/wms?map=\" + name)",
        "const host = `https://h.org`; go(`${host}/geo/wms?map=${name}`)",
        "var config = {host: 'https://h.org/geo'}; go(config.host + '/wms?map=')",
        "const at = new URL('/geo/wms?map=', 'https://h.org')",
        "const host = 'https://h.org/app/'; go(new URL(`/geo/wms?map=`, host).href)",
        "this.root = 'https://h.org/geo'; go(this.root + '/wms?map=' + x)",
        "function show() { go(host + '/geo/wms?map=') } var host = 'https://h.org'",
        "var app = {server: {host: 'https://h.org/geo'}}; go(app.server.host + '/wms?map=')",
    ],
)
def test_texts_are_joined_as_far_as_they_are_known(code: str) -> None:
    assert found(code) == [("https://h.org/geo/wms?map=", "")]


@pytest.mark.parametrize(
    "code",
    [
        "// new WMSLayer({url: 'http://h.org/wms'})",
        "/* 'http://h.org/wms' */",
        "L.tileLayer('https://{s}.tile.h.org/{z}/{x}/{y}.png')",
        "new ol.source.TileWMS({attributions: 'http://h.org/copy', legendUrl: 'http://h.org/legend?id=4'})",
        '{"type": "wms", "metadataUrl": "http://h.org/record/4"}',
        '{"type": "wms", "homepage": "http://h.org/about"}',
        '{"soort": "wms", "van": "http://h.org/a", "bij": "http://h.org/b"}',
        "new WMSLayer({url: `http://h.org/${workspace}/wms`})",
        "fetch(server + '/wms')",
        '{"type": "geojson", "url": "http://h.org/data"}',
        '{"wms": {"type": "image", "url": "http://h.org/picture"}}',
        "var shop = 'http://shop.org/basket?id=1'",
        "go(location.protocol + '//' + location.hostname + ':8080/geo/wms')",
        "openPopup(wmsInfo, 'https://h.org/about')",
        "function f() { const params = {service: 'WFS'}; var url = 'https://h.org/about' }",
        '{"data": {"layers": []}, "url": "https://h.org/about"}',
        '["https://h.org", "geo", "wms"].join("/")',
        "new t.A({url: 'https://h.org/tiles', params: {token: 1}})",
    ],
)
def test_what_is_no_service_is_left_alone(code: str) -> None:
    assert found(code) == []


def test_a_slash_may_begin_a_regular_expression() -> None:
    assert found("""s.replace(/["'\\/]/g, ''); var u = "http://h.org/wms"; x = a / b; v = 'http://h.org/wfs'""") == [
        ("http://h.org/wms", ""),
        ("http://h.org/wfs", ""),
    ]


@pytest.mark.parametrize(
    ("code", "address"),
    [
        ('show(location.origin + "/geoserver/wms?")', "/geoserver/wms?"),
        ("show(`${window.location.protocol}//${window.location.host}/geoserver/wms?`)", "/geoserver/wms?"),
        ("var at = document.location.protocol + '//h.org/geoserver/wms?'", "//h.org/geoserver/wms?"),
    ],
)
def test_the_pages_own_host_and_protocol_are_no_unknown_parts(code: str, address: str) -> None:
    assert found(code, relative=False) == [(address, "")]


def test_files_give_no_addresses_that_hang_on_the_page() -> None:
    code = "new WMSLayer({url: '../cgi-bin/wms'}); new WMSLayer({url: '/cgi-bin/wms'})"
    assert found(code) == [("../cgi-bin/wms", "wms"), ("/cgi-bin/wms", "wms")]
    assert found(code, relative=False) == [("/cgi-bin/wms", "wms")]


def test_titles_beside_an_address_become_its_anchor() -> None:
    (link,) = addresses_in_code('{"title": "Rivers", "type": "wms", "url": "https://h.org/a"}', "json")
    assert (link.anchor, link.where) == ("Rivers", "json")


def test_inline_scripts_and_configurations_of_pages_are_read() -> None:
    document = read(
        "<script>L.tileLayer.wms('/cgi-bin/roads')</script><script src=/js/x.js></script>"
        '<script type="application/ld+json">{"@type": "DataDownload", "encodingFormat": "WMS", '
        '"contentUrl": "http://h.org/a?b=1"}</script><div id=map data-wms-url="/d?e=1" '
        'data-config=\'{"layers":[{"type":"wms","url":"http://h.org/c"}]}\'></div>'
    )
    assert [(link.where, link.url.address, link.kind) for link in document.links] == [
        ("script", "http://h.example/cgi-bin/roads", "wms"),
        ("json-ld", "http://h.org/a?b=1", "wms"),
        ("data-attribute", "http://h.example/d?e=1", "wms"),
        ("data-attribute", "http://h.org/c", "wms"),
    ]


def test_script_files_and_json_files_are_read_for_addresses_only() -> None:
    script = read("L.tileLayer.wms('http://h.org/a/b'); go('http://h.org/page.html')", "application/javascript")
    assert [(link.where, link.url.address) for link in script.links] == [("script-file", "http://h.org/a/b")]
    assert script.text == ""
    layers = {"title": "Soil", "layers": [{"type": "wms", "url": "http://h.org/c"}], "home": "http://h.org/page"}
    config = read(json.dumps(layers), "application/json")
    assert [(link.where, link.url.address, link.kind) for link in config.links] == [("json", "http://h.org/c", "wms")]


_CODE = st.lists(
    st.sampled_from(
        [
            '"',
            "'",
            "`",
            "${",
            "}",
            "{",
            "(",
            ")",
            "/",
            "/*",
            "//",
            "\\",
            "+",
            ":",
            "?",
            "url",
            "wms",
            "http://h/",
            "[",
            "\n",
        ]
    ),
    max_size=60,
).map("".join)


@given(_CODE)
def test_any_code_is_read_to_its_end(code: str) -> None:
    assert all(token.text is not None for token in read_tokens(code))
    assert all(link.where == "script" for link in addresses_in_code(code, "script"))


@given(
    st.text(
        alphabet=st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"], exclude_characters="\0\b\f"),
        max_size=50,
    )
)
def test_json_texts_are_unescaped_as_json_does(text: str) -> None:
    """But for what no address holds: three control characters, and characters that take two escapes."""
    assert unescape(json.dumps(text)[1:-1]) == text
