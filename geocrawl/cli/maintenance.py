"""`geocrawl backup`, `restore` and `check`: looking after the database and watching the daemon."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from geocrawl.store.reading import CatalogStatus

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
    from geocrawl.store.backup import back_up

    source = opt.database_path_from(opt.settings_from(db=db))
    size = back_up(source, file)
    typer.echo(f"{file}: {size / 1e6:,.1f} MB, checked.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy made by `geocrawl backup`.")],
    db: opt.Db = None,
) -> None:
    """Put a copy in the database's place. The daemon must be stopped; the former database is kept beside it."""
    from geocrawl.store.backup import restore as put_back

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
    from geocrawl.store.reading import open_readonly
    from geocrawl.store.reading import status as read_status

    try:
        with open_readonly(opt.database_path_from(opt.settings_from(db=db))) as connection:
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

    Example (cron, each minute): geocrawl metrics --out /var/lib/node_exporter/geocrawl.prom
    """
    from geocrawl.errors import EnvironmentFault
    from geocrawl.store.reading import open_readonly
    from geocrawl.store.reading import status as read_status

    settings = opt.settings_from(db=db)
    with open_readonly(opt.database_path_from(settings)) as connection:
        found = read_status(connection, time.time())
    text = "".join(f"{line}\n" for line in _prometheus(found, settings.traffic_per_day_bytes))
    if out is None:
        typer.echo(text, nl=False)
        return
    part = out.with_name(out.name + ".part")
    try:
        part.write_text(text, "utf-8")
        part.replace(out)
    except OSError as error:
        raise EnvironmentFault(f"{out}: {error.strerror}") from None


def _prometheus(found: CatalogStatus, max_traffic_bytes: int) -> Iterator[str]:
    """The text exposition format, version 0.0.4. What counts a day starts again at midnight UTC: gauges."""
    yield from _family("up", "1 while a daemon runs.", [("", int(found.running))])
    yield from _family("paused", "1 while the daemon is paused.", [("", int(found.paused))])
    yield from _family("services", "Services in the catalogue.", [("", found.services)])
    yield from _family("layers", "Named layers in the catalogue.", [("", found.layers)])
    yield from _family("endpoints", "Endpoints by last verdict.", _labelled("status", found.endpoints))
    yield from _family("health", "Endpoints that ever were valid, by health.", _labelled("state", found.health))
    yield from _family("due", "Services whose next probe is due.", [("", found.due)])
    yield from _family("today", "The daemon's figures of this day (UTC).", _labelled("what", found.today))
    traffic = "Bytes that the daemon may receive a day (UTC); 0: no limit."
    yield from _family("traffic_limit_bytes", traffic, [("", max_traffic_bytes)])
    states = {str(state): count for state, count in found.frontier.states.items()}
    yield from _family("pages", "Pages by state.", _labelled("state", states))
    tiers = {str(tier): count for tier, count in found.frontier.waiting_by_tier.items()}
    yield from _family("waiting", "Waiting pages by tier.", _labelled("tier", tiers))
    yield from _family("probes_waiting", "Probes in the queue.", [("", found.frontier.probes_waiting)])
    yield from _family("hosts_resting", "Hosts with work that rest.", [("", found.frontier.hosts_resting)])


def _family(name: str, help_: str, samples: list[tuple[str, int]]) -> Iterator[str]:
    yield f"# HELP geocrawl_{name} {help_}"
    yield f"# TYPE geocrawl_{name} gauge"
    for labels, value in samples:
        yield f"geocrawl_{name}{labels} {value}"


def _labelled(label: str, values: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(f'{{{label}="{name}"}}', value) for name, value in values.items()]
