"""Published services, harmless and hostile, and a catalogue of them, for the tests of exports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from geocrawl.model import Kind
from geocrawl.model.catalogue import Layer, Service
from geocrawl.probe.registry import declarations

ROADS = Service(
    id=1,
    kind="wms",
    title="Roads of Ruritania",
    abstract="Motorways,\nlanes",
    provider="Survey Office",
    keywords=("transport", "Straßen"),
    version="1.3.0",
    formats=("image/png",),
    url="http://maps.example/wms?map=a&token=***",
    host="maps.example",
    online_resource="http://maps.example/",
    layers=2,
    alive=True,
    health="alive",
    level="delivers",
    https=None,
    cors="*",
    fees="none",
    access_constraints="",
    deviations=("bom",),
    box=(5.0, 45.0, 10.5, 50.0),
    first_seen="2024-05-17T09:30:00Z",
    last_ok="2024-05-17T10:30:00Z",
    last_probe="2024-05-17T10:30:00Z",
)
LAYER = Layer(
    service_id=1,
    position=0,
    name="roads",
    title="Roads",
    crs=("EPSG:4326",),
    styles=("default",),
    queryable=True,
    box=(5, 45, 10, 50),
)
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    '=HYPERLINK("http://evil.example/")',
    "a\x00b\x0b\ufffe\uffff\ud800c",
    '" onload="alert(1)',
    "'; DROP TABLE services; --",
    "]]> & < > \" ' \\ \u2028 \u2029 \x85",
    "a/b\\c/../d",
    "\u202egnp.exe",
    '"^^xsd:string . <urn:evil> a <urn:evil> . "\\',
    "",
    " \t\n",
)
KINDS = tuple(map(str, Kind))
WEB_MAP_KINDS = {
    library: {str(each.kind) for each in declarations() if library in each.web_maps}
    for library in ("openlayers", "leaflet")
}
"""Library of maps for the web → kinds that its exported page shows."""


def of_every_kind() -> list[Service]:
    """A service of each kind, vector tiles, a feature server, a box over the antimeridian, one without an extent."""
    found = [replace(ROADS, kind=kind, title=f"A {kind}", url=f"https://{kind}.example/ows?a=b") for kind in KINDS]
    tiles = {"tms": "https://t.example/1.0.0/a/3/2/1.png", "tilejson": "https://t.example/a/3/2/1.pbf?key=***"}
    zoom = {"tms": 3}
    found = [replace(each, tile=tiles.get(each.kind, ""), tile_zoom=zoom.get(each.kind)) for each in found]
    arcgis = [
        replace(ROADS, kind="arcgis", url=f"https://a.example/arcgis/rest/services/Roads/{name}Server")
        for name in ("Map", "Feature", "Image")
    ]
    xyz = replace(ROADS, kind="tilejson", tile="https://t.example/b/3/2/1@2x.webp")
    since = {"licence": "CC-BY-4.0", "language": "de", "time_start": "2015-01-01T00:00:00Z"}
    fiji = replace(ROADS, title="Fiji", box=(177.0, -20.0, -178.0, -16.0), **since)  # type: ignore[arg-type]
    nowhere = replace(ROADS, title="Nowhere", box=None, keywords=(), last_probe=None, time_end="2020-12-31T23:59:59Z")
    found += [*arcgis, xyz, fiji, nowhere]
    return numbered(found)


def hostile() -> list[Service]:
    """Services whose every text is hostile."""
    made = []
    for text in HOSTILE:
        for kind in ("wms", "wfs", "arcgis"):
            address = f"http://evil.example/{kind}/MapServer?x=<>\"'`{{}}|\\^ {text}"
            texts = {"title": text, "abstract": text, "provider": text, "fees": text, "access_constraints": text}
            listed = {"keywords": (text, text), "formats": (text,), "version": text, "online_resource": address}
            made.append(replace(ROADS, kind=kind, url=address, cors=text, **texts, **listed))  # type: ignore[arg-type]
    return numbered(made)


def numbered(services: list[Service]) -> list[Service]:
    return [replace(each, id=number) for number, each in enumerate(services, 1)]


def layers_of(services: list[Service]) -> Iterator[Layer]:
    """A group and a named layer for each service; their titles are the service's."""
    for each in services:
        yield replace(LAYER, service_id=each.id, position=0, name="", title=each.title, box=None)
        yield replace(LAYER, service_id=each.id, position=1, parent=0, title=each.title)
