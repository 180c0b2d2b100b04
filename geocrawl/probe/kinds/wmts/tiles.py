"""Choose tiles of a WMTS layer that probably have content (OGC 07-057r7, 6.1 and 7.1.1.2).

A tile matrix is a grid over the earth: its scale and the size of its tiles determine the extent of a tile. The chosen
tile is in the middle of the layer, in the matrix whose tiles are about as large as the layer, within the limits that
the layer states. If the extent is unknown in the matrix set's reference system, the middle of these limits or of the
coarsest matrix is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, text_of, texts
from geocrawl.formats.json import number_of
from geocrawl.model import Dimension, Url
from geocrawl.probe.extents import MERCATOR_CODES, Sides, crs_code, is_geographic, to_mercator
from geocrawl.probe.levels import Level
from geocrawl.probe.matrices import Limits, Matrix, MatrixSet, span, top_left
from geocrawl.probe.ows.extents import read_extent
from geocrawl.probe.previews import is_in
from geocrawl.probe.stream import ItemSpec


@dataclass(frozen=True, slots=True)
class TileLayer:
    """The parts of a layer that are needed to request its tiles."""

    name: str
    formats: tuple[str, ...]
    styles: tuple[str, ...]
    """The default style first."""
    links: Mapping[str, Mapping[str, Limits]]
    """Tile matrix set → matrix → limits, where stated."""
    templates: Mapping[str, str]
    """Format → template of a tile's address (RESTful)."""
    dimensions: tuple[Dimension, ...]
    extent: Sides | None


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of a layer, by matrix set, matrix, row and column."""

    matrix_set: str
    matrix: str
    row: int
    column: int
    size: tuple[int, int]
    crs: str


def layer_spec() -> ItemSpec[TileLayer]:
    """Return the specification for reading the layers of a document (`stream.read_items`)."""
    return ItemSpec(elements=frozenset({"Layer"}), within=frozenset({"Contents"}), read=_read_layer)


def _read_layer(element: etree._Element, _around: int | None) -> TileLayer:
    styles = sorted(children(element, "Style"), key=lambda style: attribute(style, "isDefault") != "true")
    box, _ = read_extent(element)
    resources = [each for each in children(element, "ResourceURL") if attribute(each, "resourceType") == "tile"]
    return TileLayer(
        name=text_of(child(element, "Identifier")),
        formats=texts(children(element, "Format")),
        styles=tuple(text_of(child(style, "Identifier")) for style in styles),
        links={text_of(child(each, "TileMatrixSet")): _limits(each) for each in children(element, "TileMatrixSetLink")},
        templates={attribute(each, "format"): attribute(each, "template").strip() for each in reversed(resources)},
        dimensions=tuple(one for each in children(element, "Dimension") if (one := _dimension(each)).name),
        extent=box.bounds if box is not None else None,
    )


def _dimension(element: etree._Element) -> Dimension:
    """Return a dimension of a layer (table 9): its name, default, and first and last value."""
    values = texts(children(element, "Value")) or ("",)
    return Dimension(text_of(child(element, "Identifier")), text_of(child(element, "Default")), values[0], values[-1])


def _limits(link: etree._Element) -> dict[str, Limits]:
    found = {}
    for each in children(child(link, "TileMatrixSetLimits"), "TileMatrixLimits"):
        numbers = [_whole(child(each, name)) for name in ("MinTileRow", "MaxTileRow", "MinTileCol", "MaxTileCol")]
        first, last, left, right = (number if number is not None else -1 for number in numbers)
        if 0 <= first <= last and 0 <= left <= right:
            found[text_of(child(each, "TileMatrix"))] = (first, last, left, right)
    return found


def read_sets(root: etree._Element) -> Mapping[str, MatrixSet]:
    """Return the tile matrix sets of a document by their names."""
    found = {}
    for each in children(child(root, "Contents"), "TileMatrixSet"):
        matrices = [matrix for part in children(each, "TileMatrix") if (matrix := _read_matrix(part)) is not None]
        matrices.sort(key=lambda matrix: -matrix.scale)
        crs = text_of(child(each, "SupportedCRS"))
        found[text_of(child(each, "Identifier"))] = MatrixSet(crs, tuple(matrices))
    return found


def _read_matrix(element: etree._Element) -> Matrix | None:
    corner = [number_of(word) for word in text_of(child(element, "TopLeftCorner")).split()[:2]]
    scale = number_of(text_of(child(element, "ScaleDenominator")))
    counts = [_whole(child(element, name)) for name in ("TileWidth", "TileHeight", "MatrixWidth", "MatrixHeight")]
    if not scale or scale <= 0 or len(corner) != 2 or not all(counts):
        return None
    (x, y), (width, height, across, down) = (number or 0.0 for number in corner), (count or 0 for count in counts)
    return Matrix(text_of(child(element, "Identifier")), scale, (x, y), (width, height), (across, down))


def _whole(element: etree._Element | None) -> int | None:
    text = text_of(element)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


# --------------------------------------------------------------------------- choosing


def choose_tiles(layer: TileLayer, sets: Mapping[str, MatrixSet]) -> Iterator[Tile]:
    """Yield tiles worth requesting, the best first, all in the layer's middle.

    The first is about as large as the layer; the second the same in another tile matrix set, because some servers fail
    in one reference system only; the third much finer.
    """
    linked = [name for name in layer.links if name in sets and sets[name].matrices]
    linked.sort(key=lambda name: not _is_understood(sets[name].crs))
    for name, finer in [*((name, 0) for name in linked[:2]), *((name, 2) for name in linked[:1])]:
        matrix_set = sets[name]
        limits = _by_plain_names(layer.links[name], name)
        sides = _sides_in(layer.extent, matrix_set.crs)
        index = min(_fitting(matrix_set, sides, limits) + finer, len(matrix_set.matrices) - 1)
        matrix = matrix_set.matrices[index]
        row, column = _place(matrix, matrix_set.crs, sides, limits.get(matrix.name))
        yield Tile(name, matrix.name, row, column, matrix.tile, crs_code(matrix_set.crs))


def levels_of(
    layer: TileLayer, sets: Mapping[str, MatrixSet], system: str, address: Callable[[Tile], Url | None]
) -> tuple[Level, ...]:
    """Return the levels of a layer in a reference system, whose tiles have the addresses that `address` makes."""
    name = next((each for each in layer.links if each in sets and is_in(sets[each].crs, system)), None)
    if name is None:
        return ()
    crs = crs_code(sets[name].crs)

    def url(matrix: Matrix, row: int, column: int) -> Url | None:
        return address(Tile(name, matrix.name, row, column, matrix.tile, crs))

    return sets[name].levels(_by_plain_names(layer.links[name], name), url)


def _by_plain_names(limits: Mapping[str, Limits], matrix_set: str) -> Mapping[str, Limits]:
    """Return limits by the names of matrices, also where the set's name stands before them (`google:6` for `6`)."""
    return {name.removeprefix(f"{matrix_set}:"): each for name, each in limits.items()} | dict(limits)


