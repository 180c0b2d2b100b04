"""The views that others read: their columns stay, they hold no keys, and the documented connection run on them."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from shapely.geometry import box

from geocrawl.model import ANSWER, Deviation, Evidence, Kind, Layer, Service
from geocrawl.model.catalogue import SIDES, columns
from geocrawl.model.catalogue import Layer as Layer_
from geocrawl.model.catalogue import Service as Service_
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.read.show import service_detail
from geocrawl.store.catalogue.services import read_endpoints, read_services
from geocrawl.store.database.views import BEST, LAYER_COLUMNS, VIEWS, service_columns
from geocrawl.store.store import Store
from tests.support import parts
from tests.support.places import ROOT
from tests.support.world import World, candidate, verdict

COLUMNS = {
    "v_services": "id kind title abstract provider keywords version formats url host site online_resource layers alive "
    "health level https cors fees access_constraints endpoints deviations west south east north first_seen last_ok "
    "last_probe country contact availability mean_ms software quality twins page",
    "v_layers": "service_id position parent item name title abstract keywords crs styles formats queryable "
    "west south east north kind service",
    "v_health": "endpoint_id service_id kind url host site status reason http_status health health_since in_a_row "
    "probes valid_share mean_ms level first_seen last_probe last_ok next_probe",
}
"""Names that others rely on: new ones go to the end, none is removed or renamed."""
SECRET = "sesame"
ROADS = Service(
    kind=Kind.WMS,
    version="1.3.0",
    title=f"Roads, also at http://u:{SECRET}@b.example/",
    abstract=f"Get it at http://b.example/wms?token={SECRET}&map=a",
    keywords=(f"http://b.example/?key={SECRET}",),
    provider="Survey Office",
    online_resource=f"http://a.example/?api_key={SECRET}",
    layers=(
        Layer("", "All", crs=("EPSG:4326",), box=box(5, 45, 10, 50)),
        Layer("roads", "Roads", f"see http://b.example/?sid={SECRET}", parent=0, keywords=("transport",)),
    ),
    fingerprint="f1",
)
DATASETTE = os.environ.get("DATASETTE") or shutil.which("datasette")
QUERIES = re.findall(r"^```sql\n(.+?)^```", (ROOT / "docs" / "database.md").read_text("utf-8"), re.M | re.S)


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """A service that fails now and then, at an address with a key; an address that never worked."""
    path = tmp_path / "geocrawl.db"
    world = World(path)
    at = candidate(f"a.example/wms?map=a&token={SECRET}&service=WMS", page=f"http://portal.example/maps?key={SECRET}")
    for reason in ("ok", "timeout-read", "ok", "http-500"):
        world.clock.time += 86_400
        deviations = (Deviation("bom", f"http://a.example/?token={SECRET}"),)
        said = verdict(reason, ROADS if reason == "ok" else None, deviations=deviations)
        world.record(at, said, world.clock.now())
    world.record(candidate("dead.example/wms"), verdict("http-404"), world.clock.now())
    living = replace(ROADS, title="Roads", fingerprint="f2")
    world.record(candidate("c.example/wms"), verdict("ok", living), world.clock.now())
    world.store.close()
    return path


def columns_of(connection: sqlite3.Connection, view: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({view})")]


def test_the_columns_of_the_views_stay(catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as connection:
        shown = {view: " ".join(columns_of(connection, view)) for view in VIEWS}
    assert {view: names for view, names in COLUMNS.items() if not shown[view].startswith(names)} == {}


def test_each_column_of_a_service_and_of_a_layer_has_its_expression() -> None:
    for shape, expressions in ((Service_, service_columns(BEST)), (Layer_, LAYER_COLUMNS)):
        wanted = [name for each in columns(shape).values() for name in (SIDES if each.sql == "BOX" else (each.name,))]
        assert sorted(expressions) == sorted(wanted)


def test_what_the_views_say(catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as connection:
        connection.row_factory = sqlite3.Row
        first = connection.execute("SELECT * FROM v_services ORDER BY id").fetchone()
        health = connection.execute("SELECT * FROM v_health ORDER BY endpoint_id").fetchall()
    assert (first["url"], first["alive"], first["layers"], first["endpoints"]) == (
        "http://a.example/wms?map=a&token=***",
        0,
        1,
        1,
    )
    assert (first["deviations"], first["west"], first["north"]) == ('["bom"]', 5.0, 50.0)
    assert first["first_seen"] == "1970-01-13T13:46:40Z"
    assert (health[0]["valid_share"], health[0]["reason"], health[1]["service_id"]) == (0.5, "http-500", None)


def test_the_page_of_a_service_is_the_shortest_address_that_names_it(tmp_path: Path) -> None:
    world = World(tmp_path / "geocrawl.db")
    here = candidate("a.example/wms?service=WMS", page="http://portal.example/catalogue/roads")
    moved = replace(here, evidence=Evidence("redirect", "http://r.example/", "http://a.example/wms"))
    guessed = replace(here, evidence=Evidence("guess:geoserver", "http://g.example/", "http://a.example/wms"))
    given = replace(here, evidence=Evidence("given", "", "http://a.example/wms"))
    answered = replace(here, evidence=Evidence(ANSWER, "http://c.example/csw", "http://a.example/wms"))
    short = f"http://portal.example/?key={SECRET}"
    pages: list[str] = []
    for found in (given, moved, guessed, answered, here, replace(here, evidence=replace(here.evidence, page=short))):
        world.record(found, verdict("ok", ROADS), world.clock.now())
        with Store.open_readonly(str(tmp_path / "geocrawl.db")) as connection:
            (service,) = read_services(connection, Selection())
            pages.append(service.page)
            (secret,) = read_services(connection, Selection(), with_secrets=True)
            (row,) = read_endpoints(connection, Selection())
            detail = service_detail(connection, service.id)
            assert detail is not None and row.page == secret.page == detail.service.page
    world.store.close()
    assert pages[:4] == ["", "", "", "http://c.example/csw"]
    assert pages[4:] == ["http://portal.example/catalogue/roads", "http://portal.example/?key=***"]
    assert secret.page == short


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_shows_a_key(catalogue: Path, view: str) -> None:
    with closing(sqlite3.connect(catalogue)) as connection:
        rows = connection.execute(f"SELECT * FROM {view}").fetchall()
        assert SECRET in str(connection.execute("SELECT url FROM endpoint").fetchall()), "the full address is stored"
    assert rows and "***" in str(rows) and SECRET not in str(rows)


def test_a_text_with_a_key_is_no_change_at_the_next_probe(catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as connection:
        assert connection.execute("SELECT * FROM change").fetchall() == []


def test_there_are_queries_of_views_and_of_tables() -> None:
    assert len(QUERIES) == 15


@pytest.mark.parametrize("query", QUERIES)
def test_a_documented_query_runs_and_finds_something(catalogue: Path, query: str) -> None:
    with closing(sqlite3.connect(f"file:{catalogue}?mode=ro", uri=True)) as connection:
        assert connection.execute(query).fetchall()


def test_datasettes_metadata_names_the_views_and_denies_the_rest() -> None:
    metadata = json.loads((ROOT / "geocrawl" / "data" / "datasette.json").read_text("utf-8"))["databases"]["geocrawl"]
    assert metadata["allow"] is metadata["allow_sql"] is metadata["allow_download"] is False
    assert {name for name, table in metadata["tables"].items() if table["allow"]} == set(VIEWS)


@pytest.mark.machine
@pytest.mark.skipif(not DATASETTE, reason=parts.DATASETTE.reason)
def test_datasette_publishes_the_views_alone(catalogue: Path) -> None:
    for view in VIEWS:
        code, said = datasette(catalogue, f"/geocrawl/{view}.json")
        assert code == 0 and json.loads(said)["rows"], said
    hidden = (
        "/geocrawl",
        "/geocrawl.db",
        "/geocrawl/endpoint.json",
        "/geocrawl/search_text.json",
        "/geocrawl/url.json",
    )
    for path in (*hidden, "/geocrawl.json?sql=select+url+from+endpoint", "/geocrawl/v_services.json?_where=1=1"):
        code, said = datasette(catalogue, path)
        assert code != 0 and SECRET not in said and "example" not in said, path
    assert datasette(catalogue, "/geocrawl/search_text_content.json")[0] != 0


def datasette(catalogue: Path, path: str) -> tuple[int, str]:
    """Return the exit code, 0 for an answer with status 200, and the answer of Datasette to a request for `path`."""
    command = [DATASETTE or "", str(catalogue), "--metadata", str(ROOT / "geocrawl" / "data" / "datasette.json")]
    allowed = ["--setting", "default_allow_sql", "off", "--get", path]
    done = subprocess.run([*command, *allowed], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_the_page_says_how_a_time_is_read_in_views_and_in_tables(catalogue: Path) -> None:
    of_views, of_tables = re.findall(r"`(datetime\(.+?\))`", (ROOT / "docs" / "database.md").read_text("utf-8"))[:2]
    with sqlite3.connect(catalogue) as connection:
        seen = connection.execute(f"SELECT {of_views} FROM v_services ORDER BY id").fetchall()
        stored = connection.execute(f"SELECT {of_tables} FROM service ORDER BY id").fetchall()
    assert seen == stored and all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", time) for (time,) in seen)
