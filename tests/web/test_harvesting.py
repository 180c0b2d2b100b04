"""Other catalogues harvest this one: records of other standards, one by one and page by page."""

from __future__ import annotations

import io
import json
import re
import shutil
import sqlite3
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from rdflib import Graph, URIRef
from rdflib.namespace import DCAT, RDF, Namespace
from starlette.testclient import TestClient

from geocrawl.app.harvest import run_harvest
from geocrawl.app.session import Environment
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.demo import DemoWeb
from geocrawl.export.iso import RECORDS
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.robots import RobotsRules
from geocrawl.lab.recorded_worlds.replay import ReplayClock, ReplayTransport, Response, error_page
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database.database import open_readonly
from geocrawl.web.records import oai
from geocrawl.web.records.metadata import FORMS
from tests.support.pages import url
from tests.web.conftest import Serve, served

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


class OwnCatalogue:
    """A web that has this catalogue at catalogue.example and nothing else."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self.asked: list[str] = []

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """The answer to a GET."""
        if host != "catalogue.example":
            return error_page(404)
        self.asked.append(target)
        answer = self._client.get(target)
        return Response(answer.status_code, list(answer.headers.items()), answer.content, "page")


def test_robots_may_read_the_whole_catalogue_at_every_address_that_the_docs_offer(client: TestClient) -> None:
    rules = RobotsRules(client.get("/robots.txt").text, "geocrawl")
    offered = re.findall(r"'http://127\.0\.0\.1:8080(/[^']+)'", Path("docs/harvesting.md").read_text(encoding="utf-8"))
    assert len(offered) > 5
    assert all(rules.allows(f"http://c.example{path}") is ("?q=" not in path) for path in offered)
    forms = [f"{ITEMS}?f={form}&{rest}" for form in ("json", *FORMS) for rest in ("limit=9", "offset=20&limit=9")]
    assert all(rules.allows(f"http://c.example{path}") for path in [*forms, f"{ITEMS}?limit=9&offset=9&f=json"])
    assert not rules.allows(f"http://c.example{ITEMS}?kind=wms&f=json")


@pytest.mark.parametrize("start", ["/", ITEMS, f"{ITEMS}?limit=9"])
def test_geocrawl_harvests_its_own_catalogue_whole(serve: Serve, crawled: Path, tmp_path: Path, start: str) -> None:
    client = serve(crawled, public_url="http://catalogue.example")
    web, clock = OwnCatalogue(client), ReplayClock()
    environment = Environment(clock, ReplayTransport(web, clock), lambda: 0)
    at = url(f"http://catalogue.example{start}")
    settings = Settings(delay_s=0.0, maps=False)
    report = run_harvest(settings, tmp_path / "h.db", at, observer=LogObserver(log_to()), environment=environment)
    pages = [each for each in web.asked if each.startswith(ITEMS)]
    records = client.get(ITEMS, params={"limit": 1000}).json()["features"]
    with open_readonly(tmp_path / "h.db") as connection:
        rows = connection.execute("SELECT kind, key FROM endpoint").fetchall()
    assert len(records) > 10 and len(pages) > 1, "more than one page"
    assert [key for kind, key in rows if key.startswith("catalogue.example")] == ["catalogue.example"]
    assert len(rows) >= 1 + len(records)
    assert [(each.stated, each.read, each.state) for each in report.sources] == [(len(records), len(records), "whole")]
    assert report.is_whole and not report.has_failed


def test_geocrawl_harvests_its_own_catalogue_by_oai_pmh(serve: Serve, crawled: Path, tmp_path: Path) -> None:
    client = serve(crawled, public_url="http://catalogue.example")
    web, clock = OwnCatalogue(client), ReplayClock()
    environment = Environment(clock, ReplayTransport(web, clock), lambda: 0)
    at = url("http://catalogue.example/oai")
    settings = Settings(delay_s=0.0, maps=False)
    run_harvest(settings, tmp_path / "h.db", at, observer=LogObserver(log_to()), environment=environment)
    records = client.get(ITEMS, params={"limit": 1000}).json()["features"]
    with open_readonly(tmp_path / "h.db") as connection:
        (found,) = connection.execute("SELECT count(*) FROM endpoint").fetchone()
    assert found >= len(records) > 10


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


# --------------------------------------------------------------------------- OAI-PMH

OAI = "{http://www.openarchives.org/OAI/2.0/}"


@pytest.fixture
def server(crawled: Path, demo_web: DemoWeb) -> Iterator[str]:
    """The address of a server of the demo's catalogue, whose lists have seven records."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oai, "_PART", 7)
        with served(crawled, demo_web) as address:
            yield f"{address}{oai.PATH}"


