"""`geocrawl stats`: statistics over the whole catalogue, as numbers and as pictures."""

from __future__ import annotations

from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.store import KindCount, Survival


def stats(
    overrides: opt.Overrides,
    survival: Annotated[bool, typer.Option("--survival", help="Print how long services live.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw that as a curve into this file, .svg or .png.")
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
        Path | None, typer.Option("--out", metavar="FILE", help="Draw it into this file, .svg or .png, not as text.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Print the number of services of each kind, or how long services live; draw these and other statistics.

    Examples:

        geocrawl stats

        geocrawl stats --survival --plot survival.svg

        geocrawl stats --picture countries

        geocrawl stats --picture map --out map.png
    """
    opt.refuse_catalogue(plot, overrides)
    opt.refuse_catalogue(out, overrides)
    if picture or out is not None:
        _draw(picture, out, overrides, json=json)
        return
    with opt.reading(overrides) as queries:
        if not survival and plot is None:
            _print_kinds(queries.kind_counts(), json=json)
            return
        found = queries.survival()
    if plot is not None:
        _draw("survival", plot, overrides, option="--plot")
    if json:
        output.echo_json(asdict(found))
        return
    _print_survival(found)


def _draw(
    picture: str, out: Path | None, overrides: opt.Overrides, *, json: bool = False, option: str = "--out"
) -> None:
    """Draw a picture into a file, or print it as text.

    Raises UsageError for options that do not fit together, and for a file that is neither .svg nor .png.
    """
    from geocrawl.cli import pictures
    from geocrawl.errors import UsageError

    if not picture:
        raise UsageError(f"--out {out}: name what to draw, for example --picture map")
    if json:
        raise UsageError("--picture draws; omit --json and --format, or read the numbers with `geocrawl stats --json`")
    if out is not None:
        pictures.check_format(out, option)
    with opt.reading(overrides) as queries:
        drawn = pictures.draw(picture, queries)
    if out is not None:
        pictures.write(drawn, out)
        return
    for line in pictures.lines_of(drawn):
        typer.echo(line)


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
