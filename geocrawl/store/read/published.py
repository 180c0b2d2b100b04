"""Read what is published of services: for `geocrawl export`, the web pages and Python programs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, or_, select

from geocrawl.model.published import Box, PublishedLayer, PublishedService
from geocrawl.sanitize import masked
from geocrawl.store.catalog.health import GUESSED
from geocrawl.store.engine.clauses import listed
from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import ENDPOINT, SERVICE

_SERVICE_COLUMNS = (
    "id, kind, title, abstract, provider, keywords, version, formats, url, host, online_resource, layers, alive, "
    "health, level, https, cors, fees, access_constraints, deviations, west, south, east, north, first_seen, last_ok, "
    "last_probe"
)
_LAYER_COLUMNS = (
    "service_id, position, parent, item, name, title, abstract, crs, styles, queryable, west, south, east, north"
)
# A tile service's address is a document; only a tile that was delivered tells the form of its tiles' addresses.
_OF_TILE = """FROM proof p JOIN endpoint e ON e.id = p.endpoint_id WHERE e.service_id = v.id AND p.outcome = 'ok'
AND v.kind IN ('tms', 'tilejson') ORDER BY p.zoom IS NULL, p.endpoint_id, p.position LIMIT 1"""
_TILE = f"(SELECT p.url {_OF_TILE}) AS tile, (SELECT p.zoom {_OF_TILE}) AS tile_zoom"
_FULL_URL = """(SELECT e.url FROM endpoint e WHERE e.service_id = v.id AND e.masked_url = v.url ORDER BY e.id LIMIT 1)
AS url"""
_FULL_RESOURCE = "(SELECT s.online_resource FROM service s WHERE s.id = v.id) AS online_resource"


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
    columns = _SERVICE_COLUMNS
    if with_secrets:
        columns = columns.replace("url, host, online_resource", f"{_FULL_URL}, host, {_FULL_RESOURCE}")
    where, values = _conditions(selection)
    statement = f"SELECT {columns}, {_TILE} FROM v_services v WHERE {where} ORDER BY id"  # noqa: S608 our own words
    for row in connection.execute(statement, values).dicts():
        yield _service(row, with_secrets)


def published_layers(connection: Connection, selection: Selection) -> Iterator[PublishedLayer]:
    """Yield the layers of the selected services, by service and in the order of its document."""
    condition, values = _conditions(selection)
    chosen = f"SELECT v.id FROM v_services v WHERE {condition}"  # noqa: S608 our own words
    where = "" if selection.is_all else f"WHERE service_id IN ({chosen}) "
    statement = f"SELECT {_LAYER_COLUMNS} FROM v_layers {where}ORDER BY service_id, position"  # noqa: S608 our own
    for row in connection.execute(statement, values).dicts():
        yield _layer(row)


def selected_ids(connection: Connection, selection: Selection) -> frozenset[int]:
    """Return the numbers of the selected services."""
    where, values = _conditions(selection)
    rows = connection.execute(f"SELECT id FROM v_services v WHERE {where}", values)  # noqa: S608 our own words
    return frozenset(row[0] for row in rows)


def _conditions(selection: Selection) -> tuple[str, dict[str, Any]]:
    """Return the condition on rows of `v_services v`, and its values."""
    found: list[tuple[str, dict[str, Any]]] = []
    if selection.ids is not None:
        ids = json.dumps(list(selection.ids))
        found.append(("v.id IN " + listed(":ids"), {"ids": ids}))
    if selection.kind:
        found.append(("v.kind = :kind", {"kind": selection.kind}))
    if selection.alive:
        found.append(("v.alive <> 0", {}))
    if selection.level:
        # In the order of the alphabet, as the levels are: advertised, answers, delivers.
        found.append(("v.level >= :level", {"level": selection.level}))
    if selection.box:
        found.append(_touching(selection.box))
    values = {name: value for _, named in found for name, value in named.items()}
    return " AND ".join(condition for condition, _ in found) or "1 = 1", values


def _touching(box: Box) -> tuple[str, dict[str, Any]]:
    west, south, east, north = box
    beside = "v.west <= :e AND v.east >= :w" if west <= east else "(v.east >= :w OR v.west <= :e)"
    return f"v.south <= :n AND v.north >= :s AND {beside}", {"w": west, "s": south, "e": east, "n": north}


def _service(row: dict[str, Any], with_secrets: bool) -> PublishedService:
    lists = {name: _texts(row[name]) for name in ("keywords", "formats", "deviations")}
    tile = row["tile"] or ""
    flags = {"alive": bool(row["alive"]), "https": None if row["https"] is None else bool(row["https"])}
    rest = {"url": row["url"] or "", "tile": tile if with_secrets else masked(tile), "box": _box(row)}
    return PublishedService(**row | lists | flags | rest)


def _layer(row: dict[str, Any]) -> PublishedLayer:
    lists = {name: _texts(row[name]) for name in ("crs", "styles")}
    box = _box(row)
    return PublishedLayer(**row | lists | {"queryable": bool(row["queryable"]), "box": box})


def _texts(stored: str) -> tuple[str, ...]:
    return tuple(str(each) for each in json.loads(stored))


def _box(row: dict[str, Any]) -> Box | None:
    """Take the four sides out of a row and return them as one box; None when one is unknown."""
    west, south, east, north = (row.pop(side) for side in ("west", "south", "east", "north"))
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
    )
    .select_from(ENDPOINT.outerjoin(SERVICE, SERVICE.c.id == ENDPOINT.c.service_id))
    .where(ENDPOINT.c.status.is_not(None), or_(ENDPOINT.c.weak < GUESSED, ENDPOINT.c.last_ok.is_not(None)))
    .order_by(ENDPOINT.c.id)
)
_ROWS_OF_KIND = _ROWS.where(ENDPOINT.c.kind == bindparam("kind"))


def export_rows(connection: Connection, kind: str | None = None) -> Iterator[ExportRow]:
    """Yield every endpoint (of `kind`) with a verdict, in the order in which they were found; one is read at a time."""
    rows = connection.run(_ROWS) if kind is None else connection.run(_ROWS_OF_KIND, {"kind": kind})
    for row in rows:
        yield ExportRow(*row)


# --------------------------------------------------------------------------- thumbnails

_THUMBNAIL = """
SELECT t.image FROM thumbnail t JOIN endpoint e ON e.id = t.endpoint_id WHERE e.service_id = ?
ORDER BY t.at DESC LIMIT 1"""


def read_thumbnail(connection: Connection, service_id: int) -> bytes | None:
    """Return the latest thumbnail of a service, a PNG; None when there is none."""
    row = connection.execute(_THUMBNAIL, (service_id,)).fetchone()
    return None if row is None else bytes(row[0])


def with_thumbnail(connection: Connection, service_ids: Sequence[int]) -> frozenset[int]:
    """Return those of the services that have a thumbnail."""
    if not service_ids:
        return frozenset()
    marks = ", ".join("?" * len(service_ids))
    statement = (
        "SELECT DISTINCT e.service_id FROM thumbnail t JOIN endpoint e ON e.id = t.endpoint_id "  # noqa: S608  # only marks
        f"WHERE e.service_id IN ({marks})"
    )
    return frozenset(row[0] for row in connection.execute(statement, tuple(service_ids)))
