"""Convert a published service to columns of plain values, the same in every format for maps and tables."""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.model.published import PublishedLayer, PublishedService
from geocrawl.sanitize import plain

SERVICE_COLUMNS: Mapping[str, str] = {
    "id": "INTEGER",
    "kind": "TEXT",
    "title": "TEXT",
    "abstract": "TEXT",
    "provider": "TEXT",
    "keywords": "TEXT",
    "version": "TEXT",
    "formats": "TEXT",
    "url": "TEXT",
    "online_resource": "TEXT",
    "layers": "INTEGER",
    "alive": "BOOLEAN",
    "health": "TEXT",
    "level": "TEXT",
    "https": "BOOLEAN",
    "cors": "TEXT",
    "fees": "TEXT",
    "access_constraints": "TEXT",
    "deviations": "TEXT",
    "first_seen": "DATETIME",
    "last_ok": "DATETIME",
    "last_probe": "DATETIME",
}
"""Name of a property → its type in SQL. Lists are joined with '; '."""

LAYER_COLUMNS: Mapping[str, str] = {
    "service_id": "INTEGER",
    "position": "INTEGER",
    "parent": "INTEGER",
    "item": "TEXT",
    "name": "TEXT",
    "title": "TEXT",
    "abstract": "TEXT",
    "crs": "TEXT",
    "styles": "TEXT",
    "queryable": "BOOLEAN",
    "west": "DOUBLE",
    "south": "DOUBLE",
    "east": "DOUBLE",
    "north": "DOUBLE",
}


def service_properties(service: PublishedService) -> dict[str, str | int | bool | None]:
    """Return the values of `SERVICE_COLUMNS`; control characters are removed from texts."""
    return {name: _plain(getattr(service, name)) for name in SERVICE_COLUMNS}


def layer_properties(layer: PublishedLayer) -> dict[str, str | int | bool | float | None]:
    """Return the values of `LAYER_COLUMNS`; control characters are removed from texts."""
    sides = layer.box or (None, None, None, None)
    texts = [name for name in LAYER_COLUMNS if name not in _SIDES]
    return {**{name: _plain(getattr(layer, name)) for name in texts}, **dict(zip(_SIDES, sides, strict=True))}


_SIDES = ("west", "south", "east", "north")


def _plain(value: str | int | bool | tuple[str, ...] | None) -> str | int | bool | None:
    if isinstance(value, tuple):
        return "; ".join(filter(None, map(plain, value)))
    return plain(value) if isinstance(value, str) else value


def name_of(service: PublishedService) -> str:
    """Return the title for people; for a service without one, its kind and host."""
    return plain(service.title) or f"{service.kind.upper()} at {plain(service.host)}"
