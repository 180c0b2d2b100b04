"""OGC API – Records: what programs get, checked by OWSLib's client and the standard's schemas."""

from __future__ import annotations

import csv
import json
import re
import runpy
import sqlite3
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
import yaml
from referencing.jsonschema import DRAFT202012
from starlette.testclient import TestClient

from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Kind
from geocrawl.store import Store
from geocrawl.store.upkeep.downtimes import Downtimes
from geocrawl.store.upkeep.watches import Watches
from geocrawl.web.downloads import FILES
from geocrawl.web.records.metadata import FORMS
from tests.support.parts import QGIS, lack
from tests.web.conftest import Serve

ITEMS = "/collections/services/items"


def test_the_landing_page_leads_everywhere(client: TestClient) -> None:
    links = client.get("/").json()["links"]
    assert {"self", "service-desc", "conformance", "data"} <= {each["rel"] for each in links}
    for each in links:
        assert client.get(each["href"]).status_code == 200, each


def test_every_path_of_the_api_answers(client: TestClient) -> None:
    described = client.get("/api").json()
    assert described["openapi"].startswith("3.0")
    for path, about in described["paths"].items():
        answer = client.get(path.replace("{number}", "1"))
        media_type = next(iter(about["get"]["responses"]["200"]["content"])).partition(";")[0]
        if not path.endswith("/thumbnail"):  # the first service need not have one
            assert answer.status_code == 200, path
            assert answer.headers["content-type"].partition(";")[0] == media_type, path
    named = {each["name"] for each in described["paths"][ITEMS]["get"]["parameters"]}
    assert {"q", "bbox", "datetime", "type", "ids", "externalIds", "sortby", "limit"} <= named


def test_every_document_is_a_page_and_json_as_the_client_asks(client: TestClient) -> None:
    described = client.get("/api").json()["paths"]
    for path in (
        "/",
        "/conformance",
        "/api",
        "/collections",
        "/collections/services",
        "/collections/services/sortables",
        "/collections/services/queryables",
        "/collections/services/schema",
    ):
        media_type = next(iter(described[path]["get"]["responses"]["200"]["content"]))
        as_json = client.get(path, headers={"Accept": media_type})
        assert (as_json.status_code, as_json.headers["content-type"]) == (200, media_type), path
        page = client.get(path, headers={"Accept": "text/html"})
        assert page.headers["content-type"] == "text/html; charset=utf-8", path
        for address in re.findall(r'href="(/[^"]*)"', page.text):
            assert client.get(address.replace("&amp;", "&")).status_code == 200, (path, address)
    assert "ogcapi-records-1/1.0/conf/html" in client.get("/conformance?f=html").text


