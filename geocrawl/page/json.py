"""Read JSON as `PageContent`: catalogues and contexts that are recognised by the structure of the document.

`_FORMATS` lists the readers in the order in which they are tried; the first reader that recognises the document returns
its links. Values may have any type, so every value's type is checked (`formats.json`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from geocrawl.formats.json import (
    JsonObject,
    integer_of,
    is_too_deep,
    list_of,
    object_of,
    objects,
    one_or_more,
    string_of,
)
from geocrawl.formats.text import fold, well_formed_escapes
from geocrawl.model import FailureCode, Url
from geocrawl.model.kinds import service_parameter
from geocrawl.model.times import Times, read_interval, read_values
from geocrawl.page.content import MAX_TEXT_CHARS, MAX_TITLE_CHARS, PageContent, RawLink, of_records, to_records
from geocrawl.page.imagery import read_imagery
from geocrawl.page.lists import read_list
from geocrawl.page.metadata import address_in, link
from geocrawl.page.naming import kind_among, kind_of_protocol
from geocrawl.page.rdf import read_json_ld
from geocrawl.page.records import datasets_in, is_record, json_portion, total_of_datasets
from geocrawl.page.viewers import read_configuration
from geocrawl.urls import (
    RECORDS,
    ckan_search_url,
    query_parameters,
    read_url,
    records_start,
    records_url,
    with_parameters,
)

# --------------------------------------------------------------------------- OWS Context in GeoJSON (OGC 14-055r2)


def read_offerings(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links of a context document or of one of its resources; None for any other document."""
    resources = one_or_more(data.get("features")) or [data]
    links = [found for resource in resources for found in _operations(resource)]
    return links or None


def _operations(resource: JsonObject) -> Iterator[RawLink]:
    """Yield the operations requested by GET; a POST's address alone requests nothing (OGC 14-055r2, 7.1.4)."""
    properties = resource.get("properties")
    if not isinstance(properties, dict):
        return
    for offering in one_or_more(properties.get("offerings")):
        kind = kind_of_protocol(string_of(offering.get("code")))
        for operation in one_or_more(offering.get("operations")):
            href = string_of(operation.get("href"))
            if href and string_of(operation.get("method")).upper() in ("", "GET"):
                names = [string_of(properties.get("title")), string_of(operation.get("code"))]
                descriptions = [string_of(properties.get("publisher")), string_of(properties.get("abstract"))]
                yield link(href, "owc", names=names, descriptions=descriptions, kind=kind)


# --------------------------------------------------------------------------- CKAN


_CKAN = "ckan"
_ACTION = re.compile(r"/api/(?:\d/)?action/\w+/?\Z")


