"""Read ArcGIS REST documents: the services of a folder, and the items that a portal's search returns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from geocrawl.formats.json_values import JsonObject, integer_of, one_or_more, string_of
from geocrawl.model import Url
from geocrawl.page.addresses import address_in
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_of_protocol
from geocrawl.urls import RECORDS, records_start, records_url

SIGNAL = "arcgis-portal"
FOLDER_SIGNAL = "arcgis-folder"
_ROOT = re.compile(r".*?/services(?=/|\Z)", re.I)
_MAP_TYPES = frozenset({"MapServer", "ImageServer", "FeatureServer", "SceneServer", "VectorTileServer"})
_ITEM_TYPES = frozenset({"map service", "feature service", "image service", "vector tile service", "scene service"})
_MAX_FOLDERS = 200


def read_arcgis(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links of a folder or of a page of search results; None for any other document."""
    if isinstance(data.get("services"), list) and ("folders" in data or "currentVersion" in data):
        return list(_folder(data, url))
    if isinstance(data.get("results"), list) and "nextStart" in data and "num" in data:
        return [*_items(data), *_next_page(data, url)]
    return None


def _folder(data: JsonObject, url: Url) -> Iterator[RawLink]:
    """Yield links to the services, whose names contain that of their folder, and to folders below `…/rest/services`."""
    place = url.address.partition("?")[0].rstrip("/")
    found = _ROOT.match(place)
    root = found[0] if found else place
    for service in one_or_more(data["services"]):
        name, form = string_of(service.get("name")), string_of(service.get("type"))
        if name and form in _MAP_TYPES:
            yield link(f"{root}/{name}/{form}", FOLDER_SIGNAL, names=[name, form], descriptions=[], kind="arcgis")
    folders = data.get("folders")
    for name in folders[:_MAX_FOLDERS] if isinstance(folders, list) else ():
        if isinstance(name, str) and name:
            # Some servers name folders by their whole path, most by their own name.
            beneath = name if name.startswith("/") else f"/{name}"
            yield RawLink(f"{root}{beneath}?f=json", RECORDS, anchor=name)


def _items(data: JsonObject) -> Iterator[RawLink]:
    for item in one_or_more(data["results"]):
        href = address_in(string_of(item.get("url")))
        if href:
            form = string_of(item.get("type"))
            kind = "arcgis" if form.lower() in _ITEM_TYPES else kind_of_protocol(form)
            organisation = string_of(item.get("accessInformation")) or string_of(item.get("owner"))
            descriptions = [organisation, string_of(item.get("snippet"))]
            yield link(href, SIGNAL, names=[string_of(item.get("title")), form], descriptions=descriptions, kind=kind)


def _next_page(data: JsonObject, url: Url) -> list[RawLink]:
    """Return the link to the next page, if any: `nextStart` is -1 on the last page, and a smaller one would loop."""
    start, following = records_start(url), integer_of(data.get("nextStart")) - 1
    if start is None or following <= start or not data["results"]:
        return []
    after = records_url(url, following)
    return [RawLink(after.address, RECORDS)] if after is not None else []
