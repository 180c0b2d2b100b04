"""Find services by words, place, reference system, kind: `geocrawl search`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnClause,
    ColumnElement,
    ScalarSelect,
    Select,
    and_,
    exists,
    func,
    literal_column,
    or_,
    select,
)

from geocrawl.store.catalog.index_words import Segment, match_query, spaced
from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import ENDPOINT, LAYER, SERVICE, SERVICE_TEXT

BBox = tuple[float, float, float, float]
"""west, south, east, north, degrees; west > east crosses the antimeridian."""


@dataclass(frozen=True, slots=True)
class Found:
    """A service that a search found."""

    id: int
    kind: str
    title: str
    provider: str
    version: str
    layers: int
    """Named layers."""
    alive: bool
    """Valid at its last probe, at one of its endpoints at least."""
    level: str
    """Level of the best endpoint: delivers, answers, advertised; '' without a content check."""
    url: str
    """The best of its addresses."""
    last_ok: float
    box: BBox | None
    tls: str = ""
    """Deviation of the TLS of that address (`tls-expired` …), which was not verified; '' for none."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found."""

    rows: list[Found]
    """The first ones, as many as were asked for."""
    total: int
    """How many services match."""


_IS_VALID_AT = and_(ENDPOINT.c.service_id == SERVICE.c.id, ENDPOINT.c.status == "valid")
_IS_ALIVE = exists().where(_IS_VALID_AT).correlate(SERVICE)
_LEVEL = select(func.max(func.coalesce(ENDPOINT.c.level, ""))).where(_IS_VALID_AT).correlate(SERVICE).scalar_subquery()
_BEST_URL = select(ENDPOINT.c.url).where(ENDPOINT.c.id == SERVICE.c.best_id).correlate(SERVICE).scalar_subquery()
_BEST_DEVIATIONS = (
    select(ENDPOINT.c.deviations).where(ENDPOINT.c.id == SERVICE.c.best_id).correlate(SERVICE).scalar_subquery()
)


def _of_first(column: ColumnElement[Any]) -> ScalarSelect[Any]:
    """Return a column of a service's first endpoint, a valid one if there is any."""
    return (
        select(column)
        .where(ENDPOINT.c.service_id == SERVICE.c.id)
        .order_by((ENDPOINT.c.status == "valid").desc(), ENDPOINT.c.id)
        .limit(1)
        .correlate(SERVICE)
        .scalar_subquery()
    )


_SERVICES = select(
    *(SERVICE.c.id, SERVICE.c.kind, SERVICE.c.title, SERVICE.c.provider, SERVICE.c.version),
    *(SERVICE.c.layer_count.label("layers"), _IS_ALIVE.label("alive"), _LEVEL.label("level")),
    *(func.coalesce(_BEST_URL, _of_first(ENDPOINT.c.url)).label("url"), SERVICE.c.last_ok),
    func.coalesce(_BEST_DEVIATIONS, _of_first(ENDPOINT.c.deviations)).label("deviations"),
    *(SERVICE.c.west, SERVICE.c.south, SERVICE.c.east, SERVICE.c.north),
)
_WITH_WORDS = _SERVICES.select_from(SERVICE.join(SERVICE_TEXT, SERVICE_TEXT.c.rowid == SERVICE.c.id))
_INDEX: ColumnClause[str] = literal_column(SERVICE_TEXT.name)
# Weights of title, abstract, keywords, provider, layers: a hit in the title counts most.
_BEST_MATCH = func.bm25(_INDEX, 10.0, 2.0, 5.0, 3.0, 3.0)
_CRS_OF_LAYER = func.json_each(LAYER.c.crs).table_valued("value", name="crs")


def search(
    connection: Connection,
    words: str = "",
    *,
    kind: str | None = None,
    bbox: BBox | None = None,
    crs: str | None = None,
    alive: bool = False,
    level: str | None = None,
    limit: int = 20,
    segment: Segment = spaced,
) -> SearchResult:
    """Return the `limit` first services in which all the words occur, best first; without words, those valid last come
    first.

    `segment` must be the one that the catalogue was written with. No text of words can raise: all are quoted.
    """
    query = match_query(words, segment)
    if words.strip() and not query:
        return SearchResult([], 0)
    if query:
        statement = _WITH_WORDS.where(_INDEX.op("MATCH")(query)).order_by(_BEST_MATCH, SERVICE.c.id)
    else:
        statement = _SERVICES.order_by(SERVICE.c.last_ok.desc(), SERVICE.c.id)
    statement = statement.where(*_conditions(kind, bbox, crs, alive, level))
    rows = [_found(row) for row in connection.run(statement.limit(limit)).dicts()]
    return SearchResult(rows, len(rows) if len(rows) < limit else _count(connection, statement))


def offers_reference_system(connection: Connection, crs: str) -> bool:
    """Return whether any layer of the catalogue is offered in a reference system, such as EPSG:4326."""
    is_it = func.upper(_CRS_OF_LAYER.c.value) == func.upper(crs)
    return connection.run(select(LAYER.c.service_id).where(is_it).limit(1)).fetchone() is not None


def _count(connection: Connection, statement: Select[Any]) -> int:
    """Return how many services a statement finds."""
    return int(connection.run(select(func.count()).select_from(statement.order_by(None).subquery())).fetchone()[0])


def _conditions(
    kind: str | None, bbox: BBox | None, crs: str | None, alive: bool, level: str | None
) -> Iterator[ColumnElement[bool]]:
    if kind:
        yield SERVICE.c.kind == kind.lower()
    if bbox:
        yield _touches(bbox)
    if crs:
        is_offered = func.upper(_CRS_OF_LAYER.c.value) == func.upper(crs)
        yield exists().where(LAYER.c.service_id == SERVICE.c.id, is_offered).correlate(SERVICE)
    if alive:
        yield _IS_ALIVE
    if level:
        # In the order of the alphabet, as the levels are: advertised, answers, delivers.
        yield exists().where(_IS_VALID_AT, ENDPOINT.c.level >= level.lower()).correlate(SERVICE)


def _touches(bbox: BBox) -> ColumnElement[bool]:
    """Return the condition that a service's box meets this one."""
    west, south, east, north = bbox
    upright = and_(SERVICE.c.south <= north, SERVICE.c.north >= south)
    if west <= east:
        return and_(upright, SERVICE.c.west <= east, SERVICE.c.east >= west)
    return and_(upright, or_(SERVICE.c.east >= west, SERVICE.c.west <= east))


def _found(row: dict[str, Any]) -> Found:
    sides = tuple(row.pop(side) for side in ("west", "south", "east", "north"))
    codes = (str(deviation["code"]) for deviation in json.loads(row.pop("deviations") or "[]"))
    row |= {
        "tls": next((code for code in codes if code.startswith("tls-")), ""),
        "alive": bool(row["alive"]),
        "url": row["url"] or "",
        "level": row["level"] or "",
        "box": None if None in sides else sides,
    }
    return Found(**row)
