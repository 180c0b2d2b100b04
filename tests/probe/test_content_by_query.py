"""Content of WFS, WMTS and CSW: what is asked for, and what each answer proves; real servers in `tests/servers`."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from geocrawl.model import (
    ContentOutcome,
    ContentReport,
    Failure,
    FailureCode,
    Item,
    Kind,
    Layer,
    Level,
    Page,
    Purpose,
    Service,
)
from geocrawl.ports import Ask, ContentCheck
from geocrawl.probe.extents import is_geographic
from geocrawl.probe.kinds.wfs import judge_feature
from geocrawl.probe.kinds.wmts.content import TileLayer, choose_tiles, layer_spec, read_sets
from geocrawl.probe.levels import MatrixSet
from geocrawl.probe.registry import content_check_of
from geocrawl.probe.stream import read_items
from geocrawl.urls import query_parameters, service_endpoint
from tests.probe.kinds import documents
from tests.support.answers import EXCEPTION, HTML, page, url
from tests.support.interviews import with_picture

ADDRESS = "http://maps.example.org/service"
EMPTY = '<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" numberReturned="0"/>'
GML_3_2 = EMPTY.replace("/>", "><wfs:boundedBy/><wfs:member><a/></wfs:member></wfs:FeatureCollection>")
GML_3_1 = "<FeatureCollection><featureMembers><a/><b/></featureMembers></FeatureCollection>"
GML_2 = "<FeatureCollection><featureMember><a/></featureMember></FeatureCollection>"
GEOJSON = '{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": null}]}'
RECORDS = """<csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2"><csw:SearchStatus/>
<csw:SearchResults numberOfRecordsMatched="20" nextRecord="2">{}</csw:SearchResults></csw:GetRecordsResponse>"""


def run(
    check: ContentCheck, service: Service, reply: Callable[[Ask], Page | Failure], address: str = ADDRESS
) -> tuple[ContentReport, list[Ask]]:
    """The proof and what was asked for."""
    asked: list[Ask] = []
    content_interview = check.run(service_endpoint(check.kind, url(address)), service)
    try:
        ask = next(content_interview)
        while True:
            asked.append(ask)
            assert len(asked) <= 8
            found = reply(ask)
            found = replace(found, url=ask.url, final=ask.url) if isinstance(found, Page) else found
            ask = content_interview.send(with_picture(found))
    except StopIteration as end:
        proof: ContentReport = end.value
        return proof, asked


def parameters(ask: Ask) -> dict[str, str]:
    return dict(query_parameters(ask.url))


def outcomes(proof: ContentReport) -> list[ContentOutcome]:
    return [entry.outcome for entry in proof.attempts]


# --------------------------------------------------------------------------- WFS


def wfs(version: str, *names: str) -> Service:
    return Service(
        Kind.WFS, version, "Roads", layers=tuple(Layer(name, name, item=Item.FEATURE_TYPE) for name in names)
    )


def test_one_feature_delivers_and_ends_the_trial() -> None:
    proof, asked = run(content_check_of(Kind.WFS), wfs("2.0.0", "r:road", "r:path"), lambda _: page(GML_3_2))
    assert (proof.level, outcomes(proof)) == (Level.DELIVERS, [ContentOutcome.OK])
    assert (proof.attempts[0].layer, proof.attempts[0].detail) == ("r:road", "1 feature")
    assert [ask.purpose for ask in asked] == [Purpose.MAP]
    wanted = {"SERVICE": "WFS", "VERSION": "2.0.0", "REQUEST": "GetFeature", "TYPENAMES": "r:road", "COUNT": "1"}
    assert parameters(asked[0]) == wanted


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_older_versions_have_other_names_for_the_same(version: str) -> None:
    asked = parameters(run(content_check_of(Kind.WFS), wfs(version, "road"), lambda _: page(GML_2))[1][0])
    assert (asked["TYPENAME"], asked["MAXFEATURES"], asked["VERSION"]) == ("road", "1", version)
    assert "COUNT" not in asked


def test_a_type_without_features_leads_to_the_next() -> None:
    def reply(ask: Ask) -> Page:
        return page(GML_3_2 if parameters(ask)["TYPENAMES"] == "c" else EMPTY)

    proof, _ = run(content_check_of(Kind.WFS), wfs("2.0.0", "a", "b", "c"), reply)
    assert (proof.level, outcomes(proof)) == (
        Level.DELIVERS,
        [ContentOutcome.BLANK, ContentOutcome.BLANK, ContentOutcome.OK],
    )
    proof, _ = run(content_check_of(Kind.WFS), wfs("2.0.0", "a", "b"), reply)
    assert proof.level is Level.ANSWERS


def test_a_document_in_a_file_is_asked_for_nothing() -> None:
    for check, service in (
        (content_check_of(Kind.WFS), wfs("2.0.0", "a")),
        (content_check_of(Kind.CSW), Service(Kind.CSW, "2.0.2", "Geoportal")),
    ):
        proof, asked = run(check, service, lambda _: page(GML_2), "http://maps.example.org/capabilities.xml")
        assert (proof.level, proof.attempts, asked) == (Level.ADVERTISED, (), [])


def test_a_wfs_that_is_slow_is_left_alone() -> None:
    failure = Failure(url(ADDRESS), FailureCode.TIMEOUT_READ, "30 s")
    proof, asked = run(content_check_of(Kind.WFS), wfs("2.0.0", "a", "b"), lambda _: failure)
    assert (proof.level, outcomes(proof), len(asked)) == (Level.ADVERTISED, [ContentOutcome.TIMEOUT], 1)


@pytest.mark.parametrize(
    ("body", "outcome", "detail"),
    [
        (GML_3_2, ContentOutcome.OK, "1 feature"),
        (GML_3_1, ContentOutcome.OK, "2 features"),
        (GML_2, ContentOutcome.OK, "1 feature"),
        (GEOJSON, ContentOutcome.OK, "1 feature"),
        (EMPTY, ContentOutcome.BLANK, "no features"),
        ("<FeatureCollection><featureMembers/></FeatureCollection>", ContentOutcome.BLANK, "no features"),
        (EXCEPTION.format("no data"), ContentOutcome.EXCEPTION, "InvalidParameterValue: no data"),
        (HTML.decode(), ContentOutcome.NOT_AN_IMAGE, "XML with the root html"),
        ("oops", ContentOutcome.NOT_AN_IMAGE, "no XML: text/xml"),
    ],
)
def test_what_came_is_told_by_its_members(body: str, outcome: ContentOutcome, detail: str) -> None:
    assert judge_feature(page(body)) == (outcome, detail)


@given(st.binary(max_size=200))
def test_no_bytes_make_a_look_fail(body: bytes) -> None:
    assert judge_feature(page(body))[0] is not ContentOutcome.OK


# --------------------------------------------------------------------------- CSW


def test_one_record_delivers() -> None:
    answer = page(RECORDS.format("<csw:BriefRecord/>"))
    proof, asked = run(content_check_of(Kind.CSW), Service(Kind.CSW, "2.0.2", "Geoportal"), lambda _: answer)
    assert (proof.level, outcomes(proof)) == (Level.DELIVERS, [ContentOutcome.OK])
    assert proof.attempts[0].detail == "1 of 20 records"
    sent = parameters(asked[0])
    assert (sent["REQUEST"], sent["maxRecords"], sent["elementSetName"]) == ("GetRecords", "1", "brief")


def test_an_empty_catalogue_answers() -> None:
    proof, asked = run(
        content_check_of(Kind.CSW), Service(Kind.CSW, "3.0.0", "Geoportal"), lambda _: page(RECORDS.format(""))
    )
    assert (proof.level, outcomes(proof), len(asked)) == (Level.ANSWERS, [ContentOutcome.BLANK], 1)


def test_a_catalogue_without_dublin_core_is_asked_for_iso_19139() -> None:
    def reply(ask: Ask) -> Page:
        is_iso = "gmd" in parameters(ask)["outputSchema"]
        return page(RECORDS.format("<MD_Metadata/>") if is_iso else EXCEPTION.format("outputSchema"))

    proof, _ = run(content_check_of(Kind.CSW), Service(Kind.CSW, "2.0.2", "Geoportal"), reply)
    assert (proof.level, outcomes(proof)) == (Level.DELIVERS, [ContentOutcome.EXCEPTION, ContentOutcome.OK])


# --------------------------------------------------------------------------- WMTS


MATRIX = """<TileMatrix><ows:Identifier>{}</ows:Identifier><ScaleDenominator>{}</ScaleDenominator>
<TopLeftCorner>{}</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight><MatrixWidth>{}</MatrixWidth>
<MatrixHeight>{}</MatrixHeight></TileMatrix>"""
GOOGLE = "".join(
    MATRIX.format(z, 559082264.0287178 / 2**z, "-20037508.3428 20037508.3428", 2**z, 2**z) for z in range(10)
)
WORLD = "".join(MATRIX.format(z, 279541132.0143589 / 2**z, "90 -180", 2 * 2**z, 2**z) for z in range(10))
WMTS = f"""<Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1">
<Contents><Layer><ows:Identifier>relief</ows:Identifier><ows:WGS84BoundingBox><ows:LowerCorner>6 46</ows:LowerCorner>
<ows:UpperCorner>10 48</ows:UpperCorner></ows:WGS84BoundingBox>
<Style isDefault="true"><ows:Identifier>grey</ows:Identifier>
</Style><Format>image/png</Format><Dimension><ows:Identifier>Time</ows:Identifier><Default>2020</Default></Dimension>
<TileMatrixSetLink><TileMatrixSet>google</TileMatrixSet></TileMatrixSetLink>
<TileMatrixSetLink><TileMatrixSet>world</TileMatrixSet></TileMatrixSetLink>
<ResourceURL format="image/png" resourceType="tile"
 template="http://maps.example.org/t/{{Layer}}/{{style}}/{{Time}}/{{TileMatrixSet}}/{{TileMatrix}}/{{TileRow}}/{{TileCol}}.png"/>
