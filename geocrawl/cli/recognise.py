"""`geocrawl recognise` and `identify`: what an address or a page is, and what a crawl would request because of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app.check_seeds import fetch_pages
from geocrawl.app.recognise import AddressRecogniser, Recognition
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import gather_seeds, read_lines, read_seed
from geocrawl.errors import UsageError
from geocrawl.model import Failure, Url
from geocrawl.model.kinds import short_name
from geocrawl.sanitize import masked, plain

ListFile = Annotated[
    Path | None,
    typer.Option("--file", metavar="LIST", help="Addresses, one a line, or a CSV file with a column url or link."),
]


def recognise(
    addresses: Annotated[list[str] | None, typer.Argument(metavar="[ADDRESS]...", help="Addresses.")] = None,
    file: ListFile = None,
    json: opt.Json = False,
) -> None:
    """Recognise the software and the kind of service by addresses alone, and list what a crawl would request.

    Nothing is requested. Of each address: `software`, `kind` of the service if it is one, and `requests`, the likeliest
    first: places where the software has its services and its records. A line of a list that is no address has `reason`.

    Exit code 0 when at least one address is recognised, 1 when none is.

    Examples:

        geocrawl recognise https://maps.example.org/geoserver/web/

        geocrawl recognise --file portals.csv --json > requests.jsonl
    """
    given: list[tuple[str, Url | None]] = [(text, read_seed(text)) for text in addresses or ()]
    given += read_lines(file) if file is not None else []
    if not given:
        raise UsageError("nothing to recognise: give an address or --file LIST")
    recogniser, is_known = AddressRecogniser(), False
    for text, url in given:
        if url is None:
            _print_bad(text, json=json)
            continue
        found = recogniser.of_address(text, url)
        is_known = is_known or bool(found.software or found.kind)
        _print(found, json=json)
    if not is_known:
        raise typer.Exit(1)


def identify(
    overrides: opt.Overrides,
    page: Annotated[str, typer.Argument(metavar="PAGE", help="Address of a page.")],
    json: opt.Json = False,
) -> None:
    """Request a page once, and recognise its software and services by its address, markup and headers.

    It prints what `recognise` does. If a catalogue exists, hosts' delays and robots.txt are shared with it.

    Exit code 0 when the page is recognised, 1 when it is not or does not answer.

    Example: geocrawl identify https://maps.example.org/
    """
    (url,) = gather_seeds([page])
    settings = opt.settings_from(overrides)
    answer = fetch_pages(settings, opt.catalogue_if_any(settings), [url], say=output.say)[url.address]
    if isinstance(answer, Failure):
        typer.echo(f"{page}: {answer.code}  {plain(answer.detail, 200)}", err=True)
        raise typer.Exit(1)
    found = AddressRecogniser().of_page(page, answer)
    _print(found, json=json)
    if not (found.software or found.kind):
        raise typer.Exit(1)


def _print_bad(text: str, *, json: bool) -> None:
    """Print why a line of a list is left out."""
    if json:
        output.echo_json({"address": masked(text)[:200], "reason": "not a web address"})
    else:
        typer.echo(f"geocrawl: not a web address: {masked(text)[:80]!r}", err=True)


def _print(found: Recognition, *, json: bool) -> None:
    """Print what was recognised: its name and kind, then the requests."""
    if json:
        output.echo_json(found.as_json())
        return
    known: Sequence[str] = [name for name in (found.software, short_name(found.kind)) if name]
    typer.echo(f"{plain(found.address, 400)}  {', '.join(known) or 'unknown'}")
    for address in found.requests:
        typer.echo(f"    {address}")
