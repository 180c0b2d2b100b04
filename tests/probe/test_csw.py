"""CSW: versions, types of record, and the first page of records."""

from __future__ import annotations

from geocrawl.model import Item, Kind, Status
from geocrawl.urls import RECORDS, get_records_url
from tests.probe.kinds import ADDRESS, interview, verdict_on
from tests.support.answers import EXCEPTION, page, url

CSW = """<?xml version="1.0"?><csw:Capabilities version="2.0.2" xmlns:csw="http://www.opengis.net/cat/csw/2.0.2"
 xmlns:ows="http://www.opengis.net/ows"><ows:ServiceIdentification><ows:Title>Geoportal</ows:Title>
</ows:ServiceIdentification>
<ows:ServiceProvider><ows:ProviderName>Survey</ows:ProviderName></ows:ServiceProvider>
<ows:OperationsMetadata><ows:Operation name="GetRecords"><ows:Parameter name="TypeName">
<ows:Value>csw:Record</ows:Value>
<ows:Value>gmd:MD_Metadata</ows:Value></ows:Parameter><ows:Parameter name="outputFormat">
<ows:Value>application/xml</ows:Value>
</ows:Parameter></ows:Operation></ows:OperationsMetadata></csw:Capabilities>"""
CSW_3 = CSW.replace("2.0.2", "3.0", 2).replace('version="3.0"', 'version="3.0.0"')


def test_types_of_record_are_its_items() -> None:
    verdict = verdict_on(Kind.CSW, CSW)
    assert (verdict.status, verdict.deviations) == (Status.VALID, ())
    assert verdict.service is not None
    assert [(layer.name, layer.item) for layer in verdict.service.layers] == [
        ("csw:Record", Item.RECORD_TYPE),
        ("gmd:MD_Metadata", Item.RECORD_TYPE),
    ]
    assert verdict.service.formats == ("application/xml",)


def test_a_valid_one_leads_to_its_first_page_of_records() -> None:
    (link,) = verdict_on(Kind.CSW, CSW).pages
    assert (link.anchor, link.context, link.where) == ("Geoportal", "Survey", RECORDS)
    assert link.url == get_records_url(url(ADDRESS), version="2.0.2")
    assert "REQUEST=GetRecords" in link.url.address


def test_version_2_is_asked_first_and_an_answer_in_version_3_is_harvested_as_such() -> None:
    answers = {"2.0.2": page(EXCEPTION.format("3.0.0 only"), status=400), "": page(CSW_3)}
    verdict, asked = interview(Kind.CSW, answers)
    assert (verdict.status, asked) == (Status.VALID, ["2.0.2", ""])
    assert verdict.service is not None
    assert verdict.service.version == "3.0.0"
    assert verdict.pages[0].url == get_records_url(url(ADDRESS), version="3.0.0")


def test_a_document_in_a_file_has_no_pages_of_records() -> None:
    verdict, _ = interview(Kind.CSW, {"plain": page(CSW)}, "http://maps.example.org/capabilities.xml")
    assert (verdict.status, verdict.pages) == (Status.VALID, ())


def test_a_rejected_one_has_no_pages() -> None:
    assert verdict_on(Kind.CSW, EXCEPTION.format("no")).pages == ()
