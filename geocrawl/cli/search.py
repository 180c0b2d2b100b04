"""`geocrawl search`: find services by words, kind, place and reference system."""

from __future__ import annotations

import csv
import re
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.masking import show_in_full
from geocrawl.sanitize import plain
from geocrawl.utc import iso

if TYPE_CHECKING:
    from geocrawl.store import BBox, Found, SearchResult

FORMATS = ("table", "json", "jsonl", "csv")


def search(
    overrides: opt.Overrides,
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]...", help="Words in titles, layers …")] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Only this kind of service (`geocrawl kinds`).")
    ] = None,
    bbox: Annotated[
        str | None, typer.Option("--bbox", metavar="W,S,E,N", help="Only services that intersect this box (degrees).")
    ] = None,
    crs: Annotated[
        str | None, typer.Option("--crs", metavar="EPSG:N", help="Only services with a layer in this reference system.")
    ] = None,
    alive: Annotated[bool, typer.Option("--alive", help="Only services valid at the last probe.")] = False,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="LEVEL", help="At least this level: advertised, answers or delivers."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Print at most this many rows.")] = 20,
    format_: Annotated[
        str, typer.Option("--format", metavar="|".join(FORMATS), help="Output format; jsonl: one JSON object a line.")
    ] = "table",
    json: opt.Json = False,
) -> None:
    """Find services by words (all must occur; `wat*` matches prefixes), place and reference system.

    Examples:

        geocrawl search geology --bbox 5,47,15,55 --alive

        geocrawl search 地图 --format json
    """
    from geocrawl.errors import UsageError

    chosen = opt.chosen_format(format_, json, FORMATS)
    if level is not None and level.lower() not in ("advertised", "answers", "delivers"):
        raise UsageError(f"--level {level!r}: expected advertised, answers or delivers")
    box = _bbox(bbox) if bbox else None
    system = _reference_system(crs) if crs else None
    wanted = opt.kind_of(kind) if kind else None
    show_in_full(opt.settings_from(overrides).export_secrets)
    with opt.reading(overrides) as queries:
        found = queries.search(
            " ".join(words or []), kind=wanted, bbox=box, crs=system, alive=alive, level=level, limit=limit
        )
        is_offered = bool(found.rows) or system is None or queries.offers_reference_system(system)
    _print(found, chosen)
    if not found.rows:
        said = "No service matches." if is_offered else f"No layer in the catalogue is offered in {system}."
        typer.echo(said, err=True)
        raise typer.Exit(1)


_URN = re.compile(r"urn:(?:x-)?ogc:def:crs:([A-Za-z]+):[\w.]*:([\w.]+)", re.I)
_CODE = re.compile(r"[A-Za-z][\w-]*:[\w.-]+")


def _reference_system(text: str) -> str:
    """Return the code that `--crs` means: `4326` and `urn:ogc:def:crs:EPSG::4326` are `EPSG:4326`.

    Raises UsageError for text that is no code.
    """
    from geocrawl.errors import UsageError

    code = text.strip()
    if code.isdecimal():
        return f"EPSG:{int(code)}"
    if urn := _URN.fullmatch(code):
        return f"{urn[1].upper()}:{urn[2]}"
    if not _CODE.fullmatch(code):
        raise UsageError(f"--crs {text!r}: expected the code of a reference system, such as EPSG:4326 or CRS:84")
    return code


def _bbox(text: str) -> BBox:
    """Return west, south, east, north of the text of `--bbox`.

    Raises UsageError for text that is no box.
    """
    from geocrawl.errors import UsageError

    wrong = UsageError(f"--bbox {text!r}: expected W,S,E,N in degrees, south below north, such as 5,47,15,55")
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise wrong from None
    if not (-180 <= west <= 180 and -180 <= east <= 180 and -90 <= south <= north <= 90):
        raise wrong
    return west, south, east, north


def _print(found: SearchResult, format_: str) -> None:
    rows = found.rows
    if format_ in ("json", "jsonl"):
        with output.json_lines(format_ == "jsonl"):
            output.echo_json([asdict(row) | {"last_ok": iso(row.last_ok)} for row in rows])
    elif format_ == "csv":
        _print_csv(rows)
    elif rows:
        output.print_table(
            ("id", "kind", "alive", "level", "layers", "title", "address"),
            [(row.id, row.kind, row.alive, row.level, row.layers, row.title, row.url) for row in rows],
        )
        for row in rows:
            if row.tls:
                typer.echo(f"{row.id}: the server's TLS was not verified ({row.tls})", err=True)
        output.say_more(len(rows), found.total)


_FOUND = ("id", "kind", "alive", "level", "layers", "url", "title", "provider", "version", "last_ok")


def _print_csv(rows: list[Found]) -> None:
    from geocrawl.export.csv import formula_safe

    writer = csv.writer(sys.stdout)
    writer.writerow((*_FOUND, "west", "south", "east", "north", "tls"))
    for row in rows:
        texts = [formula_safe(plain(text)) for text in (row.title, row.provider, row.version)]
        box = row.box or ("", "", "", "")
        writer.writerow(
            (row.id, row.kind, row.alive, row.level, row.layers, row.url, *texts, iso(row.last_ok), *box, row.tls)
        )
