"""`geocrawl status`, `check`, `doctor` and `metrics`: the state of a catalogue, its daemon and this machine."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.app.findings import (
    Finding,
    Severity,
    check_connection,
    check_contact,
    check_database,
    check_machine,
    check_settings,
    check_status,
    check_unit,
    queue_of,
    worst,
)
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.crawler.report import line_of_source
from geocrawl.errors import PassingFault, UsageError
from geocrawl.sanitize import plain
from geocrawl.settings import PAGES_SHARE, Settings
from geocrawl.store import Store
from geocrawl.store.database.processes import JobRun
from geocrawl.store.frontier.status import CatalogStatus, Run, read_status
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import RUN_ENDS, counted, iso, moment, span

if TYPE_CHECKING:
    from rich.text import Text


WATCH_S = 2.0
"""Seconds between two updates of `status --watch`."""
_LIMITS = ("max_db_bytes", "traffic_per_day_bytes", "pages_per_day", "hours", "allow", "deny")
"""Limits of the daemon that `status --json` contains."""


def status(
    overrides: opt.Overrides,
    json: opt.Json = False,
    watch: Annotated[bool, typer.Option("--watch", help="Update every 2 seconds until Ctrl-C.")] = False,
) -> None:
    """Print whether all is well or what needs a person, then services, queue, what is due, hosts and runs.

    The limits shown are those of your settings; the daemon may have been started with others.
    """
    if watch:
        if json:
            raise UsageError("--watch and --json exclude each other")
        _watch(overrides)
        return
    settings, path, at, found = _read(overrides)
    limits = {name: getattr(settings, name) for name in _LIMITS}
    value = {"database": str(path), **limits, **asdict(found), **queue_of(found.frontier, settings.set).as_json()}
    value["next"] = {name: iso(at) for name, at in found.next.items()}
    value["failures"] = [(address, reason, iso(at)) for address, reason, at in found.failures]
    output.print_lines(status_lines(found, path, at, settings), json=json, value=value)


def _read(overrides: opt.Overrides) -> tuple[Settings, DatabaseUrl, float, CatalogStatus]:
    """Return the settings, the catalogue's place, its time now and its status."""
    settings = opt.settings_from(overrides)
    path = opt.database_path_from(settings)
    with Store.open_readonly(path) as connection:
        at = connection.now()
        return settings, path, at, read_status(connection, at)


