"""Every face of a catalogue has exactly the columns that `model/catalogue.py` declares for it."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from geocrawl import Catalog
from geocrawl.model import ContentReport, Field, Level
from geocrawl.model.catalogue import SIDES, Column, EndpointService, Layer, Service, columns, file_columns, view_columns
from geocrawl.model.times import read_interval
from geocrawl.settings import Settings
from geocrawl.store.catalogue.write.verdicts import ContentReportWriter
from geocrawl.web.application import make_application
from geocrawl.web.assistants import tools
from geocrawl.web.options import Options
from tests.store.catalogue.search.catalogue import service
from tests.support.commands import geocrawl
from tests.support.places import ROOT
from tests.support.world import World, candidate, verdict

ITEM = "/collections/services/items/1"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of a service whose facts are all known."""
    pytest.importorskip("py3langid", reason="needs py3langid: make dev-env")
    path = tmp_path_factory.mktemp("columns") / "c.db"
    described = service("Roads", "Road Office", ("roads",), (5.0, 45.0, 10.0, 50.0))
    known = replace(
        described,
        layers=tuple(replace(layer, times=read_interval("2015", "2020", "P1Y")) for layer in described.layers),
        abstract="Motorways, main roads and lanes of the country, with the year in which they were built.",
        keywords=("roads",),
        online_resource="http://a.example/",
        fees="none",
        access_constraints="CC BY 4.0",
        contact={"person": "Ann"},
    )
    world = World(path)
    number = world.record(candidate("a.example/wms"), verdict("ok", known), world.clock.now())
    told = ContentReport(
        Level.ADVERTISED, fields={"roads": (Field("road_no", "string", "Straßennummer"), Field("lanes"))}
    )
    with world.store.database.transaction:
        ContentReportWriter(world.database.connection, thumbnail_bytes=0).write(number, told, world.clock.now())
    world.store.close()
    return path


@pytest.fixture(scope="module")
def client(path: Path) -> Iterator[TestClient]:
    """A client of the pages and interfaces of that catalogue."""
    application = make_application(Options(path, requests_per_minute=0), Settings())
    with TestClient(application, base_url="http://localhost") as client:
        yield client


def exported(path: Path, form: str) -> str:
    said = geocrawl("export", "--format", form, "--db", str(path))
    assert said.code == 0, said.err
    return said.out


def rows_of(path: Path, table: str) -> list[str]:
    """Return the columns of a table of SQLite."""
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def written(path: Path, form: str) -> Path:
    """Return a file that an export wrote next to a catalogue."""
    file = path.with_name(f"services.{form}")
    said = geocrawl("export", "--format", form, "--out", str(file), "--db", str(path))
    assert said.code == 0, said.err
    return file


def parquet_columns(path: Path) -> list[str]:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: make dev-env")
    return [name for name in parquet.read_schema(written(path, "geoparquet")).names if name not in ("geometry", "bbox")]


def documented(view: str) -> list[str]:
    """Return the columns of a view that docs/database.md describes."""
    _, _, described = (ROOT / "docs" / "database.md").read_text("utf-8").partition(f"### `{view}`")
    return re.findall(r"^\| `(\w+)` \|", described.partition("\n#")[0], re.MULTILINE)


OF_ENDPOINTS = {"service_id" if name == "id" else name for name in (*file_columns(EndpointService), *SIDES)}
FACES: dict[str, tuple[Callable[[Path], Iterable[str]], Iterable[str]]] = {
    "view of services": (lambda path: rows_of(path, "v_services"), view_columns(Service)),
    "view of layers": (lambda path: rows_of(path, "v_layers"), view_columns(Layer)),
    "CSV": (lambda path: next(csv.reader(io.StringIO(exported(path, "csv")))), OF_ENDPOINTS),
    "JSON lines": (lambda path: json.loads(exported(path, "jsonl")), OF_ENDPOINTS),
    "GeoJSON": (
        lambda path: json.loads(exported(path, "geojson"))["features"][0]["properties"],
        file_columns(Service),
    ),
    "GeoPackage": (
        lambda path: rows_of(written(path, "gpkg"), "services"),
        (*file_columns(Service), "geom"),
    ),
    "layers of a GeoPackage": (
        lambda path: rows_of(written(path, "gpkg"), "layers"),
        (*file_columns(Layer), *SIDES, "fid"),
    ),
    "GeoParquet": (parquet_columns, file_columns(Service)),
    "docs/database.md": (lambda path: documented("v_services"), view_columns(Service)),
    "layers in docs/database.md": (lambda path: documented("v_layers"), view_columns(Layer)),
}
"""Face → (what reads its columns, what is declared for it)."""


