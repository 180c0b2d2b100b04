"""`geocrawl forget` and `release`: a person's word about a host or a site."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    from geocrawl.store.operations.opt_out import BlockedHost


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("forget")(forget)
    app.command("release")(release)


def forget(
    host: Annotated[str | None, typer.Argument(metavar="[HOST]", help="A host; all beneath it is meant, too.")] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Who asked for it, and why.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="Print the hosts that are left alone.")] = False,
    undo: Annotated[
        str | None, typer.Option("--undo", metavar="HOST", help="Let a host be asked again, as a new one.")
    ] = None,
    db: opt.Db = None,
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
        _print_list(_listed(db), json=json)
    elif undo is not None:
        _undo(_read_host(undo), db)
    elif host is not None:
        _forget(_read_host(host), reason, db, json=json)


def _listed(db: str | None) -> list[BlockedHost]:
    from geocrawl.store.engine.reading import open_readonly
    from geocrawl.store.operations.opt_out import read_blocked

    with open_readonly(opt.database_path_from(opt.settings_from(db=db))) as connection:
        return read_blocked(connection)


def _print_list(rows: list[BlockedHost], *, json: bool) -> None:
    from dataclasses import asdict

    from geocrawl.utc import moment

    if json:
        opt.echo_json([asdict(row) for row in rows])
        return
    for row in rows:
        typer.echo(f"{moment(row.at)}  {row.host}  {plain(row.reason, 200)}")
    if not rows:
        typer.echo("No host is left alone on request.", err=True)


def _forget(host: str, reason: str, db: str | None, *, json: bool) -> None:
    from dataclasses import asdict

    from geocrawl.app import wiring
    from geocrawl.store.operations.forget import forget as remove

    path = opt.database_path_from(opt.settings_from(db=db))
    with wiring.open_database(path, wiring.system_clock(), create=False) as database:
        removed = remove(database, host, plain(reason, 500), time.time())
    if json:
        opt.echo_json({"host": host, **asdict(removed)})
        return
    typer.echo(
        f"{host}: {removed.pages:,} pages, {removed.endpoints:,} endpoints and {removed.services:,} services removed; "
        "it is never asked again."
    )


def _undo(host: str, db: str | None) -> None:
    from geocrawl.app import wiring
    from geocrawl.store.operations.forget import undo

    path = opt.database_path_from(opt.settings_from(db=db))
    with wiring.open_database(path, wiring.system_clock(), create=False) as database:
        was_blocked = undo(database, host)
    if not was_blocked:
        typer.echo(f"geocrawl: {host} is not left alone (`geocrawl forget --list` lists who is)", err=True)
        raise typer.Exit(1)
    typer.echo(f"{host} may be asked again; what was known of it stays forgotten.")


def _read_host(text: str) -> str:
    """The host of what was typed, an address or a bare name; UsageError for one that cannot be meant."""
    from geocrawl.errors import UsageError
    from geocrawl.urls import is_registry, read_url

    url = read_url(text if "://" in text else f"http://{text}/")
    if url is None:
        raise UsageError(f"{plain(text, 200)!r} is no host: expected a name such as maps.example.org")
    if is_registry(url.host):
        raise UsageError(f"{url.host}: everybody's names stand beneath it; name the host, or put .{url.host} into deny")
    return url.host


def release(
    site: Annotated[str, typer.Argument(metavar="SITE", help="A registered domain that `geocrawl status` names.")],
    db: opt.Db = None,
) -> None:
    """Let a site go on: you have looked, and what looks alike on it is real.

    A site with hundreds of services whose addresses differ in numbers and values alone is held, asked for nothing new
    until then (setting max_alike_services). Pages that differ so and brought nothing are refused ('trap:pattern',
    setting max_fruitless_per_pattern); they get a budget once more. `geocrawl forget SITE` removes a site that makes
    them without end.
    """
    from geocrawl.app.maintenance import release as let_go

    settings = opt.settings_from(db=db)
    name = _read_host(site)
    count = let_go(settings, opt.database_path_from(settings), name)
    if count is None:
        typer.echo(
            f"geocrawl: {name} is not held, and no page of it was refused for its pattern "
            "(`geocrawl status` names the sites that are held)",
            err=True,
        )
        raise typer.Exit(1)
    typer.echo(f"{name} goes on: {count:,} addresses wait again.")
