"""`geocrawl report`: what happened to services in a month."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.wording import counted

FORMATS = ("html", "csv")


def report(
    overrides: opt.Overrides,
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="Month, in UTC.")],
    format_: Annotated[
        str, typer.Option("--format", metavar="html|csv", help="A page of what matters, or a table of all services.")
    ] = "html",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write \\[standard output].")
    ] = None,
) -> None:
    """Write what happened to services in a month: new ones, failures, returns, layers, availability.

    Example: geocrawl report --month 2026-10 --out 2026-10.html
    """
    from geocrawl.errors import UsageError
    from geocrawl.export.files import opened
    from geocrawl.export.report import write_report_csv, write_report_html

    if format_ not in FORMATS:
        raise UsageError(f"--format {format_!r}: html or csv")
    start, end = bounds_of(month)
    opt.refuse_catalogue(out, overrides)
    with opt.reading(overrides) as queries, queries.snapshot():
        rows = queries.month_report(start, end)
        with opened(out) as stream:
            count = write_report_csv(rows, stream) if format_ == "csv" else write_report_html(rows, stream, month=month)
    if out is not None and str(out) != "-":
        typer.echo(f"{counted(count, 'service')} written to {out}")


def bounds_of(month: str) -> tuple[float, float]:
    """Return the times at which a month begins and ends, seconds. Raises UsageError for text that is no month."""
    from geocrawl.errors import UsageError

    try:
        first = dt.datetime.strptime(month, "%Y-%m").replace(tzinfo=dt.UTC)
        following = (first + dt.timedelta(days=32)).replace(day=1)
        return first.timestamp(), following.timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"--month {month!r}: expected a month such as 2026-10") from None
