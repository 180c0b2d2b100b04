"""Choose among the portals and endpoints that are shipped with geocrawl (`--shipped`)."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.errors import UsageError

PORTALS, ENDPOINTS = "seeds/portals.csv.gz", "seeds/endpoints.csv.gz"
SOURCE = "dataportals-registry (CC-BY 4.0)"

Country = Annotated[
    str | None, typer.Option("--country", metavar="CODES", help="Only of these countries (ISO 3166-1): DE,AT,CH.")
]
Software = Annotated[
    str | None, typer.Option("--software", metavar="NAMES", help="Only with this software: geoserver, arcgishub …")
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N, spread over hosts and countries.")
]


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of rows of a shipped list; None and '' stand for all."""

    country: str | None = None
    software: str | None = None
    region: str | None = None
    language: str | None = None
    limit: int | None = None

    @property
    def is_any(self) -> bool:
        """Return whether all of the list is wanted."""
        return not any((self.country, self.software, self.region, self.language, self.limit))

    def takes(self, row: Mapping[str, str]) -> bool:
        """Return whether a row has what is wanted; a column that its table lacks decides nothing."""
        wanted = {"country": self.country, "software": self.software, "region": self.region, "language": self.language}
        return all(
            not text or not _words(text).isdisjoint(row[name].lower().split())
            for name, text in wanted.items()
            if name in row
        )


def demand_shipped(choice: Choice, *, is_shipped: bool) -> None:
    """Raise UsageError for filters of a shipped list without the list."""
    if not is_shipped and not choice.is_any:
        raise UsageError("--country, --software, --region, --language and --limit choose of the list: add --shipped")


def path_of(name: str) -> Path:
    """Return the path of a shipped list."""
    return opt.shipped(name, name)


def rows(name: str, choice: Choice) -> Iterator[dict[str, str]]:
    """Yield the wanted rows of a shipped list, in its order."""
    with gzip.open(path_of(name), "rt", encoding="utf-8", newline="") as file:
        yield from islice(filter(choice.takes, csv.DictReader(file)), choice.limit)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().replace(",", " ").split())
