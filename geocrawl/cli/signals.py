"""`geocrawl signals`: how services were found."""

from __future__ import annotations

from dataclasses import asdict

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def signals(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """What each way of finding services brought: links, text, scripts, forms, records …

    A row for each signal and kind: endpoints that it named, those with a verdict, valid ones, and valid ones that
    nothing else named.
    """
    from geocrawl.store.queries.signals import signal_yields

    with opt.reading(overrides) as connection:
        rows = signal_yields(connection)
    if json:
        output.echo_json([asdict(row) for row in rows])
    elif rows:
        output.print_table(
            ("signal", "kind", "named", "probed", "valid", "only so"),
            [(row.signal, row.kind, row.candidates, row.probed, row.valid, row.alone) for row in rows],
        )
    else:
        typer.echo("No candidates yet.", err=True)
    if not rows:
        raise typer.Exit(1)
