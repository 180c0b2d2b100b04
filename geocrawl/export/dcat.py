"""Write DCAT-AP 3: a catalogue of data services, as Turtle or JSON-LD, one service after the other.

Both forms state the same. A library of RDF would hold all of the catalogue in memory; tests read the files with one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from geocrawl.export.properties import description_address, extent_of, name_of
from geocrawl.model.kinds import service_parameter
from geocrawl.model.published import PublishedService
from geocrawl.sanitize import plain

CATALOGUE = "urn:geocrawl:catalogue"
_TITLE = "Geospatial web services"
_DESCRIPTION = "Services that were found on the web and proven by asking them."
_PREFIXES = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_STANDARDS: Mapping[str, str] = {
    "ogcapi": "http://www.opengis.net/spec/ogcapi-common-1/1.0",
    "stac": "https://api.stacspec.org/v1.0.0/core",
    "sensorthings": "http://www.opengis.net/spec/iot_sensing/1.1",
    "arcgis": "https://developers.arcgis.com/rest/",
    "tms": "https://wiki.osgeo.org/wiki/Tile_Map_Service_Specification",
    "tilejson": "https://github.com/mapbox/tilejson-spec",
}
"""Kind without a request for capabilities → the standard that it conforms to."""
_SERVICE_TYPES = "http://www.opengis.net/def/serviceType/ogc/"
_NO_RIGHTS = ("none", "no conditions apply", "n/a", "-")
"""Texts that say that nothing is restricted, or nothing (WMS 1.3.0, 7.2.4.2: `none` is reserved for it)."""
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
"""Characters that an IRI has not (RFC 3987, 2.2), and that would end one in Turtle."""
_TYPES = {
    **dict.fromkeys(("dcat:endpointURL", "dcat:endpointDescription", "dcat:service"), "@id"),
    **dict.fromkeys(("dct:issued", "dct:modified"), "xsd:dateTime"),
    "dcat:bbox": "geo:wktLiteral",
}
"""Property → type of its values; texts otherwise."""
_CONTEXT = {**_PREFIXES, **{name: {"@type": type_} for name, type_ in _TYPES.items()}}

Node = dict[str, object]
"""A resource: property → text, or a node, or a list of texts; `@id` and `@type` as in JSON-LD."""


def write_turtle(services: Iterable[PublishedService], stream: TextIO) -> int:
    """Write Turtle (W3C, 2014); return the number of services."""
    stream.writelines(f"@prefix {name}: <{address}> .\n" for name, address in _PREFIXES.items())
    stream.write("\n" + _turtle(_catalogue()))
    count = 0
    for service in services:
        node = _node(service)
        stream.write(f"\n{_iri(CATALOGUE)} dcat:service {_iri(str(node['@id']))} .\n{_turtle(node)}")
        count += 1
    return count


def write_jsonld(services: Iterable[PublishedService], stream: TextIO) -> int:
    """Write JSON-LD 1.1, a resource a line; return the number of services."""
    stream.write('{"@context": ' + json.dumps(_CONTEXT) + ',\n"@graph": [\n' + _json(_catalogue()))
    count = 0
    for service in services:
        node = _node(service)
        membership = {"@id": CATALOGUE, "dcat:service": node["@id"]}
        stream.write(f",\n{_json(membership)},\n{_json(node)}")
        count += 1
    stream.write("\n]}\n")
    return count


def _catalogue() -> Node:
    return {
        "@id": CATALOGUE,
        "@type": "dcat:Catalog",
        "dct:title": _TITLE,
        "dct:description": _DESCRIPTION,
        "dct:publisher": {"@type": "foaf:Agent", "foaf:name": "geocrawl"},
    }


def _node(service: PublishedService) -> Node:
    """Return a service as a resource; properties that are unknown are left out."""
    keywords = list(dict.fromkeys(filter(None, map(plain, service.keywords))))
    stated = dict.fromkeys(map(plain, (service.access_constraints, service.fees)))
    rights = "; ".join(text for text in stated if text and text.lower() not in _NO_RIGHTS)
    extent = extent_of(service.box)
    found: Node = {
        "@id": f"urn:geocrawl:service:{service.id}",
        "@type": "dcat:DataService",
        "dct:identifier": str(service.id),
        "dct:title": name_of(service),
        "dct:description": plain(service.abstract),
        "dcat:endpointURL": _escaped(service.url),
        "dcat:endpointDescription": _escaped(description_address(service.kind, service.url)),
        "dct:conformsTo": {
            "@id": _STANDARDS.get(service.kind) or _SERVICE_TYPES + service_parameter(service.kind).lower(),
            "@type": "dct:Standard",
        },
        "dct:publisher": {"@type": "foaf:Agent", "foaf:name": plain(service.provider)}
        if plain(service.provider)
        else "",
        "dcat:keyword": keywords,
        "dct:rights": {"@type": "dct:RightsStatement", "rdfs:label": rights} if rights else "",
        "dct:spatial": {"@type": "dct:Location", "dcat:bbox": extent.wkt} if extent else "",
        "dct:issued": service.first_seen,
        "dct:modified": service.last_ok,
    }
    return {name: value for name, value in found.items() if value}


def _escaped(address: str) -> str:
    """Return an address as an IRI: characters that it may not have are percent-encoded."""
    return _NO_IRI.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address)


def _json(node: Node) -> str:
    return json.dumps(node, ensure_ascii=False, allow_nan=False)


def _turtle(node: Node) -> str:
    """Return the statements about a resource that has an address, and about those that it names."""
    statements = " ;\n  ".join(_properties(node))
    named = (value for value in node.values() if isinstance(value, dict) and "@id" in value)
    return f"{_iri(str(node['@id']))} {statements} .\n" + "".join(map(_turtle, named))


def _properties(node: Mapping[str, object]) -> Iterator[str]:
    for name, value in node.items():
        if name == "@type":
            yield f"a {value}"
        elif name != "@id":
            yield f"{name} {_objects(name, value)}"


def _objects(name: str, value: object) -> str:
    if isinstance(value, dict) and "@id" in value:
        return _iri(str(value["@id"]))
    if isinstance(value, dict):
        return f"[ {' ; '.join(_properties(value))} ]"
    return ", ".join(_object(name, str(each)) for each in (value if isinstance(value, list) else [value]))


def _object(name: str, text: str) -> str:
    kind = _TYPES.get(name, "")
    if kind == "@id":
        return _iri(text)
    return f"{_quoted(text)}^^{kind}" if kind else _quoted(text)


def _iri(address: str) -> str:
    return f"<{address}>"


def _quoted(text: str) -> str:
    """Return a string of Turtle: escapes of JSON are escapes of Turtle, too (6.4)."""
    return json.dumps(text, ensure_ascii=False)
