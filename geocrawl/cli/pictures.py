"""Draw statistics of the catalogue for `geocrawl stats --picture`: as SVG into a file, as bars on a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from geocrawl.errors import UsageError
from geocrawl.files import write_whole
from geocrawl.sanitize import plain
from geocrawl.store import Connection
from geocrawl.store.read.history import read_survival
from geocrawl.store.read.published import Selection, published_services
from geocrawl.store.read.statistics import kind_counts, read_growth, read_software_growth, read_statistics
from geocrawl.store.search.index import search_engine
from geocrawl.web import charts
from geocrawl.wording import counted, day_of

_MOST_BARS = 25
_PARTS = 120
_POINTS = 12
"""Points of a curve that a terminal shows."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One statistic, drawn."""

    heading: str
    chart: Markup
    rows: Sequence[tuple[str, float, str]]
    """The same as bars: label, length, and the value in words."""


def draw(name: str, connection: Connection) -> Picture:
    """Return the picture of that name. Raises UsageError for another name."""
    if name not in PICTURES:
        raise UsageError(f"--picture {name!r}: expected one of {', '.join(PICTURES)}")
    return PICTURES[name](connection)


def check_file(name: str, path: Path | None, option: str) -> None:
    """Raise UsageError for a file that is no SVG, and for a map without a file."""
    if path is not None and path.suffix.lower() == ".png":
        raise UsageError(f"{option} {path}: PNG is no longer written; name it {path.with_suffix('.svg')}")
    if path is not None and path.suffix.lower() != ".svg":
        raise UsageError(f"{option} {path}: the name must end in .svg")
    if path is None and name == "map":
        raise UsageError("--picture map: a map is drawn into a file: add --out map.svg")


def write(picture: Picture, path: Path) -> None:
    """Write a picture into a file. Raises EnvironmentFault when it cannot be written."""
    write_whole(path, charts.standalone(picture.chart, picture.heading))


def _bars(heading: str, rows: Sequence[tuple[str, float]]) -> Picture:
    left_out = f" (the first {_MOST_BARS} of {len(rows)})" if len(rows) > _MOST_BARS else ""
    shown = rows[:_MOST_BARS]
    return Picture(heading + left_out, charts.bars(shown, heading), [(*row, f"{row[1]:,}") for row in shown])


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
    rows = [(name, counts[-1], f"{counts[-1]:,}") for name, counts in named]
    return Picture(heading, charts.curves(named, heading, x_labels=ends, most_label=most), rows)


def _deviations(connection: Connection) -> Picture:
    return _bars("Endpoints by tolerated deviation", read_statistics(connection).deviations)


def _survival(connection: Connection) -> Picture:
    found = read_survival(connection)
    end = max(found.observed_days, *(day for day, _ in found.curve[-1:]), 1.0)
    heading = f"Share still alive of {counted(found.services, 'endpoint')}, {found.deaths:,} of them down or gone"
    if not found.services:
        heading = "No endpoint was ever valid"
    points = charts.steps(found.curve, end) if found.services else []
    labels = ("0", counted(round(end), "day"))
    chart = charts.curve(points, heading, x_labels=labels, most=1.0, most_label="100%")
    shown = found.curve[:: len(found.curve) // _POINTS + 1] if found.services else []
    return Picture(heading, chart, [(f"after {day:,.0f} days", share, f"{share:.0%}") for day, share in shown])


def _harvest(connection: Connection) -> Picture:
    growth = read_growth(connection, _PARTS)
    if growth is None:
        heading = "No service is known yet"
        return Picture(heading, charts.curve([], heading, x_labels=("", ""), most=1.0, most_label=""), [])
    most, heading = growth.known[-1], f"{counted(growth.known[-1], 'service')} known over time"
    points = [(float(part), float(count)) for part, count in enumerate((0, *growth.known))]
    labels = (day_of(growth.start), day_of(growth.end))
    chart = charts.curve(points, heading, x_labels=labels, most=most, most_label=f"{most:,}")
    width = (growth.end - growth.start) / _PARTS
    shown = [(part, growth.known[part - 1]) for part in range(_PARTS // _POINTS, _PARTS + 1, _PARTS // _POINTS)]
    return Picture(
        heading, chart, [(day_of(growth.start + part * width), count, f"{count:,}") for part, count in shown]
    )


def _map(connection: Connection) -> Picture:
    boxes = (each.box for each in published_services(connection, Selection()) if each.box is not None)
    cells, inside, worldwide = charts.coverage(boxes)
    beside = f", {worldwide:,} more span most of the world" if worldwide else ""
    heading = f"Extents of {counted(inside, 'service')}{beside}"
    base_map = json.loads((files("geocrawl.web") / "static" / "world.json").read_text("utf-8"))
    return Picture(heading, charts.world_map(cells, base_map, heading), [])


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


def show(picture: Picture) -> None:
    """Print a picture as bars, the heading first."""
    from rich.bar import Bar
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(plain(picture.heading, 120), markup=False)
    console.print()
    if not picture.rows:
        console.print("nothing yet")
        return
    most = max(length for _, length, _ in picture.rows) or 1
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    for label, length, value in picture.rows:
        table.add_row(plain(label, 30), Bar(most, 0, length, width=36), value)
    console.print(table)
