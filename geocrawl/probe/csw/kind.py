"""Declare the signs of the kind OGC Catalogue Service for the Web."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm

KIND = KindDeclaration(
    kind=Kind.CSW,
    name="OGC Catalogue Service for the Web",
    proof="capabilities 2.0.2 or 3.0.0",
    items=("record type", "record types"),
    services=frozenset({"csw", "ogc:csw", "csw-iso", "csw-2.0.2"}),
    requests=frozenset({"getrecords", "getrecordbyid", "describerecord"}),
    shared_requests=frozenset({"getcapabilities", "getdomain"}),
    paths=(
        PathForm(
            name="a path that ends in csw (GeoNetwork, pycsw, GeoServer, Esri Geoportal)",
            hint="csw",
            path=r"[/_.]csw(?:-[a-z0-9_-]{1,40}|startup|\.php|\.ashx)?/?$",
            example="https://metadata.example.org/geonetwork/srv/eng/csw-inspire",
        ),
        PathForm(
            name="CSW: the servlet's name",
            hint="cswstartup",
            path="/cswstartup/?$",
            example="https://metadata.example.org/wss/service/CSW/guest/CSWStartup",
        ),
    ),
    namespaces=("cat/csw", "csw"),
    operation="GetRecords",
)
