"""Read lists of services that people watch: GeoHealthCheck's resources (its JSON and its SQLite file), plain lists.

GeoHealthCheck's `/json` is an object with the array `resources`; the file that its command `load` reads has an object
of that name; its database has the tables `resource`, `tag` and `resource_tags`. The first names neither intervals nor
tags.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geocrawl.app.list_entries import csv_faults, named_kind
from geocrawl.errors import UsageError
from geocrawl.files import read_whole
from geocrawl.model import Kind, Url
from geocrawl.model.health import LEAST_EVERY_S, MOST_EVERY_S
from geocrawl.urls import read_url

_MAX_BYTES = 64 * 1024 * 1024
_EVERY_MINUTES = 60
"""GeoHealthCheck's `run_frequency` where a resource has none."""
_TAGS = "SELECT r.resource_identifier, t.name FROM resource_tags r JOIN tag t ON t.id = r.tag_id ORDER BY t.name"
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class WatchedEntry:
    """An entry of a list."""

    place: str
    """Where it stands: line 3, resource 7."""
    text: str
    """Its address as written."""
    url: Url | None = None
    kind: Kind | None = None
    """None: the kind that its address looks like."""
    every_s: float | None = None
    tags: tuple[str, ...] = ()
    why_not: str = ""
    """Why it cannot be watched; '' when it can."""


def read_watched(path: Path) -> list[WatchedEntry]:
    """Return the entries of a file, whose format its content decides. Raises UsageError for a file without any."""
    try:
        body = read_whole(path, _MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if not body:
        raise UsageError(f"{path}: empty")
    if body.startswith(_SQLITE):
        entries = list(_of_sqlite(path))
    elif body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        entries = list(_of_json(path, body))
    else:
        entries = list(_of_lines(path, body.decode("utf-8-sig", "replace")))
    if not entries:
        raise UsageError(
            f"{path}: no address was read; expected GeoHealthCheck's JSON or SQLite file, a CSV file with the column "
            "url, or an address on each line"
        )
    return entries


def _of_sqlite(path: Path) -> Iterator[WatchedEntry]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            tags = defaultdict[object, list[str]](list)
            for number, name in database.execute(_TAGS):
                tags[number].append(str(name))
            rows = [dict(row) for row in database.execute("SELECT * FROM resource ORDER BY identifier")]
    except sqlite3.Error as error:
        raise UsageError(f"{path}: not GeoHealthCheck's database: {error}") from None
    for row in rows:
        number = row.get("identifier")
        yield _resource(f"resource {number}", {**row, "tags": tags.get(number, [])})


def _of_json(path: Path, body: bytes) -> Iterator[WatchedEntry]:
    try:
        read = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: no JSON that can be read: {error}") from None
    found = read.get("resources") if isinstance(read, Mapping) else read
    named = found.items() if isinstance(found, Mapping) else enumerate(found, 1) if isinstance(found, list) else ()
    for name, row in named:
        if isinstance(row, Mapping):
            yield _resource(f"resource {name}", row)
        else:
            yield WatchedEntry(f"resource {name}", str(row)[:200], why_not="not an object with a url")


def _of_lines(path: Path, text: str) -> Iterator[WatchedEntry]:
    lines = text.splitlines()
    names = [name.strip(' "').lower() for name in lines[0].split(",")] if lines else []
    if "url" not in names:
        for place, line in enumerate(lines, 1):
            if (address := line.strip()) and not address.startswith("#"):
                yield _entry(f"line {place}", address)
        return
    reader = csv.DictReader(io.StringIO(text), fieldnames=names)
    with csv_faults(path, reader):
        next(reader, None)
        for row in reader:
            yield _resource(f"line {reader.line_num}", row)


def _resource(place: str, row: Mapping[str, Any]) -> WatchedEntry:
    type_, address = str(row.get("resource_type") or ""), str(row.get("url") or "").strip()
    tags = row.get("tags")
    own = tuple(map(str, tags)) if isinstance(tags, list) else ()
    if row.get("active") in (False, 0, "0", "false", "False"):
        return WatchedEntry(place, address, tags=own, why_not="not active")
    kind = named_kind(type_) if type_ else None
    if type_ and kind is None:
        return WatchedEntry(place, address, tags=own, why_not=f"{type_}: no kind of service that geocrawl asks")
    every_s = None
    if type_:
        try:
            every_s = 60.0 * float(row.get("run_frequency") or _EVERY_MINUTES)
        except (TypeError, ValueError, OverflowError):
            every_s = math.nan
        if math.isnan(every_s):
            return WatchedEntry(place, address, tags=own, why_not="run_frequency: no number of minutes")
        every_s = min(max(every_s, LEAST_EVERY_S), MOST_EVERY_S)
    return _entry(place, address, kind, every_s, own)


def _entry(
    place: str, address: str, kind: Kind | None = None, every_s: float | None = None, tags: tuple[str, ...] = ()
) -> WatchedEntry:
    url = read_url(address) if "://" in address else None
    why_not = "" if url is not None else "no web address"
    return WatchedEntry(place, address, url, kind, every_s, tags, why_not)
