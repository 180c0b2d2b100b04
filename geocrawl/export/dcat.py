"""Write DCAT-AP 3: a catalogue of data services, as Turtle or JSON-LD, one service after the other.

Both forms state the same. A library of RDF would hold all of the catalogue in memory; tests read the files with one,
and check them by the shapes of DCAT-AP 3.0.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

from geocrawl.export.properties import as_iri, description_address, extent_of, mail_of, name_of
from geocrawl.model.catalogue import Service
from geocrawl.model.kinds import service_parameter
from geocrawl.model.languages import three_letters
from geocrawl.model.licences import licence_address, restricts
from geocrawl.probe.registry import declared
from geocrawl.sanitize import plain

CATALOGUE = "urn:geocrawl:catalogue"
_TITLE = "Geospatial web services"
_DESCRIPTION = "Services that were found on the web and proven by asking them."
_PREFIXES = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "hydra": "http://www.w3.org/ns/hydra/core#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_SERVICE_TYPES = "http://www.opengis.net/def/serviceType/ogc/"
_LANGUAGES = "http://publications.europa.eu/resource/authority/language/"
"""Beginning of a language's name in the list that DCAT-AP demands; three letters follow (ISO 639-2/T)."""
_PHONE = re.compile(r"\+?[0-9]{3,15}")
_DIGITS = re.compile(r"\(0\)|[\s()/.-]")
"""What people write between the digits of a telephone number."""
_TYPES = {
    **dict.fromkeys(("dcat:endpointURL", "dcat:endpointDescription", "dcat:service"), "@id"),
    **dict.fromkeys(("hydra:next", "vcard:hasEmail", "vcard:hasTelephone"), "@id"),
    **dict.fromkeys(("dct:issued", "dct:modified", "dcat:startDate", "dcat:endDate"), "xsd:dateTime"),
    "dcat:bbox": "geo:wktLiteral",
}
"""Property → type of its values; texts otherwise."""
_CONTEXT = {**_PREFIXES, **{name: {"@type": type_} for name, type_ in _TYPES.items()}}

Node = dict[str, object]
"""A resource: property → text, or a node, or a list of texts; `@id` and `@type` as in JSON-LD."""


@dataclass(frozen=True, slots=True)
class HydraPage:
    """One page of a catalogue that is given in pages, as harvesters of Hydra follow them."""

    address: str
    following: str
    """Address of the next page; '' for none."""


def write_turtle(services: Iterable[Service], stream: TextIO, base: str = "", page: HydraPage | None = None) -> int:
    """Write Turtle (W3C, 2014); return the number of services.

    `base`: address of the web pages, to which services then have a link; '' for none."""
    stream.writelines(f"@prefix {name}: <{address}> .\n" for name, address in _PREFIXES.items())
    stream.writelines("\n" + _turtle(each) for each in _about_all(base, page))
    count = 0
    for service in services:
        node = _node(service, base)
        stream.write(f"\n{_iri(CATALOGUE)} dcat:service {_iri(str(node['@id']))} .\n{_turtle(node)}")
        count += 1
    return count


def write_jsonld(services: Iterable[Service], stream: TextIO, base: str = "", page: HydraPage | None = None) -> int:
    """Write JSON-LD 1.1, a resource a line; return the number of services. `base` as in `write_turtle`."""
    about = ",\n".join(map(_json, _about_all(base, page)))
    stream.write('{"@context": ' + json.dumps(_CONTEXT) + ',\n"@graph": [\n' + about)
    count = 0
    for service in services:
        node = _node(service, base)
        membership = {"@id": CATALOGUE, "dcat:service": node["@id"]}
        stream.write(f",\n{_json(membership)},\n{_json(node)}")
        count += 1
    stream.write("\n]}\n")
    return count


