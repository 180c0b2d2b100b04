"""Content of services that are asked by a path: what is asked for, and what each answer proves.

Answers of ArcGIS are made after its reference, since no such server can be had; OGC APIs are proved on real ones in
`tests/servers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from shapely import box

from geocrawl.model import (
    ContentOutcome,
    Failure,
    FailureCode,
    Item,
    Kind,
    Layer,
    Level,
    Page,
    Service,
)
from geocrawl.ports import Ask
from geocrawl.probe.content import spread
from geocrawl.probe.registry import content_check_of
from geocrawl.urls import query_parameters
from tests.probe.content_runs import API, MAP, SERVER, TILE_MAP, TILES, TMS, drawn, outcomes, run
from tests.probe.json_answers import answer
from tests.probe.test_arcgis import TILED
from tests.support.answers import page, url

FEATURE: dict[str, object] = {"type": "Feature", "geometry": None, "properties": {}}
FOUND = {"type": "FeatureCollection", "features": [FEATURE]}
NOTHING = {"type": "FeatureCollection", "features": []}


def collections(*names: str, formats: tuple[str, ...] = ()) -> Service:
    layers = tuple(Layer(name, name, item=Item.COLLECTION, formats=formats) for name in names)
    return Service(Kind.OGCAPI, "1.0", "API", layers=layers)


# --------------------------------------------------------------------------- OGC API


def test_one_feature_of_a_collection_delivers() -> None:
    proof, asked = run(content_check_of(Kind.OGCAPI), API, collections("trees", "roads"), lambda _: answer(FOUND))
    assert asked == [f"{API}/collections/trees/items?limit=1&f=json"]
    assert (proof.level, outcomes(proof), proof.https) == (Level.DELIVERS, [ContentOutcome.OK], True)
    assert (proof.attempts[0].layer, proof.attempts[0].detail) == ("trees", "1 feature")


def test_an_empty_collection_is_blank_and_another_one_is_asked() -> None:
    proof, asked = run(
        content_check_of(Kind.OGCAPI),
        API,
        collections("a b/c", "x", "y", "z"),
        lambda ask: answer(FOUND if "/z/" in ask.url.address else NOTHING),
    )
    assert (proof.level, outcomes(proof)) == (
        Level.DELIVERS,
        [ContentOutcome.BLANK, ContentOutcome.BLANK, ContentOutcome.OK],
    )
    assert asked[0] == f"{API}/collections/a%20b%2Fc/items?limit=1&f=json"


@pytest.mark.parametrize(
    ("reply", "outcome", "level"),
    [
        (answer(NOTHING), ContentOutcome.BLANK, Level.ANSWERS),
        (answer({"code": "NotFound", "description": "gone"}, status=404), ContentOutcome.EXCEPTION, Level.ADVERTISED),
        (page(b"<html>", status=500, content_type="text/html"), ContentOutcome.HTTP_ERROR, Level.ADVERTISED),
        (page(b"<html><body>", content_type="text/html"), ContentOutcome.NOT_AN_IMAGE, Level.ADVERTISED),
        (answer({"title": "a landing page", "links": []}), ContentOutcome.NOT_AN_IMAGE, Level.ADVERTISED),
        (Failure(url(API), FailureCode.TIMEOUT_READ, "silent"), ContentOutcome.TIMEOUT, Level.ADVERTISED),
        (Failure(url(API), FailureCode.BUDGET, "enough"), ContentOutcome.REFUSED, Level.ADVERTISED),
    ],
)
def test_what_comes_in_place_of_a_feature_is_named(
    reply: Page | Failure, outcome: ContentOutcome, level: Level
) -> None:
    proof, _ = run(content_check_of(Kind.OGCAPI), API, collections("trees"), lambda _: reply)
    assert (outcomes(proof), proof.level) == ([outcome], level)


def test_a_hopeless_answer_ends_the_trial() -> None:
    silent = Failure(url(API), FailureCode.TIMEOUT_READ, "silent")
    _, asked = run(content_check_of(Kind.OGCAPI), API, collections("a", "b", "c"), lambda _: silent)
    assert len(asked) == 1


def test_a_collection_with_maps_alone_is_proved_by_a_map() -> None:
    service = collections("photos", formats=("image/png",))
    proof, asked = run(content_check_of(Kind.OGCAPI), API, service, lambda _: drawn(256, 256))
    assert asked == [f"{API}/collections/photos/map?width=256&height=256&f=png"]
    assert (proof.level, bool(proof.thumbnail)) == (Level.DELIVERS, True)


def test_a_map_that_a_server_has_no_whole_of_is_asked_for_by_its_extent() -> None:
    def reply(ask: Ask) -> Page:
        return drawn(256, 256) if "bbox=" in ask.url.address else answer({"code": "InvalidParameterValue"}, status=500)

    service = collections("photos", formats=("image/png",))
    service = replace(service, layers=tuple(replace(each, box=box(6, 46, 10, 48)) for each in service.layers))
    proof, asked = run(content_check_of(Kind.OGCAPI), API, service, reply)
    whole = f"{API}/collections/photos/map?width=256&height=256&f=png"
    assert (asked, proof.level) == ([whole, f"{whole}&bbox=6,46,10,48"], Level.DELIVERS)


@pytest.mark.parametrize(
    "at_home", [answer({"links": [{"rel": "data", "href": "v2/all"}]}), page("<html>An API</html>")]
)
def test_items_are_where_the_document_links_to_them(at_home: Page) -> None:
    items = {"rel": "items", "type": "application/geo+json", "href": f"{API}/v2/all/trees/features?f=json"}
    listed = {"collections": [{"id": "trees", "links": [{**items, "type": "text/html", "href": "x.html"}, items]}]}
    answers = {
        API: at_home,
        f"{API}?f=json": answer({"links": [{"rel": "data", "href": f"{API}/v2/all"}]}),
        "https://data.example.org/v2/all": answer(listed),
        f"{API}/v2/all": answer(listed),
        f"{API}/v2/all/trees/features?f=json&limit=1": answer(FOUND),
    }
    proof, asked = run(
        content_check_of(Kind.OGCAPI),
        API,
        collections("trees"),
        lambda ask: answers.get(ask.url.address, answer({"code": "404", "description": "no"}, status=404)),
    )
    assert (asked[0], asked[-1]) == (f"{API}/collections/trees/items?limit=1&f=json", [*answers][-1])
    assert (proof.level, outcomes(proof)) == (Level.DELIVERS, [ContentOutcome.OK])


def test_an_api_without_collections_is_only_advertised() -> None:
    proof, asked = run(content_check_of(Kind.OGCAPI), API, collections(), lambda _: answer(FOUND))
    assert (proof.level, asked) == (Level.ADVERTISED, [])


# --------------------------------------------------------------------------- ArcGIS


def test_a_map_service_is_asked_for_its_extent_as_stated_and_in_proportion() -> None:
    proof, asked = run(content_check_of(Kind.ARCGIS), f"{SERVER}/Rivers/MapServer", MAP, lambda _: drawn(256, 128))
    place, _, query = asked[0].partition("?")
    parameters = dict(query_parameters(url(f"http://x.example/?{query}")))
    assert place == f"{SERVER}/Rivers/MapServer/export"
    assert parameters["bbox"] == "400000,5600000,500000,5650000"
    assert (parameters["bboxSR"], parameters["imageSR"], parameters["size"]) == ("25832", "25832", "256,128")
    assert parameters["f"] == "image"
    assert (proof.level, proof.https, proof.attempts[0].crs) == (Level.DELIVERS, None, "EPSG:25832")


def test_a_blank_map_is_asked_for_once_more_in_the_middle() -> None:
    def reply(ask: Ask) -> Page:
        return drawn(256, 128, blank="400000" in ask.url.address)

    proof, asked = run(content_check_of(Kind.ARCGIS), f"{SERVER}/Rivers/MapServer", MAP, reply)
    assert (len(asked), outcomes(proof)) == (2, [ContentOutcome.BLANK, ContentOutcome.OK])
    proof, _ = run(
        content_check_of(Kind.ARCGIS), f"{SERVER}/Rivers/MapServer", MAP, lambda _: drawn(256, 128, blank=True)
    )
    assert (proof.level, proof.thumbnail) == (Level.ANSWERS, b"")


def test_an_image_of_another_size_and_an_error_with_200_are_named() -> None:
    proof, _ = run(content_check_of(Kind.ARCGIS), f"{SERVER}/Rivers/MapServer", MAP, lambda _: drawn(10, 10))
    assert outcomes(proof) == [ContentOutcome.WRONG_SIZE] * 2
    error = answer({"error": {"code": 400, "message": "Invalid or missing input parameters", "details": []}})
    proof, _ = run(content_check_of(Kind.ARCGIS), f"{SERVER}/Photos/ImageServer", MAP, lambda _: error)
    assert (outcomes(proof)[0], proof.attempts[0].detail) == (
        ContentOutcome.EXCEPTION,
        "400 Invalid or missing input parameters",
    )


def test_an_image_service_has_an_operation_of_its_own() -> None:
    _, asked = run(content_check_of(Kind.ARCGIS), f"{SERVER}/Photos/ImageServer", MAP, lambda _: drawn(256, 128))
    assert asked[0].startswith(f"{SERVER}/Photos/ImageServer/exportImage?")


def test_a_feature_service_is_asked_for_a_record() -> None:
    layers = (Layer("", "Wells", item=Item.FEATURE_TYPE), Layer("4", "Wells", parent=0, item=Item.FEATURE_TYPE))
    service = Service(Kind.ARCGIS, "10.9", "Wells", layers=layers)
    record = answer({"objectIdFieldName": "OBJECTID", "features": [{"attributes": {"OBJECTID": 1}}]})
    proof, asked = run(content_check_of(Kind.ARCGIS), f"{SERVER}/Wells/FeatureServer", service, lambda _: record)
    assert asked[0].startswith(f"{SERVER}/Wells/FeatureServer/4/query?where=1")
    assert (proof.level, proof.attempts[0].layer, proof.thumbnail) == (Level.DELIVERS, "4", b"")


def test_vector_tiles_are_asked_for_in_the_middle_of_their_extent() -> None:
    place, service = (
        f"{SERVER}/Base/VectorTileServer",
        Service(Kind.ARCGIS, "10.9", "Base", layers=(Layer("Base", "Base"),)),
    )
    answers = {f"{place}?f=json": answer(TILED), f"{place}/tile/5/15/16.pbf": page(b"\x1a\x02ab")}
    proof, asked = run(content_check_of(Kind.ARCGIS), place, service, lambda ask: answers[ask.url.address])
    assert (asked, outcomes(proof), proof.level) == ([*answers], [ContentOutcome.OK], Level.DELIVERS)


@pytest.mark.parametrize(
    "stated",
    [{}, {"origin": {"x": 1}, "lods": 5}, {"origin": {"x": 0, "y": 0}, "cols": 1e300, "lods": [{"resolution": 1e300}]}],
)
def test_tiles_that_a_document_does_not_place_are_not_asked_for(stated: dict[str, object]) -> None:
    service = Service(Kind.ARCGIS, "10.9", "Base", layers=(Layer("Base", "Base"),))
    document = answer({**TILED, "tileInfo": stated})
    proof, asked = run(content_check_of(Kind.ARCGIS), f"{SERVER}/B/VectorTileServer", service, lambda _: document)
    assert (len(asked), proof.level) == (1, Level.ADVERTISED)


def test_a_folder_has_no_content() -> None:
    service = Service(Kind.ARCGIS, "10.9", "x", layers=(Layer("A/MapServer", "A", item=Item.FOLDER),))
    proof, asked = run(content_check_of(Kind.ARCGIS), SERVER, service, lambda _: answer(FOUND))
    assert (proof.level, asked) == (Level.ADVERTISED, [])


# --------------------------------------------------------------------------- STAC

STAC = Service(Kind.STAC, "1.0.0", "A catalogue")


def catalogue(*links: tuple[str, str]) -> Page:
    body: Mapping[str, object] = {
        "stac_version": "1.0.0",
        "type": "Catalog",
        "id": "x",
        "links": [{"rel": rel, "href": href, "type": "application/json"} for rel, href in links],
    }
    return answer(body)


def test_files_are_followed_from_child_to_child_to_an_item() -> None:
    top = "http://data.example.org/stac/catalog.json"
    files = {
        top: catalogue(("self", top), ("child", "./a/catalog.json")),
        "http://data.example.org/stac/a/catalog.json": catalogue(("parent", "../catalog.json"), ("item", "./one.json")),
        "http://data.example.org/stac/a/one.json": answer({**FEATURE, "stac_version": "1.0.0"}),
    }
    proof, asked = run(content_check_of(Kind.STAC), top, STAC, lambda ask: files[ask.url.address])
    assert (asked, outcomes(proof), proof.level) == ([*files], [ContentOutcome.OK], Level.DELIVERS)


def test_an_api_is_searched_for_one_item() -> None:
    answers = {API: catalogue(("data", f"{API}/collections"), ("search", f"{API}/search"))}
    proof, asked = run(content_check_of(Kind.STAC), API, STAC, lambda ask: answers.get(ask.url.address, answer(FOUND)))
    assert (asked, proof.level) == ([API, f"{API}/search?limit=1"], Level.DELIVERS)


def test_a_catalogue_without_items_answers_and_one_in_circles_ends() -> None:
    proof, _ = run(content_check_of(Kind.STAC), API, STAC, lambda _: catalogue())
    assert (outcomes(proof), proof.level) == ([ContentOutcome.BLANK], Level.ANSWERS)
    turn = iter(range(100))
    proof, asked = run(content_check_of(Kind.STAC), API, STAC, lambda _: catalogue(("child", f"{API}/{next(turn)}")))
    assert (len(asked), proof.level) == (4, Level.ADVERTISED)


@pytest.mark.parametrize(
    ("length", "most", "picked"),
    [(5, 3, (0, 2, 4)), (2, 3, (0, 1)), (1, 3, (0,)), (0, 3, ()), (5, 1, (0,)), (5, 0, ())],
)
def test_items_are_picked_from_the_first_to_the_last(length: int, most: int, picked: tuple[int, ...]) -> None:
    assert spread(range(length), most) == picked


# --------------------------------------------------------------------------- TMS


def test_a_tile_map_is_asked_for_its_middle_at_a_few_scales() -> None:
    def reply(ask: Ask) -> Page:
        if ask.url.address.endswith("/town"):
            return page(TILE_MAP.format(TILES))
        return drawn(256, 256, blank="/town/9/" not in ask.url.address and "/town/10/" not in ask.url.address)

    proof, asked = run(content_check_of(Kind.TMS), TILES, TMS, reply)
    assert asked == [f"{TILES}/town", f"{TILES}/town/8/128/128.png", f"{TILES}/town/9/256/256.png"]
    assert (proof.level, outcomes(proof), proof.attempts[0].crs) == (Level.DELIVERS, [ContentOutcome.OK], "EPSG:3857")


def test_tiles_that_a_document_places_on_a_host_within_are_asked_where_it_was_had() -> None:
    def reply(ask: Ask) -> Page:
        is_document = ask.url.address.endswith("/town")
        return page(TILE_MAP.format("http://localhost:8080/tms/1.0.0")) if is_document else drawn(256, 256)

    _, asked = run(content_check_of(Kind.TMS), TILES, TMS, reply)
    assert asked[1] == f"{TILES}/town/8/128/128.png"


def test_a_tile_map_in_a_file_has_its_tiles_beside_it() -> None:
    address = "http://tiles.example.org/town/tilemapresource.xml"

    def reply(ask: Ask) -> Page:
        document = TILE_MAP.format(TILES).replace(f"{TILES}/town/", "")
        return page(document) if ask.url.address == address else drawn(256, 256)

    _, asked = run(content_check_of(Kind.TMS), address, TMS, reply)
    assert asked == [address, "http://tiles.example.org/town/8/128/128.png"]


@pytest.mark.parametrize(
    ("old", "new"), [("611.496226", "1e-320"), ('maxx="100000"', 'maxx="1e308"'), ('width="256"', 'width="0"')]
)
def test_figures_out_of_reach_are_no_crash(old: str, new: str) -> None:
    proof, asked = run(content_check_of(Kind.TMS), TILES, TMS, lambda _: page(TILE_MAP.format(TILES).replace(old, new)))
    assert proof.level is Level.ADVERTISED
    assert len(asked) <= 4


@pytest.mark.parametrize(
    ("old", "new", "zoom"),
    [
        ("", "", 8),
        ("EPSG:3857", "OSGEO:41001", 8),
        ("EPSG:3857", "EPSG:25832", None),
        ("EPSG:3857", "EPSG:" + "9" * 300, None),
        ('width="256"', 'width="512"', None),
        ('<Origin x="-20037508', '<Origin x="0', None),
        ("611.496226", "1222.992452", 7),
        ("611.496226", "600", None),
    ],
)
def test_the_zoom_of_a_tile_is_told_where_the_grid_is_that_of_the_web(old: str, new: str, zoom: int | None) -> None:
    document = TILE_MAP.format(TILES).replace(old, new)
    assert not old or document != TILE_MAP.format(TILES)
    proof, _ = run(
        content_check_of(Kind.TMS),
        TILES,
        TMS,
        lambda ask: page(document) if ask.url.address.endswith("/town") else drawn(256, 256),
    )
    assert [each.zoom for each in proof.attempts] == [zoom]


@pytest.mark.parametrize("document", ["<TileMap/>", "<html>", TILE_MAP.format(TILES).replace("units-per-pixel", "x")])
def test_a_tile_map_without_tiles_is_only_advertised(document: str) -> None:
    proof, asked = run(content_check_of(Kind.TMS), TILES, TMS, lambda _: page(document))
    assert (proof.level, asked) == (Level.ADVERTISED, [f"{TILES}/town"])


def test_blank_tiles_answer_and_deliver_nothing() -> None:
    def reply(ask: Ask) -> Page:
        return page(TILE_MAP.format(TILES)) if ask.url.address.endswith("/town") else drawn(256, 256, blank=True)

    proof, asked = run(content_check_of(Kind.TMS), TILES, TMS, reply)
    assert (proof.level, outcomes(proof), len(asked)) == (Level.ANSWERS, [ContentOutcome.BLANK], 4)
