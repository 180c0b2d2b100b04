"""`geocrawl probe`, `harvest` and `kinds`: probe given addresses, and those that the records of a catalogue name."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app.harvest import run_harvest
from geocrawl.app.probe import ProbeLine, ProbeResult, run_probe
from geocrawl.cli import addresses as lists
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import gather_seeds
from geocrawl.cli.output import end_interrupted, show_in_full
from geocrawl.cli.progress import observe
from geocrawl.config import Configuration
from geocrawl.crawler.report import HARVEST_COLUMNS, ListCounts
from geocrawl.errors import UsageError
from geocrawl.model import Kind, Url
from geocrawl.model.kinds import KindDeclaration, short_name
from geocrawl.probe.registry import declaration, declarations, kinds_with_content
from geocrawl.sanitize import plain
from geocrawl.urls import read_url
from geocrawl.wording import counted, span

ListFile = Annotated[
    Path | None,
    typer.Option("--file", metavar="LIST", help="Addresses, one a line, or a CSV file with a column url."),
]
Maps = Annotated[
    bool, typer.Option("--maps", help="Also request content from a valid service: a map, tile, feature or record.")
]
ExpectedKind = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND", help="Kind of service to expect (`geocrawl kinds`) \\[by the address]."),
]

PROGRESS_S = 30.0
"""Time between two lines about the progress of a list."""
_LEVELS = {
    "advertised": "advertised: capabilities only, no content checked",
    "answers": "answers: but no answer proves that it works",
    "delivers": "delivers: content was checked",
}


_EXPLANATIONS = {
    "html": "A web page answers, not {kind}.",
    "other-kind": "A service of another kind than {kind} answers; omit --kind to recognise its kind.",
    "not-capabilities": "The answer is not a description of {kind}.",
    "not-json": "The answer is not JSON, so not {kind}.",
    "exception": "The server answers with an error instead of a description of {kind}.",
    "protected": "The server asks for a user name, a password or a token.",
    "external-entity": "A part of the answer is in another place, which geocrawl does not read.",
    "over-limit": "The answer is too large.",
    "truncated": "The answer is incomplete.",
    "part": "This is a part of a service; probe the whole service.",
    "empty": "The answer is empty.",
    "moved": "The address redirects; the new one is probed if it looks like a service.",
    "timeout-read": "The server did not answer in time.",
    "timeout-total": "The answer was not complete in time.",
    "timeout-connect": "The server could not be reached in time.",
    "reading-time": "Reading the answer takes too long.",
    "reading-memory": "Reading the answer needs too much memory.",
    "killed": "Reading the answer ended geocrawl twice; `geocrawl retry --reason killed` tries again.",
    "reading-crash": "Reading the answer failed; it is tried again.",
    "dns": "The host name does not exist.",
}


def probe(
    overrides: opt.Overrides,
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Addresses to probe.")] = None,
    file: ListFile = None,
    maps: Maps = False,
    kind: ExpectedKind = None,
    save: Annotated[bool, typer.Option("--save", help="Store the verdicts in the catalogue.")] = False,
    shipped: Annotated[bool, typer.Option("--shipped", help="The endpoints that are shipped with geocrawl.")] = False,
    country: lists.Country = None,
    software: lists.Software = None,
    limit: lists.Limit = None,
    json: opt.Json = False,
) -> None:
    """Probe each address: request its capabilities and print whether a working service answers.

    Exit code 0 when at least one is valid, 1 when none is.

    A long list can be interrupted at any time: the same command resumes. --shipped probes the services that a
    registry of the world's portals lists: with --save they are a catalogue on the first day.

    If a catalogue exists, the probe shares hosts (delays, leases) and robots.txt with the daemon and crawls that work
    on it; without --save it reads and writes nothing else there.

    Examples:

        geocrawl probe "https://maps.example.org/ows?SERVICE=WMS&REQUEST=GetCapabilities"

        geocrawl probe "https://maps.example.org/ows" --maps

        geocrawl probe --kind wfs "https://maps.example.org/ows"

        geocrawl probe --file endpoints.csv --save --json > verdicts.jsonl

        geocrawl probe --shipped --country DE,AT --save
    """
    choice = lists.ShippedChoice(country, software, limit=limit)
    lists.demand_shipped(choice, is_shipped=shipped)
    addresses = _shipped(choice, urls, file) if shipped else _demand_addresses(urls or [], file)
    settings = opt.settings_from(overrides)
    show_in_full(settings.export_secrets)
    result = run_probe(
        replace(settings, maps=maps),
        addresses,
        kind=opt.kind_of(kind) if kind else None,
        database=opt.new_database_path_from(settings, overrides) if save else None,
        share_with=None if save else opt.catalogue_if_any(settings),
        say=lambda text: None if settings.quiet else output.say(text),
        list_file=lists.shipped_path(lists.ENDPOINTS) if shipped else file,
        emit=_Emitter(len(addresses), json=json, quiet=settings.quiet or not (shipped or file)),
    )
    _end(result)


def _demand_addresses(urls: Sequence[str], file: Path | None) -> list[Url]:
    """Return the addresses that were given. Raises UsageError without any."""
    addresses = gather_seeds(urls, file)
    if not addresses:
        raise UsageError("nothing to probe: give an address or --file LIST")
    return addresses


def _shipped(choice: lists.ShippedChoice, urls: Sequence[str] | None, file: Path | None) -> list[Url]:
    """Return the shipped addresses that are wanted. Raises UsageError without any, or together with other addresses."""
    if urls or file is not None:
        raise UsageError("--shipped is a list of its own: omit other addresses and --file")
    found = [url for row in lists.shipped_rows(lists.ENDPOINTS, choice) if (url := read_url(row["url"]))]
    if not found:
        raise UsageError("no shipped endpoint has this country and software (`geocrawl seeds list --shipped`)")
    return found


class _Emitter:
    """Prints the line of each probe, and on standard error now and then how many of a list are done."""

    def __init__(self, total: int, *, json: bool, quiet: bool) -> None:
        self._total = total
        self._json = json
        self._quiet = quiet
        self._said_at, self._said = time.monotonic(), 0
        """When the last line about progress was printed, and how many it counted."""
        self._done = self._valid = 0

    def __call__(self, line: ProbeLine) -> None:
        """Print a line."""
        if self._json:
            output.echo_json(line.as_json())
        else:
            _print_line(line)
        self._done += 1
        self._valid += line.status == "valid"
        now = time.monotonic()
        if not self._quiet and now - self._said_at >= PROGRESS_S:
            left_s = (now - self._said_at) / (self._done - self._said) * max(self._total - self._done, 0)
            self._said_at, self._said = now, self._done
            so_far = f"{self._done:,} of {self._total:,} done, {self._valid:,} valid"
            output.say(f"{so_far}, {span(left_s)} left at this rate")


def _end(result: ProbeResult) -> None:
    """Print what is left of the list, and exit with the code that fits the result."""
    if result.stopped == "signal":
        typer.echo(f"Stopped: {counted(result.left, 'address')} left; the same command resumes.", err=True)
    end_interrupted(result.interrupted)
    if result.stopped == "outage":
        typer.echo(
            f"This machine could send no requests; not probed: {counted(result.left, 'address')}.",
            err=True,
        )
        raise typer.Exit(3)
    if not result.valid:
        raise typer.Exit(1)


def _print_line(line: ProbeLine) -> None:
    """Print a verdict: status and title, address, level and content checks, tolerated deviations."""
    mark = {"valid": "valid  ", "invalid": "invalid"}.get(line.status, line.status)
    if line.status == "valid":
        one, several = declaration(Kind(line.kind)).items
        named = f"{line.layers:,} {one if line.layers == 1 else several}"
        typer.echo(f"{mark}  {short_name(line.kind)} {line.version}  {plain(line.title, 100)}  ({named})")
    else:
        typer.echo(f"{mark}  {line.reason}  {plain(line.detail, 200)}")
        if explanation := _EXPLANATIONS.get(line.reason):
            typer.echo(f"         {explanation.format(kind=short_name(line.kind))}")
    typer.echo(f"         {line.url}")
    if line.level:
        typer.echo(f"         {_LEVELS[line.level]}")
    for each in line.proof or ():
        layer, detail = plain(str(each["layer"]), 60), plain(str(each["detail"]), 120)
        typer.echo(f"           {each['outcome']}  {layer}  {each['crs']}  {each['milliseconds']:.0f} ms  {detail}")
    if line.deviations:
        typer.echo(f"         tolerated: {', '.join(line.deviations)}")


_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def harvest(
    overrides: opt.Overrides,
    url: Annotated[str, typer.Argument(metavar="URL", help="The catalogue: CSW, CKAN, STAC, ArcGIS, DCAT …")],
    since: Annotated[
        str,
        typer.Option(
            "--since", metavar="DAY|last", help="Only records changed since YYYY-MM-DD or since the last harvest."
        ),
    ] = "",
    json: opt.Json = False,
) -> None:
    """Read the records of a catalogue, page by page, and probe the services that they name.

    Supported are CSW, CKAN, ArcGIS portals and folders, GeoNetwork, STAC, OGC API Records and DCAT in RDF or JSON. Only
    pages of records are visited. Stop it at any time: the same command resumes.

    Examples:

        geocrawl harvest https://www.example.org/geonetwork/srv/eng/csw

        geocrawl harvest https://data.example.org/api/3/action/package_search --since last
    """
    if since and since != "last" and not _DAY.fullmatch(since):
        raise UsageError(f"--since {since!r}: expected a day such as 2024-05-31, or last")
    _run_harvest(overrides, url, since=since, json=json)


def _run_harvest(overrides: opt.Overrides, url: str, *, since: str, json: bool) -> None:
    """Harvest and print the report; exit with 1 when no page of records was read, or fewer records than there are."""
    configuration = opt.configuration_from(overrides)
    settings = configuration.settings
    most = pages_allowed(configuration)
    (catalogue,) = gather_seeds([url])
    path = opt.new_database_path_from(settings, overrides)
    with observe(settings, json=json, max_pages=most, lists=ListCounts()) as observer:
        report = run_harvest(settings, path, catalogue, since=since, max_pages=most, observer=observer)
    rows = report.rows()
    output.end_run(report, json=json, has_failed=report.has_failed, columns=HARVEST_COLUMNS, rows=rows)


def pages_allowed(configuration: Configuration) -> int:
    """Return the pages that a person allows a run; 0 for no limit, also when nobody set `max_pages`."""
    return 0 if configuration.origin_of("max_pages") == "default" else configuration.settings.max_pages


def kinds(json: opt.Json = False) -> None:
    """List the kinds of service: how an address is recognised, what proves it, whether content is requested.

    Each KIND is a value of `probe --kind`, `search --kind` and `export --kind`.
    """
    rows = overview(declarations(), kinds_with_content())
    lines = (line for row in rows for line in row.lines())
    output.print_lines(lines, json=json, value=[asdict(row) for row in rows])


# --------------------------------------------------------------------------- kinds in words


@dataclass(frozen=True, slots=True)
class KindRow:
    """A row of `geocrawl kinds`: how one kind is recognised and proved."""

    kind: Kind
    name: str
    recognised: tuple[str, ...]
    """Phrases: parameters, forms of path, documents."""
    proof: str
    """Description of an answer that proves the kind."""
    content: bool
    """Whether there is a content check for valid services."""

    def lines(self) -> Iterator[str]:
        """Yield the row as lines for people."""
        yield f"{self.kind:<13}{self.name}"
        yield f"  recognised by  {'; '.join(self.recognised)}"
        yield f"  proved by      {self.proof}"
        yield f"  content        {'requested by crawls and `probe --maps`' if self.content else 'not requested'}"


def overview(kinds: Sequence[KindDeclaration], asked: AbstractSet[Kind]) -> tuple[KindRow, ...]:
    """Return a row for each kind, in the order of `Kind`; `asked`: the kinds with a content check."""
    rows = (KindRow(kind.kind, kind.name, _recognised(kind), kind.proof, kind.kind in asked) for kind in kinds)
    order = list(Kind)
    return tuple(sorted(rows, key=lambda row: order.index(row.kind)))


def _recognised(declared: KindDeclaration) -> tuple[str, ...]:
    """Return phrases that describe how a kind is recognised."""
    phrases = []
    if declared.services:
        phrases.append(f"SERVICE={min(declared.services, key=len).upper()}")
    if declared.requests:
        phrases.append(f"REQUEST={'|'.join(sorted(declared.requests))}")
    if forms := [form.example for form in declared.paths]:
        more = f" ({len(forms) - 1} more)" if len(forms) > 1 else ""
        phrases.append(f"a path like {forms[0].partition('example.org')[2]}{more}")
    if declared.found_beside:
        phrases.append(declared.found_beside)
    if declared.roots or declared.namespaces:
        phrases.append("its capabilities as a page" if declared.services else "its document as a page")
    if declared.keys or declared.relations:
        phrases.append("its JSON as a page")
    return tuple(phrases)
