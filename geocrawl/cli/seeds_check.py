"""`geocrawl seeds check`: find start pages that no longer answer, now or at their last visit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    from geocrawl.app.check_seeds import SeedAnswer
    from geocrawl.settings import Settings
    from geocrawl.store import SeedRow

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
    from geocrawl.cli.seeds import stored_seeds

    rows = stored_seeds(overrides, region, language)
    if stored:
        _as_of_the_last_visit(rows, json=json)
        return
    if not rows and not json:
        typer.echo("No start pages: `geocrawl seeds add URL`, or `geocrawl seeds add --shipped`.", err=True)
        return
    answers = _asked(rows, opt.settings_from(overrides))
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
    from geocrawl.cli.seeds import print_stored

    failed = [row for row in rows if row.state in ("failed", "refused")]
    if json:
        output.echo_json([asdict(row) for row in failed])
    elif failed:
        print_stored(failed)
    else:
        typer.echo("No start page failed at its last visit.")
    if failed:
        raise typer.Exit(1)


def _asked(rows: Sequence[SeedRow], settings: Settings) -> Mapping[str, SeedAnswer]:
    """Request each start page; return the answers by address."""
    from geocrawl.app.check_seeds import check_seeds
    from geocrawl.urls import read_url

    urls = [url for url in (read_url(row.url) for row in rows) if url is not None]
    with _progress(len(urls), quiet=settings.quiet) as (advance, say):
        path = opt.database_path_from(settings)
        return check_seeds(settings, path, urls, on_answer=lambda url, answer: advance(), say=say)


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
    with opt.reading(overrides) as queries:
        return queries.services_by_seed()


def _print(rows: Sequence[SeedRow], answers: Mapping[str, SeedAnswer], led_to: Mapping[str, int]) -> None:
    ordered = sorted(rows, key=lambda row: _ORDER.index(answers[row.url].outcome))
    output.print_table(
        ("today", "why, or where", "led to", "region", "title", "address"),
        [
            (answer.outcome, _why(answer), led_to.get(row.url, 0), row.region, plain(row.title, 40), row.url)
            for row, answer in ((row, answers[row.url]) for row in ordered)
        ],
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
