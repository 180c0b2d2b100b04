"""OGC API: the landing page is followed by its links, never by guessed paths, three requests at most."""

from __future__ import annotations

import pytest

from geocrawl.model import Failure, FailureCode, Item, Kind, Status
from geocrawl.probe.registry import probe_of
from geocrawl.urls import RECORDS
from tests.probe.json_answers import answer, ask
from tests.support.answers import HTML, page, url

API = "https://data.example.org/api/"
LANDING = {
    "title": "Data of the town",
    "description": "Everything",
    "links": [
        {"rel": "self", "type": "application/json", "href": "./"},
        {"rel": "service-desc", "type": "application/vnd.oai.openapi+json;version=3.0", "href": "openapi"},
        {"rel": "conformance", "type": "text/html", "href": "conforms?f=html"},
        {"rel": "conformance", "type": "application/json", "href": "conforms"},
        {"rel": "data", "type": "application/json", "href": "/api/all"},
    ],
}
CONFORMANCE = {
    "conformsTo": [
        "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
        "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
        "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core",
        "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/core",
    ]
}
TREES = {
    "id": "trees",
    "title": "Trees",
    "description": "All trees",
    "keywords": ["green"],
    "itemType": "feature",
    "extent": {"spatial": {"bbox": [[8.4, 47.3, 8.6, 47.4]]}},
    "crs": ["http://www.opengis.net/def/crs/OGC/1.3/CRS84", "http://www.opengis.net/def/crs/EPSG/0/2056"],
    "links": [
        {"rel": "items", "type": "application/geo+json", "href": "/api/all/trees/items"},
        {"rel": "items", "type": "text/html", "href": "/api/all/trees/items?f=html"},
    ],
}
RECORDS_OF_TOWN = {
    "id": "catalogue",
    "title": "Catalogue",
    "itemType": "record",
    "providers": [{"name": "Town"}],
    "links": [
        {"rel": "items", "type": "text/html", "href": "/api/all/catalogue/items"},
        {"rel": "items", "type": "application/geo+json", "href": "/api/all/catalogue/items?limit=20"},
    ],
}
COLLECTIONS = {"links": [], "collections": [TREES, RECORDS_OF_TOWN]}
ANSWERS = {
    API: answer(LANDING),
    "https://data.example.org/api/all": answer(COLLECTIONS),
    "https://data.example.org/api/conforms": answer(CONFORMANCE),
}


def test_the_parts_are_found_by_the_links_of_the_landing_page() -> None:
    verdict, asked = ask(probe_of(Kind.OGCAPI), API, ANSWERS)
    service = verdict.service
    assert service is not None
    assert asked == [*ANSWERS]
    assert (verdict.status, verdict.requests, verdict.deviations) == (Status.VALID, 3, ())
    assert (service.kind, service.version, service.title) == (Kind.OGCAPI, "1.0", "Data of the town")
    assert service.keywords == ("OGC API Features", "OGC API Tiles", "OGC API Records", "OGC API Processes")
    trees = service.layers[0]
    assert (trees.name, trees.title, trees.abstract, trees.item) == ("trees", "Trees", "All trees", Item.COLLECTION)
    assert (trees.crs, trees.formats) == (("CRS:84", "EPSG:2056"), ("application/geo+json",))
    assert trees.box is not None
    assert trees.box.bounds == (8.4, 47.3, 8.6, 47.4)


def test_a_collection_of_records_is_read_further_as_pages_of_json() -> None:
    verdict, _ = ask(probe_of(Kind.OGCAPI), API, ANSWERS)
    (link,) = verdict.pages
    assert link.url.address == "https://data.example.org/api/all/catalogue/items?limit=20&f=json"
    assert (link.anchor, link.context, link.where) == ("Catalogue", "Town", RECORDS)


def test_a_landing_page_whose_parts_are_gone_is_valid_with_deviations() -> None:
    verdict, asked = ask(probe_of(Kind.OGCAPI), API, {API: answer(LANDING)})
    assert (verdict.status, len(asked)) == (Status.VALID, 3)
    assert [each.code for each in verdict.deviations] == ["no-collections", "no-conformance"]


def test_a_part_that_may_not_be_asked_for_costs_the_part_only() -> None:
    refused = Failure(url(API), FailureCode.TIMEOUT_READ, "no answer for 30 s")
    verdict, _ = ask(probe_of(Kind.OGCAPI), API, {**ANSWERS, "https://data.example.org/api/all": refused})
    assert verdict.status is Status.VALID
    assert [each.code for each in verdict.deviations] == ["no-collections"]


def test_where_a_page_for_people_comes_json_is_asked_for_and_the_collections_are_preferred() -> None:
    first = page(HTML, content_type="text/html")
    verdict, asked = ask(probe_of(Kind.OGCAPI), API, {**ANSWERS, API: first, f"{API}?f=json": answer(LANDING)})
    assert asked == [API, f"{API}?f=json", "https://data.example.org/api/all"]
    assert (verdict.status, verdict.requests) == (Status.VALID, 3)