def read_ckan(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links to the data sets' resources and to the next page; None for any other document."""
    result = data.get("result")
    if "success" not in data or result is None:
        return None
    if isinstance(result, list) and all(isinstance(name, str) for name in result):
        return _by_search(url)  # names only: one search replaces a request for each
    if isinstance(result, dict) and isinstance(result.get("results"), list):
        packages = one_or_more(result["results"])
        following = _next_ckan_page(url, integer_of(result.get("count")), len(result["results"]))
    else:
        packages, following = one_or_more(result), []
    return [*of_records(map(_resources, packages)), *following]


_SERVICE_FIELD = re.compile(r"[a-z0-9_-]{1,40}[_-]ur[il]\Z", re.I)
"""Names of the fields that CKAN's extensions add for the address of a service, such as `wms_api_url`."""


def _resources(package: JsonObject) -> Iterator[RawLink]:
    """Yield the links of a data set's resources: the address of each, and those in fields that name a service."""
    title = string_of(package.get("title")) or string_of(package.get("name"))
    organisation = string_of(package.get("organization"), "title", "name") or string_of(package.get("author"))
    for resource in one_or_more(package.get("resources")):
        name, form = string_of(resource.get("name")), string_of(resource.get("format"))
        stated = [string_of(resource.get(key)) for key in ("protocol", "resource_locator_protocol", "service_type")]
        own = [(key, kind_among(key)) for key in resource if _SERVICE_FIELD.match(key)]
        for key, kind in [("url", kind_among(form, *stated)), *((key, kind) for key, kind in own if kind)]:
            if href := address_in(string_of(resource.get(key))):
                yield link(
                    href,
                    _CKAN,
                    names=[title, name, form],
                    descriptions=[organisation, string_of(resource.get("description"))],
                    kind=kind,
                )


def _next_ckan_page(url: Url, count: int, returned: int) -> list[RawLink]:
    start = records_start(url)
    if start is None or not returned or start + returned == count:
        return []
    return to_records(records_url(url, start + returned))


def _by_search(url: Url) -> list[RawLink]:
    root = _ACTION.sub("", url.address.partition("?")[0])
    return to_records(ckan_search_url(root) if "package_list" in url.address else None)


# --------------------------------------------------------------------------- ArcGIS


_PORTAL = "arcgis-portal"
_FOLDER = "arcgis-folder"
_ROOT = re.compile(r".*?/services(?=/|\Z)", re.I)
_MAP_TYPES = frozenset({"MapServer", "ImageServer", "FeatureServer", "SceneServer", "VectorTileServer"})
_ITEM_TYPES = frozenset({"map service", "feature service", "image service", "vector tile service", "scene service"})
_MAX_FOLDERS = 200


def read_arcgis(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links of a folder or of a page of search results; None for any other document."""
    if isinstance(data.get("services"), list) and ("folders" in data or "currentVersion" in data):
        return list(_folder(data, url))
    if isinstance(data.get("results"), list) and "nextStart" in data and "num" in data:
        return [*of_records(map(_item, one_or_more(data["results"]))), *_next_portal_page(data, url)]
    return None


def _folder(data: JsonObject, url: Url) -> Iterator[RawLink]:
    """Yield links to the services, whose names contain that of their folder, and to folders below `…/rest/services`."""
    place = url.address.partition("?")[0].rstrip("/")
    match = _ROOT.match(place)
    root = match[0] if match else place
    for service in one_or_more(data["services"]):
        name, form = string_of(service.get("name")), string_of(service.get("type"))
        if name and form in _MAP_TYPES:
            yield link(f"{root}/{name}/{form}", _FOLDER, names=[name, form], descriptions=[], kind="arcgis")
    folders = data.get("folders")
    for name in folders[:_MAX_FOLDERS] if isinstance(folders, list) else ():
        if isinstance(name, str) and name:
            # Some servers name folders by their whole path, most by their own name.
            beneath = name if name.startswith("/") else f"/{name}"
            yield RawLink(f"{root}{beneath}?f=json", RECORDS, anchor=name)


def _item(item: JsonObject) -> Iterator[RawLink]:
    href = address_in(string_of(item.get("url")))
    if href:
        form = string_of(item.get("type"))
        kind = "arcgis" if form.lower() in _ITEM_TYPES else kind_of_protocol(form)
        organisation = string_of(item.get("accessInformation")) or string_of(item.get("owner"))
        descriptions = [organisation, string_of(item.get("snippet"))]
        yield link(href, _PORTAL, names=[string_of(item.get("title")), form], descriptions=descriptions, kind=kind)


def _next_portal_page(data: JsonObject, url: Url) -> list[RawLink]:
    """Return the link to the next page, if any: `nextStart` is -1 on the last page, and a smaller one would loop."""
    start, following = records_start(url), integer_of(data.get("nextStart")) - 1
    if start is None or following <= start or not data["results"]:
        return []
    return to_records(records_url(url, following))


# --------------------------------------------------------------------------- GeoNetwork


_GEONETWORK = "geonetwork"
_MAX_LINKS = 200
"""Most links read of one record."""


def read_geonetwork(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return the records' links and the link to the next page; None for any other document."""
    if "metadata" not in data or "summary" not in data:
        return None
    records = one_or_more(data["metadata"])
    links = of_records(map(_geonetwork_links, records))
    return [*links, *_next_geonetwork_page(data, url, len(records))]


def _geonetwork_links(record: JsonObject) -> Iterator[RawLink]:
    """Yield the record's links, each `name|description|address|protocol|type|order`.

    A single link is a string; several links are a list of strings.
    """
    title = string_of(record.get("title")) or string_of(record.get("defaultTitle"))
    parts = string_of(record.get("responsibleParty")).split("|")
    organisation = parts[2] if len(parts) > 2 else ""
    texts = record.get("link")
    for text in (texts if isinstance(texts, list) else [texts])[:_MAX_LINKS]:
        fields = text.split("|") if isinstance(text, str) else []
        href = address_in(fields[2]) if len(fields) > 3 else ""
        if href:
            kind = kind_of_protocol(fields[3])
            yield link(
                href,
                _GEONETWORK,
                names=[title, fields[0], fields[3]],
                descriptions=[organisation, fields[1]],
                kind=kind,
            )


def _next_geonetwork_page(data: JsonObject, url: Url, returned: int) -> list[RawLink]:
    start = records_start(url)
    count = integer_of(data["summary"].get("@count")) if isinstance(data["summary"], dict) else -1
    last = integer_of(data.get("@to"), (start or 0) + returned)
    if start is None or not returned or last <= start or last >= count:
        return []
    return to_records(records_url(url, last, rows=last - start))


# --------------------------------------------------------------------------- data sets after DCAT


_DCAT = "dcat"
_ADDRESSES = ("accessURL", "contentUrl", "endpointURL", "downloadURL", "accessUrl", "downloadUrl")
_FORMAT_NAMES = ("format", "encodingFormat", "mediaType", "conformsTo")
_POSITION = re.compile(r"start|offset|from|skip", re.I)
"""Parameters that name the first record of a page."""
_SHORT_TITLE = 24
"""A distribution's title of at most this many characters counts as the name of a format, if it names a kind."""


def read_datasets(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links to the distributions of a list of data sets, or of one data set; None for any other document."""
    datasets = datasets_in(data) or ([data] if "distribution" in data else [])
    if not datasets:
        return None
    following = _next_of_datasets(data, url, len(datasets))
    return [*(found for dataset in datasets for found in _distributions(dataset)), *following]


def _next_of_datasets(data: JsonObject, url: Url, returned: int) -> list[RawLink]:
    """Return the link to the next page of a list whose address counts records, if any."""
    start, total = records_start(url), total_of_datasets(data)
    named = [
        (name, int(value)) for name, value in query_parameters(url) if _POSITION.fullmatch(name) and value.isdecimal()
    ]
    following = None
    if start is not None and start + returned < total:
        following = records_url(url, start + returned, rows=returned)
    elif start is None and len(named) == 1 and returned and named[0][1] + returned < total:
        following = with_parameters(url, {named[0][0]: str(named[0][1] + returned)})
    return [RawLink(following.address, RECORDS, rel="next")] if following is not None else []


def _distributions(dataset: JsonObject) -> Iterator[RawLink]:
    title = string_of(dataset.get("title")) or string_of(dataset.get("name"))
    publisher = string_of(dataset.get("publisher"), "name")
    description, times = string_of(dataset.get("description")), _times_of_dataset(dataset.get("temporal"))
    for distribution in one_or_more(dataset.get("distribution") or dataset.get("distributions")):
        own = string_of(distribution.get("title")) or string_of(distribution.get("name"))
        formats = [string_of(distribution.get(name)) for name in _FORMAT_NAMES]
        kind = kind_among(*formats, own if len(own) <= _SHORT_TITLE else "")
        descriptions = [publisher, string_of(distribution.get("description")) or description]
        for name in _ADDRESSES:
            if href := address_in(string_of(distribution.get(name))):
                yield link(
                    href, _DCAT, names=[title, own, formats[0]], descriptions=descriptions, kind=kind, times=times
                )
    if href := address_in(string_of(dataset.get("landingPage"))):
        yield link(href, _DCAT, names=[title], descriptions=[publisher, description], kind="")


def _times_of_dataset(stated: Any) -> Times | None:
    """Return the time of a data set's data: `start/end` (DCAT-US 1.1, temporal), or dates of its start and end."""
    ends = one_or_more(stated)
    if ends:
        return read_interval(string_of(ends[0].get("startDate")), string_of(ends[0].get("endDate")))
    return read_values(string_of(stated), string_of(stated))


# --------------------------------------------------------------------------- STAC and OGC API
# Both have lists of links, also in catalogues of records (OGC 20-004r1). A record's links are the resources that it
# describes. A catalogue's own relations lead to more of the catalogue: `next`, collections of records and, in STAC,
# child catalogues. Items of a collection are data, not services, and are ignored.


SIGNAL = "records"
STAC_SIGNAL = "stac"
API_SIGNAL = "ogcapi"
_MAX_CHILDREN = 100
"""Most child catalogues linked from one page; some STAC catalogues have thousands."""
_SELF = frozenset(
    {"self", "root", "parent", "collection", "alternate", "canonical", "license", "item", "prev", "previous"}
)


def read_linked(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links of a landing page, list of collections, catalogue or page of records; None for other documents."""
    if not isinstance(data.get("links"), list) and "collections" not in data and "features" not in data:
        return None
    own = one_or_more(data.get("links"))
    records = one_or_more(data.get("features"))
    if not any("href" in item for item in own) and not records and not one_or_more(data.get("collections")):
        return None
    stac = _is_stac(data)
    links = [] if stac else of_records(map(_record, records))
    links += _record(data) if data.get("type") == "Feature" and not stac else []
    more = _more_of_stac(data, own, url) if stac else _more_of_records(data, own, url)
    if stac:
        links += _root_of_stac(own, url)
    named = _services(data, STAC_SIGNAL if stac else API_SIGNAL)
    rest = [_plain(item, STAC_SIGNAL if stac else API_SIGNAL) for item in own if _leads_on(item)]
    return [*links, *more, *named, *rest]


def _is_stac(data: JsonObject) -> bool:
    conforms = data.get("conformsTo")
    if "stac_version" in data or (isinstance(conforms, list) and any("stacspec.org" in str(uri) for uri in conforms)):
        return True
    listed = (one_or_more(data.get(name))[:1] for name in ("features", "collections"))
    return any("stac_version" in item for first in listed for item in first)


def _record(record: JsonObject) -> Iterator[RawLink]:
    """Yield the links of a record to the resources that it describes (OGC 20-004r1, 7.2.6), by `type` or protocol."""
    properties = object_of(record.get("properties"))
    title, organisation = string_of(properties.get("title")), _organisation(properties)
    times = _times_of_record(record.get("time") or properties.get("time"))
    if href := address_in(string_of(properties.get("url"))):  # the item of a portal, as its records have it
        form = string_of(properties.get("type"))
        kind = "arcgis" if form.lower() in _ITEM_TYPES else kind_of_protocol(form)
        yield link(href, SIGNAL, names=[title, form], descriptions=[organisation], kind=kind, times=times)
    lists = (record.get("links"), properties.get("associations"), record.get("linkTemplates"))
    for item in (item for listed in lists for item in one_or_more(listed)):
        if string_of(item.get("rel")) in _SELF - {"item"}:
            continue
        href = string_of(item.get("href")) or string_of(item.get("uriTemplate"))
        if href and "{" not in href:
            stated = [string_of(item.get(name)) for name in ("protocol", "type", "rel", "conformsTo", "name")]
            yield link(
                href,
                SIGNAL,
                names=[title, string_of(item.get("title")), stated[0]],
                descriptions=[organisation, string_of(properties.get("description"))],
                kind=kind_among(*stated),
                times=times,
            )


def _times_of_record(stated: Any) -> Times | None:
    """Return the time of a record's data (OGC 20-004r1, 8.2.2): a date, a time or an interval of them."""
    time = object_of(stated)
    ends = list_of(time.get("interval")) or [string_of(time.get("date")) or string_of(time.get("timestamp"))]
    return read_interval(string_of(ends[0]), string_of(ends[-1]))


def _organisation(properties: JsonObject) -> str:
    for name in ("contacts", "providers", "publisher"):
        if organisation := string_of(properties.get(name), "organization", "name"):
            return organisation
    return ""


def _more_of_stac(data: JsonObject, own: list[JsonObject], url: Url) -> Iterator[RawLink]:
    """Yield child catalogues and, of an API, its list of collections with the following pages."""
    is_items = data.get("type") == "FeatureCollection"
    following = [item for item in own if string_of(item.get("rel")) == "next" and not is_items]
    for item in (*_children(own)[:_MAX_CHILDREN], *following):
        if "html" in string_of(item.get("type")):
            continue
        yield RawLink(_page_at(item, url), RECORDS, string_of(item.get("title"))[:300], rel=string_of(item.get("rel")))


def _children(own: list[JsonObject]) -> list[JsonObject]:
    """Return the links of a STAC to its child catalogues, or to an API's list of collections, which has them all."""
    rels = [string_of(item.get("rel")) for item in own]
    wanted = "data" if "data" in rels else "child"
    return [item for item, rel in zip(own, rels, strict=True) if rel == wanted]


def _root_of_stac(own: list[JsonObject], url: Url) -> Iterator[RawLink]:
    """Yield the root catalogue of a child, a collection, an item or a page of items: the service to be asked.

    A document without a root names its parent or collection, which names the root.
    """
    named = {string_of(item.get("rel")): item for item in reversed(own) if string_of(item.get("href"))}
    above = next((named[rel] for rel in ("root", "parent", "collection") if rel in named), None)
    if above is not None:
        href = string_of(above.get("href"))
        target = read_url(href, url)
        if target is not None and target.identity != url.identity:
            yield RawLink(href, STAC_SIGNAL, string_of(above.get("title"))[:300], rel="root", kind="stac")


def _services(data: JsonObject, where: str) -> Iterator[RawLink]:
    """Yield services that collections name besides their items (STAC's web map links: rel `wms`, `wmts`)."""
    for number, collection in enumerate([data, *one_or_more(data.get("collections"))], -1):
        for stated_link in one_or_more(collection.get("links")):
            kind = kind_among(string_of(stated_link.get("rel")), string_of(stated_link.get("type")))
            # Relations that name a kind requested by path are the API's own.
            if kind and service_parameter(kind) and (href := string_of(stated_link.get("href"))):
                names = [string_of(collection.get("title")), string_of(stated_link.get("title"))]
                found = link(
                    href, where, names=names, descriptions=[string_of(collection.get("description"))], kind=kind
                )
                yield found._replace(record=number)


def _more_of_records(data: JsonObject, own: list[JsonObject], url: Url) -> Iterator[RawLink]:
    """Yield collections of records, and the next page of one."""
    for collection in one_or_more(data.get("collections")):
        yield from _record_items(collection)
    yield from _record_items(data)
    features = one_or_more(data.get("features"))
    if not any(map(is_record, features)) and not one_or_more(data.get("collections")):
        return
    stated = [
        item for item in own if string_of(item.get("rel")) == "next" and "html" not in string_of(item.get("type"))
    ]
    yield from (RawLink(_page_at(item, url), RECORDS, rel="next") for item in stated)
    start = records_start(url)
    if not stated and start is not None and features and start + len(features) < integer_of(data.get("numberMatched")):
        yield from to_records(records_url(url, start + len(features)))


def _page_at(stated: JsonObject, url: Url) -> str:
    """Return the address of a link to a page; of one by POST with what it posts as parameters.

    A search takes the same ones by GET (STAC API – Item Search 1.0, "Query Parameters and Fields"; `merge`: with those
    of the page itself). A server that does not repeats its page, which ends the list.
    """
    href = string_of(stated.get("href"))
    target, body = read_url(href, url), object_of(stated.get("body"))
    if string_of(stated.get("method")).upper() != "POST" or target is None or not body:
        return href
    given = dict(query_parameters(url)) if stated.get("merge") is True else {}
    return with_parameters(
        target, given | {name: _parameter(value) for name, value in islice(body.items(), 50)}
    ).address


def _parameter(value: Any) -> str:
    """Return a posted value as it stands in a query: lists by commas, objects as JSON."""
    if isinstance(value, list) and not any(isinstance(each, (list, dict)) for each in value):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def _record_items(collection: JsonObject) -> Iterator[RawLink]:
    """Yield the first page of a collection whose items are records (OGC 20-004r1, 8.2)."""
    if string_of(collection.get("itemType")).lower() not in ("record", "records"):
        return
    for stated_link in one_or_more(collection.get("links")):
        if string_of(stated_link.get("rel")) == "items" and "html" not in string_of(stated_link.get("type")):
            yield RawLink(string_of(stated_link.get("href")), RECORDS, anchor=string_of(collection.get("title")))


def _leads_on(each: JsonObject) -> bool:
    return string_of(each.get("rel")) not in _SELF | {"next", "child"} and bool(string_of(each.get("href")))


def _plain(each: JsonObject, where: str) -> RawLink:
    """Return any other link of the document, such as a description, a service, or terms of use."""
    return RawLink(
        string_of(each.get("href")), where, string_of(each.get("title"))[:300], rel=string_of(each.get("rel"))[:100]
    )


# --------------------------------------------------------------------------- any document


_MAX_KEYS = 64


def _read_layers(data: JsonObject, url: Url) -> list[RawLink] | None:
    return read_imagery(one_or_more(data.get("features")))


_FORMATS = (
    read_offerings,
    read_ckan,
    read_list,
    _read_layers,
    read_arcgis,
    read_geonetwork,
    read_linked,
    read_datasets,
)


def read_data(text: str, url: Url, *, max_links: int) -> PageContent | None:
    """Return text and links of a JSON document at `url`; None for bytes that are no JSON object or list."""
    data = _parse(text)
    if not isinstance(data, (dict, list)):
        return None
    content = PageContent(text=text[:MAX_TEXT_CHARS])
    if isinstance(data, dict):
        content.json_keys = tuple(islice((key for key in data if len(key) <= 100), _MAX_KEYS))
        content.title = fold(string_of(data.get("title")), MAX_TITLE_CHARS)
        content.portion = json_portion(data, url)
    content.keep(dict.fromkeys(islice(_links(data, url), max_links + 1)), max_links)
    if isinstance(data, dict) and len(_children(one_or_more(data.get("links")))) > _MAX_CHILDREN:
        content.fault = FailureCode.TRUNCATED
    return content


def _parse(text: str) -> Any:
    begun = text.lstrip("\ufeff \t\r\n")
    if not begun.startswith(("{", "[")):
        return None
    if is_too_deep(begun):
        return None
    try:
        return json.loads(well_formed_escapes(begun))
    except (ValueError, RecursionError):
        return None


def _links(data: Any, url: Url) -> Iterable[RawLink]:
    return _of_format(data, url) or read_configuration(data, url)


def _of_format(data: Any, url: Url) -> Sequence[RawLink]:
    """Return the links of a document that a reader recognises; () for any other."""
    if isinstance(data, dict):
        for reader in _FORMATS:
            links = reader(data, url)
            if links is not None:
                return links
    if isinstance(data, dict) and not {"@context", "@graph"}.isdisjoint(data):
        return list(read_json_ld(data, url))
    if isinstance(data, list) and (layers := read_imagery(objects(data))):
        return layers
    if isinstance(data, list) and data and isinstance(data[0], dict) and "@id" in data[0]:
        return list(read_json_ld(data, url))
    return ()
