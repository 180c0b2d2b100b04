"""`geocrawl show`, `why`, `history` and `changes`: what is known about a service or an address, now and over time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from geocrawl.app.recognise import explain
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import read_seed, service_address
from geocrawl.cli.output import show_in_full
from geocrawl.crawler.report import LINK_LEVELS, PAGE_LEVELS
from geocrawl.detect import Detector
from geocrawl.errors import NothingFound, UsageError
from geocrawl.model import LATE_TIER, State, SubQueue, Url
from geocrawl.model.availability import likely_availability
from geocrawl.model.catalogue import Layer
from geocrawl.model.details import EndpointHistory, EndpointRow, ServiceDetail, UrlRow, Why
from geocrawl.model.downtimes import EXCUSED
from geocrawl.model.health import DAY_S
from geocrawl.model.kinds import short_name
from geocrawl.probe.registry import declarations
from geocrawl.sanitize import plain
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.wording import counted, moment, percent, read_duration, seconds, span, spell_downtime

_LIKELY_DAYS = 30
_NAME_WIDTH = 40
"""Columns of a terminal that names of layers are given at most, before their titles."""


def show(
    overrides: opt.Overrides,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Its number (see search), or an address of it.")],
    json: opt.Json = False,
) -> None:
    """Print everything known about one service: its layers, its addresses, how it was found."""
    show_in_full(opt.settings_from(overrides).export_secrets)
    with opt.reading(overrides) as catalogue:
        number = opt.number_of(service)
        detail = _service_at(catalogue, service) if number is None else catalogue.service(number)
    if detail is None:
        raise NothingFound(f"no service {service} in the catalogue (`geocrawl search` lists services)")
    output.print_lines(service_lines(detail), json=json, value=_detail_value(detail))


def _service_at(catalogue: Catalogue, text: str) -> ServiceDetail | None:
    """Return the service at an address; of several, the one of the kind that the address names."""
    url = service_address(text)
    candidate = Detector(declarations()).of_url(url)
    return catalogue.service_at(url, str(candidate.endpoint.kind) if candidate else "")


def _detail_value(detail: ServiceDetail) -> Mapping[str, object]:
    """Return a service for JSON: its columns, and under `layers` and `endpoints` what these count."""
    value = asdict(detail)
    service = value.pop("service")
    del value["histories"], value["news"]  # `geocrawl history` has them
    return {**service, **value, "best": service["url"], "layer_count": service["layers"]}


def service_lines(detail: ServiceDetail) -> Iterator[str]:
    """Yield the lines of `geocrawl show`: the service, its layers as a tree, its endpoints with their evidence."""
    service = detail.service
    yield f"{short_name(service.kind)} {service.version}  {plain(service.title, 200)}   (service {service.id})"
    facts = {
        "abstract": service.abstract,
        "keywords": ", ".join(service.keywords),
        "provider": service.provider,
        "contact": ", ".join(str(value) for value in service.contact.values()),
        "fees": service.fees,
        "access": service.access_constraints,
        "licence": service.licence,
        "language": service.language,
        "formats": ", ".join(service.formats),
        "extent": ", ".join(f"{side:g}" for side in service.box) if service.box else "",
        "read by": {"owslib": "OWSLib"}.get(detail.read_by, detail.read_by),
    }
    for name, value in facts.items():
        if value:
            yield f"  {name:<9} {plain(value, 600)}"
    yield f"  quality   {service.quality} of 100: {', '.join(_points(detail))}"
    yield f"  first seen {moment(seconds(service.first_seen))}, last valid {moment(seconds(service.last_ok))} UTC"
    if detail.twins:
        others = (f"{short_name(kind)} (service {number})" for number, kind in detail.twins.items())
        yield f"  also as   {', '.join(others)}"
    yield f"  {counted(service.layers, 'named layer')}"
    yield from _layer_lines(detail.layers[:200])
    if len(detail.layers) > 200:
        yield f"    … and {len(detail.layers) - 200:,} more (--json has all)"
    if len(detail.endpoints) > 1 or detail.same:
        yield from _same_lines(detail)
    for endpoint in detail.endpoints:
        yield from endpoint_lines(endpoint)


def _layer_lines(layers: Sequence[Layer]) -> Iterator[str]:
    """Yield the names of layers as a tree, with their titles in a column of their own."""
    from rich.cells import cell_len

    depth: dict[int, int] = {}
    for layer in layers:
        depth[layer.position] = depth.get(layer.parent, 0) + 1 if layer.parent is not None else 0
    names = ["  " * min(depth[layer.position], 12) + plain(layer.name or "(group)", 80) for layer in layers]
    width = min(max(map(cell_len, names), default=0), _NAME_WIDTH)
    for name, layer in zip(names, layers, strict=True):
        yield f"    {name}{' ' * max(width - cell_len(name), 0)}  {plain(layer.title, 120)}".rstrip()


def _points(detail: ServiceDetail) -> Iterator[str]:
    """Yield the parts of the score with their points: `proven 25/25`; those that are not known, as such."""
    for name, part in detail.quality_parts.items():
        yield f"{name} not known" if part.share is None else f"{name} {part.share * part.weight:.3g}/{part.weight}"


def _same_lines(detail: ServiceDetail) -> Iterator[str]:
    """Yield why several addresses are one service, and which is the best."""
    yield f"  {counted(len(detail.endpoints), 'address')}; the best is {detail.service.url}"
    for each in detail.same[:20]:
        joined = "is" if each.same else "is not"
        yield f"    {each.first} {joined} {each.second}"
        yield f"      {each.signal}: {plain(each.detail, 200)}"


def endpoint_lines(endpoint: EndpointRow) -> Iterator[str]:
    from geocrawl.urls import capabilities_address

    verdict = f"{endpoint.status or 'no verdict'}" + (f" ({endpoint.reason})" if endpoint.reason else "")
    yield f"  {plain(endpoint.url, 300)}"
    probed = counted(endpoint.probes, "time")
    yield f"    {endpoint.kind} {verdict}, probed {probed}, last {moment(endpoint.last_probe)} UTC"
    if endpoint.status == "valid" and (request := capabilities_address(endpoint.kind, endpoint.url)):
        yield f"    capabilities: {plain(request, 400)}"
    if endpoint.detail:
        yield f"    {plain(endpoint.detail, 300)}"
    if endpoint.entry_id is not None:
        yield f"    in the log: visit={endpoint.entry_id}.…"
    if endpoint.level:
        yield f"    {endpoint.level}, content checked {moment(endpoint.proved_at)} UTC"
    for each in endpoint.proof:
        layer, detail = plain(str(each["layer"]), 60), plain(str(each["detail"]), 120)
        yield f"      {each['outcome']}  {layer}  {each['crs']}  {each['milliseconds']} ms  {detail}"
    if endpoint.deviations:
        yield "    tolerated: " + ", ".join(plain(str(d.get("code", "")), 60) for d in endpoint.deviations)
    for evidence in endpoint.evidence[:5]:
        anchor = f" “{plain(str(evidence['anchor']), 80)}”" if evidence["anchor"] else ""
        where = plain(str(evidence["page"]), 200) or "the command line"
        yield f"    found by {evidence['signal']}{anchor} on {where}"


def why(
    overrides: opt.Overrides,
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of a page or a service.")],
    json: opt.Json = False,
) -> None:
    """Explain an address: state, rank and its parts, depth, where it was found, what refused it."""
    address = read_seed(url, may_be_masked=True)
    settings = opt.settings_from(overrides)
    known, strategy, parts, refused = explain(settings, opt.database_path_from(settings), address, output.say)
    value = {"url": address.address, "strategy": strategy, "rank": parts, "rule": refused, **asdict(known)}
    if known.page is not None and known.page.sub_queue is not None:
        each = SubQueue.read(known.page.sub_queue)
        value["sub_queue"] = {"priority": each.priority, "link": int(each.link), "page": int(each.page)}
    output.print_lines(why_lines(address, known, strategy, parts, refused, time.time()), json=json, value=value)
    if known.page is None and not known.endpoints:
        raise typer.Exit(1)


def why_lines(
    address: Url, known: Why, strategy: str, parts: Mapping[str, object], refused: str, now: float
) -> Iterator[str]:
    """Yield the lines of `geocrawl why`."""
    yield address.address
    if known.page is None and not known.endpoints:
        yield "  unknown: no visited page links to it" + (f"; it would be refused: {refused}" if refused else "")
        return
    if refused:
        yield f"  it is not visited now: {refused}"
    if known.page is not None:
        yield from _page_lines(known, known.page, strategy, parts, now)
    for endpoint in known.endpoints:
        yield "  as a service:"
        for line in endpoint_lines(endpoint):
            yield f"  {line}"


def _page_lines(known: Why, page: UrlRow, strategy: str, parts: Mapping[str, object], now: float) -> Iterator[str]:
    reason = f" ({page.reason})" if page.reason and page.reason != "ok" else ""
    yield f"  {page.state}{reason}, depth {page.depth}, tier {page.tier}, score {page.score:g}, strategy {strategy}"
    if page.tier == LATE_TIER and page.state == State.WAITING:
        yield "  visited when nothing else waits: addresses that differ only in numbers and values brought nothing new"
    if page.sub_queue is not None:
        each = SubQueue.read(page.sub_queue)
        levels = f"{LINK_LEVELS[each.link]}; on a page of relevance {each.page:d}"
        yield f"  sub-queue of priority {each.priority:.1f}: {'start pages' if page.found_in == 'seed' else levels}"
    if parts:
        features = parts.get("features")
        shown = {name: each for name, each in parts.items() if name not in _IN_WORDS and each not in ({}, [])}
        yield "  rank: " + ", ".join(f"{name} {_value(value)}" for name, value in shown.items())
        yield from _experience_lines(parts)
        if isinstance(features, Mapping):
            yield from _feature_lines(features)
    parent = known.parent
    if page.found_in == "seed" or parent is None:
        source = f", source: {plain(known.source, 300)}" if known.source else ""
        yield f"  start page, added {moment(page.first_seen)} UTC{source}"
    else:
        anchor = f" “{plain(page.anchor, 120)}”" if page.anchor else ""
        carrier = f"{'link' if page.found_in in (None, 'a') else page.found_in}{anchor}"
        yield f"  found {moment(page.first_seen)} UTC as {carrier} on {plain(parent.address, 300)}"
    if page.settled_at is not None:
        answer = f"HTTP {page.http_status}" if page.http_status else "no answer"
        size = f", {page.size_bytes:,} bytes" if page.size_bytes else ""
        yield f"  visited {moment(page.settled_at)} UTC: {answer}, {page.content_type or 'no type'}{size}"
        yield from _relevance_lines(page)
        yield f"  in the log: visit={page.id}.…"
    if page.attempts:
        again = f"; again in {span(page.retry_at - now)}" if page.retry_at else ""
        yield f"  failed {counted(page.attempts, 'time')}{again}"
    if page.host_next_at > now:
        yield f"  its host {page.host} is in delay or back-off for {span(page.host_next_at - now)}"


_IN_WORDS = ("features", "group", "visits", "brought")
"""Parts of a rank that have lines of their own."""


def _experience_lines(parts: Mapping[str, object]) -> Iterator[str]:
    """Yield what visits by links of the same group, and requests like this one, have brought so far."""
    group, visits, brought = (parts.get(name) for name in ("group", "visits", "brought"))
    if isinstance(group, Mapping) and group:
        of_group = "{finds:g} of {visits:g} visits found services".format_map(group)
        of_place = "{place_finds:g} of {place_visits:g}".format_map(group)
        yield f"    links at this place of pages with such an address: {of_group}; of any page of the host: {of_place}"
    if isinstance(visits, Mapping) and isinstance(brought, Mapping) and visits:
        each = "; ".join(f"{name} ({count}, reward {brought.get(name, 0):g})" for name, count in visits.items())
        yield f"    requests so far: {each}"


def _feature_lines(features: Mapping[str, float]) -> Iterator[str]:
    """Yield what a value was made of: features of the link that speak for it, and those that speak against it."""
    for said, sign in (("for it", 1), ("against it", -1)):
        weights = [(name, weight) for name, weight in features.items() if weight * sign > 0]
        if weights:
            yield f"    features that speak {said}: " + "; ".join(f"{name} ({weight:+.2f})" for name, weight in weights)


def _relevance_lines(page: UrlRow) -> Iterator[str]:
    """Yield the relevance of a visited page, and what the visit led to."""
    if page.relevance is not None:
        yield f"  {PAGE_LEVELS[page.relevance]} (score {page.page_score or 0:.4f})"
    if page.visit_tier is not None:
        yield f"  visited in tier {page.visit_tier}: it led to {'a new service' if page.led else 'no new service'}"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_value(each)}" for name, each in value.items()) or "none"
    if isinstance(value, list | tuple):
        return " ".join(str(each) for each in value) or "none"
    return str(value)


def history(
    overrides: opt.Overrides,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Its number (see search), or an address of it.")],
    json: opt.Json = False,
) -> None:
    """Print the history of one service: health, availability, response times, changes.

    Example: geocrawl history 17
    """
    number = opt.number_of(service)
    with opt.reading(overrides) as catalogue:
        if number is None:
            histories = catalogue.history_at(service_address(service), time.time())
        else:
            histories = catalogue.history(number, time.time())
    if not histories:
        raise NothingFound(f"no service {service} in the catalogue (`geocrawl search` lists services)")
    lines = (line for each in histories for line in history_lines(each))
    output.print_lines(lines, json=json, value=[asdict(each) for each in histories])


_UNCOUNTED = {"network": "failed, perhaps on the way", **dict.fromkeys(EXCUSED, "failed, in a downtime")}
_FILTERED = "the server's operator can allow the User-Agent (setting contact) or your address"


def history_lines(history: EndpointHistory) -> Iterator[str]:
    """Yield the lines of an endpoint's history."""
    since = f" since {moment(history.since)} UTC" if history.since else ""
    yield f"{short_name(history.kind)}  {plain(history.url, 300)}"
    yield f"  {history.health}{since}; next probe {moment(history.due_at) + ' UTC' if history.due_at else 'none'}"
    shares = [
        f"{counted(days, 'day')} {percent(share)}" for days, share in history.availability.items() if share is not None
    ]
    observed = f"observed since {moment(history.first_seen)} UTC, {counted(history.probes, 'probe')}"
    yield f"  available: {', '.join(shares) or 'too early to say'} ({observed})"
    yield from _likely(history)
    if filtered := sum(event["reason"] == "filtered" for event in history.unasked):
        yield f"  filtered: {counted(filtered, 'probe')}, which availability leaves out; {_FILTERED}"
    held = sum(event["reason"] == "network" for event in history.unasked)
    if excused := sum(event["reason"] in EXCUSED for event in history.unasked):
        yield f"  excused: {counted(excused, 'failure')} in downtimes, which availability leaves out"
    for each in history.downtimes:
        yield f"  downtime {each.id}: {spell_downtime(each)}{f' ({plain(each.note, 200)})' if each.note else ''}"
    if held := held + sum(each.unconfirmed for each in history.sums):
        yield f"  held: {counted(held, 'failure')}, perhaps of the network on the way, which availability leaves out"
    if history.response_ms:
        yield "  response times: " + ", ".join(f"{p} % within {ms:.0f} ms" for p, ms in history.response_ms.items())
    for event in history.events[:20]:
        yield f"  {moment(_number(event['at']))}  {event['before']} → {event['after']}  ({event['reason']})"
    for event in history.unasked[:20]:
        what = _UNCOUNTED.get(str(event["reason"]), "could not be asked")
        yield f"  {moment(_number(event['at']))}  {what}  ({event['reason']})"
    for change in history.changes[:20]:
        yield f"  {moment(_number(change['at']))}  {_change(change)}"


