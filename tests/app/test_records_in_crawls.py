"""Crawls follow sitemaps that robots.txt names and catalogues that they meet, by themselves."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.app.recorded_web import Answer, Answers, environment
from tests.page.test_records import TWO, answer
from tests.support.pages import url

SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, max_pages=1000, workers=1)
PAGE = ("text/html", b"<title>About</title><p>Opening hours.")
CAPABILITIES = (
    b'<?xml version="1.0"?><csw:Capabilities xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" version="2.0.2" '
    b'xmlns:ows="http://www.opengis.net/ows"><ows:ServiceIdentification><ows:Title>Records</ows:Title>'
    b"<ows:ServiceType>CSW</ows:ServiceType><ows:ServiceTypeVersion>2.0.2</ows:ServiceTypeVersion>"
    b'</ows:ServiceIdentification><ows:OperationsMetadata><ows:Operation name="GetRecords"/>'
    b"</ows:OperationsMetadata></csw:Capabilities>"
)


def crawl(web: Answers, path: Path, seed: str, strategy: str) -> None:
    settings = replace(SETTINGS, strategy=strategy)
    run_crawl(settings, path, [url(seed)], observer=LogObserver(log_to()), environment=environment(web))


def asked(path: Path) -> dict[str, str]:
    """Address of each endpoint that was named → the signal."""
    with open_readonly(path) as connection:
        rows = connection.execute("SELECT url, signal FROM endpoint JOIN evidence ON endpoint_id = endpoint.id")
        return dict(rows.fetchall())


@pytest.mark.parametrize("strategy", ["bfs", "gws", "best-first"])
def test_a_sitemap_that_only_robots_txt_names_is_read_once(tmp_path: Path, strategy: str) -> None:
    sitemap = (
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://s.example/hidden</loc></url>"
        "<url><loc>http://s.example/ows?service=WMS&amp;request=GetCapabilities</loc></url></urlset>"
    )
    web = Answers(
        {
            "s.example/robots.txt": ("text/plain", b"Sitemap: http://s.example/maps.xml\n"),
            "s.example/": ("text/html", b"<a href='/a'>a</a><a href='/b'>b</a>"),
            **{f"s.example/{name}": PAGE for name in ("a", "b", "hidden")},
            "s.example/maps.xml": ("application/xml", sitemap.encode()),
        }
    )
    crawl(web, tmp_path / "c.db", "http://s.example/", strategy)
    assert web.asked.count("s.example/maps.xml") == 1
    assert "s.example/hidden" in web.asked
    assert "s.example/sitemap.xml" not in web.asked, "it is not guessed"
    assert asked(tmp_path / "c.db") == {"http://s.example/ows": "sitemap"}


def test_a_sitemap_in_gzip_is_read_whatever_its_name_and_no_other_archive(tmp_path: Path) -> None:
    index = "<sitemapindex><sitemap><loc>/list.gz</loc></sitemap><sitemap><loc>/all.zip</loc></sitemap></sitemapindex>"
    listed = b"http://s.example/hidden\nhttp://s.example/data.gz\n"
    web = Answers(
        {
            "s.example/robots.txt": ("text/plain", b"Sitemap: http://s.example/maps.gz\n"),
            "s.example/": PAGE,
            "s.example/hidden": PAGE,
            "s.example/maps.gz": ("application/octet-stream", gzip.compress(index.encode())),
            "s.example/list.gz": ("application/x-gzip", gzip.compress(listed)),
        }
    )
    crawl(web, tmp_path / "c.db", "http://s.example/", "bfs")
    assert set(web.asked) == {"s.example/", "s.example/maps.gz", "s.example/list.gz", "s.example/hidden"}


@pytest.mark.parametrize("strategy", ["bfs", "gws"])
def test_a_catalogue_that_a_probe_finds_is_read_to_its_end(tmp_path: Path, strategy: str) -> None:
    def catalogue(query: str) -> Answer:
        """Two pages of records: the second one points back to the first, as looping servers do."""
        if "GetRecords" not in query:
            return "application/xml", CAPABILITIES
        start, following = (1, 3) if "startPosition=1&" in query else (3, 1)
        records = TWO.replace("lakes", f"lakes{start}")
        return "application/xml", answer(records, nextRecord=following, numberOfRecordsMatched=4).encode()

    page = ("text/html", b"<a href='/csw?service=CSW&request=GetCapabilities'>x</a>")
    web = Answers({"c.example/": page, "c.example/csw": catalogue})
    crawl(web, tmp_path / "c.db", "http://c.example/", strategy)
    pages = [each for each in web.asked if "GetRecords" in each]
    assert [each.partition("startPosition=")[2].partition("&")[0] for each in pages] == ["1", "3"]
    found = asked(tmp_path / "c.db")
    assert found["http://m.example/maps/lakes1"] == found["http://m.example/maps/lakes3"] == "csw-record"


def records_api(query: str) -> Answer:
    """Nine records in three pages that are named by tokens; the server believes that it is asked by http."""
    number = int(query.partition("cursor=t")[2] or 0)
    features = [
        {
            "type": "Feature",
            "id": f"r{each}",
            "properties": {"type": "Feature Service", "title": f"Record {each}"},
            "links": [{"rel": "item", "href": f"http://m.example/s{each}/wms", "protocol": "OGC:WMS"}],
        }
        for each in range(3 * number, 3 * number + 3)
    ]
    following = f"http://r.example/api/collections/main/items?f=json&cursor=t{number + 1}"
    links = [{"rel": "next", "href": following}] if number < 2 else []
    page = {"type": "FeatureCollection", "numberMatched": 9, "features": features, "links": links}
    return ("application/geo+json", json.dumps(page).encode())


@pytest.mark.parametrize("seed", ["https://r.example/", "https://r.example/api/collections/main/items?f=json"])
def test_records_by_tokens_are_pages_of_one_api_that_stands_once(tmp_path: Path, seed: str) -> None:
    page = b"<a href='/api/collections/main/items?f=json&cursor=t0'>Our records</a>"
    collection = {
        "id": "main",
        "itemType": "record",
        "links": [{"rel": "items", "href": "/api/collections/main/items?f=json", "type": "application/geo+json"}],
    }
    collections = json.dumps({"links": [], "collections": [collection]}).encode()
    landing = {"links": [{"rel": rel, "href": f"/api/{rel}"} for rel in ("conformance", "data")]}
    web = Answers(
        {
            "r.example/": ("text/html", page),
            "r.example/api": ("application/json", json.dumps(landing).encode()),
            "r.example/api/data": ("application/json", collections),
            "r.example/api/collections/main/items": records_api,
        }
    )
    crawl(web, tmp_path / "c.db", seed, "bfs")
    found = asked(tmp_path / "c.db")
    assert {f"http://m.example/s{number}/wms" for number in range(9)} <= found.keys()
    assert [each for each in found if "r.example" in each] == ["https://r.example/api"]
