"""Recognise portals and catalogues of data by their addresses, and where to begin reading each.

Software has forms of address as servers have, so one address of a portal, whichever page it is, reveals all of it. What
is read is not that page but the software's list of records, the same for all pages of one portal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from geocrawl.detect.addresses import Never, read_never
from geocrawl.model import Url
from geocrawl.urls import arcgis_search_url, ckan_search_url, get_records_url, read_url

_LONG_CHARS = 500
"""No portal has a longer path, and matching a pattern may take quadratic time."""


@dataclass(frozen=True, slots=True)
class PortalForm:
    """A form of path that one software for portals has."""

    software: str
    hint: str
    """A text that occurs in every such path: a quick check before the pattern is tried."""
    path: str
    """Regular expression, searched in the path in lower case. The group `place`, if any, ends the portal's root."""
    first: Callable[[str], Url | None]
    """Returns the first address to read, of the portal at a root without its slash at the end."""
    example: str
    """An address of this form, for tests and for people."""
    query: str = ""
    """A text that must occur in the query in lower case, too; '' for none."""


@dataclass(frozen=True, slots=True)
class Portal:
    """A portal that an address belongs to."""

    software: str
    first: Url
    """Where reading it begins."""


def _csw_at(place: str) -> Callable[[str], Url | None]:
    def first(root: str) -> Url | None:
        csw = read_url(root + place)
        return get_records_url(csw) if csw is not None else None

    return first


def _page_at(place: str) -> Callable[[str], Url | None]:
    return lambda root: read_url(root + place)


FORMS = (
    PortalForm(
        "GeoNetwork",
        "/geonetwork",
        r"(?P<place>/geonetwork[a-z0-9_-]{0,40})(?:/|$)",
        _csw_at("/srv/eng/csw"),
        "https://metadata.example.org/geonetwork/srv/eng/catalog.search",
    ),
    PortalForm(
        "GeoNetwork under another name",
        "/srv/",
        r"/srv/[a-z]{3}/(?:catalog\.(?:search|signin)|metadata\.show|main\.home|find|xml\.metadata\.get|q)(?:\.html)?/?$",
        _csw_at("/srv/eng/csw"),
        "https://www.example.org/catalogue/srv/eng/catalog.search",
    ),
    PortalForm(
        "CKAN, its API",
        "/action/",
        r"/api/(?:[123]/)?action/(?:package|current_package|group|organization|tag|resource)_[a-z_]{1,40}/?$",
        ckan_search_url,
        "https://data.example.org/api/3/action/package_show?id=roads",
    ),
    PortalForm(
        "CKAN, a resource of a data set",
        "/resource/",
        r"/dataset/[^/]{1,200}/resource/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:/|$)",
        ckan_search_url,
        "https://data.example.org/dataset/roads/resource/0ba5e1d2-3c4b-4a59-8677-98a9bacbdced",
    ),
    PortalForm(
        "CKAN, its data sets by format",
        "/dataset",
        "/dataset/?$",
        ckan_search_url,
        "https://data.example.org/dataset?res_format=WMS",
        query="res_format=",
    ),
    PortalForm(
        "ArcGIS portal, its API",
        "/sharing/rest",
        "/sharing/rest(?:/|$)",
        arcgis_search_url,
        "https://gis.example.org/portal/sharing/rest/content/items/0ba5e1d23c4b",
    ),
    PortalForm(
        "ArcGIS portal",
        "/home/",
        r"/home/(?:item|group|search|gallery|webmap/viewer|webscene/viewer)\.html$",
        arcgis_search_url,
        "https://gis.example.org/portal/home/item.html?id=0ba5e1d23c4b",
    ),
    PortalForm(
        "ArcGIS Hub",
        "/datasets/",
        r"/datasets/(?:[0-9a-f]{32}(?:_[0-9]{1,4})?|[a-z0-9-]{1,80}::[a-z0-9-]{1,200})(?:/|$)",
        _page_at("/api/feed/dcat-us/1.1.json"),
        "https://data.example.org/datasets/town::roads/explore",
    ),
    PortalForm(
        "GeoNode",
        "/layers/",
        "/layers/[a-z0-9_-]{1,80}(?::|%3a)[a-z0-9_.-]{1,200}(?:/metadata_detail)?/?$",
        _csw_at("/catalogue/csw"),
        "https://geonode.example.org/layers/geonode:roads/metadata_detail",
    ),
    PortalForm(
        "Esri Geoportal Server",
        "/geoportal/",
        "/geoportal/(?:rest/(?:document|find|index)|catalog|opensearch)(?:/|$)",
        _csw_at("/geoportal/csw"),
        "https://gpt.example.org/geoportal/catalog/main/home.page",
    ),
    PortalForm(
        "THREDDS",
        "/thredds/",
        r"/thredds/(?:catalog(?:/.{0,400})?/?(?:catalog)?\.(?:html|xml)|dodsc/.{1,400}|filescraper/.{1,400}|ncss/.{1,400})$",
        _page_at("/thredds/catalog.html"),
        "https://data.example.org/thredds/catalog/ocean/catalog.html",
    ),
    PortalForm(
        "ERDDAP",
        "/erddap/",
        r"/erddap/(?:tabledap|griddap|info|wms|categorize|search)(?:/|$)",
        _page_at("/erddap/wms/index.html"),
        "https://data.example.org/erddap/griddap/sst.html",
    ),
    PortalForm(
        "Lizmap",
        "/view/map",
        r"(?P<place>/index\.php)/view/map/?$",
        _page_at("/"),
        "https://maps.example.org/lizmap/index.php/view/map?repository=a&project=b",
        query="repository=",
    ),
)
"""Forms of the addresses of map portals. An address is of the first form that it fits."""


@lru_cache(maxsize=16_384)
def portal_of(url: Url) -> Portal | None:
    """Return the portal that an address belongs to; None for an address that reveals none."""
    whole, _, query = url.address[len(url.origin) :].partition("?")
    path, query = whole.lower(), query.lower()
    if len(path) > _LONG_CHARS:
        return None
    for form, pattern in _patterns():
        found = pattern.search(path) if form.hint in path and form.query in query else None
        if found is None:
            continue
        if _never().holds(url.host, path):
            return None
        end = found.end("place") if "place" in pattern.groupindex else found.start()
        first = form.first(url.origin + whole[:end])
        return Portal(form.software, first) if first is not None else None
    return None


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[PortalForm, re.Pattern[str]], ...]:
    return tuple((form, re.compile(form.path)) for form in FORMS)


@lru_cache(maxsize=1)
def _never() -> Never:
    return read_never()
