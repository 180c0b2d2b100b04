"""Make the pages, records and cards of a site, each from what it shows alone."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import geocrawl
from geocrawl.export.properties import name_of, parts_of
from geocrawl.export.snapshot import MANIFEST
from geocrawl.model.catalogue import HEALTHS, LEVELS, Box, Layer, Service, columns
from geocrawl.model.details import ServiceDetail
from geocrawl.model.kinds import Kind, short_name
from geocrawl.model.search import FACETS, FacetValue
from geocrawl.query.places import country_name
from geocrawl.web.charts import coverage
from geocrawl.web.layers import layer_tree
from geocrawl.web.pages.service import described
from geocrawl.web.publishing import as_json, published
from geocrawl.web.records.documents import DESCRIPTION
from geocrawl.web.records.record import GEOJSON, link, linked_data, record_of_service
from geocrawl.web.site import STATIC, digest_of, published_text, rendered
from geocrawl.web.static_site.words import script
from geocrawl.web.texts import Words

ASSETS = tuple(STATIC / name for name in ("page.css", "page.js", "icon.svg", "land.svg", "site_search.js"))
"""Shipped files that the pages load."""
IN_FOLDER = 500
"""Services of one folder of pages."""
IN_CARDS = 10
"""Services of one file of cards, which a browser loads for each hit of a search."""
_MOST_ABSTRACT = 240
_MOST_VALUES = 250
"""Most values of a facet from which a person chooses: more than there are countries."""
CELL_DEG = 10
"""Side of the squares in which the search looks where a visitor points at the map."""


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Title, address and language of a site, as a person chose them, with which all its pages are made."""

    title: str = "geocrawl"
    base_url: str = ""
    """Address under which the site will stand, without a slash at the end, for feeds, sitemap and canonical links; ''
    leaves them out."""
    language: str = "en"
    has_snapshot: bool = False
    """Whether the folder of the site has the files of a snapshot, to which the pages then lead."""

    @property
    def words(self) -> Words:
        """Return the texts of the site's language."""
        return Words(self.language)

    def page(self, template: str, place: str, values: Mapping[str, Any]) -> bytes:
        """Return a page at a place below the root, '' for the first page; it says the same at any time."""
        context = {
            "t": self.words,
            "lang": self.language,
            "link": SiteLinks(self, "../" * place.count("/")),
            "now": None,
            "path": f"/{place.removesuffix('index.html').rstrip('/')}",
            "items_path": "/",
            "canonical": self.address(place),
            "base_map": "",
            **values,
        }
        return rendered(template, context).encode("utf-8", "replace")

    def address(self, place: str) -> str:
        """Return the address of a place in links between documents: in full where the site's own is known."""
        return f"{self.base_url}/{place}" if self.base_url else ""


_FILES = {
    "catalog.json": "OGC API – Records",
    "services.csv": "CSV",
    "services.geojson": "GeoJSON",
    "services.ttl": "DCAT",
}
_FEEDS = {"feed.atom": "Atom", "feed.json": "JSON Feed"}


