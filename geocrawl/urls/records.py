"""Read which page of a catalogue's records an address requests, and make the address of another page.

Catalogues are read page by page, each an ordinary visit, so their number is limited by the address alone
(`records_page`), and a crawl may be interrupted between any two pages. Each interface fixes the names of its parameters
and where they start to count:

CSW          startPosition, maxRecords, from 1 (OGC 07-006r1, 10.8; OGC 12-176r7, 7.3)
CKAN         start, rows (package_search) or offset, limit (package_list), from 0
ArcGIS       start, num, from 1 (ArcGIS REST API, Search)
GeoNetwork   from, to, from 1, both ends included (`q` service)
OGC API      startindex or offset, limit, from 0
OpenDataSoft offset, limit, from 0 (Explore API v2.1)
Socrata      offset, limit, from 0, or limit after the record `scroll_id` (Discovery API, deep scrolling)
udata        page, from 1; GeoNode the same (API v2); piveau from 0 (hub-search)
Geoportal    from, size, from 1 (OpenSearch of Esri's Geoportal Server) or 0 (its index)
DCAT         page, from 1 (as in CKAN's `catalog.rdf`)
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from geocrawl.model import Url
from geocrawl.urls.endpoints import capabilities_url, query_parameters
from geocrawl.urls.hosts import is_private_name
from geocrawl.urls.reading import read_url

RECORDS = "records-page"
"""`Link.where` of a link to a page of a catalogue's records: the next page, or the first page of a catalogue."""

CSW_ROWS = 50
"""Records of one request: in Dublin Core about 100 kB, in ISO 19139 about 2 MB."""
ISO_19139 = "http://www.isotc211.org/2005/gmd"
_DUBLIN_CORE = {"2.0.2": "http://www.opengis.net/cat/csw/2.0.2", "3.0.0": "http://www.opengis.net/cat/csw/3.0"}
_MAX_NUMBER_CHARS = 12
_SAFE = ":/,*'()"


@dataclass(frozen=True, slots=True)
class _Paging:
    """How one kind of catalogue is paged."""

    path: re.Pattern[str]
    """Matches the path in lower case."""
    request: str
    """Value that the query parameter `request` must have; '' for any."""
    start: str
    """Parameter with the number of the first record, or of the page."""
    size: str
    """Parameter with the number of records; '' when `start` counts pages."""
    first: int
    """Value of `start` on the first page."""
    rows: int
    """Records of a page when the address does not say."""


_ANY = re.compile("")
_ODS = re.compile(r"/api/(?:explore/)?v2(?:\.\d)?/catalog/datasets/?\Z")
_UDATA = re.compile(r"/api/1/datasets/?\Z")
_GEONODE = re.compile(r"/api/v2/(?:datasets|resources|layers|services)/?\Z")
_SOCRATA = re.compile(r"/api/catalog/v1/?\Z")
_PIVEAU = re.compile(r"/search/search/?\Z")
_PAGINGS = (
    _Paging(_ANY, "getrecords", "startPosition", "maxRecords", 1, 10),
    _Paging(re.compile(r"/api/(?:\d/)?action/(?:package|current_package)_\w+/?\Z"), "", "start", "rows", 0, 10),
    _Paging(re.compile(r"/api/(?:\d/)?action/\w+_list/?\Z"), "", "offset", "limit", 0, 100),
    _Paging(re.compile(r"/sharing/rest/(?:search|content/groups/\w+(?:/search)?)/?\Z"), "", "start", "num", 1, 10),
    _Paging(re.compile(r"/srv/(?:[a-z]{2,3}/)?q/?\Z"), "", "from", "to", 1, 10),
    _Paging(re.compile(r"/collections(?:/[^/]+/items)?/?\Z"), "", "offset", "limit", 0, 10),
    _Paging(re.compile(r"/collections(?:/[^/]+/items)?/?\Z"), "", "startindex", "limit", 0, 10),
    _Paging(_ODS, "", "offset", "limit", 0, 10),
    _Paging(_UDATA, "", "page", "", 1, 1),
    _Paging(_GEONODE, "", "page", "", 1, 1),
    _Paging(re.compile(r"/api/(?:base|layers)/?\Z"), "", "offset", "limit", 0, 10),
    _Paging(_SOCRATA, "", "offset", "limit", 0, 100),
    _Paging(_PIVEAU, "", "page", "", 0, 1),
    _Paging(re.compile(r"/opensearch/?\Z"), "", "from", "size", 1, 10),
    _Paging(re.compile(r"/elastic/[a-z0-9_/-]{1,80}/_search/?\Z"), "", "from", "size", 0, 10),
    _Paging(re.compile(r"/catalog(?:ue)?\.(?:rdf|xml|ttl|n3|jsonld)\Z"), "", "page", "", 1, 1),
)

