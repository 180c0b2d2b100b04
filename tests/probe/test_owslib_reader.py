"""What OWSLib reads of capabilities: the same as a reader of our own did, of every recorded document."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from geocrawl.model import Kind, Service
from geocrawl.probe.ows.owslib_reader import Operations, mended, read_operations, read_service
from tests.probe.kinds import documents, verdict_on

DESCRIPTIONS = Path(__file__).parents[1] / "expectations" / "corpus_descriptions.json"
"""Fields of each document, as a reader of our own took them by the names of elements, before OWSLib read any."""
KINDS = (Kind.WMS, Kind.WFS, Kind.WMTS, Kind.WCS, Kind.CSW, Kind.WPS, Kind.SOS, Kind.TMS)


def short(value: Any) -> Any:
    """The value, or a hash of a long one."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value if len(text) <= 80 else f"sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}"


@pytest.mark.shared
@pytest.mark.parametrize("kind", KINDS)
def test_owslib_reads_of_every_recorded_document_what_our_own_reader_did(shared: Path, kind: Kind) -> None:
    expected = json.loads(DESCRIPTIONS.read_text("utf-8"))
    for file in documents(shared, kind):
        service = verdict_on(kind, file.read_bytes()).service
        assert service is not None
        assert service.read_by == "owslib"
        found = {name: getattr(service, name) for name in ("title", "abstract", "provider", "fees")}
        found |= {name: getattr(service, name) for name in ("access_constraints", "online_resource")}
        found |= {"content_address": service.content_address, "contact": dict(service.contact)}
        found |= {"keywords": list(service.keywords), "formats": list(service.formats)}
        wanted = expected.pop(f"{kind}/{file.name}")
        assert {name: short(value) for name, value in found.items() if value} == wanted, file.name
    assert not [name for name in expected if name.startswith(f"{kind}/")]


def service_of(text: str, kind: Kind, version: str = "") -> Service:
    return read_service(etree.fromstring(text), kind, version)


def operations_of(text: str, kind: Kind) -> Operations:
    return read_operations(etree.fromstring(text), kind)


def test_a_title_in_a_second_language_is_read_when_the_first_is_empty() -> None:
    service = service_of(
        '<Capabilities xmlns:o="http://www.opengis.net/ows/1.1" version="1.0.0"><o:ServiceIdentification>'
        "<o:Title/><o:Title>Roads</o:Title></o:ServiceIdentification></Capabilities>",
        Kind.WMTS,
    )
    assert (service.title, service.read_by) == ("Roads", "owslib")


def test_a_wms_of_1_0_is_read_with_its_one_text_of_keywords_and_its_address_as_text() -> None:
    text = (
        "<WMT_MS_Capabilities version='1.0.0'><Service><Title>Roads</Title><Keywords>lake road</Keywords>"
        "<OnlineResource>http://a.example/</OnlineResource></Service><Capability><Request><Map><Format><PNG/><GIF/>"
        "</Format><DCPType><HTTP><Get onlineResource='http://a.example/map?'/></HTTP></DCPType></Map></Request>"
        "</Capability></WMT_MS_Capabilities>"
    )
    service, operations = service_of(text, Kind.WMS, "1.0.0"), operations_of(text, Kind.WMS)
    assert (service.title, service.keywords, service.online_resource) == (
        "Roads",
        ("lake", "road"),
        "http://a.example/",
    )
    assert operations.address("GetMap", "Map") == "http://a.example/map?"
    assert operations.values("Map", "format") == ("PNG", "GIF")


def test_a_wcs_of_1_0_without_fees_and_without_a_party_is_read() -> None:
    service = service_of(
        '<WCS_Capabilities xmlns="http://www.opengis.net/wcs"><Service><label>Heights</label></Service>'
        "</WCS_Capabilities>",
        Kind.WCS,
        "1.0.0",
    )
    assert (service.title, service.fees, service.contact) == ("Heights", "", {})


@pytest.mark.parametrize("ows", ["http://www.opengis.net/ows", "http://www.opengis.net/ows/1.1", "urn:wrong"])
@pytest.mark.parametrize("around", ["<o:AllowedValues>{}</o:AllowedValues>", "{}"])
def test_parameters_are_read_in_each_form_of_ows_common(ows: str, around: str) -> None:
    values = around.format("<o:Value>a</o:Value><o:Value>b</o:Value>")
    text = (
        f"<Capabilities xmlns:o='{ows}' xmlns:x='http://www.w3.org/1999/xlink'><o:OperationsMetadata>"
        "<o:Operation Name='GetFeature'><o:DCP><o:HTTP><o:Get x:href='http://a.example/?'/>"
        "<o:Post x:href='http://a.example/post'/></o:HTTP></o:DCP>"
        f"<o:Parameter name='outputformat'>{values}</o:Parameter></o:Operation>"
        f"<o:Operation name='GetTile'/><o:Parameter name='version'>{values}</o:Parameter>"
        "</o:OperationsMetadata></Capabilities>"
    )
    operations = operations_of(text, Kind.WFS)
    assert operations.address("getfeature") == "http://a.example/?"
    assert [each.url for each in operations.listed[0].addresses] == ["http://a.example/?", "http://a.example/post"]
    assert operations.values("GetFeature", "outputFormat") == ("a", "b")
    assert operations.values("GetTile", "VERSION") == ("a", "b")
    assert operations.values("GetTile", "outputFormat") == ()


def test_of_an_operation_with_many_parts_only_so_many_are_read() -> None:
    many = "<Value>a</Value>" * 200_000
    operation = f"<Operation name='O'><Parameter name='p'>{many}</Parameter></Operation>"
    text = f"<C><OperationsMetadata>{operation}</OperationsMetadata></C>"
    assert sum(1 for _ in mended(etree.fromstring(text)[0]).iter()) <= 50_001
    assert operations_of(text, Kind.WFS).values("O", "p") == ("a",)


OF_SECTIONS = ("Service", "ServiceIdentification", "ServiceProvider", "ContactInformation", "responsibleParty", "label")
OF_OPERATIONS = ("OperationsMetadata", "Operation", "Parameter", "Constraint", "AllowedValues", "Value", "Capability")
OF_REQUESTS = ("Request", "GetMap", "DCPType", "DCP", "HTTP", "Get", "Post", "OnlineResource", "Format", "ResultFormat")
NAMES = st.sampled_from((*OF_SECTIONS, *OF_OPERATIONS, *OF_REQUESTS, "Keywords", "Title"))
TREES = st.recursive(
    NAMES.map(lambda name: f"<{name} name='a'>b&#1;</{name}>") | NAMES.map(lambda name: f"<{name}/>"),
    lambda inner: st.tuples(NAMES, st.lists(inner, max_size=4)).map(lambda t: f"<{t[0]}>{''.join(t[1])}</{t[0]}>"),
    max_leaves=25,
)


@given(TREES, st.sampled_from(KINDS))
def test_no_tree_of_known_elements_makes_owslib_raise(tree: str, kind: Kind) -> None:
    parser = etree.XMLParser(recover=True)
    root = etree.fromstring(f"<Capabilities>{tree}</Capabilities>", parser)
    assert read_service(root, kind, "1.0.0").read_by == "owslib"
    assert isinstance(read_operations(root, kind), Operations)


def test_nobody_hears_what_owslib_lacks(capfd: pytest.CaptureFixture[str]) -> None:
    root = etree.fromstring("<WFS_Capabilities version='1.0.0'><Service><Title>a</Title></Service></WFS_Capabilities>")
    assert read_service(root, Kind.WFS, "1.0.0").read_by == "owslib"
    assert capfd.readouterr() == ("", "")
