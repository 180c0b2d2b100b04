"""Compose the lines of `geocrawl status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from geocrawl.daemon.budget import PAGES_SHARE
from geocrawl.priority.registry import tier_names
from geocrawl.sanitize import plain
from geocrawl.utc import moment, span
from geocrawl.wording import RUN_ENDS, counted

if TYPE_CHECKING:
    from geocrawl.settings import Settings
    from geocrawl.store import CatalogStatus, OpenSnapshot, Run
    from geocrawl.urls.database import Place


_UNFINISHED = {
    "runs": "running for {} ({})",
    "seen": "running for {}, elsewhere ({})",
    "killed": "killed; began {} ago ({})",
    "unknown": "unfinished after {}, running elsewhere or killed ({})",
}
_SILENT_S = 30.0
"""Seconds without a heartbeat after which a daemon counts as silent; it writes one every five seconds."""


def status_lines(status: CatalogStatus, path: Place, now: float, settings: Settings) -> Iterator[str]:
    """Yield the lines of `geocrawl status`, with the limits of the settings."""
    yield f"catalogue   {path}, {_size(status, settings.max_db_bytes)}"
    if status.open_snapshot:
        yield f"snapshot    {snapshot_text(status.open_snapshot, path)}"
    yield f"daemon      {_daemon(status, now)}"
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
    yield from _queue_lines(status, now)
    yield from _host_lines(status, now)
    for run in status.runs[:3]:
        yield f"run         {_run(run, now)}"
    for address, reason, at in status.failures:
        yield f"failed      {moment(at)}  {plain(reason, 40)}  {plain(address, 120)}"


def snapshot_text(held: OpenSnapshot, path: Place) -> str:
    """Return what keeps the database from cleaning up, and what to do, for `status` and `check`."""
    if held.log_bytes is not None:
        return (
            f"the write-ahead log has grown to {held.log_bytes / 2**20:,.0f} MiB, because a program still reads an old "
            f"state of the file, or writes much at once; `fuser {path}` lists who has it open: end the one that hangs"
        )
    return (
        f"open for {span(held.age_s or 0.0)} ({plain(held.holder, 120)}): the server keeps old rows, and tables grow; "
        f"end that program, or run SELECT pg_terminate_backend({held.pid})"
    )


def _service_lines(status: CatalogStatus) -> Iterator[str]:
    """Yield the lines about services and endpoints."""
    ends = status.endpoints
    yield (
        f"services    {status.services:,} with {counted(status.layers, 'layer')}; endpoints: "
        f"{ends.get('valid', 0):,} valid, {ends.get('invalid', 0):,} invalid, "
        f"{ends.get('unknown', 0):,} without a verdict"
    )
    if status.health:
        order = [state for state in ("alive", "degraded", "down", "gone") if state in status.health]
        by_health = ", ".join(f"{status.health[state]:,} {state}" for state in order)
        yield f"health      endpoints: {by_health}; {status.due:,} due for a probe"
    if status.reasons:
        yield f"not valid   {_by_reason(status.reasons, 6)}"
    if status.tls:
        yield f"TLS         not verified at valid endpoints: {_by_reason(status.tls, len(status.tls))}"


def _queue_lines(status: CatalogStatus, now: float) -> Iterator[str]:
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
    names = tier_names(status.strategy or "")
    tiers = "  ".join(f"[{tier}] {count:,}" for tier, count in frontier.waiting_by_tier.items())
    probes = counted(frontier.probes_waiting, "probe")
    yield f"queue       {tiers or 'empty'}   (strategy {status.strategy or '-'}; {probes})"
    for tier, count in frontier.waiting_by_tier.items():
        if tier in names:
            yield f"            [{tier}] {names[tier]}: {counted(count, 'page')}"
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
        end = _UNFINISHED.get(run.state, _UNFINISHED["unknown"])
        return f"{moment(run.started_at)}  {run.strategy}: {end.format(span(now - run.started_at), run.owner)}"
    pages, valid = run.pages or 0, run.services or 0
    why = RUN_ENDS.get(run.stopped or "", run.stopped)
    result = f"{pages:,} pages, {valid:,} valid in {span(run.ended_at - run.started_at)}; ended: {why}"
    return f"{moment(run.started_at)}  {run.strategy}: {result}"
