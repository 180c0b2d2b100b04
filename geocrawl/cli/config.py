"""`geocrawl config show` and `config check`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def show(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Print every setting with its value and where the value came from; secrets are masked."""
    from geocrawl.config import describe

    rows = describe(opt.configuration_from(overrides))
    if json:
        output.echo_json([{"name": r.name, "value": r.value, "unit": r.unit, "origin": r.origin} for r in rows])
        return
    output.print_table(
        ("setting", "value", "unit", "from", "meaning"), [(r.name, r.value, r.unit, r.origin, r.help) for r in rows]
    )


def check(
    file: Annotated[Path | None, typer.Argument(help="A configuration file \\[those in use].")] = None,
) -> None:
    """Check a configuration file for unknown names and invalid values."""
    from geocrawl.config import check as check_file
    from geocrawl.config import load

    if file is None:
        load({}, environ=os.environ, cwd=opt.current_folder())
        typer.echo("The settings in use are valid.")
        return
    problems = check_file(file)
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(2)
    typer.echo(f"{file}: valid.")
