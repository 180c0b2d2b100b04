"""STAC: catalogues, collections and APIs of all versions; further documents are pages."""

from __future__ import annotations

import pytest

from geocrawl.model import Item, Kind, Status
from geocrawl.probe.registry import probe_of
from geocrawl.urls import RECORDS
from tests.probe.json_answers import answer, ask
from tests.support.answers import HTML, page

CATALOGUE = "https://data.example.org/stac/catalog.json"
COLLECTION = {
    "stac_version": "1.0.0",
    "type": "Collection",
    "id": "s2",
    "title": "Sentinel-2",
    "description": "All scenes",
    "keywords": ["satellite"],
    "license": "CC-BY-4.0",
    "providers": [{"url": "x"}, {"name": "ESA"}],
    "extent": {"spatial": {"bbox": [[-10, 40, 20, 60]]}, "temporal": {"interval": [["2015-06-27T00:00:00Z", None]]}},
    "item_assets": {"B1": {"type": "image/tiff"}, "meta": {"type": "application/xml"}},
    "links": [{"rel": "items", "href": "https://data.example.org/stac/collections/s2/items"}],
}
FILES = {
    "stac_version": "1.0.0",
    "type": "Catalog",
    "id": "top",
    "description": "A catalogue in files",
    "links": [
        {"rel": "self", "href": CATALOGUE},
        {"rel": "root", "href": "./catalog.json"},
        {"rel": "child", "href": "./s2/collection.json", "title": "Sentinel-2"},
        {"rel": "child", "href": "./landsat/catalog.json"},
        {"rel": "item", "href": "./one.json"},
    ],
}


def test_a_catalogue_in_files_is_one_request_with_its_children_as_pages() -> None:
    verdict, asked = ask(probe_of(Kind.STAC), CATALOGUE, {"*": answer(FILES)})
    service = verdict.service
    assert service is not None
    assert asked == [CATALOGUE]
    assert (service.kind, service.version, service.title) == (Kind.STAC, "1.0.0", "top")
    assert verdict.detail == "catalog"
    assert [(layer.name, layer.title, layer.item) for layer in service.layers] == [
        ("s2", "Sentinel-2", Item.FOLDER),
        ("landsat", "landsat", Item.FOLDER),
    ]
    assert [(link.url.address, link.anchor, link.where) for link in verdict.pages] == [
        ("https://data.example.org/stac/s2/collection.json", "Sentinel-2", RECORDS),
        ("https://data.example.org/stac/landsat/catalog.json", "", RECORDS),
    ]


def test_items_are_data_and_no_pages() -> None:
    items = {**FILES, "links": [{"rel": "item", "href": "./one.json"}, {"rel": "items", "href": "./items"}]}
    assert ask(probe_of(Kind.STAC), CATALOGUE, {"*": answer(items)})[0].pages == ()


PART = "https://data.example.org/stac/landsat/catalog.json"


@pytest.mark.parametrize("signal", ["path", "document", "a"])
def test_a_part_that_a_crawl_came_upon_leads_to_its_root(signal: str) -> None:
    part = {
        **FILES,
        "links": [{"rel": "root", "href": "../catalog.json"}, {"rel": "parent", "href": "../catalog.json"}],
    }
    verdict, asked = ask(probe_of(Kind.STAC), PART, {"*": answer(part)}, signal=signal)
    assert (verdict.status, verdict.reason, verdict.service, len(asked)) == (Status.INVALID, "part", None, 1)
    assert verdict.detail == f"part of {CATALOGUE}"
    assert [(each.endpoint.kind, each.endpoint.url.address) for each in verdict.leads] == [(Kind.STAC, CATALOGUE)]


@pytest.mark.parametrize(
    ("signal", "root"),
    [("given", "../catalog.json"), ("answer", "../catalog.json"), ("path", "https://elsewhere.example/catalog.json")],
)
def test_what_a_person_asked_for_a_root_and_a_part_of_another_host_are_taken(signal: str, root: str) -> None:
    part = {**FILES, "links": [{"rel": "root", "href": root}]}
    assert ask(probe_of(Kind.STAC), PART, {"*": answer(part)}, signal=signal)[0].status is Status.VALID


