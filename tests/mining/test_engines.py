"""DuckDB and Spark select the same rows of an index, in the same order.

Spark takes a minute to start and half a gigabyte to install, so `.ci/run` has none.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from geocrawl.mining.engines import DuckDbEngine
from geocrawl.mining.index import Engine
from geocrawl.mining.model import MinedFile, gather
from geocrawl.probe.registry import declarations
from tests.mining.made_index import LATER, write_part
from tests.mining.test_predicate import EXAMPLES, ODD
from tests.support.parts import SPARK, lack


@pytest.fixture
def sources(tmp_path: Path) -> list[MinedFile]:
    """Files of several layouts, one of them without anything to find."""
    asked = [f"{address}{'&' if '?' in address else '?'}SERVICE=WMS&REQUEST=GetMap" for address in EXAMPLES]
    odd = [address for address in ODD if address.startswith("http")]
    write_part(tmp_path, ["https://www.example.org/news/1.html"], part=0)
    write_part(tmp_path, EXAMPLES * 2, part=1)
    write_part(tmp_path / "it's [a] *", odd, part=2, without=LATER)
    write_part(tmp_path, asked, part=3, without=["warc_filename", "fetch_status"])
    return gather([tmp_path])


def rows(engine: Engine, sources: list[MinedFile]) -> list[tuple[object, ...]]:
    """Return what an engine counts and selects."""
    counts = [engine.count(source) for source in sources]
    found = [(source.path.name, *row) for source, row in engine.rows(sources)]
    engine.close()
    return [*enumerate(counts), *found]


def test_duckdb_selects_file_by_file_in_order(sources: list[MinedFile]) -> None:
    engine = DuckDbEngine(declarations())
    found = rows(engine, sources)
    files = list(dict.fromkeys(row[0] for row in found[len(sources) :]))
    assert files == [source.path.name for source in sources if not source.path.name.startswith("part-00000")]
    assert len(found) >= len(sources) + 3 * len(EXAMPLES)


def test_spark_selects_the_rows_of_duckdb(sources: list[MinedFile]) -> None:
    pytest.importorskip("pyspark", reason=SPARK.reason)
    if shutil.which("java") is None:
        lack(SPARK)
    from geocrawl.mining.engines import SparkEngine

    assert rows(SparkEngine(declarations()), sources) == rows(DuckDbEngine(declarations()), sources)
