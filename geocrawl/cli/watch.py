"""`geocrawl watch add`, `list`, `remove` and `send`: tell people of changes in the catalogue."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import asdict
from typing import Annotated

import typer

from geocrawl.app.watches import WatchRound
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import service_address
from geocrawl.cli.search import words_typed
from geocrawl.errors import NothingFound, UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.model.health import LEAST_EVERY_S, MOST_EVERY_S
from geocrawl.model.watches import MOST_FAILURES, Watch
from geocrawl.notices import read_recipient
from geocrawl.sanitize import masked, plain
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep.watches import Watches
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import counted, iso, moment, read_duration, spell_duration


def add(
    overrides: opt.Overrides,
    subject: Annotated[
        list[str], typer.Argument(metavar="SERVICE|QUERY...", help="Number or address of a service, or a query.")
    ],
    to: Annotated[
        str, typer.Option("--to", metavar="URL|mail:ADDRESS|file:PATH", help="Who is told: webhook, mail or file.")
    ] = "",
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="Time between two probes, 1m to 30d \\[by its health].")
    ] = "",
    secret: Annotated[
        str, typer.Option("--secret", metavar="TEXT", help="Key of the webhook's signature \\[a random one].")
    ] = "",
) -> None:
    """Tell somebody when a service dies, returns or loses layers, or when a search finds new services.

    Only what happens from now on is told (docs/alerts.md); the daemon, or `geocrawl watch send`, sends it. Without --to
    the page /status shows the service, and nobody is told. Given again with another --every, the command changes the
    interval of the watch.

    Examples:

        geocrawl watch add 17 --to mail:anna@example.org

        geocrawl watch add 17 --every 5m

        geocrawl watch add 17

        geocrawl watch add 'land use country:DE' --to https://example.org/hook
    """
    every_s, settings = interval_of(every), opt.settings_from(overrides)
    path = opt.database_path_from(settings)
    recipient, key = recipient_of(to, secret, settings, path)
    with Store.open(path, clock=SystemClock(), create=False) as store:
        catalogue = Catalogue(store.connection)
        what = subject_of(catalogue, words_typed(subject).strip())
        if isinstance(what, str):
            if not (to or every):
                raise UsageError("a search: give --to (who is told), --every (how often services are asked), or both")
            output.say_differences(catalogue.find(what, limit=0))
        watches, now = Watches(store.database), time.time()
        before = watches.there(what, recipient)
        if before is not None and every_s not in (None, before.every_s):
            _print_change(before, watches.set_interval(before, every_s, catalogue.numbers, now, settings))
            return
        watch = watches.add(what, recipient, key, catalogue.numbers, now, every_s=every_s, settings=settings)
    how = (f", every {spell_duration(watch.every_s)}" if watch.every_s else "") + (f", to {recipient}" if to else "")
    typer.echo(f"Watch {watch.id}: {plain(watch.subject, 300)}, {counted(watch.services, 'service')} now{how}")
    if key and not secret:
        typer.echo(f"Key of the signature, shown only now: {key}")


def _print_change(before: Watch, watch: Watch) -> None:
    former, now = (
        spell_duration(each.every_s) if each.every_s else "the pace of its health" for each in (before, watch)
    )
    typer.echo(f"Watch {watch.id}: {plain(watch.subject, 300)}, {former} → {now}")


def list_(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """List watches with what waits for delivery and the last error."""
    with opt.writing(overrides) as store:
        found = Watches(store.database).all()
    columns = ("id", "watched", "services", "every", "to", "sent", "waiting", "failures", "again", "error")
    nothing = "No watches: `geocrawl watch add SERVICE --to mail:ADDRESS` adds one."
    output.print_rows(
        found,
        columns,
        _cells,
        json=json,
        nothing=nothing,
        as_json=_as_json,
        least=("failures", "sent", "services", "every"),
    )


def remove(
    overrides: opt.Overrides,
    number: Annotated[int, typer.Argument(metavar="ID", help="Number of the watch (`geocrawl watch list`).")],
) -> None:
    """Remove a watch; what it has not sent yet is dropped."""
    settings = opt.settings_from(overrides)
    with opt.writing(overrides) as store:
        watches = Watches(store.database)
        is_removed = watches.remove(number)
        watches.set_paces(settings, time.time())
    typer.echo(f"Watch {number} removed." if is_removed else f"There is no watch {number}.", err=not is_removed)
    if not is_removed:
        raise typer.Exit(1)


def send(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Look for changes now and send what waits, also where earlier attempts failed; the daemon does so by itself."""
    settings, clock = opt.settings_from(overrides), SystemClock()
    with opt.writing(overrides) as store:
        sent = asyncio.run(WatchRound(settings, store, clock, lambda event, **values: None).send(again=True))
    line = f"{counted(sent.found, 'new notice')}, {counted(sent.messages, 'message')} sent."
    output.print_lines((line,), json=json, value=asdict(sent))
    for failure in () if json else sent.failures:
        output.say(failure)
    if sent.failures:
        raise typer.Exit(3)


