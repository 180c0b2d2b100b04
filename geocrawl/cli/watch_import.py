"""`geocrawl watch import`: watch the services of a list, such as GeoHealthCheck's resources."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app.probe import ProbeLine, run_probe
from geocrawl.app.watch_lists import WatchedEntry, read_watched
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.watch import interval_of, recipient_of
from geocrawl.errors import UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Kind, Url
from geocrawl.sanitize import masked, plain
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep.watch_paces import HostLoads
from geocrawl.store.upkeep.watches import Watches
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import counted


@dataclass(frozen=True, slots=True)
class _Row:
    """What became of an entry."""

    place: str
    url: str
    state: str
    """added, known, or refused."""
    service: int | None = None
    why: str = ""


def import_(
    overrides: opt.Overrides,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="GeoHealthCheck's JSON or SQLite file, or addresses.")],
    to: Annotated[
        str, typer.Option("--to", metavar="URL|mail:ADDRESS|file:PATH", help="Who is told: webhook, mail or file.")
    ] = "",
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="Time between two probes \\[as the file says].")
    ] = "",
    tag: Annotated[str, typer.Option("--tag", metavar="TAG", help="Only resources with this tag.")] = "",
    json: opt.Json = False,
) -> None:
    """Watch the services of a list: GeoHealthCheck's resources with their intervals, or an address a line.

    Services that the catalogue does not have are probed first. What cannot be watched is told with its place and why;
    the rest is imported. To import again changes nothing that is there. Exit code 1 when an entry was refused.

    Examples:

        geocrawl watch import data.db --to mail:anna@example.org

        geocrawl watch import resources.json --tag production --every 5m
    """
    settings = opt.settings_from(overrides)
    path = opt.new_database_path_from(settings, overrides)
    recipient, key = recipient_of(to, "", settings, path)
    every_s = interval_of(every)
    chosen = [each for each in read_watched(file) if not tag or tag in each.tags]
    entries = [replace(each, every_s=every_s or each.every_s) for each in chosen]
    if not entries:
        raise UsageError(f"{file}: no resource has the tag {tag!r}")
    with Store.open(path, clock=SystemClock()) as store:
        unknown = [each for each in entries if not each.why_not and _number(store, each) is None]
    why = _probed(settings, path, unknown)
    with Store.open(path, clock=SystemClock()) as store:
        rows = list(_watched(store, settings, entries, why, recipient, key))
    _print(rows, key, json=json)


def _print(rows: Sequence[_Row], key: str, *, json: bool) -> None:
    """Print what became of each entry, the counts, and the new recipient's key. Raises Exit 1 for refused entries."""
    output.print_rows(
        rows,
        ("place", "url", "state", "service", "why"),
        lambda row: (row.place, row.url, row.state, row.service or "", row.why),
        json=json,
        nothing="",
        as_json=asdict,
    )
    counts = {state: sum(row.state == state for row in rows) for state in ("added", "known", "refused")}
    output.say(
        f"{counted(counts['added'], 'service')} added, {counts['known']} watched already, {counts['refused']} refused."
    )
    if key and counts["added"]:
        output.say(f"Key of the signature, shown only now: {key}")
    if counts["refused"]:
        raise typer.Exit(1)


def _number(store: Store, entry: WatchedEntry) -> int | None:
    """Return the number of the service at the address of an entry; None where the catalogue has none."""
    assert entry.url is not None
    detail = Catalogue(store.connection).service_at(entry.url, entry.kind or "")
    is_it = detail is not None and (entry.kind is None or detail.service.kind == entry.kind)
    return detail.service.id if detail is not None and is_it else None


def _probed(settings: Settings, path: DatabaseUrl, entries: Sequence[WatchedEntry]) -> dict[str, str]:
    """Probe the addresses of entries and store the verdicts; return why each was not valid, by its identity."""
    by_kind, why = defaultdict[Kind | None, list[Url]](list), dict[str, str]()
    for each in entries:
        if each.url is not None:
            by_kind[each.kind].append(each.url)

    def note(line: ProbeLine) -> None:
        why[line.given or line.url] = " ".join(filter(None, (line.status, line.reason, line.detail)))

    for kind, urls in by_kind.items():
        run_probe(settings, urls, kind=kind, database=path, list_file=None, emit=note, say=output.say)
    return why


def _watched(
    store: Store,
    settings: Settings,
    entries: Sequence[WatchedEntry],
    why: Mapping[str, str],
    recipient: str,
    key: str,
) -> Iterator[_Row]:
    """Watch the services of entries; yield what became of each."""
    watches, catalogue = Watches(store.database), Catalogue(store.connection)
    loads, now = HostLoads(store.connection, settings), time.time()
    known = {(each.service_id, each.recipient) for each in watches.all()}
    for each in entries:
        shown, number, refused = masked(plain(each.text, 300)), None, each.why_not
        if not refused and each.url is not None and (number := _number(store, each)) is None:
            told = why.get(each.url.address, "")
            refused = f"no service answers there: {masked(plain(told, 200))}".rstrip(": ")
        if (number, recipient) in known and not refused:
            yield _Row(each.place, shown, "known", number)
            continue
        if number is not None:
            try:
                watches.add(
                    *(number, recipient, key, catalogue.numbers, now),
                    every_s=each.every_s,
                    settings=settings,
                    loads=loads,
                )
            except UsageError as error:
                refused = str(error)
        if not refused:
            known.add((number, recipient))
        yield _Row(each.place, shown, "refused" if refused else "added", number, refused)
    watches.set_paces(settings, now)