def test_sickle_harvests_every_service_in_each_format(server: str, crawled: Path) -> None:
    sickle = pytest.importorskip("sickle", reason="needs sickle: make dev-env").Sickle(server)
    said = sickle.Identify()
    assert (said.protocolVersion, said.deletedRecord, said.granularity) == ("2.0", "transient", "YYYY-MM-DDThh:mm:ssZ")
    with sqlite3.connect(crawled) as connection:
        services = {f"urn:geocrawl:service:{number}" for (number,) in connection.execute("SELECT id FROM service")}
    names = [each.metadataPrefix for each in sickle.ListMetadataFormats()]
    assert names == ["oai_dc", "iso19139", "iso19115-3"]
    for name in names:
        found = [each.header.identifier for each in sickle.ListRecords(metadataPrefix=name)]
        assert len(found) == len(services) > 14 and set(found) == services, "each once, over several answers"
    headers = list(sickle.ListIdentifiers(metadataPrefix="oai_dc", **{"from": said.earliestDatestamp}))
    assert {each.identifier for each in headers} == services
    record = sickle.GetRecord(identifier="urn:geocrawl:service:3", metadataPrefix="oai_dc")
    assert record.metadata["type"] == ["Service"] and record.metadata["title"]


def asked(client: TestClient, **arguments: str) -> etree._Element:
    answer = client.get(oai.PATH, params=arguments)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/xml; charset=utf-8")
    return etree.fromstring(answer.content)


def error(client: TestClient, **arguments: str) -> str:
    (found,) = asked(client, **arguments).iter(f"{OAI}error")
    return str(found.get("code"))


def test_services_with_long_texts_come_in_more_pages(catalogue: Path, serve: Serve) -> None:
    with closing(sqlite3.connect(catalogue)) as writer:
        writer.execute("UPDATE service SET abstract = ?", ["x" * 500_000])
        writer.commit()
        numbers = {row[0] for row in writer.execute("SELECT id FROM service")}
    client, largest = serve(catalogue), 0

    def pages(address: str, following: Callable[[Any], str]) -> Iterator[Any]:
        nonlocal largest
        while address:
            yield (answer := client.get(address))
            largest = max(largest, len(answer.content))
            address = following(answer)

    def named(answer: Any) -> str:
        return next((each["href"] for each in answer.json()["links"] if each["rel"] == "next"), "")

    def hydra(answer: Any) -> str:
        found = re.search(r"hydra:next> *<([^>]+)>|hydra:next <([^>]+)>", answer.text)
        return (found[1] or found[2]).replace("&amp;", "&") if found else ""

    def token(answer: Any) -> str:
        found = re.search(r"<resumptionToken>([^<]+)<", answer.text)
        return f"/oai?verb=ListRecords&resumptionToken={found[1]}" if found else ""

    ids = ",".join(map(str, numbers))
    by_number = [each for page in pages(f"{ITEMS}?limit=200&ids={ids}", named) for each in page.json()["features"]]
    assert sorted(int(each["id"]) for each in by_number) == sorted(numbers)
    turtle = "".join(page.text for page in pages(f"{ITEMS}?f=dcat&limit=1000", hydra))
    assert turtle.count("a dcat:DataService") == len(numbers)
    records = "".join(page.text for page in pages("/oai?verb=ListRecords&metadataPrefix=oai_dc", token))
    assert records.count("<record>") == len(numbers)
    table = client.get(f"{ITEMS}?f=csv")
    assert max(largest, len(table.content)) < 5_000_000 and len(table.content) > 1_000_000


