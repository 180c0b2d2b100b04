"""Declare the signs of the kind OGC Sensor Observation Service."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm

KIND = KindDeclaration(
    kind=Kind.SOS,
    name="OGC Sensor Observation Service",
    proof="capabilities 1.0.0 or 2.0.0",
    items=("offering", "offerings"),
    services=frozenset({"sos", "ogc:sos"}),
    requests=frozenset(
        {"getobservation", "describesensor", "getfeatureofinterest", "getobservationbyid", "getdataavailability"}
    ),
    paths=(
        PathForm(
            name="a path that ends in sos beneath a word of services (52°North, istSOS, MapServer)",
            hint="/sos",
            path=r"/(?:[^/]*(?:sos|52n|swe|ogc|geo|service|cgi-bin)[^/]*|ws)/sos(?:/kvp)?/?$|/sos/(?:kvp|server\.php)$",
            example="https://sensors.example.org/52n-sos-webapp/sos/kvp",
        ),
    ),
    namespaces=("sos",),
    operation="GetObservation",
    sections=(("Contents", "ObservationOfferingList"),),
)
