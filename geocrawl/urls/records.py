"""Pages of a catalogue's records: the requests that ask for them, the next one, and how far an address has paged.

Catalogues are read page by page, each an ordinary visit, so the bound on them goes by the address alone
(`records_page`) and a crawl may be stopped and taken up between any two pages. What the parameters are called and where
they begin to count is fixed by each interface:

CSW          startPosition, maxRecords, from 1 (OGC 07-006r1, 10.8; OGC 12-176r7, 7.3)
CKAN         start, rows (package_search) or offset, limit (package_list), from 0
ArcGIS       start, num, from 1 (ArcGIS REST API, Search)
GeoNetwork   from, to, from 1, both ends included (`q` service)
OGC API      startindex or offset, limit, from 0
DCAT         page, from 1 (as CKAN's `catalog.rdf` has it)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from geocrawl.model import Url
from geocrawl.urls.endpoints import capabilities_url, query_parameters
from geocrawl.urls.reading import read_url

RECORDS = "records-page"
"""`Link.where` of a link to a page of a catalogue's records: the next one, or the first of a catalogue that was met."""

CSW_ROWS = 50
"""Records asked for at once: Dublin Core of them is about 100 kB, ISO 19139 about 2 MB."""
ISO_19139 = "http://www.isotc211.org/2005/gmd"
_DUBLIN_CORE = {"2.0.2": "http://www.opengis.net/cat/csw/2.0.2", "3.0.0": "http://www.opengis.net/cat/csw/3.0"}
_MAX_NUMBER_CHARS = 12
_SAFE = ":/,*'()"


@dataclass(frozen=True, slots=True)
class _Paging:
    """How one kind of catalogue is paged."""

    path: re.Pattern[str]
    """Of the path in lower case."""
    request: str
    """Value of `request` that the query must have; '' for any."""
    start: str
    size: str
    """Parameter of the number of records; '' when `start` counts pages."""
    first: int
    """Where `start` begins."""
    rows: int
    """Records of a page when the address does not say."""


_ANY = re.compile("")
_PAGINGS = (
    _Paging(_ANY, "getrecords", "startPosition", "maxRecords", 1, 10),
    _Paging(re.compile(r"/api/(?:\d/)?action/(?:package|current_package)_\w+/?\Z"), "", "start", "rows", 0, 10),
    _Paging(re.compile(r"/api/(?:\d/)?action/\w+_list/?\Z"), "", "offset", "limit", 0, 100),
    _Paging(re.compile(r"/sharing/rest/(?:search|content/groups/\w+(?:/search)?)/?\Z"), "", "start", "num", 1, 10),
    _Paging(re.compile(r"/srv/(?:[a-z]{2,3}/)?q/?\Z"), "", "from", "to", 1, 10),
    _Paging(re.compile(r"/collections(?:/[^/]+/items)?/?\Z"), "", "startindex", "limit", 0, 10),
    _Paging(re.compile(r"/collections(?:/[^/]+/items)?/?\Z"), "", "offset", "limit", 0, 10),
    _Paging(re.compile(r"/catalog(?:ue)?\.(?:rdf|xml|ttl|n3|jsonld)\Z"), "", "page", "", 1, 1),
)


def get_records_url(csw: Url, *, version: str = "2.0.2", schema: str = "", since: str = "", start: int = 1) -> Url:
    """A GetRecords request for whole records (OGC 07-006r1, 10.8.4; for version 3 OGC 12-176r7, 7.3.4).

    `csw`: any address of the endpoint. `schema`: output schema, Dublin Core (csw:Record) unless it is named. `since`:
    only records modified on that day (YYYY-MM-DD) or later.
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
    if since:
        wanted |= {
            "constraintLanguage": "CQL_TEXT",
            "constraint_language_version": "1.1.0",
            "constraint": f"dct:modified >= '{since}'",
        }
    asked = capabilities_url(csw, service="CSW")
    return with_parameters(asked, {"REQUEST": "GetRecords", **wanted})


def records_page(url: Url) -> int | None:
    """How many pages of records lie before the one that an address asks for; None when it is not that of a catalogue.

    Pages that are named by a token rather than a number cannot be counted: these have no number, either.
    """
    paging, values = _paging_of(url)
    if paging is None:
        return None
    start = max(_number(values.get(paging.start.lower(), ""), paging.first) - paging.first, 0)
    size = _number(values.get(paging.size.lower(), ""), paging.rows) if paging.size else 1
    if paging.start == "from":  # GeoNetwork names the last record, not their number
        size = size - start if "to" in values else paging.rows
    return start // max(size, 1)


def records_start(url: Url) -> int | None:
    """The number of the first record that an address asks for, counted from 0; None as for `records_page`."""
    paging, values = _paging_of(url)
    if paging is None or not paging.size:
        return None
    return max(_number(values.get(paging.start.lower(), ""), paging.first) - paging.first, 0)


def records_url(url: Url, start: int, rows: int = 0) -> Url | None:
    """The address with another first record, counted from 0; None when it is not that of a catalogue.

    `rows`: records that a page turned out to hold: servers cut a page to their own size, and the pages are counted by
    what is asked for.
    """
    paging, values = _paging_of(url)
    if paging is None or not paging.size:
        return None
    changes = {paging.start: str(start + paging.first)}
    if paging.start == "from":
        size = rows or _number(values.get("to", ""), paging.rows) - _number(values.get("from", ""), 1) + 1
        changes["to"] = str(start + size)
    elif 0 < rows < _number(values.get(paging.size.lower(), ""), paging.rows):
        changes[paging.size] = str(rows)
    return with_parameters(url, changes)


def with_parameters(url: Url, changes: Mapping[str, str]) -> Url:
    """The address with these query parameters set; their names match in any case, what is not named stays as it is."""
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
    """How this address is paged, and its parameters with names in lower case."""
    path, _, query = url.address[len(url.origin) :].partition("?")
    path = path.lower()
    if "getrecords" not in query.lower() and not any(p.path.search(path) for p in _PAGINGS if p.path is not _ANY):
        return None, {}
    values = {name.lower(): value for name, value in reversed(query_parameters(url))}
    matching = [p for p in _PAGINGS if p.path.search(path) and p.request in ("", values.get("request", "").lower())]
    return next((p for p in matching if p.start.lower() in values), matching[0] if matching else None), values


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) <= _MAX_NUMBER_CHARS else default
