"""A search is taken along: as a file, as connections, as a feed, as an address."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import zipfile
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest
from lxml import etree
from starlette.testclient import TestClient

from tests.support.commands import geocrawl
from tests.web.conftest import Serve

HTML = {"Accept": "text/html"}
ITEMS = "/collections/services/items"
WATER = {"q": "water", "kind": "wms"}
ATOM = "{http://www.w3.org/2005/Atom}"


def found(client: TestClient, **asked: str) -> list[int]:
    """Return the numbers of the services that a search finds, best first."""
    return [int(each["id"]) for each in client.get(ITEMS, params={"limit": 100, **asked}).json()["features"]]


def rows(body: bytes) -> list[dict[str, str]]:
    """Return the rows of a table."""
    return list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"))))


def test_a_table_has_the_addresses_of_what_the_search_finds(client: TestClient) -> None:
    answer = client.get(ITEMS, params={**WATER, "f": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="services.csv"'
    table = rows(answer.content)
    assert {int(row["service_id"]) for row in table} == set(found(client, **WATER)) and len(table) > 2
    assert all(row["kind"] == "wms" and row["first_seen"].endswith("Z") and row["west"] for row in table)
    assert len(rows(client.get(ITEMS, params={**WATER, "f": "csv", "limit": "2"}).content)) == 2
    assert {row["service_id"] for row in rows(client.get(ITEMS, params={"ids": "3,4,999", "f": "csv"}).content)} == {
        "3",
        "4",
    }


def test_services_csv_is_the_same_from_the_web_the_command_and_a_published_site(
    client: TestClient, catalogue: Path, tmp_path: Path
) -> None:
    web = client.get(ITEMS, params={**WATER, "limit": "1000", "f": "csv"}).content.removeprefix(b"\xef\xbb\xbf")
    chosen = ("water", "--kind", "wms", "--db", str(catalogue))
    assert geocrawl("export", *chosen, "--out", str(tmp_path / "services.csv"))[0] == 0
    assert geocrawl("publish", *chosen, "--out", str(tmp_path / "site"))[0] == 0
    assert web == (tmp_path / "services.csv").read_bytes() == (tmp_path / "site" / "services.csv").read_bytes()
    assert rows(web)[0]["availability"] == "" or 0 <= float(rows(web)[0]["availability"]) <= 1


def test_files_for_maps_have_what_the_search_finds(client: TestClient, tmp_path: Path) -> None:
    wanted = set(found(client, **WATER))
    geojson = json.loads(client.get(ITEMS, params={**WATER, "f": "geojson"}).content)
    assert {each["id"] for each in geojson["features"]} == wanted
    package = tmp_path / "services.gpkg"
    package.write_bytes(client.get(ITEMS, params={**WATER, "f": "gpkg"}).content)
    database = sqlite3.connect(package)
    assert {row[0] for row in database.execute("SELECT id FROM services")} == wanted
    assert {row[0] for row in database.execute("SELECT DISTINCT service_id FROM layers")} == wanted
    database.close()
    archive = zipfile.ZipFile(io.BytesIO(client.get(ITEMS, params={"q": "water", "f": "qgis"}).content))
    assert sorted(archive.namelist()) == ["vectortile.xml", "wfs.xml", "wms.xml"]
    assert len(etree.fromstring(archive.read("wms.xml"))) == len(wanted)


def test_no_file_has_a_key_or_a_formula(serve: Serve, catalogue: Path) -> None:
    with sqlite3.connect(catalogue) as writer:
        writer.execute("UPDATE service SET title = '=cmd()' WHERE id = 1")
        writer.execute("UPDATE endpoint SET url = url || '?key=s3cr3tKEY', masked_url = url || '?key=***'")
    writer.close()
    client = serve(catalogue)
    for form in ("csv", "geojson", "gpkg"):
        assert b"s3cr3tKEY" not in client.get(ITEMS, params={"f": form}).content
    assert "'=cmd()" in {row["title"] for row in rows(client.get(ITEMS, params={"f": "csv"}).content)}


def test_the_page_leads_to_everything_that_is_taken_along(client: TestClient) -> None:
    page = client.get(ITEMS, params={**WATER, "offset": "1", "limit": "1"}, headers=HTML).text
    links = {
        name: unescape(href)
        for href, name in re.findall(r'class="chip" href="([^"]+)" rel="nofollow"[^>]*>([^<]+)<', page)
    }
    assert {"CSV", "GeoJSON", "GeoPackage", "QGIS connections", "Atom feed", "Permanent address"} <= links.keys()
    assert {int(row["service_id"]) for row in rows(client.get(links["CSV"]).content)} == set(found(client, **WATER))
    assert links["Permanent address"] == f"http://localhost{ITEMS}?q=water&kind=wms"
    assert set(of_feed(client.get(links["Atom feed"]).content)) == set(found(client, **WATER))


def of_feed(body: bytes) -> list[int]:
    """Return the numbers of the services of a feed's entries."""
    entries = etree.fromstring(body).iterfind(f"{ATOM}entry/{ATOM}link")
    return [int(str(each.get("href")).rpartition("/")[2]) for each in entries]


