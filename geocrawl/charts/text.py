"""Draw statistics with characters, for terminals and pipes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from geocrawl.charts.world import COLUMNS, ROWS, Coverage, Ring, shades
from geocrawl.sanitize import plain

_BAR = 40
_COLUMNS, _ROWS = 72, 24
_LEVELS = " ▁▂▃▄▅▆▇█"
_MARKS = " ░░▒▓█"
"""By shade; land without a service is a dot."""


def bars(rows: Sequence[tuple[str, float]]) -> list[str]:
    """Return a line for each row: label, bar, number."""
    most = max((value for _, value in rows), default=0) or 1
    labels = [plain(label, 30) for label, _ in rows]
    width = max(map(len, labels), default=0)
    return [
        f"{label:>{width}}  {'█' * max(round(_BAR * value / most), 1)} {value:,}"
        for label, (_, value) in zip(labels, rows, strict=True)
    ]


def curve(
    points: Sequence[tuple[float, float]], *, x_labels: tuple[str, str], most: float, most_label: str
) -> list[str]:
    """Return a curve of ten lines; `most` is the value at the top."""
    if not points:
        return []
    height = 10
    xs, ys = [x for x, _ in points], [y for _, y in points]
    values = np.interp(np.linspace(xs[0], xs[-1], _COLUMNS), xs, ys) / (most or 1.0)
    margin = max(len(most_label), 1)
    lines = []
    for row in range(height, 0, -1):
        label = most_label if row == height else ""
        marks = "".join("█" if value * height > row - 0.5 else " " for value in values)
        lines.append(f"{label:>{margin}} │{marks}".rstrip())
    first, last = x_labels
    return [*lines, f"{'0':>{margin}} └{'─' * _COLUMNS}", f"{'':>{margin}}  {first}{last:>{_COLUMNS - len(first)}}"]


def curves(named: Sequence[tuple[str, Sequence[float]]], *, x_labels: tuple[str, str]) -> list[str]:
    """Return a line for each of some curves over the same time: name, curve, last value; the highest of all is the same
    mark in each."""
    if not named:
        return []
    most = max(value for _, values in named for value in values) or 1.0
    labels = [plain(label, 30) for label, _ in named]
    width = max(map(len, labels))
    lines = []
    for label, (_, values) in zip(labels, named, strict=True):
        heights = np.interp(np.linspace(0, len(values) - 1, _COLUMNS), np.arange(len(values)), values) / most
        marks = "".join(_LEVELS[int(np.ceil(height * (len(_LEVELS) - 1)))] for height in heights)
        lines.append(f"{label:>{width}} │{marks}│ {values[-1]:,.0f}")
    first, last = x_labels
    return [*lines, f"{'':>{width}}  {first}{last:>{_COLUMNS - len(first)}}"]


def world_map(found: Coverage, outlines: Iterable[Ring]) -> list[str]:
    """Return the world in 24 lines of 72 characters: dots are land, the darker a mark, the more services."""
    from PIL import Image, ImageDraw

    picture = Image.new("L", (COLUMNS, ROWS))
    pen = ImageDraw.Draw(picture)
    for ring in outlines:
        pen.polygon([(x + 180, 90 - y) for x, y in ring], fill=255)
    is_land = np.asarray(picture.resize((_COLUMNS, _ROWS), Image.Resampling.BOX)) > 100
    rows, columns = np.arange(_ROWS + 1) * ROWS / _ROWS, np.arange(_COLUMNS + 1) * COLUMNS / _COLUMNS
    by_row = np.maximum.reduceat(found.cells, rows[:-1].astype(int), axis=0)
    dark = shades(np.maximum.reduceat(by_row, columns[:-1].astype(int), axis=1))
    lines = (zip(*line, strict=True) for line in zip(dark, is_land, strict=True))
    return [
        "".join(_MARKS[shade] if shade else "·" if land else " " for shade, land in line).rstrip() for line in lines
    ]
