"""`geocrawl seeds add`, `list`, `remove` and `check`: the daemon's start pages, and the list shipped with geocrawl."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app.check_seeds import SeedAnswer, check_seeds
from geocrawl.cli import addresses as lists
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import gather_seeds
from geocrawl.cli.output import show_in_full
from geocrawl.errors import UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.sanitize import plain
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.frontier.yields import services_by_seed
from geocrawl.store.upkeep.seeds import NewSeed, SeedRow, add_seeds, read_seeds, remove_seeds
from geocrawl.urls import read_url
from geocrawl.wording import counted

Shipped = Annotated[
    bool, typer.Option("--shipped", help="The portals of 170 countries that are shipped with geocrawl.")
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
    country: lists.Country = None,
    software: lists.Software = None,
    limit: lists.Limit = None,
) -> None:
    """Add start pages; the daemon reads new ones when it starts or reloads.

    Examples:

        geocrawl seeds add https://www.example.org/geodata/

        geocrawl seeds add --shipped --country DE,AT --software geoserver,geonetwork

        geocrawl seeds add --shipped --region Europe --language de --limit 100
    """
    chosen = [NewSeed(url) for url in gather_seeds(urls or [], *(file or []))]
    choice = lists.ShippedChoice(country, software, region, language, limit)
    lists.demand_shipped(choice, is_shipped=shipped)
    if shipped:
        chosen += list(_shipped(choice))
    if not chosen:
        raise UsageError("no start page: give a URL, --file FILE, or --shipped with another choice")
    path = opt.new_database_path_from(opt.settings_from(overrides), overrides)
    with Store.open(path, clock=SystemClock()) as store:
        added = add_seeds(store.database, chosen, time.time())
    typer.echo(f"{counted(added, 'start page')} added, {len(chosen) - added:,} already present.")


def list_(
    overrides: opt.Overrides,
    shipped: Shipped = False,
    region: opt.Region = None,
    language: opt.Language = None,
    country: lists.Country = None,
    software: lists.Software = None,
    limit: lists.Limit = None,
    json: opt.Json = False,
) -> None:
    """List start pages with the state of the page and the number of services on its host."""
    show_in_full(opt.settings_from(overrides).export_secrets)
    choice = lists.ShippedChoice(country, software, region, language, limit)
    if country or software or limit:
        lists.demand_shipped(choice, is_shipped=shipped)
    if shipped:
        rows = list(lists.shipped_rows(lists.PORTALS, choice))
        form = "{region:<9} {country:<3} {software:<14} {url}  {title}"
        output.print_lines(map(form.format_map, rows), json=json, value=rows)
        return
    _print_stored(_stored_seeds(overrides, region, language), json=json)


def remove(
    overrides: opt.Overrides,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Start pages to remove.")],
) -> None:
    """Remove start pages; what was found from them stays in the catalogue."""
    with opt.writing(overrides) as store:
        removed = remove_seeds(store.database, gather_seeds(urls))
    typer.echo(f"{counted(removed, 'start page')} removed.")
    if not removed:
        raise typer.Exit(1)


def _stored_seeds(overrides: opt.Overrides, region: str | None, language: str | None) -> list[SeedRow]:
    """Return the daemon's start pages, optionally of one region and one language."""
    with opt.connection(overrides) as connection:
        rows = read_seeds(connection)
    return [
        row
        for row in rows
        if (not region or row.region.lower() == region.lower()) and (not language or row.language == language.lower())
    ]


def _print_stored(rows: Sequence[SeedRow], *, json: bool) -> None:
    """Print start pages of the database."""
    output.print_rows(
        rows,
        ("region", "state", "reason", "services", "title", "address"),
        lambda row: (row.region, row.state or "new", row.reason, row.services, plain(row.title, 60), row.url),
        json=json,
        nothing=_NO_SEEDS,
        least=("services", "region", "reason"),
    )


def _shipped(choice: lists.ShippedChoice) -> Iterator[NewSeed]:
    """Yield the start pages that are shipped with geocrawl and wanted."""
    for row in lists.shipped_rows(lists.PORTALS, choice):
        if (url := read_url(row["url"])) is not None:
            language = row["language"].partition(" ")[0]
            yield NewSeed(url, row["title"], row["region"], language, lists.SOURCE)


