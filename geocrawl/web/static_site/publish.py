"""Publish a catalogue as a site of files, in an order in which every moment's files are a site that works."""

from __future__ import annotations

import heapq
import json
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from geocrawl.export.properties import name_of
from geocrawl.export.services import export_services
from geocrawl.export.tables import export_endpoints
from geocrawl.model.catalogue import Layer, Service
from geocrawl.model.details import ServiceDetail
from geocrawl.model.search import FACETS, Selection
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.charts import coverage, map_squares
from geocrawl.web.discovery import PART, Feed, atom_of, json_feed_of, sitemap_index, url_set
from geocrawl.web.pages.overview import MOST_COUNTS, MOST_NEWS
from geocrawl.web.pages.status import shown, status_of
from geocrawl.web.publishing import as_json, published
from geocrawl.web.records.record import GEOJSON, link
from geocrawl.web.static_site import pages
from geocrawl.web.static_site.folder import SiteFolder, digest_of, site_folder
from geocrawl.web.static_site.pages import SiteOptions
from geocrawl.web.static_site.words import SearchIndex, content_name, script, words_of, words_of_names
from geocrawl.wording import seconds

_NEWS_OF_FEEDS = 100
_MOST_NEWEST = 10
_MOST_LISTED = 500
"""Services of one list, whose page is some 60 kB."""
_LEAST_LISTED, _BEGINS_LIST = 200, 64
"""A list of so many ends before a service whose number is a multiple of the second."""
_RANKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""Characters by their value. The file of ranks has one for each number of a service: value 0 for a number that no
service has, 1 to 31 for a service that does not work, 32 to 62 for one that works, rising with its quality."""


@dataclass(frozen=True, slots=True)
class PublishReport:
    """Counts services and files of a publish."""

    services: int
    files: int
    written: int
    removed: int
    remade_because: str
    """Why every page was made, for people, although the site was there; '' otherwise."""


@dataclass(slots=True)
class _Whole:
    """What is known when all services have been read."""

    index: SearchIndex = field(default_factory=SearchIndex)
    ranks: bytearray = field(default_factory=lambda: bytearray(b"A"))
    facets: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in FACETS})
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)
    newest: list[tuple[float, int, dict[str, Any]]] = field(default_factory=list)
    """(first seen, number, what the first page shows of it)."""
    services: int = 0
    layers: int = 0
    last_ok: array[float] = field(default_factory=lambda: array("d", [0.0]))
    """By the numbers of services; 0 for a number that no service has."""


def publish(catalogue: Catalogue, selection: Selection, root: Path, options: SiteOptions) -> PublishReport:
    """Publish the selected services to a folder.

    Raises UsageError for a folder with other files, EnvironmentFault when it cannot be written: what stood there is a
    site that works then, and another publish makes it whole. DatabaseFault for a catalogue that cannot be read, such as
    one of an older schema: the folder is as it was then.
    """
    for read in (catalogue.read_services, catalogue.read_layers, catalogue.read_endpoints):
        next(iter(read(selection)), None)
    with site_folder(root) as folder:
        made_by = digest_of(options, pages.program())
        folder.recall(made_by)
        for each in pages.ASSETS:
            folder.write(f"static/{each.name}", each.read_bytes())
        whole = _services(catalogue, selection, folder, options)
        _exports(catalogue, selection, folder)
        index = _index(folder, whole)
        folder.settle()
        watched = _status(catalogue, folder, options, whole)
        _first_page(catalogue, selection, folder, options, whole, index, watched)
        folder.remove_gone()
        folder.remember(made_by)
        return PublishReport(whole.services, folder.files, folder.written, folder.removed, folder.remade_because)


# --------------------------------------------------------------------------- services


def _services(catalogue: Catalogue, selection: Selection, folder: SiteFolder, options: SiteOptions) -> _Whole:
    """Write pages, records, cards and lists of the services; return what the rest is made of."""
    whole = _Whole()
    rows = _with_layers(catalogue.read_services(selection), catalogue.read_layers(selection))
    folders, names = list[tuple[str, str, int]](), list[tuple[str, int, str]]()
    for number, group in groupby(rows, key=lambda row: row[0].id // pages.IN_FOLDER):
        own = list(group)
        sources = dict[int, str]()
        for service, layers in own:
            picture = catalogue.thumbnail(service.id) if service.has_thumbnail else None
            sources[service.id] = digest_of(service, layers, picture and content_name(picture))
            _service(folder, options, service, layers, picture, sources[service.id])
            _take_in(whole, service, layers)
        for name, group_of_cards in groupby((service for service, _ in own), lambda each: pages.cards_name(each.id)):
            cards = list(group_of_cards)
            language = options.language
            source = digest_of([language, *(sources[card.id] for card in cards)])
            folder.write_made([f"search/{name}.js"], source, partial(pages.cards_script, name, cards, language))
        folders.append(_records(folder, options, number, [service for service, _ in own]))
        names += [(name_of(service), service.id, service.kind) for service, _ in own]
    _catalogue(folder, options, folders)
    _lists(folder, options, names)
    return whole


def _service(
    folder: SiteFolder,
    options: SiteOptions,
    service: Service,
    layers: list[Layer],
    picture: bytes | None,
    source: str,
) -> None:
    """Write picture, record and page of a service."""

    def make() -> Iterator[bytes]:
        detail = ServiceDetail(service, tuple(layers), ())
        if picture is not None:
            yield picture
        yield pages.service_record(detail)
        yield pages.service_page(options, detail)

    endings = (*(("png",) if picture is not None else ()), "json", "html")
    folder.write_made([pages.page_of(service.id, ending) for ending in endings], source, make)


def _take_in(whole: _Whole, service: Service, layers: list[Layer]) -> None:
    """Count a service, and add it to the index."""
    title = published(name_of(service))
    whole.services += 1
    whole.layers += service.layers
    facets = pages.facets_of(service, layers)
    for name, values in facets.items():
        whole.facets[name].update(values)
    if service.box:
        whole.boxes.append(service.box)
    at = seconds(service.first_seen)
    newest = (at, service.id, {"id": service.id, "kind": service.kind, "title": title, "first_seen": at})
    (heapq.heappush if len(whole.newest) < _MOST_NEWEST else heapq.heappushpop)(whole.newest, newest)
    rank = 1 + min(service.quality, 100) * 30 // 100 + (31 if service.alive else 0)
    missing = service.id - len(whole.ranks)
    whole.ranks += b"A" * missing + _RANKS[rank].encode()
    whole.last_ok.extend((*(0.0,) * missing, seconds(service.last_ok)))
    about = published(" ".join((service.provider, service.host, *service.keywords)))
    text = published(" ".join((service.abstract, *(layer.title for layer in layers))))
    chosen_by = (f"{name}:{value}" for name, values in facets.items() for value in values)
    whole.index.add(
        service.id,
        (
            words_of(title),
            (*words_of(about), service.kind, *chosen_by, *pages.squares(service.box)),
            (*words_of(text), *words_of_names(layer.name for layer in layers)),
        ),
    )


def _records(folder: SiteFolder, options: SiteOptions, number: int, services: list[Service]) -> tuple[str, str, int]:
    """Write the catalogue of the records of a folder; return its place, its title and how many it has."""
    place, title = f"services/{number}/catalog.json", f"{services[0].id} – {services[-1].id}"
    rows = [(service.id, name_of(service)) for service in services]

    def make() -> Iterator[bytes]:
        links = [
            link("catalog.json", "self", "application/json", "this document"),
            link("../../catalog.json", "root", "application/json", "the catalogue"),
            *(link(f"{id_}.json", "item", GEOJSON, name) for id_, name in rows),
        ]
        yield pages.catalogue_record(options, title, links, len(rows))

    folder.write_made([place], digest_of(rows), make)
    return place, title, len(rows)


def _catalogue(folder: SiteFolder, options: SiteOptions, folders: list[tuple[str, str, int]]) -> None:
    """Write the catalogue of records that leads to those of the folders."""
    links = [
        link("catalog.json", "self", "application/json", "this document"),
        link("index.html", "alternate", "text/html", "the catalogue as pages"),
        *(link(place, "child", "application/json", title) for place, title, _ in folders),
    ]
    content = pages.catalogue_record(options, options.title, links, sum(count for *_, count in folders))
    folder.write("catalog.json", content)


def _lists(folder: SiteFolder, options: SiteOptions, names: list[tuple[str, int, str]]) -> None:
    """Write lists of the services by their names, which do not overlap, and the list of these lists.

    `names`: name, number and kind of each service. The number of a service says whether a list may end before it, so
    that a service more or less changes one list and not all that follow.
    """
    names.sort(key=lambda row: (row[0].casefold(), row[1]))
    lists = [list[tuple[str, int, str]]()]
    for row in names:
        if len(lists[-1]) == _MOST_LISTED or (len(lists[-1]) >= _LEAST_LISTED and not row[1] % _BEGINS_LIST):
            lists.append([])
        lists[-1].append(row)
    shown = [_list(folder, options, rows) for rows in lists if rows]
    folder.write("services/index.html", _list_page(options, "index.html", options.words("all-services"), shown))


def _list(folder: SiteFolder, options: SiteOptions, rows: list[tuple[str, int, str]]) -> dict[str, Any]:
    """Write a list, whose address has the number of its first service; return what the list of lists shows of it."""
    name, heading = f"from-{rows[0][1]}.html", f"{rows[0][0]} – {rows[-1][0]}"

    def make() -> Iterator[bytes]:
        links = [{"href": f"../{pages.page_of(id_)}", "title": title, "kind": kind} for title, id_, kind in rows]
        yield _list_page(options, name, heading, links)

    folder.write_made([f"services/{name}"], digest_of(rows), make)
    return {"href": name, "title": heading, "count": len(rows)}


def _list_page(options: SiteOptions, name: str, heading: str, links: list[dict[str, Any]]) -> bytes:
    values = {"heading": heading, "about": "", "links": links, "path": "/services"}
    return options.page("document.html", f"services/{name}", values)


def _with_layers(services: Iterable[Service], layers: Iterable[Layer]) -> Iterator[tuple[Service, list[Layer]]]:
    """Yield each service with its layers; both come in the order of the services' numbers."""
    by_service = groupby(layers, key=lambda layer: layer.service_id)
    number, own = next(by_service, (0, iter(())))
    for service in services:
        while number and number < service.id:
            number, own = next(by_service, (0, iter(())))
        yield service, list(own) if number == service.id else []


