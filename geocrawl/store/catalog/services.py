"""What a valid endpoint describes, as rows: the service, its layers, its words.

Endpoints that `clusters` finds to be one are one service; the link is `endpoint.service_id` alone, so it can be undone.
A service keeps its number while an endpoint of it is left, and says what the best of its addresses said last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from geocrawl.model import Endpoint, Layer, Service
from geocrawl.store.catalog.clusters import Clusters
from geocrawl.store.catalog.index_words import Segment
from geocrawl.store.engine.connection import Connection

Box = tuple[float | None, float | None, float | None, float | None]
_NO_BOX: Box = (None, None, None, None)

_SERVICE_COLUMNS = (
    "kind, fingerprint, site, title, abstract, keywords, provider, contact, fees, access_constraints, version, "
    "formats, online_resource, layer_count, west, south, east, north, last_ok"
)
_ADD = f"INSERT INTO service ({_SERVICE_COLUMNS}, first_seen) VALUES ({', '.join('?' * 20)}) RETURNING id"  # noqa: S608
_REPLACE = f"UPDATE service SET ({_SERVICE_COLUMNS}) = ({', '.join('?' * 19)}) WHERE id = ?"  # noqa: S608
_TOUCH = "UPDATE service SET last_ok = max(last_ok, ?) WHERE id = ?"
_FINGERPRINT = "SELECT fingerprint FROM service WHERE id = ?"
_STATED = (
    "SELECT 1 FROM description d JOIN endpoint e ON e.id = d.endpoint_id WHERE e.service_id = ? AND d.fingerprint = ?"
)
_SERVICE_OF = "SELECT service_id FROM endpoint WHERE id = ?"
_DESCRIBED_BY = """
SELECT s.id FROM endpoint e JOIN service s ON s.id = e.service_id LEFT JOIN description d ON d.endpoint_id = e.id
WHERE e.id = ? AND (d.fingerprint = s.fingerprint OR d.fingerprint IS NULL)"""
_PUT = "UPDATE endpoint SET service_id = ? WHERE id = ? AND service_id IS NOT ?"
_BEST = "UPDATE service SET best_id = ? WHERE id = ?"
_LEFT = "SELECT 1 FROM endpoint WHERE service_id = ? LIMIT 1"
_COPY = f"""
INSERT INTO service ({_SERVICE_COLUMNS}, first_seen) SELECT {_SERVICE_COLUMNS}, first_seen FROM service WHERE id = ?
RETURNING id"""  # noqa: S608
_LAYER_COLUMNS = (
    "position, parent, name, title, abstract, crs, styles, keywords, queryable, west, south, east, north, item, formats"
)
_COPY_LAYERS = (
    f"INSERT INTO layer (service_id, {_LAYER_COLUMNS}) SELECT ?, {_LAYER_COLUMNS} FROM layer WHERE service_id = ?"  # noqa: S608
)
_TEXT_COLUMNS = "title, abstract, keywords, provider, layers"
_ADD_TEXT = f"INSERT INTO service_text (rowid, {_TEXT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
_TEXTS = f"SELECT {_TEXT_COLUMNS} FROM service_text WHERE rowid = ?"  # noqa: S608
_ADD_LAYER = f"INSERT INTO layer (service_id, {_LAYER_COLUMNS}) VALUES ({', '.join('?' * 16)})"  # noqa: S608


class ServiceWriter:
    """Writes services; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection, segment: Segment) -> None:
        self._connection = connection
        self._segment = segment
        self._clusters = Clusters(connection)

    def write(self, service: Service, endpoint_id: int, endpoint: Endpoint, at: float) -> None:
        """Keep what an endpoint says of itself, and put it to the others that are the same service."""
        is_new = self._clusters.describe(endpoint_id, endpoint.key, service, at)
        former = self._row(_SERVICE_OF, endpoint_id)[0]
        if former is None and (services := self._clusters.neighbours(endpoint_id)) is not None:
            self._join(endpoint_id, services, new=(service, endpoint.url.site, at))
        elif is_new or former is None:
            self._regroup(endpoint_id, new=(service, endpoint.url.site, at))
        number = int(self._row(_SERVICE_OF, endpoint_id)[0])
        self._describe(number, service, endpoint_id, endpoint.url.site, at)

    def described_by(self, endpoint_id: int) -> int | None:
        """The service that an endpoint is of, when what is stored of it is what this endpoint said last."""
        row = self._row(_DESCRIBED_BY, endpoint_id)
        return row[0] if row else None

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """A person's word that two valid endpoints are one service, or are not."""
        self._clusters.decide(one, other, same=same, at=at)
        for endpoint_id in (one, other):
            self._regroup(endpoint_id)

    def parted(self, numbers: Iterable[int]) -> int:
        """Endpoints of these services have gone: what is left of each is put together anew, and a service of which
        nothing is left is dropped. Returns how many were."""
        dropped = 0
        for number in numbers:
            left = self._connection.execute("SELECT id FROM endpoint WHERE service_id = ?", (number,)).fetchall()
            for (endpoint_id,) in left:
                self._regroup(endpoint_id)
            if not left:
                self._drop(number)
                dropped += 1
        return dropped

    def touch(self, endpoint_id: int, at: float) -> None:
        """An endpoint still says what it said: so does its service."""
        self._connection.execute(_TOUCH, (at, self._row(_SERVICE_OF, endpoint_id)[0]))

    def choose_best(self, endpoint_id: int) -> None:
        """Which of its service's addresses is the best, after a verdict on one of them."""
        number = self._row(_SERVICE_OF, endpoint_id)[0]
        if number is not None:
            self._connection.execute(_BEST, (self._clusters.best(number), number))

    def _join(self, endpoint_id: int, services: tuple[int, ...], new: tuple[Service, str, float]) -> None:
        """Put an endpoint that has no service yet to those that it is joined to, which are then one."""
        number = services[0] if services else self._add(*new)
        self._connection.execute(_PUT, (number, endpoint_id, number))
        for other in services[1:]:
            self._connection.execute("UPDATE endpoint SET service_id = ? WHERE service_id = ?", (number, other))
            self._drop(other)

    def _regroup(self, endpoint_id: int, new: tuple[Service, str, float] | None = None) -> None:
        """Give each cluster around an endpoint a service of its own; `new`: what is written for one that has none."""
        claimed = set[int]()
        before = set[int]()
        for members in self._clusters.around(endpoint_id):
            held = {row[0] for member in members if (row := self._row(_SERVICE_OF, member))[0] is not None}
            before |= held
            if free := held - claimed:
                number = min(free)
            elif new is not None and endpoint_id in members:
                number = self._add(*new)
            elif held:
                number = self._copy(min(held))
            else:
                continue
            claimed.add(number)
            self._connection.executemany(_PUT, [(number, member, number) for member in members])
            self._connection.execute(_BEST, (self._clusters.best(number), number))
        for number in sorted(before - claimed):
            if self._row(_LEFT, number) is None:
                self._drop(number)

    def _describe(self, number: int, service: Service, endpoint_id: int, site: str, at: float) -> None:
        """Let the service say what this endpoint says, if it is the best of its addresses, or if none of them says any
        longer what is stored."""
        stored, best = self._row(_FINGERPRINT, number)[0], self._clusters.best(number)
        self._connection.execute(_BEST, (best, number))
        is_best = best == endpoint_id
        if stored == service.fingerprint or not (is_best or self._row(_STATED, number, stored) is None):
            self._connection.execute(_TOUCH, (at, number))
            return
        values = (service.kind, service.fingerprint, site, *_described(service), at)
        self._connection.execute(_REPLACE, (*values, number))
        self._write_parts(number, service)

    def _add(self, service: Service, site: str, at: float) -> int:
        values = (service.kind, service.fingerprint, site, *_described(service), at, at)
        number = int(self._row(_ADD, *values)[0])
        self._write_parts(number, service)
        return number

    def _copy(self, number: int) -> int:
        """Another service that says the same, for an endpoint that was parted from it."""
        copy = int(self._row(_COPY, number)[0])
        self._connection.execute(_COPY_LAYERS, (copy, number))
        if texts := self._row(_TEXTS, number):
            self._connection.execute(_ADD_TEXT, (copy, *texts))
        return copy

    def _row(self, statement: str, *values: object) -> Any:
        return self._connection.execute(statement, values).fetchone()

    def _write_parts(self, number: int, service: Service) -> None:
        self._clear_parts(number)
        rows = ((number, position, *_layer_values(layer)) for position, layer in enumerate(service.layers))
        self._connection.executemany(_ADD_LAYER, rows)
        titles = " \n".join(f"{layer.title} {layer.name}" for layer in service.layers)
        texts = (service.title, service.abstract, " \n".join(service.keywords), service.provider, titles)
        words = [self._segment(text) for text in texts]
        self._connection.execute(_ADD_TEXT, (number, *words))

    def _clear_parts(self, number: int) -> None:
        self._connection.execute("DELETE FROM layer WHERE service_id = ?", (number,))
        self._connection.execute("DELETE FROM service_text WHERE rowid = ?", (number,))

    def _drop(self, number: int) -> None:
        """A service that no endpoint offers any more."""
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
