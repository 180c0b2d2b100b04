"""Every format of `geocrawl export`; files for programs are read back into rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import shapely

from tests.golden import columns
from tests.golden.catalogue import Catalogue
from tests.golden.layout import Layout
from tests.support.commands import geocrawl

PLAIN: Mapping[str, tuple[str, ...]] = {
    "csv": (),
    "csv-alive-wms": ("--format", "csv", "--alive", "--kind", "wms"),
    "csv-secrets": ("--format", "csv", "--secrets", "token"),
    "jsonl": ("--format", "jsonl"),
    "jsonl-water": ("--json", "water"),
    "geojson": ("--format", "geojson"),
    "geojson-box": ("--format", "geojson", "--bbox", "100,20,120,40", "--level", "delivers"),
    "dcat": ("--format", "dcat"),
    "openlayers": ("--format", "openlayers"),
    "leaflet": ("--format", "leaflet"),
    "seeds": ("--format", "seeds"),
    "seeds-secrets": ("--format", "seeds", "--secrets"),
}
"""Name → options of exports that are text on standard output."""
GEOPARQUET = "exports/geoparquet"
KEPT = (0, 4, 14, 24)
"""Positions of the rows that are kept of each list: texts in Chinese and English, and several kinds."""


def texts(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield name and text of each export."""
    for name, options in PLAIN.items():
        said = geocrawl("export", *options, "--db", catalogue.url)
        assert said.code == 0, f"{name}: {said.err}"
        lines = _listed(f"{columns.of_text(said.out)}{said.err}", name, catalogue.layout)
        yield f"exports/{name}", catalogue.masked("".join(f"{line}\n" for line in lines))
    linked = json.loads(_written(catalogue, "dcat", "services.jsonld").read_text("utf-8"))
    yield "exports/dcat-json", catalogue.masked(f"{catalogue.layout.json(linked)}\n")
    folder = _written(catalogue, "qgis", "qgis")
    for path in sorted(folder.iterdir()):
        yield f"exports/qgis/{path.name}", catalogue.masked(path.read_text("utf-8"))
    yield "exports/gpkg", catalogue.masked(_geopackage(_written(catalogue, "gpkg", "services.gpkg"), catalogue.layout))
    if has_pyarrow():
        path = _written(catalogue, "geoparquet", "s.parquet")
        yield GEOPARQUET, catalogue.masked(_geoparquet(path, catalogue.layout))


def _listed(text: str, name: str, layout: Layout) -> list[str]:
    """Return the lines of a text, of services some: they are paragraphs in DCAT and lines elsewhere."""
    if name in ("openlayers", "leaflet"):
        return text.splitlines()
    if name == "dcat":
        head, *services = text.rstrip("\n").split("\n\n")
        return "\n\n".join([head, *layout.listed(services, KEPT)]).split("\n")
    return layout.listed(text.splitlines(), KEPT)


def has_pyarrow() -> bool:
    """Whether GeoParquet can be written and read."""
    return find_spec("pyarrow") is not None


def _written(catalogue: Catalogue, format_: str, name: str) -> Path:
    """Export to a file or folder of the catalogue's own; return its path."""
    path = catalogue.folder / name
    said = geocrawl("export", "--format", format_, "--out", str(path), "--db", catalogue.url)
    assert said.code == 0, said.err
    return path


def _geopackage(path: Path, layout: Layout) -> str:
    """Return a line for each value of all tables of a GeoPackage, whose spatial index is left to its own tests."""
    lines = []
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        for table in (name for name in tables if not name.startswith("rtree_")):
            cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2')
            names = [column[0] for column in cursor.description]
            found = [dict(zip(names, row, strict=True)) for row in cursor]
            chosen = [columns.of_row(row) if table in ("services", "layers") else row for row in found]
            rows = [_row(f"{table} {number}", row) for number, row in enumerate(chosen, 1)]
            lines += layout.listed(rows, KEPT)
    return "\n".join([*lines, ""])


def _geoparquet(path: Path, layout: Layout) -> str:
    """Return the metadata and a line for each value of a GeoParquet file."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    geo = json.loads(table.schema.metadata[b"geo"])
    rows = [_row(str(number), columns.of_row(row)) for number, row in enumerate(table.to_pylist(), 1)]
    types = [f"{field.name}: {field.type}" for field in table.schema if columns.is_chosen(field.name)]
    return "\n".join([layout.json(geo), *types, *layout.listed(rows, KEPT), ""])


def _row(name: str, row: Mapping[str, Any]) -> str:
    return "\n".join(f"{name} {column} = {_shown(value)}" for column, value in row.items())


def _shown(value: Any) -> str:
    """Return a value as text, a geometry as well-known text."""
    if not isinstance(value, bytes):
        return json.dumps(value, ensure_ascii=False, default=str)
    sides = {0: 0, 1: 4, 2: 6, 3: 6, 4: 8}
    head = 8 + 8 * sides[value[3] >> 1 & 7] if value[:2] == b"GP" else 0  # GeoPackage's, before the geometry
    return str(shapely.from_wkb(value[head:]).wkt)
