"""`geocrawl export`: write the catalogue's endpoints as CSV or JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.wording import counted

if TYPE_CHECKING:
    pass


def export(
    overrides: opt.Overrides,
    format_: Annotated[str, typer.Option("--format", metavar="csv|jsonl", help="Format of the file.")] = "csv",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write \\[standard output].")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Only this kind of service (`geocrawl kinds`).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Short for --format jsonl.")] = False,
) -> None:
    """Write every endpoint that has a verdict, as CSV or JSON lines.

    `url` is the endpoint without request parameters, `status` its last verdict (valid or invalid);
    docs/export.md describes all columns.
    """
    from geocrawl.export import export as write

    wanted = opt.kind_of(kind) if kind else None
    in_full = opt.settings_from(overrides).export_secrets
    opt.refuse_catalogue(out, overrides)
    with opt.reading(overrides) as queries:
        rows = queries.export_rows(wanted)
        count = write(rows, "jsonl" if json else format_, out, with_secrets=in_full)
    if out is not None and str(out) != "-":
        typer.echo(f"{counted(count, 'endpoint')} written to {out}")