def _about_all(base: str, page: HydraPage | None) -> list[Node]:
    """Return the catalogue, and the page of it."""
    catalogue: Node = {
        "@id": CATALOGUE,
        "@type": "dcat:Catalog",
        "dct:title": _TITLE,
        "dct:description": _DESCRIPTION,
        "dct:publisher": {"@type": "foaf:Agent", "foaf:name": "geocrawl"},
        "foaf:homepage": _document(f"{base}/" if base else ""),
    }
    view = {"@type": "hydra:PartialCollectionView", "hydra:next": as_iri(page.following)} if page else {}
    return [_known(catalogue), *([_known({"@id": as_iri(page.address), **view})] if page else [])]


def _node(service: Service, base: str) -> Node:
    """Return a service as a resource; properties that are unknown are left out."""
    stated = dict.fromkeys(map(plain, (service.access_constraints, service.fees)))
    rights = "; ".join(text for text in stated if text and restricts(text))
    extent, terms = extent_of(service.box), licence_address(service.licence)
    return _known(
        {
            "@id": f"urn:geocrawl:service:{service.id}",
            "@type": "dcat:DataService",
            "dct:identifier": str(service.id),
            "dct:title": name_of(service),
            "dct:description": plain(service.abstract),
            "dcat:endpointURL": as_iri(service.url),
            "dcat:endpointDescription": as_iri(description_address(service.kind, service.url)),
            "dcat:landingPage": _document(f"{base}/collections/services/items/{service.id}" if base else ""),
            "dct:conformsTo": {
                "@id": declared(service.kind).standard or _SERVICE_TYPES + service_parameter(service.kind).lower(),
                "@type": "dct:Standard",
            },
            "dct:publisher": _named("foaf:Agent", "foaf:name", service.provider),
            "dcat:contactPoint": _contact(service),
            "dcat:keyword": list(dict.fromkeys(filter(None, map(plain, service.keywords)))),
            "dct:license": {"@id": terms, "@type": "dct:LicenseDocument"} if terms else "",
            "dct:language": _language(service),
            "dct:rights": _named("dct:RightsStatement", "rdfs:label", rights),
            "dct:spatial": {"@type": "dct:Location", "dcat:bbox": extent.wkt} if extent else "",
            "dct:temporal": _period(service),
            "dct:issued": service.first_seen,
            "dct:modified": service.last_ok,
        }
    )


def _language(service: Service) -> object:
    """Return the language of a service's texts, as DCAT-AP names it; '' for none."""
    code = three_letters(service.language).upper()
    return {"@id": f"{_LANGUAGES}{code}", "@type": "dct:LinguisticSystem"} if code else ""


def _period(service: Service) -> object:
    """Return the time that the data of a service is of; '' when it is not known."""
    ends = {"dcat:startDate": service.time_start, "dcat:endDate": service.time_end}
    known = {name: end for name, end in ends.items() if end}
    return {"@type": "dct:PeriodOfTime", **known} if known else ""


def _known(node: Node) -> Node:
    return {name: value for name, value in node.items() if value}


def _named(type_: str, property_: str, name: str) -> object:
    """Return a resource that has nothing but a name; '' without one."""
    return {"@type": type_, property_: plain(name)} if plain(name) else ""


def _document(address: str) -> object:
    return {"@id": as_iri(address), "@type": "foaf:Document"} if address else ""


def _contact(service: Service) -> object:
    """Return whom to ask about a service (DCAT-AP 3: vcard:Kind); '' where it names nobody."""
    given = {name: plain(text) for name, text in service.contact.items()}
    name = given.get("person") or given.get("organization") or plain(service.provider)
    mail, phone = mail_of(service.contact), _DIGITS.sub("", given.get("phone", ""))
    found: Node = {
        "@type": "vcard:Kind",
        "vcard:fn": name or given.get("email", ""),
        "vcard:organization-name": given.get("organization", ""),
        "vcard:hasEmail": f"mailto:{as_iri(mail)}" if mail else "",
        "vcard:hasTelephone": f"tel:{phone}" if _PHONE.fullmatch(phone) else "",
    }
    return _known(found) if any(given.values()) and found["vcard:fn"] else ""


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
