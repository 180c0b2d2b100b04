"""Check whether the folder of a recorded web is complete and its files agree with each other."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.world import TrueService, World

_ANSWERING = frozenset({"valid", "lenient", "slow"})
_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Report:
    """The validation result of a folder."""

    folder: str
    records: int
    pages: int
    services: int
    valid: int
    reachable: int
    problems: tuple[str, ...]
    """A line for each problem; only the first ones when there are many."""

    def line(self) -> str:
        """Return the report as one line for people."""
        state = "complete" if not self.problems else "not in the required format"
        return (
            f"{self.folder}: {state}; {self.records:,} records, {self.pages:,} pages, {self.services:,} services, "
            f"{self.valid:,} of them work, {self.reachable:,} of those can be reached"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return asdict(self) | {"problems": list(self.problems)}


def check(folder: Path) -> Report:
    """Return the validation result of a folder. Raises the errors of `World` when the folder cannot be read at all."""
    world = World(folder)
    valid = [service for service in world.services if service.valid]
    problems = tuple(problem for _, problem in zip(range(_MOST_PROBLEMS), _problems(world), strict=False))
    return Report(
        folder=str(folder),
        records=len(world.warc.records),
        pages=world.pages,
        services=len(world.services),
        valid=len(valid),
        reachable=sum(service.reachable for service in valid),
        problems=problems,
    )


def _problems(world: World) -> Iterator[str]:
    for seed in world.seeds:
        if key_of(seed) not in world.warc.records:
            yield f"world.json: the seed {seed} is not recorded"
    seen: set[str] = set()
    for service in world.services:
        if service.id in seen:
            yield f"services.jsonl: {service.id} occurs twice"
        seen.add(service.id)
        yield from _service_problems(world, service)


def _service_problems(world: World, service: TrueService) -> Iterator[str]:
    for page, _ in service.exposures:
        if key_of(page) not in world.warc.records:
            yield f"services.jsonl: {service.id} is named at {page}, which is not recorded"
    if service.document is None:
        if service.behaviour in _ANSWERING:
            yield f"services.jsonl: {service.id} answers but has no document"
        return
    path = world.folder / "documents" / Path(service.document).name
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        yield f"documents/{path.name} of {service.id} cannot be read: {getattr(error, 'strerror', '') or error}"
        return
    if hashlib.sha1(data, usedforsecurity=False).hexdigest() != path.name.partition(".")[0]:
        yield f"documents/{path.name} of {service.id} does not match its name (SHA-1)"