class SiteLinks:
    """Makes the addresses of pages, of records and of searches of a site, as `Links` does where a server is: relative
    to a page, because nobody knows below which path the site will stand."""

    has_server = False
    menu = (("/", "search"), ("/services", "all-services"))

    def __init__(self, options: SiteOptions, root: str) -> None:
        """`root`: path from the page to the root of the site."""
        self._root = root
        self.title = options.title
        self.has_feeds = bool(options.base_url)
        files = _FILES | (_FEEDS if self.has_feeds else {})
        if options.has_snapshot:
            files |= {"snapshot/services.parquet": "GeoParquet", f"snapshot/{MANIFEST}": options.words("snapshot")}
        self.footer = [(f"{root}{name}", shown) for name, shown in files.items()]

    def __call__(self, path: str, /, **parameters: str) -> str:
        """Return the address of a file or of a folder's page, "/" with what the search shall find."""
        place = path.strip("/")
        if parameters.pop("f", ""):  # the catalogue that leads to all records
            place = "catalog.json"
        elif "." not in place:
            place = f"{place}/index.html".lstrip("/")
        return f"{self._root}{place}" + (f"?{urlencode(parameters)}" if parameters else "")

    def static(self, name: str) -> str:
        """Return the address of a shipped file, which changes with its content."""
        return f"{self._root}static/{name}?v={digest_of(STATIC / name)}"

    def service(self, number: int, **parameters: str) -> str:
        """Return the address of a service's page, or of its record."""
        return f"{self._root}{page_of(number, parameters.get('f', 'html'))}"

    def thumbnail(self, number: int) -> str:
        """Return the address of the picture that a content check kept of a service."""
        return f"{self._root}{page_of(number, 'png')}"

    def provider(self, name: str) -> str:
        """Return the address of a search for what a provider offers."""
        return self("/", provider=name)


def program() -> str:
    """Return what tells the program that makes pages from others: a hash of all its files, and versions."""
    found = blake2b(repr((sys.version, *map(version, ("jinja2", "markupsafe")))).encode(), digest_size=8)
    for each in sorted(Path(geocrawl.__file__).parent.rglob("*")):
        if each.is_file() and each.suffix != ".pyc":
            found.update(each.read_bytes())
    return found.hexdigest()


def page_of(number: int, ending: str = "html") -> str:
    """Return the place of the page of a service, of its record (json) or of its picture (png)."""
    return f"services/{number // IN_FOLDER}/{number}.{ending}"


def extents_of(box: Box | None) -> list[tuple[float, ...]]:
    """Return the parts of an extent as west, south, east, north: two where it crosses the antimeridian."""
    return [tuple(round(side, 3) for side in part) for part in parts_of(box)]


def service_page(options: SiteOptions, detail: ServiceDetail) -> bytes:
    """Return the page of a service."""
    service = detail.service
    layer = next((row for row in detail.layers if row.name), None)
    values = {
        **described(detail, layer, options.words),
        "layer_file": "",
        "tree": layer_tree(detail.layers, "", lambda row: ("", "", "")),
        "endpoints": (),
        "extents": (extents := extents_of(service.box)),
        "view": _view_of(extents),
        "map_box": "",
        "can_preview": False,
        "linked_data": _linked_data(options, service),
    }
    return options.page("service.html", page_of(service.id), values)


def _view_of(extents: Sequence[tuple[float, ...]]) -> str:
    """Return the part of the world that a map of extents shows, as `viewOf` of site_search.js: an SVG's viewBox."""
    if not extents or len(extents) > 1 or extents[0][2] - extents[0][0] >= 180:  # two parts cross the antimeridian
        return "-180 -90 360 180"
    west, south, east, north = extents[0]
    width = min(1.2 * max(east - west, 2 * (north - south), 30), 360)
    x, y = min(max((west + east - width) / 2, -180), 180 - width), -(north + south) / 2 - width / 4
    return f"{x:g} {min(max(y, -90), 90 - width / 2):g} {width:g} {width / 2:g}"


def _linked_data(options: SiteOptions, service: Service) -> Mapping[str, Any]:
    """Return a service as schema.org's Dataset, with its own address where that is known."""
    found = {**linked_data(service, options.base_url)}
    catalogue = {"@type": "DataCatalog", "name": options.title}
    own = options.address(page_of(service.id))
    if not own:
        return {
            **{name: value for name, value in found.items() if name not in ("@id", "url")},
            "includedInDataCatalog": catalogue,
        }
    return found | {"@id": own, "url": own, "includedInDataCatalog": catalogue | {"url": f"{options.base_url}/"}}


def catalogue_linked_data(options: SiteOptions) -> Mapping[str, Any]:
    """Return the site as schema.org's DataCatalog."""
    own = {"@id": f"{options.base_url}/", "url": f"{options.base_url}/"} if options.base_url else {}
    return {"@context": "https://schema.org/", "@type": "DataCatalog", "name": options.title, **own}


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


