"""`geocrawl history` and `changes`: what happened to services over time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.sanitize import plain
from geocrawl.utc import moment

if TYPE_CHECKING:
    from geocrawl.store import EndpointHistory


def history(
    overrides: opt.Overrides,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Its number (see search), or an address of it.")],
    json: opt.Json = False,
) -> None:
    """Print the history of one service: health, availability, response times, changes.

    Example: geocrawl history 17
    """
    from geocrawl.cli.addresses import service_address
    from geocrawl.urls import endpoint_key

    with opt.reading(overrides) as queries:
        if service.isdecimal() and len(service) < 19:
            found = queries.history_of_service(int(service), time.time())
        else:
            found = queries.history_of_address(endpoint_key(service_address(service)), time.time())
    if not found:
        typer.echo(f"geocrawl: no service {service} in the catalogue (`geocrawl search` lists services)", err=True)
        raise typer.Exit(1)
    if json:
        output.echo_json([asdict(each) for each in found])
        return
    for each in found:
        for line in history_lines(each):
            typer.echo(line)


def history_lines(found: EndpointHistory) -> Iterator[str]:
    """Yield the lines of an endpoint's history."""

    since = f" since {moment(found.since)} UTC" if found.since else ""
    yield f"{found.kind.upper()}  {plain(found.url, 300)}"
    yield f"  {found.health}{since}; next probe {moment(found.due_at) + ' UTC' if found.due_at else 'none'}"
    shares = [f"{days} days {share:.1%}" for days, share in found.availability.items() if share is not None]
    yield f"  available: {', '.join(shares) or 'unknown'}"
    if found.response_ms:
        yield "  response times: " + ", ".join(f"{p} % within {ms:.0f} ms" for p, ms in found.response_ms.items())
    for event in found.events[:20]:
        yield f"  {moment(_number(event['at']))}  {event['before']} → {event['after']}  ({event['reason']})"
    for change in found.changes[:20]:
        yield f"  {moment(_number(change['at']))}  {_change(change)}"


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
    from geocrawl.config.values import read_duration
    from geocrawl.errors import UsageError

    try:
        seconds = read_duration(since)
    except ValueError as error:
        raise UsageError(f"--since {since!r}: {error}") from None
    with opt.reading(overrides) as queries:
        rows = list(queries.changes_since(time.time() - seconds, limit + 1))
    shown = rows[:limit]
    if json:
        output.echo_json(shown)
        return
    for row in shown:
        typer.echo(f"{moment(_number(row['at']))}  {str(row['kind']).upper()}  {plain(str(row['url']), 120)}")
        typer.echo(f"    {_change(row)}")
    if len(rows) > limit:
        typer.echo(f"the latest {limit:,}; --limit N prints more", err=True)
    if not rows:
        typer.echo(f"Nothing changed in the last {since}.", err=True)