def test_a_feed_of_a_search_tells_of_what_it_finds_alone(client: TestClient) -> None:
    every, water = (of_feed(client.get("/feed.atom", params=each).content) for each in ({}, WATER))
    assert set(water) == set(found(client, **WATER)) < set(every)
    feed = client.get("/feed.json", params=WATER).json()
    assert len(feed["items"]) == len(water) and feed["feed_url"] == "http://localhost/feed.json?q=water&kind=wms"
    assert feed["title"] == "geocrawl: News water", "as the Atom feed's"
    identity = [
        etree.fromstring(client.get("/feed.atom", params=each).content).findtext(f"{ATOM}id") for each in ({}, WATER)
    ]
    assert identity[0] != identity[1]
    for path in ("/feed.atom?colour=red", "/feed.atom?q=kind:wmz", f"{ITEMS}?f=csv&colour=red", f"{ITEMS}?f=xlsx"):
        assert client.get(path).status_code == 400, path


def test_the_description_of_the_api_names_the_files(client: TestClient) -> None:
    operation = client.get("/api", headers={"Accept": "application/json"}).json()["paths"][ITEMS]["get"]
    [form] = [each["schema"]["enum"] for each in operation["parameters"] if each["name"] == "f"]
    assert set(form) >= {"html", "json", "csv", "geojson", "gpkg", "qgis"}
    assert {"text/csv; charset=utf-8", "application/geo+json"} <= operation["responses"]["200"]["content"].keys()


def test_a_second_value_of_a_facet_can_be_added_and_taken_away(client: TestClient) -> None:
    page = client.get(ITEMS, params={"kind": "wms"}, headers=HTML).text
    facet = page.partition("<summary>Kind</summary>")[2].partition("</details>")[0]
    assert f'href="{ITEMS}?kind=wms%2Cwfs"' in facet and f'href="{ITEMS}" ' in facet
    assert len(found(client, kind="wms,wfs")) == len(found(client, kind="wms")) + len(found(client, kind="wfs"))
    both = client.get(ITEMS, params={"kind": "wms,wfs"}, headers=HTML).text
    assert both.count("is-chosen") == 2 and f'href="{ITEMS}?kind=wfs"' in both


LAYERS = "/layers"


def test_layers_are_results_on_a_page_of_their_own(client: TestClient) -> None:
    page = client.get(LAYERS, params={"q": "rivers"}, headers=HTML).text
    assert re.search(r'href="/collections/services/items/(\d+)\?layer=\d+">River axes</a>', page)
    assert 'href="/collections/services/items?q=rivers"' in page, "the other tab searches services by the same words"
    services = client.get(ITEMS, params={"q": "rivers"}, headers=HTML).text
    assert 'href="/layers?q=rivers"' in services
    assert "unreadable" in client.get(LAYERS, params={"q": "kind:none"}, headers=HTML).text
    part = client.get(LAYERS, params={"q": "rivers"}, headers={**HTML, "HX-Request": "true"}).text
    assert part.lstrip().startswith('<div id="found" class="found">')


def test_programs_page_through_the_same_layers_and_take_them_along(client: TestClient, tmp_path: Path) -> None:
    whole = client.get(LAYERS, params={"q": "rivers", "limit": 100}).json()
    assert whole["numberMatched"] == len(whole["features"]) > 5
    first = whole["features"][0]
    assert first["properties"]["service"]["type"] in ("wms", "wfs") and first["geometry"]["type"] == "Polygon"
    address, paged = f"{LAYERS}?q=rivers&limit=4", []
    while address:
        answer = client.get(address).json()
        paged += [each["id"] for each in answer["features"]]
        address = next((each["href"] for each in answer["links"] if each["rel"] == "next"), "")
    assert paged == [each["id"] for each in whole["features"]]
    table = rows(client.get(LAYERS, params={"q": "rivers", "f": "csv"}).content)
    assert [f"{row['service_id']}/{row['layer']}" for row in table] == paged
    package = client.get(LAYERS, params={"q": "rivers", "f": "gpkg"})
    assert package.headers["content-disposition"] == 'attachment; filename="layers.gpkg"'
    (tmp_path / "layers.gpkg").write_bytes(package.content)
    with closing(sqlite3.connect(tmp_path / "layers.gpkg")) as reader:
        written = reader.execute("SELECT service_id || '/' || layer, geom, title FROM layers ORDER BY fid").fetchall()
        contents, _ = reader.execute("SELECT table_name, data_type, min_x, max_x FROM gpkg_contents")
        assert reader.execute("SELECT DISTINCT health FROM layers").fetchall() == [("alive",)]
        assert reader.execute("SELECT f_table_name FROM layer_styles").fetchall() == [("layers",)]
    assert [each[0] for each in written] == paged and written[0][1][:2] == b"GP" and all(each[2] for each in written)
    assert contents[:2] == ("layers", "features") and contents[2] < contents[3]
    refused = client.get(LAYERS, params={"ids": "1"})
    assert (refused.status_code, "name services" in refused.json()["detail"]) == (400, True)