# --------------------------------------------------------------------------- what is made of all services


def _exports(catalogue: Catalogue, selection: Selection, folder: SiteFolder) -> None:
    with folder.written_by("services.csv") as path:
        endpoints = catalogue.read_endpoints(selection)
        export_endpoints((endpoint for endpoint in endpoints if endpoint.id), "csv", path)
    for name, format_ in (("services.geojson", "geojson"), ("services.ttl", "dcat")):
        with folder.written_by(name) as path:
            export_services(catalogue.read_services(selection), (), format_, path)


def _index(folder: SiteFolder, whole: _Whole) -> str:
    """Write the index of the search; return the name of the part that names all others."""
    firsts, names = list[str](), list[str]()
    for first, name, content in whole.index.parts():
        folder.write(f"search/words/{name}.js", content)
        firsts.append(first)
        names.append(name)
    ranks = whole.ranks.decode()
    ranks_name = f"ranks-{content_name(whole.ranks)}"
    folder.write(f"search/{ranks_name}.js", script(ranks_name, json.dumps(ranks)))
    about = {
        "services": whole.services,
        "last": len(ranks) - 1,
        "ranks": ranks_name,
        "firsts": firsts,
        "names": names,
    }
    text = json.dumps(about, ensure_ascii=False, separators=(",", ":"))
    name = f"index-{content_name(text.encode())}"
    folder.write(f"search/{name}.js", script(name, text))
    return name


