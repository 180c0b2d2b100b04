"""Exchanges: pictures as they came, features in either order of axes, places of tiles, texts without markup."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from geocrawl.model import Failure, FailureCode, Page, Url
from geocrawl.ports import Ask
from geocrawl.probe.levels import Grid, Level, cover
from geocrawl.probe.previews import DEGREES, Levels, View
from geocrawl.web.preview_exchanges import Exchange, Relay, features, picture, text, tile, tiles
from geocrawl.web.preview_features import MOST_POINTS
from tests.support.crawls import url

BOX = (0.0, 40.0, 10.0, 50.0)
VIEW = View(BOX, DEGREES, (100, 100))
WHERE = url("http://maps.example/wfs")


def page(body: bytes, media_type: str = "text/xml") -> Page:
    return Page(WHERE, WHERE, 200, {"content-type": media_type}, body, 1.0, 0.0)


def made(exchange: Exchange, *answers: Page | Failure) -> Relay | str:
    """What comes of an exchange whose requests have these answers."""
    next(exchange)
    for answer in answers:
        try:
            exchange.send(answer)
        except StopIteration as end:
            result: Relay | str = end.value
            return result
    raise AssertionError("it asks for more")


def problem(exchange: Exchange, *answers: Page | Failure) -> str:
    found = made(exchange, *answers)
    assert isinstance(found, str)
    return found


def read(exchange: Exchange, *answers: Page | Failure) -> Any:
    """The JSON document that comes of an exchange."""
    found = made(exchange, *answers)
    assert isinstance(found, Relay), found
    return json.loads(found.body)


def geometries(*answers: Page | Failure) -> dict[str, Any]:
    """The outlines of features, by type."""
    feature = read(features(WHERE, VIEW), *answers)
    assert feature["type"] == "Feature" and feature["properties"] == {}
    return {each["type"]: each["coordinates"] for each in feature["geometry"]["geometries"]}


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
def test_an_area_in_gml_lies_where_it_was_asked_for_whatever_the_order_of_axes(ring: str, system: str) -> None:
    found = geometries(page(GML.format(ring=ring, system=system).encode()))
    assert found == {"MultiPolygon": [[[[1, 42], [3, 42], [3, 44], [1, 44], [1, 42]]]]}


RING, HOLE = [[1, 42], [3, 42], [3, 44], [1, 42]], [[1.5, 42.5], [2.5, 42.5], [2.5, 43], [1.5, 42.5]]


@pytest.mark.parametrize(
    ("type_", "coordinates", "kept"),
    [
        ("Point", [2, 43], ("MultiPoint", [[2, 43]])),
        ("Point", [2, 43, 1000, "m"], ("MultiPoint", [[2, 43]])),
        ("MultiPoint", [[2, 43], [8, 48]], ("MultiPoint", [[2, 43], [8, 48]])),
        ("LineString", [[1, 43], [3, 43]], ("MultiLineString", [[[1, 43], [3, 43]]])),
        ("MultiLineString", [[[1, 43], [3, 43]]], ("MultiLineString", [[[1, 43], [3, 43]]])),
        ("Polygon", [RING], ("MultiPolygon", [[RING]])),
        ("Polygon", [RING[:-1]], ("MultiPolygon", [[RING]])),
        ("Polygon", [RING, HOLE], ("MultiPolygon", [[RING, HOLE]])),
        ("MultiPolygon", [[RING, HOLE], [RING]], ("MultiPolygon", [[RING, HOLE], [RING]])),
    ],
)
def test_each_type_of_geometry_in_geojson_is_kept(type_: str, coordinates: object, kept: tuple[str, object]) -> None:
    feature = {"type": "Feature", "geometry": {"type": type_, "coordinates": coordinates}, "properties": {"a": "b"}}
    body = json.dumps({"type": "FeatureCollection", "features": [feature]}).encode()
    assert geometries(page(body, "application/json")) == dict([kept])


def test_positions_are_bounded() -> None:
    line = {"type": "LineString", "coordinates": [[1, 43]] * (MOST_POINTS // 4 + 1)}
    body = json.dumps({"type": "FeatureCollection", "features": [{"geometry": line}] * 9}).encode()
    assert len(geometries(page(body, "application/json"))["MultiLineString"]) == 3


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
    told = problem(features(WHERE, VIEW), page(body))
    assert said in told and "\n" not in told


@given(st.recursive(st.none() | st.floats() | st.text(max_size=3) | st.integers(), st.lists, max_leaves=12))
def test_no_coordinates_break_the_outlines(value: object) -> None:
    members = [{"geometry": {"type": type_, "coordinates": value}} for type_ in ("Point", "LineString", "MultiPolygon")]
    body = json.dumps({"type": "FeatureCollection", "features": members}).encode()
    found = made(features(WHERE, VIEW), page(body, "application/json"))
    assert isinstance(found, str) or json.loads(found.body)["type"] == "Feature"


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
    assert made(text(WHERE), page(body, "text/html")) == Relay(said.encode(), "text/plain; charset=utf-8")


def test_a_long_text_is_cut() -> None:
    found = made(text(WHERE), page(b"a line of words\n" * 100_000, "text/plain"))
    assert isinstance(found, Relay) and len(found.body) <= 4_000


# --------------------------------------------------------------------------- tiles


def levels(count: int) -> tuple[Level, ...]:
    """Grids over BOX of 1, 4, 16 … tiles."""

    def level(zoom: int) -> Level:
        span, last = 10 / 2**zoom, 2**zoom - 1
        return Grid(
            0.0, 50.0, span, span, (0, last), (0, last), lambda x, y: url(f"http://t.example/{zoom}/{x}/{y}.png")
        )

    return tuple(level(zoom) for zoom in range(count))


def offered(found: Sequence[Level] | str) -> Levels:
    yield Ask(WHERE)
    return found


def tiff() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (256, 256), "red").save(stream, "TIFF")
    return stream.getvalue()


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


def test_places_of_tiles_are_listed_and_one_that_fails_leaves_a_gap() -> None:
    answers = [square("red"), square("green"), Page(WHERE, WHERE, 404, {}, b"", 1.0, 0.0), square("blue")]
    found = read(tiles(offered(levels(2)), VIEW, "?layer=1"), page(b""), *answers)
    assert found == {
        "tiles": [
            {"extent": [0, 45, 5, 50], "href": "?layer=1&tile=0"},
            {"extent": [5, 45, 10, 50], "href": "?layer=1&tile=1"},
            {"extent": [5, 40, 10, 45], "href": "?layer=1&tile=3"},
        ]
    }


def test_a_tile_is_relayed_as_it_came() -> None:
    sent = square("red")
    assert made(tile(offered(levels(2)), VIEW, 3), page(b""), sent) == Relay(sent.body, "image/png")
    assert "no tiles for this part" in problem(tile(offered(levels(1)), VIEW, 3), page(b""))


@pytest.mark.parametrize(("found", "said"), [((), "no tiles of this layer"), (levels(6)[5:], "zoom in")])
def test_a_visitor_is_told_why_there_are_no_tiles(found: Sequence[Level], said: str) -> None:
    assert said in problem(tiles(offered(found), VIEW, "?"), page(b""))


def test_a_visitor_is_told_what_came_instead_of_a_description_of_tiles() -> None:
    forbidden = Failure(WHERE, FailureCode.ROBOTS, "")
    assert "robots.txt" in problem(tiles(offered(()), VIEW, "?"), forbidden)
    refused = page(b"<ExceptionReport><Exception exceptionCode='NoSuchLayer'/></ExceptionReport>")
    assert "NoSuchLayer" in problem(tiles(offered("no picture"), VIEW, "?"), refused)
    assert problem(tiles(offered("no picture"), VIEW, "?"), page(b"")) == "no picture"


def test_a_service_none_of_whose_tiles_come_is_said_to_give_none() -> None:
    gone = Page(WHERE, WHERE, 404, {}, b"", 1.0, 0.0)
    assert "404" in problem(tiles(offered(levels(1)), VIEW, "?"), page(b""), gone)


# --------------------------------------------------------------------------- pictures


SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.mark.parametrize("media_type", ["image/png", "text/html", "image/svg+xml", "application/octet-stream", ""])
def test_the_type_of_a_picture_is_what_its_bytes_say(media_type: str) -> None:
    body = square("red").body
    assert made(picture(WHERE), page(body, media_type)) == Relay(body, "image/png")
    assert "no image but: <svg" in problem(picture(WHERE), page(SVG, media_type))


def test_what_follows_a_picture_is_not_relayed() -> None:
    body = square("red").body
    assert made(picture(WHERE), page(body + SVG, "image/png")) == Relay(body, "image/png")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (page(tiff(), "image/tiff"), "an image of a form that cannot be shown here"),
        (page(b"<html><script>alert(1)</script>secret page</html>", "image/png"), "no image but: <html>"),
        (page(b"", "image/png"), "no image"),
        (page(square("red").body[:-20], "image/png"), "a broken image"),
        (replace(page(square("red").body, "image/png"), cut=True), "more than a preview reads"),
        (Failure(WHERE, FailureCode.DNS, "[Errno -2] Name or service not known"), "name of the service's host"),
        (Failure(WHERE, FailureCode.REFUSED, "[Errno 111]"), "no program answers at the service"),
        (Failure(WHERE, FailureCode.BAD_HTTP, "[Errno 0]"), "service gave no answer that can be read"),
    ],
)
def test_a_visitor_is_told_in_words_why_there_is_no_picture(answer: Page | Failure, said: str) -> None:
    told = problem(picture(WHERE), answer)
    assert said in told and "Errno" not in told


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS, st.floats(0), st.floats(0), st.integers(0, 2**62))
def test_levels_of_any_numbers_give_few_tiles_of_some_size(
    left: float, top: float, across: float, down: float, last: int
) -> None:
    level: Level = Grid(left, top, across, down, (0, last), (0, last), lambda x, y: WHERE)
    found = cover([level], BOX, 4)
    assert len(found) <= 4
    assert all(sides[0] < sides[2] and sides[1] < sides[3] for _, sides in found)


def test_tiles_without_an_address_are_passed_over() -> None:
    def nowhere(column: int, row: int) -> Url | None:
        return None

    assert cover([Grid(0.0, 50.0, 10.0, 10.0, (0, 0), (0, 0), nowhere)], BOX, 4) == []
