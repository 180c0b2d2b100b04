"""Declare the signs of the kind OGC Web Processing Service."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm

KIND = KindDeclaration(
    kind=Kind.WPS,
    name="OGC Web Processing Service",
    proof="capabilities 1.0.0 or 2.0 with processes",
    items=("process", "processes"),
    services=frozenset({"wps", "ogc:wps"}),
    requests=frozenset({"describeprocess"}),
    shared_requests=frozenset({"getcapabilities", "execute", "getstatus", "getresult"}),
    paths=(
        PathForm(
            name="a path that ends in wps",
            hint="wps",
            path=r"/(?:wps|py-?wps)(?:\.cgi|\.py|\.fcgi)?/?$",
            example="https://process.example.org/geoserver/wps",
        ),
        PathForm(
            name="52°North WPS",
            hint="webprocessingservice",
            path="/webprocessingservice/?$",
            example="http://process.example.org/wps/WebProcessingService",
        ),
    ),
    namespaces=("wps",),
    operation="DescribeProcess",
    sections=(("ProcessOfferings",),),
)
