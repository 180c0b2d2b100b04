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

from tests.golden.catalogue import Catalogue
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


def texts(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield name and text of each export."""
    for name, options in PLAIN.items():
        said = geocrawl("export", *options, "--db", catalogue.url)
        assert said.code == 0, f"{name}: {said.err}"
        yield f"exports/{name}", catalogue.masked(f"{said.out}{said.err}")
    yield "exports/dcat-json", catalogue.masked(_written(catalogue, "dcat", "services.jsonld").read_text("utf-8"))
    folder = _written(catalogue, "qgis", "qgis")
    for path in sorted(folder.iterdir()):
        yield f"exports/qgis/{path.name}", catalogue.masked(path.read_text("utf-8"))
    yield "exports/gpkg", catalogue.masked(_geopackage(_written(catalogue, "gpkg", "services.gpkg")))
    if has_pyarrow():
        yield GEOPARQUET, catalogue.masked(_geoparquet(_written(catalogue, "geoparquet", "s.parquet")))


def has_pyarrow() -> bool:
    """Whether GeoParquet can be written and read."""
    return find_spec("pyarrow") is not None


def _written(catalogue: Catalogue, format_: str, name: str) -> Path:
    """Export to a file or folder of the catalogue's own; return its path."""
    path = catalogue.folder / name
    said = geocrawl("export", "--format", format_, "--out", str(path), "--db", catalogue.url)
    assert said.code == 0, said.err
    return path


def _geopackage(path: Path) -> str:
    """Return a line for each value of all tables of a GeoPackage, whose spatial index is left to its own tests."""
    lines = []
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        for table in (each for each in tables if not each.startswith("rtree_")):
            cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2')
            columns = [each[0] for each in cursor.description]
            for number, row in enumerate(cursor, 1):
                lines += [f"{table} {number} {c} = {_shown(value)}" for c, value in zip(columns, row, strict=True)]
    return "\n".join([*lines, ""])


def _geoparquet(path: Path) -> str:
    """Return the metadata and a line for each value of a GeoParquet file."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    geo = json.loads(table.schema.metadata[b"geo"])
    lines = [*json.dumps(geo, indent=1, sort_keys=True).split("\n"), *(f"{f.name}: {f.type}" for f in table.schema)]
    for number, row in enumerate(table.to_pylist(), 1):
        lines += [f"{number} {column} = {_shown(value)}" for column, value in row.items()]
    return "\n".join([*lines, ""])


def _shown(value: Any) -> str:
    """Return a value as text, a geometry as well-known text."""
    if not isinstance(value, bytes):
        return json.dumps(value, ensure_ascii=False, default=str)
    sides = {0: 0, 1: 4, 2: 6, 3: 6, 4: 8}
    head = 8 + 8 * sides[value[3] >> 1 & 7] if value[:2] == b"GP" else 0  # GeoPackage's, before the geometry
    return str(shapely.from_wkb(value[head:]).wkt)
