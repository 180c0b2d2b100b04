"""Contexts and files of desktop programs that name services."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page.records import kinds, named, recorded
from tests.support.pages import read


def test_gdals_descriptions_name_their_server() -> None:
    assert kinds(recorded("gdal-wms.xml", "http://h.example/a.xml")) == {
        ("wms", "http://onearth.jpl.nasa.gov/wms.cgi?")
    }
    link = named(recorded("gdal-ags.xml", "http://h.example/a.xml"), "MapServer")
    assert link.where == "gdal"


def test_a_templates_server_is_no_address() -> None:
    text = (
        '<GDAL_WMS><Service name="TMS"><ServerUrl>http://t.example/${z}/${x}/${y}.png</ServerUrl></Service></GDAL_WMS>'
    )
    assert kinds(read(f"<?xml version='1.0'?>{text}", "text/xml")) == set()


WMC = """<?xml version="1.0"?><ViewContext xmlns="http://www.opengis.net/context" xmlns:xlink="http://www.w3.org/1999/xlink">
<LayerList><Layer queryable="1"><Server service="OGC:WMS" version="1.1.1" title="ESA CubeSERV">
<OnlineResource xlink:type="simple" xlink:href="http://mapserv2.esrin.esa.it/cubestor/cubeserv/cubeserv.cgi"/></Server>
<Name>WORLD_MODIS_1KM:MapAdmin</Name><Title>WORLD_MODIS_1KM</Title><Abstract>Global maps</Abstract></Layer>
</LayerList></ViewContext>"""


def test_a_map_contexts_layers_name_their_servers() -> None:
    document = read(WMC, "text/xml")
    assert kinds(document) == {("wms", "http://mapserv2.esrin.esa.it/cubestor/cubeserv/cubeserv.cgi")}
    link = named(document, "cubeserv")
    assert (link.anchor, link.context) == ("WORLD_MODIS_1KM ESA CubeSERV OGC:WMS", "Global maps")


def layer(source: str, provider: str) -> str:
    return (
        f"<maplayer><datasource>{source}</datasource><layername>Lakes</layername>"
        f"<provider>{provider}</provider></maplayer>"
    )


@pytest.mark.parametrize("root", ["qgis", "qlr"])
@pytest.mark.parametrize(
    ("source", "provider", "expected"),
    [
        (
            "contextualWMSLegend=0&amp;crs=EPSG:3301&amp;layers=x&amp;styles=&amp;url=https://kaart.maaamet.ee/wms/alus%3F",
            "wms",
            ("wms", "https://kaart.maaamet.ee/wms/alus?"),
        ),
        (
            "crs=EPSG:3857&amp;tileMatrixSet=g&amp;url=https://t.example/wmts/1.0.0/WMTSCapabilities.xml",
            "wms",
            ("wmts", "https://t.example/wmts/1.0.0/WMTSCapabilities.xml"),
        ),
        (
            " pagingEnabled='true' typename='a:b' url='https://w.example/ows?map=a' version='auto'",
            "WFS",
            ("wfs", "https://w.example/ows?map=a"),
        ),
        (
            "crs='EPSG:1' url='https://a.example/FeatureServer/0'",
            "arcgisfeatureserver",
            ("arcgis", "https://a.example/FeatureServer/0"),
        ),
    ],
)
def test_layers_of_qgis_name_their_source(root: str, source: str, provider: str, expected: tuple[str, str]) -> None:
    text = f"<?xml version='1.0'?><{root}><projectlayers>{layer(source, provider)}</projectlayers></{root}>"
    document = read(text, "text/xml")
    assert kinds(document) == {expected}
    assert document.links[0].anchor == "Lakes"


@pytest.mark.shared
def test_a_recorded_project_without_services_names_none(shared: Path) -> None:
    text = (shared / "notes/servers/templates/demo.qgs").read_text("utf-8")
    assert kinds(read(text, "text/xml")) == set()


def test_connections_of_qgis_are_services() -> None:
    text = '<!DOCTYPE connections><qgsWMSConnections version="1.0"><wms name="T" url="https://w.example/x"/></qgsWMSConnections>'
    assert kinds(read(f"<?xml version='1.0'?>{text}", "text/xml")) == {("wms", "https://w.example/x")}


def test_a_kml_document_leads_to_what_it_loads_but_not_to_its_markers() -> None:
    document = read(
        "<?xml version='1.0'?><kml xmlns='http://www.opengis.net/kml/2.2'><Document><Style><IconStyle><Icon>"
        "<href>http://i.example/pin.png</href></Icon></IconStyle></Style><NetworkLink><name>Lakes</name><Link>"
        "<href>more/lakes.kml</href></Link></NetworkLink><GroundOverlay><name>Rain</name><Icon>"
        "<href>http://m.example/wms?service=WMS&amp;request=GetMap</href></Icon></GroundOverlay></Document></kml>",
        "application/vnd.google-earth.kml+xml",
    )
    assert [(link.url.address, link.anchor) for link in document.links if link.where == "kml"] == [
        ("http://h.example/d/more/lakes.kml", "Lakes"),
        ("http://m.example/wms?service=WMS&request=GetMap", "Rain"),
    ]


def test_a_search_description_leads_to_its_search_without_parameters() -> None:
    document = read(
        "<?xml version='1.0'?><OpenSearchDescription xmlns='http://a9.com/-/spec/opensearch/1.1/'><ShortName>CSW"
        "</ShortName><Url type='text/xml' template='http://c.example/csw?service=CSW&amp;q={searchTerms?}&amp;n=1'/>"
        "</OpenSearchDescription>",
        "text/xml",
    )
    (link,) = document.links
    assert (link.url.address, link.anchor) == ("http://c.example/csw?service=CSW&n=1", "CSW")