@pytest.mark.parametrize("root", ["./catalog.json", "http://data.example.org/stac/catalog.json?f=json", CATALOGUE])
def test_a_root_that_names_itself_in_any_spelling_is_no_part(root: str) -> None:
    top = {**FILES, "links": [{"rel": "root", "href": root}]}
    assert ask(probe_of(Kind.STAC), CATALOGUE, {"*": answer(top)}, signal="path")[0].status is Status.VALID


def test_a_collection_is_its_own_item() -> None:
    service = ask(probe_of(Kind.STAC), CATALOGUE, {"*": answer(COLLECTION)})[0].service
    assert service is not None
    assert (service.provider, service.access_constraints, service.keywords) == ("ESA", "CC-BY-4.0", ("satellite",))
    (layer,) = service.layers
    assert (layer.name, layer.item, layer.formats) == ("s2", Item.COLLECTION, ("image/tiff", "application/xml"))
    assert layer.box is not None
    assert layer.box.bounds == (-10, 40, 20, 60)


def test_an_api_is_asked_for_its_collections() -> None:
    api = "https://data.example.org/stac"
    landing = {
        **FILES,
        "conformsTo": ["https://api.stacspec.org/v1.0.0/core"],
        "links": [{"rel": "data", "type": "application/json", "href": f"{api}/collections"}],
    }
    listed = {"links": [], "collections": [COLLECTION]}
    answers = {api: answer(landing), f"{api}/collections": answer(listed)}
    verdict, asked = ask(probe_of(Kind.STAC), api, answers)
    assert verdict.service is not None
    assert (asked, verdict.requests) == ([*answers], 2)
    assert [layer.title for layer in verdict.service.layers] == ["Sentinel-2"]
    assert verdict.service.formats == ("image/tiff", "application/xml")
    assert verdict.detail == "api"


def test_an_api_without_its_collections_is_valid_all_the_same() -> None:
    landing = {**FILES, "conformsTo": [], "links": [{"rel": "data", "href": "collections"}]}
    verdict, asked = ask(probe_of(Kind.STAC), CATALOGUE, {CATALOGUE: answer(landing)})
    assert (verdict.status, len(asked)) == (Status.VALID, 2)


def test_old_extents_and_catalogues_without_a_type_are_read() -> None:
    old = {**COLLECTION, "stac_version": "0.6.0", "extent": {"spatial": [-10, 40, 20, 60], "temporal": []}}
    del old["type"]
    service = ask(probe_of(Kind.STAC), CATALOGUE, {"*": answer(old)})[0].service
    assert service is not None
    assert service.layers[0].box is not None
    assert (service.version, service.layers[0].box.bounds) == ("0.6.0", (-10, 40, 20, 60))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"stac_version": "1.0.0", "type": "Feature", "id": "a", "links": [], "assets": {}}, "not-capabilities"),
        ({"stac_version": "1.0.0"}, "not-capabilities"),
        ({"$schema": "x", "properties": {}, "stac_version": "1.0.0", "id": "a", "links": []}, "not-capabilities"),
        ({"links": [{"rel": "conformance", "href": "c"}]}, "other-kind"),
        ({"code": "NotFoundError", "description": "no such catalogue"}, "exception"),
    ],
)
def test_other_json_is_rejected_with_a_reason(body: dict[str, object], reason: str) -> None:
    verdict, asked = ask(probe_of(Kind.STAC), CATALOGUE, {"*": answer(body)})
    assert (verdict.status, verdict.reason, len(asked)) == (Status.INVALID, reason, 1)


def test_a_viewer_at_the_address_is_html() -> None:
    verdict, asked = ask(probe_of(Kind.STAC), CATALOGUE, {"*": page(HTML, content_type="text/html")})
    assert (verdict.reason, len(asked)) == ("html", 2)
