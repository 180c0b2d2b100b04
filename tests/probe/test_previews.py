"""How layers of each kind are shown: which requests are made, where the pictures lie, what hostile documents do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Failure, FailureCode, Item, Kind, Layer, Page, Service, Url
from geocrawl.probe.extents import Sides, to_mercator
from geocrawl.probe.levels import Level, cover
from geocrawl.probe.previews import DEGREES, MERCATOR, VECTOR_TILES, Features, LayerContext, Picture, Tiles, View
from geocrawl.probe.registry import preview_of
from tests.probe.content_runs import TILE_MAP, TILES
from tests.probe.fuzz import mutated
from tests.support.answers import page, url

WORLD = (-180.0, -85.0, 180.0, 85.0)
Reply = Callable[[str], Page | Failure]


def shown(kind: Kind, address: str, layer: Layer, *, version: str = "", extent: Sides | None = None) -> LayerContext:
    return LayerContext(url(address), Service(kind, version, ""), layer, extent, {})


def levels(layer: LayerContext, view: View, reply: Reply) -> tuple[tuple[Level, ...] | str, list[str]]:
    """The levels of a layer, or why it has none, and the addresses that were asked for."""
    preview = preview_of(layer.service.kind)
    found = preview(layer) if preview is not None else None
    assert isinstance(found, Tiles), found
    asked: list[str] = []
    interview = found.levels(view)
    try:
        ask = next(interview)
        while True:
            asked.append(ask.url.address)
            answer = reply(ask.url.address)
            ask = interview.send(replace(answer, url=ask.url, final=ask.url) if isinstance(answer, Page) else answer)
    except StopIteration as end:
        return (end.value if isinstance(end.value, str) else tuple(end.value)), asked


def tiles(layer: LayerContext, view: View, reply: Reply) -> list[tuple[Url, Sides]]:
    found, _ = levels(layer, view, reply)
    assert not isinstance(found, str), found
    return cover(found, view.box, 4)


def near(sides: Sides, expected: Sides) -> bool:
    return sides == pytest.approx(expected, rel=1e-6, abs=1e-6)


# --------------------------------------------------------------------------- WMS-C

TILE_SET = """<WMT_MS_Capabilities version="1.1.1"><Capability><VendorSpecificCapabilities>
<TileSet><SRS>EPSG:4326</SRS><BoundingBox SRS="EPSG:4326" minx="{minx}" miny="-90" maxx="180" maxy="90"/>
<Resolutions>{resolutions}</Resolutions><Width>{width}</Width><Height>256</Height><Format>image/png</Format>
<Layers>town</Layers><Styles/></TileSet></VendorSpecificCapabilities></Capability></WMT_MS_Capabilities>"""
WMSC = shown(Kind.WMSC, "http://gwc.example/wms", Layer("town", "Town", crs=("EPSG:4326",)))


def tile_set(minx: str = "-180", resolutions: str = "0.703125 0.3515625", width: str = "256") -> Page:
    return page(TILE_SET.format(minx=minx, resolutions=resolutions, width=width))


def test_tiles_of_a_wms_c_are_maps_of_fixed_boxes() -> None:
    view = View((10.0, 40.0, 20.0, 50.0), DEGREES, (100, 100))
    ((tile, sides),) = tiles(WMSC, view, lambda _: tile_set())
    assert near(sides, (0.0, 0.0, 90.0, 90.0))
    assert tile.address == (
        "http://gwc.example/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&TILED=true&LAYERS=town&STYLES=&SRS=EPSG:4326"
        "&FORMAT=image/png&WIDTH=256&HEIGHT=256&BBOX=0,0,90,90"
    )


@pytest.mark.parametrize("minx", ["-180", "NaN", "x", "1e308", "-1e308", ""])
@pytest.mark.parametrize("resolutions", ["0", "-1", "NaN 1e999", "1e-320", "1e308", " ".join(["0.1"] * 100_000), ""])
@pytest.mark.parametrize("width", ["256", "0", "-256", "9" * 40, "x"])
def test_no_numbers_of_a_tile_set_break_it(minx: str, resolutions: str, width: str) -> None:
    found = tiles(WMSC, View(WORLD, DEGREES, (100, 100)), lambda _: tile_set(minx, resolutions, width))
    assert len(found) <= 4 and all(each.host == "gwc.example" for each, _ in found)


# --------------------------------------------------------------------------- OGC API – Tiles

REL = "http://www.opengis.net/def/rel/ogc/1.0/"
API = "http://api.example/ogcapi"
COLLECTION = Layer("sea", "Sea", item=Item.COLLECTION, formats=("application/json",))
OGCAPI = shown(Kind.OGCAPI, API, COLLECTION)


def link(rel: str, href: str, type_: str = "application/json") -> dict[str, str]:
    return {"rel": rel, "href": href, "type": type_}


TEMPLATE = "{tileMatrix}/{tileRow}/{tileCol}?f=png"
SET = {
    "dataType": "map",
    "crs": "http://www.opengis.net/def/crs/EPSG/0/3857",
    "tileMatrixSetURI": "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad",
    "links": [link("item", f"{API}/tiles/WebMercatorQuad/{TEMPLATE}", "image/png")],
}
OTHER = {
    "dataType": "map",
    "crs": "http://www.opengis.net/def/crs/EPSG/0/4326",
    "links": [link("self", f"{API}/own"), link(f"{REL}tiling-scheme", f"{API}/scheme")],
}
MATRIX = {
    "id": "a b",
    "scaleDenominator": 279541132.0143589,
    "pointOfOrigin": [90, -180],
    "tileWidth": 256,
    "tileHeight": 256,
    "matrixWidth": 2,
    "matrixHeight": 1,
}


def documents(found: Mapping[str, object]) -> Reply:
    """Answers by the last part of the path."""

    def reply(address: str) -> Page:
        return page(json.dumps(found[address.partition("?")[0].rpartition("/")[2]]))

    return reply


def api(*sets: object, **more: object) -> Reply:
    links = [link(f"{REL}tilesets-map", f"{API}/list")]
    return documents({"sea": {"id": "sea", "links": links}, "list": {"tilesets": sets}, **more})


IN_MERCATOR = View(to_mercator((-10.0, 12.0, -5.0, 20.0)), MERCATOR, (100, 100))
IN_DEGREES = View((-10.0, 12.0, -5.0, 20.0), DEGREES, (100, 100))


def test_a_known_tile_matrix_set_is_not_asked_for() -> None:
    found, asked = levels(OGCAPI, IN_MERCATOR, api(OTHER, SET))
    assert asked == [f"{API}/collections/sea?f=json", f"{API}/list"]
    assert [each.address for each, _ in cover(found, IN_MERCATOR.box, 1)] == [  # type: ignore[arg-type]
        f"{API}/tiles/WebMercatorQuad/5/14/15?f=png"
    ]


def test_another_tile_matrix_set_is_read() -> None:
    own = {**OTHER, "links": [link("item", f"{API}/t/{TEMPLATE}", "image/png"), *OTHER["links"]]}
    reply = api(OTHER, SET, own=own, scheme={"crs": OTHER["crs"], "tileMatrices": [MATRIX]})
    ((tile, sides),) = tiles(OGCAPI, IN_DEGREES, reply)
    assert (tile.address, near(sides, (-180.0, -90.0, 0.0, 90.0))) == (f"{API}/t/a%20b/0/0?f=png", True)


def test_tiles_of_pygeoapi_are_found() -> None:
    """pygeoapi 0.21 has a relation of its own, and names no type of its template."""
    template = {"rel": "item", "href": f"{API}/t/WebMercatorQuad/{TEMPLATE}", "type_": "image/png"}
    reply = documents(
        {
            "sea": {"id": "sea", "links": [link(f"{REL}tilesets-raster", f"{API}/list")]},
            "list": {"tilesets": [{**SET, "links": [link("self", f"{API}/own")]}]},
            "own": {**SET, "dataType": "vector", "links": [template]},
        }
    )
    found = tiles(OGCAPI, IN_MERCATOR, reply)
    assert found and all(each.address.startswith(f"{API}/t/WebMercatorQuad/") for each, _ in found)


def test_a_tile_set_has_tiles_in_the_matrices_of_its_limits_alone() -> None:
    limits = [{"tileMatrix": "0", "minTileRow": 0, "maxTileRow": 0, "minTileCol": 0, "maxTileCol": 0}]
    limited = tiles(OGCAPI, IN_MERCATOR, api({**SET, "tileMatrixSetLimits": limits}))
    assert {each.address.split("/")[-3] for each, _ in limited} == {"0"}


def test_vector_tiles_have_no_picture_and_say_so() -> None:
    vector = {"id": "sea", "links": [link(f"{REL}tilesets-vector", f"{API}/list")]}
    assert levels(OGCAPI, IN_MERCATOR, documents({"sea": vector}))[0] == VECTOR_TILES
    unlike = {**SET, "dataType": "vector", "links": [link("item", f"{API}/{TEMPLATE}", "application/x-protobuf")]}
    assert levels(OGCAPI, IN_MERCATOR, api(unlike))[0] == VECTOR_TILES


def test_rows_may_be_counted_from_the_south() -> None:
    """MapProxy counts them so, and its scales are wrong in degrees."""
    other = {**OTHER, "crs": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"}
    own = {**other, "links": [link("item", f"{API}/t/{TEMPLATE}", "image/png"), *OTHER["links"]]}
    south = {"cornerOfOrigin": "bottomLeft", "pointOfOrigin": [-180, -90], "matrixHeight": 2, "matrixWidth": 4}
    matrix = {**MATRIX, **south, "id": "2", "cellSize": 0.3515625, "scaleDenominator": 1255.58}
    reply = api(other, own=own, scheme={"crs": other["crs"], "tileMatrices": [matrix]})
    ((tile, sides),) = tiles(OGCAPI, IN_DEGREES, reply)
    assert (tile.address, near(sides, (-90.0, 0.0, 0.0, 90.0))) == (f"{API}/t/2/1/1?f=png", True)


@pytest.mark.parametrize(
    "change",
    [
        {"cellSize": 1e308, "cornerOfOrigin": "bottomLeft"},
        {"cellSize": "NaN"},
        {"cellSize": -1},
        {"scaleDenominator": 0},
        {"scaleDenominator": -1},
        {"scaleDenominator": 1e-320},
        {"scaleDenominator": "1e999"},
        {"scaleDenominator": None},
        {"matrixWidth": 2**62, "matrixHeight": 2**62},
        {"matrixWidth": -1},
        {"tileWidth": 10**30},
        {"pointOfOrigin": ["NaN", 0]},
        {"pointOfOrigin": [1e308, -1e308]},
        {"pointOfOrigin": []},
        {"id": "../../../admin"},
        {"id": "{tileRow}"},
        {"cornerOfOrigin": "bottomLeft"},
    ],
)
def test_no_numbers_of_a_tile_matrix_break_it(change: Mapping[str, object]) -> None:
    own = {**OTHER, "links": [link("item", f"{API}/t/{TEMPLATE}", "image/png"), *OTHER["links"]]}
    scheme = {"crs": OTHER["crs"], "tileMatrices": [{**MATRIX, **change}] * 100}
    found = tiles(OGCAPI, IN_DEGREES, api(OTHER, own=own, scheme=scheme))
    assert len(found) <= 4 and all(each.address.startswith(f"{API}/t/") for each, _ in found)


@pytest.mark.parametrize("template", ["http://elsewhere.example/", "//elsewhere.example/", "ftp://elsewhere.example/"])
def test_a_template_leads_to_no_other_host(template: str) -> None:
    unlike = {**SET, "links": [link("item", template + TEMPLATE, "image/png")]}
    assert {each.host for each, _ in tiles(OGCAPI, IN_MERCATOR, api(unlike))} <= {"api.example"}


@given(
    st.recursive(
        st.none() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["tilesets", "links", "tileMatrices", "tileMatrixSetLimits", "crs", "rel", "href"]),
                inner,
            )
        ),
        max_leaves=10,
    )
)
def test_no_json_breaks_an_api(value: object) -> None:
    def reply(address: str) -> Page:
        links = [link(f"{REL}tilesets-map", f"{API}/list"), link(f"{REL}tiling-scheme", f"{API}/x"), value]
        sets = [{**SET, "tileMatrixSetURI": value, "links": links}, value]
        return page(json.dumps({"links": links, "tilesets": sets}))

    found, _ = levels(OGCAPI, IN_MERCATOR, reply)
    assert isinstance(found, str) or len(cover(found, IN_MERCATOR.box, 4)) <= 4


# --------------------------------------------------------------------------- WCS

DESCRIBED = """<wcs:CoverageDescriptions xmlns:wcs="http://www.opengis.net/wcs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2">
<wcs:CoverageDescription><gml:boundedBy><gml:Envelope srsName="http://www.opengis.net/def/crs/EPSG/0/{code}"
axisLabels="{labels}"><gml:lowerCorner>{low}</gml:lowerCorner><gml:upperCorner>{high}</gml:upperCorner></gml:Envelope>
</gml:boundedBy><gml:domainSet><gml:RectifiedGrid><gml:axisLabels>{grid}</gml:axisLabels></gml:RectifiedGrid>
</gml:domainSet></wcs:CoverageDescription></wcs:CoverageDescriptions>"""
HEIGHT = Layer("height", "Height", item=Item.COVERAGE)
VIEW = View((0.0, 40.0, 20.0, 50.0), DEGREES, (200, 100))


def wcs(
    version: str, formats: tuple[str, ...] = ("image/tiff", "image/png"), extent: Sides | None = None
) -> LayerContext:
    found = shown(Kind.WCS, "http://wcs.example/wcs", HEIGHT, version=version, extent=extent)
    return replace(found, service=replace(found.service, formats=formats))


def described(
    code: str = "4326", labels: str = "Lat Long", grid: str = "i j", low: str = "46 6", high: str = "48 10"
) -> Reply:
    return lambda _: page(DESCRIBED.format(code=code, labels=labels, grid=grid, low=low, high=high))


def test_a_coverage_is_asked_for_by_its_own_axes() -> None:
    ((part, sides),) = tiles(wcs("2.0.1"), VIEW, described())
    assert sides == (6.0, 46.0, 10.0, 48.0)
    assert part.address.replace("%28", "(").replace("%29", ")") == (
        "http://wcs.example/wcs?SERVICE=WCS&VERSION=2.0.1&REQUEST=GetCoverage&COVERAGEID=height&FORMAT=image/png"
        "&SUBSET=Long(6,10)&SUBSET=Lat(46,48)&SCALESIZE={0}i(40),{0}j(20)"
    ).format("http://www.opengis.net/def/axis/OGC/1/")


@pytest.mark.parametrize(
    ("labels", "grid", "said"),
    [
        ("Lat Long", "Long Lat", "SUBSET=Long(6,10)&SUBSET=Lat(46,48)&SCALESIZE=Long(40),Lat(20)"),
        ("Long Lat", "Lat Long", "SUBSET=Long(6,10)&SUBSET=Lat(46,48)&SCALESIZE=Long(40),Lat(20)"),
        ("y x", "", "SUBSET=x(6,10)&SUBSET=y(46,48)&SCALESIZE=x(40),y(20)"),
        ("", "", "SUBSET=Long(6,10)&SUBSET=Lat(46,48)&SCALESIZE=Long(40),Lat(20)"),
    ],
)
def test_the_order_of_axes_is_that_of_their_names(labels: str, grid: str, said: str) -> None:
    reply = described(labels=labels, grid=grid)
    ((part, sides),) = tiles(wcs("2.0.1", extent=(6.0, 46.0, 10.0, 48.0)), VIEW, reply)
    assert said in part.address.replace("%28", "(").replace("%29", ")") and sides == (6.0, 46.0, 10.0, 48.0)


def test_a_coverage_in_another_reference_system_is_asked_for_in_degrees() -> None:
    reply = described("25832", "E N", "E N", "400000 5000000", "500000 5100000")
    ((part, _),) = tiles(wcs("2.0.1", extent=(6.0, 46.0, 10.0, 48.0)), VIEW, reply)
    system = "http://www.opengis.net/def/crs/EPSG/0/4326"
    assert part.address.endswith(f"&SUBSETTINGCRS={system}&OUTPUTCRS={system}")
    assert "in degrees" in str(levels(wcs("2.0.1"), VIEW, reply)[0]), "where it lies is not known"


@pytest.mark.parametrize("version", ["1.0.0", "1.1.1"])
def test_older_versions_are_asked_by_the_oldest(version: str) -> None:
    text = "<CoverageDescription><formats>ArcGrid GeoTIFF PNG</formats></CoverageDescription>"
    layer = wcs(version, (), (6.0, 46.0, 10.0, 48.0))
    ((part, _),) = tiles(layer, VIEW, lambda _: page(text))
    assert part.address == (
        "http://wcs.example/wcs?SERVICE=WCS&VERSION=1.0.0&REQUEST=GetCoverage&COVERAGE=height&FORMAT=PNG"
        "&CRS=EPSG:4326&BBOX=6,46,10,48&WIDTH=40&HEIGHT=20"
    )


@pytest.mark.parametrize("formats", ["", "ArcGrid GeoTIFF"])
def test_a_coverage_that_comes_as_data_alone_is_not_shown(formats: str) -> None:
    description = page(f"<CoverageDescription><formats>{formats}</formats></CoverageDescription>")
    layer = wcs("1.0.0", (), (6.0, 46.0, 10.0, 48.0))
    assert "in no format that can be shown" in str(levels(layer, VIEW, lambda _: description)[0])
    preview = preview_of(Kind.WCS)
    assert preview is not None and preview(layer) and preview(wcs("2.0.1"))
    assert preview(wcs("2.0.1", ("image/tiff", "application/netcdf"))) is None, "no button promises it"


def test_a_coverage_elsewhere_is_not_asked_for() -> None:
    found, asked = levels(wcs("2.0.1"), replace(VIEW, box=(50.0, 0.0, 60.0, 10.0)), described())
    assert "elsewhere" in str(found) and len(asked) == 1


@pytest.mark.parametrize("low", ["NaN NaN", "1e999 0", "x", "", "46", "90 180"])
@pytest.mark.parametrize("labels", ["Lat Long", "a&b c=d", "Lat", "i" * 10_000])
def test_no_description_of_a_coverage_breaks_it(low: str, labels: str) -> None:
    reply = described(labels=labels.replace("&", "&amp;"), low=low)
    found, asked = levels(wcs("2.0.1"), VIEW, reply)
    assert len(asked) == 1
    if not isinstance(found, str):
        assert all(each.host == "wcs.example" and "&b" not in each.address for each, _ in cover(found, VIEW.box, 4))


# --------------------------------------------------------------------------- every kind


LINKS = (link("item", f"{API}/t/{TEMPLATE}", "image/png"), link(f"{REL}tilesets-map", f"{API}/list"))
OWN = {**OTHER, "links": [*LINKS, *OTHER["links"]]}
DAMAGED = [
    (WMSC, TILE_SET.format(minx="-180", resolutions="0.7 0.35", width="256")),
    (shown(Kind.TMS, TILES, Layer("town", "Town", crs=("EPSG:3857",))), TILE_MAP.format(TILES)),
    (wcs("2.0.1"), DESCRIBED.format(code="4326", labels="Lat Long", grid="i j", low="46 6", high="48 10")),
    (
        shown(Kind.TILEJSON, "http://t.example/t.json", Layer("a", "A", crs=("EPSG:3857",))),
        json.dumps({"tilejson": "3.0.0", "tiles": ["http://t.example/{z}/{x}/{y}.png"], "minzoom": 2, "maxzoom": 9}),
    ),
    (OGCAPI, json.dumps({**OWN, "tilesets": [OWN], "tileMatrices": [MATRIX]})),
]


@pytest.mark.parametrize(
    ("layer", "document"), DAMAGED, ids=lambda each: each.service.kind if isinstance(each, LayerContext) else ""
)
def test_no_damaged_document_breaks_a_preview(layer: LayerContext, document: str) -> None:
    for _, body in [("", document.encode()), *mutated([("", document.encode())], 300, seed=7)]:
        for view in (IN_DEGREES, IN_MERCATOR):
            found, asked = levels(layer, view, lambda _, body=body: page(body))  # type: ignore[misc]
            assert len(asked) <= 4
            assert isinstance(found, str) or len(cover(found, view.box, 4)) <= 4


def failed(address: str) -> Failure:
    return Failure(url(address), FailureCode.TIMEOUT_READ, "")


@pytest.mark.parametrize(
    ("formats", "expected"),
    [
        ((), Features),
        (("application/geo+json", "image/png"), Picture),
        (("image/tiff", "image/png"), Picture),
        (("image/tiff", "application/prs.coverage+json"), type(None)),
        (("application/json",), Tiles),
        (("text/csv",), type(None)),
    ],
)
def test_a_collection_is_shown_by_its_map_its_features_or_its_tiles(formats: tuple[str, ...], expected: type) -> None:
    preview = preview_of(Kind.OGCAPI)
    assert preview is not None
    assert isinstance(preview(shown(Kind.OGCAPI, API, replace(COLLECTION, formats=formats))), expected)


@pytest.mark.parametrize("kind", [kind for kind in Kind if preview_of(kind) is not None])
@pytest.mark.parametrize("item", Item)
def test_every_kind_takes_any_layer_and_any_failure(kind: Kind, item: Item) -> None:
    preview = preview_of(kind)
    assert preview is not None
    for crs in ((), ("EPSG:4326",), ("EPSG:3857",), ("EPSG:25832",)):
        layer = shown(kind, "http://maps.example/x", Layer("a", "A", crs=crs, item=item, formats=("application/json",)))
        found = preview(layer)
        if isinstance(found, Tiles):
            for system in found.systems:
                said, _ = levels(layer, View(WORLD, system, (64, 64)), failed)
                assert not said or isinstance(said, str)
