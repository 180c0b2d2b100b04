"""ArcGIS: which forms are asked, what folders, services and layers are read as, and where they lead."""

from __future__ import annotations

import pytest

from geocrawl.model import Item, Kind, Status
from geocrawl.probe.kinds.arcgis import leads_of
from geocrawl.probe.registry import probe_of
from tests.probe.json_answers import answer, ask
from tests.support.answers import HTML, page, url

SERVER = "http://gis.example.org/arcgis/rest/services"
SERVICE = f"{SERVER}/Water/Rivers/MapServer"
MERCATOR = {"wkid": 102100, "latestWkid": 3857}
MAP = {
    "currentVersion": 10.91,
    "serviceDescription": "<p>All rivers &amp; lakes</p>",
    "mapName": "Layers",
    "copyrightText": "Water Office",
    "layers": [
        {"id": 0, "name": "Water", "parentLayerId": -1, "subLayerIds": [1, 2]},
        {"id": 1, "name": "Rivers", "parentLayerId": 0, "subLayerIds": None},
        {"id": 2, "name": "Lakes", "parentLayerId": 0, "subLayerIds": None},
    ],
    "tables": [{"id": 3, "name": "Gauges"}],
    "spatialReference": MERCATOR,
    "singleFusedMapCache": True,
    "fullExtent": {"xmin": 0, "ymin": 0, "xmax": 1113194.9, "ymax": 1118889.97, "spatialReference": MERCATOR},
    "supportedImageFormatTypes": "PNG32,PNG,JPG",
    "documentInfo": {"Title": "Rivers of the north", "Author": "Ada", "Keywords": "water,rivers"},
    "capabilities": "Map,Query,Data",
    "supportedExtensions": "FeatureServer, WMSServer, WFSServer, KmlServer",
}
FOLDER = {
    "currentVersion": 10.91,
    "folders": ["Water", "Two words"],
    "services": [
        {"name": "Base/Roads", "type": "MapServer"},
        {"name": "Find", "type": "GeocodeServer"},
        {"name": "Photos", "type": "ImageServer"},
    ],
}


def titled(**names: object) -> str:
    service = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer({**MAP, "documentInfo": {}, **names})})[0].service
    assert service is not None
    return service.title


def test_a_default_title_hides_no_name_that_the_author_gave() -> None:
    assert titled(documentInfo={"Title": "Map"}, mapName="Rivers 2020") == "Rivers 2020"
    assert titled(documentInfo={"Title": "C:/maps/Untitled.mxd"}, mapName="Rivers 2020") == "Rivers 2020"
    assert titled(documentInfo={"Title": "Rivers"}, mapName="Rivers 2020") == "Rivers"
    assert titled(documentInfo={"Title": " map "}, mapName="Layers") == titled(mapName="") != ""


def test_a_map_service_is_read_with_its_layers_below_the_service() -> None:
    verdict, asked = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer(MAP)})
    service = verdict.service
    assert service is not None
    assert asked == [f"{SERVICE}?f=json"]
    assert (service.kind, service.version, service.title) == (Kind.ARCGIS, "10.91", "Rivers of the north")
    assert (service.abstract, service.provider, service.access_constraints) == (
        "All rivers & lakes",
        "Ada",
        "Water Office",
    )
    assert (service.keywords, service.formats) == (("water", "rivers"), ("PNG32", "PNG", "JPG"))
    assert [(layer.name, layer.title, layer.parent) for layer in service.layers] == [
        ("", "Rivers of the north", None),
        ("0", "Water", 0),
        ("1", "Rivers", 1),
        ("2", "Lakes", 1),
        ("3", "Gauges", 0),
    ]
    root, group, rivers = service.layers[:3]
    assert (root.crs, group.queryable, rivers.queryable) == (("EPSG:3857",), False, True)
    assert root.box is not None
    assert root.box.bounds == pytest.approx((0, 0, 10, 10), abs=1e-4)


