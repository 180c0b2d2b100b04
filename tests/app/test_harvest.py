"""Harvests: pages of records read to their bounds, what they name probed, taken up where they were left."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.app.harvest import find_start, run_harvest
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.crawler.refusals import records_bound
from geocrawl.crawler.report import HARVEST_COLUMNS, HarvestReport, ListCounts
from geocrawl.demo.ows_documents import CapabilitiesContents, capabilities, ows_document
from geocrawl.detect import Detector
from geocrawl.lab.recorded_worlds.replay import Response
from geocrawl.probe.registry import declarations
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from geocrawl.urls import read_url, records_page
from geocrawl.urls.database import DatabaseUrl
from tests.app.recorded_web import Answer, Answers, environment
from tests.page.records import RECORDED
from tests.support.pages import url

CKAN = "https://data.gov.au/data/api/3/action/package_search"
PLACE = "data.gov.au/geoserver/murray-darling-basin-water-resource-plan-areas-surface-water"
BASIN = CapabilitiesContents(
    "Basin", "Areas", ("water",), "MDBA", f"https://{PLACE}/wms", (("a", "Areas"),), (138.5, -37.6, 152.4, -24.5)
)
SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, strategy="bfs")


def catalogue(form: type[Answers] = Answers) -> Answers:
    """The recorded search of data.gov.au, of three pages with a record each, with a WMS and a WFS where it says."""
    recorded = json.loads((RECORDED / "ckan-search.json").read_bytes())

    def page(query: str) -> Answer:
        recorded["result"]["results"][0]["id"] = query.partition("start=")[2].partition("&")[0]
        return "application/json", json.dumps(recorded).encode()

    return form(
        {
            "data.gov.au/data/api/3/action/package_search": page,
            f"{PLACE}/wms": ("text/xml", capabilities(BASIN, "1.3.0").encode()),
            f"{PLACE}/wfs": ("text/xml", ows_document("wfs", BASIN).encode()),
        }
    )


def harvest(
    web: Answers, path: DatabaseUrl, address: str = CKAN, *, since: str = "", max_pages: int = 0, **changes: Any
) -> HarvestReport:
    settings = replace(SETTINGS, **changes)
    within = environment(web)
    counted = replace(within, pages_counted=lambda: sum("package_search" in each for each in web.asked))
    observer = LogObserver(log_to())
    return run_harvest(
        settings, path, url(address), since=since, max_pages=max_pages, observer=observer, environment=counted
    )


def searches(web: Answers) -> list[str]:
    """The start of each page of the search that was asked for."""
    return [each.partition("start=")[2].partition("&")[0] for each in web.asked if "package_search" in each]


def first_rows(address: str) -> str:
    return f"{address}?rows=1&start=0"


def valid(path: Path) -> set[tuple[str, str, str]]:
    """(kind, key, signal) of valid endpoints."""
    with open_readonly(path) as connection:
        rows = connection.execute(
            "SELECT kind, key, signal FROM endpoint JOIN evidence ON endpoint_id = endpoint.id WHERE status = 'valid'"
        )
        return {tuple(row) for row in rows}


def test_a_recorded_ckan_is_read_to_its_end_and_its_services_are_found(tmp_path: Path) -> None:
    web = catalogue()
    report = harvest(web, tmp_path / "c.db", first_rows(CKAN))
    assert (report.summary.pages, report.summary.valid, report.summary.stopped) == (3, 2, "done")
    assert searches(web) == ["0", "1", "2"]
    assert valid(tmp_path / "c.db") == {("wms", f"{PLACE}/wms", "ckan"), ("wfs", f"{PLACE}/wfs", "ckan")}
    assert not [each for each in web.asked if each.endswith(".pdf")]


def test_a_second_harvest_reads_the_pages_again_and_probes_nothing_twice(tmp_path: Path) -> None:
    harvest(catalogue(), tmp_path / "c.db", first_rows(CKAN))
    web = catalogue()
    report = harvest(web, tmp_path / "c.db", first_rows(CKAN))
    assert (report.summary.pages, report.summary.probes) == (3, 0)
    assert searches(web) == ["0", "1", "2"]
    (source,) = report.sources
    assert (source.new, source.known, source.dead, source.waiting) == (0, 2, 0, 0)


def test_a_harvest_tells_what_it_reads_and_ends_with_a_table_of_what_the_records_led_to(tmp_path: Path) -> None:
    """Of three records, 0 and 1 name a WMS each, the second one of no server, and 2 names a file."""
    urls = {"0": f"https://{PLACE}/wms", "1": "https://gone.example/wms", "2": "https://files.example/2.zip"}

    def page(query: str) -> Answer:
        start = query.partition("start=")[2].partition("&")[0]
        record = {"id": start, "title": "Lakes", "resources": [{"url": urls[start]}]}
        return "application/json", json.dumps({"success": True, "result": {"count": 3, "results": [record]}}).encode()

    wms = ("text/xml", capabilities(BASIN, "1.3.0").encode())
    web = Answers({"data.gov.au/data/api/3/action/package_search": page, f"{PLACE}/wms": wms})
    said, lists = io.StringIO(), ListCounts()
    report = run_harvest(
        SETTINGS,
        tmp_path / "c.db",
        url(first_rows(CKAN)),
        observer=LogObserver(log_to(said), lists=lists),
        environment=environment(web),
    )
    (source,) = report.sources
    assert (source.read, source.named, source.new, source.known, source.dead) == (3, 2, 1, 0, 1)
    assert (lists.read, lists.stated) == (3, 3)
    (row,) = report.rows()
    assert dict(zip(HARVEST_COLUMNS, row, strict=True)) == {
        **{"records": 3, "stated": 3, "no service": 1, "new": 1, "known": 0, "dead": 1, "not probed": 0},
        "catalogue": source.address,
    }
    told = said.getvalue()
    assert f"{first_rows(CKAN)} is taken for a page of records." in told
    assert "is CKAN and states 3 records." in told


def test_a_harvest_ends_at_its_bound_and_a_wider_one_goes_beyond_it(tmp_path: Path) -> None:
    web = catalogue()
    report = harvest(web, tmp_path / "c.db", first_rows(CKAN), max_records=2)
    assert searches(web) == ["0", "1"]
    (short,) = report.sources
    assert (short.stated, short.read, short.state, short.reason) == (3, 2, "short", "max-records")
    assert report.has_failed
    assert [line for line in report.lines() if line.startswith("2 of 3 records read: the bound of records")]
    assert harvest(catalogue(), tmp_path / "c.db", since="last").since == "", "a short harvest stores no day"
    wider = catalogue()
    assert harvest(wider, tmp_path / "c.db", first_rows(CKAN)).sources[0].state == "whole"


def test_a_stated_total_is_the_bound_of_a_harvest_instead_of_its_pages(tmp_path: Path) -> None:
    web = catalogue()
    report = harvest(web, tmp_path / "c.db", first_rows(CKAN), max_records_pages=1)
    assert searches(web) == ["0", "1", "2"]
    assert report.is_whole


@pytest.mark.parametrize("is_endless", [True, False])
def test_the_same_page_of_nameless_records_again_ends_a_list_without_a_total(tmp_path: Path, is_endless: bool) -> None:
    def page(query: str) -> Answer:
        start = int(query.partition("start=")[2].partition("&")[0] or 0)
        records = [{"notes": "x" if is_endless else "x" * start}] if is_endless or start < 5 else []
        return "application/json", json.dumps({"success": True, "result": {"results": records}}).encode()

    web = Answers({CKAN.removeprefix("https://"): page})
    harvest(web, tmp_path / "c.db", max_pages=20)
    assert len(dict.fromkeys(searches(web))) == (2 if is_endless else 6)


def test_an_interrupted_harvest_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = catalogue()
    first = harvest(web, tmp_path / "c.db", first_rows(CKAN), max_pages=2, workers=1)
    assert (searches(web), first.summary.stopped) == (["0", "1"], "max-pages")
    rest = catalogue()
    report = harvest(rest, tmp_path / "c.db", first_rows(CKAN))
    assert report.summary.stopped == "done"
    assert searches(rest) == ["2"]
    assert "Continuing with 1 queued page of records: 2 of 3 records read" in capsys.readouterr().err
    assert report.sources[0].new == 2, "what it named before it was interrupted counts"


@pytest.mark.parametrize("status", [429, 503])
def test_a_harvest_waits_out_a_short_retry_after_and_goes_on(tmp_path: Path, status: int) -> None:
    """A server that gives one page in twenty seconds is harvested whole, in one run."""

    class Busy(Answers):
        """Refuses each page once."""

        def respond(self, scheme: str, host: str, target: str) -> Response:
            is_new = "package_search" in target and host + target not in self.asked
            given = super().respond(scheme, host, target)
            refused = given._replace(status=status, headers=[("Retry-After", "20")])
            return refused if is_new else given

    web = catalogue(Busy)
    report = harvest(web, tmp_path / "c.db", first_rows(CKAN), max_pages=10)
    assert (report.summary.stopped, report.is_whole) == ("done", True)
    assert searches(web) == ["0", "0", "1", "1", "2", "2"]


def test_pages_that_a_crawl_left_waiting_are_left_to_the_crawl(tmp_path: Path) -> None:
    web = Answers({"p.example/": ("text/html", b"<a href='/a'>a</a><a href='/b'>b</a>")})
    run_crawl(
        replace(SETTINGS, max_pages=1), tmp_path / "c.db", [url("http://p.example/")], observer=LogObserver(log_to()),
        environment=environment(web),
    )  # fmt: skip
    other = catalogue()
    harvest(other, tmp_path / "c.db", first_rows(CKAN))
    assert not [each for each in other.asked if each.startswith("p.example")]


def test_since_asks_for_what_changed_and_last_means_the_last_whole_harvest(tmp_path: Path) -> None:
    web = catalogue()
    assert harvest(web, tmp_path / "c.db", since="2024-05-01").since == "2024-05-01"
    assert "fq=metadata_modified:%5B2024-05-01T00:00:00Z%20TO%20*%5D" in web.asked[0]
    assert harvest(catalogue(), tmp_path / "c.db", since="last").since == "2025-01-01"


@pytest.mark.shared
def test_a_recorded_arcgis_folder_leads_to_its_services(tmp_path: Path, shared: Path) -> None:
    root, folder = "sampleserver6.arcgisonline.com/arcgis/rest/services", shared / "corpus/documents/arcgis"
    names = ("911CallsHotspotMS/MapServer", "CensusMS/MapServer", "CommunityAddressingMS/MapServer")
    answers = {f"{root}/{name}": (folder / f"terriajs_{name.partition('/')[0]}.json").read_bytes() for name in names}
    answers[root] = (folder / "terriajs_services.json").read_bytes()
    web = Answers({place: ("application/json", body) for place, body in answers.items()})
    harvest(web, tmp_path / "c.db", f"https://{root}?f=json")
    found = {key for kind, key, signal in valid(tmp_path / "c.db") if kind == "arcgis" and signal != "given"}
    assert {f"{root}/{name}" for name in names} <= found


# --------------------------------------------------------------------------- where it begins


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("https://c.example/csw", "https://c.example/csw?SERVICE=CSW&REQUEST=GetRecords&VERSION=2.0.2"),
        ("https://g.example/geonetwork/srv/ger/catalog.search", "https://g.example/geonetwork/srv/eng/csw?SERVICE=CSW"),
        ("https://d.example/api/3/action/", "https://d.example/api/3/action/package_search?rows=100&start=0"),
        ("https://a.example/portal/sharing/rest", "https://a.example/portal/sharing/rest/search?q="),
        ("https://s.example/stac/catalog.json", "https://s.example/stac/catalog.json"),
        ("https://x.example/catalog.rdf", "https://x.example/catalog.rdf"),
    ],
)
def test_a_catalogue_is_known_by_its_address(given: str, first: str) -> None:
    found = find_start(url(given), Detector(declarations()).of_url(url(given)))
    assert found.pages[0].address.startswith(first)


def test_a_page_of_records_that_was_given_is_the_first_one() -> None:
    given = url("https://c.example/csw?service=CSW&request=GetRecords&startPosition=21&maxRecords=20")
    assert find_start(given, None).pages == (given,)
    assert records_page(given) == 1


def test_bounds_go_by_the_number_of_a_page() -> None:
    bound = records_bound(replace(SETTINGS, max_records_pages=3, max_records=50))
    pages = {
        start: read_url(f"https://d.example/api/3/action/package_search?rows=20&start={start}") for start in (0, 40, 60)
    }
    assert {start: bound(page) for start, page in pages.items() if page} == {0: "", 40: "", 60: "max-records"}
    assert not bound(url("https://d.example/dataset?page=9000"))


@pytest.mark.parametrize(
    "web",
    [
        Answers({}),
        Answers({"p.example/": ("text/html", b"<p>An ordinary page, with <a href='/a'>a link</a>.</p>")}),
    ],
    ids=["not found", "an ordinary page"],
)
def test_a_page_that_is_no_catalogue_is_not_called_one(tmp_path: Path, web: Answers) -> None:
    report = run_harvest(
        SETTINGS,
        tmp_path / "c.db",
        url("http://p.example/"),
        observer=LogObserver(log_to()),
        environment=environment(web),
    )
    assert report.summary.records == 0
    assert "is this the address of a catalogue" in report.lines()[0]
    assert not [line for line in report.lines() if "all pages" in line]


def documented_families() -> list[list[str]]:
    """The rows of the table of families in docs/harvesting.md."""
    text = (
        (Path(__file__).parents[2] / "docs/harvesting.md")
        .read_text("utf-8")
        .partition("| family |")[2]
        .partition("\n\n")[0]
    )
    rows = [line.strip("|").split("|") for line in text.splitlines()[2:] if line.startswith("|")]
    return [[cell.strip(" `") for cell in row] for row in rows]


@pytest.mark.parametrize("row", documented_families(), ids=lambda row: row[0])
def test_each_documented_family_begins_where_the_table_says(row: list[str]) -> None:
    _, address, first, selects = row
    candidate = Detector(declarations()).of_url(url(address))
    start = find_start(url(address), candidate)
    assert start.pages[0].address.startswith(first)
    assert start.family.partition(" ")[0] in ("CSW" if "/csw" in address else row[0])
    assert find_start(url(address), candidate, since="2024-05-01").since == (selects == "yes")


def test_the_records_of_a_list_that_tokens_page_are_counted_on_each_page(tmp_path: Path) -> None:
    def page(query: str) -> Answer:
        number = int(query.rpartition("=")[2] or 0) if "token" in query else 0
        links = [{"rel": "root", "href": "http://s.example/stac"}]
        links += (
            [{"rel": "next", "href": f"http://s.example/stac/collections?token={number + 1}"}] if number < 2 else []
        )
        service = {"rel": "wms", "href": f"https://{PLACE}/wms", "type": "image/png"}
        collection = {"stac_version": "1.0.0", "id": f"c{number}", "links": [service] if number else []}
        return "application/json", json.dumps(
            {"numberMatched": 3, "links": links, "collections": [collection]}
        ).encode()

    wms = ("text/xml", capabilities(BASIN, "1.3.0").encode())
    web = Answers({"s.example/stac/collections": page, f"{PLACE}/wms": wms})
    (source,) = harvest(web, tmp_path / "c.db", "http://s.example/stac/collections").sources
    assert (source.stated, source.read, source.named, source.state) == (3, 3, 2, "whole")