def _is_understood(crs: str) -> bool:
    return is_geographic(crs) or crs_code(crs) in MERCATOR_CODES


def _sides_in(extent: Sides | None, crs: str) -> Sides | None:
    """Return the extent in a reference system; None when either is unknown."""
    if extent is None or not _is_understood(crs):
        return None
    return extent if is_geographic(crs) else to_mercator(extent)


def _fitting(matrix_set: MatrixSet, sides: Sides | None, limits: Mapping[str, Limits]) -> int:
    """Return the index of the finest matrix with tiles as large as the layer, else of the first one with limits."""
    stated = [index for index, matrix in enumerate(matrix_set.matrices) if not limits or matrix.name in limits] or [0]
    if sides is None:
        return stated[0]
    longest = max(sides[2] - sides[0], sides[3] - sides[1])
    fitting = [i for i in stated if min(span(matrix_set.matrices[i], matrix_set.crs)) >= longest]
    return fitting[-1] if fitting else stated[0]


def _place(matrix: Matrix, crs: str, sides: Sides | None, limits: Limits | None) -> tuple[int, int]:
    """Return row and column of the tile in the middle, within the limits and the matrix (annex H.1)."""
    first, last, left, right = limits or matrix.limits
    row, column = (first + last) // 2, (left + right) // 2
    if sides is not None:
        x0, y0 = top_left(matrix, crs)
        across, down = span(matrix, crs)
        column = _steps((sides[0] + sides[2]) / 2 - x0, across, column)
        row = _steps(y0 - (sides[1] + sides[3]) / 2, down, row)
    return min(max(row, first), last), min(max(column, left), right)


def _steps(distance: float, span: float, default: int) -> int:
    """Return the number of whole spans in a distance; the default for impossible numbers in the document."""
    steps = distance / span if span > 0 else math.inf
    return math.floor(steps) if math.isfinite(steps) else default
