"""Probe a WMS-C: request the tile sets of a WMS 1.1.1 (OSGeo WMS Tiling Client Recommendation, 2006).

The tile sets are in the vendor's part of the capabilities: `VendorSpecificCapabilities/TileSet`. Some servers list them
only when requested with `tiled=true`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, line_of, local_name
from geocrawl.formats.xml_reader import Cut, Reading
from geocrawl.model import Candidate, Kind, Layer, Page
from geocrawl.model.declarations import KindDeclaration
from geocrawl.ports import Interview
from geocrawl.probe.answer import Finding, answer_deviations, examine
from geocrawl.probe.extents import Box, in_system
from geocrawl.probe.interview import Question, run
from geocrawl.probe.ows.owslib_reader import read_service
from geocrawl.sanitize import ending_of
from geocrawl.urls import request_url
from geocrawl.wording import counted

KIND = KindDeclaration(
    kind=Kind.WMSC,
    name="WMS Tile Caching (OSGeo)",
    proof="WMS capabilities 1.1.1 with tile sets",
    found_beside="TILED=true; asked beside the services of GeoWebCache, MapProxy and MapCache",
    client="owslib.wms:WebMapService",
    client_versions=("1.1.1",),
    connections={"": "wms"},
    web_maps=frozenset({"openlayers", "leaflet"}),
    layers_by_name=True,
)


MAX_TILE_SETS = 20_000
"""Most tile sets of one document that are read."""


def read_wmsc(page: Page, root: etree._Element, reading: Reading) -> Finding | None:
    """Return the service that capabilities with tile sets describe; None for any other document."""
    if local_name(root).lower() not in ("wmt_ms_capabilities", "wms_capabilities"):
        return None
    if reading.cut is Cut.INSIDE:
        return Finding("truncated", ending_of(page.body), deviations=reading.deviations)
    vendor = child(root, "Capability", "VendorSpecificCapabilities")
    tile_sets = list(islice(children(vendor, "TileSet"), MAX_TILE_SETS))
    if not tile_sets:
        return Finding("other-kind", "a WMS without tile sets", other_kind=Kind.WMS)
    by_name: dict[str, list[Layer]] = {}
    titles = _titles(root)
    for each in tile_sets:
        layer = _layer(each, titles)
        by_name.setdefault(layer.name, []).append(layer)
    layers = tuple(map(_joined, by_name.values()))
    service = replace(
        read_service(root, Kind.WMSC, attribute(root, "version").strip()),
        formats=tuple(dict.fromkeys(name for layer in layers for name in layer.formats)),
        layers=layers,
    )
    return Finding("ok", counted(len(tile_sets), "tile set"), service, (*answer_deviations(page), *reading.deviations))


def _layer(tile_set: etree._Element, titles: Mapping[str, str]) -> Layer:
    name, code = line_of(child(tile_set, "Layers")), line_of(child(tile_set, "SRS"))
    format_ = line_of(child(tile_set, "Format"))
    return Layer(
        name=name,
        title=titles.get(name, name),
        crs=(code,) if code else (),
        box=_box(tile_set, code)[0],
        formats=(format_,) if format_ else (),
    )


def _joined(same: Sequence[Layer]) -> Layer:
    """Join the same layer of several tile sets in different reference systems."""
    return replace(
        same[0],
        crs=tuple(dict.fromkeys(code for each in same for code in each.crs)),
        formats=tuple(dict.fromkeys(name for each in same for name in each.formats)),
        box=next((each.box for each in same if each.box is not None), None),
    )


def _box(tile_set: etree._Element, code: str) -> Box:
    box = child(tile_set, "BoundingBox")
    if box is None:
        return None, ()
    return in_system(
        attribute(box, "SRS") or code, *(attribute(box, side) for side in ("minx", "miny", "maxx", "maxy"))
    )


def _titles(root: etree._Element) -> dict[str, str]:
    """Return titles of the WMS's layers by their names."""
    layers = (each for each in root.iter() if local_name(each) == "Layer")
    return {line_of(child(each, "Name")): line_of(child(each, "Title")) for each in layers}


class WmscProbe:
    """Proves WMS-C endpoints (`ports.Probe`)."""

    kind = Kind.WMSC

    def interview(self, candidate: Candidate) -> Interview:
        """Request the capabilities of WMS 1.1.1 with tile sets. One request."""
        asked = {"SERVICE": "WMS", "REQUEST": "GetCapabilities", "VERSION": "1.1.1", "TILED": "true"}
        question = Question("1.1.1", request_url(candidate.endpoint.url, asked))
        return run(candidate, (question,), lambda page: examine(page, read_wmsc))


PROBE = WmscProbe()
