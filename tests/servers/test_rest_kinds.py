"""Services that are asked by a path, on real servers: OGC APIs, a STAC, tile map services, tiled WMS."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers.conftest import Geocrawl

pytestmark = [pytest.mark.servers, pytest.mark.shared]

Servers = dict[str, dict[str, Any]]

#: Server, kind, entry of its addresses, what follows that address: title, named items.
OFFERED = [
    ("mapserver", "ogcapi", "ogcapi", "", "Demo map server: Zürich & 地图", 2),
    ("qgis", "ogcapi", "ogcapi", "", "", 2),
    ("pygeoapi", "ogcapi", "ogcapi", "", "Demo pygeoapi: Zürich & 地图", 4),
    ("pygeoapi", "stac", "ogcapi", "/stac", "Demo pygeoapi: Zürich & 地图", 0),
    ("mapcache", "tms", "tms", "", "", 2),
    ("mapproxy", "tms", "tms", "", "Demo MapProxy: Zürich & 地图", 2),
    ("mapcache", "wmsc", "wms", "", "Demo MapCache: Zürich & 地图", 1),
    ("mapproxy", "wmsc", "wms", "", "Demo MapProxy: Zürich & 地图", 1),
]


@pytest.mark.parametrize(
    ("server", "kind", "entry", "path", "title", "items"), OFFERED, ids=[f"{row[0]}-{row[1]}" for row in OFFERED]
)
def test_every_kind_that_a_server_offers_is_read(
    servers: Servers, command: Geocrawl, server: str, kind: str, entry: str, path: str, title: str, items: int
) -> None:
    verdict = command.probe(servers[server][entry] + path, "--kind", kind)
    assert (verdict["kind"], verdict["status"], verdict["exit_code"]) == (kind, "valid", 0), verdict
    assert (verdict["title"], verdict["layers"]) == (title, items)


@pytest.mark.parametrize("server", ["mapserver", "qgis", "pygeoapi"])
def test_an_ogc_api_is_proved_by_a_feature(servers: Servers, command: Geocrawl, server: str) -> None:
    verdict = command.probe(servers[server]["ogcapi"], "--kind", "ogcapi", "--maps")
    assert (verdict["exit_code"], verdict["level"]) == (0, "delivers")
    assert [entry["outcome"] for entry in verdict["proof"]] == ["ok"]


@pytest.mark.parametrize("server", ["mapcache", "mapproxy"])
def test_a_tile_map_service_is_proved_by_a_tile(servers: Servers, command: Geocrawl, server: str) -> None:
    verdict = command.probe(servers[server]["tms"], "--kind", "tms", "--maps")
    assert (verdict["exit_code"], verdict["level"]) == (0, "delivers"), verdict
    assert verdict["proof"][-1]["outcome"] == "ok"


def test_a_catalogue_without_items_answers_and_delivers_nothing(servers: Servers, command: Geocrawl) -> None:
    verdict = command.probe(servers["pygeoapi"]["ogcapi"] + "/stac", "--kind", "stac", "--maps")
    assert (verdict["exit_code"], verdict["level"]) == (0, "answers")


@pytest.mark.parametrize("kind", ["arcgis", "stac", "tms", "wmsc"])
def test_an_ogc_api_is_no_other_kind(servers: Servers, command: Geocrawl, kind: str) -> None:
    verdict = command.probe(servers["pygeoapi"]["ogcapi"], "--kind", kind)
    assert verdict["status"] == "invalid", verdict