@pytest.mark.parametrize("face", FACES)
def test_a_face_has_exactly_the_declared_columns(face: str, path: Path) -> None:
    read, declared = FACES[face]
    assert sorted(read(path)) == sorted(declared)


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ("2015-03-01", 1),
        ("2020-12-31T23:59:59Z", 1),
        ("../2015-01-01", 1),
        ("2020-06-01T00:00:00Z/..", 1),
        ("2010/2030", 1),
        ("../2014-12-31", 0),
        ("2021-01-01/..", 0),
    ],
)
def test_a_time_asks_for_data_of_it_in_each_face(times: str, found: int, path: Path, client: TestClient) -> None:
    assert client.get(f"/collections/services/items?datetime={times}").json()["numberMatched"] == found
    ends = times.split("/") if "/" in times else [times, times]
    condition = f"T_INTERSECTS(time, INTERVAL('{ends[0]}', '{ends[1]}'))"
    assert client.get("/collections/services/items", params={"filter": condition}).json()["numberMatched"] == found
    assert geocrawl("search", "--time", times, "--db", str(path)).code == 1 - found
    with Catalog(path) as catalogue:
        assert catalogue.find(f"time:{times}").total == found
        assert catalogue.find(f"-time:{times}").total == 1 - found


@pytest.mark.parametrize(("name", "found"), [("road_no", 1), ("ROAD_NO", 1), ("straßennummer", 1), ("road", 0)])
def test_a_field_is_found_by_its_name_or_alias_in_each_face(
    name: str, found: int, path: Path, client: TestClient
) -> None:
    assert client.get("/collections/services/items", params={"field": name}).json()["numberMatched"] == found
    condition = f"A_CONTAINS(fields, ('{name}'))"
    assert client.get("/collections/services/items", params={"filter": condition}).json()["numberMatched"] == found
    assert geocrawl("search", "--field", name, "--db", str(path)).code == 1 - found
    with Catalog(path) as catalogue:
        assert catalogue.find(f"field:{name}").total == found
        assert tools.search(catalogue, f"field:{name}", 5, 0, lambda: None)["total"] == found


def test_an_assistant_reads_the_fields_of_layers(path: Path) -> None:
    with Catalog(path) as catalogue:
        (layer,) = tools.layers(catalogue, 1, "", 5)["layers"]
    assert layer["fields"] == ["road_no string Straßennummer", "lanes"]


def test_fields_are_on_the_page_of_a_service_and_in_files(path: Path, client: TestClient) -> None:
    page = client.get(ITEM, headers={"Accept": "text/html"}).text
    assert re.search(r"<code>road_no</code> <span[^>]*>string</span> Straßennummer", page)
    with closing(sqlite3.connect(written(path, "gpkg"))) as connection:
        told = [row[0] for row in connection.execute("SELECT fields FROM layers")]
    assert told == ["road_no string Straßennummer; lanes"]
    with closing(sqlite3.connect(path)) as connection:
        (stored,) = connection.execute("SELECT fields FROM v_layers").fetchone()
    assert json.loads(stored)[1] == {"name": "lanes"}


@pytest.mark.parametrize(("language", "found"), [("en", 1), ("EN-gb", 1), ("de", 0)])
def test_a_language_is_asked_for_in_each_face(language: str, found: int, path: Path, client: TestClient) -> None:
    assert client.get("/collections/services/items", params={"language": language}).json()["numberMatched"] == found
    assert geocrawl("search", "--language", language, "--db", str(path)).code == 1 - found
    with Catalog(path) as catalogue:
        assert catalogue.find(f"language:{language}").total == found


