"""Write a snapshot: a folder that holds the catalogue as it is, for people to load, cite and compare.

Services, layers and the health of addresses stand there as (Geo)Parquet and as CSV; `manifest.json` counts them and has
the checksum of each file; `changes.csv` and `CHANGES.md` compare the services with those of the former snapshot. The
same catalogue gives the same bytes: a snapshot's time is that of the catalogue's last valid answer.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from geocrawl import __version__
from geocrawl.errors import UsageError
from geocrawl.export.files import opened, opened_binary
from geocrawl.export.geoparquet import pyarrow, write_parquet
from geocrawl.export.properties import LAYER_COLUMNS, layer_properties
from geocrawl.export.services import export_services
from geocrawl.export.tables import export_endpoints, flat_value, without_secrets, write_csv
from geocrawl.files import demand_folder, write_whole
from geocrawl.model.catalogue import EndpointService, Service, file_columns
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.wording import counted

MANIFEST = "manifest.json"
_SERVICES = "services.parquet"
_HEALTH = (
    *("id", "kind", "url", "status", "reason", "health", "level", "alive", "https"),
    *("availability", "mean_ms", "first_seen", "last_ok", "last_probe"),
)
_HEALTH_COLUMNS = {name: file_columns(EndpointService)[name] for name in _HEALTH}
"""Columns of the table of addresses; `id` is the service's, 0 for an address that never was valid."""
_CHANGE_COLUMNS = ("change", "kind", "url", "title", "field", "before", "after")
CHANGES = ("new", "dead", "back", "moved", "changed", "removed")
"""Kinds of change to a service between two snapshots, in the order in which people read them."""
_COMPARED = ("title", "provider", "version", "layers", "level")
"""Columns that count as changed; texts such as the abstract and times are left out."""
_READ_BACK = ("id", "kind", "url", "alive", *_COMPARED)
_MOST_LISTED = 100
"""Services of a kind of change that `CHANGES.md` lists; `changes.csv` has all."""


@dataclass(frozen=True, slots=True)
class SnapshotReport:
    """The counts of a written snapshot, and of what changed since the former one."""

    taken: str
    """Time of the catalogue's last valid answer: ISO 8601, UTC."""
    services: int
    layers: int
    addresses: int
    changes: Mapping[str, int] | None
    """Number of services by change; None without a former snapshot."""
    is_same: bool
    """Whether the folder held just this snapshot, and was left as it was."""