_PATHS = re.compile("|".join(paging.path.pattern for paging in _PAGINGS if paging.path is not _ANY))
"""Matches the paths of all of them: most addresses are refused by one search."""


def get_records_url(csw: Url, *, version: str = "2.0.2", schema: str = "", start: int = 1) -> Url:
    """Return a GetRecords request for whole records (OGC 07-006r1, 10.8.4; for version 3 OGC 12-176r7, 7.3.4).

    `csw`: any address of the endpoint. `schema`: output schema, Dublin Core (csw:Record) when ''. `start`: number of
    the first record, from 1.
    """
    version = "3.0.0" if version.startswith("3") else "2.0.2"
    namespace = _DUBLIN_CORE[version]
    wanted = {
        "VERSION": version,
        "typeNames": "csw:Record",
        "NAMESPACE": f"xmlns(csw={namespace})",
        "elementSetName": "full",
        "resultType": "results",
        "outputFormat": "application/xml",
        "outputSchema": schema or namespace,
        "startPosition": str(start),
        "maxRecords": str(CSW_ROWS),
    }
    if version == "3.0.0":
        del wanted["resultType"]  # gone in version 3
    asked = capabilities_url(csw, service="CSW")
    return with_parameters(asked, {"REQUEST": "GetRecords", **wanted})


def records_page(url: Url) -> int | None:
    """Return how many pages of records precede the one that an address requests; None when it is no such address.

    Pages that are named by a token rather than a number cannot be counted: None for them, too.
    """
    paging, values = _paging_of(url)
    if paging is None:
        return None
    start = max(_number(values.get(paging.start.lower(), ""), paging.first) - paging.first, 0)
    size = _number(values.get(paging.size.lower(), ""), paging.rows) if paging.size else 1
    if paging.size == "to":  # GeoNetwork names the last record, not their number
        size = size - start if "to" in values else paging.rows
    return start // max(size, 1)


def records_start(url: Url) -> int | None:
    """Return the number of the first record that an address requests, from 0; None as for `records_page`."""
    paging, values = _paging_of(url)
    if paging is None or not paging.size:
        return None
    return max(_number(values.get(paging.start.lower(), ""), paging.first) - paging.first, 0)


def records_url(url: Url, start: int, rows: int = 0) -> Url | None:
    """Return the address with another first record, counted from 0; None when it is no page of records.

    `rows`: the number of records that the last page had, 0 if unknown. Servers cut pages to their own size, and pages
    are counted by the size that is requested.
    """
    paging, values = _paging_of(url)
    if paging is None or not paging.size:
        return None
    changes = {paging.start: str(start + paging.first)}
    if paging.size == "to":
        size = rows or _number(values.get("to", ""), paging.rows) - _number(values.get("from", ""), 1) + 1
        changes["to"] = str(start + size)
    elif 0 < rows < _number(values.get(paging.size.lower(), ""), paging.rows):
        changes[paging.size] = str(rows)
    return with_parameters(url, changes)


def following_page(url: Url, returned: int, total: int) -> Url | None:
    """Return the address of the page after one whose address counts pages; None after the last one, and for any other
    address.

    `returned`: items of this page; `total`: items of all, -1 where nothing states them.
    """
    paging, values = _paging_of(url)
    if paging is None or paging.size or not returned:
        return None
    number = _number(values.get(paging.start.lower(), ""), paging.first)
    name = next((name for name in ("limit", "page_size") if name in values), "")
    size = _number(values.get(name, ""), returned)
    if 0 <= total <= (number - paging.first) * size + returned:
        return None
    is_cut = name and number == paging.first and returned < size  # later pages are asked by the server's own size
    return with_parameters(url, {paging.start: str(number + 1), **({name: str(returned)} if is_cut else {})})


_FORM = ("outputschema", "typenames", "namespace", "elementsetname", "resulttype")
"""Parameters of CSW that decide the form of records, not which ones."""


_AS_JSON = frozenset({"f=json", "f=geojson"})
"""Parameters with which an OGC API gives the same list as without."""