def test_a_service_leads_to_the_ogc_services_that_it_offers() -> None:
    verdict, _ = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer(MAP)})
    ogc = "http://gis.example.org/arcgis/services/Water/Rivers/MapServer"
    assert [(lead.endpoint.kind, lead.endpoint.url.address) for lead in verdict.leads] == [
        (Kind.WMS, f"{ogc}/WMSServer"),
        (Kind.WFS, f"{ogc}/WFSServer"),
        (Kind.ARCGIS, f"{SERVER}/Water/Rivers/FeatureServer"),
        (Kind.WMTS, f"{SERVICE}/WMTS/1.0.0/WMTSCapabilities.xml"),
    ]
    assert {lead.evidence.page for lead in verdict.leads} == {f"{SERVICE}?f=json"}


def test_a_root_leads_to_its_readable_services_and_folders() -> None:
    verdict, _ = ask(probe_of(Kind.ARCGIS), SERVER, {"*": answer(FOLDER)})
    assert verdict.service is not None
    assert [(item.name, item.item) for item in verdict.service.layers] == [
        ("Base/Roads/MapServer", Item.FOLDER),
        ("Find/GeocodeServer", Item.FOLDER),
        ("Photos/ImageServer", Item.FOLDER),
        ("Water", Item.FOLDER),
        ("Two words", Item.FOLDER),
    ]
    assert [lead.endpoint.url.address for lead in verdict.leads] == [
        f"{SERVER}/Base/Roads/MapServer",
        f"{SERVER}/Photos/ImageServer",
        f"{SERVER}/Water",
        f"{SERVER}/Two%20words",
    ]


def test_a_folder_that_lists_folders_without_end_is_not_followed_into_them() -> None:
    verdict, _ = ask(probe_of(Kind.ARCGIS), f"{SERVER}/Water", {"*": answer(FOLDER)})
    assert [lead.endpoint.url.address for lead in verdict.leads] == [
        f"{SERVER}/Base/Roads/MapServer",
        f"{SERVER}/Photos/ImageServer",
    ]


def test_a_folder_without_services_is_empty() -> None:
    verdict, _ = ask(
        probe_of(Kind.ARCGIS), SERVER, {"*": answer({"currentVersion": 10.3, "folders": [], "services": []})}
    )
    assert (verdict.status, verdict.reason) == (Status.INVALID, "empty")


@pytest.mark.parametrize("code", [401, 403, 498, 499])
def test_a_token_that_is_wanted_means_protected(code: int) -> None:
    error = {"error": {"code": code, "message": "Token Required", "details": ["Log in"]}}
    verdict, asked = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer(error)})
    assert (verdict.reason, verdict.detail, len(asked)) == ("protected", f"{code} Token Required Log in", 1)


def test_an_error_with_200_is_an_exception_with_its_text() -> None:
    error = {"error": {"code": 500, "message": "Service Water/Rivers/MapServer not started ", "details": []}}
    verdict, _ = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer(error)})
    assert (verdict.reason, verdict.detail) == ("exception", "500 Service Water/Rivers/MapServer not started")


def test_where_json_does_not_come_through_pjson_is_asked_for() -> None:
    answers = {f"{SERVICE}?f=json": page(HTML, content_type="text/html"), f"{SERVICE}?f=pjson": answer(MAP)}
    verdict, asked = ask(probe_of(Kind.ARCGIS), SERVICE, answers)
    assert (verdict.status, verdict.requests, asked) == (Status.VALID, 2, [*answers])


def test_a_page_is_html_after_two_requests() -> None:
    verdict, asked = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": page(HTML, content_type="text/html")})
    assert (verdict.reason, verdict.detail, len(asked)) == ("html", "Our maps", 2)


def test_vendor_parameters_stay_in_the_request() -> None:
    _, asked = ask(probe_of(Kind.ARCGIS), f"{SERVICE}?token=abc&f=pjson", {"*": answer(MAP)})
    assert asked == [f"{SERVICE}?token=abc&f=json"]


def test_a_plain_text_type_is_noted_and_read() -> None:
    verdict, _ = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer(MAP, content_type="text/plain;charset=utf-8")})
    assert [(each.code, each.detail) for each in verdict.deviations] == [("content-type", "text/plain")]


