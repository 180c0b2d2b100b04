"""Drawings: features in either order of axes, tiles in their places, texts without markup; nothing breaks one."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from geocrawl.model import Failure, FailureCode, Page, Url
from geocrawl.ports import Ask
from geocrawl.probe.levels import Level, cover
from geocrawl.probe.previews import DEGREES, Levels, View
from geocrawl.web.preview_drawings import Drawing, features, image_of, text, tiles
from tests.support.crawls import url

BOX = (0.0, 40.0, 10.0, 50.0)
VIEW = View(BOX, DEGREES, (100, 100))
WHERE = url("http://maps.example/wfs")


def page(body: bytes, media_type: str = "text/xml") -> Page:
    return Page(WHERE, WHERE, 200, {"content-type": media_type}, body, 1.0, 0.0)


def drawn(drawing: Drawing, *answers: Page | Failure) -> tuple[bytes, str]:
    next(drawing)
    for answer in answers:
        try:
            drawing.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
    raise AssertionError("it asks for more")


def image(found: tuple[bytes, str]) -> Image.Image:
    assert found[1] == "", found[1]
    return Image.open(io.BytesIO(found[0]))


GML = (
    '<wfs:FeatureCollection xmlns:wfs="w" xmlns:gml="g"><wfs:member><a><gml:Polygon srsName="{system}"><gml:exterior>'
    "<gml:LinearRing>{ring}</gml:LinearRing></gml:exterior></gml:Polygon></a></wfs:member></wfs:FeatureCollection>"
)
LATITUDE_FIRST = "<gml:posList>42 1 42 3 44 3 44 1 42 1</gml:posList>"
LONGITUDE_FIRST = "<gml:posList>1 42 3 42 3 44 1 44 1 42</gml:posList>"
OLD = "<gml:coordinates>1,42 3,42 3,44 1,44 1,42</gml:coordinates>"
IN_3D = '<gml:posList srsDimension="3">42 1 9 42 3 9 44 3 9 44 1 9 42 1 9</gml:posList>'
ONE_BY_ONE = "".join(f"<gml:pos>{y} {x}</gml:pos>" for x, y in ((1, 42), (3, 42), (3, 44), (1, 44), (1, 42)))
URN = "urn:ogc:def:crs:EPSG::4326"


@pytest.mark.parametrize(
    ("ring", "system"),
    [
        (LATITUDE_FIRST, URN),
        (LONGITUDE_FIRST, "EPSG:4326"),
        (LONGITUDE_FIRST, URN),
        (LATITUDE_FIRST, "EPSG:4326"),
        (OLD, "EPSG:4326"),
        (IN_3D, URN),
        (ONE_BY_ONE, URN),
    ],
)
def test_an_area_in_gml_is_drawn_where_it_lies_whatever_the_order_of_axes(ring: str, system: str) -> None:
    found = image(drawn(features(WHERE, VIEW), page(GML.format(ring=ring, system=system).encode())))
    assert found.getpixel((20, 70)) != (0, 0, 0, 0), "inside the area: 2° E, 43° N"
    assert found.getpixel((70, 20)) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("type_", "coordinates", "inside"),
    [
        ("Point", [2, 43], True),
        ("MultiPoint", [[2, 43], [8, 48]], True),
        ("LineString", [[1, 43], [3, 43]], True),
        ("MultiLineString", [[[1, 43], [3, 43]]], True),
        ("Polygon", [[[1, 42], [3, 42], [3, 44], [1, 44], [1, 42]]], True),
        ("MultiPolygon", [[[[1, 42], [3, 42], [3, 44], [1, 44], [1, 42]]]], True),
        (
            "Polygon",
            [[[1, 42], [3, 42], [3, 44], [1, 44]], [[1.5, 42.5], [2.5, 42.5], [2.5, 43.5], [1.5, 43.5]]],
            False,
        ),
    ],
)
def test_each_type_of_geometry_in_geojson_is_drawn(type_: str, coordinates: object, inside: bool) -> None:
    feature = {"type": "Feature", "geometry": {"type": type_, "coordinates": coordinates}, "properties": {}}
    body = json.dumps({"type": "FeatureCollection", "features": [feature]}).encode()
    found = image(drawn(features(WHERE, VIEW), page(body, "application/json")))
    assert (found.getpixel((20, 70)) != (0, 0, 0, 0)) is inside


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            b'{"type": "FeatureCollection", "features": [{"geometry": {"type": "Point", "coordinates": [6e6, 5e6]}}]}',
            "deg",
        ),
        (b"<html><script>alert(1)</script></html>", "no features"),
        (
            b"<ows:ExceptionReport xmlns:ows='o'><ows:Exception exceptionCode='NoSuchType'/></ows:ExceptionReport>",
            "NoSuch",
        ),
        (b'{"error": "no"}', "no features"),
        (b"", "no features"),
    ],
)
def test_a_visitor_is_told_what_came_instead_of_features(body: bytes, said: str) -> None:
    content, problem = drawn(features(WHERE, VIEW), page(body))
    assert content == b"" and said in problem and "\n" not in problem


@given(st.recursive(st.none() | st.floats() | st.text(max_size=3) | st.integers(), st.lists, max_leaves=12))
def test_no_coordinates_break_a_drawing(value: object) -> None:
    found = [{"geometry": {"type": type_, "coordinates": value}} for type_ in ("Point", "LineString", "MultiPolygon")]
    body = json.dumps({"type": "FeatureCollection", "features": found}).encode()
    content, problem = drawn(features(WHERE, VIEW), page(body, "application/json"))
    assert bool(content) != bool(problem)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"name = 'Rhine'\r\nlength = 1233", "name = 'Rhine'\nlength = 1233"),
        (b"<html><body><script>alert(1)</script><table><td>Rhine &amp; Aare</td></table>", "Rhine & Aare"),
        ("name = '\u202eRhein\x00'".encode(), "name = 'Rhein'"),
        (b"", ""),
    ],
)
def test_what_a_service_says_of_a_point_is_plain_lines(body: bytes, said: str) -> None:
    assert drawn(text(WHERE), page(body, "text/html")) == (said.encode(), "")


def test_a_long_text_is_cut() -> None:
    content, problem = drawn(text(WHERE), page(b"a line of words\n" * 100_000, "text/plain"))
    assert problem == "" and len(content) <= 4_000


# --------------------------------------------------------------------------- tiles


def levels(count: int) -> tuple[Level, ...]:
    """Grids over BOX of 1, 4, 16 … tiles."""

    def level(zoom: int) -> Level:
        span, last = 10 / 2**zoom, 2**zoom - 1
        return Level(
            0.0, 50.0, span, span, (0, last), (0, last), lambda x, y: url(f"http://t.example/{zoom}/{x}/{y}.png")
        )

    return tuple(level(zoom) for zoom in range(count))


def offered(found: Sequence[Level] | str) -> Levels:
    yield Ask(WHERE)
    return found


def square(colour: str) -> Page:
    stream = io.BytesIO()
    Image.new("RGB", (256, 256), colour).save(stream, "PNG")
    return page(stream.getvalue(), "image/png")


def test_the_finest_level_that_needs_few_tiles_is_asked_for() -> None:
    assert [each.address for each, _ in cover(levels(6), BOX, 4)] == [
        f"http://t.example/1/{x}/{y}.png" for y in (0, 1) for x in (0, 1)
    ]
    assert [each.address for each, _ in cover(levels(6), (0.1, 40.1, 0.2, 40.2), 4)] == ["http://t.example/5/0/31.png"]
    assert cover(levels(6), (20.0, 0.0, 30.0, 10.0), 4) == [], "no tile lies there"
    assert cover(levels(6)[4:], BOX, 4) == [], "even the coarsest needs more"


def test_tiles_are_drawn_in_their_places_and_one_that_fails_leaves_a_gap() -> None:
    answers = [square("red"), square("green"), Page(WHERE, WHERE, 404, {}, b"", 1.0, 0.0), square("blue")]
    found = image(drawn(tiles(offered(levels(2)), VIEW), page(b""), *answers))
    at = {place: found.getpixel(place) for place in ((10, 10), (90, 10), (10, 90), (90, 90))}
    assert list(at.values()) == [(255, 0, 0, 255), (0, 128, 0, 255), (0, 0, 0, 0), (0, 0, 255, 255)]


def test_a_part_of_a_tile_is_drawn_large() -> None:
    found = image(
        drawn(tiles(offered(levels(1)), View((0.0, 49.0, 1.0, 50.0), DEGREES, (64, 64))), page(b""), square("red"))
    )
    assert found.getcolors() == [(64 * 64, (255, 0, 0, 255))]


@pytest.mark.parametrize(("found", "said"), [((), "no tiles of this layer"), (levels(6)[5:], "zoom in")])
def test_a_visitor_is_told_why_there_are_no_tiles(found: Sequence[Level], said: str) -> None:
    content, problem = drawn(tiles(offered(found), VIEW), page(b""))
    assert content == b"" and said in problem


def test_a_visitor_is_told_what_came_instead_of_a_description_of_tiles() -> None:
    forbidden = Failure(WHERE, FailureCode.ROBOTS, "")
    content, problem = drawn(tiles(offered(()), VIEW), forbidden)
    assert content == b"" and "robots.txt" in problem
    refused = page(b"<ExceptionReport><Exception exceptionCode='NoSuchLayer'/></ExceptionReport>")
    assert "NoSuchLayer" in drawn(tiles(offered("no picture"), VIEW), refused)[1]
    assert drawn(tiles(offered("no picture"), VIEW), page(b"")) == (b"", "no picture")


def test_a_service_none_of_whose_tiles_come_is_said_to_give_none() -> None:
    gone = Page(WHERE, WHERE, 404, {}, b"", 1.0, 0.0)
    content, problem = drawn(tiles(offered(levels(1)), VIEW), page(b""), gone)
    assert content == b"" and "404" in problem


def data(mode: str, values: Sequence[float], format_: str = "TIFF", **more: object) -> Page:
    """An image of numbers, row by row, two in each."""
    stream, made = io.BytesIO(), Image.new(mode, (2, len(values) // 2))
    made.putdata(values)
    made.save(stream, format_, **more)
    return page(stream.getvalue(), "image/tiff")


@pytest.mark.parametrize(("mode", "format_"), [("F", "TIFF"), ("I;16", "TIFF"), ("I", "TIFF"), ("I;16", "PNG")])
def test_an_image_of_numbers_is_drawn_in_greys(mode: str, format_: str) -> None:
    found, problem = image_of(data(mode, [100, 300, 500, 900], format_))
    assert found is not None, problem
    greys = list(found.convert("L").tobytes())
    assert greys == sorted(greys) and (greys[0], greys[-1]) == (0, 255)
    assert found.getchannel("A").getextrema() == (255, 255)


@pytest.mark.parametrize("missing", [float("nan"), float("inf"), -3.4e38, -9999.0])
def test_missing_numbers_are_transparent(missing: float) -> None:
    found, problem = image_of(data("F", [missing, 1, 2, missing], tiffinfo={42113: "-9999"}))
    assert found is not None, problem
    assert list(found.getchannel("A").tobytes()) == [0, 255, 255, 0]
    assert image_of(data("F", [missing] * 4, tiffinfo={42113: "-9999"}))[0] is not None


def test_an_image_that_cannot_be_decoded_is_not_shown_as_text() -> None:
    """QGIS Server sends coverages with numbers of 64 bits, which Pillow does not read."""
    tags = {256: 1, 257: 1, 258: 64, 259: 1, 262: 1, 273: 200, 277: 1, 278: 1, 279: 8, 339: 3}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    body = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries
    found, said = image_of(page(body.ljust(200, b"\0") + struct.pack("<d", 1.0), "image/tiff"))
    assert (found, said) == (None, "the service sent an image of a form that cannot be shown here")


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS, st.floats(0), st.floats(0), st.integers(0, 2**62))
def test_levels_of_any_numbers_give_few_tiles_of_some_size(
    left: float, top: float, across: float, down: float, last: int
) -> None:
    level = Level(left, top, across, down, (0, last), (0, last), lambda x, y: WHERE)
    found = cover([level], BOX, 4)
    assert len(found) <= 4
    assert all(sides[0] < sides[2] and sides[1] < sides[3] for _, sides in found)


def test_tiles_without_an_address_are_passed_over() -> None:
    def nowhere(column: int, row: int) -> Url | None:
        return None

    assert cover([Level(0.0, 50.0, 10.0, 10.0, (0, 0), (0, 0), nowhere)], BOX, 4) == []