def list_url(url: Url) -> Url:
    """Return the address of the list that a page of records belongs to: without position, size and form of records."""
    paging, _ = _paging_of(url)
    place, _, query = url.address.partition("?")
    if not query:
        return url
    position = {paging.start.lower(), paging.size.lower(), *(_FORM if paging.request else ())} if paging else set()
    kept = [
        part
        for part in query.split("&")
        if part.partition("=")[0].lower() not in position and part.lower() not in _AS_JSON
    ]
    shortened = read_url("?".join(filter(None, (place, "&".join(kept)))))
    assert shortened is not None, "without a part of its query an address stays readable"
    return shortened


def at_own_origin(target: Url, page: Url) -> Url:
    """Return an address that a page names at the page's own origin, where it names the same host with another scheme,
    or its own path at an internal network: behind a proxy a server may not know its own address."""
    if target.host == page.host:
        is_own = target.scheme != page.scheme
    else:
        is_own = path_of(target) == path_of(page) and _is_internal(target.host)
    return (read_url(page.origin + target.address[len(target.origin) :]) or target) if is_own else target


def _is_internal(host: str) -> bool:
    if "." not in host.rstrip(".") or is_private_name(host):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def with_parameters(url: Url, changes: Mapping[str, str]) -> Url:
    """Return the address with these query parameters set; names match in any case, other parameters stay."""
    place, _, query = url.address.partition("?")
    left = {name.lower(): (name, value) for name, value in changes.items()}
    parts = []
    for part in filter(None, query.split("&")):
        name = part.partition("=")[0]
        if name.lower() in left:
            part = f"{name}={quote(left.pop(name.lower())[1], safe=_SAFE)}"
        parts.append(part)
    parts += (f"{name}={quote(value, safe=_SAFE)}" for name, value in left.values())
    changed = read_url(f"{place}?{'&'.join(parts)}")
    assert changed is not None, "a query does not make an address unreadable"
    return changed


def _paging_of(url: Url) -> tuple[_Paging | None, dict[str, str]]:
    """Return how this address is paged, None if it is not, and its parameters with names in lower case."""
    path, _, query = url.address[len(url.origin) :].partition("?")
    path = path.lower()
    if "getrecords" not in query.lower() and _PATHS.search(path) is None:
        return None, {}
    values = {name.lower(): value for name, value in reversed(query_parameters(url))}
    if "scroll_id" in values and _SOCRATA.search(path):
        return None, values
    matching = [p for p in _PAGINGS if p.path.search(path) and p.request in ("", values.get("request", "").lower())]
    return next((p for p in matching if p.start.lower() in values), matching[0] if matching else None), values


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) <= _MAX_NUMBER_CHARS else default


# --------------------------------------------------------------------------- portals


_ROWS = 100
_SERVICE_TYPES = ("Map Service", "Feature Service", "Image Service", "WMS", "WFS", "WMTS", "OGCFeatureServer")


def ckan_search_url(root: str, *, since: str = "") -> Url | None:
    """Return the request for all data sets of the CKAN at `root` (CKAN action API, package_search).

    None when `root` is no web address.
    """
    url = read_url(f"{root.rstrip('/')}/api/3/action/package_search")
    if url is None:
        return None
    wanted = {"rows": str(_ROWS), "start": "0", "sort": "name asc"}
    if since:
        wanted["fq"] = f"metadata_modified:[{since}T00:00:00Z TO *]"
    return with_parameters(url, wanted)


def arcgis_search_url(root: str, *, since: str = "") -> Url | None:
    """Return the request for the services among the items of the ArcGIS portal at `root` (ArcGIS REST API, Search).

    None when `root` is no web address.
    """
    url = read_url(f"{root.rstrip('/')}/sharing/rest/search")
    if url is None:
        return None
    query = " OR ".join(f'type:"{service_type}"' for service_type in _SERVICE_TYPES)
    if since:
        begin = int(dt.datetime.fromisoformat(since).replace(tzinfo=dt.UTC).timestamp() * 1000)
        query = f"({query}) AND modified:[{begin} TO 9999999999999]"
    return with_parameters(url, {"q": query, "f": "json", "num": str(_ROWS), "start": "1"})


@dataclass(frozen=True, slots=True)
class _Listing:
    """Where a family of portals lists its data sets, and how."""

    family: str
    path: re.Pattern[str]
    """Matches the path in lower case."""
    first: Mapping[str, str]
    """Parameters of the first page."""
    since: tuple[str, str] = ("", "")
    """Parameter that selects by date of modification, and its value for a `{day}`; '' where there is none."""


