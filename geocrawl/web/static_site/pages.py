"""Make the pages, records and cards of a site, each from what it shows alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import geocrawl
from geocrawl.export.properties import name_of, parts_of
from geocrawl.model.catalogue import HEALTHS, LEVELS, Box, Service
from geocrawl.model.details import ServiceDetail
from geocrawl.model.kinds import Kind, short_name
from geocrawl.query.places import country_name
from geocrawl.web.layers import layer_tree
from geocrawl.web.pages.service import facts, reference_systems
from geocrawl.web.pages.snippets import snippets
from geocrawl.web.publishing import as_json, is_masked, published
from geocrawl.web.records.landing import DESCRIPTION
from geocrawl.web.records.record import GEOJSON, link, linked_data, record_of_service
from geocrawl.web.site import STATIC, digest_of, rendered
from geocrawl.web.static_site.words import script
from geocrawl.web.texts import Words

OWN = Path(__file__).with_name("assets")
ASSETS = (
    *(STATIC / name for name in ("page.css", "page.js", "icon.svg", "land.svg")),
    *(OWN / name for name in ("site.css", "site_search.js")),
)
"""Shipped files that the pages load."""
_EXPORTS = (("services.csv", "CSV"), ("services.geojson", "GeoJSON"), ("services.ttl", "DCAT"))
IN_FOLDER = 500
"""Services of one folder of pages, whose list is one page of some 60 kB."""
IN_CARDS = 10
"""Services of one file of cards, which a browser loads for each hit of a search."""
_MOST_ABSTRACT = 240


@dataclass(frozen=True, slots=True)
class Look:
    """What all pages of a site have in common."""

    title: str
    base_url: str
    """Address under which the site will stand, without a slash at the end; '' when that is not known."""
    words: Words
    digests: dict[str, str]
    """Names of shipped files → what tells their content."""
    files: Sequence[tuple[str, str]]
    """(name, what it is for people) of the exports."""

    def page(self, template: str, place: str, heading: str, values: Mapping[str, Any]) -> bytes:
        """Return a page at a place below the root, '' for the first page."""
        context = {
            "site": self,
            "t": self.words,
            "lang": self.words.language,
            "version": geocrawl.__version__,
            "asset": self.asset,
            "place": place,
            "root": "../" * place.count("/"),
            "heading": heading,
            **values,
        }
        return rendered(f"static_site/{template}", context).encode("utf-8", "replace")

    def asset(self, name: str) -> str:
        """Return the address of a shipped file below the root, which changes with its content."""
        return f"static/{name}?v={self.digests[name]}"

    def address(self, place: str) -> str:
        """Return the address of a place in links between documents: in full where the site's own is known."""
        return f"{self.base_url}/{place}" if self.base_url else ""


def program() -> str:
    """Return what tells the program that makes pages from others: a hash of all its files, and versions."""
    found = blake2b(repr((sys.version, *map(version, ("jinja2", "markupsafe")))).encode(), digest_size=8)
    for each in sorted(Path(geocrawl.__file__).parent.rglob("*")):
        if each.is_file() and each.suffix != ".pyc":
            found.update(each.read_bytes())
    return found.hexdigest()


def look_of(title: str, base_url: str, language: str) -> Look:
    """Return the look of a site with its shipped files and exports."""
    digests = {each.name: digest_of(each) for each in ASSETS}
    return Look(title, base_url, Words(language), digests, _EXPORTS)


def page_of(number: int, ending: str = "html") -> str:
    """Return the place of the page of a service, of its record (json) or of its picture (png)."""
    return f"services/{number // IN_FOLDER}/{number}.{ending}"


def extents_of(box: Box | None) -> list[tuple[float, ...]]:
    """Return the parts of an extent as west, south, east, north: two where it crosses the antimeridian."""
    return [tuple(round(side, 3) for side in part) for part in parts_of(box)]


def service_page(look: Look, detail: ServiceDetail) -> bytes:
    """Return the page of a service."""
    service = detail.service
    systems = reference_systems(detail)
    layer = next((row for row in detail.layers if row.name), None)
    values = {
        "service": service,
        "tree": layer_tree(detail.layers, "", lambda row: ("", "", "")),
        "snippets": snippets(service, layer),
        "is_masked": "***" in service.url or is_masked(service.url),
        "facts": facts(service, look.words),
        "systems": [*systems.works, *systems.others],
        "extents": extents_of(service.box),
        "picture": f"{service.id}.png" if service.has_thumbnail else "",
        "linked_data": _linked_data(look, service),
    }
    return look.page("service.html", page_of(service.id), name_of(service), values)