def _watch(overrides: opt.Overrides) -> None:
    """Show the status until Ctrl-C, which is the normal end: exit code 0."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def now() -> Text:
        settings, path, at, found = _read(overrides)
        lines = status_lines(found, path, at, settings)
        return Text("\n".join([*lines, f"{moment(at)} UTC, every {WATCH_S:g} s; Ctrl-C ends"]), no_wrap=True)

    # A shell that started us in the background had SIGINT ignored, and we would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Live(now(), console=Console(), auto_refresh=False) as live:
            while True:
                time.sleep(WATCH_S)
                live.update(_or_fault(now), refresh=True)
    except KeyboardInterrupt:
        return


def _or_fault(render: Callable[[], Text]) -> Text:
    """Return what `render` returns, or the message of a database that cannot be read for a moment."""
    from rich.text import Text

    try:
        return render()
    except PassingFault as error:
        return Text(str(error))


_RECENT_S = 86_400.0
"""For so long the last failed visits are shown."""
_UNFINISHED = {
    "runs": "running for {} ({})",
    "killed": "killed; began {} ago ({})",
}


def status_lines(status: CatalogStatus, path: DatabaseUrl, now: float, settings: Settings) -> Iterator[str]:
    """Yield the lines of `geocrawl status`, with the limits of the settings."""
    findings = list(check_status(status, path, now, needs_daemon=False))
    bad = sorted((finding for finding in findings if finding.severity), key=lambda each: -each.severity)
    yield from (f"{'LOOK AT' if finding is bad[0] else '':<11} {finding.subject}: {finding.text}" for finding in bad)
    if not bad:
        yield "well        nothing needs a person"
    if any(status.week.values()):
        yield "this week   endpoints: " + ", ".join(f"{count:,} {name}" for name, count in status.week.items())
    yield f"catalogue   {path}, {_size(status, settings.max_db_bytes)}"
    yield from (f"daemon      {each.text}" for each in findings if each.subject == "daemon" and not each.severity)
    for job in status.jobs:
        yield f"job         {_job(job, now)}"
    yield f"limits      {_limits(settings)}"
    if status.today or status.running:
        counts = [
            f"{count:,} {name.removesuffix('s') if count == 1 else name}"
            for name, count in status.today.items()
            if name != "bytes"
        ]
        yield "today       " + (", ".join(counts) or "nothing visited")
    if status.today.get("bytes") or settings.traffic_per_day_bytes:
        yield f"traffic     {_traffic(status.today.get('bytes', 0), settings.traffic_per_day_bytes)}"
    yield from _service_lines(status)
    for address, reason, at in status.failures:
        if now - at < _RECENT_S:
            yield f"failed      {moment(at)}  {plain(reason, 40)}  {plain(address, 120)}"
    yield from _queue_lines(status, now, settings)
    yield from _host_lines(status, now)
    for source in status.sources:
        yield f"source      {plain(line_of_source(source), 300)}"
    for run in status.runs[:3]:
        yield f"run         {_run(run, now)}"


def _service_lines(status: CatalogStatus) -> Iterator[str]:
    """Yield the lines about services and endpoints."""
    ends = status.endpoints
    yield (
        f"services    {status.services:,} with {counted(status.layers, 'layer')}; endpoints: "
        f"{ends.get('valid', 0):,} valid, {ends.get('invalid', 0):,} invalid, "
        f"{ends.get('unknown', 0):,} without a verdict"
    )
    if status.health:
        order = [state for state in ("alive", "degraded", "unconfirmed", "down", "gone") if state in status.health]
        by_health = ", ".join(f"{status.health[state]:,} {state}" for state in order)
        yield f"health      endpoints: {by_health}; {status.due:,} due for a probe"
    if status.downtimes:
        of = [f"{each.subject} ({'acknowledged' if each.is_acknowledged else 'planned'})" for each in status.downtimes]
        more = f" and {len(of) - 5} more" if len(of) > 5 else ""
        yield f"downtime    {plain(', '.join(of[:5]), 300)}{more}; `geocrawl watch downtime`"
    if status.reasons:
        yield f"not valid   {_by_reason(status.reasons, 6)}"
    if status.tls:
        yield f"TLS         not verified at valid endpoints: {_by_reason(status.tls, len(status.tls))}"


def _queue_lines(status: CatalogStatus, now: float, settings: Settings) -> Iterator[str]:
    """Yield the lines about pages and the queue."""
    frontier = status.frontier
    yield "pages       " + ", ".join(f"{state} {count:,}" for state, count in frontier.states.items())
    if status.refused:
        yield f"refused     pages and probes: {_by_reason(status.refused, 8)}"
    for site in status.held_sites[:5]:
        yield (
            f"quarantined {site.site}: many similar services ({plain(site.pattern, 100)}); review it, then "
            f"`geocrawl release {site.site}` or `geocrawl forget {site.site}`"
        )
    if status.blocked:
        yield f"forgotten   {counted(status.blocked, 'host')} removed on request (`geocrawl forget --list`)"
    waiting = counted(sum(frontier.waiting_by_tier.values()), "page")
    probes = counted(frontier.probes_waiting, "probe")
    yield f"queue       {waiting} and {probes}; strategy {status.strategy or '-'}"
    yield from (f"    {line}" for line in queue_of(frontier, settings.set).lines())
    if status.order_agreement is not None:
        agreement = f"{status.order_agreement:.2f}, over waiting pages"
        yield f"order       Spearman's coefficient with the priorities: {agreement}"
    if status.next:
        dues = (f"{_NEXT[what]} {'now' if at <= now else 'in ' + span(at - now)}" for what, at in status.next.items())
        yield "next        " + ", ".join(dues)
    if status.held:
        yield "memory      " + ", ".join(f"{what} {count:,}" for what, count in status.held.items())


def _host_lines(status: CatalogStatus, now: float) -> Iterator[str]:
    """Yield the lines about hosts: how many there are, those in back-off, the slow ones."""
    yield f"hosts       {status.frontier.hosts:,}, {status.frontier.hosts_resting:,} in back-off"
    for host in status.resting[:5]:
        waits = f"{host.waiting:,} waiting, back in {span(host.until - now)}"
        yield f"            {plain(host.name, 80)}: {waits}, {counted(host.errors, 'error')} in a row"
    for slow in status.slow[:3]:
        probes = counted(slow.probes, "probe")
        yield f"slow        {plain(slow.name, 80)}: {slow.average_ms / 1000:.1f} s on average in {probes}"


def _by_reason(counts: Mapping[str, int], most: int) -> str:
    """Return the first `most` codes with their counts, and the sum of all others."""
    shown = list(counts.items())[:most]
    others = sum(counts.values()) - sum(count for _, count in shown)
    return ", ".join(f"{code} {count:,}" for code, count in [*shown, *([("others", others)] if others else [])])


_NEXT = {"probe": "a service is probed again", "page": "a page is read again", "retry": "a failed visit is retried"}


def _limits(settings: Settings) -> str:
    """Return the daemon's limits; those of database size and traffic have lines of their own."""
    pages = f"{settings.pages_per_day:,} pages a day" if settings.pages_per_day else "no limit of pages a day"
    lists = (
        f"{name} {_list(entries)}" for name, entries in (("allow", settings.allow), ("deny", settings.deny)) if entries
    )
    return ", ".join([pages, f"{settings.hours} UTC" if settings.hours else "at all hours", *lists])


