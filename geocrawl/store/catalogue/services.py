"""Read services and layers by the columns that `model/catalogue.py` declares: for exports, pages and programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Float, Select, bindparam, func, select

from geocrawl.model.catalogue import SIDES, Column, EndpointService, Layer, Service, columns
from geocrawl.model.search import Selection
from geocrawl.sanitize import masked
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list, utc_text
from geocrawl.store.database.endpoints import is_shown
from geocrawl.store.database.schema.tables import ENDPOINT, LAYER, SEARCH_ENTRY, SERVICE, THUMBNAIL
from geocrawl.store.database.views import BEST, LAYER_COLUMNS, LAYERS, SERVICES, service_columns

S = TypeVar("S")


def read_services(connection: Connection, selection: Selection, *, with_secrets: bool = False) -> Iterator[Service]:
    """Yield the selected services by their number. `with_secrets`: addresses in full, with their keys."""
    names, values = _conditions(selection)
    make = _reader(Service)
    for row in connection.execute(_services(names, with_secrets), values):
        fields = make(row)
        if fields.get("tile") and not with_secrets:
            fields["tile"] = masked(fields["tile"])
        yield Service(**fields)


def read_hits(
    connection: Connection, ids: Collection[int], make: Callable[..., S], *, with_secrets: bool
) -> Iterator[S]:
    """Yield what `make` makes of the columns that are not costly, given by name, of these services."""
    fields = _reader(Service, without_costly=True)
    for row in connection.execute(_services(("ids",), with_secrets, without_costly=True), {"ids": ids}):
        yield make(**fields(row))


def service_of(row: Sequence[Any]) -> Service:
    """Return the service of a row of `selected_columns`."""
    return Service(**_reader(Service)(row))


def read_layers(connection: Connection, selection: Selection) -> Iterator[Layer]:
    """Yield the layers of the selected services, by service and in the order of its document."""
    names, values = _conditions(selection)
    make = _reader(Layer)
    return (Layer(**make(row)) for row in connection.execute(_layers(names), values))


def read_layer(connection: Connection, service_id: int, position: int) -> Layer | None:
    """Return a layer of a service; None for an unknown position."""
    row = connection.execute(_ONE_LAYER, {"service": service_id, "position": position}).fetchone()
    return None if row is None else Layer(**_reader(Layer)(row))


def selected_ids(connection: Connection, selection: Selection) -> frozenset[int]:
    """Return the numbers of the selected services."""
    names, values = _conditions(selection)
    return frozenset(row[0] for row in connection.execute(_ids(names), values))


# --------------------------------------------------------------------------- statements

_BEST = service_columns(BEST)
_WEST, _SOUTH, _EAST, _NORTH = (bindparam(side, type_=Float) for side in SIDES)
_IN_LATITUDE = (SERVICE.c.south <= _NORTH) & (SERVICE.c.north >= _SOUTH)
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "ids": in_list(SERVICE.c.id, "ids"),
    "kind": SERVICE.c.kind == bindparam("kind"),
    "alive": _BEST["alive"] != 0,
    # In the order of the alphabet, as the levels are: advertised, answers, delivers.
    "level": _BEST["level"] >= bindparam("level"),
    "box": _IN_LATITUDE & (SERVICE.c.west <= _EAST) & (SERVICE.c.east >= _WEST),
    "box over the antimeridian": _IN_LATITUDE & ((SERVICE.c.east >= _WEST) | (SERVICE.c.west <= _EAST)),
}


def _conditions(selection: Selection) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the names of the selection's conditions, and their values."""
    values: dict[str, Any] = {"kind": selection.kind, "level": selection.level, "alive": selection.alive}
    names = [name for name, value in values.items() if value]
    if selection.ids is not None:
        names.append("ids")
        values["ids"] = selection.ids
    if selection.box:
        west, _, east, _ = selection.box
        names.append("box" if west <= east else "box over the antimeridian")
        values |= zip(SIDES, selection.box, strict=True)
    return tuple(names), values


def _read_columns(shape: type, without_costly: bool) -> list[Column]:
    return [column for column in columns(shape).values() if not (without_costly and column.costly)]


def selected_columns(
    shape: type, expressions: Mapping[str, ColumnElement[Any]], *, without_costly: bool = False
) -> list[ColumnElement[Any]]:
    """Return the expressions of the columns of `Service` or `Layer` in their order, a box as its sides."""
    return [
        expressions[name].label(name)
        for column in _read_columns(shape, without_costly)
        for name in (SIDES if column.sql == "BOX" else (column.name,))
    ]


@lru_cache(maxsize=100)
def _services(names: tuple[str, ...], with_secrets: bool, without_costly: bool = False) -> Select[Any]:
    """Return the statement that reads the services that fulfil the conditions of these names."""
    shown = selected_columns(Service, service_columns(BEST, in_full=with_secrets), without_costly=without_costly)
    return select(*shown).select_from(SERVICES).where(*(_CONDITIONS[name] for name in names)).order_by(SERVICE.c.id)