</Layer><TileMatrixSet><ows:Identifier>google</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>
{GOOGLE}</TileMatrixSet><TileMatrixSet><ows:Identifier>world</ows:Identifier>
<ows:SupportedCRS>urn:ogc:def:crs:EPSG::4326</ows:SupportedCRS>{WORLD}</TileMatrixSet></Contents></Capabilities>"""
SERVICE = Service(Kind.WMTS, "1.0.0", "Tiles", layers=(Layer("relief", "Relief"),))


def drawn(*, blank: bool = False) -> Page:
    image = Image.new("RGB", (256, 256), "white") if blank else Image.effect_mandelbrot((256, 256), (-2, -1, 1, 1), 20)
    written = io.BytesIO()
    image.save(written, "PNG")
    return page(written.getvalue(), content_type="image/png")


def test_a_tile_in_the_middle_of_the_layer_is_asked_for() -> None:
    """8° E, 47° N lies in tile 33/22 of Web Mercator's level 6, whose tiles are 5.6° wide."""
    proof, asked = run(
        content_check_of(Kind.WMTS), SERVICE, lambda ask: page(WMTS) if ask.purpose is Purpose.PROBE else drawn()
    )
    assert (proof.level, outcomes(proof), proof.attempts[0].crs) == (Level.DELIVERS, [ContentOutcome.OK], "EPSG:3857")
    assert len(proof.thumbnail) > 0
    sent = parameters(asked[1])
    assert [sent[name] for name in ("LAYER", "STYLE", "FORMAT", "Time")] == ["relief", "grey", "image/png", "2020"]
    assert [sent[name] for name in ("TILEMATRIXSET", "TILEMATRIX", "TILEROW", "TILECOL")] == ["google", "6", "22", "33"]


