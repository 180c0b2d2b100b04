"""Tolerant reading: each fault is read over and named, nothing is fetched or blown up, and no bytes make it fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocrawl.formats.xml import Cut, TagCount, read_xml
from geocrawl.model import Status, Verdict
from tests.support.answers import CAPABILITIES, interview, page

GOOD = CAPABILITIES.encode()
DECLARATION, _, REST = CAPABILITIES.partition("\n")
OLD = (
    CAPABILITIES.replace("WMS_Capabilities", "WMT_MS_Capabilities")
    .replace('version="1.3.0" xmlns="http://www.opengis.net/wms"', 'version="1.1.1"')
    .replace("CRS>", "SRS>")
)


def verdict_of(body: bytes, content_type: str = "text/xml") -> Verdict:
    return interview({"*": page(body, content_type=content_type)})[0]


def codes(body: bytes, content_type: str = "text/xml") -> list[str]:
    """The deviations with which a body is accepted and its service read whole."""
    verdict = verdict_of(body, content_type)
    assert verdict.status is Status.VALID, (verdict.reason, verdict.detail)
    assert verdict.service is not None
    assert [layer.name for layer in verdict.service.layers] == ["", "major", "", "gravel"]
    return [deviation.code for deviation in verdict.deviations]


def title(body: bytes) -> str:
    service = verdict_of(body).service
    assert service is not None
    return service.title


def test_a_good_document_has_no_deviation() -> None:
    assert codes(GOOD) == []
    assert codes(OLD.encode(), "application/vnd.ogc.wms_xml") == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"\xef\xbb\xbf" + GOOD, "bom"),
        (b"\xff\xfe" + GOOD, "false-bom"),
        (b"\n\n  " + GOOD, "space-before"),
        (b"Content-Type: text/xml; charset=UTF-8\r\nX-Powered-By: CGI\r\n\r\n" + GOOD, "http-headers"),
        (b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n" + GOOD, "http-headers"),
        (b"<br />\n<b>Warning</b>:  mysql_connect() in <b>/x.php</b> on line <b>3</b><br />\n" + GOOD, "junk-before"),
        (REST.encode(), "no-declaration"),
        (b"msLoadMap warning\n" + REST.encode(), "junk-before"),
        (GOOD.replace(b"Fees>none<", b"Fees>a & b<"), "bare-ampersand"),
        (GOOD.replace(b"Fees>none<", b"Fees>a\x02b&#7;<"), "control-characters"),
        (GOOD.replace(b"Fees>none<", b"Fees>a&nbsp;b&eacute;<"), "html-entities"),
        (GOOD.replace(b' xmlns:xlink="http://www.w3.org/1999/xlink"', b""), "undefined-prefix"),
        (GOOD.replace(b'<Layer queryable="1">', b'<Layer queryable="1" queryable="1">'), "duplicate-attribute"),
        (GOOD.replace(b' xmlns="http://www.opengis.net/wms"', b""), "namespace-missing"),
        (GOOD.replace(b"http://www.opengis.net/wms", b"http://www.opengis.net/WMS"), "namespace-wrong"),
        (GOOD.replace(b"WMS_Capabilities", b"wms_capabilities"), "root-case"),
        (GOOD.replace(b' version="1.3.0"', b""), "no-version"),
        (GOOD.replace(b'version="1.3.0"', b'version="1.1.1"'), "root-name"),
        (GOOD + b"<!-- x --><html><p>Advertisement</html>", "junk-after"),
        (GOOD.replace(b"</WMS_Capabilities>", b""), "truncated-tail"),
        (GOOD.replace(b"</Capability></WMS_Capabilities>", b"</Capab"), "truncated-tail"),
        (GOOD.replace(b"</Capability></WMS_Capabilities>", b""), "truncated-tail"),
        (GOOD.replace(b"<Fees>none</Fees>", b"<Fees>none</fees>"), "not-well-formed"),
    ],
)
def test_each_fault_is_read_over_and_named(body: bytes, code: str) -> None:
    assert code in codes(body)


@pytest.mark.parametrize("content_type", ["text/html; charset=UTF-8", "text/plain", "application/octet-stream", ""])
def test_a_wrong_content_type_is_noted(content_type: str) -> None:
    assert codes(GOOD, content_type) == ["content-type"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_read_with_and_without_a_mark(encoding: str) -> None:
    body = CAPABILITIES.replace("UTF-8", "UTF-16").encode(encoding)
    if encoding != "utf-32":
        assert title(body) == "Roads of Härjedalen"
        assert "wrong-charset" not in codes(body)


def test_a_single_byte_document_that_says_utf_16_is_read() -> None:
    body = CAPABILITIES.replace("UTF-8", "utf-16").encode()
    assert codes(body) == ["wrong-charset"]
    assert title(body) == "Roads of Härjedalen"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("Wege im Flächennutzungsplan, Übersicht", "windows-1252"), ("全国道路地图服务，地理信息", "gb18030")],
)
def test_a_false_charset_label_is_seen_through(text: str, encoding: str) -> None:
    body = CAPABILITIES.replace("Roads of Härjedalen", text).encode(encoding)
    assert codes(body) == ["wrong-charset"]
    assert title(body) == text


def test_a_charset_of_the_header_helps_where_the_document_says_a_wrong_one() -> None:
    body = CAPABILITIES.replace("Roads of Härjedalen", "Drogi Łódź").encode("iso-8859-2")
    verdict = verdict_of(body, "text/xml; charset=iso-8859-2")
    assert verdict.service is not None
    assert verdict.service.title == "Drogi Łódź"


def test_a_header_that_contradicts_a_good_document_is_noted() -> None:
    assert codes(GOOD, "text/xml; charset=iso-8859-1") == ["charset-conflict"]
    assert title(GOOD) == "Roads of Härjedalen"


def test_every_element_prefixed_is_no_fault() -> None:
    body = GOOD.replace(b"<", b"<w:").replace(b"<w:/", b"</w:").replace(b"<w:?", b"<?").replace(b"xmlns=", b"xmlns:w=")
    assert codes(body) == []


def test_a_doctype_is_named_and_never_fetched() -> None:
    subset = "[<!ELEMENT VendorSpecificCapabilities EMPTY>]"
    doctype = f'<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://192.0.2.1/never.dtd" {subset}>\n'
    body = OLD.replace("?>\n", f"?>\n{doctype}", 1).encode()
    (deviation,) = verdict_of(body).deviations
    assert (deviation.code, deviation.detail) == ("doctype", "names http://192.0.2.1/never.dtd, not fetched")


def test_an_entity_of_an_undefined_name_beside_a_doctype_is_not_lost() -> None:
    doctype = '<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://192.0.2.1/never.dtd">\n'
    body = OLD.replace("?>\n", f"?>\n{doctype}", 1).replace("Roads of", "Roads&eacute; of").encode()
    assert title(body) == "Roadsé of Härjedalen"
    assert "html-entities" in codes(body)


def test_entities_are_replaced_only_where_harmless() -> None:
    subset = '<!DOCTYPE x [<!ENTITY who "Road Office">]>'
    body = f"{DECLARATION}\n{subset}{REST}".replace("Roads of", "&who;, of").encode()
    assert title(body) == "Road Office, of Härjedalen"
    assert {"doctype", "entities"} <= set(codes(body))
    outside = body.replace(b"]>", b'<!ENTITY file SYSTEM "file:///etc/hostname">]>').replace(b"&who;,", b"&who;&file;,")
    verdict = verdict_of(outside)
    assert (verdict.status, verdict.reason, verdict.service) == (Status.INVALID, "external-entity", None)
    assert {"doctype", "entities", "external-entity"} <= {each.code for each in verdict.deviations}


def test_an_entity_bomb_stays_small() -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    body = f'{DECLARATION}\n<!DOCTYPE x [<!ENTITY l0 "ha">{levels}]>{REST}'.replace("Roads of", "&l11;").encode()
    assert len(title(body)) < 100


def test_a_document_cut_inside_its_layers_is_rejected() -> None:
    for mark in (
        b"<Layer queryable",
        b"<Name>gravel",
        b"Gravel roads",
        b"</Layer></Layer>",
        b"</Layer>\n</Layer>",
        b"\n</Layer></Capability>",
    ):
        verdict = verdict_of(GOOD[: GOOD.index(mark) + 3])
        assert (verdict.status, verdict.reason) == (Status.INVALID, "truncated"), mark


def test_a_document_cut_before_its_layers_is_rejected() -> None:
    assert verdict_of(GOOD[: GOOD.index(b"<Layer>")]).reason == "truncated"
    assert verdict_of(GOOD[: GOOD.index(b"<Fees>")]).reason == "truncated"


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("<WMS_Capabilities></WMS_Capabilities>", Cut.NOT),
        ("<html>", Cut.NOT),
        ("<a:WFS_Capabilities version='1.0", Cut.INSIDE),
        ("<WMS_Capabilities><Capability><Layer><Title>x", Cut.INSIDE),
        ("<WMS_Capabilities><Capability><Layer/>", Cut.AFTER_ITEMS),
        ("<WMS_Capabilities><Capability><Layer></Layer></Capa", Cut.AFTER_ITEMS),
        ("<WMS_Capabilities><Capability><Layer></Layer><Lay", Cut.INSIDE),
        ("<WMS_Capabilities><Capability><Layer></Layer><!-- <Layer> -->", Cut.AFTER_ITEMS),
        ("<WMS_Capabilities><Capability><Layer><![CDATA[</Layer></Capability>]]>", Cut.INSIDE),
        ("<a:WMS_Capabilities><a:Capability><a:Layer></a:Layer>", Cut.AFTER_ITEMS),
        ("<WMS_Capabilities><Capability><Request/>", Cut.INSIDE),
        ("<wfs:WFS_Capabilities><FeatureTypeList><FeatureType>", Cut.INSIDE),
        ("<wfs:WFS_Capabilities><FeatureTypeList><FeatureType/>", Cut.INSIDE),
        ("<wfs:WFS_Capabilities><wfs:FeatureTypeList></wfs:FeatureTypeList><ogc:Filter", Cut.AFTER_ITEMS),
        ("<Capabilities xmlns='http://www.opengis.net/wmts/1.0'><Contents><Layer/><TileMatrix", Cut.INSIDE),
        ("<Capabilities xmlns='http://www.opengis.net/wmts/1.0'><Contents></Contents>", Cut.AFTER_ITEMS),
        ("<Capabilities xmlns='http://www.opengis.net/sos/2.0'><ows:OperationsMetadata></ows:Oper", Cut.INSIDE),
        ("<a:Capabilities xmlns:a='http://www.opengis.net/cat/csw/2.0.2'><o:OperationsMetadata>", Cut.INSIDE),
        (
            "<a:Capabilities xmlns:a='http://www.opengis.net/cat/csw/2.0.2'></o:OperationsMetadata><ogc:Fil",
            Cut.AFTER_ITEMS,
        ),
        ("<WCS_Capabilities><ContentMetadata/>", Cut.AFTER_ITEMS),
        ("<TileMapService><TileMaps><TileMap>", Cut.INSIDE),
    ],
)
def test_where_a_document_was_cut_is_told_by_its_text(text: str, cut: Cut) -> None:
    whole = TagCount()
    whole.add(text)
    assert whole.cut is cut
    for size in (1, 7):  # in pieces
        tags = TagCount()
        for start in range(0, len(text), size):
            tags.add(text[start : start + size])
        assert tags.cut is cut


def test_a_deep_document_is_no_danger() -> None:
    body = GOOD.replace(b"<Layer><Title>All", b"<Layer>" * 5000 + b"<Title>All")
    assert verdict_of(body).status in (Status.VALID, Status.INVALID)


@pytest.mark.parametrize(
    "piece",
    [b"<!--", b"<![CDATA[", b"<Layer a='", b"&a", b"<!DOCTYPE ", b"<!ENTITY a '", b"<", b"&#x", b"<Layer>", b"<?xml "],
)
def test_hostile_repetition_is_rejected(piece: bytes) -> None:
    """In time in proportion to its length: a quadratic reader runs into the suite's time limit."""
    body = GOOD[: GOOD.index(b"<Fees>")] + piece * (1_000_000 // len(piece))
    assert verdict_of(body).status is Status.INVALID


@given(st.binary(max_size=300), st.text(max_size=40))
def test_no_bytes_make_it_fail(body: bytes, content_type: str) -> None:
    read_xml(body, content_type)
    verdict_of(body, content_type)


@given(st.data())
@settings(max_examples=150)
def test_no_damage_to_a_document_makes_it_fail(data: st.DataObject) -> None:
    body = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        length = data.draw(st.integers(0, 40))
        body[at : at + length] = data.draw(st.binary(max_size=20))
    verdict = verdict_of(bytes(body))
    assert (verdict.service is None) == (verdict.status is Status.INVALID)


@given(st.integers(0, len(GOOD) - 1))
def test_a_cut_document_is_accepted_only_behind_its_layers(end: int) -> None:
    verdict = verdict_of(GOOD[:end])
    last_layer = GOOD.rindex(b"</Layer>") + len(b"</Layer>")
    # With another layer, for all that can be told, until their parent is closed.
    may_go_on = GOOD[:end].endswith(b"<") and b"</Capability>" not in GOOD[:end]
    assert (verdict.status is Status.VALID) == (end >= last_layer and not may_go_on)


@pytest.mark.shared
@given(data=st.data())
@settings(max_examples=60)
def test_no_damage_to_a_real_document_makes_it_fail(shared: Path, data: st.DataObject) -> None:
    files = sorted(p for p in (shared / "corpus" / "documents" / "wms").iterdir() if p.stat().st_size < 30_000)
    body = bytearray(data.draw(st.sampled_from(files)).read_bytes())
    at = data.draw(st.integers(0, len(body) - 1))
    body[at : at + data.draw(st.integers(0, 200))] = data.draw(st.binary(max_size=30))
    verdict_of(bytes(body[: data.draw(st.integers(0, len(body)))]))


def test_a_fault_in_one_layer_costs_neither_the_layer_nor_the_service() -> None:
    """OWSLib raises on a legend without width, and on invalid numbers."""
    legend = b"<Style><Name>red</Name><LegendURL><Format/></LegendURL></Style>"
    body = GOOD.replace(b'<Layer queryable="1">', b'<Layer queryable="maybe" cascaded="x">' + legend)
    assert codes(body) == []
