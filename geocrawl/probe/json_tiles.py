"""Find the map tiles of a collection (OGC API – Tiles, 20-057; tile sets and their matrices: 17-083r4).

A collection links to its list of tile sets, each with a template of addresses and a tile matrix set. Two of
these are known by name; another is requested.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from geocrawl.formats.json import MAX_ITEMS, JsonObject, integer_of, line_of, list_of, number_of, objects
from geocrawl.model import Failure, Page, Url
from geocrawl.ports import Ask
from geocrawl.probe.extents import PIXEL_M, metres_a_unit
from geocrawl.probe.images import decodable
from geocrawl.probe.json_answers import json_of, linked, on_host_of, relations
from geocrawl.probe.levels import EDGE_M, Limits, Matrix, MatrixSet, filled, limits_of, matrix_of
from geocrawl.probe.previews import VECTOR_TILES, Levels, is_in
from geocrawl.urls import read_url

_REL = "http://www.opengis.net/def/rel/ogc/1.0/"
_MAP_TILES = (f"{_REL}tilesets-map", f"{_REL}tilesets-raster")
"""The second is what pygeoapi writes."""
_VECTOR_TILES = f"{_REL}tilesets-vector"
_SCHEME = (f"{_REL}tiling-scheme",)
_MAX_LEVELS = 60
_LEVELS = 25
"""Levels of a tile matrix set that is known by name (17-083r4, annex D)."""


def _quad(crs: str, scale: float, corner: tuple[float, float], columns: int) -> MatrixSet:
    """Return a set of so many tiles in the coarsest matrix; each tile has four in the next matrix."""
    levels = ((str(level), 2**level) for level in range(_LEVELS))
    return MatrixSet(crs, tuple(Matrix(name, scale / n, corner, (256, 256), (columns * n, n)) for name, n in levels))


_KNOWN = {
    "WebMercatorQuad": _quad("EPSG:3857", 559_082_264.028_717_8, (-EDGE_M, EDGE_M), 1),
    "WorldCRS84Quad": _quad("CRS:84", 279_541_132.014_358_8, (-180.0, 90.0), 2),
}
_Found = Generator[Ask, Page | Failure, tuple[JsonObject, Url] | None]


def levels_of_collection(collection: Url, system: str) -> Levels:
    """Request what a collection has of map tiles in a map's reference system; return their levels."""
    found = yield from _document(collection)
    if found is None:
        return ()
    if (listed := linked(*found, _MAP_TILES)) is None:
        return VECTOR_TILES if _VECTOR_TILES in relations(found[0]) else ()
    found = yield from _document(listed)
    offered = [known for known in objects(found[0].get("tilesets")) if is_in(_system(known), system)] if found else []
    if found is None or not offered:
        return ()
    tile_set, base = min(offered, key=lambda offer: _name(offer) not in _KNOWN), found[1]
    if not (template := _template(tile_set)) and (own := linked(tile_set, base, ("self",))) is not None:
        found = yield from _document(own)
        tile_set, base = found or (tile_set, base)
        template = _template(tile_set)
    matrices = _KNOWN.get(_name(tile_set))
    if matrices is None and (scheme := linked(tile_set, base, _SCHEME)) is not None:
        found = yield from _document(scheme)
        matrices = _matrix_set(found[0], _system(tile_set)) if found else None
    if matrices is None or not template:
        return VECTOR_TILES if tile_set.get("dataType") == "vector" else ()

    def url(matrix: Matrix, row: int, column: int) -> Url | None:
        values = {"tilematrix": matrix.name, "tilerow": row, "tilecol": column}
        tile = read_url(filled(template, values), base)
        return on_host_of(tile, base, None) if tile is not None else None

    return matrices.levels(_limits(tile_set), url)


def _document(url: Url) -> _Found:
    """Request a document; return it with its address, None for anything else."""
    answer = yield Ask(url)
    value = json_of(answer)
    return (value, answer.final) if value is not None and isinstance(answer, Page) else None


def _name(tile_set: JsonObject) -> str:
    """Return the name of a tile set's matrix set, by its address or in the drafts of the standard."""
    return line_of(tile_set.get("tileMatrixSetURI")).rpartition("/")[2] or line_of(tile_set.get("tileMatrixSetId"))


def _system(tile_set: JsonObject) -> str:
    known = _KNOWN.get(_name(tile_set))
    return known.crs if known is not None else line_of(tile_set.get("crs"))


def _template(tile_set: JsonObject) -> str:
    """Return the template of the addresses of a tile set's pictures, or of tiles of no stated type; '' for none."""
    links = [link for link in objects(tile_set.get("links"))[:MAX_ITEMS] if link.get("rel") == "item"]
    by_type = {line_of(link.get("type")): line_of(link.get("href")) for link in reversed(links)}
    return next((by_type[name] for name in (*decodable(by_type), "") if name in by_type), "")


def _limits(tile_set: JsonObject) -> Mapping[str, Limits]:
    found = {}
    for entry in objects(tile_set.get("tileMatrixSetLimits"))[:_MAX_LEVELS]:
        numbers = (integer_of(entry.get(name)) for name in ("minTileRow", "maxTileRow", "minTileCol", "maxTileCol"))
        if (limits := limits_of(*numbers)) is not None:
            found[line_of(entry.get("tileMatrix"))] = limits
    return found


def _matrix_set(value: JsonObject, usual: str) -> MatrixSet:
    """Return a tile matrix set; `usual`: its reference system where it states none."""
    crs = line_of(value.get("crs")) or usual
    matrices = (_matrix(entry, crs) for entry in objects(value.get("tileMatrices"))[:_MAX_LEVELS])
    return MatrixSet(crs, tuple(matrix for matrix in matrices if matrix is not None))


def _matrix(value: JsonObject, crs: str) -> Matrix | None:
    """Return a matrix, unless its rows differ; by its cells, because MapProxy's scales are wrong in degrees."""
    corner = [number_of(item) for item in list_of(value.get("pointOfOrigin"))[:2]]
    cell, scale = number_of(value.get("cellSize")), number_of(value.get("scaleDenominator"))
    scale = cell * metres_a_unit(crs) / PIXEL_M if cell else scale
    counts = [integer_of(value.get(name)) for name in ("tileWidth", "tileHeight", "matrixWidth", "matrixHeight")]
    if value.get("variableMatrixWidths"):
        return None
    from_south = value.get("cornerOfOrigin") == "bottomLeft"
    return matrix_of(line_of(value.get("id")), scale, corner, counts, from_south=from_south)