def catalogue_record(options: SiteOptions, title: str, links: Sequence[Mapping[str, Any]], number: int) -> bytes:
    """Return a crawlable catalogue (OGC 20-004r1, 7.5) with links to its records or to the catalogues below it."""
    return as_json(
        {
            "id": title,
            "type": "Collection",
            "itemType": "record",
            "title": title,
            "description": DESCRIPTION,
            "conformsTo": ["http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-collection"],
            "language": {"code": options.language},
            "numberMatched": number,
            "links": links,
        }
    )


# --------------------------------------------------------------------------- cards of the search


def card(service: Service, language: str) -> list[Any]:
    """Return what the search shows of a service; `static/site_search.js` reads it by the order."""
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
            service.has_thumbnail,
        ]
    )
    return found


def cards_name(number: int) -> str:
    """Return the name of the file with the cards of a service and of those next to it."""
    return f"cards/{number // 1000}/{number // IN_CARDS}"


def cards_script(name: str, services: Iterable[Service], language: str) -> Iterator[bytes]:
    """Yield the file of the cards of some services."""
    cards = {service.id: card(service, language) for service in services}
    yield script(name, json.dumps(cards, ensure_ascii=False, separators=(",", ":")))


def search_texts(words: Words) -> Mapping[str, Any]:
    """Return the texts that the search shows."""
    return {
        "found": words("found"),
        "layers": words("layers-n"),
        "previous": words("previous"),
        "next": words("next"),
        "most": words("site-most"),
        "square": words("site-square"),
        "failed": words("site-failed"),
        "nothing": words("nothing-found"),
        "empty": words("no-service-yet"),
        "remove": words("remove-filters"),
        "kind": {kind: short_name(kind) for kind in Kind},
        "health": {name: words(f"health-{name}") for name in HEALTHS},
        "level": {name: words(f"level-{name}") for name in reversed(LEVELS)},
    }


# --------------------------------------------------------------------------- what the search may be narrowed to


def facets_of(service: Service, layers: Sequence[Layer]) -> dict[str, list[str]]:
    """Return the values that a service has of each of `FACETS`."""
    values: dict[str, set[str]] = {name: {getattr(service, name)} for name in FACETS if name in columns(Service)}
    values["crs"] = {code.upper() for layer in layers for code in layer.crs}
    values["format"] = {
        each.lower() for formats in (service.formats, *(layer.formats for layer in layers)) for each in formats
    }
    return {name: [published_text(value) for value in sorted(values[name]) if value] for name in FACETS}


def common_values(counts: Mapping[str, Counter[str]], words: Words) -> dict[str, list[FacetValue]]:
    """Return the values of the facets that a site has, the commonest first, with their names for people."""
    named: Mapping[str, Callable[[str], str]] = {
        "kind": short_name,
        "health": lambda value: words(f"health-{value}"),
        "level": lambda value: words(f"level-{value}"),
        "country": lambda value: country_name(value, words.language),
    }
    return {
        name: [
            FacetValue(value, named.get(name, str)(value), count) for value, count in values.most_common(_MOST_VALUES)
        ]
        for name, values in counts.items()
    }


def cell_of(west: int, north: int) -> str:
    """Return the name of a square of `CELL_DEG` degrees by its corner: COLUMN.ROW from the north-west."""
    return f"{(west + 180) // CELL_DEG}.{(90 - north) // CELL_DEG}"


def squares(box: Box | None) -> Iterator[str]:
    """Yield the squares of `CELL_DEG` degrees that an extent touches, COLUMN.ROW from the north-west, as words of the
    index; none for one that spans most of the world, which says nothing of a place."""
    cells, *_ = coverage([] if box is None else [box], CELL_DEG)
    for row, column in zip(*cells.nonzero(), strict=True):
        yield f"cell:{column}.{row}"