def test_a_blank_tile_leads_to_the_other_reference_system_then_to_a_finer_one() -> None:
    def reply(ask: Ask) -> Page:
        return page(WMTS) if ask.purpose is Purpose.PROBE else drawn(blank=True)

    proof, asked = run(content_check_of(Kind.WMTS), SERVICE, reply)
    assert (proof.level, outcomes(proof)) == (Level.ANSWERS, [ContentOutcome.BLANK])
    places = [(sent["TILEMATRIXSET"], sent["TILEMATRIX"]) for sent in map(parameters, asked[1:])]
    assert places == [("google", "6"), ("world", "5"), ("google", "8")]


def test_a_document_in_a_file_is_asked_by_its_templates_on_any_host_but_an_inner_one() -> None:
    address = "http://maps.example.org/1.0.0/WMTSCapabilities.xml"

    def reply(ask: Ask) -> Page:
        return page(WMTS) if ask.purpose is Purpose.PROBE else drawn()

    proof, asked = run(content_check_of(Kind.WMTS), SERVICE, reply, address)
    assert [ask.url.address for ask in asked] == [
        address,
        "http://maps.example.org/t/relief/grey/2020/google/6/22/33.png",
    ]
    assert proof.level is Level.DELIVERS
    proof, asked = run(
        content_check_of(Kind.WMTS), SERVICE, reply, address.replace("maps.example.org", "www.example.org")
    )
    assert (proof.level, len(asked)) == (Level.DELIVERS, 2)
    inner = WMTS.replace("//maps.example.org", "//localhost:8080")
    proof, asked = run(content_check_of(Kind.WMTS), SERVICE, lambda _: page(inner), address)
    assert (proof.level, proof.attempts, len(asked)) == (Level.ADVERTISED, (), 1)


