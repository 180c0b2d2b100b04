"""Answers as lines for people: status, one service, one address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.daemon.budget import PAGES_SHARE
from geocrawl.sanitize import plain
from geocrawl.utc import moment

if TYPE_CHECKING:
    from geocrawl.model import Url
    from geocrawl.settings import Settings
    from geocrawl.store.queries.show import EndpointRow, ServiceDetail
    from geocrawl.store.queries.status import CatalogStatus, Run
    from geocrawl.store.queries.why import UrlRow, Why


def span(seconds: float) -> str:
    """A duration in its two largest units: 3d 4h, 5m 10s."""
    left, out = int(max(seconds, 0)), list[str]()
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        if left >= size or (unit == "s" and not out):
            out.append(f"{left // size}{unit}")
            left %= size
    return " ".join(out[:2])


# --------------------------------------------------------------------------- status

_SILENT_S = 30.0
"""A daemon writes a sign of life every five seconds."""


def status_lines(status: CatalogStatus, path: Path, now: float, settings: Settings) -> Iterator[str]:
    """`geocrawl status` for a person, with the limits that the settings name."""
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
        yield f"health      {by_health}; {status.due:,} to be asked again now"
    if status.reasons:
        yield "not valid   " + ", ".join(f"{reason} {n:,}" for reason, n in list(status.reasons.items())[:6])
    states = {str(state): count for state, count in frontier.states.items()}
    yield "pages       " + ", ".join(f"{state} {count:,}" for state, count in states.items())
    if status.refused:
        yield "left alone  " + ", ".join(f"{reason} {n:,}" for reason, n in list(status.refused.items())[:8])
    for site in status.held_sites[:5]:
        yield (
            f"held        {site.site}: many services alike ({plain(site.pattern, 100)}); look, then "
            f"`geocrawl release {site.site}` or `geocrawl forget {site.site}`"
        )
    if status.blocked:
        yield f"forgotten   {status.blocked:,} hosts on request (`geocrawl forget --list`)"
    tiers = "  ".join(f"[{tier}] {count:,}" for tier, count in frontier.waiting_by_tier.items())
    yield f"queue       {tiers or 'empty'}   (strategy {status.strategy or '-'}; {frontier.probes_waiting:,} probes)"
    if status.next:
        dues = (f"{_NEXT[what]} {'now' if at <= now else 'in ' + span(at - now)}" for what, at in status.next.items())
        yield "next        " + ", ".join(dues)
    if status.held:
        yield "memory      " + ", ".join(f"{what} {count:,}" for what, count in status.held.items())
    yield f"hosts       {frontier.hosts:,}, {frontier.hosts_resting:,} at rest"
    for host in status.resting[:5]:
        waits = f"{host.waiting:,} waiting, back in {span(host.until - now)}"
        yield f"            {plain(host.name, 80)}: {waits}, {host.errors} errors in a row"
    for slow in status.slow[:3]:
        yield f"slow        {plain(slow.name, 80)}: {slow.average_ms / 1000:.1f} s on average in {slow.probes:,} probes"
    for run in status.runs[:3]:
        yield f"run         {_run(run, now)}"
    for address, reason, at in status.failures:
        yield f"failed      {moment(at)}  {plain(reason, 40)}  {plain(address, 120)}"


_NEXT = {"probe": "a service is asked again", "page": "a page is read again", "retry": "a failed visit is tried again"}


def _limits(settings: Settings) -> str:
    """What bounds the daemon, beside the size of the database and the day's traffic, which have lines of their own."""
    pages = f"{settings.pages_per_day:,} pages a day" if settings.pages_per_day else "any number of pages a day"
    lists = (
        f"{name} {_list(entries)}" for name, entries in (("allow", settings.allow), ("deny", settings.deny)) if entries
    )
    return ", ".join([pages, f"{settings.hours} UTC" if settings.hours else "at all hours", *lists])


def _list(entries: Sequence[str]) -> str:
    """The first three of a list of the configuration."""
    more = f" and {len(entries) - 3:,} more" if len(entries) > 3 else ""
    return plain(" ".join(entries[:3]), 120) + more