def test_what_the_protocol_does_not_allow_is_named_by_its_code(client: TestClient) -> None:
    list_ = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
    assert error(client) == error(client, verb="Harvest") == "badVerb"
    assert error(client, verb="ListRecords") == error(client, **list_, colour="red") == "badArgument"
    for since, until in (("yesterday", "2026-01-01"), ("2026-02-30", "2026-03-01"), ("2026-02-01", "2026-01-01")):
        assert error(client, **list_, **{"from": since, "until": until}) == "badArgument"
    assert error(client, **list_, **{"from": "2026-01-01", "until": "2026-01-01T00:00:00Z"}) == "badArgument"
    assert error(client, verb="ListRecords", metadataPrefix="marc") == "cannotDisseminateFormat"
    assert error(client, verb="ListSets") == error(client, **list_, set="a") == "noSetHierarchy"
    for token in ("", "oai_dc!1!2", "marc!0!9!9", "oai_dc!0!99999999999999!0", "]]>\x01"):
        assert error(client, verb="ListRecords", resumptionToken=token) == "badResumptionToken"
    assert error(client, **list_, until="2001-01-01") == "noRecordsMatch"
    for name in ("urn:geocrawl:service:99999", "urn:geocrawl:service:x", "17", "\uffff]]>"):
        assert error(client, verb="GetRecord", metadataPrefix="oai_dc", identifier=name) == "idDoesNotExist"


def test_a_service_that_is_no_more_is_a_deleted_record(catalogue: Path, serve: Serve) -> None:
    with Store.open(catalogue, clock=SystemClock()) as store:
        rows = store.connection.execute("SELECT service_id, min(id) FROM endpoint WHERE status = 'valid' GROUP BY 1")
        (present, one), (former, other), *_ = rows.fetchall()
        store.catalog().decide((one, other), same=True, at=store.clock.now())
    client = serve(catalogue)
    for since in ({}, {"from": "2024-01-01"}):
        answer = asked(client, verb="ListIdentifiers", metadataPrefix="oai_dc", **since)
        deleted = [each for each in answer.iter(f"{OAI}header") if each.get("status") == "deleted"]
        assert [each.findtext(f"{OAI}identifier") for each in deleted] == [f"urn:geocrawl:service:{former}"]
    for number, is_deleted in ((former, True), (present, False)):
        name = f"urn:geocrawl:service:{number}"
        (record,) = asked(client, verb="GetRecord", metadataPrefix="iso19139", identifier=name).iter(f"{OAI}record")
        assert (record.find(f"{OAI}metadata") is None) == is_deleted


def test_times_choose_what_has_changed(catalogue: Path, serve: Serve) -> None:
    writer = sqlite3.connect(catalogue, isolation_level=None)
    writer.execute("UPDATE service SET last_ok = 1750000000.7 WHERE id = 3")  # 2025-06-15T15:06:40Z
    writer.close()
    client, list_ = serve(catalogue), {"verb": "ListIdentifiers", "metadataPrefix": "oai_dc"}

    def found(**span: str) -> list[str | None]:
        return [each.text for each in asked(client, **list_, **span).iter(f"{OAI}datestamp")]

    for span in (("2025-06-15", "2025-06-15"), ("2025-06-15T15:06:40Z", "2025-06-15T15:06:40Z")):
        assert found(**{"from": span[0], "until": span[1]}) == ["2025-06-15T15:06:40Z"]
    assert found(until="2025-06-16") == ["2025-06-15T15:06:40Z"]
    assert "2025-06-15T15:06:40Z" not in found(**{"from": "2025-06-15T15:06:41Z"})
    (first,) = asked(client, verb="Identify").iter(f"{OAI}earliestDatestamp")
    assert first.text == "2025-06-15T15:06:40Z"


# --------------------------------------------------------------------------- other programs


@pytest.mark.servers
def test_gdal_reads_every_record(crawled: Path, demo_web: DemoWeb, tmp_path: Path) -> None:
    ogr2ogr = shutil.which("ogr2ogr")
    if ogr2ogr is None:
        pytest.skip("needs GDAL: apt install gdal-bin")

    def read(address: str, *options: str) -> list[object]:
        out = tmp_path / f"{len(options)}.geojson"
        command = [ogr2ogr, "-f", "GeoJSON", str(out), f"OAPIF:{address}", "services", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
        found: list[object] = json.loads(out.read_text("utf-8"))["features"]
        return found

    with sqlite3.connect(crawled) as connection:
        ((services,),) = connection.execute("SELECT count(*) FROM service")
    with served(crawled, demo_web) as address:
        assert len(read(address)) == services > len(read(address, "-where", "type = 'wms'")) > 0
