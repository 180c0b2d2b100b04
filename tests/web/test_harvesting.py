"""Other catalogues harvest this one: records of other standards, one by one and page by page."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from pathlib import Path

import pytest
from lxml import etree
from rdflib import Graph, URIRef
from rdflib.namespace import DCAT, RDF, Namespace
from starlette.testclient import TestClient

from geocrawl.export.iso import RECORDS
from geocrawl.web.records.metadata import FORMS
from tests.web.conftest import Serve

ITEMS = "/collections/services/items"
HYDRA = Namespace("http://www.w3.org/ns/hydra/core#")


def graph(client: TestClient, address: str, **headers: str) -> Graph:
    """Return the statements of an answer."""
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200, answer.text
    return Graph().parse(data=answer.content, format=answer.headers["content-type"].partition(";")[0])


def test_a_harvester_of_dcat_reads_every_service_page_by_page(client: TestClient) -> None:
    total = client.get(ITEMS, params={"limit": 1}).json()["numberMatched"]
    seen, address, pages = set[str](), f"{ITEMS}?f=dcat&limit=9", 0
    while address:
        page, pages = graph(client, address), pages + 1
        seen |= {str(each) for each in page.subjects(RDF.type, DCAT.DataService)}
        address = "".join(map(str, page.objects(None, HYDRA.next)))
    assert len(seen) == total > 18 and pages == total // 9 + 1


def test_dcat_of_one_service_leads_to_its_page(client: TestClient) -> None:
    by_name = graph(client, f"{ITEMS}/3?f=dcat")
    for other in (
        graph(client, f"{ITEMS}/3?f=jsonld"),
        graph(client, f"{ITEMS}/3", Accept="text/turtle"),
        graph(client, f"{ITEMS}/3", Accept="application/ld+json, text/html;q=0.5"),
    ):
        assert other.isomorphic(by_name)
    landing = by_name.value(URIRef("urn:geocrawl:service:3"), DCAT.landingPage)
    assert landing == URIRef(f"http://localhost{ITEMS}/3")
    assert client.get(str(landing), headers={"Accept": "text/html"}).status_code == 200
    assert client.get(f"{ITEMS}/999?f=dcat").status_code == 404


def test_links_of_records_lead_to_the_public_address(serve: Serve, crawled: Path) -> None:
    there = graph(serve(crawled, public_url="https://maps.example.org/catalogue"), f"{ITEMS}/3?f=dcat")
    assert list(there.objects(None, DCAT.landingPage)) == [URIRef(f"https://maps.example.org/catalogue{ITEMS}/3")]


@pytest.mark.parametrize("form", RECORDS)
def test_iso_is_given_of_one_service_and_of_a_search(client: TestClient, form: str) -> None:
    answer = client.get(f"{ITEMS}/3?f={form}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/xml")
    record = etree.fromstring(answer.content)
    assert f"http://localhost{ITEMS}/3" in "".join(map(str, record.itertext()))
    found = [each["id"] for each in client.get(ITEMS, params={"q": "water"}).json()["features"]]
    archive = zipfile.ZipFile(io.BytesIO(client.get(ITEMS, params={"q": "water", "f": form}).content))
    assert archive.namelist() == [f"service-{number}.xml" for number in found] != []
    assert client.get(f"{ITEMS}/999?f={form}").status_code == 404


def test_a_record_leads_to_itself_in_other_standards(client: TestClient) -> None:
    links = client.get(f"{ITEMS}/3").json()["links"]
    others = {each["href"] for each in links if each["rel"] == "alternate"}
    assert {f"http://localhost{ITEMS}/3?f={form}" for form in ("dcat", "iso19139", "iso19115-3")} < others
    assert all(client.get(each).status_code == 200 for each in others)


@pytest.mark.parametrize("form", FORMS)
def test_hostile_texts_harm_no_record(serve: Serve, catalogue: Path, form: str) -> None:
    writer = sqlite3.connect(catalogue, isolation_level=None)
    hostile = "]]> & <a> \x01\x1b[31m\uffff \u202e http://a.example/wms?api_key=s3cr3t"
    contact = json.dumps({"person": hostile, "email": hostile})
    writer.execute(
        "UPDATE service SET title = ?, abstract = ?, provider = ?, fees = ?, keywords = ?, contact = ?",
        (hostile, hostile * 20_000, hostile, hostile, json.dumps([hostile]), contact),
    )
    writer.close()
    body = serve(catalogue).get(f"{ITEMS}/3?f={form}").content
    assert b"s3cr3t" not in body and b"\x1b" not in body
    if form in RECORDS:
        assert len(body) < 100_000 and etree.fromstring(body) is not None
    else:
        Graph().parse(data=body, format="turtle" if form == "dcat" else "json-ld")