def _daemon(status: CatalogStatus, now: float) -> str:
    holder = status.daemon
    if holder is None or not status.running:
        return "not running" + ("; paused (`geocrawl resume`)" if status.paused else "")
    since = f"process {holder.pid} on {holder.machine} for {span(now - holder.since)}"
    if now - holder.beat > _SILENT_S:
        silent = (
            f"nothing written for {span(now - holder.beat)}: is the database locked or its disk full? Its log tells"
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
        return f"{of}: all rests until midnight UTC"
    return f"{of}: probes only until midnight UTC" if received_bytes >= PAGES_SHARE * max_bytes else of


def _run(run: Run, now: float) -> str:
    if run.ended_at is None:
        end = f"running for {span(now - run.started_at)} or was killed ({run.owner})"
        return f"{moment(run.started_at)}  {run.strategy}: {end}"
    pages, found = run.pages or 0, run.services or 0
    taken = span(run.ended_at - run.started_at)
    return (
        f"{moment(run.started_at)}  {run.strategy}: {pages:,} pages, {found:,} valid in {taken}; ended: {run.stopped}"
    )


# --------------------------------------------------------------------------- one service


def service_lines(service: ServiceDetail) -> Iterator[str]:
    """`geocrawl show` for a person: the service, its layers as a tree, its endpoints with their evidence."""
    yield f"{service.kind.upper()} {service.version}  {plain(service.title, 200)}   (service {service.id})"
    facts = {
        "abstract": service.abstract,
        "keywords": ", ".join(service.keywords),
        "provider": service.provider,
        "contact": ", ".join(str(value) for value in service.contact.values()),
        "fees": service.fees,
        "access": service.access_constraints,
        "formats": ", ".join(service.formats),
        "extent": ", ".join(f"{side:g}" for side in service.box) if service.box else "",
    }
    for name, value in facts.items():
        if value:
            yield f"  {name:<9} {plain(value, 600)}"
    yield f"  first seen {moment(service.first_seen)}, last valid {moment(service.last_ok)} UTC"
    yield f"  {service.layer_count:,} named layers"
    depth: dict[int, int] = {}
    for layer in service.layers[:200]:
        depth[layer.position] = depth.get(layer.parent, 0) + 1 if layer.parent is not None else 0
        indent = "  " * min(depth[layer.position], 12)
        yield f"    {indent}{plain(layer.name or '(group)', 80)}  {plain(layer.title, 120)}"
    if len(service.layers) > 200:
        yield f"    … and {len(service.layers) - 200:,} more (--json has all)"
    if len(service.endpoints) > 1 or service.same:
        yield from _same_lines(service)
    for endpoint in service.endpoints:
        yield from _endpoint_lines(endpoint)


def _same_lines(service: ServiceDetail) -> Iterator[str]:
    """Why several addresses are one service, and which is the best."""
    yield f"  {len(service.endpoints):,} addresses; the best is {service.best}"
    for each in service.same[:20]:
        joined = "is" if each.same else "is not"
        yield f"    {each.first} {joined} {each.second}"
        yield f"      {each.signal}: {plain(each.detail, 200)}"


def _endpoint_lines(endpoint: EndpointRow) -> Iterator[str]:
    verdict = f"{endpoint.status or 'no verdict'}" + (f" ({endpoint.reason})" if endpoint.reason else "")
    yield f"  {plain(endpoint.url, 300)}"
    yield f"    {endpoint.kind} {verdict}, probed {endpoint.probes} times, last {moment(endpoint.last_probe)} UTC"
    if endpoint.detail:
        yield f"    {plain(endpoint.detail, 300)}"
    if endpoint.entry_id is not None:
        yield f"    in the log: visit={endpoint.entry_id}.…"
    if endpoint.level:
        yield f"    {endpoint.level}, asked for content {moment(endpoint.proved_at)} UTC"
    for each in endpoint.proof:
        layer, detail = plain(str(each["layer"]), 60), plain(str(each["detail"]), 120)
        yield f"      {each['outcome']}  {layer}  {each['crs']}  {each['milliseconds']} ms  {detail}"
    if endpoint.deviations:
        yield "    tolerated: " + ", ".join(plain(str(d.get("code", "")), 60) for d in endpoint.deviations)
    for evidence in endpoint.evidence[:5]:
        anchor = f" “{plain(str(evidence['anchor']), 80)}”" if evidence["anchor"] else ""
        where = plain(str(evidence["page"]), 200) or "the command line"
        yield f"    found by {evidence['signal']}{anchor} on {where}"


# --------------------------------------------------------------------------- one address


def why_lines(
    asked: Url, found: Why, strategy: str, parts: Mapping[str, object], refused: str, now: float
) -> Iterator[str]:
    """`geocrawl why` for a person."""
    yield asked.address
    if found.page is None and not found.endpoints:
        yield "  never seen: no visited page links to it" + (f"; it would be refused: {refused}" if refused else "")
        return
    if refused:
        yield f"  it is not asked now: {refused}"
    if found.page is not None:
        yield from _page_lines(found.page, found.parent, strategy, parts, now)
    for endpoint in found.endpoints:
        yield "  as a service:"
        for line in _endpoint_lines(endpoint):
            yield f"  {line}"


def _page_lines(
    page: UrlRow, parent: UrlRow | None, strategy: str, parts: Mapping[str, object], now: float
) -> Iterator[str]:
    reason = f" ({page.reason})" if page.reason and page.reason != "ok" else ""
    yield f"  {page.state}{reason}, depth {page.depth}, tier {page.tier}, score {page.score:g}, strategy {strategy}"
    if parts:
        yield "  rank: " + ", ".join(f"{name} {_value(value)}" for name, value in parts.items())
    if page.found_in == "seed" or parent is None:
        yield f"  given as a start page, {moment(page.first_seen)} UTC"
    else:
        anchor = f" “{plain(page.anchor, 120)}”" if page.anchor else ""
        carrier = f"{page.found_in or 'a link'}{anchor}"
        yield f"  found {moment(page.first_seen)} UTC as {carrier} on {plain(parent.address, 300)}"
    if page.settled_at is not None:
        answer = f"HTTP {page.http_status}" if page.http_status else "no answer"
        size = f", {page.size_bytes:,} bytes" if page.size_bytes else ""
        yield f"  asked {moment(page.settled_at)} UTC: {answer}, {page.content_type or 'no type'}{size}"
        yield f"  page relevance {page.relevance}, score {page.page_score:.4f}" if page.page_score else "  page score 0"
        yield f"  in the log: visit={page.id}.…"
    if page.attempts:
        again = f"; again in {span(page.retry_at - now)}" if page.retry_at else ""
        yield f"  failed {page.attempts} times{again}"
    if page.host_next_at > now:
        yield f"  its host {page.host} rests for {span(page.host_next_at - now)}"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return " ".join(str(each) for each in value) or "none"
    return str(value)
