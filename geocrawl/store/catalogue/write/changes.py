"""Compare an endpoint's present description of its service with the stored one, and write what changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlalchemy import bindparam, insert, select

from geocrawl.model import Layer, Service
from geocrawl.model.catalogue import Box
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import CHANGE, LAYER, SERVICE

MOST_CHANGES = 500
"""Most changes stored for one description; a last row then says how many more there were."""
_TEXT_CHARS = 300
_TEXTS = ("title", "abstract", "provider", "fees", "access_constraints", "version", "online_resource")
_SAME_SIDE_DEG = 1e-6
_ADD_CHANGE = insert(CHANGE)
_TEXTS_OF_SERVICE = select(*(SERVICE.c[name] for name in (*_TEXTS, "formats", "contact"))).where(
    SERVICE.c.id == bindparam("service")
)
_NAMED_LAYERS = (
    select(LAYER.c.name, LAYER.c.title, LAYER.c.west, LAYER.c.south, LAYER.c.east, LAYER.c.north)
    .where(LAYER.c.service_id == bindparam("service"), LAYER.c.name != "")
    .order_by(LAYER.c.position)
)
"""Read a service's layers; groups without a name have no content."""


class Difference(NamedTuple):
    """One difference between two descriptions of a service."""

    what: str
    name: str
    """Of the layer; '' for the service itself."""
    before: str
    after: str


def write_changes(connection: Connection, endpoint_id: int, former: int, service: Service, at: float) -> None:
    """Write how `service`, which an endpoint describes now, differs from the stored service `former`."""
    found = list(differences(connection, former, service))
    kept = found[:MOST_CHANGES]
    if len(found) > MOST_CHANGES:
        kept.append(Difference("more", "", "", str(len(found) - MOST_CHANGES)))
    ids = {"endpoint_id": endpoint_id, "service_id": former, "at": at}
    connection.executemany(_ADD_CHANGE, [ids | each._asdict() for each in kept])


def differences(connection: Connection, former: int, service: Service) -> Iterator[Difference]:
    """Yield the differences between the stored service with the id `former` and `service`."""
    row = connection.execute(_TEXTS_OF_SERVICE, {"service": former}).fetchone()
    if row is None:
        return
    *texts, formats, contact = row
    for name, before in zip(_TEXTS, texts, strict=True):
        yield from _differing(name, "", before or "", getattr(service, name) or "")
    yield from _differing("formats", "", _line(json.loads(formats)), _line(service.formats))
    yield from _differing("contact", "", _line(json.loads(contact).values()), _line(service.contact.values()))
    yield from _differing_layers(connection, former, service)


def _differing_layers(connection: Connection, former: int, service: Service) -> Iterator[Difference]:
    """Yield the differences between layers of one name."""
    rows = connection.execute(_NAMED_LAYERS, {"service": former})
    before = {name: (title, None if None in box else box) for name, title, *box in rows}
    now: dict[str, Layer] = {}
    for layer in service.layers:
        if layer.name:
            now.setdefault(layer.name, layer)
    for name, layer in now.items():
        if name not in before:
            yield Difference("layer-added", name, "", layer.title[:_TEXT_CHARS])
            continue
        title, box = before[name]
        yield from _differing("layer-title", name, title, layer.title)
        sides = layer.box.bounds if layer.box is not None and not layer.box.is_empty else None
        if _moved(box, sides):
            yield Difference("layer-box", name, _sides(box), _sides(sides))
    for name, (title, _) in before.items():
        if name not in now:
            yield Difference("layer-removed", name, title[:_TEXT_CHARS], "")


def _differing(what: str, name: str, before: str, after: str) -> Iterator[Difference]:
    if before != after:
        yield Difference(what, name, before[:_TEXT_CHARS], after[:_TEXT_CHARS])


def _moved(before: list[float] | None, after: Box | None) -> bool:
    if before is None or after is None:
        return (before is None) is not (after is None)
    return any(abs(a - b) > _SAME_SIDE_DEG for a, b in zip(before, after, strict=True))


def _sides(box: list[float] | Box | None) -> str:
    return ", ".join(f"{side:g}" for side in box) if box is not None else ""


def _line(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))
