"""`geocrawl release`: let the crawl of a quarantined site continue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli.addresses import read_host

if TYPE_CHECKING:
    pass


def release(
    overrides: opt.Overrides,
    site: Annotated[str, typer.Argument(metavar="SITE", help="A registered domain that `geocrawl status` names.")],
) -> None:
    """Let a site go on: you have looked, and what looks alike on it is real.

    A site with hundreds of services whose addresses differ in numbers and values alone is held, asked for nothing new
    until then (setting max_alike_services). Pages that differ so and brought nothing are refused ('trap:pattern',
    setting max_fruitless_per_pattern); they get a budget once more. `geocrawl forget SITE` removes a site that makes
    them without end.
    """
    from geocrawl.app.maintenance import release as let_go

    settings = opt.settings_from(overrides)
    name = read_host(site)
    count = let_go(settings, opt.database_path_from(settings), name)
    if count is None:
        typer.echo(
            f"geocrawl: {name} is not held, and no page of it was refused for its pattern "
            "(`geocrawl status` names the sites that are held)",
            err=True,
        )
        raise typer.Exit(1)
    typer.echo(f"{name} goes on: {count:,} addresses wait again.")
