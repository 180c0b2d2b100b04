"""A service whose groups lie in groups without end is shown, down to a depth; what lies deeper stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.model import Kind, Layer, Service
from geocrawl.web.layers import MOST_LAYERS
from tests.support.world import World, candidate, verdict
from tests.web.conftest import Serve

PAGE = "/collections/services/items/1"


@pytest.mark.parametrize("depth", [1, 30, 200, 3_000])
def test_nested_groups_are_shown_whatever_their_depth(depth: int, tmp_path: Path, serve: Serve) -> None:
    layers = [Layer(f"n{number}", f"Group {number}", parent=number - 1 if number else None) for number in range(depth)]
    world = World(tmp_path / "c.db")
    world.record(
        candidate("a.example/wms"), verdict(service=Service(Kind.WMS, "1.3.0", "Maps", layers=tuple(layers))), 5.0
    )
    world.store.close()
    client = serve(tmp_path / "c.db")
    whole = client.get(PAGE, headers={"accept": "text/html"})
    found = client.get(f"{PAGE}/layers", params={"layers": f"n{depth - 1}"})
    assert whole.status_code == found.status_code == 200
    assert whole.text.count('<li id="layer-') == min(depth, MOST_LAYERS)
    assert f"n{depth - 1}<" in found.text
