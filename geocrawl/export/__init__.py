"""Write the catalogue for other software: endpoints as CSV for spreadsheets and scripts and as JSON lines for programs,
services in formats for maps, tables and catalogues (`services`).

Rows come from the store one at a time, so that memory does not grow with the catalogue. Control characters in text from
the web are removed, times are ISO 8601 in UTC, files are replaced atomically. docs/export.md describes the columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import UsageError
from geocrawl.export.columns import COLUMNS
from geocrawl.export.csv import write_csv
from geocrawl.export.files import opened
from geocrawl.export.jsonl import write_jsonl
from geocrawl.export.services import SERVICE_FORMATS, export_services
from geocrawl.files import SECRET
from geocrawl.sanitize import masked

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["COLUMNS", "FORMATS", "SERVICE_FORMATS", "export", "export_services"]

FORMATS = {"csv": write_csv, "jsonl": write_jsonl}


def export(
    rows: Iterable[DataclassInstance], format: str, out: Path | None = None, *, with_secrets: bool = False
) -> int:
    """Write rows (dataclasses with the fields named in `COLUMNS`) and return their number.

    `out` None or `-` is standard output. `with_secrets`: do not mask keys and passwords in addresses, and make a new
    file unreadable for other users. Raises UsageError for an unknown format, EnvironmentFault when the file cannot be
    written; a former file then stays.
    """
    if format not in FORMATS:
        raise UsageError(f"--format {format!r}: one of {', '.join(FORMATS)}")
    with opened(out, new_mode=SECRET if with_secrets else 0o666) as stream:
        return FORMATS[format](rows if with_secrets else map(_without_secrets, rows), stream)


def _without_secrets(row: DataclassInstance) -> DataclassInstance:
    """Return a row with the secrets in addresses masked, also in titles and abstracts."""
    texts = ((field.name, getattr(row, field.name)) for field in fields(row))
    changed = {name: masked(text) for name, text in texts if isinstance(text, str) and masked(text) != text}
    return replace(row, **changed) if changed else row
