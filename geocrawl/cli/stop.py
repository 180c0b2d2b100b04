"""`geocrawl stop`: end the daemon, crawls and harvests that run on a database."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from geocrawl.cli import options as opt


def stop(
    overrides: opt.Overrides,
    wait: Annotated[
        int, typer.Option("--wait", metavar="SECONDS", min=0, help="Longest wait for each process to end.")
    ] = 60,
) -> None:
    """End the daemon, crawls and harvests that run on the catalogue: they finish current requests, and lose no visit.

    `geocrawl crawl` and `geocrawl daemon` resume later. Exit code 3 when one cannot be ended from here.

    Example: geocrawl stop --db geocrawl.db
    """
    from geocrawl.app.stop import StopResult
    from geocrawl.app.stop import stop as end

    path = opt.database_path_from(opt.settings_from(overrides))
    with opt.reading(overrides) as queries:
        processes = queries.working_processes(time.time())
    if not processes:
        typer.echo(f"No daemon, crawl or harvest runs on {path}.")
    said = {
        StopResult.ENDED: "has ended",
        StopResult.STILL_RUNNING: f"was asked to end and still runs after {wait} s; `geocrawl status` shows it",
        StopResult.OUT_OF_REACH: "cannot be ended from here; run `geocrawl stop` on its machine, in its container",
        StopResult.FORBIDDEN: "belongs to another user; run `geocrawl stop` as that user",
    }
    results = []
    for process in processes:
        results.append(end(process, wait))
        typer.echo(f"{process} {said[results[-1]]}.", err=results[-1] is not StopResult.ENDED)
    if any(result is not StopResult.ENDED for result in results):
        raise typer.Exit(3)
