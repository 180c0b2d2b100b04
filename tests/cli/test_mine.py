"""`geocrawl mine`: archives into a catalogue or a file, resumed by file, with a line for each fault."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.mining.made_index import CRAWL, LATER, write_part
from tests.mining.made_warc import MadePage, write_archive
from tests.support.commands import geocrawl
from tests.support.parts import NO_ROOT

WMS = "https://maps.example.org/geoserver/ows?service=WMS&request=GetCapabilities"
ADDRESSES = [
    WMS,
    "https://maps.example.org/geoserver/ows?SERVICE=wms&REQUEST=GetMap&layers=a",
    "https://gis.example.org/arcgis/rest/services/Roads/MapServer/0",
    "https://data.example.net/dataset?res_format=WMS",
    "https://www.example.org/news/1.html",
    "http://10.0.0.7/geoserver/wms",
    "http://intranet.local/geoserver/wms",
]
NEW = ("https://gis.example.org/arcgis/rest/services/Roads/MapServer", "https://maps.example.org/geoserver/ows")
FIRST = "https://data.example.net/api/3/action/package_search?rows=100&start=0&sort=name%20asc"


def index(folder: Path, addresses: Sequence[str] = ADDRESSES, part: int = 0, without: Sequence[str] = ()) -> Path:
    return write_part(folder / "cc-index", addresses, part=part, without=without)


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_an_index_fills_the_queue_once_and_refuses_what_a_crawl_refuses(tmp_path: Path) -> None:
    db = tmp_path / "c.db"
    index(tmp_path)
    said = geocrawl("mine", str(tmp_path / "cc-index"), "--db", str(db))
    assert (said.code, said.out.splitlines()[1:]) == (
        0,
        [
            "Left out: guard 2.",
            "New: 2 services to be probed, 1 page to begin with; `geocrawl crawl` visits them.",
        ],
    )
    assert "1 of 1 file; 7 rows read" in said.err
    again = geocrawl("mine", str(tmp_path / "cc-index"), "--db", str(db), "--json")
    assert json.loads(again.out) | {"seconds": 0} == json.loads(again.out) | {
        "files": 0,
        "done_before": 1,
        "new_services": 0,
        "seconds": 0,
    }
    index(tmp_path, part=1)
    more = json.loads(geocrawl("mine", str(tmp_path / "cc-index"), "--db", str(db), "--json").out)
    assert (more["files"], more["services"], more["new_services"], more["new_pages"]) == (1, 2, 0, 0)
    with sqlite3.connect(db) as connection:
        waiting = connection.execute("SELECT address, purpose, state FROM url ORDER BY address").fetchall()
    assert waiting == [(FIRST, "page", "waiting"), *((address, "probe", "waiting") for address in NEW)]


def test_why_and_seeds_tell_the_place_in_the_archive(tmp_path: Path) -> None:
    db = str(tmp_path / "c.db")
    geocrawl("mine", str(index(tmp_path)), "--db", db)
    place = f"crawl-data/{CRAWL}/segments/"
    service = geocrawl("why", WMS, "--db", db).out
    assert f"found by archive on {place}" in service and "#offset=" in service
    page = geocrawl("why", FIRST, "--db", db).out
    assert "start page, added" in page and f", source: {place}" in page
    (seed,) = json.loads(geocrawl("seeds", "list", "--json", "--db", db).out)
    assert seed["source"].startswith(place)


def test_a_wat_names_the_page_and_the_text_of_the_link(tmp_path: Path) -> None:
    page = MadePage("https://www.example.org/services.html", f'<a href="{WMS}">Map service</a>'.encode())
    _, wat = write_archive(tmp_path, [page])
    db = str(tmp_path / "c.db")
    assert geocrawl("mine", str(wat), "--db", db).code == 0
    said = geocrawl("why", WMS, "--db", db).out
    assert "found by query “Map service” on https://www.example.org/services.html" in said
    assert "found by archive on CC-MAIN-20261005000000-20261005030000-00000.warc.gz#offset=" in said


def test_several_processes_find_what_one_finds_in_its_order(tmp_path: Path) -> None:
    for number in range(7):
        (folder := tmp_path / "wat" / str(number)).mkdir(parents=True)
        links = "".join(f'<a href="https://m{number}-{n}.example.org/wms">m</a>' for n in range(5))
        write_archive(folder, [MadePage(f"https://p{number}.example.org/", links.encode())])
    (tmp_path / "wat" / "3" / "cut.warc.wat.gz").write_bytes(b"\x1f\x8b\x08")
    found = []
    for processes in ("1", "3"):
        out = tmp_path / f"{processes}.jsonl"
        said = geocrawl("mine", str(tmp_path / "wat"), "--output", str(out), "--processes", processes, "--json")
        assert said.code == 3 and "cut.warc.wat.gz: no whole WARC record in it" in said.err
        found.append((json.loads(said.out) | {"seconds": 0}, rows_of(out)))
    assert found[0] == found[1] and found[0][0]["services"] > 20


def test_hosts_that_opted_out_stay_left_out(tmp_path: Path) -> None:
    db, out = str(tmp_path / "c.db"), tmp_path / "x.jsonl"
    geocrawl("seeds", "add", "https://www.example.org/", "--db", db)
    assert geocrawl("forget", "maps.example.org", "--reason", "mail", "--db", db).code == 0
    path = str(index(tmp_path))
    report = json.loads(geocrawl("mine", path, "--db", db, "--json").out)
    assert (report["new_services"], report["refused"]) == (1, {"forgotten": 1, "guard": 2})
    assert geocrawl("mine", path, "--db", db, "--output", str(out)).code == 0
    assert {row["url"] for row in rows_of(out)} == {NEW[0], FIRST}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_candidates_are_written_into_a_file_each_once(tmp_path: Path, suffix: str) -> None:
    import duckdb

    out = tmp_path / f"x.{suffix}"
    for part in range(2):
        index(tmp_path, part=part)
    said = geocrawl("mine", str(tmp_path / "cc-index"), "--output", str(out))
    assert said.out.splitlines()[-1] == f"{out}: 2 services to be probed, 1 page to begin with."
    columns = "kind, url, crawl, record_offset >= 0, starts_with(file, 'crawl-data/')"
    found = duckdb.connect().execute(f"SELECT {columns} FROM '{out}'").fetchall()
    assert sorted(found) == [
        ("arcgis", NEW[0], CRAWL, True, True),
        ("page", FIRST, CRAWL, True, True),
        ("wms", NEW[1], CRAWL, True, True),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cc-index", out.name]


def test_columns_that_a_crawl_lacks_are_not_needed(tmp_path: Path) -> None:
    out = tmp_path / "x.jsonl"
    index(tmp_path, without=(*LATER, "warc_filename", "warc_record_offset", "fetch_status"))
    assert geocrawl("mine", str(tmp_path / "cc-index"), "--output", str(out)).code == 0
    found = {row["url"]: (row["file"], row["record_offset"]) for row in rows_of(out)}
    name = next((tmp_path / "cc-index").rglob("*.parquet")).name
    assert found == dict.fromkeys([*NEW, FIRST], (name, None))


def test_an_odd_name_of_a_file_stands_for_no_other(tmp_path: Path) -> None:
    folder, out = tmp_path / "it's [a] * ? {b} %41", tmp_path / "x.jsonl"
    index(folder)
    assert geocrawl("mine", str(folder), "--output", str(out)).code == 0
    assert len(rows_of(out)) == 3


KILLED = """
import os, signal, sys
from geocrawl.mining import miner
finish = miner.Miner._finish
def killed(self, source, sink, rows):
    if self.report.files == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    finish(self, source, sink, rows)
