"""`geocrawl signals`: count what each way of finding services found."""

from __future__ import annotations

from dataclasses import asdict

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def signals(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Count what each way of finding services found: links, text, scripts, forms, records …

    One row for each signal and kind: endpoints found, those with a verdict, valid ones, and valid ones that no other
    signal found.
    """
    with opt.reading(overrides) as queries:
        rows = queries.signal_yields()
    if json:
        output.echo_json([asdict(row) for row in rows])
    elif rows:
        output.print_table(
            ("signal", "kind", "found", "probed", "valid", "only here"),
            [(row.signal, row.kind, row.candidates, row.probed, row.valid, row.alone) for row in rows],
        )
    else:
        typer.echo("No candidates yet.", err=True)
    if not rows:
        raise typer.Exit(1)