def _linked_data(look: Look, service: Service) -> Mapping[str, Any]:
    """Return a service as schema.org's Dataset, with its own address where that is known."""
    found = {**linked_data(service, look.base_url)}
    catalogue = {"@type": "DataCatalog", "name": look.title}
    own = look.address(page_of(service.id))
    if not own:
        return {
            **{name: value for name, value in found.items() if name not in ("@id", "url")},
            "includedInDataCatalog": catalogue,
        }
    return found | {"@id": own, "url": own, "includedInDataCatalog": catalogue | {"url": f"{look.base_url}/"}}


def catalogue_linked_data(look: Look) -> Mapping[str, Any]:
    """Return the site as schema.org's DataCatalog."""
    own = {"@id": f"{look.base_url}/", "url": f"{look.base_url}/"} if look.base_url else {}
    return {"@context": "https://schema.org/", "@type": "DataCatalog", "name": look.title, **own}


# --------------------------------------------------------------------------- records


def service_record(detail: ServiceDetail) -> bytes:
    """Return the record of a service, whose links to other files of the site are relative."""
    service, record = detail.service, record_of_service(detail, "")
    outside = [each for each in record["links"] if each["rel"] in ("service", "service-desc", "via")]
    own = [
        link(f"{service.id}.json", "self", GEOJSON, "this record"),
        link(f"{service.id}.html", "alternate", "text/html", "this record as a page"),
        link("catalog.json", "collection", "application/json", "the records of this folder"),
        link("../../catalog.json", "root", "application/json", "the catalogue"),
    ]
    if service.has_thumbnail:
        own.append(link(f"{service.id}.png", "preview", "image/png", "thumbnail"))
    return as_json(record | {"links": own + outside})


def catalogue_record(look: Look, title: str, links: Sequence[Mapping[str, Any]], number: int) -> bytes:
    """Return a crawlable catalogue (OGC 20-004r1, 7.5) with links to its records or to the catalogues below it."""
    return as_json(
        {
            "id": title,
            "type": "Collection",
            "itemType": "record",
            "title": title,
            "description": DESCRIPTION,
            "conformsTo": ["http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-collection"],
            "language": {"code": look.words.language},
            "numberMatched": number,
            "links": links,
        }
    )


# --------------------------------------------------------------------------- cards of the search


def card(service: Service, language: str) -> list[Any]:
    """Return what the search shows of a service; `assets/site_search.js` reads it by the order."""
    abstract = " ".join(service.abstract.split())
    found: list[Any] = published(
        [
            name_of(service),
            service.kind,
            service.provider,
            country_name(service.country, language) if service.country else "",
            service.health,
            service.level,
            service.layers,
            abstract if len(abstract) <= _MOST_ABSTRACT else f"{abstract[: _MOST_ABSTRACT - 1]}…",
            extents_of(service.box),
        ]
    )
    return found


def cards_name(number: int) -> str:
    """Return the name of the file with the cards of a service and of those next to it."""
    return f"cards/{number // 1000}/{number // IN_CARDS}"


def cards_script(name: str, services: Iterable[Service], language: str) -> Iterator[bytes]:
    """Yield the file of the cards of some services."""
    cards = {each.id: card(each, language) for each in services}
    yield script(name, json.dumps(cards, ensure_ascii=False, separators=(",", ":")))


def search_texts(words: Words) -> Mapping[str, Any]:
    """Return the texts that the search shows."""
    return {
        "found": words("found"),
        "foundOne": words("found-one"),
        "layer": words("one-layer"),
        "layers": words("layers-n"),
        "previous": words("previous"),
        "next": words("next"),
        "most": words("site-most"),
        "square": words("site-square"),
        "failed": words("site-failed"),
        "kind": {kind: short_name(kind) for kind in Kind},
        "health": {name: words(f"health-{name}") for name in HEALTHS},
        "level": {name: words(f"level-{name}") for name in reversed(LEVELS)},
    }
