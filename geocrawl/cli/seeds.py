"""`geocrawl seeds add`, `list` and `remove`: the daemon's start pages, and the list that is shipped with geocrawl."""

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
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.store import NewSeed, SeedRow

Shipped = Annotated[
    bool, typer.Option("--shipped", help="The portals of 155 countries that are shipped with geocrawl.")
]


def add(
    overrides: opt.Overrides,
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Start pages.")] = None,
    file: Annotated[
        list[Path] | None, typer.Option("--file", metavar="FILE", help="More start pages, one a line (repeatable).")
    ] = None,
    shipped: Shipped = False,
    region: opt.Region = None,
    language: opt.Language = None,
) -> None:
    """Add start pages; the daemon reads new ones when it starts or reloads.

    Examples:

        geocrawl seeds add https://www.example.org/geodata/

        geocrawl seeds add --shipped --region Europe --language de
    """
    from geocrawl.app import wiring
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.errors import UsageError
    from geocrawl.store import NewSeed

    chosen = [NewSeed(url) for url in gather_seeds(urls or [], *(file or []))]
    if shipped:
        chosen += list(_shipped(region, language))
    elif region or language:
        raise UsageError("--region and --language filter the shipped list: add --shipped")
    if not chosen:
        raise UsageError("no start page: give a URL, --file FILE, or --shipped with another region or language")
    path = opt.new_database_path_from(opt.settings_from(overrides))
    with wiring.open_store(path, wiring.system_clock()) as store:
        added = store.add_seeds(chosen, time.time())
    typer.echo(f"{counted(added, 'start page')} added, {len(chosen) - added:,} already present.")


def list_(
    overrides: opt.Overrides,
    shipped: Shipped = False,
    region: opt.Region = None,
    language: opt.Language = None,
    json: opt.Json = False,
) -> None:
    """List start pages with the state of the page and the number of services on its host."""
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
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Start pages to remove.")],
) -> None:
    """Remove start pages; what was found from them stays in the catalogue."""
    from geocrawl.app import wiring
    from geocrawl.cli.addresses import gather_seeds

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_store(path, wiring.system_clock(), create=False) as store:
        removed = store.remove_seeds(gather_seeds(urls))
    typer.echo(f"{counted(removed, 'start page')} removed.")
    if not removed:
        raise typer.Exit(1)


def stored_seeds(overrides: opt.Overrides, region: str | None, language: str | None) -> list[SeedRow]:
    """Return the daemon's start pages, optionally of one region and one language."""
    with opt.reading(overrides) as queries:
        rows = queries.seeds()
    return [
        row
        for row in rows
        if (not region or row.region.lower() == region.lower()) and (not language or row.language == language.lower())
    ]


def print_stored(rows: list[SeedRow]) -> None:
    """Print a table of the start pages in the database."""
    output.print_table(
        ("region", "state", "reason", "services", "title", "address"),
        [(row.region, row.state or "new", row.reason, row.services, plain(row.title, 60), row.url) for row in rows],
    )


def _shipped(region: str | None, language: str | None) -> Iterator[NewSeed]:
    """Yield the start pages that are shipped with geocrawl, optionally of one region and one language."""
    import csv
    import io

    from geocrawl.store import NewSeed
    from geocrawl.urls import read_url

    for row in csv.DictReader(io.StringIO(shipped_file().read_text("utf-8"))):
        url = read_url(row["url"])
        if url is None or (region and row["region"].lower() != region.lower()):
            continue
        if not language or row["language"] == language.lower():
            yield NewSeed(url, row["title"], row["region"], row["language"], row["source"])


def shipped_file() -> Path:
    """Return the path of `seeds/portals.csv`: in the data of an installed geocrawl, else at the top of a checkout."""
    import geocrawl

    package = Path(geocrawl.__file__).parent
    installed = package / "data" / "seeds" / "portals.csv"
    return installed if installed.is_file() else package.parent / "seeds" / "portals.csv"
