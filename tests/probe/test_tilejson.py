"""TileJSON: one document, one request. Real answers of a tile server stand in `tests/servers`."""

from __future__ import annotations

import pytest

from geocrawl.model import Kind, Status
from geocrawl.probe.kinds.tilejson import TileJsonProbe
from tests.probe.json_answers import answer, ask

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
    verdict, asked = ask(TileJsonProbe(), ADDRESS, {"*": answer(DOCUMENT)})
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
    service = ask(TileJsonProbe(), ADDRESS, {"*": answer(images)})[0].service
    assert service is not None
    assert [(layer.name, layer.title) for layer in service.layers] == [("Photos", "Photos")]
    terrain = {**images, "format": "quantized-mesh-1.0", "projection": "EPSG:4326"}
    service = ask(TileJsonProbe(), ADDRESS, {"*": answer(terrain)})[0].service
    assert service is not None
    assert (service.formats, service.layers[0].crs) == (("quantized-mesh-1.0",), ("EPSG:4326",))


@pytest.mark.parametrize(
    "change",
    [{"tiles": []}, {"tiles": "x"}, {"tiles": ["https://x.example/a.png"]}, {"tiles": [3]}, {"tilejson": None}],
)
def test_a_document_without_templates_of_tiles_is_none(change: dict[str, object]) -> None:
    verdict, _ = ask(TileJsonProbe(), ADDRESS, {"*": answer({**DOCUMENT, **change})})
    assert (verdict.status, verdict.reason) == (Status.INVALID, "not-capabilities")


@pytest.mark.parametrize("bounds", [None, [], [1, 2, 3], ["a", "b", "c", "d"], {"west": 1}])
def test_bounds_that_are_none_leave_the_box_out(bounds: object) -> None:
    verdict, _ = ask(TileJsonProbe(), ADDRESS, {"*": answer({**DOCUMENT, "bounds": bounds})})
    assert verdict.service is not None
    assert verdict.service.layers[0].box is None


def test_half_a_document_is_truncated() -> None:
    body = answer(DOCUMENT).body
    verdict, _ = ask(TileJsonProbe(), ADDRESS, {"*": answer(body[: len(body) // 2])})
    assert (verdict.status, verdict.reason) == (Status.INVALID, "truncated")
