"""Draw docs/architecture.svg from the imports of geocrawl's own code: `make architecture`.

Rooms are boxes in the layers of the import-linter contract in pyproject.toml, arrows are imports between rooms, the
wider the more. What every room may import, the kernel and `model`, are bars at the bottom without arrows. Counts are
drawn in four classes, so that the picture changes when the structure does and not with every import.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"

PURPOSE = {
    "lab": "contests and training",
    "cli": "the command line",
    "daemon": "schedule, limits, outages",
    "web": "pages and interfaces",
    "app": "what can be done; wiring",
    "crawler": "the loop and its visits",
    "catalog": "read from Python",
    "notices": "webhooks and mails",
    "mining": "files of web archives",
    "export": "files for others",
    "demo": "a web to try it on",
    "store": "the database",
    "fetch": "HTTP, robots, politeness",
    "browser": "scripts of pages, run",
    "page": "bytes → document",
    "probe": "what a service is",
    "detect": "what may be a service",
    "reading": "processes that read",
    "priority": "the order of visits",
    "config": "where settings come from",
    "query": "what a search is asked",
    "formats": "XML, JSON, charsets",
    "filters": "conditions of a search",
    "files": "written whole, never over it",
    "urls": "addresses and identity",
}
"""What a room is for, in a few words."""
PLACES = {
    "lab": 1150, "cli": 330, "daemon": 740, "web": 200, "app": 530, "crawler": 640,
    "export": 93, "demo": 262, "store": 480, "fetch": 648, "page": 814, "probe": 980, "detect": 1146, "priority": 1312,
    "config": 371, "query": 700, "reading": 1020, "formats": 900, "urls": 648,
}  # fmt: skip
"""Horizontal centre of a room's box, where the even spacing of its layer would let arrows cross boxes."""
WIDTH, BOX_W, BOX_H, ROW_H, TOP = 1400, 156, 50, 104, 24
CLASSES = ((30, 6.0), (10, 3.6), (4, 2.0), (1, 1.0))
"""At least so many imports → width of the arrow."""
COLOURS = ("#4e79a7", "#b07aa1", "#59a14f", "#d37295", "#e0852b", "#76b7b2", "#9c755f", "#8a8a8a")
"""Of the arrows, by the layer that they start from."""


class Box(NamedTuple):
    """A room in the picture: centre and upper edge."""

    x: float
    y: float


def layers() -> list[list[str]]:
    """Return the rooms of each layer, the highest first, as pyproject.toml says."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    found = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip().removeprefix("geocrawl.") for name in layer.split("|")] for layer in found]


def imports() -> Counter[tuple[str, str]]:
    """Return how many import statements lead from one room to another."""
    counts: Counter[tuple[str, str]] = Counter()
    package = ROOT / "geocrawl"
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        if not room.startswith("__"):
            targets = (_room_of(name) for name in _imported(path))
            counts.update((room, target) for target in targets if target not in ("", room))
    return counts


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "geocrawl":
            yield from (f"geocrawl.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _room_of(module: str) -> str:
    """Return the room of a module of geocrawl; '' for any other module and for what the package itself holds."""
    package, _, rest = module.partition(".")
    room = rest.partition(".")[0]
    return "" if package != "geocrawl" or room.startswith("__") else room


def picture() -> str:
    """Return the SVG."""
    *rows, upper, lower, model = layers()
    counts = imports()
    boxes = dict(_placed(rows))
    colours = {room: COLOURS[index % len(COLOURS)] for index, row in enumerate(rows) for room in row}
    height = TOP + ROW_H * len(rows) + 2 * 46 + 44
    drawn = [(edge, count) for edge, count in sorted(counts.items()) if edge[0] in boxes and edge[1] in boxes]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif">',
        "<title>The rooms of geocrawl and what they import</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *(_arrow(boxes[start], boxes[end], count, colours[start]) for (start, end), count in drawn),
        *(_box(room, place, colours[room]) for room, place in boxes.items()),
    ]
    y = TOP + ROW_H * len(rows) - 20
    parts.append(_bar(" · ".join([*upper, *lower]), "the kernel: every room may import it", y))
    parts.append(_bar(" · ".join(model), "the values that pass between rooms", y + 46))
    parts += [*_legend(y + 106), "</svg>"]
    return "\n".join(parts) + "\n"


def _placed(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, Box]]:
    for index, row in enumerate(rows):
        for position, room in enumerate(row):
            even = WIDTH * (position + 0.5) / len(row)
            yield room, Box(PLACES.get(room, even), TOP + ROW_H * index)


def _arrow(start: Box, end: Box, count: int, colour: str) -> str:
    """Draw a curve from the lower edge of one box to the upper edge of another, arriving where the start stands."""
    width = next(width for least, width in CLASSES if count >= least)
    lean = max(-1.0, min(1.0, (start.x - end.x) / WIDTH * 2))
    x1, y1, x2, y2 = start.x - lean * BOX_W * 0.42, start.y + BOX_H, end.x + lean * BOX_W * 0.42, end.y - 3 - width
    bend = max(34.0, (y2 - y1) * 0.45)
    curve = f"M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"
    tip = 3.5 + width
    head = f"M{x2 - tip:.1f} {y2 - tip:.1f} L{x2 + tip:.1f} {y2 - tip:.1f} L{x2:.1f} {y2 + 3 + width:.1f} Z"
    return (
        f'<path d="{curve}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-opacity="0.75"/>'
        f'<path d="{head}" fill="{colour}"/>'
    )


def _box(room: str, place: Box, colour: str) -> str:
    left = place.x - BOX_W / 2
    return (
        f'<rect x="{left:.0f}" y="{place.y:.0f}" width="{BOX_W}" height="{BOX_H}" rx="7" fill="#fbfaf7" '
        f'stroke="{colour}" stroke-width="2"/>'
        f'<text x="{place.x:.0f}" y="{place.y + 21:.0f}" text-anchor="middle" font-size="16" font-weight="bold" '
        f'fill="#222222">{escape(room)}</text>'
        f'<text x="{place.x:.0f}" y="{place.y + 39:.0f}" text-anchor="middle" font-size="11.5" '
        f'fill="#555555">{escape(PURPOSE[room])}</text>'
    )


def _bar(names: str, purpose: str, y: float) -> str:
    return (
        f'<rect x="14" y="{y:.0f}" width="{WIDTH - 28}" height="34" rx="7" fill="#eeece6" stroke="#8a8a8a"/>'
        f'<text x="34" y="{y + 22:.0f}" font-size="15" font-weight="bold" fill="#222222">{escape(names)}</text>'
        f'<text x="{WIDTH - 34}" y="{y + 22:.0f}" text-anchor="end" font-size="12.5" fill="#555555">'
        f"{escape(purpose)}</text>"
    )


def _legend(y: float) -> Iterator[str]:
    yield f'<text x="34" y="{y:.0f}" font-size="12.5" fill="#555555">imports from room to room:</text>'
    for index, (least, width) in enumerate(reversed(CLASSES)):
        x = 210 + index * 140
        yield (
            f'<path d="M{x} {y - 4:.0f} h44" stroke="#4e79a7" stroke-width="{width}"/>'
            f'<text x="{x + 54}" y="{y:.0f}" font-size="12.5" fill="#555555">{least} or more</text>'
        )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
