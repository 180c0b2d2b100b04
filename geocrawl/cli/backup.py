"""`geocrawl backup` and `restore`: copy the database, and put a copy back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt


def backup(
    overrides: opt.Overrides,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; overwritten when it exists.")],
) -> None:
    """Write a consistent copy of the database and check the copy. The daemon may be running.

    Example: geocrawl backup /backup/geocrawl-$(date +%F).db
    """
    from geocrawl.store import Store

    source = opt.database_path_from(opt.settings_from(overrides))
    size = Store.back_up(source, file)
    typer.echo(f"{file}: {size / 1e6:,.1f} MB, checked.")


def restore(
    overrides: opt.Overrides,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy made by `geocrawl backup`.")],
) -> None:
    """Replace the database with a copy. Stop the daemon first; the former database is kept in the same folder."""
    from geocrawl.store import Store

    target = opt.new_database_path_from(opt.settings_from(overrides))
    kept = Store.restore(file, target, time.time())
    typer.echo(f"{target}: restored from {file}." + (f" The former database is kept as {kept}." if kept else ""))
