"""`geocrawl backup`, `restore` and `check`: looking after the database and watching the daemon."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from geocrawl.store.queries.status import CatalogStatus

OK, WARNING, CRITICAL, UNKNOWN = 0, 1, 2, 3
"""Exit codes of monitoring plugins (Nagios)."""


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (backup, restore, check, metrics):
        app.command(command.__name__)(command)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes; overwritten when it exists.")],
    db: opt.Db = None,
) -> None:
    """Write a consistent copy of the database, also while the daemon works on it. The copy is checked.

    Example: geocrawl backup /backup/geocrawl-$(date +%F).db
    """
    from geocrawl.store.operations.backup import back_up

    source = opt.database_path_from(opt.settings_from(db=db))
    size = back_up(source, file)
    typer.echo(f"{file}: {size / 1e6:,.1f} MB, checked.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy made by `geocrawl backup`.")],
    db: opt.Db = None,
) -> None:
    """Put a copy in the database's place. The daemon must be stopped; the former database is kept beside it."""
    from geocrawl.store.operations.backup import restore as put_back

    target = opt.database_path_from(opt.settings_from(db=db))
    kept = put_back(file, target, time.time())
    typer.echo(f"{target}: restored from {file}." + (f" The former one is kept as {kept}." if kept else ""))


def check(
    db: opt.Db = None,
    silent_for: Annotated[
        int, typer.Option("--silent-for", metavar="HOURS", help="Warn when nothing was visited for so long.")
    ] = 6,
) -> None:
    """One line and an exit code for monitoring: 0 ok, 1 warning, 2 critical, 3 unknown (Nagios plugins)."""
    from geocrawl.errors import GeocrawlError
    from geocrawl.store.queries.status import status as read_status

    try:
        with opt.reading(db) as connection:
            found = read_status(connection, time.time())
            last = connection.execute("SELECT max(settled_at) FROM url WHERE settled_at IS NOT NULL").fetchone()[0]
    except GeocrawlError as error:
        typer.echo(f"GEOCRAWL UNKNOWN - {error}")
        raise typer.Exit(UNKNOWN) from None
    code, text = judged(found, last, time.time(), silent_for * 3600)
    word = {OK: "OK", WARNING: "WARNING", CRITICAL: "CRITICAL"}[code]
    typer.echo(f"GEOCRAWL {word} - {text} | {_figures(found)}")
    if code:
        raise typer.Exit(code)


def judged(found: CatalogStatus, last: float | None, now: float, silent_s: float) -> tuple[int, str]:
    """(exit code, what to tell)."""
    from geocrawl.cli.texts import span

    if not found.running:
        return CRITICAL, "no daemon runs" + (f" (process {found.daemon.pid} was killed)" if found.daemon else "")
    if found.paused:
        return WARNING, "the daemon is paused"
    if last is None or now - last > silent_s:
        return WARNING, "nothing was visited " + (f"for {span(now - last)}" if last else "yet")
    if found.due > 10_000:
        return WARNING, f"{found.due:,} services wait to be asked again"
    alive = found.health.get("alive", 0)
    return OK, f"{alive:,} services alive, {found.today.get('pages', 0):,} pages today"


def _figures(found: CatalogStatus) -> str:
    """Performance data of monitoring plugins."""
    figures = {
        "alive": found.health.get("alive", 0),
        "down": found.health.get("down", 0),
        "due": found.due,
        "pages_today": found.today.get("pages", 0),
        "waiting": sum(found.frontier.waiting_by_tier.values()),
    }
    return " ".join(f"{name}={value}" for name, value in figures.items())


def metrics(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="For node_exporter's textfile collector; written whole or not."),
    ] = None,
    db: opt.Db = None,
) -> None:
    """The figures of `status` in Prometheus' text format; `docs/grafana.json` is a dashboard of them.

    The daemon writes such a file by itself (setting metrics_file).

    Example (cron, each minute): geocrawl metrics --out /var/lib/node_exporter/geocrawl.prom
    """
    from geocrawl.daemon.metrics import write_metrics
    from geocrawl.store.queries.status import status as read_status

    with opt.reading(db) as connection:
        found = read_status(connection, time.time())
    write_metrics(found, opt.settings_from(db=db).traffic_per_day_bytes, out)
