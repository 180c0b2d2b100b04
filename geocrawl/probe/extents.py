"""Read extents: boxes in WGS 84, and the many names of reference systems."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from geocrawl.formats.json import number_of, text_of

if TYPE_CHECKING:
    from shapely.geometry import Polygon

# --------------------------------------------------------------------------- boxes
# Read the WGS 84 box of a layer tolerantly (WMS 1.3.0, 7.2.4.6.6; WMS 1.1.1, 7.1.4.5.6).
#
# Boxes are often wrong in recognisable ways: a fault with a clear meaning is corrected, an impossible box is left out,
# and both are reported as deviations. A box is never widened without need, except across the antimeridian, which one
# box of -180…180 cannot cross.


_SLACK_DEG = 1e-6
"""Largest excess in degrees that counts as rounding, not as a fault."""
_FARTHEST = 1e12
"""Greatest coordinate in any unit; the earth's circumference is 4e10 mm."""
_POINT_DEG = 1e-6
"""Extent of a point or a line in degrees (0.1 m): a polygon needs an area."""


Bounds = tuple[str, float, float, float, float]
"""The code of a reference system, then the four sides in that system (`Layer.bounds`)."""


def bounds_of(code: str, sides: Sequence[object]) -> Bounds | None:
    """Return bounds as stated; None without a code, for impossible sides, and for those that enclose no area."""
    numbers = [number for side in sides if (number := number_of(side)) is not None]
    if not code or len(numbers) != 4:
        return None
    west, south, east, north = numbers
    is_sound = -_FARTHEST <= west < east <= _FARTHEST and -_FARTHEST <= south < north <= _FARTHEST
    return (code, west, south, east, north) if is_sound else None


def read_box(west: str, south: str, east: str, north: str) -> tuple[Polygon | None, tuple[str, ...]]:
    """Return (box, deviation codes) from the texts of four sides in degrees; the box is None when impossible."""
    codes: list[str] = []
    sides = [_number(text, codes) for text in (west, south, east, north)]
    if any(side is None for side in sides):
        return None, ("box-not-numbers",)
    values = [side for side in sides if side is not None]
    return _mended(values, codes), tuple(dict.fromkeys(codes))


def _number(text: str, codes: list[str]) -> float | None:
    text = text.strip().rstrip("°")
    if "," in text and "." not in text and text.count(",") == 1:
        text = text.replace(",", ".")
        codes.append("box-decimal-comma")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _mended(values: Sequence[float], codes: list[str]) -> Polygon | None:
    west, south, east, north = values
    if west == south == east == north == 0:
        codes.append("box-zeros")
        return None
    if south > north:
        codes.append("box-inverted")
        south, north = north, south
        if west > east:
            west, east = east, west
    if south > 90 or north < -90 or min(west, east) > 360 or max(west, east) < -360:
        codes.append("box-out-of-range")
        return None
    if south < -90 - _SLACK_DEG or north > 90 + _SLACK_DEG:
        codes.append("box-out-of-range")
    south, north = max(south, -90.0), min(north, 90.0)
    west, east = _longitudes(west, east, codes)
    return _with_area(west, south, east, north, codes)


def _longitudes(west: float, east: float, codes: list[str]) -> tuple[float, float]:
    """Return both longitudes within -180…180, west first; the whole circle for an extent across the antimeridian."""
    if -180 - _SLACK_DEG <= west <= east <= 180 + _SLACK_DEG:
        return max(west, -180.0), min(east, 180.0)
    if west > east:
        codes.append("box-antimeridian")
        return -180.0, 180.0
    codes.append("box-out-of-range")
    if east - west >= 359.9:
        return -180.0, 180.0
    if west >= 180:
        return west - 360, east - 360
    if east <= -180:
        return west + 360, east + 360
    if min(abs(east), abs(west)) <= 180 and max(abs(east), abs(west)) <= 181:
        return max(west, -180.0), min(east, 180.0)
    return -180.0, 180.0


def _with_area(west: float, south: float, east: float, north: float, codes: list[str]) -> Polygon:
    """Return the part of a box that is within the world, a little polygon for a point or a line."""
    from shapely import box, clip_by_rect

    if west == east or south == north:
        codes.append("box-no-area")
    if west == east:
        west, east = west - _POINT_DEG, east + _POINT_DEG
    if south == north:
        south, north = south - _POINT_DEG, north + _POINT_DEG
    return clip_by_rect(box(west, south, east, north), -180, -90, 180, 90)


_ALIKE_DEG = 0.02
"""Largest difference in degrees of two boxes that count as equal: servers round differently."""


def axes_are_swapped(box: Polygon, stated: Sequence[str], *, latitude_first: bool) -> bool:
    """Return whether a layer's BoundingBox in EPSG:4326 has its axes in the wrong order for its version of WMS.

    `box`: its WGS 84 extent. `stated`: minx, miny, maxx, maxy as written. `latitude_first`: as in WMS 1.3.0 (6.7.3);
    before, x is the longitude (1.1.1, 6.5.5). True only when the box fits the one order and not the other.
    """
    values = [_number(text, []) for text in stated]
    if any(value is None for value in values):
        return False
    west, south, east, north = box.bounds
    by_longitude, by_latitude = (west, south, east, north), (south, west, north, east)
    right, wrong = (by_latitude, by_longitude) if latitude_first else (by_longitude, by_latitude)
    return _alike(values, wrong) and not _alike(values, right)


