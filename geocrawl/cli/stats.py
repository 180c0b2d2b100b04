"""`geocrawl stats`, `report` and `signals`: statistics over the whole catalogue, as numbers and as pictures."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from markupsafe import Markup

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.errors import NothingFound, UsageError
from geocrawl.export.files import opened
from geocrawl.export.report import write_months_csv, write_months_json, write_report_csv, write_report_html
from geocrawl.export.report_card import card_json, card_lines, write_cards_html
from geocrawl.files import is_standard_output, write_whole
from geocrawl.model.kinds import short_name
from geocrawl.model.statistics import Survival
from geocrawl.sanitize import plain
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web import charts
from geocrawl.wording import counted, day_of

_KIND_COLUMNS = ("kind", "services", "alive", "delivers", "layers")


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
    with opt.reading(overrides) as catalogue:
        if not survival and plot is None:
            columns, nothing = _KIND_COLUMNS, "The catalogue holds no service yet."
            output.print_rows(catalogue.kind_counts(), columns, astuple, json=json, nothing=nothing)
            return
        estimate = catalogue.survival()
    if plot is not None:
        _draw("survival", plot, overrides, option="--plot")
    if json:
        output.echo_json(asdict(estimate))
        return
    _print_survival(estimate)


def _draw(
    picture: str, out: Path | None, overrides: opt.Overrides, *, json: bool = False, option: str = "--out"
) -> None:
    """Draw a picture into a file, or print it as bars.

    Raises UsageError for options that do not fit together, and for a file that is no .svg.
    """
    if not picture:
        raise UsageError(f"--out {out}: name what to draw, for example --picture map")
    if json:
        raise UsageError("--picture draws; omit --json and --format, or read the numbers with `geocrawl stats --json`")
    if picture not in PICTURES:
        raise UsageError(f"--picture {picture!r}: expected one of {', '.join(PICTURES)}")
    _check_file(picture, out, option)
    with opt.reading(overrides) as catalogue:
        drawn = PICTURES[picture](catalogue)
    if out is None:
        _print_bars(drawn)
    else:
        write_whole(out, charts.standalone(drawn.chart, drawn.heading))
        if not is_standard_output(out):
            typer.echo(f"Drawn into {out}", err=True)


def _print_survival(survival: Survival) -> None:
    observed = counted(survival.services, "endpoint")
    typer.echo(
        f"Observed for an hour or more since they were valid: {observed}; down or gone now: {survival.deaths:,}."
    )
    known = [days for days in (7, 30, 90, 365) if days <= survival.observed_days]
    if not known:
        typer.echo("No endpoint has been watched for a week yet: too short a time for statistics.")
    for days in known:
        share = [value for day, value in survival.curve if day <= days][-1]
        typer.echo(f"  alive after {days:>3} days: {share:.1%}")


REPORT_FORMATS = ("html", "csv")


def report(
    overrides: opt.Overrides,
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="Month, in UTC.")] = "",
    by: Annotated[
        str,
        typer.Option("--by", metavar="provider", help="Write a report card of each provider, in the place of a month."),
    ] = "",
    provider: Annotated[
        str, typer.Option("--provider", metavar="TEXT", help="With --by provider: those whose name holds this text.")
    ] = "",
    format_: Annotated[
        str, typer.Option("--format", metavar="html|csv", help="A page of what matters, or a table of all services.")
    ] = "html",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write \\[standard output].")
    ] = None,
    inspire: Annotated[
        bool,
        typer.Option("--inspire", help="Write availability and response times as INSPIRE demands them, CSV or --json."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="With --by provider or --inspire: print JSON.")] = False,
) -> None:
    """Write what happened to services in a month; or what each provider has, what is broken and how to mend it.

    Examples:

        geocrawl report --month 2026-10 --out 2026-10.html

        geocrawl report --month 2026-10 --inspire --out inspire.csv

        geocrawl report --by provider --provider Survey

        geocrawl report --by provider --out providers.html
    """
    if format_ not in REPORT_FORMATS:
        raise UsageError(f"--format {format_!r}: html or csv")
    opt.refuse_catalogue(out, overrides)
    if by and (month or inspire or format_ != "html"):
        raise UsageError("--month, --inspire and --format csv do not belong to --by provider; --json prints the cards")
    if by:
        _report_by(by, provider, out, overrides, json=json)
        return
    if provider or (json and not inspire):
        raise UsageError("--json and --provider belong to --by provider")
    if not month:
        raise UsageError("name a month, such as --month 2026-10, or --by provider")
    count = _write_month(month, out, overrides, "inspire" if inspire else format_, json=json)
    if not is_standard_output(out):
        typer.echo(f"{counted(count, 'service')} written to {out}")


def _write_month(month: str, out: Path | None, overrides: opt.Overrides, form: str, *, json: bool) -> int:
    """Write the report of a month: html, csv or inspire. Return the number of services."""
    start, end = bounds_of(month)
    with opt.reading(overrides) as catalogue, catalogue.snapshot(), opened(out) as stream:
        if form == "inspire":
            months = catalogue.service_months([(start, min(end, time.time()))])
            return write_months_json(months, stream) if json else write_months_csv(months, stream)
        rows = catalogue.month(start, end)
        if form == "csv":
            return write_report_csv(rows, stream)
        return write_report_html(rows, stream, month=month, catalogue=opt.catalogue_name(overrides))


def _report_by(by: str, words: str, out: Path | None, overrides: opt.Overrides, *, json: bool) -> None:
    """Write the report cards of providers: as a page into a file, as JSON, or as lines."""
    if by != "provider":
        raise UsageError(f"--by {by!r}: expected provider")
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--out {out}: report cards are written as a page, whose name ends in .html")
    count = 0
    with opt.reading(overrides) as catalogue, catalogue.snapshot():
        cards = catalogue.provider_cards(words)
        if out is not None:
            with opened(out) as stream:
                count = write_cards_html(cards, stream)
        elif json:
            shown = [card_json(card) for card in cards]
            output.echo_json(shown)
            count = len(shown)
        else:
            for count, card in enumerate(cards, 1):  # noqa: B007 the last number is the count
                output.print_lines((*card_lines(card), ""), json=False, value=None)
    if not count:
        raise NothingFound(
            f"no provider's name holds {plain(words)!r}" if words else "the catalogue holds no service yet"
        )
    if out is not None:
        typer.echo(f"{counted(count, 'provider')} written to {out}")


def bounds_of(month: str) -> tuple[float, float]:
    """Return the times at which a month begins and ends, seconds. Raises UsageError for text that is no month."""
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
    with opt.reading(overrides) as catalogue:
        rows = catalogue.signals()
    columns = ("signal", "kind", "found", "probed", "valid", "only here")
    output.print_rows(rows, columns, astuple, json=json, nothing="No candidates yet.")
    if not rows:
        raise typer.Exit(1)


_MOST_BARS = 25
_PARTS = 120
_POINTS = 12
"""Points of a curve that a terminal shows."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One statistic, drawn."""

    heading: str
    chart: Markup
    rows: Sequence[tuple[str, float, str]]
    """The same as bars: label, length, and the value in words."""