_NO_SEEDS = "No start pages: `geocrawl seeds add URL`, or `geocrawl seeds add --shipped`."
_ORDER = ("dead", "resting", "refused", "moved", "answers")
_COUNTED = {"answers": "that answer", "moved": "that moved"}


def check(
    overrides: opt.Overrides,
    stored: Annotated[
        bool, typer.Option("--stored", help="Send no request; list pages that could not be read at their last visit.")
    ] = False,
    region: opt.Region = None,
    language: opt.Language = None,
    json: opt.Json = False,
) -> None:
    """Request each start page and print whether it still answers, and where. Exit code 1 when some are dead.

    Requests are as polite as those of a crawl, and share delays with the daemon. `led to` counts the services found
    from a page so far. In the database, only delays and back-offs of hosts and robots.txt change.

    Examples:

        geocrawl seeds check --region Europe

        geocrawl seeds check --stored --json
    """
    rows = _stored_seeds(overrides, region, language)
    if stored:
        _as_of_the_last_visit(rows, json=json)
        return
    if not rows and not json:
        typer.echo(_NO_SEEDS, err=True)
        return
    answers = _request(rows, opt.settings_from(overrides))
    led_to = _led_to(overrides)
    if json:
        output.echo_json(
            [{**asdict(row), "led_to": led_to.get(row.url, 0), "today": asdict(answers[row.url])} for row in rows]
        )
    else:
        _print(rows, answers, led_to)
    if any(answer.outcome == "dead" for answer in answers.values()):
        raise typer.Exit(1)


def _as_of_the_last_visit(rows: Sequence[SeedRow], *, json: bool) -> None:
    failed = [row for row in rows if row.state in ("failed", "refused")]
    if failed or json:
        _print_stored(failed, json=json)
    else:
        typer.echo("No start page failed at its last visit.")
    if failed:
        raise typer.Exit(1)


def _request(rows: Sequence[SeedRow], settings: Settings) -> Mapping[str, SeedAnswer]:
    """Request each start page; return the answers by address."""
    urls = [url for url in (read_url(row.url) for row in rows) if url is not None]
    with _progress(len(urls), quiet=settings.quiet) as (advance, say):
        path = opt.database_path_from(settings)
        return check_seeds(settings, path, urls, on_answer=lambda url: advance(), say=say)


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[tuple[Callable[[], object], Callable[[str], object]]]:
    """Show progress on standard error; yield a function that counts one more page and one that prints a line."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True, markup=False, highlight=False)
    columns = "requesting start pages", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield (
            lambda: bar.advance(task),
            lambda text: None if quiet else console.print(f"geocrawl: {plain(text, 300)}", soft_wrap=True),
        )


def _led_to(overrides: opt.Overrides) -> Mapping[str, int]:
    with opt.connection(overrides) as connection:
        return services_by_seed(connection)


def _print(rows: Sequence[SeedRow], answers: Mapping[str, SeedAnswer], led_to: Mapping[str, int]) -> None:
    ordered = sorted(rows, key=lambda row: _ORDER.index(answers[row.url].outcome))
    output.print_table(
        ("today", "why, or where", "led to", "region", "title", "address"),
        [
            (answer.outcome, _why(answer), led_to.get(row.url, 0), row.region, plain(row.title, 40), row.url)
            for row, answer in ((row, answers[row.url]) for row in ordered)
        ],
        least=("led to", "region"),
    )
    counts = Counter(answer.outcome for answer in answers.values())
    shown = [outcome for outcome in reversed(_ORDER) if counts[outcome]]
    typer.echo(", ".join(f"{counts[outcome]:,} {_COUNTED.get(outcome, outcome)}" for outcome in shown))


def _why(answer: SeedAnswer) -> str:
    if answer.outcome == "answers":
        return ""
    if answer.moved_to:
        return answer.moved_to
    return f"{answer.reason}: {plain(answer.detail, 120)}" if answer.detail else answer.reason
