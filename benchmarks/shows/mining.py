"""Mining of made archives: rows a CPU second, candidates, peak memory; SQL is a superset; DuckDB and Spark agree.

The index has the addresses of the shared corpus among made ones, the WAT the shared labelled pages again and again.
Spark runs in the Python of SPARK_PYTHON, which has PySpark, where it is given; else the result says that it did not.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.app.wiring import make_detector
from geocrawl.detect.portals import portal_of
from geocrawl.urls import read_url
from tests.support import processes
from tests.support.made_index import make_index
from tests.support.made_warc import MadePage, write_archive
from tests.support.places import ROOT, shared_folder

SPARK_PYTHON = os.environ.get("SPARK_PYTHON", "")
_PART_ROWS = 1_000_000
_ALL = {"GEOCRAWL_ALLOW_PRIVATE": "true"}
"""Leaves out no address of the corpus, so that what is found can be compared with it."""


def main(arguments: list[str]) -> None:
    """Write j_mining.json. SystemExit when SQL misses an address, or DuckDB and Spark differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows mining", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--spark-files", type=int, default=0, help="files of the index that Spark mines [all]")
    parser.add_argument("--folder", type=Path, help="where the archives are made, or are from an earlier run")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-mining-") as name:
        folder, results = options.folder or Path(name), Path(name)
        index, wat = _index(folder, options.rows), _wat(folder, options.records)
        by_duckdb = _mined(index, results / "duckdb.jsonl")
        superset = _superset(results / "duckdb.jsonl")
        of_wat = _mined([wat], results / "wat.jsonl")
        engines = _engines(index[: options.spark_files or len(index)], results)
    figures = {"index": by_duckdb, "superset": superset, "wat": of_wat, "engines": engines}
    print(json.dumps(figures, indent=1))
    if not options.no_write:
        print(machine.write("j_mining", figures))
    if superset["missed"] or engines.get("equal") is False:
        raise SystemExit("SQL missed an address, or the engines differ")


def _corpus() -> list[str]:
    with (shared_folder() / "corpus" / "urls.csv").open(encoding="utf-8", newline="") as file:
        return [row["url"] for row in csv.DictReader(file)]


def _index(folder: Path, rows: int) -> list[Path]:
    place = folder / "index"
    if not place.exists():
        list(make_index(place, rows, _corpus() * 4, part_rows=min(rows, _PART_ROWS)))
    return sorted(place.rglob("*.parquet"))


def _wat(folder: Path, records: int) -> Path:
    """Return a WAT of at least so many pages: the shared ones, under other addresses each time."""
    made = list((folder / "wat").glob("*.wat.gz"))
    if made:
        return made[0]
    (folder / "wat").mkdir(parents=True)
    with gzip.open(shared_folder() / "worlds" / "pages.jsonl.gz", "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]

    def repeated() -> Iterator[MadePage]:
        for number, page in zip(range(records), itertools.cycle(pages), strict=False):
            mark = "&" if "?" in page["url"] else "?"
            yield MadePage(f"{page['url']}{mark}copy={number}", page["html"].encode("utf-8", "replace"))

    return write_archive(folder / "wat", repeated())[1]


def _mined(paths: list[Path], out: Path, *, engine: str = "duckdb") -> dict[str, Any]:
    """Mine files in a process of its own; return its report with its time and memory."""
    arguments = ["mine", *map(str, paths), "--output", str(out), "--engine", engine, "--json"]
    command = processes.geocrawl(*arguments)
    if engine == "spark":
        command = [SPARK_PYTHON, "-m", "geocrawl", *arguments]
    done = processes.checked(command, env={**os.environ, "PYTHONPATH": str(ROOT), **_ALL})
    report = json.loads(done.stdout)
    report |= {"cpu_s": done.cpu_s, "wall_s": done.wall_s, "peak_mib": done.peak_mib}
    report["files_mib"] = round(sum(path.stat().st_size for path in paths) / 2**20, 1)
    return {**report, "read_per_cpu_s": round((report["rows"] + report["records"]) / done.cpu_s)}


def _superset(found: Path) -> dict[str, Any]:
    """Return how many endpoints and portals of the corpus the classifier recognises, and which mining did not find."""
    detector, wanted = make_detector(), set[str]()
    for address in _corpus():
        if (url := read_url(address)) is None or "\n" in address:
            continue
        candidates = detector.of_text(url)
        wanted |= {each.endpoint.key for each in candidates}
        if not candidates and (portal := portal_of(url)) is not None:
            wanted.add(portal.first.identity)
    with found.open(encoding="utf-8") as file:
        mined = {json.loads(line)["key"] for line in file}
    missed = sorted(wanted - mined)
    return {"recognised": len(wanted), "missed": len(missed), "examples": missed[:10]}


def _engines(paths: list[Path], results: Path) -> dict[str, Any]:
    """Mine the same files with both engines and compare the files of candidates, byte for byte."""
    if not SPARK_PYTHON:
        return {"skipped": "SPARK_PYTHON names no Python with PySpark"}
    spark = _mined(paths, results / "by_spark.jsonl", engine="spark")
    duckdb = _mined(paths, results / "by_duckdb.jsonl")
    equal = (results / "by_spark.jsonl").read_bytes() == (results / "by_duckdb.jsonl").read_bytes()
    del spark["cpu_s"], spark["read_per_cpu_s"], spark["peak_mib"]  # those of Python alone: Java is another process
    return {"equal": equal and spark["selected"] == duckdb["selected"], "spark": spark, "duckdb": duckdb}
