"""`watch import`: GeoHealthCheck's database and JSON, and plain lists."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from geocrawl.app.watch_lists import read_watched
from geocrawl.errors import UsageError
from geocrawl.model import Kind
from geocrawl.model.health import DAY_S
from tests.cli.test_watches import Catalogue

A, B = "http://a.example/wms", "http://b.example/wms"
RESOURCES: list[dict[str, Any]] = [
    {"resource_type": "OGC:WMS", "active": 1, "title": "Roads", "url": A, "run_frequency": 5, "tags": ["ows"]},
    {"resource_type": "OGC:STA", "active": 1, "title": "Sensors", "url": "https://s.example/v1.1", "tags": []},
    {"resource_type": "WWW:LINK", "active": 1, "title": "Home", "url": "https://x.example/", "tags": []},
    {"resource_type": "OGC:WFS", "active": 0, "title": "Off", "url": "https://x.example/wfs", "tags": ["ows"]},
    {"resource_type": "OGCFeat", "active": 1, "title": "No", "url": "not an address", "tags": []},
]


def made_database(path: Path) -> Path:
    """A database with GeoHealthCheck's tables, as far as they say what is watched."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE resource (identifier INTEGER PRIMARY KEY, resource_type TEXT NOT NULL, active BOOLEAN, "
            "title TEXT NOT NULL, url TEXT NOT NULL, latitude FLOAT, longitude FLOAT, owner_identifier TEXT NOT NULL,"
            " run_frequency INTEGER, auth TEXT);"
            "CREATE TABLE tag (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL UNIQUE);"
            "CREATE TABLE resource_tags (identifier INTEGER PRIMARY KEY, tag_id INTEGER, resource_identifier INTEGER);"
            "INSERT INTO tag VALUES (1, 'ows');"
        )
        for number, each in enumerate(RESOURCES, 1):
            values = (number, *(each[name] for name in ("resource_type", "active", "title", "url")))
            database.execute(
                "INSERT INTO resource VALUES (?,?,?,?,?,0,0,'admin',?,NULL)", (*values, each.get("run_frequency"))
            )
            for _ in each["tags"]:
                database.execute("INSERT INTO resource_tags VALUES (NULL, 1, ?)", (number,))
        database.commit()
    return path


def written(path: Path, form: str) -> Path:
    """The resources in one of GeoHealthCheck's forms."""
    if form == "database":
        return made_database(path)
    rows: Any = RESOURCES if form == "export" else {each["title"]: each for each in RESOURCES}
    path.write_text(json.dumps({"total": len(RESOURCES), "resources": rows}))
    return path


@pytest.mark.parametrize("form", ["database", "export", "fixture"])
def test_resources_of_geohealthcheck_are_read_with_kind_interval_and_tags(tmp_path: Path, form: str) -> None:
    roads, sensors, home, off, no = read_watched(written(tmp_path / "data", form))
    assert (roads.kind, roads.every_s, roads.tags, roads.why_not) == (Kind.WMS, 300.0, ("ows",), "")
    assert (sensors.kind, sensors.every_s) == (Kind.SENSORTHINGS, 3600.0), "its default is an hour"
    assert home.why_not.startswith("WWW:LINK: no kind") and home.place in ("resource 3", "resource Home")
    assert (off.why_not, no.why_not) == ("not active", "no web address")


def test_intervals_that_no_watch_has_become_the_nearest(tmp_path: Path) -> None:
    rows = [{**RESOURCES[0], "run_frequency": minutes} for minutes in (0.1, 10**9, "often", "nan", 10**400)]
    (tmp_path / "data.json").write_text(json.dumps(rows))
    quick, slow, *wrong = read_watched(tmp_path / "data.json")
    assert (quick.every_s, slow.every_s) == (60.0, 30 * DAY_S)
    assert all(each.why_not.startswith("run_frequency") for each in wrong)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"SQLite format 3\0nothing", b"\n# none\n", b"[]", b"url,a\n" + 200_000 * b"x"],
)
def test_a_file_that_is_no_list_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data").write_bytes(content)
    with pytest.raises(UsageError, match="data: "):
        read_watched(tmp_path / "data")


def test_a_list_is_imported_once_and_what_is_wrong_is_told_with_its_line(catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue.probe("b.example/wms", ok=True)
    (tmp_path / "list.txt").write_text(f"{A}\n# theirs\n{B}\nroads\nhttp://127.0.0.1:1/wms\n")
    options = ("--every", "10m", "--allow-private", "--json")
    first = catalogue.run("watch", "import", str(tmp_path / "list.txt"), *options)
    rows = {row["place"]: row for row in json.loads(first.out)}
    assert {place: row["state"] for place, row in rows.items()} == {
        "line 1": "added",
        "line 3": "added",
        "line 4": "refused",
        "line 5": "refused",
    }
    assert rows["line 4"]["why"] == "no web address" and "no service answers there" in rows["line 5"]["why"]
    assert first.code == 1 and "2 services added, 0 watched already, 2 refused." in first.err
    watches = catalogue.run("watch", "list", "--json").out
    again = catalogue.run("watch", "import", str(tmp_path / "list.txt"), *options)
    assert "0 services added, 2 watched already, 2 refused." in again.err
    assert catalogue.run("watch", "list", "--json").out == watches
    assert [each["every_s"] for each in json.loads(watches)] == [600.0, 600.0]


def test_a_tag_chooses_resources(catalogue: Catalogue, tmp_path: Path) -> None:
    data = str(made_database(tmp_path / "data.db"))
    said = catalogue.run("watch", "import", data, "--tag", "ows", "--json")
    assert [(row["place"], row["state"]) for row in json.loads(said.out)] == [
        ("resource 1", "added"),
        ("resource 4", "refused"),
    ]
    assert catalogue.run("watch", "import", data, "--tag", "none").code == 2


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(tmp_path / "crawl.db")