@pytest.mark.parametrize(
    ("link", "asked_then"),
    [
        (
            '<link rel="alternate" type="application/json" href="?f=application%2Fjson&amp;x=1">',
            f"{API}?f=application%2Fjson&x=1",
        ),
        ("<a href='./as.json' class=\"x\" type='application/json' rel='nofollow alternate'>JSON</a>", f"{API}as.json"),
        ('<link rel="alternate" type="application/json" href="https://elsewhere.example/x.json">', f"{API}?f=json"),
        ('<link rel="alternate" type="application/rss+xml" href="feed">', f"{API}?f=json"),
        ('<link rel="alternate" type="application/json" href="">', f"{API}?f=json"),
    ],
)
def test_the_json_that_a_page_for_people_names_is_asked_for(link: str, asked_then: str) -> None:
    first = page(f"<!DOCTYPE html><html><head>{link}</head></html>", content_type="text/html")
    verdict, asked = ask(probe_of(Kind.OGCAPI), API, {**ANSWERS, API: first, asked_then: answer(LANDING)})
    assert (verdict.status, asked[:2], len(asked)) == (Status.VALID, [API, asked_then], 3)


def test_links_to_a_host_within_are_asked_on_the_host_that_answered() -> None:
    inner = "http://localhost:8080/backend"
    links = [
        {"rel": "self", "href": f"{inner}/?f=json"},
        {"rel": "data", "href": f"{inner}/all?f=json"},
        {"rel": "conformance", "href": "http://10.0.0.3/conforms"},
    ]
    _, asked = ask(probe_of(Kind.OGCAPI), API, {API: answer({"title": "x", "links": links})})
    assert asked == [API, "https://data.example.org/api/all?f=json", "https://data.example.org/conforms"]


def test_what_is_in_the_landing_page_is_not_asked_for_again() -> None:
    _, asked = ask(probe_of(Kind.OGCAPI), API, {API: answer({**LANDING, **CONFORMANCE, **COLLECTIONS})})
    assert asked == [API]


def test_an_old_extent_and_six_numbers_are_read() -> None:
    old = {**TREES, "extent": {"spatial": [1, 2, 3, 4]}}
    high = {**TREES, "extent": {"spatial": {"bbox": [[1, 2, -10, 3, 4, 900]]}}}
    verdict, _ = ask(probe_of(Kind.OGCAPI), API, {API: answer({**LANDING, "collections": [old, high]})})
    assert verdict.service is not None
    assert [layer.box.bounds if layer.box else None for layer in verdict.service.layers] == [(1, 2, 3, 4)] * 2


def test_an_extent_over_the_antimeridian_goes_round_the_world() -> None:
    wide = {**TREES, "extent": {"spatial": {"bbox": [[170, -20, -170, 20]]}}}
    verdict, _ = ask(probe_of(Kind.OGCAPI), API, {API: answer({**LANDING, "collections": [wide]})})
    assert verdict.service is not None
    assert verdict.service.layers[0].box is not None
    assert verdict.service.layers[0].box.bounds == (-180, -20, 180, 20)
    assert "box-antimeridian" in {each.code for each in verdict.deviations}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"stac_version": "1.0.0", "type": "Catalog", "id": "a", "links": LANDING["links"]}, "other-kind"),
        ({"currentVersion": 10.9, "services": []}, "other-kind"),
        ({"code": "NotFound", "description": "Collection not found"}, "exception"),
        ({"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no such page"}, "exception"),
        ({"error": "Unauthorized"}, "exception"),
        ({"openapi": "3.0.0", "paths": {}}, "not-capabilities"),
        ({"links": [{"rel": "self", "href": "/"}, {"rel": "next", "href": "/2"}]}, "not-capabilities"),
        ({"type": "FeatureCollection", "features": [], "links": []}, "not-capabilities"),
        ({"name": "shop", "links": [{"rel": "data", "href": "/"}]}, "not-capabilities"),
    ],
)
def test_other_json_is_rejected_with_a_reason(body: dict[str, object], reason: str) -> None:
    verdict, asked = ask(probe_of(Kind.OGCAPI), API, {"*": answer(body)})
    assert (verdict.status, verdict.reason, len(asked)) == (Status.INVALID, reason, 1)


def test_a_stac_at_the_address_is_a_lead() -> None:
    catalogue = {"stac_version": "1.0.0", "type": "Catalog", "id": "a", "links": LANDING["links"]}
    verdict, _ = ask(probe_of(Kind.OGCAPI), API, {"*": answer(catalogue)})
    assert [(lead.endpoint.kind, lead.endpoint.url.address) for lead in verdict.leads] == [(Kind.STAC, API)]


