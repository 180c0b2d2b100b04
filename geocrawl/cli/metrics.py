"""`geocrawl metrics`: print or write the numbers of `status` for Prometheus."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt


def metrics(
    overrides: opt.Overrides,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File for node_exporter's textfile collector, replaced atomically."),
    ] = None,
    grafana: Annotated[
        bool, typer.Option("--grafana", help="Print a dashboard for Grafana that shows these numbers, as JSON.")
    ] = False,
) -> None:
    """Print the numbers of `status` in Prometheus' text format; `--grafana` prints a dashboard for them.

    The daemon can write the file by itself (setting metrics_file).

    Example (cron, each minute): geocrawl metrics --out /var/lib/node_exporter/geocrawl.prom
    """
    if grafana:
        typer.echo(dashboard_file().read_text("utf-8"), nl=False)
        return
    from geocrawl.daemon.metrics import write_metrics

    opt.refuse_catalogue(out, overrides)
    with opt.reading(overrides) as queries:
        found = queries.status(time.time())
    write_metrics(found, opt.settings_from(overrides).traffic_per_day_bytes, out)


def dashboard_file() -> Path:
    """Return the path of the dashboard: in the data of an installed geocrawl, else in the documents of a checkout."""
    import geocrawl

    package = Path(geocrawl.__file__).parent
    installed = package / "data" / "grafana.json"
    return installed if installed.is_file() else package.parent / "docs" / "grafana.json"
