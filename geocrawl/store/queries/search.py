"""Finding services by words, place, reference system, kind: `geocrawl search`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geocrawl.store.catalog.index_words import Segment, match_query, spaced
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.reading import dicts

BBox = tuple[float, float, float, float]
"""west, south, east, north, degrees; west > east crosses the antimeridian."""


@dataclass(frozen=True, slots=True)
class Found:
    """A service that matches."""

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
    """What its best endpoint was seen to do: delivers, answers, advertised; '' when no content was asked for."""
    url: str
    """The best of its addresses."""
    last_ok: float
    box: BBox | None


_COLUMNS = """
SELECT s.id, s.kind, s.title, s.provider, s.version, s.layer_count AS layers,
  EXISTS (SELECT 1 FROM endpoint e WHERE e.service_id = s.id AND e.status = 'valid') AS alive,
  (SELECT max(coalesce(e.level, '')) FROM endpoint e WHERE e.service_id = s.id AND e.status = 'valid') AS level,
  coalesce((SELECT e.url FROM endpoint e WHERE e.id = s.best_id),
    (SELECT e.url FROM endpoint e WHERE e.service_id = s.id ORDER BY e.status = 'valid' DESC, e.id LIMIT 1)) AS url,
  s.last_ok, s.west, s.south, s.east, s.north
FROM service s"""
_BY_WORDS = " JOIN service_text t ON t.rowid = s.id"
# A hit in the title counts most, then keywords, provider and layers, then the abstract.
_BEST_FIRST = " ORDER BY bm25(service_text, 10.0, 2.0, 5.0, 3.0, 3.0), s.id"
_CRS = "EXISTS (SELECT 1 FROM layer l, json_each(l.crs) c WHERE l.service_id = s.id AND upper(c.value) = upper(?))"
_ALIVE = "EXISTS (SELECT 1 FROM endpoint e WHERE e.service_id = s.id AND e.status = 'valid')"

# The levels' names stand in the order of the alphabet: advertised, answers, delivers.
_LEVEL = "EXISTS (SELECT 1 FROM endpoint e WHERE e.service_id = s.id AND e.status = 'valid' AND e.level >= ?)"


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
) -> list[Found]:
    """Services in which all the words occur, best first; without words the ones valid last come first.

    `segment` must be the one that the catalogue was written with. No text of words can raise: all are quoted.
    """
    conditions: list[str] = []
    values: list[object] = []
    query = match_query(words, segment)
    if words.strip():
        if not query:
            return []
        conditions.append("service_text MATCH ?")
        values.append(query)
    if kind:
        conditions.append("s.kind = ?")
        values.append(kind.lower())
    if bbox:
        condition, corners = _touches(bbox)
        conditions.append(condition)
        values += corners
    if crs:
        conditions.append(_CRS)
        values.append(crs)
    if alive:
        conditions.append(_ALIVE)
    if level:
        conditions.append(_LEVEL)
        values.append(level.lower())
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    order = _BEST_FIRST if query else " ORDER BY s.last_ok DESC, s.id"
    statement = _COLUMNS + (_BY_WORDS if query else "") + where + order + " LIMIT ?"
    return [_found(row) for row in dicts(connection, statement, *values, limit)]


def _touches(bbox: BBox) -> tuple[str, list[object]]:
    """The condition that a service's box meets this one."""
    west, south, east, north = bbox
    upright = "s.south <= ? AND s.north >= ?"
    if west <= east:
        return f"({upright} AND s.west <= ? AND s.east >= ?)", [north, south, east, west]
    return f"({upright} AND (s.east >= ? OR s.west <= ?))", [north, south, west, east]


def _found(row: dict[str, Any]) -> Found:
    sides = tuple(row.pop(side) for side in ("west", "south", "east", "north"))
    row |= {
        "alive": bool(row["alive"]),
        "url": row["url"] or "",
        "level": row["level"] or "",
        "box": None if None in sides else sides,
    }
    return Found(**row)
