"""TileJSON: one document, one request. Real answers of a tile server stand in `tests/servers`."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.demo.kinds import OFFICES
from geocrawl.demo.rest_documents import vector_tile
from geocrawl.model import ContentOutcome, ContentReport, Kind, Level, Page, Service, Status
from geocrawl.ports import Ask
from geocrawl.probe.content import judge_vector_tile
from geocrawl.probe.registry import content_check_of, probe_of
from tests.probe.content_runs import drawn, message, outcomes, run
from tests.probe.json_answers import answer, ask
from tests.support.answers import page

ADDRESS = "https://tiles.example.org/streets/tiles.json?key=abc"
DOCUMENT = {
    "tilejson": "3.0.0",
    "name": "Streets",
    "description": "All streets",
    "attribution": "<a href='https://example.org'>Town &copy;</a>",
    "tiles": ["https://tiles.example.org/streets/{z}/{x}/{y}.pbf?key=abc"],
    "bounds": [5.9, 45.8, 10.5, 47.8],
    "vector_layers": [
        {"id": "roads", "description": "Roads and paths", "fields": {"name": "String"}},
        {"id": "water", "fields": {}},
    ],
}


def test_vector_tiles_are_read_with_their_layers() -> None:
    verdict, asked = ask(probe_of(Kind.TILEJSON), ADDRESS, {"*": answer(DOCUMENT)})
    service = verdict.service
    assert service is not None
    assert asked == [ADDRESS]
    assert (service.kind, service.version, service.title) == (Kind.TILEJSON, "3.0.0", "Streets")
    assert (service.formats, service.access_constraints) == (("pbf",), "Town ©")
    assert [(layer.name, layer.parent) for layer in service.layers] == [("", None), ("roads", 0), ("water", 0)]
    assert service.layers[0].crs == ("EPSG:3857",)
    assert service.layers[0].box is not None
    assert service.layers[0].box.bounds == (5.9, 45.8, 10.5, 47.8)


def test_images_are_one_layer_and_terrain_has_its_own_system() -> None:
    images = {
        "tilejson": "2.2.0",
        "name": "Photos",
        "tiles": ["./{z}/{x}/{y}.png"],
        "bounds": [-180, -85.0511, 180, 86],
    }
    service = ask(probe_of(Kind.TILEJSON), ADDRESS, {"*": answer(images)})[0].service
    assert service is not None
    assert [(layer.name, layer.title, layer.scales) for layer in service.layers] == [("Photos", "Photos", None)]
    service = ask(probe_of(Kind.TILEJSON), ADDRESS, {"*": answer({**images, "minzoom": 1, "maxzoom": 3})})[0].service
    assert service is not None
    assert service.layers[0].scales == pytest.approx((559_082_264.0287 / 8, 559_082_264.0287 / 2))
    terrain = {**images, "format": "quantized-mesh-1.0", "projection": "EPSG:4326"}
    service = ask(probe_of(Kind.TILEJSON), ADDRESS, {"*": answer(terrain)})[0].service
    assert service is not None
    assert (service.formats, service.layers[0].crs) == (("quantized-mesh-1.0",), ("EPSG:4326",))


@pytest.mark.parametrize(
    "change",
    [{"tiles": []}, {"tiles": "x"}, {"tiles": ["https://x.example/a.png"]}, {"tiles": [3]}, {"tilejson": None}],
)
def test_a_document_without_templates_of_tiles_is_none(change: dict[str, object]) -> None:
    verdict, _ = ask(probe_of(Kind.TILEJSON), ADDRESS, {"*": answer({**DOCUMENT, **change})})
    assert (verdict.status, verdict.reason) == (Status.INVALID, "not-capabilities")


@pytest.mark.parametrize("bounds", [None, [], [1, 2, 3], ["a", "b", "c", "d"], {"west": 1}])
def test_bounds_that_are_none_leave_the_box_out(bounds: object) -> None:
    verdict, _ = ask(probe_of(Kind.TILEJSON), ADDRESS, {"*": answer({**DOCUMENT, "bounds": bounds})})
    assert verdict.service is not None
    assert verdict.service.layers[0].box is None


def test_half_a_document_is_truncated() -> None:
    body = answer(DOCUMENT).body
    verdict, _ = ask(probe_of(Kind.TILEJSON), ADDRESS, {"*": answer(body[: len(body) // 2])})
    assert (verdict.status, verdict.reason) == (Status.INVALID, "truncated")


# --------------------------------------------------------------------------- content

VECTORS = next(
    vector_tile(service.described(office))
    for office in OFFICES
    for service in office.services
    if service.kind == Kind.TILEJSON
)
PICTURES = {"tilejson": "2.2.0", "tiles": ["./{z}/{x}/{y}.png"], "bounds": [5.9, 45.8, 10.5, 47.8]}


def check(document: Mapping[str, object], tiles: Mapping[str, Page]) -> tuple[ContentReport, list[str]]:
    """Check a document whose tiles have these addresses behind the folder; the rest is not found."""

    def reply(asked: Ask) -> Page:
        if asked.url.address == ADDRESS:
            return answer(document)
        return tiles.get(asked.url.address.rpartition("/streets/")[2], page("nothing", status=404))

    report, asked = run(
        content_check_of(Kind.TILEJSON, layers=3), ADDRESS, Service(Kind.TILEJSON, "3.0.0", "Streets"), reply
    )
    return report, [address.rpartition("/streets/")[2] for address in asked[1:]]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_vector_tile_with_layers_is_content(pack: type[bytes]) -> None:
    tile = page(pack(VECTORS), content_type="application/x-protobuf")
    report, asked = check(DOCUMENT, {"6/33/22.pbf?key=abc": tile})
    assert (report.level, outcomes(report), report.attempts[0].detail) == (
        Level.DELIVERS,
        [ContentOutcome.OK],
        "3 layers",
    )
    assert asked == ["6/33/22.pbf?key=abc"]


def test_tiles_are_tried_where_the_extent_fills_one_then_finer_then_coarsest() -> None:
    report, asked = check(PICTURES, {"0/0/0.png": drawn(512, 512)})
    assert asked == ["6/33/22.png", "7/66/45.png", "0/0/0.png"]
    assert (report.level, report.attempts[0].url) == (Level.DELIVERS, "https://tiles.example.org/streets/0/0/0.png")


def test_rows_of_a_tms_are_counted_from_the_south() -> None:
    assert check({**PICTURES, "scheme": "tms"}, {})[1][0] == "6/33/41.png"


def test_tiles_of_the_whole_world_have_a_middle() -> None:
    document = {"tilejson": "2.2.0", "tiles": ["./{z}/{x}/{y}.png"], "minzoom": 1}
    report, asked = check(document, {"1/1/0.png": drawn(256, 256)})
    assert (report.level, asked) == (Level.DELIVERS, ["1/1/0.png"])


@pytest.mark.parametrize(
    ("tile", "outcome"),
    [
        (page("", content_type="application/x-protobuf"), ContentOutcome.BLANK),
        (page("<html>sign in</html>", content_type="text/html"), ContentOutcome.NOT_AN_IMAGE),
        (page(VECTORS[:-1], content_type="application/x-protobuf"), ContentOutcome.NOT_AN_IMAGE),
        (page('{"message": "Not Authorized"}', status=401), ContentOutcome.HTTP_ERROR),
    ],
)
def test_what_is_no_vector_tile_is_none(tile: Page, outcome: ContentOutcome) -> None:
    report, asked = check(DOCUMENT, dict.fromkeys(("6/33/22.pbf?key=abc", "0/0/0.pbf?key=abc"), tile))
    assert (outcomes(report), len(asked)) == ([outcome], 3)


def test_a_message_that_is_drawn_into_every_tile_is_no_content() -> None:
    tiles = dict.fromkeys(("6/33/22.png", "7/66/45.png", "0/0/0.png"), message(256, 256))
    assert outcomes(check(PICTURES, tiles)[0]) == [ContentOutcome.IMAGE_ERROR_TEXT]


def test_tiles_on_the_servers_own_machine_are_requested_from_its_host() -> None:
    document = {**PICTURES, "tiles": ["http://localhost:8080/streets/{z}/{x}/{y}.png"]}
    assert check(document, {"6/33/22.png": drawn(256, 256)})[0].attempts[0].url == (
        "https://tiles.example.org/streets/6/33/22.png"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"projection": "EPSG:4326"},
        {"minzoom": 9, "maxzoom": 1},
        {"minzoom": 1e9},
        {"tiles": ["ftp://x/{z}"]},
        {"tiles": ["http://[/{z}"]},
    ],
)
def test_a_document_whose_tiles_cannot_be_requested_proves_nothing(change: dict[str, object]) -> None:
    report, asked = check({**PICTURES, **change}, {})
    assert (report.level, asked) == (Level.ADVERTISED, [])


@given(st.binary() | st.binary().map(lambda body: VECTORS + body) | st.binary().map(gzip.compress))
def test_any_bytes_are_judged(body: bytes) -> None:
    assert judge_vector_tile(page(body))[0] in ContentOutcome