def _status(catalogue: Catalogue, folder: SiteFolder, options: SiteOptions, whole: _Whole) -> int:
    """Write the page of what is watched of the site's services, if any is; return their number."""
    numbers = set(_numbers(whole))
    watched = [each for each in catalogue.watched_services(time.time()) if each.id in numbers]
    if watched:
        folder.write("status/index.html", options.page("status.html", "status/index.html", shown(watched)))
        folder.write("status/status.json", as_json([status_of(each) for each in watched]))
    return len(watched)


def _first_page(
    catalogue: Catalogue,
    selection: Selection,
    folder: SiteFolder,
    options: SiteOptions,
    whole: _Whole,
    index: str,
    watched: int,
) -> None:
    """Write feeds and sitemap, where the site's address is known, and last the first page, which leads to the index."""
    news = catalogue.news(_NEWS_OF_FEEDS, None if selection.is_all else [*_numbers(whole)])
    base = options.base_url
    if base:
        feed = partial(_feed, options, whole, news)
        folder.write("feed.atom", atom_of(feed("feed.atom")).encode())
        folder.write("feed.json", as_json(json_feed_of(feed("feed.json"))))
        _sitemaps(folder, options, whole)
    cells, _, worldwide = coverage(whole.boxes, pages.CELL_DEG)
    facets = pages.common_values(whole.facets, options.words)
    values = {
        "squares": [
            {"x": west, "y": -north, "count": count, "shade": shade, "chosen": {"cell": pages.cell_of(west, north)}}
            for west, north, count, shade in map_squares(cells)
        ],
        "worldwide": worldwide,
        "services": whole.services,
        "layers": whole.layers,
        "counts": {name: facets[name][:most] for name, most in MOST_COUNTS.items()},
        "facets": facets.items(),
        "newest": [shown for _, _, shown in sorted(whole.newest, key=lambda each: each[:2], reverse=True)],
        "news": news[:MOST_NEWS],
        "index": index,
        "watched": watched,
        "texts": pages.search_texts(options.words),
        "linked_data": pages.catalogue_linked_data(options),
    }
    folder.write("index.html", options.page("landing.html", "", values))


def _numbers(whole: _Whole) -> Iterator[int]:
    """Yield the numbers of the services of the site."""
    return (number for number, rank in enumerate(whole.ranks) if rank != ord("A"))


def _feed(options: SiteOptions, whole: _Whole, news: Any, name: str) -> Feed:
    base = options.base_url
    return Feed(
        news=news,
        words=options.words,
        title=f"{options.title}: {options.words('news')}",
        identity=f"{base}/",
        own=f"{base}/{name}",
        page=f"{base}/",
        base=base,
        place_of=lambda number: f"{base}/{pages.page_of(number)}",
        updated=news[0].at if news else max(whole.last_ok),
    )


def _sitemaps(folder: SiteFolder, options: SiteOptions, whole: _Whole) -> None:
    last = 0
    for part, own in groupby(_numbers(whole), key=lambda number: number // PART):
        rows = [(f"{options.base_url}/{pages.page_of(number)}", whole.last_ok[number]) for number in own]
        folder.write(f"sitemap-{part}.xml", url_set(rows).encode())
        last = part
    folder.write("sitemap.xml", sitemap_index(options.base_url, last * PART).encode())
