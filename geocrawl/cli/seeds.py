"""`geocrawl seeds`: the start pages that the daemon keeps in its database, and the list that comes with geocrawl."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.masking import show_in_full
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    from geocrawl.store.operations.seeds import NewSeed, SeedRow

Shipped = Annotated[bool, typer.Option("--shipped", help="The portals of 155 countries that come with geocrawl.")]


def add(
    overrides: opt.Overrides,
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Pages to start from.")] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="More of them, one a line.")] = None,
    shipped: Shipped = False,
    region: opt.Region = None,
    language: opt.Language = None,
) -> None:
    """Keep start pages; the daemon takes new ones at its next start or reload.

    Examples:

        geocrawl seeds add https://www.example.org/geodata/

        geocrawl seeds add --shipped --region Europe --language de
    """
    from geocrawl.app import wiring
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.errors import UsageError
    from geocrawl.store.operations.seeds import NewSeed, add_seeds

    chosen = [NewSeed(url) for url in gather_seeds(urls or [], file)]
    if shipped:
        chosen += list(_shipped(region, language))
    elif region or language:
        raise UsageError("--region and --language choose from the shipped list: add --shipped")
    if not chosen:
        raise UsageError("no start page chosen: give a URL, --file FILE, or --shipped with another region or language")
    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_database(path, wiring.system_clock()) as database:
        added = add_seeds(database, chosen, time.time())
    typer.echo(f"{added:,} start pages added, {len(chosen) - added:,} were there.")


def list_(
    overrides: opt.Overrides,
    shipped: Shipped = False,
    region: opt.Region = None,
    language: opt.Language = None,
    json: opt.Json = False,
) -> None:
    """Start pages with what came of them: state of the page, services on its host."""
    show_in_full(opt.settings_from(overrides).export_secrets)
    if shipped:
        rows = [
            {"url": seed.url.address, "title": seed.title, "region": seed.region, "language": seed.language}
            for seed in _shipped(region, language)
        ]
        if json:
            output.echo_json(rows)
        for row in () if json else rows:
            typer.echo(f"{row['region']:<9} {row['language']:<3} {row['url']}  {row['title']}")
        return
    found = stored_seeds(overrides, region, language)
    if json:
        output.echo_json([asdict(row) for row in found])
    elif found:
        print_stored(found)
    else:
        typer.echo("No start pages: `geocrawl seeds add URL`, or `geocrawl seeds add --shipped`.", err=True)


def remove(
    overrides: opt.Overrides,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Pages that are no start pages any more.")],
) -> None:
    """Drop start pages; what was found from them stays in the catalogue."""
    from geocrawl.app import wiring
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.store.operations.seeds import remove_seeds

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_database(path, wiring.system_clock(), create=False) as database:
        removed = remove_seeds(database, gather_seeds(urls, None))
    typer.echo(f"{removed:,} start pages removed.")
    if not removed:
        raise typer.Exit(1)


def stored_seeds(overrides: opt.Overrides, region: str | None, language: str | None) -> list[SeedRow]:
    """The daemon's start pages, those of a region and a language when these are named."""
    from geocrawl.store.engine.reading import open_readonly
    from geocrawl.store.operations.seeds import read_seeds

    path = opt.database_path_from(opt.settings_from(overrides))
    with open_readonly(path) as connection:
        rows = read_seeds(connection)
    return [
        row
        for row in rows
        if (not region or row.region.lower() == region.lower()) and (not language or row.language == language.lower())
    ]


def print_stored(rows: list[SeedRow]) -> None:
    """A table of start pages as they stand in the database."""
    output.print_table(
        ("region", "state", "reason", "services", "title", "address"),
        [(row.region, row.state or "new", row.reason, row.services, plain(row.title, 60), row.url) for row in rows],
    )


def _shipped(region: str | None, language: str | None) -> Iterator[NewSeed]:
    """The list that comes with geocrawl."""
    import csv
    import io

    from geocrawl.store.operations.seeds import NewSeed
    from geocrawl.urls import read_url

    for row in csv.DictReader(io.StringIO(shipped_file().read_text("utf-8"))):
        url = read_url(row["url"])
        if url is None or (region and row["region"].lower() != region.lower()):
            continue
        if not language or row["language"] == language.lower():
            yield NewSeed(url, row["title"], row["region"], row["language"], row["source"])


def shipped_file() -> Path:
    """`seeds/portals.csv`: in an installed geocrawl beside its data, in a checkout at its top."""
    import geocrawl

    package = Path(geocrawl.__file__).parent
    installed = package / "data" / "seeds" / "portals.csv"
    return installed if installed.is_file() else package.parent / "seeds" / "portals.csv"
