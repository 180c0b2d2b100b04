"""`geocrawl snapshot`: the catalogue at one time as files to load, cite and compare."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.export import selection_of
from geocrawl.cli.search import Alive, AtLevel, InBox, InSystem, OfKind, Words, filters_of, words_typed
from geocrawl.export.snapshot import CHANGES, write_snapshot
from geocrawl.wording import counted


def snapshot(
    overrides: opt.Overrides,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A new folder, or one of a former snapshot.")],
    words: Words = None,
    former: Annotated[
        Path | None,
        typer.Option("--former", metavar="FOLDER", help="Snapshot to compare with \\[the one that --out holds]."),
    ] = None,
    licence: Annotated[
        str, typer.Option("--licence", metavar="TEXT", help="Licence under which you publish it, such as CC-BY-4.0.")
    ] = "",
    kind: OfKind = None,
    bbox: InBox = None,
    crs: InSystem = None,
    alive: Alive = False,
    level: AtLevel = None,
    json: opt.Json = False,
) -> None:
    """Write services, layers and health as Parquet and CSV, with a manifest and what changed since the former snapshot.

    The same catalogue gives the same bytes, so a snapshot can be cited by the checksum in its manifest
    (docs/export.md).

    Examples:

        geocrawl snapshot --out snapshot --licence CC-BY-4.0

        geocrawl snapshot 'country:de' --out 2026-11 --former 2026-10
    """
    filters = filters_of(kind, bbox, crs, alive, level)
    with opt.reading(overrides) as catalogue, catalogue.snapshot():
        selection = selection_of(catalogue, words_typed(words), filters)
        report = write_snapshot(catalogue, selection, out, former, licence)
    if json:
        output.echo_json(asdict(report))
        return
    if report.is_same:
        typer.echo(f"{out}: holds just this catalogue already; nothing was written")
        return
    layers, addresses = counted(report.layers, "layer"), counted(report.addresses, "address")
    typer.echo(f"{counted(report.services, 'service')}, {layers} and the health of {addresses} written to {out}")
    if report.changes is not None:
        changes = ", ".join(f"{report.changes[name]:,} {name}" for name in CHANGES if report.changes.get(name))
        typer.echo(f"Since the former snapshot: {changes or 'no changes'} (CHANGES.md)")