def test_a_collection_alone_leads_to_its_api() -> None:
    root = {"rel": "root", "type": "application/json", "href": "https://data.example.org/other/?f=json"}
    verdict, _ = ask(probe_of(Kind.OGCAPI), API, {"*": answer({**TREES, "links": [*TREES["links"], root]})})
    assert verdict.status is Status.VALID
    assert [lead.endpoint.url.address for lead in verdict.leads] == ["https://data.example.org/other/"]


def test_values_of_any_type_are_no_crash() -> None:
    odd = {
        **LANDING,
        "title": {"en": "x"},
        "keywords": [1, {"keyword": None}, {}],
        "collections": [{"id": 3, "links": []}],
    }
    odd["collections"] += [{**TREES, "extent": {"spatial": {"bbox": "x"}}, "crs": 4}]  # type: ignore[operator]
    assert ask(probe_of(Kind.OGCAPI), API, {"*": answer(odd)})[0].status is Status.VALID


def links(*relations: str) -> list[dict[str, str]]:
    return [{"rel": rel, "href": f"/{rel.rpartition('/')[2]}"} for rel in relations]


OGC = "http://www.opengis.net/def/rel/ogc/1.0/"
A_RECORD = ["http://www.opengis.net/spec/ogcapi-records-1/1.0/req/record-core"]
SERVED: dict[str, dict[str, object]] = {
    "a record": {"type": "Feature", "id": "r", "conformsTo": A_RECORD, "links": links("collection", "root")},
    "a record without its type": {"id": "r", "geometry": None, "conformsTo": A_RECORD, "links": links("collection")},
    "records": {"type": "FeatureCollection", "conformsTo": A_RECORD, "links": links(OGC + "conformance")},
    "a feature": {"type": "Feature", "geometry": None, "links": links("collection", OGC + "data")},
    "a tile set": {
        "dataType": "map",
        "crs": "x",
        "tileMatrixSetURI": "x",
        "links": links(OGC + "tiling-scheme", "item"),
    },
    "a tile set of its own": {"dataType": "vector", "tileMatrixSet": {}, "links": links(OGC + "geodata", "item")},
    "tile sets": {"tilesets": [], "links": links(OGC + "tilesets-map", OGC + "geodata")},
    "a set of tile matrices": {"id": "WorldCRS84Quad", "tileMatrices": [], "links": links(OGC + "tiling-schemes")},
    "sets of tile matrices": {"tileMatrixSets": [], "links": links(OGC + "tiling-schemes")},
    "a process": {"id": "p", "version": "1", "inputs": {}, "links": links(OGC + "execute", OGC + "processes")},
    "a job": {"jobID": "j", "status": "successful", "links": links(OGC + "results", OGC + "job-list")},
    "jobs": {"jobs": [], "links": links(OGC + "job-list", OGC + "processes")},
    "a style": {"id": "s", "stylesheets": [], "links": links(OGC + "styles", "stylesheet")},
    "queryables": {"type": "object", "properties": {}, "links": links(OGC + "queryables", OGC + "schema")},
    "a coverage": {"type": "Coverage", "domain": {}, "ranges": {}, "links": links(OGC + "coverage")},
    "a grid": {"id": "ISEA3H", "title": "x", "links": links(OGC + "dggrs-definition", OGC + "dggrs-zone-query")},
}


@pytest.mark.parametrize("name", SERVED)
def test_what_an_api_serves_is_no_service(name: str) -> None:
    verdict, asked = ask(probe_of(Kind.OGCAPI), API, {API: answer(SERVED[name])})
    assert (verdict.status, verdict.reason, asked) == (Status.INVALID, "not-capabilities", [API])


def test_a_collection_of_maps_or_coverages_alone_is_one_layer() -> None:
    for content in ("items", OGC + "map", OGC + "coverage", OGC + "tilesets-vector"):
        body = {"id": "a", "title": "A", "extent": {}, "links": links("root", content)}
        verdict, _ = ask(probe_of(Kind.OGCAPI), API, {API: answer(body)})
        assert verdict.service is not None
        assert [layer.name for layer in verdict.service.layers] == ["a"]


@pytest.mark.parametrize(
    ("own", "asked_at"),
    [
        ("https://data.example.org/api/", "https://features.example.org/all"),  # knows its host: means another one
        ("http://inner.example.net/api/", "https://data.example.org/all"),
    ],
)
def test_a_link_to_another_host_is_followed_where_the_document_knows_its_own(own: str, asked_at: str) -> None:
    links = [{"rel": "self", "href": own}, {"rel": "conformance", "href": f"{API}conforms"}]
    landing = {"links": [*links, {"rel": "data", "href": "https://features.example.org/all"}]}
    _, asked = ask(probe_of(Kind.OGCAPI), API, {API: answer(landing), "*": answer(COLLECTIONS)})
    assert asked[1] == asked_at
