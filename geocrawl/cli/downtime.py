"""`geocrawl watch downtime` and `ack`: plan downtime of services, and acknowledge their failures."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.watch import subject_of
from geocrawl.errors import UsageError
from geocrawl.model.downtimes import Downtime, read_moment, read_weekly, read_zone
from geocrawl.sanitize import plain
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep.downtimes import Downtimes
from geocrawl.wording import spell_downtime


def downtime(
    overrides: opt.Overrides,
    subject: Annotated[
        str, typer.Argument(metavar="SERVICE|HOST", help="Number or address of a service, or a host's name.")
    ] = "",
    begin: Annotated[str, typer.Option("--from", metavar="TIME", help="When it begins \\[now].")] = "",
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="When it ends.")] = "",
    weekly: Annotated[
        str, typer.Option("--weekly", metavar="'DAYS HH:MM-HH:MM'", help="Days and hours of each week.")
    ] = "",
    zone: Annotated[str, typer.Option("--zone", metavar="ZONE", help="Time zone of these times.")] = "UTC",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What it is for.")] = "",
    remove: Annotated[int, typer.Option("--remove", metavar="ID", help="Remove a downtime or acknowledgement.")] = 0,
    json: opt.Json = False,
) -> None:
    """Plan downtime of a service, or of all services of a host; without either, list what is planned.

    A failure in it is neither told nor counted in availability (docs/alerts.md). One of each week goes on until --to.

    Examples:

        geocrawl watch downtime 17 --from '2026-12-05 20:00' --to '2026-12-06 04:00' --zone Europe/Berlin

        geocrawl watch downtime maps.example.org --weekly 'sun 02:00-04:00' --zone Europe/Berlin

        geocrawl watch downtime --remove 3
    """
    if remove and subject:
        raise UsageError("--remove takes the number of a downtime alone")
    if remove:
        _remove(overrides, remove)
        return
    if not subject:
        _list(overrides, json=json)
        return
    if not (weekly or end):
        raise UsageError("give --to (when it ends), --weekly (days and hours of each week), or both")
    now = time.time()
    starts_at, ends_at = _times(begin, end, weekly, zone)
    with opt.writing(overrides) as store:
        planned = Downtimes(store.database).plan(
            _service_or_host(Catalogue(store.connection), subject),
            starts_at=now if starts_at is None else starts_at,
            ends_at=ends_at,
            weekly=weekly.lower(),
            zone=zone,
            note=note,
            at=now,
        )
    _say(planned, json=json)


def ack(
    overrides: opt.Overrides,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Number or address of a service.")],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What is known of it.")] = "",
    json: opt.Json = False,
) -> None:
    """Acknowledge the failures of a service: until it is well again they are neither told nor counted.

    That it returned is told. `geocrawl watch downtime` lists acknowledgements and removes them.

    Example: geocrawl watch ack 17 --note 'moves to a new server, ticket 212'
    """
    with opt.writing(overrides) as store:
        number = _service(Catalogue(store.connection), service)
        known = Downtimes(store.database).acknowledge(number, time.time(), note)
    _say(known, json=json)


def _times(begin: str, end: str, weekly: str, zone: str) -> tuple[float | None, float | None]:
    """Return when a downtime starts and ends, None for now and never. Raises UsageError for what cannot be read."""
    option, given = "--zone", zone
    try:
        read_zone(zone)
        option, given = "--weekly", weekly
        if weekly:
            read_weekly(weekly.lower())
        option, given = "--from", begin
        starts_at = read_moment(begin, zone) if begin else None
        option, given = "--to", end
        return starts_at, read_moment(end, zone) if end else None
    except ValueError as error:
        raise UsageError(f"{option} {given!r}: expected {error}") from None


def _service_or_host(catalogue: Catalogue, text: str) -> int | str:
    """Return the number of the service, or the name of the host, that a text names. Raises UsageError for any other."""
    is_host = "." in text and "://" not in text and "/" not in text and " " not in text
    return text.lower() if is_host else _service(catalogue, text)


def _service(catalogue: Catalogue, text: str) -> int:
    """Return the number of the service that a text names. Raises UsageError for one that names none."""
    number = subject_of(catalogue, text)
    if isinstance(number, str):
        raise UsageError(f"{text!r}: expected the number or address of a service")
    return number


def _say(downtime: Downtime, *, json: bool) -> None:
    text = f"Downtime {downtime.id}: {plain(downtime.subject, 300)}, {spell_downtime(downtime)}"
    output.print_lines((text,), json=json, value=asdict(downtime))


def _list(overrides: opt.Overrides, *, json: bool) -> None:
    with opt.reading(overrides) as catalogue:
        known = catalogue.downtimes()
    now = time.time()
    output.print_rows(
        known,
        ("id", "of", "when", "lasts", "note"),
        lambda each: (each.id, each.subject, spell_downtime(each), _lasts(each, now), each.note),
        json=json,
        nothing="No downtimes: `geocrawl watch downtime SERVICE --to TIME` plans one.",
        as_json=lambda each: {**asdict(each), "lasts": _lasts(each, now)},
    )


def _lasts(downtime: Downtime, now: float) -> str:
    if downtime.end_at(now) is not None:
        return "now"
    return "over" if downtime.ends_at is not None and downtime.ends_at <= now else "later"


def _remove(overrides: opt.Overrides, number: int) -> None:
    with opt.writing(overrides) as store:
        is_removed = Downtimes(store.database).remove(number)
    typer.echo(f"Downtime {number} removed." if is_removed else f"There is no downtime {number}.", err=not is_removed)
    if not is_removed:
        raise typer.Exit(1)