def test_an_image_service_is_one_layer_and_a_feature_service_has_feature_types() -> None:
    image = {"currentVersion": 10.9, "name": "Photos", "pixelSizeX": 1, "extent": MAP["fullExtent"]}
    service = ask(probe_of(Kind.ARCGIS), f"{SERVER}/Photos/ImageServer", {"*": answer(image)})[0].service
    assert service is not None
    assert [(layer.name, layer.item) for layer in service.layers] == [("Photos", Item.LAYER)]
    features = {"currentVersion": 10.9, "capabilities": "Query", "layers": [{"id": 0, "name": "Wells"}], "tables": []}
    service = ask(probe_of(Kind.ARCGIS), f"{SERVER}/Wells/FeatureServer", {"*": answer(features)})[0].service
    assert service is not None
    assert (service.title, [layer.item for layer in service.layers]) == ("Wells", [Item.FEATURE_TYPE] * 2)


@pytest.mark.parametrize("extent", [{"xmin": "NaN", "ymin": "NaN", "xmax": "NaN", "ymax": "NaN"}, {}, None, 3, []])
def test_an_extent_of_nothing_is_no_box(extent: object) -> None:
    verdict, _ = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer({**MAP, "fullExtent": extent})})
    assert verdict.service is not None
    assert verdict.service.layers[0].box is None


def test_an_extent_in_a_national_grid_has_no_box_but_its_code() -> None:
    extent = {"xmin": 1, "ymin": 2, "xmax": 3, "ymax": 4, "spatialReference": {"wkid": 27700}}
    changed = {**MAP, "fullExtent": extent, "spatialReference": {"wkid": 27700}}
    verdict, _ = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer(changed)})
    assert verdict.service is not None
    assert (verdict.service.layers[0].box, verdict.service.layers[0].crs) == (None, ("EPSG:27700",))


def test_values_of_any_type_are_no_crash() -> None:
    broken = {key: [1, {"a": None}] for key in MAP} | {"currentVersion": 11, "layers": [3, {}, {"id": {}}]}
    verdict, _ = ask(probe_of(Kind.ARCGIS), SERVICE, {"*": answer(broken)})
    assert verdict.status is Status.VALID


@pytest.mark.parametrize("version", ["1.2.3", "latest", True, None, [10.9]])
def test_another_program_with_a_current_version_is_no_arcgis(version: object) -> None:
    verdict, _ = ask(
        probe_of(Kind.ARCGIS), SERVICE, {"*": answer({"currentVersion": version, "services": [], "layers": []})}
    )
    assert (verdict.status, verdict.reason) == (Status.INVALID, "not-capabilities")


def test_a_layer_leads_to_its_service() -> None:
    layer = {"currentVersion": 10.91, "id": 3, "name": "Wells", "type": "Feature Layer", "geometryType": "point"}
    (found,) = leads_of(layer, url(f"{SERVICE}/3?f=json"))
    assert (found.endpoint.kind, found.endpoint.url.address, found.evidence.page) == (
        *(Kind.ARCGIS, SERVICE),
        f"{SERVICE}/3?f=json",
    )


TILED = {
    "currentVersion": 10.91,
    "name": "Base",
    "capabilities": "TilesOnly",
    "type": "indexedVector",
    "tileMap": "tilemap",
    "defaultStyles": "resources/styles",
    "tiles": ["tile/{z}/{y}/{x}.pbf"],
    "fullExtent": MAP["fullExtent"],
    "tileInfo": {
        "rows": 512,
        "cols": 512,
        "origin": {"x": -20037508.34, "y": 20037508.34},
        "spatialReference": MERCATOR,
        "lods": [{"level": level, "resolution": 78271.516964 / 2**level} for level in range(9)],
    },
}


def test_a_service_of_vector_tiles_is_one_item() -> None:
    place = f"{SERVER}/Base/VectorTileServer"
    verdict, asked = ask(probe_of(Kind.ARCGIS), place, {"*": answer(TILED)})
    assert (verdict.status, asked) == (Status.VALID, [f"{place}?f=json"])
    assert verdict.service is not None
    assert [(layer.name, layer.crs, layer.item) for layer in verdict.service.layers] == [
        ("Base", ("EPSG:3857",), Item.LAYER)
    ]
    folder = {**FOLDER, "services": [{"name": "Base", "type": "VectorTileServer"}, {"name": "x", "type": "GPServer"}]}
    assert next(lead.endpoint.url.address for lead in leads_of(folder, url(SERVER))) == place
