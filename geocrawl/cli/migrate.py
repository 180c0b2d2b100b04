"""`geocrawl migrate`: copy a catalogue between SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Annotated

import typer

from geocrawl.cli import options as opt


def migrate(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The catalogue: a path or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty or missing database.")],
    json: opt.Json = False,
) -> None:
    """Copy a whole catalogue into another database, and compare all rows. Stop crawls on it first; it stays as it is.

    Examples:

        geocrawl migrate geocrawl.db postgresql://geocrawl@db.example.org/geocrawl

        geocrawl migrate postgresql://geocrawl@db.example.org/geocrawl sqlite:///copy.db
    """
    from geocrawl.app.maintenance import migrate as copy
    from geocrawl.cli import output

    sums = copy(source, target, tell=None if json else lambda table, rows: typer.echo(f"{table}: {rows:,} rows"))
    if json:
        output.echo_json({name: {"rows": found.rows, "digest": found.digest} for name, found in sums.items()})
        return
    rows = sum(found.rows for found in sums.values())
    typer.echo(f"{rows:,} rows in {len(sums)} tables are the same in both.")
