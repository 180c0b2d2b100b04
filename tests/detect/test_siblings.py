"""Which kinds are asked beside a valid one, and where."""

from __future__ import annotations

import pytest

from geocrawl.detect import Detector
from geocrawl.model import Kind
from geocrawl.probe.registry import declarations
from geocrawl.urls import read_url, service_endpoint

HOST = "https://maps.example.org"


def beside(kind: Kind, path: str) -> dict[str, str]:
    read = read_url(HOST + path)
    assert read is not None
    found = Detector(declarations()).siblings(service_endpoint(kind, read))
    return {str(each.endpoint.kind): each.endpoint.url.address.removeprefix(HOST) for each in found}


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        (
            Kind.WMS,
            "/geoserver/wms",
            {"wfs": "/geoserver/wfs", "wcs": "/geoserver/wcs", "wmts": "/geoserver/gwc/service/wmts"},
        ),
        (Kind.WMS, "/geoserver/topp/wms", {"wfs": "/geoserver/topp/wfs"}),
        (Kind.WFS, "/geoserver/topp/ows", {"wms": "/geoserver/topp/ows"}),
        (
            Kind.WFS,
            "/geoserver/ows",
            {"wms": "/geoserver/ows", "wcs": "/geoserver/ows", "wmts": "/geoserver/gwc/service/wmts"},
        ),
        (
            Kind.WMS,
            "/cgi-bin/mapserv?map=/a/B.map",
            {"wfs": "/cgi-bin/mapserv?map=/a/B.map", "wcs": "/cgi-bin/mapserv?map=/a/B.map"},
        ),
        (
            Kind.WMS,
            "/cgi-bin/qgis_mapserv.fcgi?map=/a.qgs",
            {
                "wfs": "/cgi-bin/qgis_mapserv.fcgi?map=/a.qgs",
                "wcs": "/cgi-bin/qgis_mapserv.fcgi?map=/a.qgs",
                "wmts": "/cgi-bin/qgis_mapserv.fcgi?map=/a.qgs",
            },
        ),
        (
            Kind.WMS,
            "/arcgis/services/Water/Rivers/MapServer/WMSServer",
            {"arcgis": "/arcgis/rest/services/Water/Rivers/MapServer"},
        ),
        (
            Kind.WMTS,
            "/mapproxy/service",
            {"wms": "/mapproxy/service", "tms": "/mapproxy/tms/1.0.0", "wmsc": "/mapproxy/service"},
        ),
        (Kind.TMS, "/mapcache/tms/1.0.0", {"wms": "/mapcache/", "wmts": "/mapcache/wmts", "wmsc": "/mapcache/"}),
        (Kind.WMS, "/thredds/wms/ocean/sst.nc", {"wcs": "/thredds/wcs/ocean/sst.nc"}),
        (Kind.WMS, "/some/program", {}),
        (Kind.CSW, "/geonetwork/srv/eng/csw", {}),
    ],
)
def test_beside_a_valid_service_stand_those_that_its_software_offers(
    kind: Kind, path: str, expected: dict[str, str]
) -> None:
    assert beside(kind, path) == expected
