"""Find the endpoint that an address belongs to, by the kind of its service.

Services that are requested by a query (OGC's key-value pairs) keep their path; `endpoints` removes the request from
their query. Services that are requested by a path (ArcGIS REST, OGC API, STAC, TMS, tiles of a WMTS) have one root
above all their resources: the address of a layer, an item or a tile leads to it.
"""

from __future__ import annotations

import re

from geocrawl.model import Endpoint, Kind, Url
from geocrawl.urls.endpoints import endpoint_address, endpoint_key, query_parameters
from geocrawl.urls.reading import load_parameters, read_absolute

_BY_PATH = frozenset({Kind.ARCGIS, Kind.OGCAPI, Kind.STAC, Kind.TMS, Kind.SENSORTHINGS})
"""Kinds whose query belongs to one request and whose root may end in a slash or not."""
_ARCGIS_SERVICE = re.compile(
    r"(.*?/rest/services(?:/[^/]+)*?/(?:Map|Image|Feature|Scene|VectorTile|GP|Geocode|Geometry|GeoData|NA|Stream|Mobile|Globe)"
    r"Server)(?:/.*)?",
    re.IGNORECASE,
)
_ARCGIS_INFO = re.compile(r"(.*?/rest)/(?:services/)?info/?", re.IGNORECASE)
_OGCAPI_RESOURCE = re.compile(
    r"(.*?)/(?:collections|conformance|processes|jobs|tilematrixsets|openapi(?:\.json|\.ya?ml)?)(?:/.*)?", re.IGNORECASE
)
_STAC_RESOURCE = re.compile(r"(.*?)/(?:collections|search|conformance|queryables)(?:/[^/.]*)*", re.IGNORECASE)
_SENSORTHINGS_SET = re.compile(
    r"(.*?/v1\.[01])(?:/(?:things|locations|historicallocations|datastreams|multidatastreams|sensors|observedproperties"
    r"|observations|featuresofinterest)(?:[(/].*)?)?/?",
    re.IGNORECASE,
)
_TMS_ROOT = re.compile(r"(.*?/tms(?:/[^/]+)?/1\.0\.0)(?:/.*)?", re.IGNORECASE)
_WMTS_TILE = re.compile(
    r"(.*?/1\.0\.0)(?:/?|/[^/]+/[^/]+(?:/[^/]+){1,3}/[^/]+/[^/]+/[^/]+\.(?:png|jpe?g|webp|gif|tiff?|pbf|mvt))",
    re.IGNORECASE,
)


def service_endpoint(kind: Kind, url: Url) -> Endpoint:
    """Return the endpoint of this kind that an address belongs to, whatever part of the service it names.

    The key of kinds that are requested by a path has no slash at its end; the address keeps its spelling.
    """
    path = url.address[len(url.origin) :].partition("?")[0]
    root = path if _asks_by_query(kind, url) else _root(kind, path)
    if root != path:
        url = _with_path(url, root or "/")
    if kind not in _BY_PATH:
        return Endpoint(kind, endpoint_key(url), endpoint_address(url))
    url = _without_request(url)
    place, mark, query = endpoint_key(url).partition("?")
    return Endpoint(kind, place.rstrip("/") + mark + query, endpoint_address(url))


def document_endpoint(kind: Kind, url: Url) -> Endpoint:
    """Return the endpoint of a service whose describing document is the answer at `url`.

    The capabilities of a WMTS are where they were read, whatever path the standard gives to them.
    """
    if kind is Kind.WMTS:
        return Endpoint(kind, endpoint_key(url), endpoint_address(url))
    return service_endpoint(kind, url)


def service_keys(url: Url) -> tuple[str, ...]:
    """Return the identities that an address may have in the catalogue, each once; `endpoint_key` comes first."""
    found = dict.fromkeys([endpoint_key(url)])
    for kind in Kind:
        found.setdefault(service_endpoint(kind, url).key)
    return tuple(found)


def _asks_by_query(kind: Kind, url: Url) -> bool:
    """Return whether an address of a WMTS, which may also be requested by path, uses a query (OGC 07-057r7, 8)."""
    return kind is Kind.WMTS and any(name.lower() in ("service", "request") for name, _ in query_parameters(url))


def _root(kind: Kind, path: str) -> str:
    """Return the path of the service that the resource at `path` belongs to."""
    if kind is Kind.ARCGIS:
        if found := _ARCGIS_INFO.fullmatch(path):
            return f"{found[1]}/services"
        found = _ARCGIS_SERVICE.fullmatch(path)
    elif kind is Kind.OGCAPI:
        found = _OGCAPI_RESOURCE.fullmatch(path)
    elif kind is Kind.STAC:
        found = _STAC_RESOURCE.fullmatch(path)
    elif kind is Kind.SENSORTHINGS:
        found = _SENSORTHINGS_SET.fullmatch(path)
    elif kind is Kind.TMS:
        found = _TMS_ROOT.fullmatch(path)
    elif kind is Kind.WMTS:
        found = _WMTS_TILE.fullmatch(path)
        return f"{found[1]}/WMTSCapabilities.xml" if found else path
    else:
        return path
    return found[1] if found else path


def _with_path(url: Url, path: str) -> Url:
    _, mark, query = url.address.partition("?")
    return _read(url.origin + path + mark + query)


def _without_request(url: Url) -> Url:
    """Return the address without parameters of one request (`f=json`, `where=…`); tokens and keys stay."""
    place, _, query = url.address.partition("?")
    if not query:
        return url
    names = load_parameters().rest_request
    kept = []
    for part in query.split("&"):
        name = part.partition("=")[0].lower()
        if name not in names and not name.startswith(("$", "%24")):
            kept.append(part)
    return _read(place + ("?" + "&".join(kept) if kept else ""))


def _read(text: str) -> Url:
    url = read_absolute(text)
    if url is None:
        raise ValueError(f"not an address that was read: {text}")
    return url
