"""`geocrawl forget`: remove a host on request and never visit it again."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.sanitize import plain
from geocrawl.utc import moment
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.store import BlockedHost


def forget(
    overrides: opt.Overrides,
    host: Annotated[str | None, typer.Argument(metavar="[HOST]", help="A host, with all its subdomains.")] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Who asked for it, and why; stored.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="Print the hosts that were removed on request.")] = False,
    undo: Annotated[
        str | None, typer.Option("--undo", metavar="HOST", help="Allow a host again, as a new one.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Remove a host and its subdomains from the catalogue and never visit or list them again (opt-out).

    A running daemon obeys within seconds. Recorded answers (WARC files) and backups are not changed.

    Example: geocrawl forget maps.example.org --reason "mail of the owner, 3 May"
    """
    from geocrawl.cli.addresses import read_host
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
    with opt.reading(overrides) as queries:
        return queries.opted_out()


def _print_list(rows: list[BlockedHost], *, json: bool) -> None:
    if json:
        output.echo_json([asdict(row) for row in rows])
        return
    for row in rows:
        typer.echo(f"{moment(row.at)}  {row.host}  {plain(row.reason, 200)}")
    if not rows:
        typer.echo("No host was removed on request.", err=True)


def _forget(host: str, reason: str, overrides: opt.Overrides, *, json: bool) -> None:
    from geocrawl.app import wiring

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_store(path, wiring.system_clock(), create=False) as store:
        removed = store.forget(host, plain(reason, 500), time.time())
    if json:
        output.echo_json({"host": host, **asdict(removed)})
        return
    typer.echo(
        f"{host}: {counted(removed.pages, 'page')}, {counted(removed.endpoints, 'endpoint')} and "
        f"{counted(removed.services, 'service')} removed; "
        "it will not be visited again."
    )


def _undo(host: str, overrides: opt.Overrides) -> None:
    from geocrawl.app import wiring

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_store(path, wiring.system_clock(), create=False) as store:
        was_blocked = store.undo_forget(host)
    if not was_blocked:
        typer.echo(
            f"geocrawl: {host} was not removed on request (`geocrawl forget --list` lists the hosts that were)",
            err=True,
        )
        raise typer.Exit(1)
    typer.echo(f"{host} may be visited again; what was removed stays removed.")
