"""Write the report of a month: CSV with all services, or a page of HTML with what matters.

The page runs no script and loads nothing, and its policy says so; every text of the web is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import heapq
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import Any, TextIO

from geocrawl.export.tables import write_csv
from geocrawl.model.catalogue import ReportedService
from geocrawl.model.inspire import ServiceMonth
from geocrawl.model.kinds import short_name
from geocrawl.sanitize import masked, plain
from geocrawl.wording import counted

COLUMNS = (
    *("id", "kind", "title", "provider", "url", "health", "is_new", "probes", "valid", "availability"),
    *("went_down", "came_back", "layers_added", "layers_removed"),
)
MOST_ROWS = 200
"""Most rows of a table of the page; the CSV has all."""
_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.4 sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
    "table{border-collapse:collapse;width:100%;margin-bottom:2em}th,td{text-align:left;padding:.3em .6em;"
    "border-bottom:1px solid #8888;vertical-align:top}td a{overflow-wrap:anywhere}"
    "dl{display:grid;grid-template-columns:max-content auto;gap:.3em 1.2em}dt{opacity:.75}dd{margin:0}"
    "@media screen and (max-width:45em){thead{display:none}"
    "tr{display:block;padding:.5em 0;border-bottom:1px solid #8888}td{display:block;border:0;"
    "padding:.1em 0;overflow-wrap:anywhere}td::before{content:attr(title)': ';opacity:.75}}"
    "@media print{body{font-size:9pt;margin:0;max-width:none}a{color:inherit;text-decoration:none}"
    "tr{break-inside:avoid}thead{display:table-header-group}h2{break-after:avoid}}"
)
"""Words are broken nowhere but in addresses, and on a phone, where a row is a block whose cells have names."""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_WEB = ("http://", "https://")
END = "</body>\n</html>\n"


def write_report_csv(rows: Iterable[ReportedService], stream: TextIO) -> int:
    """Write a header and a line for each service; return the number of services."""
    return write_csv(COLUMNS, map(_values, rows), stream)


def _values(row: ReportedService) -> tuple[object, ...]:
    share = "" if row.availability is None else f"{row.availability:.4f}"
    texts = (masked(plain(text)) for text in (row.title, row.provider, row.url))
    return (
        *(row.id, row.kind, *texts, row.health, int(row.is_new), row.probes, row.valid, share),
        *(row.went_down, row.came_back, row.layers_added, row.layers_removed),
    )


def month_values(row: ServiceMonth) -> dict[str, Any]:
    """Return the values of a service's month by their names: texts without secrets, shares to four digits."""
    values = asdict(row)
    values |= {name: masked(plain(values[name])) for name in ("title", "provider", "url")}
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in values.items()}


def write_months_csv(rows: Iterable[ServiceMonth], stream: TextIO) -> int:
    """Write a header and a line for each service; return the number of services. Yes is 1, no 0, unknown empty."""
    names = [each.name for each in fields(ServiceMonth)]
    lines = (month_values(row).values() for row in rows)
    return write_csv(names, ([int(v) if isinstance(v, bool) else v for v in line] for line in lines), stream)


def write_months_json(rows: Iterable[ServiceMonth], stream: TextIO) -> int:
    """Write an array with an object for each service; return the number of services. Unknown is null."""
    values = [month_values(row) for row in rows]
    stream.write(json.dumps(values, ensure_ascii=False, indent=2) + "\n")
    return len(values)


@dataclass(slots=True)
class _Section:
    """A table of the page."""

    title: str
    tells: str
    """Name of the column of details."""
    belongs: Callable[[ReportedService], object]
    detail: Callable[[ReportedService], str]
    count: int = 0
    rows: list[ReportedService] = field(default_factory=list)

    def add(self, row: ReportedService) -> None:
        if self.belongs(row):
            self.count += 1
            if len(self.rows) < MOST_ROWS:
                self.rows.append(row)


def write_report_html(rows: Iterable[ReportedService], stream: TextIO, *, month: str, catalogue: str) -> int:
    """Write the page; return the number of services that it counts. `catalogue`: the name of the database."""
    sections = (
        _Section("Went down", "when", lambda row: row.went_down, lambda row: _when(row.went_down)),
        _Section("Came back", "when", lambda row: row.came_back, lambda row: _when(row.came_back)),
        _Section(
            "Lost layers", "lost", lambda row: row.layers_removed, lambda row: counted(row.layers_removed, "layer")
        ),
        _Section("New", "health", lambda row: row.is_new, lambda row: row.health),
    )
    probes = valid = addresses = count = 0
    worst: list[tuple[float, int, ReportedService]] = []
    for row in rows:
        count += 1
        probes, valid, addresses = probes + row.probes, valid + row.valid, addresses + row.addresses
        for section in sections:
            section.add(row)
        if row.availability is not None and row.availability < 1:
            heapq.heappush(worst, (-row.availability, -row.id, row))
            if len(worst) > MOST_ROWS:
                heapq.heappop(worst)
    least = _Section(
        "Least available", "available", bool, _share, len(worst), [row for _, _, row in sorted(worst, reverse=True)]
    )
    share = (
        f"{valid / probes:.1%} of {counted(probes, 'probe')} valid"
        if probes > addresses
        else "too few probes are kept for a share"
    )
    stream.writelines(head(f"Geospatial web services, {month}"))
    changes = ", ".join(f"{section.count:,} {section.title.lower()}" for section in sections)
    asked = (
        ("period", f"{month}, in UTC"),
        ("catalogue", text(catalogue)),
        ("question", "Which services are new, went down, came back or lost layers, and how available were they?"),
        ("answer", f"{changes}. Services that were found, probed or changed: {count:,}; {share}."),
    )
    stream.write("<dl>\n")
    stream.writelines(f"<dt>{name}</dt><dd>{told}</dd>\n" for name, told in asked)
    stream.write("</dl>\n")
    for section in (*sections, least):
        stream.writelines(_section(section))
    stream.write(END)
    return count


def head(title: str) -> Iterator[str]:
    """Yield the beginning of a page, up to its heading."""
    title = escape(title)
    policy = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"


def _section(section: _Section) -> Iterator[str]:
    if not section.rows:
        return
    yield f"<h2>{section.title}: {section.count:,}</h2>\n"
    if section.count > len(section.rows):
        yield f"<p>{len(section.rows):,} of {section.count:,} are shown; <code>--format csv</code> has all.</p>\n"
    cells = ((str(row.id), short_name(row.kind), row.title, row.provider, section.detail(row)) for row in section.rows)
    rows = ((*map(text, own), link(row.url)) for own, row in zip(cells, section.rows, strict=True))
    yield from table(("number", "kind", "service", "provider", section.tells, "address"), rows)


def table(names: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table of cells that are HTML."""
    names = tuple(names)
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    yield f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n"
    for row in rows:
        cells = (f'<td title="{name}">{cell}</td>' for name, cell in zip(names, row, strict=True))
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody>\n</table>\n"


def text(given: str) -> str:
    """Return a text of the web as HTML, masked and plain."""
    return escape(masked(plain(given)))


def link(address: str) -> str:
    """Return an address as a link where it is one of the web, else as text."""
    shown = text(address)
    return f'<a href="{shown}" rel="noopener noreferrer">{shown}</a>' if address.lower().startswith(_WEB) else shown


def _when(time: str | None) -> str:
    return (time or "").replace("T", " ").replace("Z", " UTC")


def _share(row: ReportedService) -> str:
    return f"{row.availability or 0:.1%} of {counted(row.probes, 'probe')} valid"
