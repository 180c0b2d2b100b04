"""Write endpoints: as CSV for spreadsheets and scripts (RFC 4180, lines end in LF), as JSON lines for programs."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from geocrawl.errors import UsageError
from geocrawl.export.files import opened
from geocrawl.files import SECRET
from geocrawl.sanitize import masked, plain
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


def _rounded(value: object) -> Value:
    """Return a share or a mean without digits that say nothing."""
    return round(value, 3) if isinstance(value, float) and math.isfinite(value) else None


def _time(value: object) -> Value:
    """Return seconds since the epoch as `2024-05-17T09:30:00Z`."""
    return iso(value) if isinstance(value, int | float) else None


def _list(value: object) -> Value:
    """Return a list that the database stores as JSON, control characters removed from its texts."""
    items = json.loads(value) if isinstance(value, str) and value else value
    return [_plain_item(item) for item in items] if isinstance(items, list | tuple) else []


def _values(value: object) -> Value:
    """Return the values of a mapping that the database stores as JSON, each once, control characters removed."""
    found = json.loads(value) if isinstance(value, str) and value else value
    return list(dict.fromkeys(map(_plain_item, found.values()))) if isinstance(found, Mapping) else []


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
    "country": _text,
    "contact": _values,
    "availability": _rounded,
    "mean_ms": _rounded,
    "software": _text,
    "quality": _number,
    "twins": _list,
    "page": _text,
}
"""Name → converter of the row's field of that name. New columns go to the end, since scripts may read by position."""


def values_of(row: DataclassInstance) -> dict[str, Value]:
    """Return the values of a row by column."""
    return {name: read(getattr(row, name)) for name, read in COLUMNS.items()}


# --------------------------------------------------------------------------- CSV

_OURS = frozenset({"url", "kind", "status", "reason"})
"""Columns that cannot hold a formula: an address begins with http, the others are fixed words."""
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # spreadsheets read full-width characters alike


def write_csv(rows: Iterable[DataclassInstance], stream: TextIO) -> int:
    """Write a header and a line for each row; return the number of rows.

    Text that a spreadsheet would read as a formula is prefixed with an apostrophe; `url` is not changed. Lists are
    joined with '; '; a deviation is written as its code.
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for row in rows:
        writer.writerow([_cell(name, value) for name, value in values_of(row).items()])
        count += 1
    return count


def _cell(name: str, value: Value) -> str | int | float | None:
    if isinstance(value, list):
        value = "; ".join(_item(item) for item in value)
    return formula_safe(value) if isinstance(value, str) and name not in _OURS else value


def formula_safe(text: str) -> str:
    """Return a text, prefixed with an apostrophe when a spreadsheet would read it as a formula."""
    return "'" + text if text.startswith(_FORMULA_STARTS) else text


def _item(item: object) -> str:
    return str(item.get("code", "")) if isinstance(item, Mapping) else str(item)


# --------------------------------------------------------------------------- JSON lines


def write_jsonl(rows: Iterable[DataclassInstance], stream: TextIO) -> int:
    """Write an object for each row, keys are the columns, unknown values null; return the number of rows."""
    count = 0
    for row in rows:
        stream.write(json.dumps(values_of(row), ensure_ascii=False, allow_nan=False) + "\n")
        count += 1
    return count


# --------------------------------------------------------------------------- any format

FORMATS = {"csv": write_csv, "jsonl": write_jsonl}


def export(
    rows: Iterable[DataclassInstance],
    format: str,
    out: Path | None = None,
    *,
    with_secrets: bool = False,
    with_mark: bool = False,
) -> int:
    """Write rows (dataclasses with the fields named in `COLUMNS`) and return their number.

    `out` None or `-` is standard output. `with_secrets`: do not mask keys and passwords in addresses, and make a new
    file unreadable for other users. `with_mark`: begin with the byte order mark by which Excel
    knows UTF-8. Raises UsageError for an unknown format, EnvironmentFault when the file cannot be written; a former
    file then stays.
    """
    if format not in FORMATS:
        raise UsageError(f"--format {format!r}: one of {', '.join(FORMATS)}")
    with opened(out, new_mode=SECRET if with_secrets else 0o666) as stream:
        stream.write("\ufeff" if with_mark else "")
        return FORMATS[format](rows if with_secrets else map(_without_secrets, rows), stream)


def _without_secrets(row: DataclassInstance) -> DataclassInstance:
    """Return a row with the secrets in addresses masked, also in titles and abstracts."""
    texts = ((field.name, getattr(row, field.name)) for field in fields(row))
    changed = {name: masked(text) for name, text in texts if isinstance(text, str) and masked(text) != text}
    return replace(row, **changed) if changed else row
