"""Probe a WMS-C: request the tile sets of a WMS 1.1.1 (OSGeo WMS Tiling Client Recommendation, 2006).

The tile sets are in the vendor's part of the capabilities: `VendorSpecificCapabilities/TileSet`. Some servers list them
only when requested with `tiled=true`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from lxml import etree

from geocrawl.formats.json import integer_of, number_of
from geocrawl.formats.xml import Cut, Reading, attribute, child, children, line_of, local_name, text_of
from geocrawl.model import Candidate, Kind, Layer, Page, Url
from geocrawl.model.kinds import KindDeclaration
from geocrawl.ports import Ask, Interview
from geocrawl.probe.answer import Classification, answer_deviations, examine
from geocrawl.probe.extents import NO_BOX, Box, Sides, in_system
from geocrawl.probe.interview import REFUSALS, ClassifiedAnswer, Question, run
from geocrawl.probe.levels import Level, level_from_south
from geocrawl.probe.ows.items import edges_of
from geocrawl.probe.ows.owslib_reader import read_service
from geocrawl.probe.previews import LayerContext, Levels, Tiles, View, by_tiles, is_in
from geocrawl.probe.stream import read_whole
from geocrawl.sanitize import ending_of
from geocrawl.urls import capabilities_url, request_url
from geocrawl.wording import counted

KIND = KindDeclaration(
    kind=Kind.WMSC,
    name="WMS Tile Caching (OSGeo)",
    proof="WMS capabilities 1.1.1 with tile sets",
    found_beside="TILED=true; asked beside the services of GeoWebCache, MapProxy and MapCache",
    client="owslib.wms:WebMapService",
    client_versions=("1.1.1",),
    connections={"": "wms"},
    web_maps={"openlayers": "wms", "leaflet": "wms"},
    layers_by_name=True,
)


MAX_TILE_SETS = 20_000
"""Most tile sets of one document that are read."""


def read_wmsc(page: Page, root: etree._Element, reading: Reading) -> Classification | None:
    """Return the service that capabilities with tile sets describe; None for any other document."""
    if local_name(root).lower() not in ("wmt_ms_capabilities", "wms_capabilities"):
        return None
    if reading.cut is Cut.INSIDE:
        return Classification("truncated", ending_of(page.body), deviations=reading.deviations)
    vendor = child(root, "Capability", "VendorSpecificCapabilities")
    tile_sets = list(islice(children(vendor, "TileSet"), MAX_TILE_SETS))
    if not tile_sets:
        return Classification("other-kind", "a WMS without tile sets", other_kind=Kind.WMS)
    by_name: dict[str, list[Layer]] = {}
    titles = _titles(root)
    for tile_set in tile_sets:
        layer = _layer(tile_set, titles)
        by_name.setdefault(layer.name, []).append(layer)
    layers = tuple(map(_joined, by_name.values()))
    service = replace(
        read_service(root, Kind.WMSC, attribute(root, "version").strip()),
        formats=tuple(dict.fromkeys(name for layer in layers for name in layer.formats)),
        layers=layers,
    )
    return Classification(
        "ok", counted(len(tile_sets), "tile set"), service, (*answer_deviations(page), *reading.deviations)
    )


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
        crs=tuple(dict.fromkeys(code for layer in same for code in layer.crs)),
        formats=tuple(dict.fromkeys(name for layer in same for name in layer.formats)),
        box=next((layer.box for layer in same if layer.box is not None), None),
    )


def _box(tile_set: etree._Element, code: str) -> Box:
    box = child(tile_set, "BoundingBox")
    return in_system(attribute(box, "SRS") or code, *edges_of(box)) if box is not None else NO_BOX


def _titles(root: etree._Element) -> dict[str, str]:
    """Return titles of the WMS's layers by their names."""
    layers = (element for element in root.iter() if local_name(element) == "Layer")
    return {line_of(child(layer, "Name")): line_of(child(layer, "Title")) for layer in layers}


def interview(candidate: Candidate) -> Interview:
    """Request the capabilities of WMS 1.1.1 with tile sets; of a named endpoint that fails there, those of the WMS."""
    endpoint = candidate.endpoint.url
    usual = Question(capabilities_url(endpoint), REFUSALS - {"exception"}, _is_named)
    return run(candidate, (Question(_capabilities(endpoint)), usual), partial(examine, read=read_wmsc))


def _is_named(_: Sequence[ClassifiedAnswer], candidate: Candidate) -> bool:
    return not candidate.evidence.is_guess


def _capabilities(endpoint: Url) -> Url:
    query = {"SERVICE": "WMS", "REQUEST": "GetCapabilities", "VERSION": "1.1.1", "TILED": "true"}
    return request_url(endpoint, query)


# --------------------------------------------------------------------------- tiles
# A tile is a GetMap of a fixed box: the grid begins in the lower left corner of the tile set's box.


_MAX_LEVELS = 60
_USUAL_PIXELS = 256


def _levels(context: LayerContext, view: View) -> Levels:
    """Request the capabilities; return the levels of a layer's tile set in the view's reference system."""
    answer = yield Ask(_capabilities(context.url))
    root = read_whole(answer).root if isinstance(answer, Page) else None
    if root is None:
        return ()
    for element in islice(children(child(root, "Capability", "VendorSpecificCapabilities"), "TileSet"), MAX_TILE_SETS):
        code = line_of(child(element, "SRS"))
        if line_of(child(element, "Layers")) == context.layer.name and is_in(code, view.system):
            return tuple(_levels_of(context.url, element, code))
    return ()


def _levels_of(endpoint: Url, tile_set: etree._Element, code: str) -> Iterator[Level]:
    sides = [side for edge in edges_of(child(tile_set, "BoundingBox")) if (side := number_of(edge)) is not None]
    if len(sides) < 4:
        return
    width, height = (integer_of(line_of(child(tile_set, name)), _USUAL_PIXELS) for name in ("Width", "Height"))
    query = {
        "SERVICE": "WMS",
        "VERSION": "1.1.1",
        "REQUEST": "GetMap",
        "TILED": "true",
        "LAYERS": line_of(child(tile_set, "Layers")),
        "STYLES": line_of(child(tile_set, "Styles")),
        "SRS": code,
        "FORMAT": line_of(child(tile_set, "Format")) or "image/png",
        "WIDTH": str(width),
        "HEIGHT": str(height),
    }

    def url(place: Sides) -> Url:
        return request_url(endpoint, {**query, "BBOX": ",".join(f"{side:.15g}" for side in place)})

    for word in text_of(child(tile_set, "Resolutions")).split()[:_MAX_LEVELS]:
        resolution = number_of(word) or 0.0
        yield level_from_south(sides, sides, resolution * width, resolution * height, url)


def preview(context: LayerContext) -> Tiles | None:
    """Show a layer by its tiles."""
    return by_tiles(context, _levels)
