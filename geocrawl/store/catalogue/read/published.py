"""Read what is published of services: for `geocrawl export`, the web pages and Python programs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Float, Select, bindparam, case, func, select

from geocrawl.model import Kind
from geocrawl.model.published import Box, PublishedLayer, PublishedService
from geocrawl.sanitize import masked
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.quality import quality
from geocrawl.store.database.schema.tables import ENDPOINT, PROOF, SEARCH_ENTRY, SERVICE, THUMBNAIL
from geocrawl.store.database.views import (
    IS_SHOWN,
    V_LAYERS,
    V_SERVICES,
    mean_ms,
    naming_page,
    software,
    twins,
    valid_share,
)

_service, _layer_row = V_SERVICES.c, V_LAYERS.c
_SIDES = ("west", "south", "east", "north")
_LAST = ("alive", "health", "level", "https", "cors", "fees", "access_constraints", "deviations", *_SIDES)
_DERIVED = ("country", "contact", "availability", "mean_ms", "software", "quality", "twins")
_TEXTS = ("kind", "title", "abstract", "provider", "keywords", "version", "formats")
# A tile service's address is a document; only a tile that was delivered tells the form of its tiles' addresses.
_TILE = (
    select(PROOF.c.url)
    .select_from(PROOF.join(ENDPOINT, ENDPOINT.c.id == PROOF.c.endpoint_id))
    .where(
        ENDPOINT.c.service_id == _service.id,
        PROOF.c.outcome == "ok",
        _service.kind.in_([str(kind) for kind in Kind if kind.facts.tiles]),
    )
    .order_by(PROOF.c.zoom.is_(None), PROOF.c.endpoint_id, PROOF.c.position)
    .limit(1)
)
_FULL_URL = (
    select(ENDPOINT.c.url)
    .where(ENDPOINT.c.service_id == _service.id, ENDPOINT.c.masked_url == _service.url)
    .order_by(ENDPOINT.c.id)
    .limit(1)
)
_FULL_PAGE = select(naming_page(ENDPOINT, with_secrets=True)).where(ENDPOINT.c.service_id == _service.id).limit(1)
_FULL_RESOURCE = select(SERVICE.c.online_resource).where(SERVICE.c.id == _service.id)
_MASKED = (_service.url, _service.online_resource, _service.page)
_IN_FULL = (
    _FULL_URL.scalar_subquery().label("url"),
    _FULL_RESOURCE.scalar_subquery().label("online_resource"),
    _FULL_PAGE.scalar_subquery().label("page"),
)
_SERVICES = select(
    *(_service[name] for name in ("id", *_TEXTS, "host", "layers", *_LAST, "first_seen", "last_ok", "last_probe")),
    *(_service[name] for name in _DERIVED),
    _TILE.scalar_subquery().label("tile"),
    _TILE.with_only_columns(PROOF.c.zoom).scalar_subquery().label("tile_zoom"),
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which services are read: those that fulfil every condition that is set."""

    kind: str | None = None
    box: Box | None = None
    """Their extent intersects it."""
    alive: bool = False
    level: str | None = None
    """At least this level: advertised, answers or delivers."""
    ids: Collection[int] | None = None

    @property
    def is_about_kind_alone(self) -> bool:
        """Return whether no condition but the kind is set."""
        return self == Selection(self.kind)

    @property
    def is_all(self) -> bool:
        """Return whether no condition is set."""
        return self == Selection()


def published_services(
    connection: Connection, selection: Selection, *, with_secrets: bool = False
) -> Iterator[PublishedService]:
    """Yield the selected services by their number. `with_secrets`: addresses in full, with their keys."""
    names, values = _conditions(selection)
    for row in connection.execute(_services(names, with_secrets), values).dicts():
        yield _published(row, with_secrets)


def published_layers(connection: Connection, selection: Selection) -> Iterator[PublishedLayer]:
    """Yield the layers of the selected services, by service and in the order of its document."""
    return map(layer_of, stored_layers(connection, selection))


class StoredLayer(NamedTuple):
    """A layer as the database has it: `layer_of` takes five times as long as to read it."""

    service_id: int
    position: int
    parent: int | None
    item: str
    name: str
    title: str
    abstract: str
    crs: str
    """A JSON list."""
    styles: str
    """A JSON list."""
    queryable: bool
    west: float | None
    south: float | None
    east: float | None
    north: float | None