def test_a_description_that_is_written_again_keeps_the_fields_of_its_layers(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    described = service("Roads", "Road Office", ("roads", "paths"), None)
    number = world.record(candidate("a.example/wms"), verdict("ok", described), world.clock.now())
    told = ContentReport(Level.ADVERTISED, fields={"roads": (Field("road_no"),)})
    with world.store.database.transaction:
        ContentReportWriter(world.database.connection, thumbnail_bytes=0).write(number, told, world.clock.now())
    world.record(candidate("a.example/wms"), verdict("ok", replace(described, abstract="New")), world.clock.now() + 9)
    world.store.close()
    with Catalog(tmp_path / "c.db") as catalogue:
        assert [hit.abstract for hit in catalogue.find("field:road_no").hits] == ["New"]


def test_a_record_is_of_the_time_of_its_data(client: TestClient) -> None:
    record = client.get(ITEM, headers={"Accept": "application/geo+json"}).json()
    assert record["time"] == {"interval": ["2015-01-01T00:00:00Z", "2020-12-31T23:59:59Z"]}


def named(wanted: Callable[[Column], object]) -> list[Column]:
    """Return the columns of services that some condition holds for."""
    return [column for column in columns(Service).values() if wanted(column)]


def test_a_record_and_its_schema_have_each_column_that_is_declared_for_records(client: TestClient) -> None:
    declared = {column.record: column.schema for column in named(lambda column: column.record)}
    record = client.get(ITEM, headers={"Accept": "application/geo+json"}).json()["properties"]
    schema = client.get("/collections/services/schema?f=json").json()["properties"]
    assert {name: schema[name] | of_name for name, of_name in declared.items()} == {
        name: schema[name] for name in declared
    }
    composed = {"contacts", "externalIds", "formats", "keywords", "language", "rights", "geocrawl:qualityParts"}
    assert record.keys() == {*declared, *composed}


def test_filters_may_name_each_column_that_is_declared_for_them(client: TestClient) -> None:
    declared = {
        (column.record or column.name).removeprefix("geocrawl:") for column in named(lambda each: each.queryable)
    }
    properties = client.get("/collections/services/queryables?f=json").json()["properties"]
    assert properties.keys() == {"id", "geometry", "time", "fields", *declared}
    assert {client.get(f"/collections/services/items?filter={name} IS NULL").status_code for name in declared} == {200}


@pytest.mark.parametrize("language", [0, 1], ids=["English", "Chinese"])
def test_the_page_of_a_service_lists_each_column_with_a_label(language: int, client: TestClient) -> None:
    page = client.get(ITEM, headers={"Accept": "text/html", "Accept-Language": ("en", "zh")[language]}).text
    facts = re.search(r'(?s)id="about-title".*?</dl>', page)
    assert facts is not None
    labels = [column.label[language] for column in named(lambda column: column.label) if column.label]
    assert re.findall(r"<dt>(.*?)</dt>", facts[0]) == labels


def test_a_program_gets_every_column(path: Path) -> None:
    with Catalog(path) as catalog:
        found = next(iter(catalog.services()))
    assert {name for name in columns(Service) if not hasattr(found, name)} == set()


def test_a_layer_has_its_own_licence_and_language_or_those_of_its_service(tmp_path: Path) -> None:
    pytest.importorskip("py3langid", reason="needs py3langid: make dev-env")
    said = service("Karten", "Amt", ("own", "few", "closed"), None)
    own, few, closed = said.layers
    text = "Flurstücke mit ihren Grenzen, Gebäude mit Hausnummern und die Nutzung des Bodens im ganzen Land."
    layers = (replace(own, abstract=text, terms="CC BY 4.0"), few, replace(closed, terms="proprietary"))
    world = World(tmp_path / "c.db")
    for host, stated in (("a.example", "eng"), ("b.example", "")):
        described = replace(said, access_constraints="CC0-1.0", language=stated, title="Maps", layers=layers)
        described = replace(described, layers=layers if stated else layers[1:], fingerprint=host)
        world.record(candidate(f"{host}/wms"), verdict("ok", described), world.clock.now())
    query = (
        "SELECT l.name, l.licence, l.language FROM v_layers l JOIN v_services s ON s.id = l.service_id WHERE s.host = ?"
    )
    of_a, of_b = (world.database.connection.execute(query, (each,)).fetchall() for each in ("a.example", "b.example"))
    world.store.close()
    assert of_a == [("own", "CC-BY-4.0", "de"), ("few", "CC0-1.0", "de"), ("closed", "", "de")]
    assert of_b == [("few", "CC0-1.0", ""), ("closed", "", "")]
