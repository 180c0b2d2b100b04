"""`geocrawl stats`: statistics over the whole catalogue."""

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
    json: opt.Json = False,
) -> None:
    """Print the number of services of each kind, or how long services live.

    Examples:

        geocrawl stats

        geocrawl stats --survival --plot survival.svg
    """
    opt.refuse_catalogue(plot, overrides)
    with opt.reading(overrides) as queries:
        if not survival and plot is None:
            _print_kinds(queries.kind_counts(), json=json)
            return
        found = queries.survival()
    if plot is not None:
        _draw(found, plot)
    if json:
        output.echo_json(asdict(found))
        return
    typer.echo(f"Valid at some time: {counted(found.services, 'endpoint')}; down or gone now: {found.deaths:,}.")
    known = [days for days in (7, 30, 90, 365) if days <= found.observed_days]
    if not known:
        typer.echo("No endpoint has been watched for a week yet: too short a time for statistics.")
    for days in known:
        share = [value for day, value in found.curve if day <= days][-1]
        typer.echo(f"  alive after {days:>3} days: {share:.1%}")


def _print_kinds(counts: list[KindCount], *, json: bool) -> None:
    if json:
        output.echo_json([asdict(each) for each in counts])
    elif counts:
        rows = [astuple(each) for each in counts]
        output.print_table(("kind", "services", "alive", "delivers", "layers"), rows)
    else:
        typer.echo("The catalogue holds no service yet.", err=True)


def _draw(found: Survival, path: Path) -> None:
    """Draw the survival curve as steps.

    Raises UsageError for a file that is neither .svg nor .png, EnvironmentFault when it cannot be written.
    """
    from io import BytesIO

    from geocrawl.errors import UsageError, needs_extra
    from geocrawl.files import write_whole

    if path.suffix.lower() not in (".svg", ".png"):
        raise UsageError(f"--plot {path}: the name must end in .svg or .png")
    try:
        import matplotlib as mpl
    except ImportError:
        raise needs_extra("plots", "matplotlib") from None
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.step([day for day, _ in found.curve], [share for _, share in found.curve], where="post", color="#0072b2")
    axes.set(xlabel="days since it was first valid", ylabel="share still alive", ylim=(0, 1.02))
    axes.set_title(f"{found.services:,} endpoints, {found.deaths:,} down or gone")
    axes.grid(alpha=0.3)
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower())
    pyplot.close(figure)
    write_whole(path, drawn.getvalue())
