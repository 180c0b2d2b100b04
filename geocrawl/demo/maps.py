"""Draw the maps of the demo's services: coasts and borders of the base map that ships (Natural Earth) at the place that
a request names, and between them made terrain, rivers and roads, which are the same in each picture of a place."""

from __future__ import annotations

import json
import math
import re
import struct
import zlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocrawl.demo.ows_documents import HALF_M, Box

_MOST_PIXELS, _USUAL_PIXELS = 512, 256
_STEPS = 6
"""Colours of heights."""
_SEA, _RIVER, _ROAD, _BORDER = range(_STEPS, _STEPS + 4)
_COLOURS = ((176, 208, 228), (92, 146, 190), (250, 250, 244), (150, 110, 140))
_PALETTES = (
    ((196, 214, 176), (210, 222, 184), (224, 228, 192), (232, 220, 178), (218, 196, 154), (200, 172, 134)),
    ((214, 232, 236), (190, 220, 228), (160, 202, 218), (128, 180, 206), (98, 156, 190), (72, 128, 170)),
    ((236, 232, 200), (214, 222, 160), (178, 204, 132), (138, 180, 108), (102, 154, 92), (74, 126, 78)),
    ((244, 232, 208), (240, 212, 176), (230, 186, 146), (214, 158, 124), (190, 130, 108), (160, 104, 94)),
)
_WAVES_DEG = (41.0, 17.0, 7.1, 3.3, 1.7, 0.83, 0.41, 0.19, 0.09, 0.04)
_LEAST_WAVE_PIXELS = 12
_Grid = NDArray[np.float64]


def draw_map(box: Box, width: str, height: str, theme: str) -> bytes:
    """Return a PNG of a place, of a requested size in pixels (256 × 256 for none, 512 at most); maps of one theme have
    one set of colours."""
    sides = (int(side) if side.isdecimal() else _USUAL_PIXELS for side in (width, height))
    across, down = (min(max(side, 1), _MOST_PIXELS) for side in sides)
    west, south, east, north = box
    column, row = np.arange(across) + 0.5, np.arange(down) + 0.5
    lon, lat = np.meshgrid(west + column / across * (east - west), north - row / down * (north - south))
    pixel_deg = max((east - west) / across, 1e-9)
    colours = np.clip((_waves(lon, lat, pixel_deg, 4) + 1.2) / 2.4 * _STEPS, 0, _STEPS - 1).astype(np.uint8)
    for phase, colour in ((5, _RIVER), (11, _ROAD)):
        colours[_changes(_waves(lon, lat, pixel_deg, 2, phase) > 0)] = colour
    countries = _countries(lon[0], lat[:, 0])
    colours[countries == 0] = _SEA
    colours[_changes(countries)] = _BORDER
    return _png(colours, theme)


def draw_legend(theme: str) -> bytes:
    """Return a PNG with the colours of the maps of a theme, from low to high."""
    return _png(np.repeat(np.arange(_STEPS, dtype=np.uint8)[None], 20, axis=0).repeat(20, axis=1), theme)


def place_of(below: str, parameters: Mapping[str, str], whole: Box, *, is_from_below: bool = False) -> Box:
    """Return the place that a request names, by a tile's address `below` that of its service or by its parameters in
    lower case; for a place in an unusual reference system, another part of `whole` for each.

    `is_from_below`: rows of tiles are counted from the south, as in TMS."""
    if tile := _TILE.search(below):
        level, column, row = map(int, tile.groups())
        return _tile(level, column, 2**level - 1 - row if is_from_below else row)
    if {"tilematrix", "tilecol", "tilerow"} <= parameters.keys():
        numbers = [parameters[name].rpartition(":")[2] for name in ("tilematrix", "tilecol", "tilerow")]
        if all(number.isdecimal() and len(number) < 8 for number in numbers):
            return _tile(*map(int, numbers))
    return _extent_of(parameters) or _part(whole, str(sorted(parameters.items())))


def _extent_of(parameters: Mapping[str, str]) -> Box | None:
    """Return the extent that `bbox` states, in degrees; None for a missing or unreadable one."""
    try:
        one, two, three, four = map(float, parameters.get("bbox", "").split(",")[:4])
    except ValueError:
        return None
    code = next((parameters[name] for name in ("crs", "srs", "bboxsr") if name in parameters), "CRS:84").upper()
    number = code.rpartition(":")[2]
    if number in ("3857", "900913", "102100"):
        west, south, east, north = *_degrees(one, two), *_degrees(three, four)
    elif number == "84" or (number.startswith("4") and len(number) == 4):
        is_north_first = parameters.get("version") == "1.3.0" and number != "84"
        west, south, east, north = (two, one, four, three) if is_north_first else (one, two, three, four)
    else:
        return None
    is_place = -180 <= west < east <= 180 and -90 <= south < north <= 90
    return (west, south, east, north) if is_place else None


