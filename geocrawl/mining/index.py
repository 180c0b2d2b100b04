"""Make the statement of SQL that selects rows of an archive's index, the same for DuckDB and Spark.

The index is Common Crawl's columnar one (commoncrawl/cc-index-table) or any Parquet with a column `url`. Crawls of some
years lack columns, so only `url` is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

from geocrawl.errors import EnvironmentFault
from geocrawl.mining.finds import Place
from geocrawl.mining.predicate import TEXT, first_test, predicate
from geocrawl.mining.sources import Source
from geocrawl.model.kinds import KindDeclaration

_COLUMNS = {"warc_filename": "STRING", "warc_record_offset": "BIGINT", "warc_record_length": "BIGINT"}
"""Columns that are read beside `url`, with their types in SQL; NULL stands for one that is missing."""
_TEXTS = frozenset({"varchar", "string"})
_GONE = "(404, 410)"
_SHOWN = 8
"""Columns of an unknown layout that are named."""


class Row(NamedTuple):
    """A selected row of the index."""

    url: str
    file: str | None
    offset: int | None
    length: int | None

    def place(self, source: Source) -> Place:
        """Return the place of the page in the archive; that of the index itself when the row does not say."""
        return Place(source.crawl, self.file or source.path.name, self.offset, self.length)


class Engine(Protocol):
    """What runs SQL on files of Parquet."""

    at_once: int
    """Files that one statement may read."""

    def count(self, source: Source) -> int:
        """Return the rows of a file. Raises EnvironmentFault for one that is no readable Parquet of this layout."""

    def rows(self, sources: Sequence[Source]) -> Iterator[tuple[Source, Row]]:
        """Yield the selected rows, file by file, those of a file by address and place."""

    def close(self) -> None:
        """Free what the engine uses."""


class Statement:
    """Makes statements for these kinds of service."""

    def __init__(self, kinds: Sequence[KindDeclaration], *, first: bool) -> None:
        """`first`: whether the engine is faster with a test that dismisses most rows (`predicate.first_test`)."""
        self._predicate = f"{first_test(kinds)} AND {predicate(kinds)}" if first else predicate(kinds)

    def select(self, table: str, number: int, columns: Collection[str]) -> str:
        """Return the statement for one table with these columns (in lower case); its rows begin with `number`."""
        read = ["url", *(name if name in columns else f"NULL AS {name}" for name in _COLUMNS)]
        alive = f" AND coalesce(fetch_status, 200) NOT IN {_GONE}" if "fetch_status" in columns else ""
        names = ", ".join(["url", *(f"CAST({name} AS {kind}) AS {name}" for name, kind in _COLUMNS.items())])
        inner = f"SELECT {', '.join(read)}, lower(url) AS {TEXT} FROM {table} WHERE url IS NOT NULL{alive}"
        return f"SELECT {number} AS source, {names} FROM ({inner}) AS found WHERE {self._predicate}"


ORDER = " ORDER BY source, url, warc_filename, warc_record_offset"
"""Makes the order of the rows the same in every engine."""


def demand_layout(source: Source, types: dict[str, str]) -> None:
    """Raise EnvironmentFault unless there is a column of addresses. `types`: column → type, both in lower case."""
    if types.get("url") in _TEXTS:
        return
    named = ", ".join(list(types)[:_SHOWN]) + (" …" if len(types) > _SHOWN else "")
    raise EnvironmentFault(
        f"{source.path}: no index of an archive: it has no column url of texts, but {named or 'none at all'}; "
        "expected the layout of Common Crawl's columnar index (docs/archives.md)"
    )