def records(client: TestClient, **asked: Any) -> list[dict[str, Any]]:
    answer = client.get(ITEMS, params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["features"]
    return found


def test_paging_visits_every_record_once(client: TestClient) -> None:
    seen, address = list[str](), f"{ITEMS}?limit=7&sortby=title"
    for _ in range(10):
        answer = client.get(address).json()
        assert answer["numberReturned"] == len(answer["features"]) <= 7
        seen += [each["id"] for each in answer["features"]]
        following = [each["href"] for each in answer["links"] if each["rel"] == "next"]
        if not following:
            break
        address = following[0]
    assert len(seen) == len(set(seen)) == answer["numberMatched"] > 20


def test_a_client_that_reads_all_pages_gets_every_service(client: TestClient, crawled: Path) -> None:
    with sqlite3.connect(crawled) as connection:
        services = {str(number) for (number,) in connection.execute("SELECT id FROM service")}
    answer = client.get(ITEMS, params={"limit": 1000, "facets": "kind"}).json()
    assert {each["id"] for each in answer["features"]} == services
    assert answer["numberMatched"] == len(services)
    assert sum(bucket["count"] for bucket in answer["facets"]["kind"]["buckets"]) == len(services)
    page = client.get(ITEMS, params={"limit": 1000}, headers={"Accept": "text/html"}).text
    assert 0 < page.count('<li class="hit"') < len(services), "services of one server with one content are one hit"


def test_parameters_choose(client: TestClient) -> None:
    assert {each["properties"]["type"] for each in records(client, type="wfs")} == {"wfs"}
    assert [each["id"] for each in records(client, ids="3,1,999")] == ["3", "1"]
    boxed = records(client, bbox="100,20,120,40", limit=100)
    assert boxed and all(each["geometry"]["coordinates"][0][0][0] > 90 for each in boxed)
    assert records(client, bbox="-40,-60,-30,-50") == []
    titles = [each["properties"]["title"] for each in records(client, sortby="title", limit=100)]
    falling = [each["properties"]["title"] for each in records(client, sortby="-title", limit=100)]
    assert titles == falling[::-1] and len(titles) > 20
    assert [each["properties"]["title"] for each in records(client, sortby="-title", limit=3, offset=2)] == falling[2:5]


def test_an_address_leads_to_its_record(client: TestClient) -> None:
    record = records(client, limit=1, type="wms")[0]
    address = record["properties"]["externalIds"][0]["value"]
    assert record["id"] in [each["id"] for each in records(client, externalIds=address)]


def test_facets_are_counted_on_demand(client: TestClient) -> None:
    assert "facets" not in client.get(ITEMS).json()
    facets = client.get(ITEMS, params={"facets": "kind,health"}).json()["facets"]
    assert set(facets) == {"kind", "health"}
    assert {each["value"] for each in facets["kind"]["buckets"]} == set(Kind)


def test_owslib_reads_the_records(client: TestClient, serve: Serve, crawled: Path, monkeypatch: Any) -> None:
    requests = pytest.importorskip("requests", reason="OWSLib asks by requests")
    from owslib.ogcapi import records as owslib_records

    def through_the_client(session: Any, method: str, url: str, **named: Any) -> Any:
        allowed = {name: named[name] for name in ("params", "headers", "data") if named.get(name)}
        answer = client.request(method, url, **allowed)
        made = requests.Response()
        made.status_code, made._content, made.url = answer.status_code, answer.content, str(answer.url)
        made.headers.update(answer.headers)
        return made

    monkeypatch.setattr(requests.Session, "request", through_the_client)
    catalogue = owslib_records.Records("http://localhost/")
    assert any(each.endswith("record-core") for each in catalogue.conformance()["conformsTo"])
    assert catalogue.records() == ["services"]
    found = catalogue.collection_items("services", q="water", limit=3)
    assert found["numberReturned"] == 3
    assert catalogue.collection_items("services", bbox=[100, 20, 120, 40])["numberMatched"] > 0
    assert catalogue.collection_items("services", sortby=("title", "desc"))["numberMatched"] > 20
    one = catalogue.collection_item("services", found["features"][0]["id"])
    assert one["properties"]["title"] == found["features"][0]["properties"]["title"]


@pytest.mark.shared
def test_records_have_the_standards_form(client: TestClient, shared: Path) -> None:
    schemas = shared / "notes" / "use" / "records_schemas"
    if not schemas.is_dir():
        pytest.skip(f"the standard's schemas are not at {schemas}")
    validator = _validator(schemas)
    every = [*records(client, limit=100), *(client.get(f"{ITEMS}/{number}").json() for number in range(1, 20))]
    errors = [error.message[:200] for record in every for error in validator.iter_errors(record)]
    assert len(every) > 40 and errors == []


def _validator(schemas: Path) -> Any:
    """Return a validator of records by the standard's schema, in which OpenAPI 3.0's nullable object is null."""
    geometry = {"type": "object", "required": ["type", "coordinates"]}

    def read(name: str) -> Any:
        return _nullable_as_null(yaml.safe_load((schemas / name).read_text("utf-8")))

    def retrieve(uri: str) -> Any:
        contents = geometry if "geometryGeoJSON" in uri else read(uri.rpartition("/")[2])
        return DRAFT202012.create_resource(contents)

    schema = {**read("recordGeoJSON.yaml"), "$id": "http://schemas.example/recordGeoJSON.yaml"}
    registry: referencing.Registry[Any] = referencing.Registry(retrieve=retrieve)  # type: ignore[call-arg] # attrs
    return jsonschema.Draft202012Validator(schema, registry=registry)


def _nullable_as_null(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("nullable") and set(value) == {"type", "nullable"}:
            return {"type": "null"}
        return {key: _nullable_as_null(each) for key, each in value.items()}
    return [_nullable_as_null(each) for each in value] if isinstance(value, list) else value


# --------------------------------------------------------------------------- smaller interfaces


def test_feeds_name_what_happened(client: TestClient) -> None:
    from lxml import etree

    atom = etree.fromstring(client.get("/feed.atom").content)
    entries = atom.findall("{http://www.w3.org/2005/Atom}entry")
    feed = client.get("/feed.json").json()
    assert len(entries) == len(feed["items"]) > 20
    ids = [each["id"] for each in feed["items"]]
    assert len(ids) == len(set(ids)) and feed["items"][0]["tags"] == ["alive"]


def test_the_sitemap_lists_every_service(client: TestClient) -> None:
    index = client.get("/sitemap.xml").text
    assert "http://localhost/sitemap-0.xml" in index
    places = client.get("/sitemap-0.xml").text.count("<loc>")
    assert places == _services(client)
    assert client.get("/sitemap-9999.xml").text.count("<loc>") == 0
    assert client.get("/sitemap-x.xml").status_code == 404


def _services(client: TestClient) -> int:
    facets = client.get(ITEMS, params={"facets": "kind"}).json()["facets"]["kind"]["buckets"]
    return sum(each["count"] for each in facets)


def test_rest_tells_health_history_and_changes(client: TestClient) -> None:
    health = client.get(f"{ITEMS}/1/health").json()
    assert health["health"] == "alive" and health["availability30d"] is None and health["addresses"]
    assert client.get(f"{ITEMS}/1/history").json()["addresses"][0]["events"][0]["after"] == "alive"
    assert client.get(f"{ITEMS}/1/changes").json()["changes"][0]["what"] == "health"
    [month] = client.get(f"{ITEMS}/1/months").json()["months"]
    [row] = csv.DictReader(client.get(f"{ITEMS}/1/months?f=csv").text.splitlines())
    assert row["probes"] == str(month["probes"]) and row["is_available"] == ""
    shown = client.get(f"{ITEMS}/1/months", headers={"Accept": "text/html"}).text
    assert month["month"] in shown and "not known" in shown
    assert month["valid"] == month["probes"] > 0 and month["within_s"] == 5 and month["is_available"] is None


def test_what_is_watched_has_a_page_of_its_state(catalogue: Path, serve: Serve) -> None:
    with Store.open(catalogue, clock=SystemClock()) as store:
        Watches(store.database).add(1, "mail:private@b.example", "", lambda query: (), 9.0)
        store.connection.execute("UPDATE endpoint SET every_s = 300, speed = 2 WHERE service_id = 2")
        store.connection.execute("COMMIT") if store.connection.in_transaction else None
        Downtimes(store.database).plan(2, starts_at=0.0, ends_at=None, note="new <server>", at=0.0)
    client = serve(catalogue)
    shown = client.get("/status", headers={"Accept": "text/html"}).text
    assert "new &lt;server&gt;" in shown and "slower than usual" in shown and "5m" in shown
    found = client.get("/status?f=json")
    assert "private" not in shown + found.text, "who is told is nobody else's business"
    assert [each["service"] for each in found.json()["services"]] == [1, 2] and found.json()["numberMatched"] == 2
    assert [each["everySeconds"] for each in found.json()["services"]] == [None, 300.0]
    assert "受监测的服务" in client.get("/status?lang=zh", headers={"Accept": "text/html"}).text
    assert 'href="/status"' in client.get("/", headers={"Accept": "text/html"}).text


def test_a_badge_shows_kind_and_health(client: TestClient) -> None:
    from lxml import etree

    answer = client.get(f"{ITEMS}/1/badge.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    texts = [each.text for each in etree.fromstring(answer.content).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["WMS", "alive"]


def test_a_layer_has_a_badge_and_a_health_of_its_own(client: TestClient) -> None:
    detail = client.get(f"{ITEMS}/1", headers={"Accept": "text/html"}).text
    number = re.search(r"badge\.svg\?layer=(\d+)", detail)
    assert number is not None, "the page of a layer leads to it"
    told = client.get(f"{ITEMS}/1/health?layer={number[1]}").json()
    assert told["health"] == "alive" and told["layer"]["number"] == int(number[1])
    by_name = client.get(f"{ITEMS}/1/badge.svg", params={"layer": told["layer"]["name"]})
    assert by_name.content == client.get(f"{ITEMS}/1/badge.svg?layer={number[1]}").content
    assert told["layer"]["title"][:20] in by_name.text and ">alive<" in by_name.text
    for path in ("badge.svg", "health"):
        assert client.get(f"{ITEMS}/1/{path}?layer=no such layer").status_code == 404


def test_pages_carry_linked_data(client: TestClient) -> None:
    page = client.get(f"{ITEMS}/1", headers={"Accept": "text/html"}).text
    text = page.split('<script type="application/ld+json">')[1].split("</script>")[0]
    found = json.loads(text)
    assert found["@type"] == "Dataset" and found["distribution"][0]["contentUrl"].startswith("http://")


def test_a_picture_says_once_for_how_long_it_may_be_kept(client: TestClient) -> None:
    pictured = next(
        link["href"] for each in records(client, type="wms") for link in each["links"] if link["rel"] == "preview"
    )
    answer = client.get(pictured)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers.get_list("cache-control") == ["public, max-age=3600"]


LINK_TYPES = Path("/usr/share/qgis/python/plugins/MetaSearch/link_types.py")


def test_links_of_records_have_types_from_which_metasearch_adds_services(client: TestClient) -> None:
    """MetaSearch compares the type of a link, in upper case where it lists one so, with its own lists."""
    if not LINK_TYPES.exists():
        lack(QGIS)
    known = {name: frozenset(types) for name, types in runpy.run_path(str(LINK_TYPES)).items() if name.isupper()}
    lists = {"wms": "WMSWMST", "wmts": "WMSWMST", "wfs": "WFS", "wcs": "WCS", "arcgis": "AMS"}
    seen = set()
    for record in records(client, limit=1000):
        kind, address = record["properties"]["type"], record["properties"]["externalIds"][0]["value"]
        if kind in lists and not address.lower().endswith(("/featureserver", "/vectortileserver")):
            types = known[f"{lists[kind]}_LINK_TYPES"]
            assert [link["href"] for link in record["links"] if link["type"] in types] == [address], record["id"]
            seen.add(kind)
    assert seen >= {"wms", "wfs"}


def test_types_and_addresses_may_be_lists_and_other_types_have_no_records(client: TestClient) -> None:
    assert records(client, type="dataset") == records(client, type="dataset,series") == []
    assert {each["properties"]["type"] for each in records(client, type="wms,dataset", limit=100)} == {"wms"}
    every = records(client, limit=1000)
    addresses = {each["id"]: each["properties"]["externalIds"][0]["value"] for each in every}
    for number, address in addresses.items():
        found = records(client, externalIds=f"{address},http://nowhere.example/", limit=1000)
        assert number in {each["id"] for each in found}, address
    assert any("=***" in address for address in addresses.values()), "one of them has a secret"
    found = records(client, externalIds=",".join([*list(addresses.values())[:2], "http://nowhere.example/"]))
    assert {each["id"] for each in found} >= set(list(addresses)[:2])


def test_a_comma_in_q_means_or_for_programs(client: TestClient) -> None:
    def ids(q: str) -> set[str]:
        return {each["id"] for each in records(client, q=q, limit=1000)}

    water, glaciers = ids("water"), ids("glacier")
    assert water - glaciers and glaciers - water
    assert ids("water,glacier") == ids("glacier, water") == water | glaciers
    assert ids("water,glacier kind:wfs,csw") == ids("water kind:wfs") | ids("glacier kind:wfs") < water | glaciers
    assert ids('"water,glacier"') < water | glaciers, "what is quoted stays together"
    assert ids("water,glacier -water") == ids("water -water") | ids("glacier -water") < water | glaciers
    assert ids('kind:wms water,"glacier') == ids("kind:wms water") | ids("kind:wms glacier")
    assert client.get(ITEMS, params={"q": ",".join(f"a{n}" for n in range(9))}).status_code == 400


def test_several_orders_decide_one_after_the_other(client: TestClient) -> None:
    def rows(sortby: str) -> list[tuple[str, str]]:
        found = [each["properties"] for each in records(client, sortby=sortby, limit=1000)]
        return [(each["geocrawl:health"], each["title"]) for each in found]

    by_both, falling = rows("health,title"), rows("health,-title")
    goodness = [["gone", "down", "unconfirmed", "new", "degraded", "alive"].index(health) for health, _ in by_both]
    assert goodness == sorted(goodness, reverse=True)
    assert len(set(by_both)) > 10 and sorted(by_both) == sorted(falling)
    for health in {health for health, _ in by_both}:
        titles = [title.casefold() for state, title in by_both if state == health]
        assert titles == sorted(titles)
        assert [title.casefold() for state, title in falling if state == health] == titles[::-1]
    assert client.get(ITEMS, params={"sortby": "title,size"}).status_code == 400


def test_a_box_of_the_whole_world_leaves_out_no_record(client: TestClient, crawled: Path) -> None:
    everything = client.get(ITEMS).json()["numberMatched"]
    with sqlite3.connect(crawled) as connection:
        (without,) = connection.execute("SELECT count(*) FROM service WHERE west IS NULL").fetchone()
    assert without > 0
    for world in ("-180,-90,180,90", "-180,-90,0,180,90,9000"):
        assert client.get(ITEMS, params={"bbox": world}).json()["numberMatched"] == everything
    assert client.get(ITEMS, params={"bbox": "-179,-90,180,90"}).json()["numberMatched"] <= everything - without


def test_parameters_are_declared_as_the_standards_define_them(client: TestClient) -> None:
    declared = {each["name"]: each for each in client.get("/api").json()["paths"][ITEMS]["get"]["parameters"]}
    assert declared["bbox"]["schema"].items() >= {"type": "array", "minItems": 4, "maxItems": 6}.items()
    assert declared["bbox"]["schema"]["items"] == {"type": "number"}
    for name in ("q", "bbox", "type", "ids", "externalIds", "sortby"):
        assert (declared[name]["schema"]["type"], declared[name]["style"], declared[name]["explode"]) == (
            ("array", "form", False)
        )
    assert declared["f"]["schema"]["enum"] == ["html", "json", *FILES, *FORMS]


@pytest.mark.parametrize("end", ["", "?f=json", "/badge.svg"])
def test_the_number_of_a_merged_service_leads_to_the_service(catalogue: Path, serve: Serve, end: str) -> None:
    with Store.open(catalogue, clock=SystemClock()) as store:
        rows = store.connection.execute("SELECT service_id, min(id) FROM endpoint WHERE status = 'valid' GROUP BY 1")
        (present, one), (former, other), *_ = rows.fetchall()
        store.catalog().decide((one, other), same=True, at=store.clock.now())
    client = serve(catalogue)
    answer = client.get(f"/collections/services/items/{former}{end}", follow_redirects=False)
    assert answer.status_code == 301
    assert answer.headers["location"] == f"/collections/services/items/{present}{end}"
    assert client.get(answer.headers["location"]).status_code == 200


# --------------------------------------------------------------------------- filters, schemas, orders

COLLECTION = "/collections/services"
CQL2 = pytest.mark.skipif(find_spec("cql2") is None, reason="needs cql2: make dev-env")


@CQL2
def test_a_filter_in_cql2_stands_beside_the_other_parameters(client: TestClient) -> None:
    asked: dict[str, Any] = {"filter": "type IN ('wms', 'wfs') AND quality > 0", "limit": 100}
    found = records(client, **asked)
    assert {each["properties"]["type"] for each in found} == {"wms", "wfs"}
    in_json = {"op": "in", "args": [{"property": "type"}, ["wms", "wfs"]]}
    assert records(client, **{"filter": json.dumps(in_json), "filter-lang": "cql2-json", "limit": 100}) == found
    assert {each["properties"]["type"] for each in records(client, **asked, kind="wfs")} == {"wfs"}
    assert 0 < len(records(client, **asked, q="water")) < len(found)
    boxed = records(client, filter="S_INTERSECTS(geometry, BBOX(100,20,120,40))", limit=100)
    assert [each["id"] for each in boxed] == [
        each["id"] for each in records(client, bbox="100,20,120,40", limit=100) if each["geometry"]
    ]
    page = client.get(ITEMS, params=asked, headers={"Accept": "text/html"})
    assert page.status_code == 200
    following = client.get(ITEMS, params={**asked, "limit": 2}).json()["links"]
    assert any("filter=" in each["href"] for each in following if each["rel"] == "next")


@CQL2
@pytest.mark.parametrize(
    "asked",
    [
        {"filter": "colour = 'red'"},
        {"filter": "quality >"},
        {"filter": "quality > 1", "filter-lang": "cql"},
        {"filter": "quality > 1", "filter-crs": "http://www.opengis.net/def/crs/EPSG/0/25832"},
        {"filter": "quality > 1", "ids": "3"},
        {"filter": "{", "filter-lang": "cql2-json"},
        {"filter": "(" * 1_999},
    ],
)
def test_a_filter_that_cannot_be_used_is_400_with_the_reason(client: TestClient, asked: dict[str, str]) -> None:
    answer = client.get(ITEMS, params=asked)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert "filter" in answer.json()["detail"]
    assert client.get(ITEMS, params=asked, headers={"Accept": "text/html"}).status_code == 400


def test_every_queryable_and_sortable_can_be_used(client: TestClient) -> None:
    linked = {each["rel"].rpartition("/")[2]: each["href"] for each in client.get(COLLECTION).json()["links"]}
    described = {name: client.get(linked[name]).json() for name in ("queryables", "sortables", "schema")}
    for name, schema in described.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"http://localhost{COLLECTION}/{name}" and schema["type"] == "object"
        assert all({"type", "format"} & about.keys() for about in schema["properties"].values())
    for name in described["queryables"]["properties"]:
        tree = {"op": "isNull", "args": [{"property": name}]}
        assert client.get(ITEMS, params={"filter": json.dumps(tree), "filter-lang": "cql2-json"}).status_code == 200
    for name in described["sortables"]["properties"]:
        up, down = ([each["id"] for each in records(client, sortby=f"{by}{name},title")] for by in ("", "-"))
        assert up != down or name == "health"  # which all have alike
    for record in (*records(client, limit=100), client.get(f"{ITEMS}/1").json()):
        flat = {"id": record["id"], "geometry": record["geometry"], **record["properties"]}
        assert flat.keys() <= described["schema"]["properties"].keys()


def test_a_name_alone_ascends_and_with_a_minus_descends(client: TestClient) -> None:
    def values(sortby: str, name: str) -> list[Any]:
        return [each["properties"][name] for each in records(client, sortby=sortby, limit=100)]

    for sortby, name in (("created", "created"), ("quality", "geocrawl:quality")):
        assert values(sortby, name) == values(f"+{sortby}", name) == sorted(values(sortby, name))
        assert values(f"-{sortby}", name) == sorted(values(sortby, name), reverse=True)