def _list(entries: Sequence[str]) -> str:
    """Return the first three entries of a list, and how many more there are."""
    more = f" and {len(entries) - 3:,} more" if len(entries) > 3 else ""
    return plain(" ".join(entries[:3]), 120) + more


def _job(job: JobRun, now: float) -> str:
    """Return a job's last run, its next run and its last error."""
    last = f"last run {span(now - job.last_run)} ago, {job.seconds:.1f} s" if job.last_run else "has not run yet"
    next_run = "at work" if job.next_run is None else f"next in {span(job.next_run - now)}"
    error = f"; failed {moment(job.failed_at)}: {plain(job.last_error, 120)}" if job.failed_at else ""
    return f"{job.name:<9}  {next_run}; {last}{error}"


def _size(status: CatalogStatus, max_bytes: int) -> str:
    used = f"{status.size.used_bytes / 2**20:,.1f} MiB"
    if not max_bytes:
        return used
    over = ", over its limit" if status.size.used_bytes > max_bytes else ""
    return f"{used} of {max_bytes / 2**20:,.1f} MiB{over}"


def _traffic(received_bytes: int, max_bytes: int) -> str:
    received = f"{received_bytes / 2**20:,.1f} MiB received today"
    if not max_bytes:
        return received
    of = f"{received} of {max_bytes / 2**20:,.1f} MiB"
    if received_bytes >= max_bytes:
        return f"{of}: no requests until midnight UTC"
    return f"{of}: probes only until midnight UTC" if received_bytes >= PAGES_SHARE * max_bytes else of


def _run(run: Run, now: float) -> str:
    if run.ended_at is None:
        end = _UNFINISHED[run.state]
        return f"{moment(run.started_at)}  {run.strategy}: {end.format(span(now - run.started_at), run.owner)}"
    pages, valid = run.pages or 0, run.services or 0
    why = RUN_ENDS.get(run.stopped or "", run.stopped)
    result = f"{counted(pages, 'page')}, {valid:,} valid in {span(run.ended_at - run.started_at)}; ended: {why}"
    return f"{moment(run.started_at)}  {run.strategy}: {result}"


def check(
    overrides: opt.Overrides,
    silent_for: Annotated[
        int, typer.Option("--silent-for", metavar="HOURS", help="Warn when nothing was visited for this many hours.")
    ] = 6,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Make the search index again instead; exit: 0 it was good, 1 repaired, 3 damage elsewhere."
        ),
    ] = False,
    json: opt.Json = False,
) -> None:
    """Print a line for monitoring, one for each other finding, and exit with 0 ok, 1 warning, 2 critical or 3 unknown.

    That is the form of a Nagios plugin.
    """
    if repair:
        _repair(overrides)
        return
    findings, status = check_database(opt.connection(overrides), silent_s=silent_for * 3600)
    state = worst(findings)
    text = f"{state.subject}: {state.text}" if state.subject != "database" else state.text
    if status is not None and not state.severity:
        pages = counted(status.today.get("pages", 0), "page")
        text = f"{counted(status.health.get('alive', 0), 'endpoint')} alive, {pages} today"
    values = _performance_data(status) if status else {}
    bad = [_as_json(finding) for finding in findings if finding.severity]
    data = " ".join(f"{name}={value}" for name, value in values.items())
    line = f"GEOCRAWL {state.severity.name} - {text}" + (f" | {data}" if data else "")
    value = {"state": state.severity.name.lower(), "text": text, **values, "findings": bad}
    others = (each for each in findings if each.severity and each is not state)
    lines = line, *(f"{each.severity.name} - {each.subject}: {each.text}" for each in others)
    output.print_lines(lines, json=json, value=value)
    if state.severity:
        raise typer.Exit(state.severity)