def _check_file(name: str, path: Path | None, option: str) -> None:
    """Raise UsageError for a file that is no SVG, and for a map without a file."""
    if path is not None and path.suffix.lower() == ".png":
        raise UsageError(f"{option} {path}: PNG is no longer written; name it {path.with_suffix('.svg')}")
    if path is not None and path.suffix.lower() != ".svg":
        raise UsageError(f"{option} {path}: the name must end in .svg")
    if path is None and name == "map":
        raise UsageError("--picture map: a map is drawn into a file: add --out map.svg")


def _bars(heading: str, rows: Sequence[tuple[str, float]]) -> Chart:
    left_out = f" (the first {_MOST_BARS} of {len(rows)})" if len(rows) > _MOST_BARS else ""
    shown = rows[:_MOST_BARS]
    return Chart(heading + left_out, charts.bars(shown, heading), [(*row, f"{row[1]:,}") for row in shown])


def _kinds(catalogue: Catalogue) -> Chart:
    return _bars(
        "Services by kind",
        [(short_name(kind_count.kind), kind_count.services) for kind_count in catalogue.kind_counts()],
    )


def _countries(catalogue: Catalogue) -> Chart:
    found = catalogue.find(limit=1, facets=True).facets.get("country", ())
    return _bars("Services by country", [(each.label or each.value, each.count) for each in found])