def test_a_wmts_whose_document_is_gone_has_no_attempts() -> None:
    proof, asked = run(content_check_of(Kind.WMTS), SERVICE, lambda _: page(HTML, content_type="text/html"))
    assert (proof.level, proof.attempts) == (Level.ADVERTISED, ())
    assert [ask.purpose for ask in asked] == [Purpose.PROBE, Purpose.PROBE]


def within(layer: TileLayer, sets: dict[str, MatrixSet], name: str) -> None:
    """Every tile chosen lies in its matrix and its limits."""
    for tile in choose_tiles(layer, sets):
        matrix = next(each for each in sets[tile.matrix_set].matrices if each.name == tile.matrix)
        first, last, left, right = layer.links[tile.matrix_set].get(tile.matrix) or (
            *(0, matrix.size[1] - 1),
            *(0, matrix.size[0] - 1),
        )
        assert first <= tile.row <= last, (name, layer.name, tile)
        assert left <= tile.column <= right, (name, layer.name, tile)


@pytest.mark.shared
def test_every_recorded_layer_has_a_tile_within_its_limits(shared: Path) -> None:
    without = []
    for file in documents(shared, "wmts"):
        read = read_items(file.read_bytes(), "text/xml", layer_spec())
        assert read.reading.root is not None
        sets = dict(read_sets(read.reading.root))
        for layer in read.items:
            within(layer, sets, file.name)
            if not list(choose_tiles(layer, sets)):
                without.append((file.name, layer.name))
    assert {name for name, _ in without} == {"geotools_undefinedTileMatrixSet.xml", "terriajs_with_tilematrix.xml"}


@given(west=st.floats(-180, 179), south=st.floats(-80, 79), wide=st.floats(0.01, 100), high=st.floats(0.01, 60))
def test_the_chosen_tile_holds_the_middle_of_the_layer(west: float, south: float, wide: float, high: float) -> None:
    """Computed back from row and column, by the definition of the well-known scale sets."""
    east, north = min(west + wide, 180.0), min(south + high, 80.0)
    read = read_items(WMTS.encode(), "text/xml", layer_spec())
    assert read.reading.root is not None
    layer = replace(read.items[0], extent=(west, south, east, north))
    sets = read_sets(read.reading.root)
    for tile in choose_tiles(layer, sets):
        tiles = 2 ** int(tile.matrix)
        if is_geographic(tile.crs):
            left, right = (-180 + 180 / tiles * each for each in (tile.column, tile.column + 1))
            assert left - 1e-6 <= (west + east) / 2 <= right + 1e-6
        else:
            left, right = (-180 + 360 / tiles * each for each in (tile.column, tile.column + 1))
            assert left - 1e-6 <= (west + east) / 2 <= right + 1e-6
            top, bottom = (
                math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * each / tiles))))
                for each in (tile.row, tile.row + 1)
            )
            assert south - 1e-6 <= top
            assert bottom <= north + 1e-6


NUMBERS = st.one_of(
    st.sampled_from(["", "0", "-1", "NaN", "inf", "1e308", "-1e308", "1e-320", "x", "9" * 30]),
    st.floats().map(str),
    st.integers(-(10**6), 10**6).map(str),
)


@given(scale=NUMBERS, corner=st.tuples(NUMBERS, NUMBERS), across=NUMBERS, down=NUMBERS)
def test_no_numbers_of_a_matrix_make_the_choice_fail(
    scale: str, corner: tuple[str, str], across: str, down: str
) -> None:
    matrix = MATRIX.format("m", scale, " ".join(corner), across, down)
    body = WMTS.replace(GOOGLE, matrix).replace(WORLD, matrix)
    read = read_items(body.encode(), "text/xml", layer_spec())
    assert read.reading.root is not None
    sets = dict(read_sets(read.reading.root))
    within(read.items[0], sets, body)


def test_names_too_long_for_an_address_are_passed_over() -> None:
    proof, asked = run(content_check_of(Kind.WFS), wfs("2.0.0", "路" * 9_000, "road"), lambda _: page(GML_3_2))
    assert [parameters(ask)["TYPENAMES"] for ask in asked] == ["road"]
    assert proof.level is Level.DELIVERS
    body = WMTS.replace("relief", "路" * 9_000)
    proof, asked = run(content_check_of(Kind.WMTS), SERVICE, lambda _: page(body))
    assert (proof.level, proof.attempts, len(asked)) == (Level.ADVERTISED, (), 1)
