"""`geocrawl metrics`: print or write the numbers of `status` for Prometheus."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    pass


def metrics(
    overrides: opt.Overrides,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File for node_exporter's textfile collector, replaced atomically."),
    ] = None,
) -> None:
    """Print the numbers of `status` in Prometheus' text format; docs/grafana.json is a dashboard for them.

    The daemon can write the file by itself (setting metrics_file).

    Example (cron, each minute): geocrawl metrics --out /var/lib/node_exporter/geocrawl.prom
    """
    from geocrawl.daemon.metrics import write_metrics

    opt.refuse_catalogue(out, overrides)
    with opt.reading(overrides) as queries:
        found = queries.status(time.time())
    write_metrics(found, opt.settings_from(overrides).traffic_per_day_bytes, out)
