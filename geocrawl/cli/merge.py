"""`geocrawl merge` and `split`: decide by hand which addresses are one service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output

if TYPE_CHECKING:
    from geocrawl.store import Address, Queries

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
    from geocrawl.app.maintenance import decide_same

    settings = opt.settings_from(overrides)
    decided = decide_same(
        opt.database_path_from(settings), lambda queries: _pairs(queries, one, other, same), same=same
    )
    if json:
        output.echo_json([{"first": a.url, "second": b.url, "kind": a.kind, "same": same} for a, b in decided])
        return
    for a, b in decided:
        said = "are one service" if same else "are two services"
        typer.echo(f"{a.kind.upper()} {a.url} and {b.url} {said}.")


def _pairs(queries: Queries, one: str, other: str, same: bool) -> list[tuple[Address, Address]]:
    """Return the endpoints that were named, in pairs of one kind.

    Raises NothingFound for a service that is not there, UsageError for two that cannot be one.
    """
    from geocrawl.errors import UsageError

    ones, others = _addresses(queries, one), _addresses(queries, other)
    if same:
        ones, others = _best_of(one, ones), _best_of(other, others)
    found = [
        (one_of, other_of)
        for one_of in ones
        for other_of in others
        if one_of.kind == other_of.kind and one_of.endpoint_id != other_of.endpoint_id
    ]
    if not found:
        kinds = [", ".join(sorted({each.kind.upper() for each in side})) for side in (ones, others)]
        if kinds[0] == kinds[1]:
            raise UsageError(f"{one} and {other} are the same address")
        raise UsageError(
            f"{one} is {kinds[0]}, {other} is {kinds[1]}: only services of one kind can be merged or split"
        )
    return found


def _best_of(text: str, found: tuple[Address, ...]) -> tuple[Address, ...]:
    """Return only the best address of a service that was named by its number."""
    return found[:1] if text.isdecimal() else found


def _addresses(queries: Queries, text: str) -> tuple[Address, ...]:
    from geocrawl.cli.addresses import service_address
    from geocrawl.errors import NothingFound

    if text.isdecimal():
        found = queries.addresses_of(int(text)) if len(text) < 19 else ()
    else:
        found = queries.addresses_at(service_address(text))
    if not found:
        raise NothingFound(f"{text}: no service in the catalogue (`geocrawl search` lists services)")
    return found
