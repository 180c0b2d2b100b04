"""QGIS connection files: one a kind, with safe and unique names, as QGIS itself would write them."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.export.qgis import FORMS, safe_name
from geocrawl.export.services import export_services
from geocrawl.model.catalogue import Service
from geocrawl.model.health import Health
from tests.support.parts import QGIS, lack
from tests.support.places import ROOT
from tests.support.published import HOSTILE, ROADS, hostile, numbered, of_every_kind

SYSTEM_PYTHON = Path("/usr/bin/python3")
IMPORTER = ROOT / "tests" / "export" / "qgis_import.py"


def written(services: list[Service], folder: Path) -> dict[str, list[dict[str, str]]]:
    """File name without ending → the attributes of its connections."""
    count = export_services(services, [], "qgis", folder)
    read = {path.stem: ET.parse(path).getroot() for path in folder.iterdir()}
    assert {name: (root.tag, root.get("version")) for name, root in read.items()} == {
        name: (FORMS[name].root, FORMS[name].version) for name in read
    }
    found = {name: [dict(each.attrib) for each in root] for name, root in read.items()}
    assert sum(map(len, found.values())) == count
    return found


def test_every_kind_that_qgis_knows_has_its_file(tmp_path: Path) -> None:
    found = written(of_every_kind(), tmp_path / "new" / "folder")
    assert set(found) == set(FORMS)
    urls = {name: [each["url"] for each in connections] for name, connections in found.items()}
    assert urls["xyz"] == ["https://t.example/1.0.0/a/{z}/{x}/{-y}.png", "https://t.example/b/{z}/{x}/{y}@2x.webp"]
    assert urls["vectortile"] == ["https://t.example/a/{z}/{x}/{y}.pbf?key=***"]
    assert [url.rpartition("/")[2] for url in urls["arcgismap"]] == ["ows?a=b", "MapServer", "ImageServer"]
    assert [url.rpartition("/")[2] for url in urls["arcgisfeature"]] == ["FeatureServer"]
    by_version = {each["url"].partition(".")[0]: each["version"] for each in found["wfs"]}
    assert by_version == {"https://wfs": "auto", "https://ogcapi": "OGC_API_FEATURES"}
    assert len(found["wms"]) == 5, "WMS, WMTS, WMS-C, the service over the antimeridian, the one without an extent"


def test_names_are_safe_and_unique_and_addresses_stay(tmp_path: Path) -> None:
    services = hostile() + [
        replace(ROADS, id=900 + number, title=title) for number, title in enumerate(("x", "X", "x (2)"))
    ]
    for connections in written(services, tmp_path).values():
        names = [each["name"] for each in connections]
        assert len({name.casefold() for name in names}) == len(names)
        assert all(name.strip() and "/" not in name and "\\" not in name and name.isprintable() for name in names)
    titles = [each["name"] for each in written(services, tmp_path)["wms"]]
    assert {"x", "X (2)", "x (2) (2)"} <= set(titles)


@pytest.mark.parametrize("title", HOSTILE)
def test_a_name_is_never_empty_or_endless(title: str) -> None:
    assert 0 < len(safe_name(title * 50)) <= 120


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="needs a folder"):
        export_services(numbered([ROADS]), [], "qgis", tmp_path / "file")


@pytest.mark.parametrize("zoom", [None, 2, 4])
def test_tiles_whose_levels_are_not_those_of_the_web_are_left_out(zoom: int | None, tmp_path: Path) -> None:
    tile = "https://t.example/1.0.0/a/3/2/1.png"
    assert written([replace(ROADS, kind="tms", tile=tile, tile_zoom=3)], tmp_path)["xyz"]
    assert written([replace(ROADS, kind="tms", tile=tile, tile_zoom=zoom)], tmp_path / "new") == {}


def has_qgis() -> bool:
    command = [str(SYSTEM_PYTHON), "-c", "import qgis.gui"]
    return SYSTEM_PYTHON.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.servers
def test_qgis_itself_imports_every_file(tmp_path: Path) -> None:
    if not has_qgis():
        lack(QGIS)
    found = written(of_every_kind() + [replace(each, id=each.id + 100) for each in hostile()], tmp_path)
    files = [
        str(tmp_path / f"{name}.xml") for name in sorted(found) if name != "csw"
    ]  # MetaSearch has a dialog of its own
    done = subprocess.run(
        [str(SYSTEM_PYTHON), str(IMPORTER), *files], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    imported = {Path(each["file"]).stem: each for each in json.loads(done.stdout)}
    for name, each in imported.items():
        if "skipped" not in each:
            assert (each["imported"], each["wrong"], each["asked"]) == (len(found[name]), [], []), each
    assert {name for name, each in imported.items() if "skipped" in each} <= {"stac"}, "STAC needs QGIS 3.40"


@pytest.mark.servers
def test_qgis_opens_a_geopackage_in_its_colours(tmp_path: Path) -> None:
    if not has_qgis():
        lack(QGIS)
    path = tmp_path / "a.gpkg"
    export_services(numbered([ROADS]), [], "gpkg", path)
    command = [str(SYSTEM_PYTHON), str(IMPORTER.with_name("qgis_styles.py")), str(path), "services"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    drawn = json.loads(done.stdout)["services"]
    assert (drawn.pop(""), drawn["alive"], drawn["down"]) == ('"title"', "#1a7a43", "#b3261e")
    assert drawn.keys() == set(Health)