def _alike(values: Sequence[float | None], others: Sequence[float]) -> bool:
    return all(one is not None and abs(one - other) <= _ALIKE_DEG for one, other in zip(values, others, strict=True))


# --------------------------------------------------------------------------- reference systems
# Kinds and versions write EPSG:4326 as a URN (OGC 07-092r3, 7.2), as an address (OGC 09-048r5) or as a reference into a
# file of GML; the catalogue has one text for all. Which axis comes first depends on the spelling, not on the system:
# see `is_latitude_first`.


_LONG = re.compile(
    r"\A(?:urn:(?:x-)?ogc:(?:def:)?crs:|https?://www\.opengis\.net/(?:def/crs/|gml/srs/))", re.IGNORECASE
)
_PLAIN = re.compile(r"\A(epsg|esri|iau|ignf|sr-org)\s*:{1,2}\s*([\w.-]{1,40})\Z", re.IGNORECASE)
_PARTS = re.compile(r"[:/#]+")
_CRS84 = frozenset({"CRS84", "84"})
_NUMBER = re.compile(r"\AEPSG:(\d{1,9})\Z")
_MAX_CHARS = 200


@dataclass(frozen=True, slots=True)
class _Codes:
    """A set of EPSG's codes, as ranges."""

    edges: tuple[int, ...]
    """First code of each range, and the code after its last one, in turns."""

    def __contains__(self, code: int) -> bool:
        return bisect_right(self.edges, code) % 2 == 1


@cache
def _systems() -> tuple[_Codes, _Codes]:
    """Return the shipped codes of systems in degrees, and of those whose first axis points north."""
    import tomllib

    data = tomllib.loads(resources.files("geocrawl").joinpath("data/reference_systems.toml").read_text("utf-8"))

    def codes(ranges: str) -> _Codes:
        pairs = (part.partition("-") for part in ranges.split())
        return _Codes(tuple(edge for first, _, last in pairs for edge in (int(first), int(last or first) + 1)))

    return codes(data["degrees"]), codes(data["northing_first"])


def crs_code(text: str) -> str:
    """Return the code for any spelling: `EPSG:4326`, `CRS:84` …; any other text unchanged, bounded; '' for none."""
    text = "".join(text.split())[:_MAX_CHARS]
    if plain := _PLAIN.match(text):
        return f"{plain[1].upper()}:{plain[2]}"
    prefix = _LONG.match(text)
    if prefix is None:
        return text
    parts = [part for part in _PARTS.split(text[prefix.end() :]) if part]
    if len(parts) < 2:
        return text
    authority, code = parts[0].removesuffix(".xml").upper(), parts[-1]
    if authority in ("OGC", "CRS") and code.upper() in _CRS84:
        return "CRS:84"
    return f"{authority}:{code}"


def is_northing_first(code: str) -> bool:
    """Return whether EPSG has the axis to the north before the one to the east, by a system's code (`EPSG:4326`)."""
    number = _NUMBER.match(code)
    return number is not None and int(number[1]) in _systems()[1]


def is_latitude_first(text: str) -> bool:
    """Return whether corners in this spelling, of a system in degrees, have latitude before longitude.

    That is EPSG's order, to which URNs and addresses commit themselves and the short `EPSG:4326` does not.
    """
    code = crs_code(text)
    return _LONG.match("".join(text.split())) is not None and is_geographic(code) and is_northing_first(code)


def is_geographic(text: str) -> bool:
    """Return whether coordinates in a reference system are degrees from Greenwich: EPSG:4326 and its like, CRS:84."""
    code = crs_code(text)
    if number := _NUMBER.match(code):
        return int(number[1]) in _systems()[0]
    return code == "CRS:84"


# --------------------------------------------------------------------------- boxes in other reference systems
# Degrees of other data differ by a metre or two (NAD83, ETRS89, GDA94 …), of old national ones by some hundred metres,
# and are used unchanged; spherical Mercator is transformed by its formula. Boxes in any other reference system are
# ignored: a wrong box would be worse than none.


Box = tuple["Polygon | None", tuple[str, ...]]
"""A WGS 84 box, None for a missing or impossible one; and codes of corrected deviations."""

NO_BOX: Box = (None, ())
_EARTH_M = 6378137.0
_MAX_CODE_DIGITS = 9
_ESRI_DEGREES = frozenset({104145})
"""NAD83 (2011), which has a code of Esri's."""
_MERCATOR = frozenset({3857, 102100, 102113, 900913, 3785, 41001, 54004})


