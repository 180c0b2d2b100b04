"""Declare the signs of the kind OGC Web Map Tile Service."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm

KIND = KindDeclaration(
    kind=Kind.WMTS,
    name="OGC Web Map Tile Service",
    proof="capabilities 1.0.0 with Contents, by query or as WMTSCapabilities.xml",
    services=frozenset({"wmts", "ogc:wmts"}),
    shared_requests=frozenset({"getcapabilities", "getfeatureinfo", "gettile", "getlegendgraphic"}),
    paths=(
        PathForm(
            name="WMTS: its capabilities as a document, by the standard's path (OGC 07-057r7, 10.3)",
            hint="wmtscapabilities",
            path=r'/wmtscapabilities(?:\.xml)?"?$',
            example="https://tiles.example.org/arcgis/rest/services/Roads/MapServer/WMTS/1.0.0/WMTSCapabilities.xml",
        ),
        PathForm(
            name="a path that ends in wmts",
            hint="wmts",
            path=r"[/_.]wmts[0-9]{0,3}(?:/v?1\.0\.0|\.cgi|\.fcgi|\.php|\.ashx|\.aspx|\.exe)?/?$",
            example="https://maps.example.org/geoserver/gwc/service/wmts",
        ),
        PathForm(
            name="WMTS of a map's own path (GeoServer rewritten, ERDAS Apollo)",
            hint="wmts/",
            path="/(?:ogc|geoserver/[^/]+)/wmts/[^/.]+/?$",
            example="https://images.example.org/erdas-iws/ogc/wmts/orthophotos",
        ),
    ),
    namespaces=("wmts",),
    operation="GetTile",
    sections=(("Contents", "TileMatrixSet"),),
)
