"""Snapshots: the files, the manifest that counts and checks them, and what changed since the former one."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.export.snapshot import CHANGES, compare
from geocrawl.model import Service
from tests.store.catalogue.search.catalogue import service
from tests.support.commands import geocrawl
from tests.support.world import World, candidate, verdict

duckdb = pytest.importorskip("duckdb", reason="needs duckdb: make dev-env")
pytest.importorskip("pyarrow", reason="needs pyarrow: make dev-env")

FILES = {f"{table}.{form}" for table in ("services", "layers", "health") for form in ("parquet", "csv")}


def roads(title: str, version: str = "1.3.0") -> Service:
    return replace(service(title, "Road Office", ("roads", "bridges"), (5.0, 45.0, 10.0, 50.0)), version=version)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A catalogue of two services that answer and one address that does not."""
    world = World(tmp_path / "c.db")
    world.record(candidate("a.example/wms"), verdict("ok", roads("Roads")), world.clock.now())
    world.record(candidate("b.example/wms?token=s3cret"), verdict("ok", roads("=SUM(A1) *paths*")), world.clock.now())
    world.record(candidate("c.example/wms"), verdict("http-404"), world.clock.now())
    return world


def snapshot(world: World, *arguments: str) -> str:
    said = geocrawl("snapshot", *arguments, "--db", str(world.database.path))
    assert said.code == 0, said.err
    return said.out


def test_the_manifest_counts_and_checks_every_file(world: World, tmp_path: Path) -> None:
    snapshot(world, "--out", str(tmp_path / "s"), "--licence", "CC-BY-4.0")
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert (manifest["services"], manifest["by_kind"], manifest["licence"]) == (2, {"wms": 2}, "CC-BY-4.0")
    assert manifest["files"].keys() == FILES == {file.name for file in (tmp_path / "s").iterdir()} - {"manifest.json"}
    for name, stated in manifest["files"].items():
        path = tmp_path / "s" / name
        assert stated["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert stated["bytes"] == path.stat().st_size
        # The one line by which docs/export.md loads a file.
        assert duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall() == [(stated["rows"],)], name
    with (tmp_path / "s" / "health.csv").open() as file:
        assert {row["url"]: row["reason"] for row in csv.DictReader(file)} == {
            "http://a.example/wms": "ok",
            "http://b.example/wms?token=***": "ok",
            "http://c.example/wms": "http-404",
        }


def test_the_same_catalogue_gives_the_same_bytes_and_is_not_written_twice(world: World, tmp_path: Path) -> None:
    for name in "st":
        snapshot(world, "--out", str(tmp_path / name))
    for name in (*FILES, "manifest.json"):
        assert (tmp_path / "s" / name).read_bytes() == (tmp_path / "t" / name).read_bytes(), name
    assert "nothing was written" in snapshot(world, "--out", str(tmp_path / "s"))
    assert "nothing was written" not in snapshot(world, "--out", str(tmp_path / "s"), "--licence", "CC0-1.0")


def test_a_site_published_again_leaves_a_snapshot_in_its_folder_alone(world: World, tmp_path: Path) -> None:
    site, database = tmp_path / "site", str(world.database.path)
    publish = ("publish", "--out", str(site), "--base-url", "https://maps.example.org", "--db", database)
    assert geocrawl(*publish).code == 0
    snapshot(world, "--out", str(site / "snapshot"))
    before = {file.name: file.read_bytes() for file in (site / "snapshot").iterdir()}
    world.record(candidate("a.example/wms"), verdict("ok", roads("Rails")), world.clock.now() + 60)
    assert geocrawl(*publish).code == 0
    assert {file.name: file.read_bytes() for file in (site / "snapshot").iterdir()} == before
    assert before.keys() == {*FILES, "manifest.json"}
    leading = re.findall(r'href="\.\./\.\./(snapshot/[^"]+)"', (site / "services/0/1.html").read_text())
    assert len(leading) == 2 and all((site / each).is_file() for each in leading), "pages lead to it"


def test_what_changed_since_the_former_snapshot_stands_in_files(world: World, tmp_path: Path) -> None:
    out = tmp_path / "s"
    snapshot(world, "--out", str(out))
    before = json.loads((out / "manifest.json").read_text())
    at = world.clock.now() + 86_400
    world.record(candidate("a.example/wms"), verdict("ok", roads("Roads", "1.1.1")), at)
    world.record(candidate("d.example/wms"), verdict("ok", roads("Rivers")), at)
    said = snapshot(world, "--out", str(out), "--json")
    assert {name: count for name, count in json.loads(said)["changes"].items() if count} == {"new": 1, "changed": 1}
    with (out / "changes.csv").open() as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert rows == [
        ("new", "wms", "http://d.example/wms", "Rivers", "", "", ""),
        ("changed", "wms", "http://a.example/wms", "Roads", "version", "1.3.0", "1.1.1"),
    ]
    assert "## New\n\n- wms Rivers, <http://d.example/wms>\n" in (out / "CHANGES.md").read_text()
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["former"] == {"taken": before["taken"], "citation": before["citation"]}
    assert manifest["citation"] != before["citation"]


def row(number: int, url: str, **more: object) -> dict[str, object]:
    common = {"id": number, "kind": "wms", "url": url, "title": "Roads", "alive": True, "provider": "", "version": ""}
    return common | {"layers": 1, "level": ""} | more


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (row(1, "http://a/"), row(1, "http://a/"), []),
        (row(1, "http://a/"), row(1, "http://a/", alive=False), ["dead"]),
        (row(1, "http://a/", alive=False), row(7, "http://a/"), ["back"]),
        (row(1, "http://a/"), row(1, "http://b/"), ["moved"]),
        (row(1, "http://a/"), row(1, "http://b/", layers=2), ["moved", "changed"]),
        (row(1, "http://a/"), row(1, "http://b/", title="Rivers"), ["new", "removed"]),
        (row(1, "http://a/"), row(1, "http://b/", kind="wfs"), ["new", "removed"]),
    ],
)
def test_a_service_is_compared_with_itself(
    before: dict[str, object], after: dict[str, object], expected: list[str]
) -> None:
    assert [change for change, *_ in compare([before], [after])] == expected
    assert set(expected) <= set(CHANGES)


@pytest.mark.parametrize("content", [None, b"", b"PAR1 damaged PAR1"])
def test_a_former_snapshot_that_cannot_be_read_is_named(world: World, tmp_path: Path, content: bytes | None) -> None:
    former = tmp_path / "former"
    if content is not None:
        former.mkdir()
        (former / "services.parquet").write_bytes(content)
    said = geocrawl("snapshot", "--out", str(tmp_path / "s"), "--former", str(former), "--db", str(world.database.path))
    assert said.code == 2 and str(former) in said.err
    assert not (tmp_path / "s" / "manifest.json").exists()
