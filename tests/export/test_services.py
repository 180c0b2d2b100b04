"""Services are exported for other programs, which read back what was written; hostile texts harm none of them."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from rdflib import Graph, Namespace, URIRef
from rdflib.namespace import DCAT, DCTERMS, RDF
from shapely.geometry import shape

from geocrawl.cli.addresses import gather_seeds
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.export.dcat import HydraPage, write_jsonld, write_turtle
from geocrawl.export.services import SERVICE_FORMATS, export_services
from geocrawl.model.catalogue import Service
from geocrawl.model.health import Health
from tests.support.parts import GEOPANDAS
from tests.support.places import ROOT
from tests.support.published import ROADS, hostile, layers_of, numbered, of_every_kind

GEOPARQUET = pytest.param(
    "geoparquet",
    marks=pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs pyarrow: pip install '.[geoparquet]'"),
)
ALL_FORMATS = [GEOPARQUET if name == "geoparquet" else name for name in SERVICE_FORMATS]
OGRINFO = shutil.which("ogrinfo")
VCARD = Namespace("http://www.w3.org/2006/vcard/ns#")
SHAPES = Path(__file__).with_name("dcat_ap")
"""The rules of DCAT-AP 3.0.0 and where they are from."""
GEO = Namespace("http://www.opengis.net/ont/geosparql#")
NAMES = {"geojson": "a.geojson", "gpkg": "a.gpkg", "geoparquet": "a.parquet", "dcat": "a.ttl", "seeds": "a.txt"}


def written(format: str, services: list[Service], folder: Path, name: str = "") -> Path:
    """The file or folder of an export; the returned number is that of the services, unless some are left out."""
    out = folder / (name or NAMES.get(format, f"{format}.html"))
    count = export_services(iter(services), layers_of(services), format, out, now=1.7e9)
    assert count == len(services) or format in ("seeds", "qgis", "openlayers", "leaflet")
    return out


def ogrinfo(path: Path, *arguments: str) -> str:
    assert OGRINFO
    done = subprocess.run([OGRINFO, "-ro", str(path), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr and "Warning" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("services", [of_every_kind(), hostile(), []], ids=["every kind", "hostile", "none"])
def test_geojson_has_a_feature_for_each_service(services: list[Service], tmp_path: Path) -> None:
    path = written("geojson", services, tmp_path)
    read = json.loads(path.read_text("utf-8"))
    assert [feature["properties"]["id"] for feature in read["features"]] == [each.id for each in services]
    for feature, service in zip(read["features"], services, strict=True):
        assert (feature["geometry"] is None) == (service.box is None)
        assert feature["properties"]["alive"] is True and feature["properties"]["layers"] == 2
    fiji = [each for each in read["features"] if each["properties"]["title"] == "Fiji"]
    assert [shape(each["geometry"]).area for each in fiji] == pytest.approx([20.0] * len(fiji))
    if OGRINFO and services:
        assert f"Feature Count: {len(services)}" in ogrinfo(path, "-so", "-al")


@pytest.mark.parametrize("services", [of_every_kind(), hostile(), []], ids=["every kind", "hostile", "none"])
def test_a_geopackage_has_services_and_layers(services: list[Service], tmp_path: Path) -> None:
    path = written("gpkg", services, tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (0x47504B47,)
        assert connection.execute("PRAGMA user_version").fetchone() == (10300,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("services", "layers")]
        assert counts == [len(services), 2 * len(services)]
    if OGRINFO:
        said = ogrinfo(path, "-so", "services")
        assert f"Feature Count: {len(services)}" in said and "WGS 84" in said
        assert f"Feature Count: {2 * len(services)}" in ogrinfo(path, "-so", "layers")
        if services and services[0].title == "A wms":
            assert "Extent: (-180.000000, -20.000000) - (180.000000, 50.000000)" in said
            assert "MULTIPOLYGON (((177 -20" in ogrinfo(path, "services", "-where", "title='Fiji'")


def test_the_style_of_a_geopackage_has_a_colour_for_each_health(tmp_path: Path) -> None:
    path = written("gpkg", numbered([ROADS]), tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        (style,) = connection.execute(
            "SELECT styleQML FROM layer_styles WHERE f_table_name = 'services' AND useAsDefault"
        )
    root = ET.fromstring(style[0])
    symbols = {each.get("name") for each in root.iter("symbol")}
    assert {each.get("value"): each.get("symbol") in symbols for each in root.iter("category")} == dict.fromkeys(
        Health, True
    )


def test_a_former_geopackage_is_replaced_and_another_database_is_not(tmp_path: Path) -> None:
    path = written("gpkg", numbered([ROADS]), tmp_path)
    written("gpkg", numbered([ROADS, ROADS]), tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM services").fetchone() == (2,)
    other = tmp_path / "other.gpkg"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE precious (row)")
    with pytest.raises(UsageError, match="is a database"):
        written("gpkg", [ROADS], tmp_path, "other.gpkg")
    with pytest.raises(UsageError, match="is a database"):
        written("geojson", [ROADS], tmp_path, "a.gpkg")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.gpkg", "other.gpkg"]


@pytest.mark.parametrize("services", [of_every_kind(), hostile(), []], ids=["every kind", "hostile", "none"])
def test_geoparquet_is_read_with_its_metadata(services: list[Service], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install '.[geoparquet]'")
    table = parquet.read_table(written("geoparquet", services, tmp_path))
    geo = json.loads(table.schema.metadata[b"geo"])
    assert geo["version"] == "1.1.0" and geo["columns"]["geometry"]["encoding"] == "WKB"
    assert table.column("id").to_pylist() == [each.id for each in services]
    assert [each is None for each in table.column("bbox").to_pylist()] == [each.box is None for each in services]


def test_geoparquet_is_read_by_geopandas(tmp_path: Path) -> None:
    geopandas = pytest.importorskip("geopandas", reason=GEOPANDAS.reason)
    frame = geopandas.read_parquet(written("geoparquet", of_every_kind(), tmp_path))
    assert len(frame) == len(of_every_kind()) and frame[frame.title == "Fiji"].area.item() == pytest.approx(20.0)


@pytest.mark.parametrize("services", [of_every_kind(), hostile(), []], ids=["every kind", "hostile", "none"])
def test_dcat_says_the_same_in_turtle_and_json(services: list[Service], tmp_path: Path) -> None:
    turtle = Graph().parse(written("dcat", services, tmp_path), format="turtle")
    linked = Graph().parse(written("dcat", services, tmp_path, "a.jsonld"), format="json-ld")
    for graph in (turtle, linked):
        assert len(set(graph.subjects(RDF.type, DCAT.DataService))) == len(services)
        assert len(set(graph.objects(URIRef("urn:geocrawl:catalogue"), DCAT.service))) == len(services)
        standards = set(graph.subjects(RDF.type, DCTERMS.Standard))
        assert standards == set(graph.objects(None, DCTERMS.conformsTo))
        licences = set(graph.subjects(RDF.type, DCTERMS.LicenseDocument))
        assert licences == set(graph.objects(None, DCTERMS.license))
        languages = set(graph.subjects(RDF.type, DCTERMS.LinguisticSystem))
        assert languages == set(graph.objects(None, DCTERMS.language))
        named = {*standards, *licences, *languages}
        assert {str(each) for each in graph.subjects() if isinstance(each, URIRef) and each not in named} == {
            "urn:geocrawl:catalogue",
            *(f"urn:geocrawl:service:{each.id}" for each in services),
        }, "no text became a statement"
        assert all(isinstance(each, URIRef) for each in graph.objects(None, DCAT.endpointURL))
    assert len(turtle) == len(linked)
    boxes = sorted(map(str, turtle.objects(None, DCAT.bbox)))
    assert boxes == sorted(map(str, linked.objects(None, DCAT.bbox)))
    titles = sorted(map(str, turtle.objects(None, DCTERMS.title)))
    assert titles == sorted(map(str, linked.objects(None, DCTERMS.title))) and all(titles)


def test_dcat_leads_to_the_capabilities_and_names_the_standard(tmp_path: Path) -> None:
    graph = Graph().parse(written("dcat", numbered([ROADS]), tmp_path), format="turtle")
    service = URIRef("urn:geocrawl:service:1")
    (described,) = graph.objects(service, DCAT.endpointDescription)
    assert str(described) == "http://maps.example/wms?map=a&token=***&SERVICE=WMS&REQUEST=GetCapabilities"
    assert list(graph.objects(service, DCTERMS.conformsTo)) == [
        URIRef("http://www.opengis.net/def/serviceType/ogc/wms")
    ]
    assert (None, DCTERMS.rights, None) not in Graph().parse(
        written("dcat", numbered([replace(ROADS, access_constraints="None", fees="none")]), tmp_path, "b.ttl"),
        format="turtle",
    )
    (box,) = graph.objects(None, DCAT.bbox)
    assert str(box).startswith("POLYGON ((5 45") and box.datatype == GEO.wktLiteral  # type: ignore[attr-defined]


REACHED = {"person": "Map desk", "organization": "Office", "email": "desk@maps.example", "phone": "+49 (0)30 / 123-4"}
BASE = "https://catalogue.example/maps"


@pytest.mark.parametrize("write", [write_turtle, write_jsonld])
def test_dcat_breaks_no_rule_of_dcat_ap(write: Callable[..., int]) -> None:
    pyshacl = pytest.importorskip("pyshacl", reason="needs pyshacl: make dev-env")
    attacked = [replace(each, contact=dict.fromkeys(REACHED, each.title)) for each in hostile()]
    reached = [replace(each, contact=REACHED) for each in of_every_kind()]
    stream = io.StringIO()
    page = HydraPage(f"{BASE}/items?f=dcat", f"{BASE}/items?f=dcat&offset=20")
    write(numbered([*attacked, *reached, *of_every_kind()]), stream, BASE, page)
    text = stream.getvalue().encode("utf-8", "replace").decode()
    data = Graph().parse(data=text, format="turtle" if write is write_turtle else "json-ld")
    assert len(set(data.objects(None, DCAT.landingPage))) == len(set(data.subjects(RDF.type, DCAT.DataService))) > 70
    assert len(set(data.subjects(RDF.type, VCARD.Kind))) > len(reached)
    assert set(data.objects(None, VCARD.hasEmail)) == {URIRef("mailto:desk@maps.example")}
    for shapes in ("shapes.ttl", "range.ttl"):
        conforms, _, said = pyshacl.validate(data, shacl_graph=Graph().parse(SHAPES / shapes), inference="none")
        assert conforms, said


def test_seeds_are_read_again_without_masked_addresses(tmp_path: Path) -> None:
    path = written("seeds", of_every_kind(), tmp_path)
    found = {url.address for url in gather_seeds([], path)}
    assert found == {each.url for each in of_every_kind() if "***" not in each.url} and len(found) > 10


def test_hostile_titles_add_no_line_to_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    services = [replace(each, url=f"http://evil.example/{each.id}") for each in hostile()]
    found = gather_seeds([], written("seeds", services, tmp_path))
    assert [url.address for url in found] == [each.url for each in services]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("format", ALL_FORMATS)
def test_a_failed_export_leaves_the_former_one_and_nothing_else(format: str, tmp_path: Path) -> None:
    out = written(format, of_every_kind(), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full_disk() -> Iterator[Service]:
        yield from of_every_kind()
        raise OSError(28, "No space left on device")

    with pytest.raises(EnvironmentFault, match=r"cannot be written: No space left"):
        export_services(full_disk(), iter(()), format, out)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("format", ALL_FORMATS)
def test_a_folder_that_may_not_be_written_is_one_clear_line(format: str, tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("a file, no folder")
    with pytest.raises((EnvironmentFault, UsageError), match=r"file.*(cannot be written|needs a folder)"):
        export_services([], [], format, tmp_path / "file" / "below" if format != "qgis" else tmp_path / "file")


@pytest.mark.skipif(os.geteuid() != 0 and not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("format", ["geojson", "dcat", "seeds", "openlayers", GEOPARQUET])
def test_a_disk_that_is_full_is_one_clear_line(format: str) -> None:
    with pytest.raises(EnvironmentFault, match="/dev/full: cannot be written: No space left on device"):
        export_services(of_every_kind() * 2_000, [], format, Path("/dev/full"))


def test_formats_that_need_a_file_say_so() -> None:
    with pytest.raises(UsageError, match=r"gpkg cannot be written to standard output: name a file with --out"):
        export_services([], [], "gpkg")
    with pytest.raises(UsageError, match=r"qgis cannot be written to standard output: name a folder"):
        export_services([], [], "qgis", Path("-"))
    with pytest.raises(UsageError, match="one of geojson, gpkg"):
        export_services([], [], "shapefile")


def test_geoparquet_goes_to_standard_output_as_bytes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install '.[geoparquet]'")
    export_services(of_every_kind(), [], "geoparquet")
    assert parquet.read_table(io.BytesIO(capfdbinary.readouterr().out)).num_rows == len(of_every_kind())


def test_files_with_keys_are_closed_to_others(tmp_path: Path) -> None:
    former = os.umask(0o022)
    try:
        for format in ("geojson", "gpkg"):
            export_services([ROADS], [], format, tmp_path / format, with_secrets=True)
            assert (tmp_path / format).stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(former)


def test_without_pyarrow_geoparquet_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install '.\[geoparquet\]'"):
        export_services([ROADS], [], "geoparquet", tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["gpkg", "qgis"])
def test_files_that_may_not_grow_end_in_one_clear_line(format: str, tmp_path: Path) -> None:
    """In a process of its own, which may write files of 64 KiB at most: as on a full disk."""
    code = f"""
import resource, signal, sys
from pathlib import Path
from geocrawl.errors import EnvironmentFault
from geocrawl.export.dcat import write_jsonld, write_turtle
from geocrawl.export.services import export_services
from tests.support.published import numbered, of_every_kind
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
services = numbered(of_every_kind() * 400)
try:
    export_services(services, (), {format!r}, Path({str(tmp_path / "out")!r}))
except EnvironmentFault as fault:
    print(fault)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert "cannot be written:" in done.stdout and done.stdout.count("\n") == 1, done.stderr
    assert [path.name for path in tmp_path.rglob("*.part")] == []