def write_snapshot(
    catalogue: Catalogue, selection: Selection, folder: Path, former: Path | None, licence: str
) -> SnapshotReport:
    """Write the snapshot of a catalogue, of all services or of a selection, into a folder.

    `former`: the folder of the snapshot to compare with; None for the one that `folder` holds, if any. `licence`: under
    which licence the operator publishes it, '' if that is not stated. Raises UsageError without pyarrow and for a
    former folder without a readable snapshot, EnvironmentFault when a file cannot be written; `manifest.json` is
    written last.
    """
    pa = pyarrow("snapshot")
    names = [f"{table}.{form}" for table in ("services", "layers", "health") for form in ("parquet", "csv")]
    demand_folder(folder, [*names, "changes.csv", "CHANGES.md", MANIFEST])
    known = _read_manifest(folder) if (folder / MANIFEST).exists() else None
    earlier = _read_services(pa, former or folder) if former or known else None
    earlier_manifest = _read_manifest(former) if former else known
    counts = {name: _write_table(name, catalogue, selection, folder) for name in names}
    files = {name: {"rows": count, **_checksum(folder / name)} for name, count in counts.items()}
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(catalogue.span()[1]))
    report = partial(SnapshotReport, at, counts[_SERVICES], counts["layers.parquet"], counts["health.parquet"])
    is_alike = known is not None and former is None and known["licence"] == (licence or None)
    if known is not None and is_alike and files.items() <= known["files"].items():
        return report(known["changes"], True)
    changes: dict[str, int] | None = None
    if earlier is not None and earlier_manifest is not None:
        found = list(compare(earlier, _read_services(pa, folder)))
        changes = {name: len({row[1:3] for row in found if row[0] == name}) for name in CHANGES}
        _write_changes(found, changes, earlier_manifest, at, folder)
        for name in ("changes.csv", "CHANGES.md"):
            files[name] = {"rows": len(found), **_checksum(folder / name)}
    services = catalogue.read_services(selection)
    manifest = _manifest(services, at, licence, files, changes, earlier_manifest)
    write_whole(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return report(changes, False)


# --------------------------------------------------------------------------- tables


def _write_table(name: str, catalogue: Catalogue, selection: Selection, folder: Path) -> int:
    """Write one file and return its number of rows. Keys in addresses are masked."""
    table, _, form = name.partition(".")
    path = folder / name
    if name == _SERVICES:
        return export_services(catalogue.read_services(selection), (), "geoparquet", path)
    if name == "services.csv":  # the same columns as in the file of this name on a published site
        return export_endpoints((each for each in catalogue.read_endpoints(selection) if each.id), "csv", path)
    columns, rows = _TABLES[table](catalogue, selection)
    if form == "parquet":
        with opened_binary(path) as binary:
            return write_parquet(columns, rows, binary)
    with opened(path) as text:
        return write_csv(list(columns), (tuple(row.values()) for row in rows), text)


def _layers(catalogue: Catalogue, selection: Selection) -> tuple[Mapping[str, str], Iterator[Mapping[str, object]]]:
    return LAYER_COLUMNS, (dict(layer_properties(layer)) for layer in catalogue.read_layers(selection))


def _health(catalogue: Catalogue, selection: Selection) -> tuple[Mapping[str, str], Iterator[Mapping[str, object]]]:
    endpoints = map(without_secrets, catalogue.read_endpoints(selection))
    return _HEALTH_COLUMNS, ({name: flat_value(getattr(each, name)) for name in _HEALTH_COLUMNS} for each in endpoints)


_TABLES = {"layers": _layers, "health": _health}


def _checksum(path: Path) -> dict[str, object]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


# --------------------------------------------------------------------------- manifest


def _manifest(
    services: Iterable[Service],
    taken: str,
    licence: str,
    files: Mapping[str, object],
    changes: Mapping[str, int] | None,
    former: Mapping[str, Any] | None,
) -> dict[str, object]:
    kinds, countries, alive = Counter[str](), Counter[str](), 0
    for service in services:
        kinds[service.kind] += 1
        countries[service.country] += 1
        alive += service.alive
    digest = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
    return {
        "format": "geocrawl-snapshot-1",
        "taken": taken,
        "citation": f"Snapshot of {counted(kinds.total(), 'geospatial web service')}, {taken[:10]}, sha256:{digest}",
        "licence": licence or None,
        "made_with": f"geocrawl {__version__}",
        "services": kinds.total(),
        "alive": alive,
        "by_kind": dict(sorted(kinds.items())),
        "by_country": dict(sorted(countries.items())),
        "files": files,
        "former": {"taken": former["taken"], "citation": former["citation"]} if former else None,
        "changes": changes,
    }


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a snapshot. Raises UsageError for a folder without one."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
        if isinstance(manifest, dict) and str(manifest["format"]).startswith("geocrawl-snapshot-"):
            return {"files": {}, "taken": "", "citation": "", "changes": None, "licence": None, **manifest}
    except (OSError, ValueError, KeyError):
        pass
    raise UsageError(
        f"{path}: is no manifest of a snapshot; name a folder that `geocrawl snapshot` wrote, or a new one"
    )


# --------------------------------------------------------------------------- comparison

Known = Mapping[str, Any]
"""The values of `_READ_BACK` for a service."""


def _read_services(pa: Any, folder: Path) -> list[Known]:
    path = folder / _SERVICES
    if not path.is_file():
        raise UsageError(f"{folder} holds no snapshot (no file {path.name}); name the folder of a former one")
    try:
        table = pa.parquet.read_table(path, columns=list(_READ_BACK))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as a snapshot's services ({error}); name another folder") from error
    rows: list[Known] = table.to_pylist()
    return rows


def compare(before: Sequence[Known], after: Sequence[Known]) -> Iterator[tuple[str, ...]]:
    """Yield what changed between the services of two snapshots, as values of `_CHANGE_COLUMNS`, by change and address.

    A service is the same by its kind and address, else it moved: the same number, kind and title at another address. A
    service that is not in the catalogue any more is removed.
    """
    old = {(row["kind"], row["url"]): row for row in before}
    new = {(row["kind"], row["url"]): row for row in after}
    left = {_identity(row): row for key, row in old.items() if key not in new}
    rows: list[tuple[str, ...]] = []
    for key, row in new.items():
        former = old.get(key)
        if former is None and (former := left.pop(_identity(row), None)) is not None:
            rows.append(_change("moved", row, "url", former["url"], row["url"]))
        if former is None:
            rows.append(_change("new", row))
            continue
        if bool(former["alive"]) != bool(row["alive"]):
            rows.append(_change("back" if row["alive"] else "dead", row))
        rows.extend(
            _change("changed", row, name, former[name], row[name]) for name in _COMPARED if former[name] != row[name]
        )
    rows.extend(_change("removed", row) for row in left.values())
    yield from sorted(rows, key=lambda row: (CHANGES.index(row[0]), *row[1:]))


def _identity(row: Known) -> tuple[object, ...]:
    return row["id"], row["kind"], row["title"]


def _change(what: str, row: Known, field: str = "", before: object = "", after: object = "") -> tuple[str, ...]:
    values = (row["kind"], row["url"], row["title"], field, before, after)
    return (what, *("" if value is None else str(value) for value in values))


def _write_changes(
    rows: Sequence[tuple[str, ...]], counts: Mapping[str, int], former: Known, taken: str, folder: Path
) -> None:
    table = StringIO()
    write_csv(_CHANGE_COLUMNS, rows, table)
    write_whole(folder / "changes.csv", table.getvalue())
    total = ", ".join(f"{counts[name]:,} {name}" for name in CHANGES if counts[name]) or "no changes"
    lines = [f"# {taken[:10]}, compared with {former['taken'][:10]}", "", f"{total}.", ""]
    for name in CHANGES:
        of_name = [row for row in rows if row[0] == name]
        if of_name:
            lines += [f"## {name.capitalize()}", "", *map(_line, of_name[:_MOST_LISTED])]
            rest = len(of_name) - _MOST_LISTED
            lines += [f"- … {rest:,} more in changes.csv" if rest > 0 else "", ""]
    write_whole(folder / "CHANGES.md", "\n".join(lines).rstrip() + "\n")


def _line(row: tuple[str, ...]) -> str:
    _, kind, url, title, field, before, after = row
    how = f": {field} {_plain(before)} → {_plain(after)}" if field else ""
    return f"- {kind} {_plain(title) or 'without a title'}, <{_plain(url)}>{how}"


def _plain(text: str) -> str:
    """Return a text without what Markdown would read as markup, on one line."""
    return " ".join("".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in text[:200]).split())
