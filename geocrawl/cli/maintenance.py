"""Maintain a catalogue: `backup`, `restore`, `migrate`, `merge`, `split`, `forget`, `release`, `retry`, `config`."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app import maintenance
from geocrawl.app.findings import check_settings
from geocrawl.app.maintenance import decide_same
from geocrawl.app.maintenance import retry as put_back
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import NO_SERVICE, read_host, read_seed
from geocrawl.config.show import rows as rows_of
from geocrawl.errors import NothingFound, UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.model.details import Address
from geocrawl.model.kinds import short_name
from geocrawl.sanitize import masked, plain
from geocrawl.store import read_blocked
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep.backup import back_up
from geocrawl.store.upkeep.forget import undo
from geocrawl.store.upkeep.migrate import migrate as copy
from geocrawl.wording import counted, moment


def backup(
    overrides: opt.Overrides,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; overwritten when it exists.")],
) -> None:
    """Write a consistent copy of the database and check the copy. The daemon may be running.

    Example: geocrawl backup /backup/geocrawl-$(date +%F).db
    """
    source = opt.path_from(overrides)
    size = back_up(source, file)
    typer.echo(f"{file}: {size / 1e6:,.1f} MB, checked.")


def restore(
    overrides: opt.Overrides,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy made by `geocrawl backup`.")],
) -> None:
    """Replace the database with a copy. Stop the daemon first; the former database is kept in the same folder.

    What was promised since the copy was made holds on: opt-outs (`forget`), quarantine, merges and splits, a pause.
    """
    settings = opt.settings_from(overrides)
    target = opt.new_database_path_from(settings, overrides)
    done = maintenance.restore(settings, file, target)
    kept = f" The former database is kept as {done.kept}." if done.kept else ""
    typer.echo(f"{target}: restored from {file}.{kept}")
    if done.unread:
        typer.echo(f"{done.unread}. Opt-outs, merges and splits since the backup are lost: repeat them.", err=True)
    if done.carried_over is not None and any(asdict(done.carried_over).values()):
        carried = done.carried_over
        typer.echo(
            f"Carried over from the former database: {counted(carried.opt_outs, 'opt-out')}, "
            f"{counted(carried.sites, 'quarantine')}, {counted(carried.decisions, 'merge or split decision')}."
        )


def migrate(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The catalogue: a path or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty or missing database.")],
    json: opt.Json = False,
) -> None:
    """Copy a whole catalogue into another database, and compare all rows. Stop crawls on it first; it stays as it is.

    Examples:

        geocrawl migrate geocrawl.db postgresql://geocrawl@db.example.org/geocrawl

        geocrawl migrate postgresql://geocrawl@db.example.org/geocrawl sqlite:///copy.db
    """
    tell = (lambda table, rows: None) if json else lambda table, rows: typer.echo(f"{table}: {counted(rows, 'row')}")
    sums = copy(source, target, SystemClock(), tell)
    rows = sum(table.rows for table in sums.values())
    value = {name: {"rows": table.rows, "digest": table.digest} for name, table in sums.items()}
    output.print_lines((f"{rows:,} rows in {len(sums)} tables are the same in both.",), json=json, value=value)


One = Annotated[str, typer.Argument(metavar="A", help="A service's number (see search), or an address of it.")]
Other = Annotated[str, typer.Argument(metavar="B", help="The other service: its number, or an address of it.")]


def merge(overrides: opt.Overrides, one: One, other: Other, json: opt.Json = False) -> None:
    """Declare two addresses to be one service. Probes and crawls respect this decision until `geocrawl split`.

    Example: geocrawl merge https://maps.example.org/wms https://old.example.org/ows
    """
    _decide(one, other, same=True, overrides=overrides, json=json)


def split(overrides: opt.Overrides, one: One, other: Other, json: opt.Json = False) -> None:
    """Declare two addresses to be two services. Probes and crawls respect this decision until `geocrawl merge`.

    With the number of a service, the address is separated from all others of that service.

    Example: geocrawl split 12 https://test.example.org/wms
    """
    _decide(one, other, same=False, overrides=overrides, json=json)


def _decide(one: str, other: str, *, same: bool, overrides: opt.Overrides, json: bool) -> None:
    settings = opt.settings_from(overrides)
    decided = decide_same(
        opt.database_path_from(settings), lambda catalogue: _pairs(catalogue, one, other, same), same=same
    )
    result = "are one service" if same else "are two services"
    lines = (f"{short_name(a.kind)} {a.url} and {b.url} {result}." for a, b in decided)
    value = [{"first": a.url, "second": b.url, "kind": a.kind, "same": same} for a, b in decided]
    output.print_lines(lines, json=json, value=value)


def _pairs(catalogue: Catalogue, one: str, other: str, same: bool) -> list[tuple[Address, Address]]:
    """Return the endpoints that were named, in pairs of one kind.

    Raises NothingFound for a service that is not there, UsageError for two that cannot be one.
    """
    ones, others = _addresses(catalogue, one), _addresses(catalogue, other)
    if same:
        ones, others = _best_of(one, ones), _best_of(other, others)
    pairs = [
        (one_of, other_of)
        for one_of in ones
        for other_of in others
        if one_of.kind == other_of.kind and one_of.endpoint_id != other_of.endpoint_id
    ]
    if not pairs:
        kinds = [", ".join(sorted({short_name(each.kind) for each in side})) for side in (ones, others)]
        if kinds[0] == kinds[1]:
            raise UsageError(f"{one} and {other} are the same address")
        raise UsageError(
            f"{one} is {kinds[0]}, {other} is {kinds[1]}: only services of one kind can be merged or split"
        )
    return pairs


def _best_of(text: str, addresses: tuple[Address, ...]) -> tuple[Address, ...]:
    """Return only the best address of a service that was named by its number."""
    return addresses[:1] if text.isdecimal() else addresses


def _addresses(catalogue: Catalogue, text: str) -> tuple[Address, ...]:
    number = opt.number_of(text)
    addresses = catalogue.addresses_at(read_seed(text, NO_SERVICE)) if number is None else catalogue.addresses(number)
    if not addresses:
        raise NothingFound(f"{text}: no service in the catalogue (`geocrawl search` lists services)")
    return addresses


def forget(
    overrides: opt.Overrides,
    host: Annotated[str | None, typer.Argument(metavar="[HOST]", help="A host, with all its subdomains.")] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Who asked for it, and why; stored.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="Print the hosts that were removed on request.")] = False,
    undo: Annotated[
        str | None, typer.Option("--undo", metavar="HOST", help="Allow a host again, as a new one.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Remove a host and its subdomains from the catalogue and never visit or list them again (opt-out).

    A running daemon obeys within seconds. Recorded answers (WARC files) and backups are not changed.

    Example: geocrawl forget maps.example.org --reason "mail of the owner, 3 May"
    """
    if (host is not None) + list_ + (undo is not None) != 1:
        raise UsageError("give a HOST, --list or --undo HOST")
    if list_:
        _print_forgotten(overrides, json=json)
    elif undo is not None:
        _undo(read_host(undo), overrides)
    elif host is not None:
        _forget(read_host(host), reason, overrides, json=json)