def stored_layers(connection: Connection, selection: Selection) -> Iterator[StoredLayer]:
    """Yield what `published_layers` does, as it is stored."""
    names, values = _conditions(selection)
    return map(StoredLayer._make, connection.execute(_layers(names), values))


def layer_of(stored: StoredLayer) -> PublishedLayer:
    """Return a stored layer as it is published."""
    row = stored._asdict()
    lists = {name: texts_of(row[name]) for name in ("crs", "styles")}
    box = _box(row)
    return PublishedLayer(**row | lists | {"queryable": bool(row["queryable"]), "box": box})


def selected_ids(connection: Connection, selection: Selection) -> frozenset[int]:
    """Return the numbers of the selected services."""
    names, values = _conditions(selection)
    return frozenset(row[0] for row in connection.execute(_ids(names), values))


_WEST, _SOUTH, _EAST, _NORTH = (bindparam(side, type_=Float) for side in _SIDES)
_IN_LATITUDE = (_service.south <= _NORTH) & (_service.north >= _SOUTH)
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "ids": in_list(_service.id, "ids"),
    "kind": _service.kind == bindparam("kind"),
    "alive": _service.alive != 0,
    # In the order of the alphabet, as the levels are: advertised, answers, delivers.
    "level": _service.level >= bindparam("level"),
    "box": _IN_LATITUDE & (_service.west <= _EAST) & (_service.east >= _WEST),
    "box over the antimeridian": _IN_LATITUDE & ((_service.east >= _WEST) | (_service.west <= _EAST)),
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
        values |= zip(_SIDES, selection.box, strict=True)
    return tuple(names), values


@lru_cache(maxsize=100)
def _services(names: tuple[str, ...], with_secrets: bool) -> Select[Any]:
    """Return the statement that reads the services that fulfil the conditions of these names."""
    chosen = _SERVICES.where(*(_CONDITIONS[name] for name in names)).order_by(_service.id)
    return chosen.add_columns(*(_IN_FULL if with_secrets else _MASKED))


@lru_cache(maxsize=100)
def _ids(names: tuple[str, ...]) -> Select[Any]:
    return select(_service.id).where(*(_CONDITIONS[name] for name in names))


_LAYERS = select(*(_layer_row[name] for name in StoredLayer._fields))


@lru_cache(maxsize=100)
def _layers(names: tuple[str, ...]) -> Select[Any]:
    chosen = _LAYERS.where(_layer_row.service_id.in_(_ids(names))) if names else _LAYERS
    return chosen.order_by(_layer_row.service_id, _layer_row.position)


def _published(row: dict[str, Any], with_secrets: bool) -> PublishedService:
    lists = {name: texts_of(row[name]) for name in ("keywords", "formats", "deviations")}
    contact = {name: str(text) for name, text in json.loads(row["contact"]).items() if text}
    tile = row["tile"] or ""
    for name in ("availability", "mean_ms"):
        row[name] = None if row[name] is None else round(row[name], 3)
    flags = {"alive": bool(row["alive"]), "https": None if row["https"] is None else bool(row["https"])}
    rest = {"url": row["url"] or "", "tile": tile if with_secrets else masked(tile), "box": _box(row)}
    row["twins"] = tuple(json.loads(row["twins"]))
    return PublishedService(**row | lists | {"contact": contact} | flags | rest)


@lru_cache(maxsize=1000)
def texts_of(stored: str) -> tuple[str, ...]:
    """Return the texts of a list that the database stores as JSON; the layers of a service have the same ones."""
    return tuple(str(each) for each in json.loads(stored))


def _box(row: dict[str, Any]) -> Box | None:
    """Take the four sides out of a row and return them as one box; None when one is unknown."""
    west, south, east, north = (row.pop(side) for side in _SIDES)
    return None if None in (west, south, east, north) else (west, south, east, north)


# --------------------------------------------------------------------------- endpoints


