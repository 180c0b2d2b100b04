"""Declare the signs of the kind OGC Web Coverage Service."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm

KIND = KindDeclaration(
    kind=Kind.WCS,
    name="OGC Web Coverage Service",
    proof="capabilities 1.0.0 to 2.0.1",
    items=("coverage", "coverages"),
    services=frozenset({"wcs", "ogc:wcs"}),
    requests=frozenset({"getcoverage", "describecoverage", "describeeocoverageset"}),
    paths=(
        PathForm(
            name="a path that ends in wcs",
            hint="wcs",
            path=r"[/_.]wcs[0-9]{0,3}(?:/v?[12][.0-9]*|\.cgi|\.fcgi|\.php|\.exe)?/?$",
            example="https://maps.example.org/geoserver/wcs",
        ),
        PathForm(
            name="ArcGIS Server, coverages",
            hint="wcsserver",
            path="/wcsserver/?$",
            example="https://gis.example.org/arcgis/services/Elevation/ImageServer/WCSServer",
        ),
        PathForm(
            name="THREDDS, a data set's coverages",
            hint="/thredds/wcs/",
            path="/thredds/wcs/.+[^/]$",
            example="https://data.example.org/thredds/wcs/ocean/sst.nc",
        ),
    ),
    roots=frozenset({"wcs_capabilities"}),
    namespaces=("wcs",),
    operation="GetCoverage",
    sections=(("Contents", "CoverageSummary"),),
)