def _likely(history: EndpointHistory) -> Iterator[str]:
    """Yield between which bounds the availability lies, where enough probes tell."""
    since = history.sums[-1].last_at - _LIKELY_DAYS * DAY_S if history.sums else 0.0
    recent = [each for each in history.sums if each.first_at >= since]
    probes = sum(each.probes for each in recent)
    if bounds := likely_availability(sum(each.valid for each in recent), probes):
        low, high = bounds
        of = f"{counted(probes, 'probe')} in {_LIKELY_DAYS} days"
        yield f"  likely available: {low * 100:.1f}–{high * 100:.1f} % ({of})"


def _change(row: object) -> str:
    assert isinstance(row, dict), "rows are mappings"
    if row["what"] == "health" and row["before"] == "new":
        return "new" if row["after"] == "alive" else f"new, {plain(str(row['after']), 60)}"
    name = f" {plain(str(row['name']), 80)}" if row["name"] else ""
    before, after = (plain(str(row[side]), 60) for side in ("before", "after"))
    return f"{row['what']}{name}: {before or '(nothing)'} → {after or '(nothing)'}"


def _number(value: object) -> float:
    assert isinstance(value, int | float), "times are numbers"
    return float(value)


def changes(
    overrides: opt.Overrides,
    since: Annotated[str, typer.Option("--since", metavar="DURATION", help="How far back, such as 12h or 7d.")] = "7d",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Print at most this many rows.")] = 200,
    json: opt.Json = False,
) -> None:
    """Print recent changes: services that died or came back, layers added and removed, new titles.

    Example: geocrawl changes --since 30d --json
    """
    try:
        seconds = read_duration(since)
    except ValueError as error:
        raise UsageError(f"--since {since!r}: {error}") from None
    with opt.reading(overrides) as catalogue:
        rows = list(catalogue.changes(time.time() - seconds, limit + 1))
    nothing = f"Nothing changed in the last {since}."
    columns = ("at", "kind", "address", "change")
    output.print_rows(rows[:limit], columns, _change_cells, json=json, nothing=nothing, as_json=dict)
    if len(rows) > limit and not json:
        typer.echo(f"the latest {limit:,}; --limit N prints more", err=True)


def _change_cells(row: Mapping[str, object]) -> tuple[str, ...]:
    return moment(_number(row["at"])), short_name(str(row["kind"])), str(row["url"]), _change(row)
