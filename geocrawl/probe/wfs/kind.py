"""Declare the signs of the kind OGC Web Feature Service."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm

KIND = KindDeclaration(
    kind=Kind.WFS,
    name="OGC Web Feature Service",
    proof="capabilities 1.0.0 to 2.0.2 with feature types",
    items=("feature type", "feature types"),
    services=frozenset({"wfs", "ogc:wfs"}),
    requests=frozenset(
        {"getfeature", "describefeaturetype", "getpropertyvalue", "liststoredqueries", "describestoredqueries"}
        | {"getfeaturewithlock", "lockfeature"}
    ),
    paths=(
        PathForm(
            name="a path that ends in wfs",
            hint="wfs",
            path=r"[/_.]wfs[0-9]{0,3}(?:/v?[12][.0-9]*|\.cgi|\.fcgi|\.php|\.ashx|\.aspx|\.exe)?/?$",
            example="https://maps.example.org/geoserver/topp/wfs",
        ),
        PathForm(
            name="ArcGIS Server, features",
            hint="wfsserver",
            path="/wfsserver/?$",
            example="https://gis.example.org/arcgis/services/Roads/MapServer/WFSServer",
        ),
    ),
    roots=frozenset({"wfs_capabilities"}),
    # Other kinds of OWS Common send the same report; they are asked when no WFS answers (`detect.others`).
    error_roots=frozenset({"exceptionreport"}),
    namespaces=("wfs",),
    operation="GetFeature",
    sections=(("FeatureTypeList",),),
)