miner.Miner._finish = killed
from geocrawl.cli import main
sys.argv = ["geocrawl", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("into", ["--db", "--output"])
def test_a_killed_run_is_resumed_no_file_twice_and_nothing_lost(tmp_path: Path, into: str) -> None:
    for part in range(4):
        index(tmp_path, [f"https://m{part}.example.org/geoserver/wms", WMS], part)
    target = tmp_path / ("c.db" if into == "--db" else "x.jsonl")
    command = ["mine", str(tmp_path / "cc-index"), into, str(target)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *command], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    if into == "--output":
        assert not target.exists()
    report = json.loads(geocrawl(*command, "--json").out)
    assert (report["files"], report["done_before"], report["rows"]) == (2, 2, 4)
    if into == "--db":
        with sqlite3.connect(target) as connection:
            count = connection.execute("SELECT count(*) FROM endpoint").fetchone()[0]
            twice = connection.execute(
                "SELECT count(*) FROM evidence GROUP BY endpoint_id HAVING count(*) > 4"
            ).fetchall()
        assert (count, twice) == (5, [])
    else:
        assert len(rows_of(target)) == 5
        assert not target.with_name("x.jsonl.parts").exists()


def refused(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code of a run, and the line that it says first."""
    said = geocrawl("mine", *arguments, "--output", str(tmp_path / "x.jsonl"))
    return said.code, said.err.splitlines()[0]


def test_paths_that_are_not_there_and_names_that_mean_nothing_are_usage_errors(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.txt").write_text("x")
    path = str(index(tmp_path))
    for arguments, said in [
        ([str(tmp_path / "none")], "none: no such file or folder"),
        ([str(tmp_path / "empty")], "empty: no file of an archive is below it"),
        ([str(tmp_path / "a.txt")], "a.txt: expected a name that ends in .parquet"),
        ([path, "--engine", "hive"], "--engine 'hive': expected duckdb or spark"),
    ]:
        code, line = refused(tmp_path, *arguments)
        assert (code, said in line) == (2, True), line
    named = geocrawl("mine", path, "--output", str(tmp_path / "x.xlsx"))
    assert (named.code, "expected a name that ends in .csv, .jsonl, .parquet" in named.err) == (2, True)
    assert geocrawl("mine", path, "--output", str(tmp_path / "c.db")).code == 2


def test_files_that_cannot_be_read_are_named_and_the_others_mined(tmp_path: Path) -> None:
    folder, out = tmp_path / "cc-index", tmp_path / "x.jsonl"
    index(tmp_path)
    (folder / "html.parquet").write_bytes(b"<html>" * 100)
    pq.write_table(pa.table({"name": ["a"], "geometry": ["b"]}), folder / "other.parquet")
    pq.write_table(pa.table({"url": [1]}), folder / "numbers.parquet")
    whole = next(folder.rglob("part-*")).read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "page.warc.gz").write_bytes(b"<html>")
    said = geocrawl("mine", str(folder), "--output", str(out))
    assert said.code == 3
    lines = [line for line in said.err.splitlines() if str(folder) in line]
    assert len(lines) == 5
    for name, text in [
        ("html.parquet", "cannot be read as Parquet"),
        ("cut.parquet", "cannot be read as Parquet"),
        ("other.parquet", "it has no column url of texts, but name, geometry; expected the layout of Common Crawl"),
        ("numbers.parquet", "it has no column url of texts"),
        ("page.warc.gz", "is no WARC or WAT file"),
    ]:
        assert sum(f"{name}: " in line and text in line for line in lines) == 1, lines
    assert "Could not be read: 5 files; the same command tries again." in said.out
    assert len(rows_of(out)) == 3
    for path in folder.glob("*.*"):
        path.unlink()
    assert geocrawl("mine", str(folder), "--output", str(out)).code == 0
    assert len(rows_of(out)) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason=NO_ROOT.reason)
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    index(tmp_path).chmod(0)
    code, line = refused(tmp_path, str(tmp_path / "cc-index"))
    assert code == 3 and "part-00000" in line


def test_a_cut_off_file_is_mined_as_far_as_it_goes_and_named(tmp_path: Path) -> None:
    pages = [
        MadePage(f"https://p{n}.example.org/", f'<a href="https://m{n}.example.org/wms">m</a>'.encode()) for n in (1, 2)
    ]
    _, wat = write_archive(tmp_path, pages)
    wat.write_bytes(wat.read_bytes()[:-20])
    said = geocrawl("mine", str(wat), "--output", str(tmp_path / "x.jsonl"))
    assert said.code == 0
    assert f"{wat}: 3 records; skipped: 1 damaged or cut off, 0 too large" in said.err
    assert [row["url"] for row in rows_of(tmp_path / "x.jsonl")] == ["https://m1.example.org/wms"]


@pytest.mark.parametrize(
    ("library", "package", "extra", "engine"),
    [
        ("duckdb", "DuckDB", "mine", "duckdb"),
        ("pyspark.sql", "PySpark", "spark", "spark"),
        ("fastwarc.warc", "FastWARC", "mine", "duckdb"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, package: str, extra: str, engine: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    path, _ = (index(tmp_path), 0) if library != "fastwarc.warc" else write_archive(tmp_path, [])
    said = geocrawl("mine", str(path), "--engine", engine, "--db", str(tmp_path / "c.db"))
    assert said.code == 2
    assert f"{package} is not installed; it comes with pip install '.[{extra}]' in geocrawl's folder" in said.err


def test_a_locked_catalogue_is_waited_for_and_then_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "c.db"
    geocrawl("seeds", "add", "https://www.example.org/", "--db", str(db))
    monkeypatch.setenv("GEOCRAWL_DATABASE_PATIENCE", "1")
    monkeypatch.setattr("geocrawl.store.database.connection.BUSY_S", 0.1)
    with sqlite3.connect(db, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        said = geocrawl("mine", str(index(tmp_path)), "--db", str(db))
        other.execute("ROLLBACK")
    assert (said.code, "locked for" in said.err) == (3, True)
    report = json.loads(geocrawl("mine", str(tmp_path / "cc-index"), "--db", str(db), "--json").out)
    assert (report["files"], report["new_services"]) == (1, 2)