_LISTINGS = (
    _Listing("opendatasoft", _ODS, {"limit": str(_ROWS), "offset": "0"}, ("where", "modified>=date'{day}'")),
    _Listing("udata", _UDATA, {"page_size": str(_ROWS), "page": "1"}),
    _Listing("geonode", _GEONODE, {"page_size": str(_ROWS), "page": "1"}, ("filter{last_updated.gte}", "{day}")),
    _Listing("socrata", _SOCRATA, {"limit": str(_ROWS), "offset": "0"}),
    _Listing("piveau", _PIVEAU, {"filter": "dataset", "limit": str(_ROWS), "page": "0"}),
)
"""GeoNode filters by the fields of its serializer (django-dynamic-rest), `last_updated` is one of them since version 4
(the serializers of its base API). piveau's `minDate` selects by the time that data cover, not by their change
(BuildQueryHelper.java of piveau-hub-search: the field of the search parameter `temporal`)."""


def listing_url(address: str, *, since: str = "") -> Url | None:
    """Return the first page of the list of data sets that a portal has at `address`; None for any other address.

    `since` (YYYY-MM-DD): only those modified on that day or later; None where the portal cannot select them.
    """
    url = read_url(address)
    listing = _listing_at(url)
    if url is None or listing is None or (since and not listing.since[0]):
        return None
    name, value = listing.since
    return with_parameters(url, {**listing.first, **({name: value.format(day=since)} if since else {})})


def listing_family(url: Url) -> str:
    """Return the family of the portal that lists its data sets at an address; '' for any other address."""
    listing = _listing_at(url)
    return listing.family if listing is not None else ""


def _listing_at(url: Url | None) -> _Listing | None:
    return next((each for each in _LISTINGS if url and each.path.search(path_of(url))), None)


def path_of(url: Url) -> str:
    """Return the path of an address in lower case."""
    return url.address[len(url.origin) :].partition("?")[0].lower()


_OAI_ARGUMENTS = frozenset({"verb", "metadataprefix", "resumptiontoken", "from", "until", "set", "identifier"})
_OAI_PATH = re.compile(r"/oai(?:[-_]?pmh)?2?(?:/request)?/?\Z")
_OAI_VERBS = frozenset({"identify", "listmetadataformats", "listrecords"})
_LISTS = re.compile(
    r"/data\.json\Z|/catalog(?:ue)?\.(?:rdf|ttl|n3|jsonld)\Z|/imagery\.(?:geo)?json\Z|/thredds/(?:.{1,400}/)?catalog\.xml\Z"
)


def is_oai(url: Url) -> bool:
    """Return whether an address is that of an OAI-PMH repository or one of its requests for all records."""
    verbs = {value.lower() for name, value in query_parameters(url) if name.lower() == "verb"}
    return bool(verbs & _OAI_VERBS) or (not verbs and _OAI_PATH.search(path_of(url)) is not None)


def oai_url(url: Url, **arguments: str) -> Url:
    """Return a request to the repository at `url` (OAI-PMH 2.0, 3.1); parameters of its server stay."""
    place = url.address.partition("?")[0]
    kept = {name: value for name, value in query_parameters(url) if name.lower() not in _OAI_ARGUMENTS}
    repository = read_url(place)
    assert repository is not None, "the path of an address is an address"
    return with_parameters(repository, {**kept, **arguments})


def oai_start(url: Url, *, since: str = "") -> tuple[Url, ...]:
    """Return where to begin with the repository at `url`: its formats, which lead to all records.

    `since` (YYYY-MM-DD): the records changed on that day or later in the format of the request, else in ISO 19139
    and Dublin Core, because a request for the formats cannot hand a day on.
    """
    if not since:
        return (oai_url(url, verb="ListMetadataFormats"),)
    stated = [value for name, value in query_parameters(url) if name.lower() == "metadataprefix"]
    prefixes = stated or ["iso19139", "oai_dc"]
    return tuple(oai_url(url, verb="ListRecords", metadataPrefix=prefix, **{"from": since}) for prefix in prefixes)


def leads_to_records(url: Url) -> bool:
    """Return whether an address is by its form a catalogue's list of records, which a home page may link."""
    path = path_of(url)
    return is_oai(url) or _LISTS.search(path) is not None or any(each.path.search(path) for each in _LISTINGS)