def _software(catalogue: Catalogue) -> Chart:
    growth = catalogue.software_growth(1)
    counts = growth.counts if growth else ()
    return _bars(
        "Services by server software, as addresses show it", [(name or "not shown", count) for name, count in counts]
    )


def _software_over_time(catalogue: Catalogue) -> Chart:
    growth = catalogue.software_growth(_PARTS)
    heading, unknown = "Known services over time by server software, as addresses show it", "not shown"
    rows = [(name or unknown, count, f"{count:,}") for name, count in growth.counts] if growth else []
    return Chart(heading, charts.software_curves(growth, heading, unknown), rows)


def _deviations(catalogue: Catalogue) -> Chart:
    return _bars("Endpoints by tolerated deviation", catalogue.statistics().deviations)


def _survival(catalogue: Catalogue) -> Chart:
    survival = catalogue.survival()
    heading = f"Share still alive of {counted(survival.services, 'endpoint')}, {survival.deaths:,} of them down or gone"
    if not survival.services:
        heading = "No endpoint was ever valid"
    chart = charts.survival_curve(survival, heading, lambda days: counted(days, "day"))
    shown = survival.curve[:: len(survival.curve) // _POINTS + 1] if survival.services else []
    return Chart(heading, chart, [(f"after {day:,.0f} days", share, f"{share:.0%}") for day, share in shown])


def _harvest(catalogue: Catalogue) -> Chart:
    growth = catalogue.growth(_PARTS)
    if growth is None:
        heading = "No service is known yet"
        return Chart(heading, charts.growth_curve(None, heading), [])
    heading = f"{counted(growth.known[-1], 'service')} known over time"
    width = (growth.end - growth.start) / _PARTS
    shown = [(part, growth.known[part - 1]) for part in range(_PARTS // _POINTS, _PARTS + 1, _PARTS // _POINTS)]
    rows = [(day_of(growth.start + part * width), count, f"{count:,}") for part, count in shown]
    return Chart(heading, charts.growth_curve(growth, heading), rows)


def _map(catalogue: Catalogue) -> Chart:
    boxes = [service.box for service in catalogue.read_services() if service.box is not None]
    cells, inside, worldwide = charts.coverage(boxes)
    more = f", {worldwide:,} more of most of the world" if worldwide else ""
    heading = f"Extents of {counted(inside, 'service')}{more}"
    base_map = json.loads((files("geocrawl.web") / "static" / "world.json").read_text("utf-8"))
    return Chart(heading, charts.world_map(cells, base_map, heading), [])


PICTURES: Mapping[str, Callable[[Catalogue], Chart]] = {
    "kinds": _kinds,
    "countries": _countries,
    "software": _software,
    "software-over-time": _software_over_time,
    "survival": _survival,
    "harvest": _harvest,
    "deviations": _deviations,
    "map": _map,
}
"""Name → what draws it."""


def _print_bars(picture: Chart) -> None:
    """Print a picture as bars, the heading first."""
    from rich.bar import Bar
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(plain(picture.heading, 120), markup=False)
    console.print()
    if not picture.rows:
        console.print("nothing yet")
        return
    most = max(length for _, length, _ in picture.rows) or 1
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    for label, length, value in picture.rows:
        table.add_row(plain(label, 30), Bar(most, 0, length, width=36), value)
    console.print(table)
