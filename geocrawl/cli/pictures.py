"""Draw statistics of the catalogue for `geocrawl stats --picture`: as SVG or PNG into a file, as text on a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from geocrawl.charts import svg, text, world
from geocrawl.errors import UsageError
from geocrawl.files import write_whole
from geocrawl.sanitize import plain
from geocrawl.store import Connection
from geocrawl.store.read.history import read_survival
from geocrawl.store.read.published import published_services
from geocrawl.store.read.statistics import kind_counts, read_growth, read_software_growth, read_statistics
from geocrawl.store.search.index import search_engine
from geocrawl.wording import counted, day_of

_MOST_BARS = 25
_PARTS = 120
_FORMATS = (".svg", ".png")


@dataclass(frozen=True, slots=True)
class Picture:
    """One statistic, drawn."""

    heading: str
    chart: Markup
    lines: list[str]
    """The same as text."""


def draw(name: str, connection: Connection) -> Picture:
    """Return the picture of that name. Raises UsageError for another name."""
    if name not in PICTURES:
        raise UsageError(f"--picture {name!r}: expected one of {', '.join(PICTURES)}")
    return PICTURES[name](connection)


def check_format(path: Path, option: str) -> None:
    """Raise UsageError for the name of a file that is neither SVG nor PNG."""
    if path.suffix.lower() not in _FORMATS:
        raise UsageError(f"{option} {path}: the name must end in .svg or .png")


def write(picture: Picture, path: Path) -> None:
    """Write a picture into a file. Raises EnvironmentFault when it cannot be written."""
    drawn = svg.standalone(picture.chart, picture.heading)
    if path.suffix.lower() == ".svg":
        write_whole(path, drawn)
        return
    from geocrawl.charts.png import to_png

    write_whole(path, to_png(drawn))


def _bars(heading: str, rows: Sequence[tuple[str, float]]) -> Picture:
    left_out = f" (the first {_MOST_BARS} of {len(rows)})" if len(rows) > _MOST_BARS else ""
    shown = rows[:_MOST_BARS]
    return Picture(heading + left_out, svg.bars(shown, heading), text.bars(shown))


def _curve(heading: str, points: Sequence[tuple[float, float]], **labels: Any) -> Picture:
    return Picture(heading, svg.curve(points, heading, **labels), text.curve(points, **labels))


def _kinds(connection: Connection) -> Picture:
    return _bars("Services by kind", [(each.kind.upper(), each.services) for each in kind_counts(connection)])


def _countries(connection: Connection) -> Picture:
    found = search_engine(connection).search(limit=1, facets=True).facets.get("country", ())
    return _bars("Services by country", [(each.label or each.value, each.count) for each in found])


def _software(connection: Connection) -> Picture:
    counts = read_statistics(connection).software
    return _bars(
        "Services by server software, as addresses show it", [(name or "not shown", count) for name, count in counts]
    )


def _software_over_time(connection: Connection) -> Picture:
    growth = read_software_growth(connection, _PARTS)
    named = [(name or "not shown", counts) for name, counts in growth.known] if growth else []
    ends = (day_of(growth.start), day_of(growth.end)) if growth else ("", "")
    heading = "Known services over time by server software, as addresses show it"
    most = f"{max(named[0][1]):,}" if named else ""
    return Picture(
        heading, svg.curves(named, heading, x_labels=ends, most_label=most), text.curves(named, x_labels=ends)
    )


def _deviations(connection: Connection) -> Picture:
    return _bars("Endpoints by tolerated deviation", read_statistics(connection).deviations)


def _survival(connection: Connection) -> Picture:
    found = read_survival(connection)
    if not found.services:
        return _curve("No endpoint was ever valid", [], x_labels=("", ""), most=1.0, most_label="")
    end = max(found.observed_days, found.curve[-1][0], 1.0)
    heading = f"Share still alive of {counted(found.services, 'endpoint')}, {found.deaths:,} of them down or gone"
    labels = {"x_labels": ("0", counted(round(end), "day")), "most": 1.0, "most_label": "100%"}
    return _curve(heading, svg.steps(found.curve, end), **labels)


def _harvest(connection: Connection) -> Picture:
    growth = read_growth(connection, _PARTS)
    if growth is None:
        return _curve("No service is known yet", [], x_labels=("", ""), most=1.0, most_label="")
    points = [(float(part), float(count)) for part, count in enumerate((0, *growth.known))]
    labels = {"x_labels": (day_of(growth.start), day_of(growth.end)), "most": float(growth.known[-1])}
    return _curve(
        f"{counted(growth.known[-1], 'service')} known over time", points, **labels, most_label=f"{growth.known[-1]:,}"
    )


def _map(connection: Connection) -> Picture:
    from geocrawl.store.read.published import Selection

    boxes = (each.box for each in published_services(connection, Selection()) if each.box is not None)
    found = world.coverage(boxes)
    base_map = json.loads((files("geocrawl.web") / "static" / "world.json").read_text("utf-8"))
    land = list(world.rings(base_map))
    return Picture(found.title, world.world_map(found, land), text.world_map(found, land))


PICTURES: Mapping[str, Callable[[Connection], Picture]] = {
    "kinds": _kinds,
    "countries": _countries,
    "software": _software,
    "software-over-time": _software_over_time,
    "survival": _survival,
    "harvest": _harvest,
    "deviations": _deviations,
    "map": _map,
}
"""Name → what draws it."""


def lines_of(picture: Picture) -> list[str]:
    """Return a picture as lines for a terminal, the heading first."""
    return [plain(picture.heading, 120), "", *(picture.lines or ["nothing yet"])]