@pytest.fixture
def dear(catalogue: Path, serve: Serve) -> TestClient:
    """The demo's catalogue with a service of 1,000 layers: thousands of systems in its root, one in each layer."""
    with closing(sqlite3.connect(catalogue)) as writer:
        writer.execute("DELETE FROM layer WHERE service_id = 1")
        root = json.dumps([f"EPSG:{number}" for number in range(2_000, 8_000)])
        columns = "service_id, position, parent, name, title, abstract, crs, styles, keywords, queryable, item, formats"
        rows: list[tuple[object, ...]] = [(1, 0, None, "", "all", "", root, "[]", "[]", 0, "layer", "[]")]
        rows += [
            (1, n, 0, f"r{n}", f"Zauberfluss {n}", "x" * 300, f'["EPSG:{n}"]', "[]", "[]", 0, "layer", "[]")
            for n in range(1, 1_001)
        ]
        writer.executemany(f"INSERT INTO layer ({columns}) VALUES ({','.join('?' * 12)})", rows)
        writer.execute("UPDATE search_text SET layers = 'zauberfluss' WHERE rowid = 1")
        writer.commit()
    return serve(catalogue)


def test_a_thousand_layers_name_their_own_systems_and_those_of_their_service_once(dear: TestClient) -> None:
    answer = dear.get(LAYERS, params={"q": "zauberfluss", "limit": 1_000})
    assert len(answer.content) < 2_000_000
    whole = answer.json()
    assert len(whole["features"]) == whole["numberReturned"] == 1_000
    assert [each["properties"]["crs"] for each in whole["features"][:2]] == [["EPSG:1"], ["EPSG:2"]]
    assert {number: len(codes) for number, codes in whole["geocrawl:inheritedCrs"].items()} == {"1": 100}
    table = dear.get(LAYERS, params={"q": "zauberfluss", "f": "csv"})
    assert len(table.content) < 1_000_000
    assert [row["crs"] for row in rows(table.content)] == [f"EPSG:{n}" for n in range(1, 1_001)]
    page = dear.get(LAYERS, params={"q": "zauberfluss"}, headers=HTML).text
    assert "EPSG:7, EPSG:2000, EPSG:2001, EPSG:2002" in page and "5997" in page.replace(",", "")
    qgis = dear.get(LAYERS, params={"q": "zauberfluss", "f": "qlr"}).text
    assert qgis.count("<authid>EPSG:3857</authid>") == 100, "a system that it inherits, which every program knows"


def test_layers_whose_texts_are_long_come_in_more_pages(dear: TestClient, catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as writer:
        writer.execute("UPDATE layer SET abstract = ? WHERE service_id = 1", ["洪" * 6_000])
        writer.commit()
    address, paged, largest = f"{LAYERS}?q=zauberfluss&limit=1000", list[str](), 0
    while address:
        answer = dear.get(address)
        largest = max(largest, len(answer.content))
        paged += [each["id"] for each in answer.json()["features"]]
        address = next((each["href"] for each in answer.json()["links"] if each["rel"] == "next"), "")
    assert paged == [f"1/{n}" for n in range(1, 1_001)] and largest < 5_000_000
    assert len(dear.get(LAYERS, params={"q": "zauberfluss", "f": "csv"}).content) < 5_000_000


def test_layers_open_in_qgis_as_one_file(client: TestClient) -> None:
    answer = client.get(LAYERS, params={"q": "rivers", "f": "qlr"})
    root = etree.fromstring(answer.content)
    ids = [each.get("id") for each in root.iter("layer-tree-layer")]
    assert ids == [each.findtext("id") for each in root.iter("maplayer")] and len(ids) == len(set(ids)) > 5
    assert {each.findtext("provider") for each in root.iter("maplayer")} == {"wms", "WFS"}
    assert client.get(LAYERS, params={"q": "kind:csw", "f": "qlr"}).status_code == 404
