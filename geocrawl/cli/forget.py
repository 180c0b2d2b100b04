"""`geocrawl forget`: remove a host on request and never visit it again."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import read_host
from geocrawl.sanitize import plain
from geocrawl.utc import moment

if TYPE_CHECKING:
    from geocrawl.store.operations.opt_out import BlockedHost


def forget(
    overrides: opt.Overrides,
    host: Annotated[str | None, typer.Argument(metavar="[HOST]", help="A host; all beneath it is meant, too.")] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Who asked for it, and why.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="Print the hosts that are left alone.")] = False,
    undo: Annotated[
        str | None, typer.Option("--undo", metavar="HOST", help="Let a host be asked again, as a new one.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Remove all that is known of a host and of what lies beneath it, and never ask or list it again.

    A running daemon heeds it within seconds. Recorded answers (WARC files) and backups are not touched.

    Example: geocrawl forget maps.example.org --reason "mail of the owner, 3 May"
    """
    from geocrawl.errors import UsageError

    if (host is not None) + list_ + (undo is not None) != 1:
        raise UsageError("give a HOST, --list or --undo HOST")
    if list_:
        _print_list(_listed(overrides), json=json)
    elif undo is not None:
        _undo(read_host(undo), overrides)
    elif host is not None:
        _forget(read_host(host), reason, overrides, json=json)


def _listed(overrides: opt.Overrides) -> list[BlockedHost]:
    from geocrawl.store.engine.reading import open_readonly
    from geocrawl.store.operations.opt_out import read_blocked

    with open_readonly(opt.database_path_from(opt.settings_from(overrides))) as connection:
        return read_blocked(connection)


def _print_list(rows: list[BlockedHost], *, json: bool) -> None:
    if json:
        output.echo_json([asdict(row) for row in rows])
        return
    for row in rows:
        typer.echo(f"{moment(row.at)}  {row.host}  {plain(row.reason, 200)}")
    if not rows:
        typer.echo("No host is left alone on request.", err=True)


def _forget(host: str, reason: str, overrides: opt.Overrides, *, json: bool) -> None:
    from geocrawl.app import wiring
    from geocrawl.store.operations.forget import forget as remove

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_database(path, wiring.system_clock(), create=False) as database:
        removed = remove(database, host, plain(reason, 500), time.time())
    if json:
        output.echo_json({"host": host, **asdict(removed)})
        return
    typer.echo(
        f"{host}: {removed.pages:,} pages, {removed.endpoints:,} endpoints and {removed.services:,} services removed; "
        "it is never asked again."
    )


def _undo(host: str, overrides: opt.Overrides) -> None:
    from geocrawl.app import wiring
    from geocrawl.store.operations.forget import undo

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_database(path, wiring.system_clock(), create=False) as database:
        was_blocked = undo(database, host)
    if not was_blocked:
        typer.echo(f"geocrawl: {host} is not left alone (`geocrawl forget --list` lists who is)", err=True)
        raise typer.Exit(1)
    typer.echo(f"{host} may be asked again; what was known of it stays forgotten.")
