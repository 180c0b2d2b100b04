"""Define the columns of an export, in order, and how each value is converted."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from geocrawl.sanitize import plain
from geocrawl.wording import iso

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = str | int | float | None | list[object]


def _text(value: object) -> Value:
    return plain(str(value)) if value is not None else ""


def _number(value: object) -> Value:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) else None


def _time(value: object) -> Value:
    """Return seconds since the epoch as `2024-05-17T09:30:00Z`."""
    return iso(value) if isinstance(value, int | float) else None


def _list(value: object) -> Value:
    """Return a list that the database stores as JSON, control characters removed from its texts."""
    items = json.loads(value) if isinstance(value, str) and value else value
    return [_plain_item(item) for item in items] if isinstance(items, list | tuple) else []


def _plain_item(item: object) -> object:
    if isinstance(item, Mapping):
        return {plain(str(key)): _plain_item(part) for key, part in item.items()}
    return plain(item) if isinstance(item, str) else item


COLUMNS: Mapping[str, Callable[[object], Value]] = {
    "url": _text,
    "kind": _text,
    "status": _text,
    "title": _text,
    "version": _text,
    "layers": _number,
    "first_seen": _time,
    "last_ok": _time,
    "reason": _text,
    "last_probe": _time,
    "provider": _text,
    "abstract": _text,
    "keywords": _list,
    "formats": _list,
    "online_resource": _text,
    "west": _number,
    "south": _number,
    "east": _number,
    "north": _number,
    "deviations": _list,
    "service_id": _number,
    "level": _text,
    "cors": _text,
}
"""Name → converter of the row's field of that name. New columns go to the end, since scripts may read by position."""


def values_of(row: DataclassInstance) -> dict[str, Value]:
    """Return the values of a row by column."""
    return {name: read(getattr(row, name)) for name, read in COLUMNS.items()}
