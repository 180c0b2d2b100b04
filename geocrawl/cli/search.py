"""`geocrawl search`: find services by words, kind, place and reference system."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.output import show_in_full
from geocrawl.errors import UsageError
from geocrawl.export.tables import LAYER_TABLE, layer_row, layer_values, write_csv
from geocrawl.filters import Filters, Sort, read_box, read_level, read_system, read_times
from geocrawl.model.catalogue import SIDES
from geocrawl.model.search import LayerHit, LayerResults, Results, SearchHit
from geocrawl.sanitize import plain
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.wording import counted

FORMATS = ("table", "json", "jsonl", "csv")


Words = Annotated[
    list[str] | None, typer.Argument(metavar="[WORDS]...", help="Words, and conditions such as kind:wms.")
]
OfKind = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help="Only this kind of service (`geocrawl kinds`).")
]
InBox = Annotated[
    str | None, typer.Option("--bbox", metavar="W,S,E,N", help="Only services that intersect this box (degrees).")
]
InSystem = Annotated[
    str | None, typer.Option("--crs", metavar="EPSG:N", help="Only services with a layer in this reference system.")
]
Alive = Annotated[bool, typer.Option("--alive", help="Only services valid at the last probe.")]
AtLevel = Annotated[
    str | None,
    typer.Option("--level", metavar="LEVEL", help="At least this level: advertised, answers or delivers."),
]
Licensed = Annotated[
    str | None,
    typer.Option(
        "--licence", metavar="CODE", help="Only services under this licence: CC-BY-4.0, CC-BY … or open (any open one)."
    ),
]
InLanguage = Annotated[
    str | None,
    typer.Option("--language", metavar="CODE", help="Only services with texts in this language (ISO 639-1): de, fr …"),
]
WithField = Annotated[
    list[str] | None,
    typer.Option(
        "--field", metavar="NAME", help="Only services with a layer that has this field; repeat for any of several."
    ),
]
OfTime = Annotated[
    str | None,
    typer.Option("--time", metavar="TIME", help="Only services with data of this time: 2020, 2015-06/.. or 2015/2020."),
]
Order = Annotated[
    str, typer.Option("--sort", metavar="ORDER", help="Order: relevance, name, health, newest or quality.")
]
Facets = Annotated[
    bool,
    typer.Option(
        "--facets", help="Also count kinds, countries, providers … found; with JSON: an object that has the list."
    ),
]
OfLayers = Annotated[
    bool, typer.Option("--layers", help="Find layers, feature types, collections …: a row each, not one a service.")
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Print at most this many rows.")]
Offset = Annotated[int, typer.Option("--offset", metavar="N", min=0, help="Leave out the first rows.")]
Format = Annotated[
    str, typer.Option("--format", metavar="|".join(FORMATS), help="Output format; jsonl: one JSON object a line.")
]


def search(
    overrides: opt.Overrides,
    words: Words = None,
    kind: OfKind = None,
    bbox: InBox = None,
    crs: InSystem = None,
    alive: Alive = False,
    level: AtLevel = None,
    licence: Licensed = None,
    language: InLanguage = None,
    field: WithField = None,
    time: OfTime = None,
    sort: Order = "relevance",
    facets: Facets = False,
    layers: OfLayers = False,
    limit: Limit = 20,
    offset: Offset = 0,
    format_: Format = "table",
    json: opt.Json = False,
) -> None:
    """Find services by words in any language, place, kind, reference system (docs/search.md).

    All words first, then most of them; `wat*` finds what begins so, "land cover" a phrase, -word leaves out.

    Examples:

        geocrawl search geology bavaria wms --level delivers

        geocrawl search 'kind:wms alive:30d "land cover" -historic' --facets

        geocrawl search 土地利用 --format json

        geocrawl search --layers roads kenya
    """
    chosen = opt.chosen_format(format_, json, FORMATS)
    columns = tuple((name, code) for name, code in (("licence", licence), ("language", language)) if code)
    times = read_times(time, "--time") if time else None
    filters = replace(filters_of(kind, bbox, crs, alive, level), columns=columns, time=times, fields=tuple(field or ()))
    order = opt.one_of(Sort, sort, "--sort")
    in_full = opt.settings_from(overrides).export_secrets
    show_in_full(in_full)
    text = words_typed(words)
    with opt.reading(overrides, with_secrets=in_full) as catalogue:
        if layers:
            _print_layers(catalogue.find_layers(text, filters, sort=order, limit=limit, offset=offset), chosen, offset)
            return
        results = catalogue.find(text, filters, sort=order, limit=limit, offset=offset, facets=facets)
        why_none = "" if results.hits else _why_none(catalogue, results, filters, offset)
    _print(results, chosen, offset, with_facets=facets)
    if why_none:
        typer.echo(why_none, err=True)
        raise typer.Exit(1)


def _print_layers(results: LayerResults, format_: str, offset: int) -> None:
    """Print layers. Raises Exit 1 where there are none."""
    rows = [_layer(hit) for hit in results.hits]
    if format_ in ("json", "jsonl"):
        with output.json_lines(format_ == "jsonl"):
            output.echo_json(rows)
    elif format_ == "csv":
        write_csv(LAYER_TABLE, map(layer_row, results.hits), sys.stdout)
    elif rows:
        shown = ("service", "kind", "name", "title", "of", "address")
        named = {"service": "service_id", "of": "service_title", "address": "url"}
        output.print_table(
            shown, [tuple(row[named.get(name, name)] for name in shown) for row in rows], ("service", "of")
        )
        output.say_more(offset + len(rows), results.total)
    if not results.is_complete:
        looked = f"looked through are the {results.looked_through:,} best of {results.services:,} services"
        typer.echo(f"{looked}; more conditions find layers of the others", err=True)
    if not rows:
        typer.echo("No layer matches.", err=True)
        raise typer.Exit(1)


def _layer(hit: LayerHit) -> dict[str, Any]:
    """Return a layer for JSON."""
    more = {"crs": hit.systems, "box": hit.layer.box, "abstract": hit.layer.abstract}
    return {name: value for name, value in layer_values(hit).items() if name != "crs"} | more


def words_typed(words: list[str] | None) -> str:
    """Return the query that words make. Raises UsageError for bytes that are no characters in the locale's encoding."""
    query = " ".join(words or [])
    if any("\ud800" <= character <= "\udfff" for character in query):
        encoding = sys.getfilesystemencoding().upper()
        raise UsageError(f"{query!r} is not text in {encoding}, the encoding of this locale (`locale`, LC_ALL)")
    return query


