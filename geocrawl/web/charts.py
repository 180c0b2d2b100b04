"""Draw small charts as SVG: bars, curves, a line of availability, extents on a map of the world (plate carrée).

Within a page their colours come from its style sheet; `standalone` puts colours into a chart for a file of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from geocrawl.model.catalogue import Box
from geocrawl.sanitize import plain
from geocrawl.wording import moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geocrawl.model.statistics import Growth, SoftwareGrowth, Survival

_WIDTH = 640
_ROW = 24
_LABEL = 190
_NUMBER = 84
_LINE = 16
_MARGIN, _HEADING = 16, 40
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
COLOURS: Mapping[str, str] = {
    "ground": "#ffffff",
    "heading": "#17252b",
    "label": "#17252b",
    "value": "#536870",
    "tick": "#536870",
    "bar": "#0b6e6e",
    "line": "#0b6e6e",
    "area": "#dbebeb",
    "c1": "#0b6e6e",
    "c2": "#c4661f",
    "c3": "#5b4bb0",
    "c4": "#2f7d32",
    "c5": "#b0305c",
    "c6": "#6b7280",
    "axis": "#536870",
    "grid": "#d9e1e4",
    "sea": "#e6eff3",
    "land": "#d6dad2",
    "s1": "#f6d9a8",
    "s2": "#f0b96a",
    "s3": "#e0913c",
    "s4": "#c4661f",
    "s5": "#963f12",
}
"""Class of a shape → its colour in a file; c1 to c6 are curves of one chart, s1 to s5 cells of the map, from few
services to many."""
CURVES = tuple(f"c{number}" for number in range(1, 7))
LINES = ("line", "axis", "grid", *CURVES)
"""Classes whose outline is drawn, not their inside."""
STYLE = "".join(
    f".{name}{{fill:none;stroke:{colour};stroke-width:{1 if name in ('axis', 'grid') else 2}}}"
    if name in LINES
    else f".{name}{{fill:{colour}}}"
    for name, colour in COLOURS.items()
) + (
    "text{font:12.5px system-ui,'DejaVu Sans','Noto Sans CJK SC',sans-serif}"
    ".heading{font-size:16px;font-weight:600}.label,.end{text-anchor:end}"
)


def bars(rows: Sequence[tuple[str, float]], title: str) -> Markup:
    """Return horizontal bars with a label and a number each, in the order given."""
    most = max((value for _, value in rows), default=0) or 1
    parts = []
    for index, (label, value) in enumerate(rows):
        y, width = index * _ROW, max(1.5, (_WIDTH - _LABEL - _NUMBER) * value / most)
        parts += [
            Markup('<text class="label" x="{}" y="{}">{}</text>').format(_LABEL - 8, y + 16, plain(label, 30)),
            Markup('<rect class="bar" x="{}" y="{}" width="{:.1f}" height="14" rx="2"/>').format(_LABEL, y + 5, width),
            Markup('<text class="value" x="{:.1f}" y="{}">{:,}</text>').format(_LABEL + width + 6, y + 16, value),
        ]
    return framed(_WIDTH, max(_ROW, len(rows) * _ROW), title, parts, "bars")


def curve(
    points: Sequence[tuple[float, float]], title: str, *, x_labels: tuple[str, str], most: float, most_label: str
) -> Markup:
    """Return a curve over x, filled below; `most` is the value at the top."""
    height, left, bottom = 200, _left_of(most_label), 24
    if not points:
        return framed(_WIDTH, height, title, [], "curve")
    first, last = points[0][0], points[-1][0]
    across, top = (last - first) or 1.0, most or 1.0

    def place(point: tuple[float, float]) -> str:
        x = left + (point[0] - first) / across * (_WIDTH - left - 12)
        y = 10 + (1 - point[1] / top) * (height - bottom - 10)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(map(place, points))
    floor = height - bottom
    parts = [
        *_axes(left, _WIDTH - 12, floor, x_labels, most_label),
        Markup('<polygon class="area" points="{} {} {}"/>').format(
            f"{left},{floor}", line, f"{_WIDTH - 12:.1f},{floor}"
        ),
        Markup('<polyline class="line" points="{}"/>').format(line),
    ]
    return framed(_WIDTH, height, title, parts, "curve")


def curves(
    named: Sequence[tuple[str, Sequence[float]]], title: str, *, x_labels: tuple[str, str], most_label: str
) -> Markup:
    """Return curves over the same time, each with its name at its end: six at most, the rest is left out."""
    named = named[: len(CURVES)]
    top = max((value for _, values in named for value in values), default=0) or 1.0
    height, left, right, bottom = 220, _left_of(most_label), _WIDTH - _LABEL, 24
    floor = height - bottom
    parts = _axes(left, right, floor, x_labels, most_label)
    ends = _apart([10 + (1 - values[-1] / top) * (floor - 10) for _, values in named], floor)
    for number, ((label, values), end) in enumerate(zip(named, ends, strict=True)):
        across = (right - left) / max(len(values) - 1, 1)
        points = " ".join(
            f"{left + at * across:.1f},{10 + (1 - value / top) * (floor - 10):.1f}" for at, value in enumerate(values)
        )
        name = f"{plain(label, 18)} {values[-1]:,.0f}"
        parts += [
            Markup('<polyline class="{}" points="{}"/>').format(CURVES[number], points),
            Markup('<line class="{0}" x1="{1}" y1="{3:.1f}" x2="{2}" y2="{3:.1f}"/>').format(
                CURVES[number], right + 4, right + 16, end
            ),
            Markup('<text class="value" x="{}" y="{:.1f}">{}</text>').format(right + 22, end + 4, name),
        ]
    return framed(_WIDTH, height, title, parts, "curves")


def growth_curve(growth: Growth | None, title: str) -> Markup:
    """Return the curve of known services over time."""
    if growth is None:
        return curve([], title, x_labels=("", ""), most=1, most_label="")
    points = [(float(part), float(count)) for part, count in enumerate((0, *growth.known))]
    ends = _ends(growth.start, growth.end)
    return curve(points, title, x_labels=ends, most=growth.known[-1], most_label=f"{growth.known[-1]:,}")


def software_curves(growth: SoftwareGrowth | None, title: str, unknown: str) -> Markup:
    """Return a curve of known services over time for each server software, the commonest ones; `unknown` names the
    services whose addresses do not show it."""
    named = [(name or unknown, counts) for name, counts in growth.known] if growth else []
    ends = _ends(growth.start, growth.end) if growth else ("", "")
    return curves(named, title, x_labels=ends, most_label=f"{max(named[0][1]):,}" if named else "")


def _ends(start: float, end: float) -> tuple[str, str]:
    """Return the labels of a span of time: days; within one day also minutes, and within one minute seconds."""
    for length in (10, 16, 19):
        first, last = moment(start)[:length], moment(end)[:length]
        if first != last:
            break
    return first, last


def _left_of(label: str) -> int:
    """Return where a chart begins, so that the label left of it is whole: eight units a letter."""
    return max(56, 12 + 8 * len(label))


def _axes(left: int, right: int, floor: int, x_labels: tuple[str, str], most_label: str) -> list[Markup]:
    """Return the lines at the bottom and at the top of a chart, with the labels of their ends."""
    below = floor + 18
    return [
        Markup('<line class="axis" x1="{0}" y1="{1}" x2="{2}" y2="{1}"/>').format(left, floor, right),
        Markup('<line class="grid" x1="{0}" y1="10" x2="{1}" y2="10"/>').format(left, right),
        Markup('<text class="tick end" x="{}" y="14">{}</text>').format(left - 6, most_label),
        Markup('<text class="tick end" x="{}" y="{}">0</text>').format(left - 6, floor + 4),
        Markup('<text class="tick" x="{}" y="{}">{}</text>').format(left, below, x_labels[0]),
        Markup('<text class="tick end" x="{}" y="{}">{}</text>').format(right, below, x_labels[1]),
    ]


def _apart(heights: Sequence[float], floor: float) -> list[float]:
    """Return heights of labels so that none covers another, in the same order, as near to the given ones as can be."""
    order, found, last = sorted(range(len(heights)), key=lambda n: -heights[n]), list(heights), floor + _LINE
    for number in order:
        found[number] = last = min(heights[number], last - _LINE)
    return found


def meter(share: float | None, title: str, colour: str = "") -> Markup:
    """Return a short bar that is filled to a share of its length, an empty outline for None; `colour`: a class of the
    style sheet in the place of the grade of a share of the time."""
    filled = 0.0 if share is None else max(0.0, min(share, 1.0)) * 60
    parts = [
        Markup('<rect class="track" x="0" y="1" width="60" height="6" rx="3"/>'),
        Markup('<rect class="fill {}" x="0" y="1" width="{:.1f}" height="6" rx="3"/>').format(
            colour or _grade(share), filled
        ),
    ]
    return framed(60, 8, title, parts, "meter", natural=True)


def strip(parts: Sequence[tuple[str, float | None]], title: str) -> Markup:
    """Return equal cells in a row, coloured by their shares; of each part of the time its name and its share, None
    where nothing is known."""
    across = _WIDTH / max(len(parts), 1)
    cells = [
        Markup(
            '<rect class="fill {}" x="{:.1f}" y="0" width="{:.1f}" height="22" rx="1.5"><title>{}</title></rect>'
        ).format(_grade(share), number * across, across - 1.5, name)
        for number, (name, share) in enumerate(parts)
    ]
    return framed(_WIDTH, 22, title, cells, "strip")


def _grade(share: float | None) -> str:
    """Return the class of a share of the time: good, fair, poor; none for None."""
    return "none" if share is None else "good" if share >= 0.98 else "fair" if share >= 0.8 else "poor"


def survival_curve(survival: Survival, title: str, label: Callable[[int], str]) -> Markup:
    """Return the share of endpoints still alive as steps, to the day on which the longest watched one was last probed.

    `label` words a number of days.
    """
    end = max(survival.observed_days, survival.curve[-1][0], 1.0)
    points = steps(survival.curve, end) if survival.services else []
    return curve(points, title, x_labels=("0", label(round(end))), most=1.0, most_label="100%")


def steps(points: Sequence[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """Return the corners of a curve that stays at each value until the next point, drawn on to `end`."""
    corners: list[tuple[float, float]] = []
    for x, y in points:
        corners += [(x, corners[-1][1])] if corners else []
        corners.append((x, y))
    return [*corners, (max(end, corners[-1][0]), corners[-1][1])] if corners else []


# --------------------------------------------------------------------------- the map

_COLUMNS, _ROWS = 360, 180
"""Cells of the map, a degree each."""
_SHADES = 5
_MOST_OF_THE_WORLD = 180 * 90
"""Square degrees: larger extents are counted beside the map, for they would cover everything that can be seen on it."""
_CELL = 2
"""Units of the picture a degree."""


def coverage(boxes: Sequence[Box] | NDArray[np.float64], degrees: int = 1) -> tuple[NDArray[np.int32], int, int]:
    """Return how many boxes touch each cell of so many degrees (rows from north to south), how many these are, and how
    many more span most of the world. Boxes outside the world, and those without a number, are left out."""
    import numpy as np

    known = np.array(boxes, np.float64).reshape(-1, 4)
    known = known[np.isfinite(known).all(1)]
    known[:, 1], known[:, 3] = np.maximum(known[:, 1], -90), np.minimum(known[:, 3], 90)
    west, south, east, north = known[known[:, 1] <= known[:, 3]].T
    is_round = east - west >= 360
    west, east = np.where(is_round, -180, _within(west)), np.where(is_round, 180, _within(east))
    crosses = west > east  # the antimeridian
    inside = (east - west + 360 * crosses) * (north - south) < _MOST_OF_THE_WORLD
    rows, columns = _ROWS // degrees, _COLUMNS // degrees
    # A part changes the count at its four corners; sums over rows and columns make counts of changes.
    changes = np.zeros((rows + 1, columns + 1), np.int32)
    # A box that begins or ends at the antimeridian has one part: the other one is without width.
    eastern = inside & crosses & (east > -180)
    western = inside & ~(eastern & (west >= 180))
    for part, first, last in (
        (western, west, np.where(crosses, 180, east)),
        (eastern, np.full_like(west, -180), east),
    ):
        top, bottom = _edges((90 - north[part]) / degrees, (90 - south[part]) / degrees, rows)
        left, right = _edges((first[part] + 180) / degrees, (last[part] + 180) / degrees, columns)
        for corner, change in (((top, left), 1), ((top, right), -1), ((bottom, left), -1), ((bottom, right), 1)):
            np.add.at(changes, corner, change)
    return changes.cumsum(0, np.int32).cumsum(1, np.int32)[:-1, :-1], int(inside.sum()), int((~inside).sum())


def _within(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return longitudes within -180…180."""
    import numpy as np

    return np.where(np.abs(degrees) <= 180, degrees, (degrees + 180) % 360 - 180)


