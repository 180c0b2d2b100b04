"""`geocrawl publish`: the catalogue, or what a query finds, as a site of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli.export import selection_of
from geocrawl.cli.search import Alive, AtLevel, InBox, InSystem, OfKind, Words, filters_of, words_typed
from geocrawl.errors import UsageError
from geocrawl.export.snapshot import MANIFEST
from geocrawl.web.answers import LANGUAGES
from geocrawl.web.static_site.pages import SiteOptions
from geocrawl.web.static_site.publish import publish as write
from geocrawl.wording import counted


def publish(
    overrides: opt.Overrides,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="The site: a new folder, or one published before.")
    ],
    words: Words = None,
    base_url: Annotated[
        str,
        typer.Option(
            "--base-url", metavar="URL", help="Where the site will stand, for feeds, sitemap and canonical links."
        ),
    ] = "",
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Name of the site.")] = "geocrawl",
    language: Annotated[
        str, typer.Option("--language", metavar="|".join(LANGUAGES), help="Language of the pages.")
    ] = LANGUAGES[0],
    kind: OfKind = None,
    bbox: InBox = None,
    crs: InSystem = None,
    alive: Alive = False,
    level: AtLevel = None,
) -> None:
    """Write the catalogue, or what a query finds, as a web site that any host of files serves.

    The search works in the browser, also of a folder opened from the disk. Published again, only what changed is
    written, and pages of services that are gone are removed (docs/publish.md).

    Examples:

        geocrawl publish --out site --base-url https://maps.example.org/catalogue

        geocrawl publish 'country:de kind:wms' --alive --title 'WMS in Germany' --out site
    """
    opt.check_address("--base-url", base_url)
    if language not in LANGUAGES:
        raise UsageError(f"--language {language!r}: one of {', '.join(LANGUAGES)}")
    filters = filters_of(kind, bbox, crs, alive, level)
    with opt.reading(overrides) as catalogue, catalogue.snapshot():
        selection = selection_of(catalogue, words_typed(words), filters)
        options = SiteOptions(title, base_url.rstrip("/"), language, (out / "snapshot" / MANIFEST).is_file())
        report = write(catalogue, selection, out, options)
    removed = f", {counted(report.removed, 'file')} removed" if report.removed else ""
    typer.echo(
        f"{counted(report.services, 'service')} published to {out}: "
        f"{report.written:,} of {counted(report.files, 'file')} written{removed}"
    )
    if report.remade_because:
        typer.echo(f"Every page was made again: {report.remade_because}.", err=True)
    if not base_url:
        typer.echo("No feeds and no sitemap: they need --base-url, the address where the site will stand.", err=True)