def _why_none(catalogue: Catalogue, results: Results, filters: Filters, offset: int) -> str:
    """Return why no service is shown."""
    if filters.systems and not catalogue.offers_reference_system(filters.systems[0]):
        return f"No layer in the catalogue is offered in {filters.systems[0]}."
    if results.total:
        return f"{counted(results.total, 'service')} found; --offset {offset} leaves out all."
    return "No service matches." if results.catalogue else "The catalogue holds no service yet."


def filters_of(kind: str | None, bbox: str | None, crs: str | None, alive: bool, level: str | None) -> Filters:
    """Return the conditions that the options state. Raises UsageError for an invalid value."""
    return Filters(
        kinds=(opt.kind_of(kind),) if kind else (),
        box=read_box(bbox, "--bbox") if bbox else None,
        systems=(read_system(crs, "--crs"),) if crs else (),
        alive=alive,
        level=read_level(level, "--level") if level else "",
    )


def _print(results: Results, format_: str, offset: int, *, with_facets: bool) -> None:
    output.say_differences(results)
    if format_ in ("json", "jsonl"):
        rows = [_as_json(hit) for hit in results.hits]
        with output.json_lines(format_ == "jsonl"):
            if with_facets and format_ == "json":
                facets = {name: [asdict(value) for value in values] for name, values in results.facets.items()}
                output.echo_json({"total": results.total, "read_as": results.read_as, "facets": facets, "hits": rows})
            else:
                output.echo_json(rows)
    elif format_ == "csv":
        _print_csv(results.hits)
    elif results.hits:
        _print_table(results, offset)


def _print_table(results: Results, offset: int) -> None:
    output.print_table(
        ("id", "kind", "alive", "level", "layers", "title", "address"),
        [(hit.id, _kinds(hit), hit.alive, hit.level, hit.layers, hit.title, hit.url) for hit in results.hits],
        least=("layers", "level", "alive"),
    )
    for hit in results.hits:
        if hit.tls:
            typer.echo(f"{hit.id}: the server's TLS was not verified ({hit.tls})", err=True)
    if offset:
        typer.echo(f"{offset + 1:,} to {offset + len(results.hits):,} of {results.total:,}", err=True)
    else:
        output.say_more(len(results.hits), results.total)
    for name, values in results.facets.items():
        if values:
            typer.echo(f"{name}: " + ", ".join(f"{plain(value.label, 40)} {value.count:,}" for value in values[:8]))


def _kinds(hit: SearchHit) -> str:
    """Return the kind of a hit and those of its twins: wms, wfs."""
    return ", ".join(dict.fromkeys((hit.kind, *(twin.kind for twin in hit.twin_services))))


_FIRST = ("id", "kind", "title", "provider", "version", "alive", "level", "tls")
_MORE = ("country", "abstract", "score", "is_whole", "quality")


def _as_json(hit: SearchHit) -> dict[str, Any]:
    """Return a hit with the names that other software has read since the first version, and the new ones after."""
    named = ("layers", "url", "last_ok", "box", "health")
    row = {name: getattr(hit, name) for name in (*_FIRST, *named, *_MORE)}
    twins = [
        {"id": twin.id, "kind": twin.kind, "address": twin.url, "health": twin.health} for twin in hit.twin_services
    ]
    layers = [{"position": layer.position, "name": layer.name, "title": layer.title} for layer in hit.matching_layers]
    return row | {"availability": hit.availability_30d, "twins": twins, "matching_layers": layers}


_TABLE = ("id", "kind", "alive", "level", "layers", "url", "title", "provider", "version", "last_ok")


def _print_csv(hits: tuple[SearchHit, ...]) -> None:
    rows = ((*(getattr(hit, name) for name in _TABLE), *(hit.box or (None,) * 4), hit.tls) for hit in hits)
    write_csv((*_TABLE, *SIDES, "tls"), rows, sys.stdout)
