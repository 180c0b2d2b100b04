"""`geocrawl search`, `show`, `export` and `why`: reading the catalogue. They create and change nothing."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli.masking import show_in_full
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    import sqlite3

    from geocrawl.store.queries.search import BBox, Found
    from geocrawl.store.queries.show import ServiceDetail


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (search, show, export, why):
        app.command(command.__name__)(command)


# --------------------------------------------------------------------------- search, show


def search(
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]...", help="Words of titles, layers …")] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="wms, wfs …")] = None,
    bbox: Annotated[
        str | None, typer.Option("--bbox", metavar="W,S,E,N", help="Services that touch this box (degrees).")
    ] = None,
    crs: Annotated[str | None, typer.Option("--crs", metavar="EPSG:N", help="With a layer in this system.")] = None,
    alive: Annotated[bool, typer.Option("--alive", help="Only those valid at the last probe.")] = False,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="LEVEL", help="Seen to do at least this: advertised, answers, delivers."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Most rows.")] = 20,
    format_: Annotated[str, typer.Option("--format", metavar="table|json|csv", help="Form of the answer.")] = "table",
    db: opt.Db = None,
    secrets: opt.Secrets = False,
) -> None:
    """Find services by words (all must occur; `wat*` finds what begins so), place and reference system.

    Examples:

        geocrawl search geology --bbox 5,47,15,55 --alive

        geocrawl search 地图 --format json
    """
    from geocrawl.errors import UsageError
    from geocrawl.store.queries.search import search as find

    if format_ not in ("table", "json", "csv"):
        raise UsageError(f"--format {format_!r}: expected table, json or csv")
    if level is not None and level.lower() not in ("advertised", "answers", "delivers"):
        raise UsageError(f"--level {level!r}: expected advertised, answers or delivers")
    box = _bbox(bbox) if bbox else None
    wanted = opt.kind_of(kind) if kind else None
    show_in_full(opt.settings_from(export_secrets=secrets).export_secrets)
    with opt.reading(db) as connection:
        rows = find(
            connection, " ".join(words or []), kind=wanted, bbox=box, crs=crs, alive=alive, level=level, limit=limit
        )
    if format_ == "json":
        opt.echo_json([asdict(row) for row in rows])
    elif format_ == "csv":
        _print_csv(rows)
    elif rows:
        from geocrawl.cli.tables import print_table

        print_table(
            ("id", "kind", "alive", "level", "layers", "title", "address"),
            [(row.id, row.kind, row.alive, row.level, row.layers, row.title, row.url) for row in rows],
        )
    else:
        typer.echo("No service matches.", err=True)
    if not rows:
        raise typer.Exit(1)


def _bbox(text: str) -> BBox:
    """west, south, east, north of an option's text; UsageError when it is none."""
    from geocrawl.errors import UsageError

    wrong = UsageError(f"--bbox {text!r}: expected W,S,E,N in degrees, south below north, such as 5,47,15,55")
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise wrong from None
    if not (-180 <= west <= 180 and -180 <= east <= 180 and -90 <= south <= north <= 90):
        raise wrong
    return west, south, east, north


_FOUND = ("id", "kind", "alive", "level", "layers", "url", "title", "provider", "version", "last_ok")


def _print_csv(rows: list[Found]) -> None:
    import csv
    import sys

    from geocrawl.export.csv import formula_safe

    writer = csv.writer(sys.stdout)
    writer.writerow((*_FOUND, "west", "south", "east", "north"))
    for row in rows:
        texts = [formula_safe(plain(text)) for text in (row.title, row.provider, row.version)]
        box = row.box or ("", "", "", "")
        writer.writerow((row.id, row.kind, row.alive, row.level, row.layers, row.url, *texts, row.last_ok, *box))


def show(
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Its number (see search), or an address of it.")],
    db: opt.Db = None,
    json: opt.Json = False,
    secrets: opt.Secrets = False,
) -> None:
    """All that is known of one service: what it offers, where it answers, how it was found."""
    from geocrawl.store.queries.show import service_detail

    show_in_full(opt.settings_from(export_secrets=secrets).export_secrets)
    with opt.reading(db) as connection:
        if service.isdecimal():
            found = service_detail(connection, int(service)) if len(service) < 19 else None
        else:
            found = _service_at(connection, service)
    if found is None:
        typer.echo(f"geocrawl: no service {service} in the catalogue (`geocrawl search` lists them)", err=True)
        raise typer.Exit(1)
    if json:
        opt.echo_json(asdict(found))
        return
    from geocrawl.cli.texts import service_lines

    for line in service_lines(found):
        typer.echo(line)


def _service_at(connection: sqlite3.Connection, text: str) -> ServiceDetail | None:
    """The service at an address, as the kind that the address asks for where several answer."""
    from geocrawl.cli.seeds import gather_seeds
    from geocrawl.detect import Detector
    from geocrawl.store.queries.show import service_at
    from geocrawl.urls import service_keys

    url = gather_seeds([text], None)[0]
    candidate = Detector().of_url(url)
    kind = str(candidate.endpoint.kind) if candidate else ""
    found = (service_at(connection, key, kind) for key in service_keys(url))
    return next((service for service in found if service is not None), None)


# --------------------------------------------------------------------------- export


def export(
    format_: Annotated[str, typer.Option("--format", metavar="csv|jsonl", help="Form of the file.")] = "csv",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write; without it, standard output.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Only this kind of service (`geocrawl kinds`).")
    ] = None,
    db: opt.Db = None,
    secrets: opt.Secrets = False,
) -> None:
    """Write every endpoint that has a verdict.

    `url` is the endpoint without request parameters, `status` its last verdict (valid or invalid).
    """
    from geocrawl.export import export as write
    from geocrawl.store.queries.why import export_rows

    wanted = opt.kind_of(kind) if kind else None
    in_full = opt.settings_from(export_secrets=secrets).export_secrets
    with opt.reading(db) as connection:
        rows = export_rows(connection, wanted)
        count = write(rows, format_, out, with_secrets=in_full)
    if out is not None and str(out) != "-":
        typer.echo(f"{count:,} endpoints written to {out}")


# --------------------------------------------------------------------------- why


def why(
    url: Annotated[str, typer.Argument(metavar="URL", help="A page or a service's address.")],
    db: opt.Db = None,
    json: opt.Json = False,
) -> None:
    """What became of an address, and why: state, rank with its parts, depth, where it was found, what refused it."""
    from geocrawl.app.explain import explain
    from geocrawl.cli.seeds import gather_seeds
    from geocrawl.cli.texts import why_lines
    from geocrawl.store.queries.why import why as look_up

    asked = gather_seeds([url], None)[0]
    settings = opt.settings_from(db=db)
    with opt.reading(db) as connection:
        found = look_up(connection, asked)
        strategy, parts, refused = explain(settings, connection, asked, found)
    if json:
        opt.echo_json({"url": asked.address, "strategy": strategy, "rank": parts, "rule": refused, **asdict(found)})
    else:
        for line in why_lines(asked, found, strategy, parts, refused, time.time()):
            typer.echo(line)
    if found.page is None and not found.endpoints:
        raise typer.Exit(1)
