"""Run the SQL of mining with DuckDB, on one machine."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from geocrawl.errors import EnvironmentFault, needs_extra
from geocrawl.mining.index import ORDER, Row, Statement, demand_layout
from geocrawl.model.kinds import KindDeclaration

if TYPE_CHECKING:
    from geocrawl.mining.sources import Source

_MEMORY = "1GB"
"""DuckDB's bound on its buffers; what is larger is sorted on disk."""
_ROWS = 10_000
"""Rows fetched at once."""
_GLOB = re.compile(r"[\[*?]")


def connect() -> Any:
    """Return a connection to a database in memory, with bounds. Raises EnvironmentFault without the library."""
    try:
        import duckdb
    except ImportError:
        raise needs_extra("geocrawl mine", "DuckDB", extra="mine") from None
    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{_MEMORY}'")
    connection.execute("SET temp_directory = ?", [tempfile.gettempdir()])
    return connection


class DuckDbEngine:
    """Runs statements file by file (`index.Engine`), each on all cores."""

    at_once = 1

    def __init__(self, kinds: Sequence[KindDeclaration]) -> None:
        """Open DuckDB. Raises EnvironmentFault without the library."""
        self._connection = connect()
        self._connection.execute("CREATE TEMP MACRO rlike(text, pattern) AS regexp_matches(text, pattern)")
        # A condition that is pushed into the scan computes lower(url) anew for each of its parts: half the speed.
        self._connection.execute("SET disabled_optimizers = 'filter_pushdown'")
        self._statement = Statement(kinds, first=True)

    def count(self, source: Source) -> int:
        """Return the rows of a file. Raises EnvironmentFault for one that is no readable Parquet of this layout."""
        counted = self._run(source, f"SELECT num_rows FROM parquet_file_metadata({_named(source)})").fetchone()
        demand_layout(source, self._types(source))
        return int(counted[0])

    def rows(self, sources: Sequence[Source]) -> Iterator[tuple[Source, Row]]:
        """Yield the selected rows, file by file, those of a file by address and place."""
        for source in sources:
            table = f"read_parquet({_named(source)}, hive_partitioning = false)"
            done = self._run(source, self._statement.select(table, 0, self._types(source)) + ORDER)
            while rows := self._fetched(source, done):
                for _, *values in rows:
                    yield source, Row(*values)

    def close(self) -> None:
        """Close DuckDB."""
        self._connection.close()

    def _types(self, source: Source) -> dict[str, str]:
        described = self._run(
            source, f"DESCRIBE SELECT * FROM read_parquet({_named(source)}, hive_partitioning = false)"
        )
        return {str(name).lower(): str(kind).lower() for name, kind, *_ in described.fetchall()}

    def _fetched(self, source: Source, done: Any) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            rows: list[tuple[Any, ...]] = done.fetchmany(_ROWS)
        except duckdb.Error as error:
            raise _fault(source, error) from error
        return rows

    def _run(self, source: Source, statement: str) -> Any:
        import duckdb

        try:
            return self._connection.execute(statement)
        except duckdb.Error as error:
            raise _fault(source, error) from error


def _named(source: Source) -> str:
    """Return a file's path as a literal of SQL in which no character stands for others."""
    path = _GLOB.sub(r"[\g<0>]", str(source.path.resolve()))
    return "'" + path.replace("'", "''") + "'"


def _fault(source: Source, error: Exception) -> EnvironmentFault:
    """Return what DuckDB says of a file in one line."""
    said = str(error).splitlines()[0].strip() if str(error) else type(error).__name__
    said = said.partition("Error: ")[2] or said
    return EnvironmentFault(f"{source.path}: cannot be read as Parquet: {said}")