def recipient_of(to: str, secret: str, settings: Settings, path: DatabaseUrl) -> tuple[str, str]:
    """Return a recipient as it is stored, and the key of a webhook's signature, '' for others. Raises UsageError."""
    recipient = read_recipient(to, settings, path) if to else ""
    is_webhook = bool(to) and not recipient.startswith(("mail:", "file:"))
    return recipient, (secret or secrets.token_urlsafe(32)) if is_webhook else ""


def interval_of(text: str) -> float | None:
    """Return the seconds that `--every` names; None for ''. Raises UsageError."""
    try:
        every_s = read_duration(text) if text else None
    except ValueError as error:
        raise UsageError(f"--every {text}: expected {error}") from None
    if every_s is not None and not LEAST_EVERY_S <= every_s <= MOST_EVERY_S:
        raise UsageError(f"--every {text}: expected 1 minute to 30 days, such as 5m")
    return every_s


def subject_of(catalogue: Catalogue, text: str) -> int | str:
    """Return the number of the service that a text names by number or address, else the text, which is a query.

    Raises NothingFound for an address at which no service was found, UsageError for a text without a word, which as a
    query would find every service.
    """
    if not any(map(str.isalnum, text)):
        raise UsageError(
            f"{text!r}: names no service and no query; give a service's number or address, or words and conditions "
            "such as 'land use country:DE' (every service: 'alive:yes')"
        )
    if number := opt.number_of(text):
        return number
    if "://" not in text or " " in text:
        return text
    detail = catalogue.service_at(service_address(text))
    if detail is None:
        raise NothingFound(f"{masked(text)}: no service was found there (`geocrawl why` says what is known of it)")
    return detail.service.id


def _as_json(watch: Watch) -> dict[str, object]:
    return {
        "id": watch.id,
        "service": watch.service_id,
        "query": watch.query,
        "to": masked(watch.recipient),
        "services": watch.services,
        "every_s": watch.every_s,
        "sent_at": iso(watch.sent_at),
        "waiting": watch.unsent,
        "failures": watch.failures,
        "retry_at": iso(watch.retry_at) if watch.retry_at else None,
        "error": watch.last_error,
    }


def _cells(watch: Watch) -> tuple[object, ...]:
    error = watch.last_error
    if watch.failures >= MOST_FAILURES:
        error = f"given up, tried once a day: {error}"
    if watch.watches_nothing:
        error = f"watches nothing: its service is no longer in the catalogue; {error}".rstrip("; ")
    sent = moment(watch.sent_at)
    again = moment(watch.retry_at) if watch.failures else ""
    told = (watch.recipient, sent, watch.unsent, watch.failures, again, error)
    every = spell_duration(watch.every_s) if watch.every_s else ""
    return (watch.id, watch.subject, watch.services, every, *told)
