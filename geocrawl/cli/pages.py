"""`geocrawl pages`: list, show and export the pages that `geocrawl crawl --store-pages` kept. Nothing is changed."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import gather_seeds
from geocrawl.cli.output import show_in_full
from geocrawl.errors import NothingFound, UsageError
from geocrawl.export.pages import export as write
from geocrawl.export.pages import text_of
from geocrawl.sanitize import plain
from geocrawl.store.frontier.page_store import count_kept, kept_page, kept_pages, list_kept
from geocrawl.wording import counted, moment

MinScore = Annotated[
    float, typer.Option("--min-score", metavar="N", help="Only pages at least this near to the topic (0 to 1).")
]
NOTHING_KEPT = "No page is kept: `geocrawl crawl --store-pages` keeps pages of the topic."


def list_(
    overrides: opt.Overrides,
    min_score: MinScore = 0.0,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Print at most this many rows.")] = 50,
    json: opt.Json = False,
) -> None:
    """List the kept pages, the best first: score, when kept, compressed size, address, title."""
    show_in_full(opt.settings_from(overrides).export_secrets)
    with opt.connection(overrides) as connection:
        rows, total = list_kept(connection, min_score, limit), count_kept(connection, min_score)
    output.print_rows(
        rows,
        ("score", "kept at (UTC)", "bytes", "address", "title"),
        lambda row: (f"{row.score:.3f}", moment(row.stored_at), row.size_bytes, row.url, plain(row.title, 60)),
        json=json,
        nothing=NOTHING_KEPT,
        as_json=lambda row: {**asdict(row), "title": plain(row.title)},
        least=("bytes", "kept at (UTC)"),
    )
    if not rows:
        raise typer.Exit(1)
    if not json:
        output.say_more(len(rows), total)


def show(
    overrides: opt.Overrides,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page's address.")],
    raw: Annotated[
        bool,
        typer.Option("--raw", help="The page's bytes as they were sent, into a file or a pipe; nothing is masked."),
    ] = False,
) -> None:
    """Print the text of a kept page, or its bytes.

    Examples:

        geocrawl pages show https://www.example.org/maps/

        geocrawl pages show https://www.example.org/maps/ --raw > page.html
    """
    if raw and sys.stdout.isatty():
        raise UsageError("--raw: a page may contain characters that control a terminal; write it to a file or a pipe")
    address = gather_seeds([url])[0]
    show_in_full(opt.settings_from(overrides).export_secrets)
    with opt.connection(overrides) as connection:
        page = kept_page(connection, address)
    if page is None:
        raise NothingFound(f"{address.address} is not kept (`geocrawl pages list` lists the kept pages)")
    if raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(page.body)
        sys.stdout.buffer.flush()
        return
    for line in text_of(page).splitlines():
        typer.echo(plain(line))


def export(
    overrides: opt.Overrides,
    out: Annotated[
        Path, typer.Option("--out", metavar="PATH", help="The WARC file, or the folder of texts, to write.")
    ],
    format_: Annotated[
        str, typer.Option("--format", metavar="warc|text", help="One WARC file, or one text file a page.")
    ] = "warc",
    min_score: MinScore = 0.0,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write the kept pages to a WARC file (ISO 28500), as they were sent, or their texts to a folder.

    Examples:

        geocrawl pages export --out pages.warc.gz

        geocrawl pages export --format text --out texts --min-score 0.5
    """
    settings = opt.settings_from(overrides)
    with opt.connection(overrides) as connection:
        if not list_kept(connection, min_score, 1):
            typer.echo(NOTHING_KEPT, err=True)
            raise typer.Exit(1)
        count = write(
            kept_pages(connection, min_score),
            format_,
            out,
            opt.database_path_from(settings),
            replace=force,
            with_secrets=settings.export_secrets,
        )
    typer.echo(f"{counted(count, 'page')} written to {out}")
