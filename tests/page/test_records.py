"""Catalogues' answers in XML: what their records name, and which page comes next."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from geocrawl.formats.text import fold
from geocrawl.formats.xml import local_name
from geocrawl.formats.xml import read_xml as read_bytes
from geocrawl.page.metadata import address_in, read_record, records_in
from geocrawl.page.xml import read_xml
from geocrawl.urls import get_records_url
from tests.page.records import following, kinds, named
from tests.support.pages import read, url

CSW = "http://c.example/csw?service=CSW&request=GetRecords&maxRecords=2"


def answer(records: str, **results: object) -> str:
    """A GetRecords answer with these records and attributes of its SearchResults."""
    attributes = " ".join(f'{name}="{value}"' for name, value in results.items())
    return (
        '<?xml version="1.0"?><csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/">'
        f"<csw:SearchResults {attributes}>{records}</csw:SearchResults></csw:GetRecordsResponse>"
    )


def record(number: int, references: str = "") -> str:
    return f"<csw:Record><dc:title>Lake {number}</dc:title>{references}</csw:Record>"


WMS = '<dct:references scheme="OGC:WMS">http://m.example/maps/lakes</dct:references><dc:publisher>Survey</dc:publisher>'
TWO = record(1, WMS) + record(2, WMS)


def next_of(text: str, address: str = CSW) -> list[str]:
    return following(read(text, "application/xml", address))


def test_a_reference_is_a_link_with_its_records_title_publisher_and_kind() -> None:
    link = named(read(answer(TWO), "application/xml", CSW), "m.example")
    assert (link.url.address, link.kind, link.where) == ("http://m.example/maps/lakes", "wms", "csw-record")
    assert (link.anchor, link.context) == ("Lake 1 OGC:WMS", "Survey")


def test_the_next_page_is_the_same_request_with_the_next_start() -> None:
    (page,) = next_of(answer(TWO, nextRecord=3, numberOfRecordsMatched=9, numberOfRecordsReturned=2))
    assert page == f"{CSW}&startPosition=3"
    (page,) = next_of(answer(TWO, nextRecord=5, numberOfRecordsMatched=9), f"{CSW}&STARTPOSITION=3")
    assert page == f"{CSW}&STARTPOSITION=5"


@pytest.mark.parametrize("following", [0, 1, 3])
def test_a_next_record_that_does_not_grow_has_no_say_before_the_total_is_reached(following: int) -> None:
    text = answer(TWO, numberOfRecordsMatched=9, numberOfRecordsReturned=2, nextRecord=following)
    assert next_of(text, f"{CSW}&startPosition=3") == [f"{CSW}&startPosition=5"]
    assert next_of(text, f"{CSW}&startPosition=8") == []


def test_a_server_that_points_past_the_end_has_no_next_page() -> None:
    assert next_of(answer(TWO, numberOfRecordsMatched=9, numberOfRecordsReturned=2, nextRecord=10)) == []


def test_a_thin_first_page_makes_no_later_one_smaller() -> None:
    (page,) = next_of(answer(TWO, nextRecord=3, numberOfRecordsMatched=9), CSW.replace("Records=2", "Records=50"))
    assert page == f"{CSW.replace('Records=2', 'Records=50')}&startPosition=3"


def test_a_page_without_records_ends_a_list_unless_its_next_record_is_within_the_total() -> None:
    assert next_of(answer("", nextRecord=0, numberOfRecordsMatched=99, numberOfRecordsReturned=0)) == []
    assert next_of(answer("", nextRecord=5, numberOfRecordsMatched=9, numberOfRecordsReturned=0)) == []
    (page,) = next_of(answer("", nextRecord=51, numberOfRecordsMatched=99, numberOfRecordsReturned=0))
    assert page == f"{CSW}&startPosition=51"


def test_without_a_next_record_the_page_itself_is_counted() -> None:
    (page,) = next_of(answer(TWO, numberOfRecordsMatched=9, numberOfRecordsReturned=2))
    assert page.endswith("startPosition=3")
    assert next_of(answer(TWO, numberOfRecordsMatched=2, numberOfRecordsReturned=2)) == []


def test_records_without_any_address_are_asked_for_in_iso_19139() -> None:
    bare = answer(record(1) + record(2), nextRecord=3, numberOfRecordsMatched=9)
    (page,) = next_of(bare)
    assert "outputSchema=http://www.isotc211.org/2005/gmd" in page
    (page,) = next_of(bare, page)
    assert "outputSchema=http://www.isotc211.org/2005/gmd" in page
    assert page.endswith("startPosition=3")


def test_records_in_dcat_are_read() -> None:
    dcat = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dcat="http://www.w3.org/ns/dcat#">'
        "<dcat:Dataset><dct:title>Lakes</dct:title><dcat:distribution><dcat:Distribution><dct:format>WMS</dct:format>"
        '<dcat:accessURL rdf:resource="http://m.example/ows"/></dcat:Distribution></dcat:distribution></dcat:Dataset>'
        "</rdf:RDF>"
    )
    document = read(answer(dcat, nextRecord=0), "application/xml", CSW)
    assert kinds(document) == {("wms", "http://m.example/ows")}
    assert named(document, "m.example").anchor == "Lakes WMS"


def test_capabilities_of_a_catalogue_lead_to_its_first_page() -> None:
    text = '<?xml version="1.0"?><c:Capabilities xmlns:c="http://www.opengis.net/cat/csw/3.0" version="3.0.0"/>'
    address = "http://c.example/csw?map=x&service=CSW&request=GetCapabilities"
    assert next_of(text, address) == [get_records_url(url(address), version="3.0.0").address]
    assert next_of(text.replace("cat/csw/3.0", "wmts/1.0"), address) == []


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ckanext-spatial_wales1.xml", {("wms", "http://inspire.wales.gov.uk/maps/Protected_sites/wms?")}),
        ("geotools_CSW_PortalU_ServiceInstanz.xml", {("csw", "http://www.portalu.de/csw?")}),
        (
            "geotools_ServiceInstanceEUSTAT.xml",
            {("wms", "http://mapserver.jrc.it/wmsconnector/com.esri.wms.Esrimap/img2k_321_mos?")},
        ),
        (
            "pycsw_metawal_wallonie_be-catchments.xml",
            {
                ("arcgis", "https://geoservices.wallonie.be/arcgis/rest/services/EAU/PROTECT_CAPT/MapServer"),
                (
                    "wms",
                    "https://geoservices.wallonie.be/arcgis/services/EAU/PROTECT_CAPT/MapServer/WMSServer"
                    "?request=GetCapabilities&service=WMS",
                ),
            },
        ),
        ("owslib_iso19139_srv.xml", {("wfs", "https://geoservices.bayern.de/wfs/v1/ogc_alkis_ave.cgi?")}),
    ],
)
def test_recorded_metadata_records_name_their_services(shared: Path, name: str, expected: set[tuple[str, str]]) -> None:
    document = read((shared / "corpus/documents/other" / name).read_bytes(), "application/xml")
    assert kinds(document) == expected
    assert all(link.anchor for link in document.links if link.kind)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("owslib_inspire-getrecords-response.xml", {"wms": 2}),
        ("pycsw_post_Harvest-zzz-post-GetRecords-filter-sos-iso.xml", {"sos": 2}),
        ("pycsw_post_Harvest-zzz-post-GetRecords-filter-wfs-iso.xml", {"wfs": 2}),
        ("owslib_csw_dov_getrecordbyid.xml", {"wms": 3, "wfs": 3}),
        ("terriajs_ReferencesWithoutProtocol.xml", {"wms": 5, "wcs": 2}),
    ],
)
def test_recorded_answers_of_catalogues_name_their_services(shared: Path, name: str, count: dict[str, int]) -> None:
    document = read((shared / "corpus/documents/other" / name).read_bytes(), "application/xml", CSW)
    found = kinds(document)
    assert {kind: sum(1 for each, _ in found if each == kind) for kind in count} == count
    assert {link.where for link in document.links if link.kind} == {"csw-record"}


@pytest.mark.parametrize(
    "text",
    [
        answer("<Record>" * 200 + "<x/>" * 60_000),
        answer("<Record>" + "<URI>http://a.example/c</URI>" * 60_000 + "</Record>"),
        "<MD_Metadata xmlns='x'>"
        + "<CI_OnlineResource><linkage>http://a.example/</linkage></CI_OnlineResource>" * 20_000,
        "<feed>" + "<offering><operation href='http://a.example/'/>" * 200 + "<x/>" * 60_000,
    ],
)
def test_hostile_records_cost_no_more_than_their_length(text: str) -> None:
    begun = time.process_time()
    read(text, "application/xml", CSW)
    assert time.process_time() - begun < 5.0


@given(
    st.lists(st.sampled_from([record(1, WMS), "<csw:Record>", "</csw:Record>", "<gmd:CI_OnlineResource>", "&x;", "\0"]))
)
def test_any_soup_of_records_is_read(soup: list[str]) -> None:
    read_xml(answer("".join(soup), nextRecord="x", numberOfRecordsReturned="-1"), url(CSW), max_links=50)


# --------------------------------------------------------------------------- against OWSLib


def iso_of(record: etree._Element) -> tuple[str, str, set[str]]:
    """Title, organisation and addresses of a record in ISO 19139 or 19115-3, as OWSLib reads them."""
    from owslib import iso, iso3

    module = iso if "isotc211.org/2005" in record.tag else iso3
    found = module.MD_Metadata(record)
    titles = [each.title for each in found.identification]
    online = [each for each in found.distribution.online if each.url] if found.distribution else []
    for each in found.identification:
        online += [point for operation in getattr(each, "operations", ()) for point in operation["connectpoint"]]
    organisation = next((each.organization for each in found.contact), None)
    return titles[0], organisation or "", {address_in(each.url) for each in online if each.url}


def dublin_core_of(record: etree._Element) -> tuple[str, str, set[str]]:
    """The same of a record in Dublin Core."""
    from owslib.catalogue.csw2 import CswRecord

    found = CswRecord(record)
    listed = [*found.references, *found.uris]
    return found.title or "", found.publisher or found.creator or "", {address_in(each["url"] or "") for each in listed}


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore")
def test_of_each_recorded_record_all_is_read_that_owslib_reads(shared: Path) -> None:
    count, more = 0, 0
    for file in sorted((shared / "corpus/documents/other").glob("*.xml")):
        root = read_bytes(file.read_bytes(), "").root
        for record in records_in(root) if root is not None else ():
            is_iso = local_name(record) in ("MD_Metadata", "MI_Metadata")
            title, organisation, addresses = iso_of(record) if is_iso else dublin_core_of(record)
            links = read_record(record, "record")
            found = {link.href for link in links}
            assert addresses - {""} <= found, file.name
            assert all(fold(title, 300) in link.anchor for link in links), file.name
            assert all(fold(organisation, 100) in link.context for link in links), file.name
            count, more = count + 1, more + len(found - addresses)
    assert count == 21
    assert more >= 5, "contacts, documentation, and the record's own page"
