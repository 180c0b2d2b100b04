"""Write CSV: RFC 4180, UTF-8 without byte order mark, lines end in LF."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TextIO

from geocrawl.export.columns import COLUMNS, Value, values_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
