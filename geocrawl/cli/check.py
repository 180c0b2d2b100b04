"""`geocrawl check`: one line and an exit code for monitoring systems."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.store import CatalogStatus
    from geocrawl.urls.database import Place

OK, WARNING, CRITICAL, UNKNOWN = 0, 1, 2, 3
"""Exit codes of monitoring plugins (Nagios)."""


def check(
    overrides: opt.Overrides,
    silent_for: Annotated[
        int, typer.Option("--silent-for", metavar="HOURS", help="Warn when nothing was visited for this many hours.")
    ] = 6,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make the search index anew from the catalogue instead, and exit.")
    ] = False,
) -> None:
    """Print one line for monitoring and exit with 0 ok, 1 warning, 2 critical or 3 unknown (Nagios plugin)."""
    from geocrawl.errors import GeocrawlError

    if repair:
        _repair(overrides)
        return
    try:
        with opt.reading(overrides) as queries:
            found, last, path = queries.status(time.time()), queries.last_visit_at(), queries.path
    except GeocrawlError as error:
        typer.echo(f"GEOCRAWL UNKNOWN - {error}")
        raise typer.Exit(UNKNOWN) from None
    code, text = assess(found, last, time.time(), silent_for * 3600, path)
    word = {OK: "OK", WARNING: "WARNING", CRITICAL: "CRITICAL"}[code]
    typer.echo(f"GEOCRAWL {word} - {text} | {_performance_data(found)}")
    if code:
        raise typer.Exit(code)


def _repair(overrides: opt.Overrides) -> None:
    """Make the search index anew, and say how many services it has."""
    from geocrawl.app import wiring

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_store(path, wiring.system_clock(), create=False) as store:
        services = store.index_again()
    typer.echo(f"{path}: the search index has {counted(services, 'service')}")


def assess(found: CatalogStatus, last: float | None, now: float, silent_s: float, path: Place) -> tuple[int, str]:
    """Return (exit code, message) for a status and the time of the last visit, None for no visit yet."""
    from geocrawl.cli.status_text import snapshot_text
    from geocrawl.utc import span

    if not found.running:
        return CRITICAL, "no daemon runs" + (f" (process {found.daemon.pid} was killed)" if found.daemon else "")
    if found.paused:
        return WARNING, "the daemon is paused"
    if last is None or now - last > silent_s:
        return WARNING, "nothing was visited " + (f"for {span(now - last)}" if last else "yet")
    if found.open_snapshot:
        return WARNING, snapshot_text(found.open_snapshot, path)
    if found.due > 10_000:
        return WARNING, f"{found.due:,} endpoints are due for a probe"
    alive = found.health.get("alive", 0)
    return OK, f"{counted(alive, 'endpoint')} alive, {counted(found.today.get('pages', 0), 'page')} today"


def _performance_data(found: CatalogStatus) -> str:
    """Return the performance data of a monitoring plugin: NAME=VALUE …"""
    values = {
        "alive": found.health.get("alive", 0),
        "down": found.health.get("down", 0),
        "due": found.due,
        "pages_today": found.today.get("pages", 0),
        "waiting": sum(found.frontier.waiting_by_tier.values()),
    }
    return " ".join(f"{name}={value}" for name, value in values.items())
