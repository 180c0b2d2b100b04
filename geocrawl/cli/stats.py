"""`geocrawl stats`, `report` and `signals`: statistics over the whole catalogue, as numbers and as pictures."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.store.read.history import read_survival
from geocrawl.store.read.statistics import kind_counts, month_report
from geocrawl.store.read.yields import signal_yields
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.store.read.history import Survival
    from geocrawl.store.read.statistics import KindCount


def stats(
    overrides: opt.Overrides,
    survival: Annotated[bool, typer.Option("--survival", help="Print how long services live.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw that as a curve into this file, .svg.")
    ] = None,
    picture: Annotated[
        str,
        typer.Option(
            "--picture",
            metavar="NAME",
            help="Draw kinds, countries, software, software-over-time, survival, harvest, deviations, or map "
            "(extents in the world).",
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Draw it into this file, .svg, not as text.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Print the number of services of each kind, or how long services live; draw these and other statistics.

    Examples:

        geocrawl stats

        geocrawl stats --survival --plot survival.svg

        geocrawl stats --picture countries

        geocrawl stats --picture map --out map.svg
    """
    opt.refuse_catalogue(plot, overrides)
    opt.refuse_catalogue(out, overrides)
    if picture or out is not None:
        _draw(picture, out, overrides, json=json)
        return
    with opt.reading(overrides) as connection:
        if not survival and plot is None:
            _print_kinds(kind_counts(connection), json=json)
            return
        found = read_survival(connection)
    if plot is not None:
        _draw("survival", plot, overrides, option="--plot")
    if json:
        output.echo_json(asdict(found))
        return
    _print_survival(found)


def _draw(
    picture: str, out: Path | None, overrides: opt.Overrides, *, json: bool = False, option: str = "--out"
) -> None:
    """Draw a picture into a file, or print it as bars.

    Raises UsageError for options that do not fit together, and for a file that is no .svg.
    """
    from geocrawl.cli import pictures
    from geocrawl.errors import UsageError

    if not picture:
        raise UsageError(f"--out {out}: name what to draw, for example --picture map")
    if json:
        raise UsageError("--picture draws; omit --json and --format, or read the numbers with `geocrawl stats --json`")
    pictures.check_file(picture, out, option)
    with opt.reading(overrides) as connection:
        drawn = pictures.draw(picture, connection)
    if out is not None:
        pictures.write(drawn, out)
        return
    pictures.show(drawn)


def _print_kinds(counts: list[KindCount], *, json: bool) -> None:
    if json:
        output.echo_json([asdict(each) for each in counts])
    elif counts:
        rows = [astuple(each) for each in counts]
        output.print_table(("kind", "services", "alive", "delivers", "layers"), rows)
    else:
        typer.echo("The catalogue holds no service yet.", err=True)


def _print_survival(found: Survival) -> None:
    typer.echo(f"Valid at some time: {counted(found.services, 'endpoint')}; down or gone now: {found.deaths:,}.")
    known = [days for days in (7, 30, 90, 365) if days <= found.observed_days]
    if not known:
        typer.echo("No endpoint has been watched for a week yet: too short a time for statistics.")
    for days in known:
        share = [value for day, value in found.curve if day <= days][-1]
        typer.echo(f"  alive after {days:>3} days: {share:.1%}")


REPORT_FORMATS = ("html", "csv")


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

    if format_ not in REPORT_FORMATS:
        raise UsageError(f"--format {format_!r}: html or csv")
    start, end = bounds_of(month)
    opt.refuse_catalogue(out, overrides)
    with opt.reading(overrides) as connection, connection.snapshot():
        rows = month_report(connection, start, end)
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


def signals(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Count what each way of finding services found: links, text, scripts, forms, records …

    One row for each signal and kind: endpoints found, those with a verdict, valid ones, and valid ones that no other
    signal found.
    """
    with opt.reading(overrides) as connection:
        rows = signal_yields(connection)
    if json:
        output.echo_json([asdict(row) for row in rows])
    elif rows:
        output.print_table(
            ("signal", "kind", "found", "probed", "valid", "only here"),
            [(row.signal, row.kind, row.candidates, row.probed, row.valid, row.alone) for row in rows],
        )
    else:
        typer.echo("No candidates yet.", err=True)
    if not rows:
        raise typer.Exit(1)
