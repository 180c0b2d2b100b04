"""Portals and catalogues rebuilt by family: how each looks, answers, pages its list, and selects by date.

Tests read them page by page; `python -m benchmarks families` makes a table of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from geocrawl.lab.recorded_worlds.replay import Response
from tests.app.recorded_web import Answers


def service(number: int) -> str:
    """The address of item `number`, whose path reveals no kind."""
    return f"http://m.example/maps/{number}"


@dataclass(frozen=True)
class Family:
    """How the portals of a family look and answer: 7 items in pages of 3; every second one changed in 2024."""

    key: str
    homes: tuple[str, ...]
    path: str
    answer: Callable[[dict[str, str], list[int]], tuple[list[int], dict[str, Any]]]
    """Makes an answer of the query and the numbers of all items that it selects."""
    query: str = ""
    """Of the first page, where its address has to have one."""
    since: str = ""
    """What the request since a day holds; '' where the interface cannot select by date."""


def by_offset(start: str, first: int = 0) -> Callable[[dict[str, str], list[int]], list[int]]:
    return lambda query, numbers: numbers[int(query.get(start, first)) - first :][:3]


def opendatasoft(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    shown = by_offset("offset")(query, numbers)
    metas = [{"default": {"title": f"Set {n}", "references": f"{service(n)}/ows?service=WMS"}} for n in shown]
    return shown, {"total_count": len(numbers), "results": [{"metas": each} for each in metas]}


def udata(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    number = int(query.get("page", 1))
    shown = numbers[3 * (number - 1) :][:3]
    data = [{"title": f"Set {n}", "resources": [{"url": service(n), "format": "ogc:wms"}]} for n in shown]
    following = (
        f"http://p.example/api/1/datasets/?page_size=100&page={number + 1}" if 3 * number < len(numbers) else None
    )
    return shown, {"data": data, "total": len(numbers), "page": number, "page_size": 3, "next_page": following}


def geonode(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    number = int(query.get("page", 1))
    shown = numbers[3 * (number - 1) :][:3]
    picture = {"link_type": "image", "url": "http://m.example/1.png"}
    rest = "".join(f"&{name}={value}" for name, value in query.items() if name != "page")
    following = f"http://p.example/api/v2/datasets?page={number + 1}{rest}" if 3 * number < len(numbers) else None
    datasets = [{"title": f"Set {n}", "links": [{"link_type": "OGC:WMS", "url": service(n)}, picture]} for n in shown]
    paging = {"total": len(numbers), "page": number, "page_size": 3, "links": {"next": following, "previous": None}}
    return shown, {**paging, "datasets": datasets}


def socrata(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    shown = by_offset("offset")(query, numbers)
    results = [
        {
            "resource": {
                "id": f"abcd-{n}",
                "name": f"Set {n}",
                "description": f"WMS: {service(n)}/ows?service=WMS&request=GetCapabilities",
            }
        }
        for n in shown
    ]
    return shown, {"results": results, "resultSetSize": len(numbers)}


def piveau(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    size = int(query["limit"])
    shown = numbers[int(query["page"]) * size :][:size]
    results = [
        {"title": {"en": f"Set {n}"}, "distributions": [{"access_url": [service(n)], "format": {"id": "WMS"}}]}
        for n in shown
    ]
    return shown, {"result": {"index": "dataset", "count": len(numbers), "results": results}}


def ckan(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    shown = by_offset("start")(query, numbers)
    results = [{"id": f"d{n}", "title": "x", "resources": [{"url": service(n), "format": "WMS"}]} for n in shown]
    return shown, {"success": True, "result": {"count": len(numbers), "results": results}}


def arcgis(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    start = int(query.get("start", 1))
    shown = numbers[start - 1 :][:3]
    following = start + 3 if start + 3 <= len(numbers) else -1
    results = [{"id": f"d{n}", "type": "WMS", "title": "x", "url": service(n)} for n in shown]
    return shown, {"total": len(numbers), "start": start, "num": 3, "nextStart": following, "results": results}


def geonetwork(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    shown = numbers[int(query["from"]) - 1 :][:3]
    metadata = [{"geonet:info": {"uuid": f"d{n}"}, "link": f"a|b|{service(n)}|OGC:WMS|x|1"} for n in shown]
    return shown, {
        "@from": query["from"],
        "@to": query["to"],
        "summary": {"@count": str(len(numbers))},
        "metadata": metadata,
    }


def geoportal(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    shown = by_offset("from", 1)(query, numbers)
    sets = [
        {"identifier": f"d{n}", "title": "x", "distribution": [{"accessURL": service(n), "format": "WMS"}]}
        for n in shown
    ]
    return shown, {"dataset": sets, "totalResults": len(numbers)}


def records(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    start = int(query.get("offset", 0))
    shown = numbers[start:][:3]
    features = [
        {
            "id": f"d{n}",
            "type": "Feature",
            "properties": {"type": "service", "title": "x"},
            "links": [{"href": service(n), "protocol": "OGC:WMS"}],
        }
        for n in shown
    ]
    links = [{"rel": "next", "href": f"http://p.example/collections/r/items?offset={start + 3}"}]
    return shown, {
        "type": "FeatureCollection",
        "numberMatched": len(numbers),
        "features": features,
        "links": links if start + 3 < len(numbers) else [],
    }


def stac(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    """Return collections, whose pages a token names."""
    start = int(query.get("token", "at-0").removeprefix("at-"))
    shown = numbers[start:][:3]
    links = [{"rel": "next", "href": f"http://p.example/stac/collections?token=at-{start + 3}"}]
    collections = [
        {"id": f"c{n}", "stac_version": "1.0.0", "links": [{"rel": "wms", "href": service(n), "type": "image/png"}]}
        for n in shown
    ]
    return shown, {
        "numberMatched": len(numbers),
        "collections": collections,
        "links": links if start + 3 < len(numbers) else [],
    }


def hydra(query: dict[str, str], numbers: list[int]) -> tuple[list[int], dict[str, Any]]:
    number = int(query.get("page", 1))
    shown = numbers[3 * (number - 1) :][:3]
    sets: list[dict[str, Any]] = [
        {
            "@id": f"http://p.example/{n}",
            "@type": "dcat:Dataset",
            "dcat:distribution": {"dcat:accessURL": {"@id": service(n)}, "dct:format": "WMS"},
        }
        for n in shown
    ]
    paging: dict[str, Any] = {"@type": "hydra:PagedCollection", "hydra:totalItems": len(numbers)}
    if 3 * number < len(numbers):
        paging["hydra:nextPage"] = {"@id": f"http://p.example/catalog.jsonld?page={number + 1}"}
    return shown, {"@context": {}, "@graph": [paging, *sets]}


FAMILIES = [
    Family(
        "opendatasoft",
        (
            '<link href="https://static.opendatasoft.com/ods.css" rel="stylesheet"><title>Data of the town</title>',
            '<body data-ng-app="ods.front"><header class="ods-front-header">',
            '<div class="ods-box"><a href="/explore/">Data</a></div>',
        ),
        "/api/explore/v2.1/catalog/datasets", opendatasoft, since="where=modified",
    ),
    Family(
        "udata",
        (
            '<meta name="generator" content="udata 10.1">',
            '<link rel="stylesheet" href="/static/udata/theme.css">',
            '<script src="/_themes/town/index.js"></script>',
        ),
        "/api/1/datasets/", udata,
    ),
    Family(
        "geonode",
        (
            '<link href="/static/geonode/css/base.css" rel="stylesheet">',
            '<script src="/static/geonode/js/utils.js"></script>',
            'Powered by <a href="https://geonode.org">GeoNode</a>',
        ),
        "/api/v2/datasets", geonode, since="filter%7Blast_updated.gte%7D=",
    ),
    Family(
        "socrata",
        (
            '<script src="https://cdn.socrata.com/a.js"></script>',
            "<script>window.socrata = {}</script>",
            '<a href="https://www.socrata.com/">Powered by Socrata</a>',
        ),
        "/api/catalog/v1", socrata,
    ),
    Family(
        "piveau",
        (
            '<div id="app" data-ui="piveau-hub-ui"></div>',
            '<script src="/assets/piveau-header.js"></script>',
            '<meta name="author" content="Powered by piveau">',
        ),
        "/api/hub/search/search", piveau,
    ),
    Family(
        "ckan",
        ('<meta name="generator" content="ckan 2.10.1">', '<link href="/webassets/base/main.css">'),
        "/api/3/action/package_search", ckan, since="fq=metadata_modified",
    ),
    Family("arcgis", (), "/sharing/rest/search", arcgis, since="modified:%5B"),
    Family("geonetwork", (), "/srv/eng/q", geonetwork, query="_content_type=json&fast=index&from=1&to=3"),
    Family("dcat", (), "/opensearch", geoportal, query="f=dcat&from=1&size=3"),
    Family("ogcapi-records", (), "/collections/r/items", records),
    Family("collections", (), "/stac/collections", stac),
    Family("hydra", (), "/catalog.jsonld", hydra),
]  # fmt: skip
IDS = [family.key for family in FAMILIES]


class PortalWeb(Answers):
    """A portal of one family. `failing`: answers of its second page before it is right."""

    def __init__(self, family: Family, *failing: Response) -> None:
        super().__init__({"p.example/": ("text/html", "".join(family.homes[:1]).encode())})
        self._family, self._failing = family, [*failing]
        self.read: list[int] = []

    def respond(self, scheme: str, host: str, target: str) -> Response:
        path, _, query = target.partition("?")
        if host != "p.example" or path.rstrip("/") != self._family.path.rstrip("/"):
            return super().respond(scheme, host, target)
        self.asked.append(host + target)
        values = {name: value[0] for name, value in parse_qs(query).items()}
        is_since = self._family.since and self._family.since in target
        numbers = [n for n in range(7) if not is_since or n % 2]
        if "limit" in values:
            values["limit"] = "3"  # whatever is asked: portals bound their pages
        shown, data = self._family.answer(values, numbers)
        if self._failing and 3 in shown:
            return self._failing.pop(0)
        self.read += shown
        return Response(200, [("Content-Type", "application/json")], json.dumps(data).encode(), "page")