def _part(whole: Box, text: str) -> Box:
    """Return a part of an extent, another one for another text."""
    number = zlib.crc32(text.encode())
    west, south, east, north = whole
    right, up = (number % 97 / 97 * 0.3, number // 97 % 97 / 97 * 0.3)
    return (
        west + right * (east - west),
        south + up * (north - south),
        west + (right + 0.7) * (east - west),
        south + (up + 0.7) * (north - south),
    )


def _tile(level: int, column: int, row: int) -> Box:
    """Return the extent of a tile of Web Mercator, its rows counted from the north."""
    side = 2 * HALF_M / 2 ** min(level, 30)
    west, north = -HALF_M + column * side, HALF_M - row * side
    return (*_degrees(west, north - side), *_degrees(west + side, north))


def _degrees(x: float, y: float) -> tuple[float, float]:
    """Return longitude and latitude of metres of Web Mercator."""
    bounded = min(max(y / HALF_M * math.pi, -math.pi), math.pi)
    return x / HALF_M * 180, math.degrees(2 * math.atan(math.exp(bounded)) - math.pi / 2)


def _waves(lon: _Grid, lat: _Grid, pixel_deg: float, most: int, phase: int = 0) -> _Grid:
    """Return made heights, -1 to 1 for the most part, of at most so many waves, none too short to be seen."""
    east, north = lon + 0.4 * np.sin(lat * 2.3 + phase), lat + 0.4 * np.sin(lon * 1.9 - phase)
    waves = [each for each in _WAVES_DEG if each > _LEAST_WAVE_PIXELS * pixel_deg] or [_WAVES_DEG[0]]
    field = np.zeros_like(lon)
    for number, length in enumerate(waves[-4:][:most]):
        turn = 1.1 * phase + 2.4 * number
        along, across = east * math.cos(turn) + north * math.sin(turn), north * math.cos(turn) - east * math.sin(turn)
        wave = np.sin(2 * math.pi * along / length + phase) + np.sin(2 * math.pi * across / (1.3 * length))
        field += wave / 2 * 0.62**number
    return field


def _changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a value differs from that to the left or above: lines without ends."""
    changed = np.zeros(values.shape, np.bool_)
    changed[:, 1:] |= values[:, 1:] != values[:, :-1]
    changed[1:, :] |= values[1:, :] != values[:-1, :]
    return changed


def _countries(lon: _Grid, lat: _Grid) -> NDArray[np.uint16]:
    """Return the number of the outline in which each pixel lies, 0 for the sea, from the longitudes of columns and the
    latitudes of rows: a pixel is within when a line from the west crosses the outline an odd number of times."""
    found = np.zeros((len(lat), len(lon)), np.uint16)
    for number, (ring, (left, low, right, high)) in enumerate(_land(), 1):
        if left > lon[-1] or right < lon[0] or low > lat[0] or high < lat[-1]:
            continue
        (x, y), (next_x, next_y) = ring.T, np.roll(ring, -1, axis=0).T
        edges, rows = np.nonzero((y[:, None] > lat) != (next_y[:, None] > lat))
        share = (lat[rows] - y[edges]) / (next_y[edges] - y[edges])
        columns = np.searchsorted(lon, x[edges] + share * (next_x[edges] - x[edges]))
        crossings = np.zeros((len(lat), len(lon) + 1), np.int32)
        np.add.at(crossings, (rows, columns), 1)
        found[crossings.cumsum(axis=1)[:, :-1] % 2 == 1] = number
    return found


@cache
def _land() -> list[tuple[_Grid, Box]]:
    """Return the outer outlines of the shipped base map, each with its extent."""
    text = resources.files("geocrawl").joinpath("web/static/world.json").read_text("utf-8")
    found = list[tuple[_Grid, Box]]()
    for feature in json.loads(text)["features"]:
        form = feature["geometry"]
        for outer, *_ in form["coordinates"] if form["type"] == "MultiPolygon" else [form["coordinates"]]:
            ring = np.array(outer, np.float64)
            (left, low), (right, high) = ring.min(axis=0), ring.max(axis=0)
            found.append((ring, (float(left), float(low), float(right), float(high))))
    return found


def _png(colours: NDArray[np.uint8], theme: str) -> bytes:
    """Return an image of numbers of colours as a PNG with the palette of a theme."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    palette = (*_PALETTES[zlib.crc32(theme.encode()) % len(_PALETTES)], *_COLOURS)
    rows = np.insert(colours, 0, 0, axis=1).tobytes()  # each begins with the number of its filter
    header = struct.pack(">IIBBBBB", colours.shape[1], colours.shape[0], 8, 3, 0, 0, 0)  # 8 bits, numbers of colours
    chunks = ((b"IHDR", header), (b"PLTE", bytes(chain(*palette))), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in chunks)


_TILE: re.Pattern[str] = re.compile(r"(?:^|/)(\d{1,2})/(\d{1,8})/(\d{1,8})\.\w+$")
