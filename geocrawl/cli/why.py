"""`geocrawl why`: explain what became of one address."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.show import endpoint_lines
from geocrawl.sanitize import plain
from geocrawl.utc import moment, span
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.model import Url
    from geocrawl.store import UrlRow, Why


def why(
    overrides: opt.Overrides,
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of a page or a service.")],
    json: opt.Json = False,
) -> None:
    """Explain an address: state, rank and its parts, depth, where it was found, what refused it."""
    from geocrawl.app.explain import explain
    from geocrawl.cli.addresses import gather_seeds

    asked = gather_seeds([url])[0]
    settings = opt.settings_from(overrides)
    with opt.reading(overrides) as queries:
        found = queries.why(asked)
        strategy, parts, refused = explain(settings, queries, asked, found, _say)
    if json:
        output.echo_json({"url": asked.address, "strategy": strategy, "rank": parts, "rule": refused, **asdict(found)})
    else:
        for line in why_lines(asked, found, strategy, parts, refused, time.time()):
            typer.echo(line)
    if found.page is None and not found.endpoints:
        raise typer.Exit(1)


def _say(line: str) -> None:
    typer.echo(f"geocrawl: {line}", err=True)


def why_lines(
    asked: Url, found: Why, strategy: str, parts: Mapping[str, object], refused: str, now: float
) -> Iterator[str]:
    """Yield the lines of `geocrawl why`."""
    yield asked.address
    if found.page is None and not found.endpoints:
        yield "  unknown: no visited page links to it" + (f"; it would be refused: {refused}" if refused else "")
        return
    if refused:
        yield f"  it is not visited now: {refused}"
    if found.page is not None:
        yield from _page_lines(found, found.page, strategy, parts, now)
    for endpoint in found.endpoints:
        yield "  as a service:"
        for line in endpoint_lines(endpoint):
            yield f"  {line}"


def _page_lines(found: Why, page: UrlRow, strategy: str, parts: Mapping[str, object], now: float) -> Iterator[str]:
    reason = f" ({page.reason})" if page.reason and page.reason != "ok" else ""
    yield f"  {page.state}{reason}, depth {page.depth}, tier {page.tier}, score {page.score:g}, strategy {strategy}"
    if parts:
        yield "  rank: " + ", ".join(f"{name} {_value(value)}" for name, value in parts.items())
    parent = found.parent
    if page.found_in == "seed" or parent is None:
        source = f", source: {plain(found.source, 300)}" if found.source else ""
        yield f"  start page, added {moment(page.first_seen)} UTC{source}"
    else:
        anchor = f" “{plain(page.anchor, 120)}”" if page.anchor else ""
        carrier = f"{'link' if page.found_in in (None, 'a') else page.found_in}{anchor}"
        yield f"  found {moment(page.first_seen)} UTC as {carrier} on {plain(parent.address, 300)}"
    if page.settled_at is not None:
        answer = f"HTTP {page.http_status}" if page.http_status else "no answer"
        size = f", {page.size_bytes:,} bytes" if page.size_bytes else ""
        yield f"  visited {moment(page.settled_at)} UTC: {answer}, {page.content_type or 'no type'}{size}"
        yield f"  page relevance {page.relevance}, score {page.page_score:.4f}" if page.page_score else "  page score 0"
        yield f"  in the log: visit={page.id}.…"
    if page.attempts:
        again = f"; again in {span(page.retry_at - now)}" if page.retry_at else ""
        yield f"  failed {counted(page.attempts, 'time')}{again}"
    if page.host_next_at > now:
        yield f"  its host {page.host} is in delay or back-off for {span(page.host_next_at - now)}"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_value(each)}" for name, each in value.items()) or "none"
    if isinstance(value, list | tuple):
        return " ".join(str(each) for each in value) or "none"
    return str(value)
