"""Compose the lines of `geocrawl status`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.daemon.budget import PAGES_SHARE
from geocrawl.sanitize import plain
from geocrawl.utc import moment, span

if TYPE_CHECKING:
    from geocrawl.settings import Settings
    from geocrawl.store import CatalogStatus, Run


_SILENT_S = 30.0
"""Seconds without a heartbeat after which a daemon counts as silent; it writes one every five seconds."""


def status_lines(status: CatalogStatus, path: Path, now: float, settings: Settings) -> Iterator[str]:
    """Yield the lines of `geocrawl status`, with the limits of the settings."""
    frontier, ends = status.frontier, status.endpoints
    yield f"catalogue   {path}, {_size(status, settings.max_db_bytes)}"
    yield f"daemon      {_daemon(status, now)}"
    yield f"limits      {_limits(settings)}"
    if status.today or status.running:
        counts = [f"{count:,} {name}" for name, count in status.today.items() if name != "bytes"]
        yield "today       " + (", ".join(counts) or "nothing visited")
    if status.today.get("bytes") or settings.traffic_per_day_bytes:
        yield f"traffic     {_traffic(status.today.get('bytes', 0), settings.traffic_per_day_bytes)}"
    yield (
        f"services    {status.services:,} with {status.layers:,} layers; endpoints: {ends.get('valid', 0):,} valid, "
        f"{ends.get('invalid', 0):,} invalid, {ends.get('unknown', 0):,} without a verdict"
    )
    if status.health:
        order = [state for state in ("alive", "degraded", "down", "gone") if state in status.health]
        by_health = ", ".join(f"{status.health[state]:,} {state}" for state in order)
        yield f"health      {by_health}; {status.due:,} due for a probe"
    if status.reasons:
        yield "not valid   " + ", ".join(f"{reason} {n:,}" for reason, n in list(status.reasons.items())[:6])
    if status.tls:
        yield "TLS         not verified at valid endpoints: " + ", ".join(
            f"{code} {n:,}" for code, n in status.tls.items()
        )
    states = {str(state): count for state, count in frontier.states.items()}
    yield "pages       " + ", ".join(f"{state} {count:,}" for state, count in states.items())
    if status.refused:
        yield "skipped     " + ", ".join(f"{reason} {n:,}" for reason, n in list(status.refused.items())[:8])
    for site in status.held_sites[:5]:
        yield (
            f"quarantined {site.site}: many similar services ({plain(site.pattern, 100)}); review it, then "
            f"`geocrawl release {site.site}` or `geocrawl forget {site.site}`"
        )
    if status.blocked:
        yield f"forgotten   {status.blocked:,} hosts removed on request (`geocrawl forget --list`)"
    tiers = "  ".join(f"[{tier}] {count:,}" for tier, count in frontier.waiting_by_tier.items())
    yield f"queue       {tiers or 'empty'}   (strategy {status.strategy or '-'}; {frontier.probes_waiting:,} probes)"
    if status.next:
        dues = (f"{_NEXT[what]} {'now' if at <= now else 'in ' + span(at - now)}" for what, at in status.next.items())
        yield "next        " + ", ".join(dues)
    if status.held:
        yield "memory      " + ", ".join(f"{what} {count:,}" for what, count in status.held.items())
    yield f"hosts       {frontier.hosts:,}, {frontier.hosts_resting:,} in back-off"
    for host in status.resting[:5]:
        waits = f"{host.waiting:,} waiting, back in {span(host.until - now)}"
        yield f"            {plain(host.name, 80)}: {waits}, {host.errors} errors in a row"
    for slow in status.slow[:3]:
        yield f"slow        {plain(slow.name, 80)}: {slow.average_ms / 1000:.1f} s on average in {slow.probes:,} probes"
    for run in status.runs[:3]:
        yield f"run         {_run(run, now)}"
    for address, reason, at in status.failures:
        yield f"failed      {moment(at)}  {plain(reason, 40)}  {plain(address, 120)}"


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


def _daemon(status: CatalogStatus, now: float) -> str:
    holder = status.daemon
    if holder is None or not status.running:
        return "not running" + ("; paused (`geocrawl resume`)" if status.paused else "")
    since = f"process {holder.pid} on {holder.machine} for {span(now - holder.since)}"
    if now - holder.beat > _SILENT_S:
        silent = (
            f"nothing written for {span(now - holder.beat)}: the database may be locked or its disk full; see its log"
        )
        return f"running, {since}; {silent}"
    return f"{'paused' if status.paused else 'running'}, {since}: {plain(holder.state, 80) or 'starting'}"


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
        end = f"unfinished after {span(now - run.started_at)}, running or killed ({run.owner})"
        return f"{moment(run.started_at)}  {run.strategy}: {end}"
    pages, valid = run.pages or 0, run.services or 0
    result = f"{pages:,} pages, {valid:,} valid in {span(run.ended_at - run.started_at)}; ended: {run.stopped}"
    return f"{moment(run.started_at)}  {run.strategy}: {result}"
