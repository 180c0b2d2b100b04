"""What a valid endpoint describes, as rows: the service, its layers, its words.

Endpoints whose kind, content and site are the same are one service; the link is `endpoint.service_id` alone, so it
can be undone. A service keeps its number when its content changes, as long as no other endpoint shares it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from geocrawl.model import Layer, Service
from geocrawl.store.text import Segment

Box = tuple[float | None, float | None, float | None, float | None]
_NO_BOX: Box = (None, None, None, None)

_SERVICE_COLUMNS = (
    "kind, fingerprint, site, title, abstract, keywords, provider, contact, fees, access_constraints, version, "
    "formats, online_resource, layer_count, west, south, east, north, last_ok"
)
_ADD = f"INSERT INTO service ({_SERVICE_COLUMNS}, first_seen) VALUES ({', '.join('?' * 20)}) RETURNING id"  # noqa: S608
_REPLACE = f"UPDATE service SET ({_SERVICE_COLUMNS}) = ({', '.join('?' * 19)}) WHERE id = ?"  # noqa: S608
_SAME = (
    "SELECT id FROM service WHERE kind = ? AND fingerprint = ? AND site = ? AND fingerprint <> '' ORDER BY id LIMIT 1"
)
_CONTENT = "SELECT kind, fingerprint, site FROM service WHERE id = ?"
_SHARED = "SELECT 1 FROM endpoint WHERE service_id = ? AND id <> ? LIMIT 1"
_ADD_LAYER = f"INSERT INTO layer VALUES ({', '.join('?' * 16)})"  # noqa: S608


class ServiceWriter:
    """Writes services; every method works inside the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection, segment: Segment) -> None:
        self._connection = connection
        self._segment = segment

    def write(self, service: Service, site: str, endpoint_id: int, former: int | None, at: float) -> int:
        """The service's number; `former` is the one that answered at this endpoint before."""
        content = (service.kind, service.fingerprint, site)
        if former is not None and service.fingerprint and self._row(_CONTENT, former) == content:
            self._connection.execute("UPDATE service SET last_ok = ? WHERE id = ?", (at, former))
            return former
        alone = former is not None and self._row(_SHARED, former, endpoint_id) is None
        same = self._row(_SAME, *content)
        if same is not None:
            self._connection.execute("UPDATE service SET last_ok = ? WHERE id = ?", (at, same[0]))
            if alone and former is not None:
                self._drop(former, endpoint_id)
            return int(same[0])
        values = (*content, *_described(service), at)
        if alone and former is not None:
            self._connection.execute(_REPLACE, (*values, former))
            number = former
        else:
            number = int(self._connection.execute(_ADD, (*values, at)).fetchone()[0])
        self._write_parts(number, service)
        return number

    def _row(self, statement: str, *values: object) -> Any:
        return self._connection.execute(statement, values).fetchone()

    def _write_parts(self, number: int, service: Service) -> None:
        self._clear_parts(number)
        rows = ((number, position, *_layer_values(layer)) for position, layer in enumerate(service.layers))
        self._connection.executemany(_ADD_LAYER, rows)
        titles = " \n".join(f"{layer.title} {layer.name}" for layer in service.layers)
        texts = (service.title, service.abstract, " \n".join(service.keywords), service.provider, titles)
        words = [self._segment(text) for text in texts]
        self._connection.execute(
            "INSERT INTO service_text (rowid, title, abstract, keywords, provider, layers) VALUES (?, ?, ?, ?, ?, ?)",
            (number, *words),
        )

    def _clear_parts(self, number: int) -> None:
        self._connection.execute("DELETE FROM layer WHERE service_id = ?", (number,))
        self._connection.execute("DELETE FROM service_text WHERE rowid = ?", (number,))

    def _drop(self, number: int, endpoint_id: int) -> None:
        """A service that nobody offers any more under this content."""
        self._connection.execute("UPDATE endpoint SET service_id = NULL WHERE id = ?", (endpoint_id,))
        self._clear_parts(number)
        self._connection.execute("DELETE FROM service WHERE id = ?", (number,))


def _described(service: Service) -> tuple[object, ...]:
    return (
        service.title,
        service.abstract,
        _json(service.keywords),
        service.provider,
        json.dumps(dict(service.contact), ensure_ascii=False),
        service.fees,
        service.access_constraints,
        service.version,
        _json(service.formats),
        service.online_resource,
        sum(1 for layer in service.layers if layer.name),
        *_union(_box(layer) for layer in service.layers),
    )


def _layer_values(layer: Layer) -> tuple[object, ...]:
    return (
        layer.parent,
        layer.name,
        layer.title,
        layer.abstract,
        _json(layer.crs),
        _json(layer.styles),
        _json(layer.keywords),
        int(layer.queryable),
        *_box(layer),
        layer.item,
        _json(layer.formats),
    )


def _box(layer: Layer) -> Box:
    """west, south, east, north of a layer's own extent, degrees."""
    if layer.box is None or layer.box.is_empty:
        return _NO_BOX
    west, south, east, north = layer.box.bounds
    return (west, south, east, north)


def _union(boxes: Iterable[Box]) -> Box:
    """The box around all that are known."""
    known = [box for box in boxes if box[0] is not None]
    if not known:
        return _NO_BOX
    west, south, east, north = zip(*known, strict=True)
    return (min(west), min(south), max(east), max(north))


def _json(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
