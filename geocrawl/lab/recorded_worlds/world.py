"""Read a recorded web from its folder: its pages (WARC), its services and the truth about them.

The folder's format is that of docs/evaluation.md: world.json, pages.warc.gz, services.jsonl, documents/, truth.csv. A
missing or truncated file is reported in one line that names the file; nothing is guessed.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from geocrawl.errors import EnvironmentFault, UsageError, described
from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.warc import StoredAnswer, WarcFile, file_sha256
from geocrawl.model.kinds import facts_of

TOPIC_KIND = "wms"
"""The kind of service that the papers count."""
_FILES = ("world.json", "pages.warc.gz", "services.jsonl", "truth.csv")


@dataclass(frozen=True, slots=True)
class TrueService:
    """A service of a recorded web: its behaviour, the pages that name it, and whether a crawl can find it."""

    id: str
    kind: str
    base: str
    aliases: tuple[str, ...]
    behaviour: str
    document: str | None
    requires: Mapping[str, str]
    content_type: str | None
    variant: str | None
    exposures: tuple[tuple[str, str], ...]
    """(page, way of naming) of each page that names the service."""
    valid: bool
    reachable: bool

    def places(self) -> Iterator[str]:
        """Yield host/path of each address of the service; of a REST service with and without the last slash."""
        for address in (self.base, *self.aliases):
            place = key_of(address).partition("?")[0]
            yield place
            if facts_of(self.kind).by_path:
                yield place.removesuffix("/") if place.endswith("/") else place + "/"

    def requirements_met(self, parameters: Mapping[str, str]) -> int | None:
        """Return how many of the service's required parameters are met, None when one is missing."""
        if any(parameters.get(name) != value for name, value in self.requires.items()):
            return None
        return len(self.requires)


class World:
    """A recorded web."""

    def __init__(self, folder: Path) -> None:
        """Read a world. Raises UsageError for an incomplete folder, EnvironmentFault for one that cannot be read."""
        missing = [name for name in _FILES if not (folder / name).is_file()]
        if missing:
            raise UsageError(f"{folder} is no recorded web: it has no {' and no '.join(missing)}")
        self.folder = folder
        self.name = folder.resolve().name
        self.meta = meta = _read_json(folder / "world.json")
        self.seeds = _seeds(meta, folder)
        self.warc = WarcFile(folder / "pages.warc.gz")
        self._check_count(meta)
        self.services: Sequence[TrueService] = _read_services(folder)
        self.by_place: dict[str, list[TrueService]] = {}
        for service in self.services:
            for place in dict.fromkeys(service.places()):
                self.by_place.setdefault(place, []).append(service)
        self.hosts = {key.partition("/")[0] for key in (*self.warc.records, *self.by_place)}

    def _check_count(self, meta: Mapping[str, Any]) -> None:
        counts = meta.get("counts")
        expected = counts.get("records") if isinstance(counts, dict) else None
        if isinstance(expected, int) and len(self.warc.records) < expected:
            found = len(self.warc.records)
            raise UsageError(f"{self.warc.path} is incomplete: {found:,} of the {expected:,} records in world.json")

    @cached_property
    def pages(self) -> int:
        """Return the number of recorded answers that count as pages:

        no redirects, robots.txt, sitemaps, feeds, scripts, images.
        """
        return sum(r.kind == "page" and not 300 <= r.status < 400 for r in self.warc.records.values())

    @cached_property
    def by_id(self) -> Mapping[str, TrueService]:
        """Return the services by their id."""
        return {service.id: service for service in self.services}

    def stored(self, key: str) -> StoredAnswer | None:
        """Return the answer recorded under a key (`key_of`), None without one."""
        return self.warc.read(key)

    def document(self, service: TrueService) -> bytes:
        """Return a service's capabilities document, b'' when it has none. Raises UsageError for a missing file."""
        if not service.document:
            return b""
        path = self.folder / "documents" / Path(service.document).name
        try:
            return gzip.decompress(path.read_bytes())
        except FileNotFoundError as error:
            raise UsageError(f"{self.folder} is incomplete: it has no documents/{path.name}") from error
        except (OSError, EOFError) as error:
            raise EnvironmentFault(f"{path} cannot be read: {error}") from error

    def pick(self, place: str, parameters: Mapping[str, str], kind: str = "") -> TrueService | None:
        """Return the service at host/path that is meant by a request with these parameters; `kind` is preferred."""
        return pick(self.by_place.get(place, ()), parameters, kind)

    @cached_property
    def sha256(self) -> str:
        """Return the SHA-256 of pages.warc.gz, by which a model's record shows whether it was trained on this world."""
        return file_sha256(self.warc.path)


def pick(services: Sequence[TrueService], parameters: Mapping[str, str], kind: str = "") -> TrueService | None:
    """Return the service, of several at one address, whose required parameters are met best; `kind` breaks ties.

    Without SERVICE, an operation of WFS means a WFS, any other operation a WMS if there is one.
    """
    asked = kind or parameters.get("service", "").lower()
    request = parameters.get("request", "").lower()

    def fit(service: TrueService) -> int:
        if asked:
            return 2 * (service.kind == asked)
        if service.kind == "wfs" and request in ("getfeature", "describefeaturetype"):
            return 2
        return int(service.kind == "wms")

    ranked = [(met, fit(s), s) for s in services if (met := s.requirements_met(parameters)) is not None]
    return max(ranked, key=lambda entry: entry[:2])[2] if ranked else None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise UsageError(f"{path} contains no JSON object")
    return data


def _seeds(meta: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    seeds = meta.get("seeds")
    if not isinstance(seeds, list) or not seeds or not all(isinstance(seed, str) for seed in seeds):
        raise UsageError(f"{folder / 'world.json'} names no seeds")
    return tuple(seeds)


def _read_services(folder: Path) -> tuple[TrueService, ...]:
    truth = _read_truth(folder / "truth.csv")
    path = folder / "services.jsonl"
    services = []
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            services.append(_service(json.loads(line), truth))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            problem = f"no service in the required format ({described(error)})"
            raise UsageError(f"{path}, line {number}: {problem}") from error
    return tuple(services)


def _service(row: Mapping[str, Any], truth: Mapping[str, Mapping[str, str]]) -> TrueService:
    known = truth[row["id"]]
    return TrueService(
        id=row["id"],
        kind=row["kind"],
        base=row["base"],
        aliases=tuple(row.get("aliases") or ()),
        behaviour=row["behaviour"],
        document=row.get("document"),
        requires={name.lower(): value for name, value in (row.get("requires") or {}).items()},
        content_type=row.get("content_type"),
        variant=row.get("variant"),
        exposures=tuple((each["page"], each["how"]) for each in row.get("exposures") or ()),
        valid=known["valid"] == "1",
        reachable=bool(known["min_depth"]),
    )


def _read_truth(path: Path) -> dict[str, Mapping[str, str]]:
    rows = csv.DictReader(_lines(path))
    lacking = {"id", "valid", "min_depth"} - set(rows.fieldnames or ())
    if lacking:
        raise UsageError(f"{path} has no column {' and '.join(sorted(lacking))}")
    return {row["id"]: row for row in rows}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start:,}") from error
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror or error}") from error
