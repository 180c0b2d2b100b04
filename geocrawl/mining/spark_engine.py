"""Run the SQL of mining with Spark, on many machines that all see the files under the same paths.

The cluster is that of Spark's own configuration (`SPARK_CONF_DIR`, `PYSPARK_SUBMIT_ARGS`); without one Spark runs on
this machine. The SQL runs on the executors; what it selects is classified here, so executors need no geocrawl.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from geocrawl.errors import EnvironmentFault, needs_extra
from geocrawl.mining.index import ORDER, Row, Statement, demand_layout
from geocrawl.model.kinds import KindDeclaration

if TYPE_CHECKING:
    from geocrawl.mining.sources import Source

_GLOB = re.compile(r"[\\{}\[\]*?]")


class SparkEngine:
    """Runs statements on many files at once (`index.Engine`)."""

    def __init__(self, kinds: Sequence[KindDeclaration]) -> None:
        """Start a Spark session. Raises EnvironmentFault without PySpark, and when Java does not start."""
        self._session = _session()
        self._statement = Statement(kinds, first=False)
        self.at_once = max(4 * int(self._session.sparkContext.defaultParallelism), 16)

    def count(self, source: Source) -> int:
        """Return the rows of a file. Raises EnvironmentFault for one that is no readable Parquet of this layout."""
        frame = self._frame(source)
        demand_layout(source, {name.lower(): kind.lower() for name, kind in frame.dtypes})
        return int(_tried(source, frame.count))

    def rows(self, sources: Sequence[Source]) -> Iterator[tuple[Source, Row]]:
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
            yield sources[number], Row(*values)

    def close(self) -> None:
        """Stop the session."""
        self._session.stop()

    def _frame(self, source: Source) -> Any:
        return _tried(source, lambda: self._session.read.parquet(_named(source)))


def _named(source: Source) -> str:
    """Return a file's address as Hadoop reads it, in which no character stands for others."""
    return "file://" + _GLOB.sub(r"\\\g<0>", source.path.resolve().as_posix())


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


def _tried(source: Source, work: Any) -> Any:
    """Return the result of a call of Spark. Raises EnvironmentFault, in one line, when Spark fails."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return work()
    except (PySparkException, Py4JError) as error:
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise EnvironmentFault(f"{source.path}: cannot be read as Parquet: {said[:300]}") from error