def _print_forgotten(overrides: opt.Overrides, *, json: bool) -> None:
    with opt.connection(overrides) as connection:
        rows = read_blocked(connection)
    lines = (f"{moment(row.at)}  {row.host}  {plain(row.reason, 200)}" for row in rows)
    output.print_lines(lines, json=json, value=[asdict(row) for row in rows])
    if not rows and not json:
        typer.echo("No host was removed on request.", err=True)


def _forget(host: str, reason: str, overrides: opt.Overrides, *, json: bool) -> None:
    from geocrawl.store.upkeep.forget import forget

    with opt.writing(overrides) as store:
        removed = forget(store.database, host, masked(plain(reason, 500)), time.time())
    things = f"{counted(removed.pages, 'page')}, {counted(removed.endpoints, 'endpoint')}"
    line = f"{host}: {things} and {counted(removed.services, 'service')} removed; it will not be visited again."
    output.print_lines((line,), json=json, value={"host": host, **asdict(removed)})


def _undo(host: str, overrides: opt.Overrides) -> None:
    with opt.writing(overrides) as store:
        was_blocked = undo(store.database, host)
    if not was_blocked:
        raise NothingFound(f"{host} was not removed on request (`geocrawl forget --list` lists the hosts that were)")
    typer.echo(f"{host} may be visited again; what was removed stays removed.")


def release(
    overrides: opt.Overrides,
    site: Annotated[str, typer.Argument(metavar="SITE", help="A registered domain that `geocrawl status` names.")],
) -> None:
    """Release a quarantined site after review.

    A site with hundreds of services whose addresses differ only in numbers and values is quarantined: it gets no
    new visits until it is released (setting max_alike_services). Addresses that differ only in that way and bring
    nothing new wait in the lowest tier, and those beyond a bound are refused ('trap:pattern', settings
    max_fruitless_per_pattern and max_late_per_pattern); this command also doubles these limits for patterns of the
    site. `geocrawl forget SITE` removes a site that generates such addresses without end.
    """
    settings = opt.settings_from(overrides)
    name = read_host(site)
    count = maintenance.release(settings, opt.database_path_from(settings), name)
    if count is None:
        raise NothingFound(
            f"{name} is not quarantined, and none of its addresses waits last or was refused for its pattern "
            "(`geocrawl status` lists quarantined sites)"
        )
    typer.echo(f"{name} is released: {counted(count, 'address')} may be requested.")


def retry(
    overrides: opt.Overrides,
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help="Only addresses of this host.")] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="CODE", help="Only addresses that failed with this reason.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Put failed addresses back into the queue; the next crawl visits them again.

    Example: geocrawl retry --reason timeout-read --host maps.example.org
    """
    settings = opt.settings_from(overrides)
    name = None if host is None else read_host(host)
    count = put_back(settings, opt.database_path_from(settings), host=name, reason=reason)
    done = f"{counted(count, 'failed address')} put back into the queue." if count else "No failed address matches."
    output.print_lines((done,), json=json, value={"retried": count})
    if not count:
        raise typer.Exit(1)


def show_config(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Print every setting with its value and where the value came from; secrets are masked."""
    output.print_rows(
        rows_of(opt.configuration_from(overrides)),
        ("setting", "value", "unit", "from", "meaning"),
        lambda row: (row.name, row.value, row.unit, row.origin, row.help),
        json=json,
        as_json=lambda row: {"name": row.name, "value": row.value, "unit": row.unit, "origin": row.origin},
        least=("unit", "from"),
    )


def check_config(
    file: Annotated[Path | None, typer.Argument(help="A configuration file \\[those in use].")] = None,
) -> None:
    """Check a configuration file for unknown names and invalid values."""
    environ, files = ({}, [file]) if file else (os.environ, None)
    findings, _ = check_settings({}, environ, opt.current_folder(), files)
    problems = [finding for finding in findings if finding.severity]
    for problem in problems:
        typer.echo(problem.text, err=True)
    if problems:
        raise typer.Exit(2)
    typer.echo(f"{file}: valid." if file else "The settings in use are valid.")
