"""`geocrawl probe`: ask given addresses what they are, without a crawl."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.masking import show_in_full
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    from geocrawl.app.probe_line import ProbeLine
    from geocrawl.settings import Settings


_LEVELS = {
    "advertised": "advertised: no content was seen",
    "answers": "answers: but nothing that came proves that it works",
    "delivers": "delivers: content was seen",
}


_SAID = {
    "html": "A web page answers there, no {kind}.",
    "other-kind": "What answers there is no {kind}; without --kind it is asked as what it is.",
    "not-capabilities": "What answers there does not describe a {kind}.",
    "not-json": "What answers there is no JSON, so it is no {kind}.",
    "exception": "The server answers with an error of its own instead of describing a {kind}.",
    "protected": "It asks for a user name, a password or a token.",
    "over-limit": "The answer is larger than is read.",
    "truncated": "The answer ends in the middle.",
    "part": "It is a part of a service, which is asked as a whole.",
    "empty": "The server answers with nothing.",
    "moved": "It sends elsewhere; the new address is asked when it looks like a service.",
    "timeout-read": "It was reached but did not answer in time.",
    "timeout-total": "Its answer did not end in time.",
    "timeout-connect": "It could not be reached in time.",
    "dns": "The host's name is not known.",
}


def probe(
    overrides: opt.Overrides,
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Addresses to probe.")] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="LIST", help="Addresses, one a line, or a CSV file with a column url."),
    ] = None,
    maps: Annotated[
        bool, typer.Option("--maps", help="Also request content from a valid service: a map, tile, feature or record.")
    ] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="KIND", help="Kind of service to expect (`geocrawl kinds`) \\[what the address says]."
        ),
    ] = None,
    save: Annotated[bool, typer.Option("--save", help="Store the verdicts in the catalogue.")] = False,
    json: opt.Json = False,
) -> None:
    """Ask each address for its capabilities and say whether a working service answers.

    A long list can be interrupted at any moment: the same command goes on where it was.

    Where there is a catalogue, hosts are asked in turn with the daemon and crawls that work on it, and robots.txt is
    shared; without --save nothing else is read from it or written into it.

    Examples:

        geocrawl probe "https://maps.example.org/ows?SERVICE=WMS&REQUEST=GetCapabilities"

        geocrawl probe "https://maps.example.org/ows" --maps

        geocrawl probe --kind wfs "https://maps.example.org/ows"

        geocrawl probe --file endpoints.csv --save --json > verdicts.jsonl
    """
    from geocrawl.app.probe_list import run_probe
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.errors import UsageError

    given = gather_seeds(urls or [], file)
    if not given:
        raise UsageError("nothing to probe: give an address or --file LIST")
    settings = opt.settings_from(overrides)
    show_in_full(settings.export_secrets)
    from geocrawl.cli.progress import configure_logging

    configure_logging(json_lines=False, quiet=settings.quiet or file is None)
    result = run_probe(
        replace(settings, maps=maps),
        given,
        kind=opt.kind_of(kind) if kind else None,
        database=opt.database_path_from(settings) if save else None,
        share_with=None if save else _catalogue_of(settings),
        say=lambda text: None if settings.quiet else typer.echo(f"geocrawl: {text}", err=True),
        list_file=file,
        emit=(lambda line: output.echo_json(line.as_json())) if json else _print_line,
    )
    if result.interrupted:
        typer.echo(f"Stopped: {result.left:,} addresses are left; the same command goes on.", err=True)
    if not result.valid:
        raise typer.Exit(1)


def _catalogue_of(settings: Settings) -> Path | None:
    """Where a catalogue may be; None for a user without a home."""
    from geocrawl.errors import EnvironmentFault

    try:
        return opt.database_path_from(settings)
    except EnvironmentFault:
        return None


def _print_line(line: ProbeLine) -> None:
    """One verdict for a person: a line, and what was tolerated below it."""
    mark = {"valid": "valid  ", "invalid": "invalid"}.get(line.status, line.status)
    if line.status == "valid":
        from geocrawl.model import Kind
        from geocrawl.probe.registry import declaration

        one, several = declaration(Kind(line.kind)).items
        named = f"{line.layers:,} {one if line.layers == 1 else several}"
        typer.echo(f"{mark}  {line.kind.upper()} {line.version}  {plain(line.title, 100)}  ({named})")
    else:
        typer.echo(f"{mark}  {line.reason}  {plain(line.detail, 200)}")
        if said := _SAID.get(line.reason):
            typer.echo(f"         {said.format(kind=line.kind.upper())}")
    typer.echo(f"         {line.url}")
    if line.level:
        typer.echo(f"         {_LEVELS[line.level]}")
    for each in line.proof or ():
        layer, detail = plain(str(each["layer"]), 60), plain(str(each["detail"]), 120)
        typer.echo(f"           {each['outcome']}  {layer}  {each['crs']}  {each['milliseconds']:.0f} ms  {detail}")
    if line.deviations:
        typer.echo(f"         tolerated: {', '.join(line.deviations)}")