def _edges(
    first: NDArray[np.float64], last: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first cells between two edges each, and those behind the last: at least one cell."""
    import numpy as np

    begin = np.floor(first).astype(np.int64).clip(0, most - 1)
    return begin, np.maximum(np.ceil(last).astype(np.int64).clip(0, most), begin + 1)


def shade_of(count: int, most: int) -> int:
    """Return the shade, 1 to 5, of a cell that `count` services cover, by the logarithm; `most` cover the fullest."""
    return min(math.ceil(math.log2(count + 1.0) / math.log2(most + 1.0) * _SHADES), _SHADES)


def map_squares(counts: NDArray[np.int32]) -> Iterator[tuple[int, int, int, int]]:
    """Yield (west, north, count, shade) of the cells of `coverage` that extents touch, from the north-west."""
    most, degrees = int(counts.max()), _ROWS // len(counts)
    for row, column in zip(*counts.nonzero(), strict=True):
        count = int(counts[row, column])
        yield int(column) * degrees - 180, 90 - int(row) * degrees, count, shade_of(count, most)


def world_map(cells: NDArray[np.int32], base_map: Any, title: str) -> Markup:
    """Return a map of the world over the land of a base map in GeoJSON: the darker a cell, the more services cover it,
    by the logarithm of their number."""
    most = int(cells.max())
    parts = [Markup('<rect class="sea" x="0" y="0" width="{}" height="{}"/>').format(_COLUMNS * _CELL, _ROWS * _CELL)]
    for ring in _land(base_map):
        points = " ".join(f"{(x + 180) * _CELL:g},{(90 - y) * _CELL:g}" for x, y in ring)
        parts.append(Markup('<polygon class="land" points="{}"/>').format(points))
    for y, row in enumerate(cells.tolist()):
        x = 0
        for count, run in groupby(row):
            length = len(list(run))
            if count:
                parts.append(
                    Markup('<rect class="s{}" fill-opacity="0.75" x="{}" y="{}" width="{}" height="{}"/>').format(
                        shade_of(count, most), x * _CELL, y * _CELL, length * _CELL, _CELL
                    )
                )
            x += length
    return framed(_COLUMNS * _CELL, _ROWS * _CELL, title, parts, "world")


def _land(base_map: Any) -> Iterator[Sequence[tuple[float, float]]]:
    """Yield the outlines of the land of a base map, without points that would move a line by less than a unit."""
    from shapely import get_parts
    from shapely.geometry import shape

    for feature in base_map["features"]:
        for polygon in get_parts(shape(feature["geometry"]).simplify(1 / _CELL)):
            yield polygon.exterior.coords


# --------------------------------------------------------------------------- frames


def standalone(chart: Markup, heading: str) -> str:
    """Return a chart as the text of an SVG file, with a heading above, its own colours and a light ground."""
    found = _SIZE.search(chart)
    width, height = (float(found[1]), float(found[2])) if found else (_WIDTH, 0.0)
    size = f'width="{width + 2 * _MARGIN:g}" height="{height + _HEADING + _MARGIN:g}"'
    box = f'viewBox="0 0 {width + 2 * _MARGIN:g} {height + _HEADING + _MARGIN:g}"'
    inner = str(chart).replace(
        "<svg ", f'<svg x="{_MARGIN}" y="{_HEADING}" width="{width:g}" height="{height:g}" ', 1
    )  # `Markup.replace` would escape it
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img">\n<style>{STYLE}</style>\n'
        f'<rect class="ground" x="0" y="0" {size}/>\n'
        f'<text class="heading" x="{_MARGIN}" y="24">{escape(plain(heading, 90))}</text>\n{inner}\n</svg>\n'
    )


def framed(width: int, height: int, title: str, parts: Sequence[Markup], kind: str, *, natural: bool = False) -> Markup:
    """Return shapes as a chart of this size, named by its title; `natural`: as large as that on every page."""
    size = Markup('width="{}" height="{}" ').format(width, height) if natural else Markup("")
    head = Markup('<svg class="{}" {}viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
        kind, size, width, height, plain(title, 200)
    )
    return head + Markup("").join(parts) + Markup("</svg>")