def _as_json(finding: Finding) -> dict[str, object]:
    return {**asdict(finding), "severity": finding.severity.name.lower()}


def doctor(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Look at settings, database, disk, clock, name service, proxy, permissions and unit, and say what to do.

    Exit code 1 when something is to be done. Nothing is changed, and no site is asked.
    """
    findings = list(examine(overrides, time.time()))
    lines = (f"{'TO DO' if finding.severity else 'ok':<6} {finding.subject:<12} {finding.text}" for finding in findings)
    rows = [
        {"what": finding.subject, "good": not finding.severity, "said": finding.text, **_as_json(finding)}
        for finding in findings
    ]
    output.print_lines(lines, json=json, value=rows)
    if worst(findings).severity:
        raise typer.Exit(1)


def examine(overrides: opt.Overrides, now: float) -> Iterator[Finding]:
    """Yield what is found of each thing that geocrawl needs; settings that cannot be read hide what they name."""
    from geocrawl.cli.daemon import UNIT, unit_text

    options, files = opt.options_and_files(overrides)
    findings, settings = check_settings(options, os.environ, opt.current_folder(), files)
    yield from findings
    yield check_unit(Path(f"/{UNIT}"), unit_text)
    if settings is None:
        return
    yield check_contact(settings)
    yield from check_machine(settings, os.environ)
    place = opt.database_path_from(settings)
    if isinstance(place, Path) and not place.exists():
        sentence = f"{place}: no database yet; `geocrawl crawl URL` or `seeds add URL` makes it"
        yield Finding("database-missing", Severity.OK, "database", sentence)
        return
    yield from check_database(opt.connection(overrides), now, needs_daemon=False)[0]


def _repair(overrides: opt.Overrides) -> None:
    """Make the search index again; exit with 0 when nothing was wrong with it, with 1 when something was.

    Raises DatabaseFault (exit code 3) for a file with damage elsewhere, which this does not repair."""
    from geocrawl.store.catalogue.index.upkeep import index_again, is_complete, is_sound

    with opt.connection(overrides) as connection:  # before `writing` adds what is missing
        was_good = is_complete(connection)
    with opt.writing(overrides) as store:
        was_good = is_sound(store.database) and was_good
        services = index_again(store.database)
        store.connection.check(math.inf)
    result = "nothing was wrong with it" if was_good else "it was incomplete or damaged, and is repaired"
    typer.echo(f"{store.path}: the search index has {counted(services, 'service')}; {result}")
    if not was_good:
        raise typer.Exit(1)


def _performance_data(status: CatalogStatus) -> Mapping[str, int]:
    """Return the performance data of a monitoring plugin."""
    return {
        "alive": status.health.get("alive", 0),
        "down": status.health.get("down", 0),
        "due": status.due,
        "pages_today": status.today.get("pages", 0),
        "waiting": sum(status.frontier.waiting_by_tier.values()),
    }


def metrics(
    overrides: opt.Overrides,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File for node_exporter's textfile collector, replaced atomically."),
    ] = None,
    grafana: Annotated[
        bool, typer.Option("--grafana", help="Print a dashboard for Grafana that shows these numbers, as JSON.")
    ] = False,
    alerts: Annotated[
        bool, typer.Option("--alerts", help="Print alert rules for Prometheus on these numbers.")
    ] = False,
) -> None:
    """Print the numbers of `status` in Prometheus' text format; `--grafana` prints a dashboard for them.

    The daemon can write the file by itself (setting metrics_file).

    Example (cron, each minute): geocrawl metrics --out /var/lib/node_exporter/geocrawl.prom
    """
    if grafana:
        typer.echo(opt.shipped("grafana.json", "geocrawl/data/grafana.json").read_text("utf-8"), nl=False)
        return
    if alerts:
        typer.echo(opt.shipped("alerts.yml", "geocrawl/data/alerts.yml").read_text("utf-8"), nl=False)
        return
    from geocrawl.daemon.metrics import write_metrics

    opt.refuse_catalogue(out, overrides)
    with opt.connection(overrides) as connection:
        findings, status = check_connection(connection, connection.now())
    write_metrics(status, findings, opt.settings_from(overrides).traffic_per_day_bytes, out)
