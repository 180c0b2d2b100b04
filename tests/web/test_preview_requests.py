"""What of a service can be shown, and in which reference system its map is."""

from __future__ import annotations

import pytest

from geocrawl.model.catalogue import Layer, Service
from geocrawl.model.details import EndpointRow, ServiceDetail
from geocrawl.probe.previews import DEGREES, MERCATOR, Features, Picture, Tiles, View
from geocrawl.web.answers import Problem
from geocrawl.web.preview_requests import ServicePreviews

VIEW = View((7.0, 46.0, 8.0, 47.0), DEGREES, (256, 256))


def row(
    position: int, *crs: str, name: str = "a", parent: int | None = None, item: str = "layer", queryable: bool = False
) -> Layer:
    return Layer(
        service_id=1, position=position, parent=parent, name=name, title=name, crs=crs, queryable=queryable, item=item
    )


def previews_of(
    kind: str, *rows: Layer, address: str = "http://maps.example/x", version: str = "1.3.0"
) -> ServicePreviews:
    endpoint = EndpointRow(
        *(1, kind, address, 1, "valid", "ok", None, version, 200, (), 0.0, 0.0, 0.0, 1, None, None, None, None, ()),
        entry_id=None,
        evidence=(),
    )
    service = Service(id=1, kind=kind, title="title", url=address, version=version, layers=len(rows))
    return ServicePreviews(ServiceDetail(service, rows, (endpoint,)))


@pytest.mark.parametrize(
    ("kind", "systems", "projection"),
    [
        ("wms", [("EPSG:4326", "EPSG:3857"), ("EPSG:4326", "EPSG:3857")], DEGREES),
        ("wms", [("EPSG:3857",), ("EPSG:900913",), ("EPSG:4326",)], MERCATOR),
        ("wms", [(), ("CRS:84",)], DEGREES),
        ("wmts", [("EPSG:4326", "EPSG:3857")], MERCATOR),
        ("tms", [("EPSG:4326",), ("EPSG:3857",)], MERCATOR),
        ("tms", [("EPSG:4326",), ("EPSG:4326",), ("OSGEO:41001",)], DEGREES),
        ("arcgis", [("EPSG:3857",)], DEGREES),
    ],
)
def test_the_map_is_in_the_first_choice_of_most_layers(
    kind: str, systems: list[tuple[str, ...]], projection: str
) -> None:
    assert previews_of(kind, *(row(at, *each) for at, each in enumerate(systems))).projection == projection


def test_a_layer_is_shown_where_it_comes_in_the_reference_system_of_the_map() -> None:
    previews = previews_of(
        "wms",
        row(0, "EPSG:4326", "EPSG:25832", name=""),
        row(1, parent=0),
        row(2, "EPSG:3857"),
        row(3, "EPSG:25832"),
        row(4, *(f"EPSG:{code}" for code in range(20_000, 26_000)), name=""),
        row(5, parent=4),
        row(6, "epsg:4326"),
    )
    shown = [at for at, each in enumerate(previews._by_position.values()) if previews.of(each) is not None]
    assert (shown, previews.is_possible, previews.projection) == ([1, 6], True, DEGREES)


def test_nothing_of_a_service_is_shown_whose_address_has_a_key() -> None:
    previews = previews_of("wms", row(0, "EPSG:4326"), address="http://maps.example/x?token=secret")
    assert not previews.is_possible and previews.of(row(0, "EPSG:4326")) is None
    with pytest.raises(Problem) as raised:
        previews.exchange({"layer": "0", "bbox": "1,2,3,4"})
    assert raised.value.status == 404


@pytest.mark.parametrize(
    ("kind", "item", "shown"),
    [
        ("wfs", "feature-type", Features),
        ("wcs", "coverage", Tiles),
        ("ogcapi", "collection", Features),
        ("arcgis", "feature-type", type(None)),
        ("tms", "folder", type(None)),
        ("csw", "record-type", type(None)),
        ("stac", "collection", type(None)),
        ("of-a-later-version", "layer", type(None)),
    ],
)
def test_each_kind_says_what_is_shown_of_it(kind: str, item: str, shown: type) -> None:
    assert isinstance(previews_of(kind, row(0, item=item)).of(row(0, item=item)), shown)


@pytest.mark.parametrize("queryable", [True, False])
def test_features_of_an_arcgis_layer_are_asked_for_where_it_answers_queries(queryable: bool) -> None:
    address = "http://gis.example/arcgis/rest/services/Wells/FeatureServer"
    layer = row(1, name="7", item="feature-type", queryable=queryable)
    preview = previews_of("arcgis", layer, address=address).of(layer)
    assert isinstance(preview, Features) is queryable
    if isinstance(preview, Features):
        asked = preview.url(VIEW.box, 200).address
        assert asked.startswith(f"{address}/7/query?") and asked.endswith("&resultRecordCount=200&f=geojson")
        assert "&geometry=7,46,8,47&geometryType=esriGeometryEnvelope&inSR=4326&outSR=4326&" in asked


def test_a_layer_of_an_arcgis_map_is_asked_for_alone() -> None:
    address = "http://gis.example/arcgis/rest/services/Roads/MapServer"
    previews = previews_of("arcgis", row(0, "EPSG:25832", name=""), row(1, name="7", parent=0), address=address)
    assert "layers=show:7&" in previews.picture_url(row(1, name="7", parent=0), VIEW).address + "&"


def test_a_wms_has_legends_and_says_what_is_at_a_point_of_layers_that_can_be_asked() -> None:
    layers = (row(0, "EPSG:4326"), row(1, "EPSG:4326", queryable=True))
    previews = previews_of("wms", *layers)
    plain, queryable = map(previews.of, layers)
    assert isinstance(plain, Picture) and plain.legend is not None and plain.info is None
    assert isinstance(queryable, Picture) and queryable.info is not None and previews.answers
    assert "SLD_VERSION=1.1.0" in (plain.legend().address) and "&I=3&J=4" in queryable.info(VIEW, 3, 4).address
    old = previews_of("wms", *layers, version="1.1.1").of(layers[1])
    assert isinstance(old, Picture) and old.info is not None and "&X=3&Y=4" in old.info(VIEW, 3, 4).address
