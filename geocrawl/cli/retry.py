"""`geocrawl retry`: put failed addresses back into the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.wording import counted

if TYPE_CHECKING:
    pass


def retry(
    overrides: opt.Overrides,
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help="Only addresses of this host.")] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="CODE", help="Only addresses that failed with this reason.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Put failed addresses back into the queue; the next crawl visits them again.

    Example: geocrawl retry --reason timeout-read --host maps.example.org
    """
    from geocrawl.app.maintenance import retry as put_back
    from geocrawl.cli.addresses import read_host

    settings = opt.settings_from(overrides)
    name = None if host is None else read_host(host)
    count = put_back(settings, opt.database_path_from(settings), host=name, reason=reason)
    if json:
        output.echo_json({"retried": count})
    else:
        done = f"{counted(count, 'failed address')} put back into the queue."
        typer.echo(done if count else "No failed address matches.")
    if not count:
        raise typer.Exit(1)