@lru_cache(maxsize=100)
def _ids(names: tuple[str, ...]) -> Select[Any]:
    return select(SERVICE.c.id).select_from(SERVICES).where(*(_CONDITIONS[name] for name in names))


_LAYERS = select(*selected_columns(Layer, LAYER_COLUMNS)).select_from(LAYERS)
_ONE_LAYER = _LAYERS.where(LAYER.c.service_id == bindparam("service"), LAYER.c.position == bindparam("position"))


@lru_cache(maxsize=100)
def _layers(names: tuple[str, ...]) -> Select[Any]:
    chosen = _LAYERS.where(LAYER.c.service_id.in_(_ids(names))) if names else _LAYERS
    return chosen.order_by(LAYER.c.service_id, LAYER.c.position)


# --------------------------------------------------------------------------- rows


@cache
def _reader(shape: type, without_costly: bool = False) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """Return the function that makes the fields of `Service` or `Layer` of a row of `selected_columns`; NULL leaves a
    field out."""
    read_columns = _read_columns(shape, without_costly)
    named = [(column.name, _READERS.get(column.python)) for column in read_columns]
    box = next(place for place, column in enumerate(read_columns) if column.sql == "BOX")

    def make(row: Sequence[Any]) -> dict[str, Any]:
        sides = row[box : box + 4]
        values = (*row[:box], None if None in sides else tuple(sides), *row[box + 4 :])
        return {
            name: read(value) if read is not None else value
            for (name, read), value in zip(named, values, strict=True)
            if value is not None
        }

    return make


@lru_cache(maxsize=1000)
def texts_of(stored: str) -> tuple[str, ...]:
    """Return the texts of a list that the database stores as JSON; the layers of a service have the same ones."""
    return tuple(str(text) for text in json.loads(stored))


def _mapping_of(stored: str) -> dict[str, str]:
    return {name: str(text) for name, text in json.loads(stored).items() if text}


_READERS: Mapping[Any, Callable[[Any], Any]] = {
    tuple[str, ...]: texts_of,
    tuple[int, ...]: lambda stored: tuple(json.loads(stored)),
    tuple[Mapping[str, str], ...]: lambda stored: tuple(json.loads(stored)),
    Mapping[str, str]: _mapping_of,
    bool: bool,
    float: lambda value: round(value, 3),
}
"""Type of a column's values → what makes one of what is stored."""


# --------------------------------------------------------------------------- endpoints

_AT = ENDPOINT.alias("at_address")
_AT_COLUMNS: Mapping[str, ColumnElement[Any]] = {
    **service_columns(_AT, in_full=True),
    **{name: func.coalesce(_AT.c[name], "") for name in ("version", "level", "reason")},
    **{name: utc_text(_AT.c[name]) for name in ("first_seen", "last_ok")},
    **{name: _AT.c[name] for name in ("kind", "status")},
    "deviation_details": func.coalesce(_AT.c.deviations, "[]"),
}
_ROWS = (
    select(*selected_columns(EndpointService, _AT_COLUMNS))
    .select_from(
        _AT.outerjoin(SERVICE, SERVICE.c.id == _AT.c.service_id).outerjoin(
            SEARCH_ENTRY, SEARCH_ENTRY.c.service_id == _AT.c.service_id
        )
    )
    .where(_AT.c.status.is_not(None), is_shown(_AT))
    .order_by(_AT.c.id)
)
_ROWS_OF_KIND = _ROWS.where(_AT.c.kind == bindparam("kind"))
_ROWS_OF_IDS = _ROWS.where(in_list(_AT.c.service_id, "ids"))


def read_endpoints(connection: Connection, selection: Selection) -> Iterator[EndpointService]:
    """Yield the endpoints of the selected services with a verdict, in the order in which they were found; without a
    condition, or with one on the kind alone, also those that never were valid. Addresses have their keys."""
    if selection.ids is not None:
        rows = connection.execute(_ROWS_OF_IDS, {"ids": selection.ids})
    elif selection.kind:
        rows = connection.execute(_ROWS_OF_KIND, {"kind": selection.kind})
    else:
        rows = connection.execute(_ROWS)
    chosen = None if selection.is_about_kind_alone else selected_ids(connection, selection)
    make = _reader(EndpointService)
    for row in rows:
        found = EndpointService(**{"id": 0, **make(row)})
        if chosen is None or (found.id in chosen and not (selection.alive and found.status != "valid")):
            yield found


# --------------------------------------------------------------------------- thumbnails

_PICTURED = THUMBNAIL.join(ENDPOINT, ENDPOINT.c.id == THUMBNAIL.c.endpoint_id)
_THUMBNAIL = (
    select(THUMBNAIL.c.image)
    .select_from(_PICTURED)
    .where(ENDPOINT.c.service_id == bindparam("service"))
    .order_by(THUMBNAIL.c.at.desc(), ENDPOINT.c.id.desc())
    .limit(1)
)


def read_thumbnail(connection: Connection, service_id: int) -> bytes | None:
    """Return the latest thumbnail of a service, a PNG; None without one."""
    row = connection.execute(_THUMBNAIL, {"service": service_id}).fetchone()
    return None if row is None else bytes(row[0])
