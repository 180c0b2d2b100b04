"""Write JSON lines: one object a line, UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from geocrawl.export.columns import values_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def write_jsonl(rows: Iterable[DataclassInstance], stream: TextIO) -> int:
    """Write an object for each row, keys are the columns, unknown values null; return the number of rows."""
    count = 0
    for row in rows:
        stream.write(json.dumps(values_of(row), ensure_ascii=False, allow_nan=False) + "\n")
        count += 1
    return count