def is_web_mercator(code: str) -> bool:
    """Return whether a code in any spelling is of spherical Mercator, the system of maps of the web (`EPSG:3857`)."""
    number = crs_code(code).rpartition(":")[2]
    return number.isascii() and number.isdigit() and len(number) <= _MAX_CODE_DIGITS and int(number) in _MERCATOR


def in_system(code: str, west: object, south: object, east: object, north: object) -> Box:
    """Return the box of sides, x first, in a reference system by its code (`EPSG:3857`, `CRS:84`)."""
    authority, _, number = code.upper().rpartition(":")
    if authority in ("CRS", "OGC"):
        return _degrees(west, south, east, north)
    is_code = number.isascii() and number.isdigit() and len(number) <= _MAX_CODE_DIGITS
    return in_numbered_system(int(number) if is_code else 0, west, south, east, north)


def in_numbered_system(number: int, west: object, south: object, east: object, north: object) -> Box:
    """Return the box of sides, x first, in the reference system that EPSG or Esri has under a number."""
    if number in _systems()[0] or number in _ESRI_DEGREES:
        return _degrees(west, south, east, north)
    if number not in _MERCATOR:
        return NO_BOX
    sides = [number_of(side) for side in (west, south, east, north)]
    if any(side is None for side in sides):
        return None, ("box-not-numbers",)
    x0, y0, x1, y1 = (side for side in sides if side is not None)
    if max(map(abs, (x0, x1))) <= 180 and max(map(abs, (y0, y1))) <= 90 and (x0, y0) != (x1, y1):
        box, codes = _degrees(x0, y0, x1, y1)
        return box, ("box-in-degrees", *codes)
    return _degrees(_longitude(x0), _latitude(y0), _longitude(x1), _latitude(y1))


def _longitude(x: float) -> float:
    return _within(math.degrees(x / _EARTH_M), 180.0)


def _latitude(y: float) -> float:
    """Return degrees for metres of spherical Mercator (Snyder 1987, 7-4)."""
    return math.degrees(2 * math.atan(math.exp(max(-50.0, min(50.0, y / _EARTH_M)))) - math.pi / 2)


def _within(angle: float, limit: float) -> float:
    """Return `angle`, limited to the world's edge when slightly beyond it: tile schemes end at rounded metres."""
    return math.copysign(limit, angle) if limit < abs(angle) <= limit * 1.01 else angle


def _degrees(west: object, south: object, east: object, north: object) -> Box:
    return read_box(*(text_of(side) for side in (west, south, east, north)))


# --------------------------------------------------------------------------- extents to request


Sides = tuple[float, float, float, float]
"""Least x and y, greatest x and y, in any reference system."""
MERCATOR_CODES = ("EPSG:3857", "EPSG:900913", "EPSG:3785", "EPSG:102100", "EPSG:102113")
"""Names that servers give spherical Mercator, the first choice first."""
PIXEL_M = 0.00028
"""Side of a pixel of scale denominators (WMS 1.3.0, 7.2.4.6.9; OGC 07-057r7, 6.1)."""
PIXELS = 256
"""The longer side of images that are requested."""
_LEAST_PIXELS = 32
_METRES_A_DEGREE = 111_319.49079327358
_MERCATOR_LATITUDE = 85.0511287798
_MIDDLE = 1 / 8
"""Side of the middle part, which is requested second, as a share of the extent's side."""


def metres_a_unit(crs: str) -> float:
    """Return the length of a reference system's unit in metres, at the equator."""
    return _METRES_A_DEGREE if is_geographic(crs) else 1.0


def to_mercator(sides: Sides) -> Sides:
    """Return WGS 84 degrees as EPSG:3857 metres (Snyder 1987, 7-1 and 7-2, on the sphere)."""
    west, south, east, north = sides

    def up(latitude: float) -> float:
        latitude = max(-_MERCATOR_LATITUDE, min(latitude, _MERCATOR_LATITUDE))
        return _EARTH_M * math.log(math.tan(math.pi / 4 + math.radians(latitude) / 2))

    return _EARTH_M * math.radians(west), up(south), _EARTH_M * math.radians(east), up(north)


def box_text(sides: Sides) -> str:
    """Return an extent as addresses of requests have it: numbers with commas between them."""
    return ",".join(f"{side:.9g}" for side in sides)


def middle_of(sides: Sides) -> Sides:
    """Return the middle part of an extent, an eighth of it on each side."""
    west, south, east, north = sides
    x, y = (west + east) / 2, (south + north) / 2
    across, up = (east - west) * _MIDDLE / 2, (north - south) * _MIDDLE / 2
    return x - across, y - up, x + across, y + up


def image_size(sides: Sides) -> tuple[int, int]:
    """Return width and height in pixels, the longer 256, in the proportion of the extent.

    A square for an extent that limits on the scale have made nonsense of.
    """
    west, south, east, north = sides
    across, up = east - west, north - south
    longest = max(across, up)
    if not (math.isfinite(across + up) and longest > 0):
        return PIXELS, PIXELS
    width, height = (max(_LEAST_PIXELS, round(PIXELS * (side / longest))) for side in (across, up))
    return width, height
