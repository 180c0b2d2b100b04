"""`geocrawl workers`: who crawls on a database."""

from __future__ import annotations

from dataclasses import asdict

import typer

from geocrawl.cli import options as opt


def workers(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Show the processes that crawl on the catalogue: since when, how fast, and how many hosts they have leased.

    Example: geocrawl workers --db postgresql://geocrawl@db.example.org/geocrawl
    """
    import time

    from geocrawl.cli import output
    from geocrawl.utc import moment

    with opt.reading(overrides) as queries:
        found = queries.workers(time.time())
    if json:
        output.echo_json([asdict(each) for each in found])
        return
    if not found:
        typer.echo("No crawl runs on this catalogue.")
        return
    columns = ("process", "strategy", "since (UTC)", "visits", "a minute", "hosts leased")
    rows = [
        (
            each.process
            + (f" (helps {each.helps.rpartition(':')[2]})" if each.helps else "")
            + ("" if each.state == "runs" else " (elsewhere)"),
            each.strategy + (", learns" if each.learns else ""),
            moment(each.since),
            str(each.settled),
            "-" if each.a_minute is None else f"{each.a_minute:g}",
            str(each.leases),
        )
        for each in found
    ]
    output.print_table(columns, rows)
