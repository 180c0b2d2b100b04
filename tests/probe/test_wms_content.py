"""The proof of a WMS by maps, against a small map server that draws points where they are, or errs as servers do."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from PIL import Image, ImageDraw
from shapely.geometry import box

from geocrawl.model import (
    ContentOutcome,
    ContentReport,
    DecodedImage,
    Endpoint,
    Failure,
    FailureCode,
    Kind,
    Layer,
    Level,
    Page,
    Service,
)
from geocrawl.ports import Ask
from geocrawl.probe.decoding import THUMBNAIL_BYTES, read_picture
from geocrawl.probe.kinds.wms.maps import Target
from geocrawl.probe.kinds.wms.maps import choose as choose_places
from geocrawl.probe.registry import content_check_of
from geocrawl.urls import endpoint_key, read_url
from tests.support.interviews import with_picture

Answer = Callable[[Ask], Page | Failure]
POINTS = [(10.0 + i, 47.0 + (i * 7 % 5) / 2) for i in range(9)]
SPOTS = [(-150.0, 60.0), (-60.0, -20.0), (20.0, 5.0), (100.0, 35.0), (140.0, -30.0), (30.0, 55.0)]


def address(text: str = "http://maps.example.org/ows") -> Endpoint:
    url = read_url(text)
    assert url is not None
    return Endpoint(Kind.WMS, endpoint_key(url), url)


def service(*layers: Layer, version: str = "1.3.0") -> Service:
    return Service(Kind.WMS, version, "A service", formats=("image/png", "image/jpeg"), layers=layers)


def layer(name: str, *sides: float, crs: tuple[str, ...] = ("EPSG:4326",)) -> Layer:
    return Layer(name, name.title(), crs=crs, box=box(*sides) if sides else None)


ALPS = layer("alps", 9.0, 46.0, 20.0, 50.0)
WORLD = layer("world", -180.0, -90.0, 180.0, 90.0)


def choose(service: Service, most: int) -> tuple[Target, ...]:
    """The first target of each chosen layer."""
    return tuple(targets[0] for targets in choose_places(service, most))


def asked(ask: Ask) -> dict[str, str]:
    return {name.upper(): value for name, value in parse_qsl(ask.url.address.partition("?")[2], keep_blank_values=True)}


def page(ask: Ask, body: bytes, content_type: str = "image/png", status: int = 200, cors: str = "") -> Page:
    headers = {"content-type": content_type, **({"access-control-allow-origin": cors} if cors else {})}
    return Page(ask.url, ask.url, status, headers, body, 12.0, 0.0)


def png(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def draw(ask: Ask, points: list[tuple[float, float]], *, swapped: bool = False) -> bytes:
    """The points on a map of the extent that was asked for; `swapped`: 1.3.0 is read with longitude first."""
    request = asked(ask)
    west, south, east, north = map(float, request["BBOX"].split(","))
    if request["VERSION"] == "1.3.0" and request["CRS"] == "EPSG:4326" and not swapped:
        west, south, east, north = south, west, north, east
    width, height = int(request["WIDTH"]), int(request["HEIGHT"])
    image = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    for x, y in points:
        across, down = (x - west) / (east - west) * width, (north - y) / (north - south) * height
        if 0 <= across < width and 0 <= down < height:
            pen.ellipse((across - 6, down - 6, across + 6, down + 6), (int(across) % 200, 90, int(down) % 200, 255))
    return png(image)


def written_error(ask: Ask) -> bytes:
    request = asked(ask)
    image = Image.new("RGB", (int(request["WIDTH"]), int(request["HEIGHT"])), "white")
    ImageDraw.Draw(image).text((4, 10), "msDrawMap(): Image handling error.", "black")
    return png(image)


def blank(ask: Ask) -> bytes:
    request = asked(ask)
    return png(Image.new("RGB", (int(request["WIDTH"]), int(request["HEIGHT"])), (240, 240, 250)))


def prove(answer: Answer, *layers: Layer, version: str = "1.3.0", most: int = 3) -> tuple[ContentReport, list[Ask]]:
    content_interview = content_check_of(Kind.WMS, layers=most).run(address(), service(*layers, version=version))
    asks: list[Ask] = []
    try:
        ask = next(content_interview)
        while True:
            asks.append(ask)
            ask = content_interview.send(with_picture(answer(ask)))
    except StopIteration as end:
        proof: ContentReport = end.value
        return proof, asks


def outcomes(proof: ContentReport) -> list[tuple[str, str]]:
    return [(entry.layer, str(entry.outcome)) for entry in proof.attempts]


@pytest.mark.parametrize("version", ["1.0.0", "1.1.1", "1.3.0"])
def test_a_map_with_content_proves_the_service(version: str) -> None:
    def answer(ask: Ask) -> Page:
        request = asked(ask)
        stated = request.get("WMTVER" if version == "1.0.0" else "VERSION")
        assert stated == version or (version, stated) == ("1.3.0", "1.1.1")
        west, south, _, _ = map(float, request["BBOX"].split(","))
        assert (west, south) == ((46.0, 9.0) if stated == "1.3.0" else (9.0, 46.0))
        image = Image.linear_gradient("L").resize((int(request["WIDTH"]), int(request["HEIGHT"])))
        return page(ask, png(image), cors="*")

    proof, asks = prove(answer, ALPS, layer("more", 9, 46, 20, 50), version=version)
    assert proof.level is Level.DELIVERS and outcomes(proof) == [("alps", "ok")]
    assert len(asks) == (2 if version == "1.3.0" else 1), "1.3.0 is compared with 1.1.1"
    assert proof.cors == "*" and 0 < len(proof.thumbnail) <= THUMBNAIL_BYTES
    assert proof.attempts[0].milliseconds == 12.0 and proof.attempts[0].crs == "EPSG:4326"


def test_a_layer_that_is_blank_as_a_whole_is_looked_at_in_the_middle() -> None:
    def answer(ask: Ask) -> Page:
        west, _, east, _ = map(float, asked(ask)["BBOX"].split(","))
        return page(ask, blank(ask) if east - west > 2 else draw(ask, [(14.5, 48.0)]))

    proof, asks = prove(answer, ALPS)
    assert (outcomes(proof), len(asks)) == ([("alps", "ok")], 2)
    assert "second place" in proof.attempts[0].detail


def test_blank_everywhere_answers_but_proves_nothing_and_other_layers_are_tried() -> None:
    proof, asks = prove(lambda ask: page(ask, blank(ask)), ALPS, layer("b", 0, 40, 1, 41), layer("c", 0, 40, 1, 41))
    assert proof.level is Level.ANSWERS and not proof.thumbnail
    assert sorted(outcomes(proof)) == [("alps", "blank"), ("b", "blank"), ("c", "blank")]
    assert len(asks) == 9, "the whole, the middle, and the other order of the axes"


def test_the_wrong_order_of_the_axes_is_caught_where_it_gives_a_blank_map() -> None:
    proof, _ = prove(lambda ask: page(ask, draw(ask, POINTS, swapped=True)), ALPS)
    assert (outcomes(proof), proof.level) == ([("alps", "axis-order")], Level.ANSWERS)


def test_the_wrong_order_of_the_axes_is_caught_where_it_gives_a_map_of_elsewhere() -> None:
    proof, asks = prove(lambda ask: page(ask, draw(ask, SPOTS, swapped=True)), WORLD)
    assert outcomes(proof) == [("world", "axis-order")]
    assert asked(asks[-2])["VERSION"] == "1.1.1" or asked(asks[-1])["VERSION"] == "1.1.1"
    right, _ = prove(lambda ask: page(ask, draw(ask, SPOTS)), WORLD)
    assert (outcomes(right), right.level) == ([("world", "ok")], Level.DELIVERS)


def test_an_error_drawn_into_the_image_is_no_map() -> None:
    proof, _ = prove(lambda ask: page(ask, written_error(ask)), ALPS)
    assert (outcomes(proof), proof.level) == ([("alps", "image-error-text")], Level.ANSWERS)


def test_a_map_of_few_things_is_still_a_map() -> None:
    proof, _ = prove(lambda ask: page(ask, draw(ask, POINTS[:2])), ALPS)
    assert outcomes(proof) == [("alps", "ok")]


EXCEPTION = (
    b"<ServiceExceptionReport><ServiceException code='LayerNotDefined'>no such layer</ServiceException>"
    b"</ServiceExceptionReport>"
)


@pytest.mark.parametrize(
    ("make", "outcome", "level"),
    [
        (lambda ask: page(ask, EXCEPTION, "text/xml"), ContentOutcome.EXCEPTION, Level.ADVERTISED),
        (lambda ask: page(ask, EXCEPTION, "text/xml", 500), ContentOutcome.EXCEPTION, Level.ADVERTISED),
        (lambda ask: page(ask, b"<html>busy</html>", "text/html"), ContentOutcome.NOT_AN_IMAGE, Level.ADVERTISED),
        (lambda ask: page(ask, b"", "image/png"), ContentOutcome.NOT_AN_IMAGE, Level.ADVERTISED),
        (lambda ask: page(ask, b"\x89PNG\r\n\x1a\n" + bytes(50)), ContentOutcome.NOT_AN_IMAGE, Level.ADVERTISED),
        (lambda ask: page(ask, b"gone", "text/plain", 404), ContentOutcome.HTTP_ERROR, Level.ADVERTISED),
        (lambda ask: page(ask, png(Image.effect_noise((64, 64), 80))), ContentOutcome.WRONG_SIZE, Level.ANSWERS),
        (lambda ask: Failure(ask.url, FailureCode.TIMEOUT_READ, "30 s"), ContentOutcome.TIMEOUT, Level.ADVERTISED),
        (lambda ask: Failure(ask.url, FailureCode.ROBOTS, "disallowed"), ContentOutcome.REFUSED, Level.ADVERTISED),
        (lambda ask: Failure(ask.url, FailureCode.BUDGET, "enough"), ContentOutcome.REFUSED, Level.ADVERTISED),
        (lambda ask: Failure(ask.url, FailureCode.REFUSED, "connection"), ContentOutcome.HTTP_ERROR, Level.ADVERTISED),
    ],
)
def test_every_other_answer_has_its_outcome(make: Answer, outcome: ContentOutcome, level: Level) -> None:
    proof, _ = prove(make, ALPS)
    assert ([entry.outcome for entry in proof.attempts], proof.level) == ([outcome], level)
    assert proof.attempts[0].detail


def test_a_server_that_hangs_is_asked_once() -> None:
    proof, asks = prove(lambda ask: Failure(ask.url, FailureCode.TIMEOUT_TOTAL, "30 s"), ALPS, WORLD)
    assert len(asks) == 1 and outcomes(proof) == [("alps", "timeout")]


def test_layers_are_chosen_by_rule_and_groups_left_out() -> None:
    group = replace(WORLD, name="all")
    leaves = [replace(layer(f"l{i}"), parent=0) for i in range(10)]
    chosen = choose(service(group, *leaves), 3)
    assert [target.layer for target in chosen] == ["l0", "l9", "l4"]
    assert {target.sides for target in chosen} == {(-180.0, -90.0, 180.0, 90.0)}, "inherited"
    assert all(target.latitude_first for target in chosen)


def test_an_extent_is_asked_for_in_a_system_that_is_advertised() -> None:
    mercator = choose(service(layer("m", 9, 46, 20, 50, crs=("EPSG:3857",))), 1)[0]
    assert mercator.crs == "EPSG:3857" and mercator.sides[0] == pytest.approx(1_001_875.4, abs=1)
    assert not mercator.latitude_first
    national = Layer("n", "N", crs=("EPSG:28992",), bounds=("EPSG:28992", 0.0, 300000.0, 280000.0, 625000.0))
    assert choose(service(national), 1)[0].sides == (0.0, 300000.0, 280000.0, 625000.0)
    assert choose(service(Layer("x", "X", crs=("EPSG:28992",))), 1) == ()
    assert choose(service(layer("old", 9, 46, 20, 50), version="1.1.1"), 1)[0].latitude_first is False


def test_an_extent_in_degrees_is_asked_for_in_the_systems_of_a_country_before_one_that_is_not_offered() -> None:
    offered = ("EPSG:6706", "EPSG:25832", "EPSG:4258", "EPSG:4265")
    (targets,) = choose_places(service(layer("parcels", 7, 44, 8, 45, crs=offered)), 1)
    assert [(target.crs, target.latitude_first) for target in targets] == [
        ("EPSG:6706", True),
        ("EPSG:4258", True),
        ("EPSG:4326", True),
    ]
    assert {target.sides for target in targets} == {(7.0, 44.0, 8.0, 45.0)}


@pytest.mark.parametrize(("version", "stated"), [("1.3.0", (44.0, 7.0, 45.0, 8.0)), ("1.1.1", (7.0, 44.0, 8.0, 45.0))])
def test_an_extent_in_another_system_of_degrees_has_the_axes_of_that_system(
    version: str, stated: tuple[float, float, float, float]
) -> None:
    parcels = Layer("p", "P", crs=("EPSG:4258", "EPSG:4326"), bounds=("EPSG:4258", *stated))
    assert choose(service(parcels, version=version), 1)[0].sides == (7.0, 44.0, 8.0, 45.0)


def test_a_service_without_layers_is_only_advertised() -> None:
    proof, asks = prove(lambda ask: page(ask, b""), Layer("", "A group"))
    assert (proof.level, proof.attempts, asks) == (Level.ADVERTISED, (), [])


def test_an_image_bomb_is_not_decoded() -> None:
    bomb = png(Image.new("1", (30_000, 30_000)))
    assert len(bomb) < 200_000
    told = read_picture(bomb)
    assert told == "the service sent an image of 30000 × 30000 pixels"


def test_a_jpeg_of_one_colour_is_blank_despite_its_noise() -> None:
    written = io.BytesIO()
    Image.new("RGB", (200, 100), (201, 218, 237)).save(written, "JPEG", quality=60)
    picture = read_picture(written.getvalue())
    assert isinstance(picture, DecodedImage) and picture.is_blank


def test_a_name_too_long_for_an_address_is_passed_over() -> None:
    proof, asks = prove(
        lambda ask: page(ask, draw(ask, POINTS)), layer("路" * 9_000, 9.0, 46.0, 20.0, 50.0), ALPS, version="1.1.1"
    )
    assert {asked(ask)["LAYERS"] for ask in asks} == {"alps"}
    assert outcomes(proof) == [("alps", "ok")] and proof.level is Level.DELIVERS
