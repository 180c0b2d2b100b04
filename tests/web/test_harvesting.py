"""Other catalogues harvest this one: records of other standards, one by one and page by page."""

from __future__ import annotations

from pathlib import Path

from rdflib import Graph, URIRef
from rdflib.namespace import DCAT, RDF, Namespace
from starlette.testclient import TestClient

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