@dataclass(frozen=True, slots=True)
class ExportRow:
    """An endpoint that has a verdict, with what answered there last."""

    url: str
    kind: str
    status: str
    title: str
    version: str
    layers: int
    """Named layers."""
    first_seen: float
    last_ok: float | None
    reason: str
    last_probe: float
    abstract: str
    keywords: str
    """A JSON list."""
    provider: str
    formats: str
    """A JSON list."""
    online_resource: str
    west: float | None
    south: float | None
    east: float | None
    north: float | None
    deviations: str
    """A JSON list of {code, detail}."""
    service_id: int | None
    level: str
    """advertised, answers, delivers; '' without a content check."""
    cors: str
    country: str
    contact: str
    """A JSON mapping."""
    availability: float | None
    mean_ms: float | None
    software: str
    quality: int | None
    """0 to 100; None for an address that never was valid."""
    twins: str
    """A JSON list of the numbers of other services: the same content by other protocols of the server."""
    page: str
    """Address of a page that names it, or another address of its service; '' for none."""


_ROWS = (
    select(
        *(ENDPOINT.c.url, ENDPOINT.c.kind, ENDPOINT.c.status, func.coalesce(SERVICE.c.title, "")),
        *(func.coalesce(ENDPOINT.c.version, ""), func.coalesce(SERVICE.c.layer_count, 0)),
        *(ENDPOINT.c.first_seen, ENDPOINT.c.last_ok, ENDPOINT.c.reason, ENDPOINT.c.last_probe),
        *(func.coalesce(SERVICE.c.abstract, ""), func.coalesce(SERVICE.c.keywords, "[]")),
        *(func.coalesce(SERVICE.c.provider, ""), func.coalesce(SERVICE.c.formats, "[]")),
        func.coalesce(SERVICE.c.online_resource, ""),
        *(SERVICE.c.west, SERVICE.c.south, SERVICE.c.east, SERVICE.c.north),
        *(func.coalesce(ENDPOINT.c.deviations, "[]"), ENDPOINT.c.service_id),
        *(func.coalesce(ENDPOINT.c.level, ""), func.coalesce(ENDPOINT.c.cors, "")),
        *(func.coalesce(SEARCH_ENTRY.c.country, ""), func.coalesce(SERVICE.c.contact, "{}")),
        *(valid_share(ENDPOINT), mean_ms(ENDPOINT), software(ENDPOINT)),
        *(
            case((SERVICE.c.id.is_not(None), quality(ENDPOINT))),
            twins(ENDPOINT),
            naming_page(ENDPOINT, with_secrets=True),
        ),
    )
    .select_from(
        ENDPOINT.outerjoin(SERVICE, SERVICE.c.id == ENDPOINT.c.service_id).outerjoin(
            SEARCH_ENTRY, SEARCH_ENTRY.c.service_id == ENDPOINT.c.service_id
        )
    )
    .where(ENDPOINT.c.status.is_not(None), IS_SHOWN)
    .order_by(ENDPOINT.c.id)
)
_ROWS_OF_KIND = _ROWS.where(ENDPOINT.c.kind == bindparam("kind"))


def export_rows(connection: Connection, kind: str | None = None) -> Iterator[ExportRow]:
    """Yield every endpoint (of `kind`) with a verdict, in the order in which they were found; one is read at a time."""
    rows = connection.execute(_ROWS) if kind is None else connection.execute(_ROWS_OF_KIND, {"kind": kind})
    for row in rows:
        yield ExportRow(*row)


# --------------------------------------------------------------------------- thumbnails

_PICTURED = THUMBNAIL.join(ENDPOINT, ENDPOINT.c.id == THUMBNAIL.c.endpoint_id)
_THUMBNAIL = (
    select(THUMBNAIL.c.image)
    .select_from(_PICTURED)
    .where(ENDPOINT.c.service_id == bindparam("service"))
    .order_by(THUMBNAIL.c.at.desc(), ENDPOINT.c.id.desc())
    .limit(1)
)
_WITH_THUMBNAIL = (
    select(ENDPOINT.c.service_id).distinct().select_from(_PICTURED).where(in_list(ENDPOINT.c.service_id, "services"))
)


def read_thumbnail(connection: Connection, service_id: int) -> bytes | None:
    """Return the latest thumbnail of a service, a PNG; None when there is none."""
    row = connection.execute(_THUMBNAIL, {"service": service_id}).fetchone()
    return None if row is None else bytes(row[0])


def with_thumbnail(connection: Connection, service_ids: Sequence[int]) -> frozenset[int]:
    """Return those of the services that have a thumbnail."""
    return frozenset(row[0] for row in connection.execute(_WITH_THUMBNAIL, {"services": service_ids}))
