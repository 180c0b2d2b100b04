"""`geocrawl export` in every format, filtered; what it refuses."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.export.services import SERVICE_FORMATS
from geocrawl.export.tables import FORMATS
from tests.store.catalogue.test_services import DEAD, PACIFIC, ROADS
from tests.support.commands import CommandResult, geocrawl
from tests.support.world import World, candidate, verdict


@pytest.fixture
def db(tmp_path: Path) -> Path:
    world = World(tmp_path / "crawl.db")
    for number, service in enumerate((ROADS, PACIFIC, DEAD)):
        at = candidate(f"h{number}.example/wms?token=sesame")
        world.record(at, verdict("ok", service), world.clock.now())
    world.record(candidate("h2.example/wms?token=sesame"), verdict("http-404"), 2e6)
    world.store.close()
    return tmp_path / "crawl.db"


def export(db: Path, *arguments: str) -> CommandResult:
    return geocrawl("export", "--db", str(db), *arguments)


@pytest.mark.parametrize("format", [*FORMATS, *SERVICE_FORMATS])
def test_every_format_is_written_without_keys(db: Path, format: str) -> None:
    if format == "geoparquet":
        pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[geoparquet]'")
    out = db.parent / f"out.{format}"
    said = export(db, "--format", format, "--out", str(out))
    assert said.code == 0, said.err
    files = list(out.iterdir()) if out.is_dir() else [out]
    written = b"".join(path.read_bytes() for path in files)
    assert written and b"sesame" not in written
    count, what = ("0", "services") if format == "seeds" else ("3", "endpoints" if format in FORMATS else "services")
    assert said.out == f"{count} {'connections' if format == 'qgis' else what} written to {out}\n"
    again = export(db, "--format", format, "--out", str(out), "--secrets")
    assert again.code == 0 and again.out.endswith("in the place of the file that was there\n") is out.is_file()
    files = list(out.iterdir()) if out.is_dir() else [out]
    if format != "geoparquet":  # compressed
        assert b"sesame" in b"".join(path.read_bytes() for path in files)


def test_a_mark_for_excel_is_written_on_request(db: Path) -> None:
    plain, marked = (export(db, "--out", "-", *more).out for more in ((), ("--bom",)))
    assert marked == "\ufeff" + plain
    assert export(db, "--format", "jsonl", "--bom").err == "geocrawl: --bom is for csv; omit it for --format jsonl\n"


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.csv", b"url,"), ("a", b"url,"), ("a.JSONL", b"{"), ("a.geojson", b'{"type": "FeatureCollection"'),
     ("a.gpkg", b"SQLite format 3"), ("a.ttl", b"@prefix"), ("a.jsonld", b"{")],
)  # fmt: skip
def test_the_format_follows_the_name_of_the_file(db: Path, name: str, begins: bytes) -> None:
    said = export(db, "--out", str(db.parent / name))
    assert said.code == 0, said.err
    assert (db.parent / name).read_bytes().lstrip().startswith(begins)


@pytest.mark.parametrize("name", ["a.html", "a.json", "a.xlsx"])
def test_a_name_that_tells_no_format_is_refused(db: Path, name: str) -> None:
    said = export(db, "--out", str(db.parent / name))
    assert said.code == 2 and "give --format" in said.err and not (db.parent / name).exists()
    assert export(db, "--format", "csv", "--out", str(db.parent / name)).code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["Roads", "Pacific", "Dead"]),
        (["--alive"], ["Roads", "Pacific"]),
        (["--kind", "WMS", "--bbox=0,40,6,46"], ["Roads"]),
        (["--bbox=170,-10,-170,-5"], ["Pacific"]),
        (["--kind", "wfs"], []),
        (["--level", "delivers"], []),
        (["pacific"], ["Pacific"]),
        (["roads", "alive:yes"], ["Roads"]),
        (["kind:wfs"], []),
        (["--crs", "4326", "--alive"], ["Roads"]),
    ],
)
def test_filters_hold_for_rows_of_endpoints_and_of_services(
    db: Path, arguments: list[str], expected: list[str]
) -> None:
    lines = export(db, "--format", "jsonl", *arguments).out.splitlines()
    assert [json.loads(line)["title"] for line in lines] == expected
    features = json.loads(export(db, "--format", "geojson", *arguments).out)["features"]
    assert [each["properties"]["title"] for each in features] == expected


@pytest.mark.parametrize(
    ("arguments", "clear"),
    [
        (["--format", "xlsx"], "one of csv, jsonl, geojson, gpkg"),
        (["--bbox", "1,2,3"], "expected W,S,E,N in degrees"),
        (["--bbox", "0,50,1,40"], "south below north"),
        (["--bbox", "nan,0,1,1"], "expected W,S,E,N"),
        (["--level", "best"], "expected"),
        (["alive:soon"], "expected a time such as"),
        (["--kind", "map"], "expected one of wms"),
        (["--format", "gpkg"], "name a file with --out"),
        (["--format", "qgis"], "name a folder"),
    ],
)
def test_wrong_use_is_one_clear_line(db: Path, arguments: list[str], clear: str) -> None:
    said = export(db, *arguments)
    assert said.code == 2 and clear in " ".join(said.err.split())


@pytest.mark.parametrize("name", ["crawl.db", "crawl.db-wal"])
@pytest.mark.parametrize("format", ["gpkg", "geojson", "geoparquet"])
def test_no_export_is_written_over_the_catalogue(db: Path, name: str, format: str) -> None:
    before = db.read_bytes()
    assert export(db, "--format", format, "--out", str(db.parent / name)).code == 2
    assert db.read_bytes() == before


def test_a_geopackage_is_written_again(db: Path) -> None:
    out = db.parent / "out.gpkg"
    for arguments, expected in (([], 3), (["--alive"], 2)):
        assert export(db, "--format", "gpkg", "--out", str(out), *arguments).code == 0
        with closing(sqlite3.connect(out)) as connection:
            assert connection.execute("SELECT count(*) FROM services").fetchone() == (expected,)


def test_a_missing_catalogue_is_one_clear_line(tmp_path: Path) -> None:
    out = tmp_path / "out.gpkg"
    said = export(tmp_path / "none.db", "--format", "gpkg", "--out", str(out))
    assert said.code == 3 and "no such database" in said.err and not out.exists()


def test_titles_that_are_alike_do_not_hide_services(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db")
    for number in range(30):
        service = replace(ROADS, title="WMS", fingerprint=f"f{number}", online_resource="")
        world.record(candidate(f"h{number}.example/wms"), verdict("ok", service), world.clock.now())
    world.store.close()
    assert export(tmp_path / "crawl.db", "--format", "qgis", "--out", str(tmp_path / "qgis")).code == 0
    assert (tmp_path / "qgis" / "wms.xml").read_text("utf-8").count("<wms ") == 30
