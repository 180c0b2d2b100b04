"""Lists are read in the forms in which people keep them; every form names service, kind and layers."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from geocrawl.app.list_entries import ListEntry, read_entries
from geocrawl.cli.addresses import read_lines
from geocrawl.errors import UsageError
from geocrawl.model import Kind

_ELI = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "geometry": None,
            "properties": {
                "id": "roads",
                "name": "Roads",
                "type": "wms",
                "url": "https://{switch:a,b}.example.org/wms?map=/r.map&LAYERS=roads,rails&FORMAT=image/png&CRS={proj}"
                "&BBOX={bbox}&SERVICE=WMS&REQUEST=GetMap",
                "available_projections": ["EPSG:25833", "EPSG:3857"],
            },
        },
        {
            "type": "Feature",
            "properties": {"name": "Tiles", "type": "tms", "url": "https://t.example/{zoom}/{x}/{y}.png"},
        },
        {"type": "Feature", "properties": {"name": "Matrix", "type": "wmts", "url": "https://t.example/wmts/caps.xml"}},
        {"type": "Feature", "properties": {"name": "nothing"}},
    ],
}
_JOSM = """<imagery xmlns="http://josm.openstreetmap.de/maps-1.0"><entry><name>Roads</name><type>wms</type>
<url><![CDATA[https://example.org/wms?LAYERS=roads&FORMAT=image/jpeg&SRS={proj}&BBOX={bbox}]]></url></entry></imagery>"""
_WMC = """<ViewContext version="1.1.0" xmlns="http://www.opengis.net/context" xmlns:xlink="http://www.w3.org/1999/xlink">
<LayerList><Layer queryable="1" hidden="0"><Server service="OGC:WMS" version="1.1.1">
<OnlineResource xlink:href="https://example.org/wms"/></Server><Name>roads</Name><Title>Roads</Title>
<FormatList><Format>image/gif</Format><Format current="1">image/png</Format></FormatList></Layer></LayerList>
</ViewContext>"""
_OWC_ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:owc="http://www.opengis.net/owc/1.0"><entry><title>Roads</title>
<owc:offering code="http://www.opengis.net/spec/owc-atom/1.0/req/wms">
<owc:operation code="GetCapabilities" href="https://example.org/wms?SERVICE=WMS&amp;REQUEST=GetCapabilities"/>
<owc:operation code="GetMap" href="https://example.org/wms?SERVICE=WMS&amp;REQUEST=GetMap&amp;LAYERS=roads"/></owc:offering>
</entry></feed>"""
_OWC_JSON = {
    "type": "FeatureCollection",
    "features": [
        {
            "properties": {
                "title": "Roads",
                "offerings": [
                    {
                        "code": "http://www.opengis.net/spec/owc-geojson/1.0/req/wms",
                        "operations": [{"code": "GetMap", "href": "https://example.org/wms?LAYERS=roads"}],
                    }
                ],
            }
        }
    ],
}
_QGIS = """<qgis><projectlayers><maplayer type="raster"><layername>Roads</layername><provider>wms</provider>
<datasource>contextualWMSLegend=0&amp;crs=EPSG:3857&amp;format=image/png&amp;layers=roads&amp;styles=&amp;\
url=https://example.org/wms?map%3D/r.map</datasource>
</maplayer><maplayer type="vector"><layername>Parcels</layername><provider>WFS</provider>
<datasource> pagingEnabled='true' srsname='EPSG:25833' typename='cad:parcels'
url='https://example.org/wfs' version='auto'</datasource>
</maplayer><maplayer type="vector"><layername>Own</layername><provider>ogr</provider><datasource>./own.gpkg</datasource>
</maplayer></projectlayers></qgis>"""
_TERRIA = {
    "catalog": [
        {
            "type": "group",
            "name": "Water",
            "members": [
                {"type": "wms", "name": "Lakes", "url": "https://example.org/wms", "layers": "lakes"},
                {"type": "wfs", "name": "Rivers", "url": "https://example.org/wfs", "typeNames": "w:rivers"},
                {"type": "csv", "name": "A table", "url": "https://example.org/t.csv"},
            ],
        }
    ]
}


def _read(tmp_path: Path, text: object) -> list[ListEntry]:
    file = tmp_path / "list"
    file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return read_entries(file)


def _short(entries: list[ListEntry]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(entry.name, str(entry.kind), entry.layers) for entry in entries]


def test_csv_has_an_address_and_a_layer_in_each_row(tmp_path: Path) -> None:
    entries = _read(
        tmp_path, "title;URL;Layer;type\nRoads;https://example.org/wms;roads;WMS\n;https://example.org/x;;\n"
    )
    assert _short(entries) == [("Roads", "wms", ("roads",)), ("https://example.org/x", "None", ())]


def test_an_imagery_index_names_layers_in_its_templates(tmp_path: Path) -> None:
    roads, tiles, matrix = _read(tmp_path, _ELI)
    assert (roads.kind, roads.layers, roads.crs) == (Kind.WMS, ("roads", "rails"), "EPSG:25833")
    assert roads.url.startswith("https://a.example.org/wms?map=/r.map&") and "{" not in roads.url
    assert tiles.why_not and matrix.kind is Kind.WMTS and not matrix.why_not


@pytest.mark.parametrize(
    ("text", "format_"),
    [(_JOSM, "image/jpeg"), (_WMC, "image/png"), (_OWC_ATOM, ""), (_OWC_JSON, "")],
    ids=["josm", "wmc", "owc-atom", "owc-json"],
)
def test_contexts_and_indexes_in_xml_name_service_and_layer(tmp_path: Path, text: object, format_: str) -> None:
    (entry,) = _read(tmp_path, text)
    assert entry.format == format_
    assert (entry.name, entry.kind, entry.layers) == ("Roads", Kind.WMS, ("roads",))
    assert entry.url.startswith("https://example.org/wms")


def test_a_project_of_qgis_names_the_sources_of_its_layers(tmp_path: Path) -> None:
    expected = [("Roads", "wms", ("roads",)), ("Parcels", "wfs", ("cad:parcels",))]
    assert _short(_read(tmp_path, _QGIS)) == expected
    archive = tmp_path / "project.qgz"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("project.qgs", _QGIS)
    assert _short(read_entries(archive)) == expected
    roads, *_ = read_entries(archive)
    assert (roads.url, roads.format) == ("https://example.org/wms?map=/r.map", "image/png")


def test_a_terria_catalogue_is_read_through_its_groups(tmp_path: Path) -> None:
    entries = _read(tmp_path, _TERRIA)
    assert _short(entries)[:2] == [("Lakes", "wms", ("lakes",)), ("Rivers", "wfs", ("w:rivers",))]
    assert "csv" in entries[2].why_not


@pytest.mark.parametrize("text", ["", "number,place\n1,2\n", "{}", "[1, 2", "<a/>", '{"features": [{}]}'])
def test_a_file_without_an_entry_is_refused_with_what_is_expected(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="list"):
        _read(tmp_path, text)


@pytest.mark.parametrize("head", ["url,layer", "name,url", "link,kind"])
@pytest.mark.parametrize("read", [read_entries, read_lines])
def test_a_cell_without_end_is_refused_with_its_line(head: str, read: Callable[[Path], object], tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text(f"{head}\nhttp://a.example/wms,a\n{'x' * 200_000},b\n")
    with pytest.raises(UsageError, match=r"list.csv: after line 2: field larger than field limit"):
        read(file)


def test_a_header_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"field larger than field limit"):
        _read(tmp_path, f"url,{'x' * 200_000}\nhttp://a.example/wms,b\n")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("damage", ["bytes", "encrypted", "method"])
def test_an_archive_that_cannot_be_unpacked_is_refused(tmp_path: Path, compression: int, damage: str) -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as archive:
        archive.writestr("p.qgs", "<qgis><maplayer/></qgis>" * 100)
    body = bytearray(written.getvalue())
    directory = body.index(b"PK\x01\x02")
    if damage == "bytes":
        body[directory // 2 : directory] = bytes(directory - directory // 2)
    for place in (6, directory + 8) if damage == "encrypted" else (8, directory + 10) if damage == "method" else ():
        body[place] = 99
    (tmp_path / "p.qgz").write_bytes(body)
    with pytest.raises(UsageError, match="a ZIP archive that cannot be read"):
        read_entries(tmp_path / "p.qgz")


def test_an_address_without_end_is_an_entry_that_cannot_be_asked(tmp_path: Path) -> None:
    (entry, good) = _read(tmp_path, f"url,layer\n{'{switch:' * 10_000},a\nhttp://a.example/wms,b\n")
    assert entry.why_not and len(entry.name) <= 8_000 and good.layers == ("b",)
