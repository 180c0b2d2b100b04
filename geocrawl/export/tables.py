"""Write tables: as CSV for spreadsheets and scripts (RFC 4180, lines end in LF), as JSON lines for programs.

Every CSV and every JSON line that geocrawl writes of its catalogue goes through here: one guard against formulas, one
way to write lists, numbers and what is unknown. The columns are those of `model/catalogue.py`.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TextIO

from geocrawl.errors import UsageError
from geocrawl.export.files import opened
from geocrawl.files import SECRET
from geocrawl.model.catalogue import SIDES, EndpointService, file_columns
from geocrawl.model.search import LayerHit
from geocrawl.sanitize import masked, plain

Value = str | int | float | bool | None
ENCODING_MARK = "\ufeff"
"""The byte order mark by which Excel knows UTF-8."""
_FIRST = (
    *("url", "kind", "status", "title", "version", "layers", "first_seen", "last_ok", "reason", "last_probe"),
    *("provider", "abstract", "keywords", "formats", "online_resource", *SIDES, "deviations", "service_id", "level"),
    *("cors", "country", "contact", "availability", "mean_ms", "software", "quality", "twins", "page"),
)
"""Columns of the first versions, in an order that scripts which read by position rely on."""
_FIELDS = {**{name: name for name in file_columns(EndpointService)}, "service_id": "id"}
_FIELDS.pop("id")
COLUMNS = (*_FIRST, *(name for name in _FIELDS if name not in _FIRST))
"""Columns of endpoints, in CSV and in JSON lines: a new one of `EndpointService` is at the end."""


def json_value(value: Any) -> Any:
    """Return a value for JSON: texts without control characters, numbers that are finite, lists."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): json_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def flat_value(value: Any) -> Value:
    """Return a value for a cell: a list is joined with '; ', of a mapping its different values are; within a list
    those of a mapping have spaces between them."""
    if isinstance(value, Mapping):
        value = tuple(dict.fromkeys(value.values()))
    if isinstance(value, list | tuple):
        texts = (" ".join(item.values()) if isinstance(item, Mapping) else str(item) for item in value)
        return "; ".join(filter(None, map(plain, texts)))
    flat: Value = json_value(value)
    return flat


def endpoint_values(endpoint: EndpointService) -> dict[str, Any]:
    """Return the values of `COLUMNS`, lists as lists; service and place are unknown for an endpoint without service."""
    sides = dict(zip(SIDES, endpoint.box or (None,) * 4, strict=True))
    values = {name: sides[name] if name in sides else getattr(endpoint, _FIELDS[name]) for name in COLUMNS}
    values["last_ok"] = endpoint.last_ok or None
    return values if endpoint.id else {**values, "service_id": None, "quality": None, "alive": None}


# --------------------------------------------------------------------------- CSV

_OURS = frozenset({"url", "kind", "status", "reason"})
"""Columns that cannot hold a formula: an address begins with http, the others are fixed words."""
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # spreadsheets read full-width characters alike


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], stream: TextIO) -> int:
    """Write a header and a line for each row of values; return the number of rows.

    Text that a spreadsheet would read as a formula is prefixed with an apostrophe; `url` is not changed.
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for row in rows:
        writer.writerow([_cell(name, flat_value(value)) for name, value in zip(columns, row, strict=True)])
        count += 1
    return count


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a table as a file in UTF-8 that begins with the mark by which Excel knows it."""
    stream = io.StringIO(ENCODING_MARK)
    stream.seek(0, io.SEEK_END)
    write_csv(columns, rows, stream)
    return stream.getvalue().encode("utf-8", "replace")


def _cell(name: str, value: Value) -> Value:
    is_formula = isinstance(value, str) and value.startswith(_FORMULA_STARTS) and name not in _OURS
    return f"'{value}" if is_formula else value


# --------------------------------------------------------------------------- layers that a search found

LAYER_HIT_COLUMNS = {
    **dict.fromkeys(("service_id", "layer"), "INTEGER"),
    **dict.fromkeys(("kind", "item", "name", "title", "service_title", "provider", "health", "url", "crs"), "TEXT"),
}
"""Name of a column → its type in SQL."""
LAYER_TABLE = (*LAYER_HIT_COLUMNS, *SIDES)


def layer_values(hit: LayerHit) -> dict[str, Value]:
    """Return the values of `LAYER_HIT_COLUMNS`."""
    layer, of = hit.layer, hit.service
    values = (layer.service_id, layer.position, of.kind, layer.item, layer.name, layer.title, of.title, of.provider)
    shown = (flat_value(value) for value in (*values, of.health, of.url, layer.crs))
    return dict(zip(LAYER_HIT_COLUMNS, shown, strict=True))


def layer_row(hit: LayerHit) -> tuple[Value, ...]:
    """Return the values of `LAYER_TABLE`."""
    return (*layer_values(hit).values(), *(hit.layer.box or (None,) * 4))


# --------------------------------------------------------------------------- endpoints


def _write_endpoints_csv(endpoints: Iterable[EndpointService], stream: TextIO) -> int:
    return write_csv(COLUMNS, (tuple(endpoint_values(endpoint).values()) for endpoint in endpoints), stream)


def _write_jsonl(endpoints: Iterable[EndpointService], stream: TextIO) -> int:
    """Write an object for each endpoint, keys are the columns, unknown values null; return their number."""
    count = 0
    for endpoint in endpoints:
        contact = list(dict.fromkeys(endpoint.contact.values()))
        values = endpoint_values(endpoint) | {"contact": contact, "deviations": endpoint.deviation_details}
        stream.write(json.dumps(json_value(values), ensure_ascii=False, allow_nan=False) + "\n")
        count += 1
    return count


FORMATS = {"csv": _write_endpoints_csv, "jsonl": _write_jsonl}


def export_endpoints(
    endpoints: Iterable[EndpointService],
    format: str,
    out: Path | None = None,
    *,
    with_secrets: bool = False,
    with_mark: bool = False,
) -> int:
    """Write endpoints and return their number.

    `out` None or `-` is standard output. `with_secrets`: do not mask keys and passwords in addresses, and make a new
    file unreadable for other users. `with_mark`: begin with `ENCODING_MARK`. Raises UsageError for an unknown format,
    EnvironmentFault when the file cannot be written; a former file then stays.
    """
    if format not in FORMATS:
        raise UsageError(f"--format {format!r}: one of {', '.join(FORMATS)}")
    with opened(out, new_mode=SECRET if with_secrets else 0o666) as stream:
        stream.write(ENCODING_MARK if with_mark else "")
        return FORMATS[format](endpoints if with_secrets else map(without_secrets, endpoints), stream)


def without_secrets(endpoint: EndpointService) -> EndpointService:
    """Return an endpoint with the secrets in addresses masked, also in titles, abstracts and lists."""
    values = {field.name: getattr(endpoint, field.name) for field in fields(endpoint)}
    changed = {name: shown for name, value in values.items() if (shown := _masked(value)) != value}
    return replace(endpoint, **changed) if changed else endpoint


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {key: _masked(part) for key, part in value.items()}
    return tuple(map(_masked, value)) if isinstance(value, tuple) else value
