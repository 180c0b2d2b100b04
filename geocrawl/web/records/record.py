"""Make the record of a service: GeoJSON by OGC API – Records, schema.org's JSON-LD for search machines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from geocrawl.export.properties import geojson_geometry, mail_of
from geocrawl.export.qgis import metasearch_links
from geocrawl.model.catalogue import Service, columns
from geocrawl.model.details import ServiceDetail
from geocrawl.model.kinds import short_name
from geocrawl.model.search import SearchHit
from geocrawl.probe.registry import declared
from geocrawl.sanitize import masked
from geocrawl.web.publishing import client_address, web_address
from geocrawl.web.site import ITEMS

Value = dict[str, Any]
_PHONE = re.compile(r"\+[1-9][0-9]{3,14}")
GEOJSON = "application/geo+json"


def link(href: str, rel: str, media_type: str, title: str) -> Value:
    """Return a link object."""
    return {"href": href, "rel": rel, "type": media_type, "title": title}


def record_of_hit(hit: SearchHit, base: str) -> Value:
    """Return the record of a service that a search found."""
    properties: Value = {
        **_properties(hit),
        **({"contacts": [{"organization": hit.provider, "roles": ["provider"]}]} if hit.provider else {}),
        "externalIds": [{"value": masked(hit.url)}],
        "geocrawl:availability30d": hit.availability_30d,
    }
    links = _links(hit, base)
    links += [
        link(f"{base}{ITEMS}/{twin.id}", "related", GEOJSON, f"the same content as {twin.kind}")
        for twin in hit.twin_services
    ]
    return _feature(hit, properties, links)


def record_of_service(detail: ServiceDetail, base: str) -> Value:
    """Return the record of a service with all that is known of it but its layers."""
    service = detail.service
    addresses = [endpoint.url for endpoint in detail.endpoints] or [service.url]
    properties: Value = {
        **_properties(service),
        "keywords": list(service.keywords),
        "formats": [{"mediaType": each} for each in service.formats],
        **({"contacts": [contact]} if (contact := _contact(service)) else {}),
        **({"rights": service.access_constraints} if service.access_constraints else {}),
        "externalIds": [{"value": masked(address)} for address in addresses],
        "geocrawl:qualityParts": {name: part.share for name, part in detail.quality_parts.items()},
    }
    links = _links(service, base)
    items = f"{base}{ITEMS}/{service.id}"
    links += [
        link(f"{items}/health", "related", "application/json", "health"),
        link(f"{items}/history", "related", "application/json", "history of the addresses"),
        link(f"{items}/changes", "related", "application/json", "changes"),
    ]
    links += [
        link(f"{base}{ITEMS}/{number}", "related", GEOJSON, f"the same content as {kind}")
        for number, kind in detail.twins.items()
    ]
    if page := web_address(service.page):
        links.append(link(page, "via", "text/html", "a page that names the service"))
    return _feature(service, properties, links)


def _properties(service: Service) -> Value:
    """Return the properties that are columns of a service, and its language; a facet or a country that is unknown, and
    what is not known at all, are left out."""
    declared = ((column, getattr(service, column.name)) for column in columns(Service).values() if column.record)
    values = {
        column.record: value
        for column, value in declared
        if value or (value is not None and not column.facet and column.name != "country")
    }
    language = {"language": {"code": service.language}} if service.language else {}
    return values | {"title": service.title or masked(service.url)} | language


def _feature(service: Service, properties: Value, links: list[Value]) -> Value:
    has_times = service.time_start is not None or service.time_end is not None
    return {
        "id": str(service.id),
        "type": "Feature",
        "conformsTo": ["http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core"],
        "time": {"interval": [service.time_start or "..", service.time_end or ".."]} if has_times else None,
        "geometry": geojson_geometry(service.box),
        "properties": properties,
        "links": links,
    }


def _contact(service: Service) -> Value:
    """Return the contact as far as it has the standard's forms; {} without a name."""
    given = service.contact
    organization, name = given.get("organization") or service.provider, given.get("person", "")
    if not (organization or name):
        return {}
    mail, phone = mail_of(given), re.sub(r"[\s()/-]", "", given.get("phone", ""))
    return {
        **({"name": name} if name else {}),
        **({"organization": organization} if organization else {}),
        **({"emails": [{"value": mail}]} if mail else {}),
        **({"phones": [{"value": phone}]} if _PHONE.fullmatch(phone) else {}),
        "roles": ["pointOfContact"],
    }


def _links(service: Service, base: str) -> list[Value]:
    number, kind, address = service.id, service.kind, service.url
    items = f"{base}{ITEMS}"
    links = [
        link(f"{items}/{number}?f=json", "self", GEOJSON, "this record"),
        link(f"{items}/{number}?f=html", "alternate", "text/html", "this record as a page"),
        link(f"{base}/collections/services", "collection", "application/json", "the catalogue"),
        *(link(f"{items}/{number}?f={form}", "alternate", type_, title) for form, (type_, title) in _OTHERS.items()),
        link(f"{items}/{number}/badge.svg", "related", "image/svg+xml", "badge of the service's health"),
    ]
    if web_address(address):
        described = client_address(kind, address)
        links.append(
            link(
                masked(described),
                "service-desc" if described != address else "service",
                declared(kind).media_type,
                short_name(kind),
            )
        )
        if described != address:
            links.append(link(masked(address), "service", declared(kind).media_type, short_name(kind)))
    # MetaSearch knows services by the type of a link alone, and no media type of theirs.
    links += [
        link(masked(place), "service", type_, short_name(kind))
        for place, type_ in metasearch_links(service)
        if web_address(place)
    ]
    if service.has_thumbnail:
        links.append(link(f"{items}/{number}/thumbnail", "preview", "image/png", "thumbnail"))
    return links


_OTHERS = {
    "dcat": ("text/turtle", "this record as DCAT-AP"),
    "iso19139": ("application/xml", "this record by ISO 19139"),
    "iso19115-3": ("application/xml", "this record by ISO 19115-3"),
}
"""Value of `f` → media type and title of a record in another standard (`metadata.FORMS`)."""


def linked_data(service: Service, base: str) -> Mapping[str, Any]:
    """Return a service as schema.org's Dataset, the type that search machines for data read."""
    west, south, east, north = service.box or (None,) * 4
    place = {
        "spatialCoverage": {
            "@type": "Place",
            "geo": {"@type": "GeoShape", "box": f"{south} {west} {north} {east}"},
        }
    }
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "@id": f"{base}{ITEMS}/{service.id}",
        "url": f"{base}{ITEMS}/{service.id}",
        "name": service.title or masked(service.url),
        "description": service.abstract or service.title,
        "keywords": list(service.keywords),
        **({"creator": {"@type": "Organization", "name": service.provider}} if service.provider else {}),
        **(place if service.box else {}),
        "dateModified": service.last_ok,
        "distribution": [
            {"@type": "DataDownload", "contentUrl": masked(service.url), "encodingFormat": short_name(service.kind)}
        ],
        "includedInDataCatalog": {"@type": "DataCatalog", "name": "geocrawl", "url": f"{base}/"},
    }
