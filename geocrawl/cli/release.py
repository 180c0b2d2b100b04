"""`geocrawl release`: let the crawl of a quarantined site continue."""

from __future__ import annotations

from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.wording import counted


def release(
    overrides: opt.Overrides,
    site: Annotated[str, typer.Argument(metavar="SITE", help="A registered domain that `geocrawl status` names.")],
) -> None:
    """Release a quarantined site after review.

    A site with hundreds of services whose addresses differ only in numbers and values is quarantined: it gets no new
    visits until it is released (setting max_alike_services). Pages whose addresses differ only in that way and that
    brought nothing new are refused ('trap:pattern', setting max_fruitless_per_pattern); this command also renews their
    budget. `geocrawl forget SITE` removes a site that generates such addresses without end.
    """
    from geocrawl.app import maintenance
    from geocrawl.cli.addresses import read_host

    settings = opt.settings_from(overrides)
    name = read_host(site)
    count = maintenance.release(settings, opt.database_path_from(settings), name)
    if count is None:
        typer.echo(
            f"geocrawl: {name} is not quarantined, and no page of it was refused for its pattern "
            "(`geocrawl status` lists quarantined sites)",
            err=True,
        )
        raise typer.Exit(1)
    typer.echo(f"{name} is released: {counted(count, 'address')} put back into the queue.")
