"""`geocrawl export`: write the catalogue for other software, whole or what a query finds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.search import Alive, AtLevel, InBox, InSystem, OfKind, Words, filters_of, words_typed
from geocrawl.errors import UsageError
from geocrawl.export.gpkg import APPLICATION_ID
from geocrawl.export.services import export_services
from geocrawl.export.tables import FORMATS as OF_ENDPOINTS
from geocrawl.export.tables import export_endpoints
from geocrawl.files import is_standard_output
from geocrawl.filters import Filters
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.wording import counted

Library = Annotated[
    str,
    typer.Option(
        "--library-url",
        metavar="URL",
        help="Where openlayers and leaflet load the library from \\[https://cdn.jsdelivr.net/npm/, with a checksum].",
    ),
]
PublicUrl = Annotated[
    str,
    typer.Option(
        "--public-url",
        metavar="URL",
        help="Address of `geocrawl serve`, to whose pages records of dcat and iso then have links.",
    ),
]
FORMATS = "csv|jsonl|geojson|gpkg|geoparquet|dcat|iso19139|iso19115-3|qgis|openlayers|leaflet|seeds"

_BY_ENDING = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".geojson": "geojson",
    ".gpkg": "gpkg",
    ".parquet": "geoparquet",
    ".geoparquet": "geoparquet",
    ".ttl": "dcat",
    ".jsonld": "dcat",
}
"""Formats by the ending of a file's name; .html, .json and .txt fit several."""


def export(
    overrides: opt.Overrides,
    words: Words = None,
    format_: Annotated[
        str, typer.Option("--format", metavar=FORMATS, help="Format of the file \\[by its name; else csv].")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File to write \\[standard output]; a folder for qgis and iso."),
    ] = None,
    kind: OfKind = None,
    bbox: InBox = None,
    crs: InSystem = None,
    alive: Alive = False,
    level: AtLevel = None,
    library_url: Library = "",
    public_url: PublicUrl = "",
    bom: Annotated[
        bool, typer.Option("--bom", help="Begin csv with a byte order mark, by which Excel knows that it is UTF-8.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Short for --format jsonl.")] = False,
) -> None:
    """Write the catalogue for other software, all of it or what a query finds (docs/search.md).

    csv and jsonl have a row for every endpoint with a verdict, the other formats one for every service;
    docs/export.md describes them.

    Examples:

        geocrawl export --out services.gpkg --alive

        geocrawl export 'land use kind:wms' --format qgis --out connections
    """
    chosen = _checked_format("jsonl" if json else format_ or _format_of_name(out), library_url)
    if bom and chosen != "csv":
        raise UsageError(f"--bom is for csv; omit it for --format {chosen}")
    opt.check_address("--public-url", public_url)
    filters = filters_of(kind, bbox, crs, alive, level)
    in_full = opt.settings_from(overrides).export_secrets
    opt.refuse_catalogue(out, overrides, over=APPLICATION_ID if chosen == "gpkg" else b"")
    is_replaced = out is not None and out.is_file() and not is_standard_output(out)
    with opt.reading(overrides, with_secrets=in_full) as catalogue, catalogue.snapshot():
        selection = selection_of(catalogue, words_typed(words), filters)
        if chosen in OF_ENDPOINTS:
            rows = catalogue.read_endpoints(selection)
            count, what = export_endpoints(rows, chosen, out, with_secrets=in_full, with_mark=bom), "endpoint"
        else:
            count = _write_services(catalogue, selection, chosen, out, library_url, public_url)
            what = "connection" if chosen == "qgis" else "service"
    if not is_standard_output(out):
        former = ", in the place of the file that was there" if is_replaced else ""
        typer.echo(f"{counted(count, what)} written to {out}{former}")


def _write_services(
    catalogue: Catalogue, selection: Selection, chosen: str, out: Path | None, library_url: str, public_url: str
) -> int:
    """Write services in a format; return how many."""
    return export_services(
        *(catalogue.read_services(selection), catalogue.read_layers(selection), chosen, out),
        now=time.time(),
        with_secrets=catalogue.with_secrets,
        library_url=library_url,
        base=public_url.rstrip("/"),
    )


def _format_of_name(out: Path | None) -> str:
    """Return the format that a file's name tells, csv for standard output and a name without an ending. Raises
    UsageError for an ending that tells none."""
    if out is None or not out.suffix or (out.exists() and not out.is_file()):
        return "csv"
    try:
        return _BY_ENDING[out.suffix.lower()]
    except KeyError:
        raise UsageError(f"{out}: the name does not tell the format; give --format ({FORMATS})") from None


def _checked_format(chosen: str, library_url: str) -> str:
    """Return the format. Raises UsageError for one that does not exist, or that loads no library."""
    if chosen not in FORMATS.split("|"):
        raise UsageError(f"--format {chosen!r}: one of {FORMATS.replace('|', ', ')}")
    if library_url and chosen not in ("openlayers", "leaflet"):
        raise UsageError(f"--library-url is for openlayers and leaflet; omit it for --format {chosen}")
    return chosen


def selection_of(catalogue: Catalogue, text: str, filters: Filters) -> Selection:
    """Return the services that a query and the options ask for; print in what they differ from it."""
    if text.strip() or filters.systems:
        output.say_differences(catalogue.find(text, filters, limit=0))
    return catalogue.selection(text, filters)
