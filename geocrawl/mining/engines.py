"""Run the SQL of mining: with DuckDB on one machine, with Spark on many that all see the files under the same paths.

Spark's cluster is that of its own configuration (`SPARK_CONF_DIR`, `PYSPARK_SUBMIT_ARGS`); without one Spark runs on
this machine. The SQL runs on the executors; what it selects is classified here, so executors need no geocrawl."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from geocrawl.errors import EnvironmentFault, needs_extra
from geocrawl.mining.index import ORDER, IndexRow, Statement, demand_layout
from geocrawl.model.kinds import KindDeclaration

if TYPE_CHECKING:
    from geocrawl.mining.model import MinedFile

_MEMORY = "1GB"
"""DuckDB's bound on its buffers; what is larger is sorted on disk."""
_ROWS = 10_000
"""Rows fetched at once."""
_DUCKDB_GLOB = re.compile(r"[\[*?]")


def connect() -> Any:
    """Return a connection to a database in memory, with bounds. Raises UsageError without the library."""
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
        """Open DuckDB. Raises UsageError without the library."""
        self._connection = connect()
        self._connection.execute("CREATE TEMP MACRO rlike(text, pattern) AS regexp_matches(text, pattern)")
        # A condition that is pushed into the scan computes lower(url) again for each of its parts: half the speed.
        self._connection.execute("SET disabled_optimizers = 'filter_pushdown'")
        self._statement = Statement(kinds, first=True)

    def count(self, source: MinedFile) -> int:
        """Return the rows of a file. Raises EnvironmentFault for one that is no readable Parquet of this layout."""
        counted = self._run(source, f"SELECT num_rows FROM parquet_file_metadata({_duckdb_name(source)})").fetchone()
        demand_layout(source, self._types(source))
        return int(counted[0])

    def rows(self, sources: Sequence[MinedFile]) -> Iterator[tuple[MinedFile, IndexRow]]:
        """Yield the selected rows, file by file, those of a file by address and place."""
        for source in sources:
            table = f"read_parquet({_duckdb_name(source)}, hive_partitioning = false)"
            done = self._run(source, self._statement.select(table, 0, self._types(source)) + ORDER)
            while rows := self._fetched(source, done):
                for _, *values in rows:
                    yield source, IndexRow(*values)

    def close(self) -> None:
        """Close DuckDB."""
        self._connection.close()

    def _types(self, source: MinedFile) -> dict[str, str]:
        described = self._run(
            source, f"DESCRIBE SELECT * FROM read_parquet({_duckdb_name(source)}, hive_partitioning = false)"
        )
        return {str(name).lower(): str(kind).lower() for name, kind, *_ in described.fetchall()}

    def _fetched(self, source: MinedFile, done: Any) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            rows: list[tuple[Any, ...]] = done.fetchmany(_ROWS)
        except duckdb.Error as error:
            raise _fault(source, error) from error
        return rows

    def _run(self, source: MinedFile, statement: str) -> Any:
        import duckdb

        try:
            return self._connection.execute(statement)
        except duckdb.Error as error:
            raise _fault(source, error) from error


def _duckdb_name(source: MinedFile) -> str:
    """Return a file's path as a literal of SQL in which no character stands for others."""
    path = _DUCKDB_GLOB.sub(r"[\g<0>]", str(source.path.resolve()))
    return "'" + path.replace("'", "''") + "'"


def _fault(source: MinedFile, error: Exception) -> EnvironmentFault:
    """Return what DuckDB says of a file in one line."""
    said = str(error).splitlines()[0].strip() if str(error) else type(error).__name__
    said = said.partition("Error: ")[2] or said
    return EnvironmentFault(f"{source.path}: cannot be read as Parquet: {said}")


# --------------------------------------------------------------------------- Spark

_SPARK_GLOB = re.compile(r"[\\{}\[\]*?]")


class SparkEngine:
    """Runs statements on many files at once (`index.Engine`)."""

    def __init__(self, kinds: Sequence[KindDeclaration]) -> None:
        """Start a Spark session. Raises UsageError without PySpark, EnvironmentFault when Java does not start."""
        self._session = _session()
        self._statement = Statement(kinds, first=False)
        self.at_once = max(4 * int(self._session.sparkContext.defaultParallelism), 16)

    def count(self, source: MinedFile) -> int:
        """Return the rows of a file. Raises EnvironmentFault for one that is no readable Parquet of this layout."""
        frame = self._frame(source)
        demand_layout(source, {name.lower(): kind.lower() for name, kind in frame.dtypes})
        return int(_tried(source, frame.count))

    def rows(self, sources: Sequence[MinedFile]) -> Iterator[tuple[MinedFile, IndexRow]]:
        """Yield the selected rows, file by file, those of a file by address and place."""
        selected = []
        for number, source in enumerate(sources):
            frame = self._frame(source)
            frame.createOrReplaceTempView(f"source_{number}")
            columns = {name.lower() for name in frame.columns}
            selected.append(self._statement.select(f"source_{number}", number, columns))
        frame = self._session.sql(" UNION ALL ".join(selected) + ORDER)
        found = _tried(sources[0], lambda: frame.toLocalIterator(prefetchPartitions=True))
        while (row := _tried(sources[0], lambda: next(found, None))) is not None:
            number, *values = row
            yield sources[number], IndexRow(*values)

    def close(self) -> None:
        """Stop the session."""
        self._session.stop()

    def _frame(self, source: MinedFile) -> Any:
        return _tried(source, lambda: self._session.read.parquet(_spark_name(source)))


def _spark_name(source: MinedFile) -> str:
    """Return a file's address as Hadoop reads it, in which no character stands for others."""
    return "file://" + _SPARK_GLOB.sub(r"\\\g<0>", source.path.resolve().as_posix())


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise needs_extra("geocrawl mine --engine spark", "PySpark", extra="spark") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("geocrawl mine")
    builder = builder.config("spark.sql.parser.escapedStringLiterals", "true").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.log.level", "ERROR")
    if "--master" not in os.environ.get("PYSPARK_SUBMIT_ARGS", "") and not os.environ.get("SPARK_CONF_DIR"):
        builder = builder.master("local[*]").config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    try:
        session = builder.getOrCreate()
    except Exception as error:  # PySpark raises several of its own and of Py4J when Java is missing or does not start
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise EnvironmentFault(f"Spark does not start: {said}; it needs Java 17 or later (JAVA_HOME)") from error
    session.sparkContext.setLogLevel("ERROR")
    return session


def _tried(source: MinedFile, work: Any) -> Any:
    """Return the result of a call of Spark. Raises EnvironmentFault, in one line, when Spark fails."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return work()
    except (PySparkException, Py4JError) as error:
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise EnvironmentFault(f"{source.path}: cannot be read as Parquet: {said[:300]}") from error
