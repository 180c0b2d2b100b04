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

_PARTS = {
    kind: tuple((re.compile(pattern, re.IGNORECASE), end) for pattern, end in kind.facts.parts.items())
    for kind in Kind
    if kind.facts.parts
}
_BY_PATH = frozenset(kind for kind in _PARTS if kind.facts.by_path)
"""Kinds whose query belongs to one request and whose root may end in a slash or not."""


def service_endpoint(kind: Kind, url: Url) -> Endpoint:
    """Return the endpoint of this kind that an address belongs to, whatever part of the service it names.

    The key of kinds that are requested by a path has no slash at its end; the address keeps its spelling.
    """
    path = url.address[len(url.origin) :].partition("?")[0]
    root = _root(kind, path, url)
    if root != path:
        url = _with_path(url, root or "/")
    if kind not in _BY_PATH:
        return Endpoint(kind, endpoint_key(url), endpoint_address(url))
    url = _without_request(url)
    place, mark, query = endpoint_key(url).partition("?")
    return Endpoint(kind, place.rstrip("/") + mark + query, endpoint_address(url))


def document_endpoint(kind: Kind, url: Url) -> Endpoint:
    """Return the endpoint of a service whose describing document is the answer at `url`.

    The capabilities of a kind that is also requested by a query are where they were read, whatever path the standard
    gives to them.
    """
    if kind not in _BY_PATH:
        return Endpoint(kind, endpoint_key(url), endpoint_address(url))
    return service_endpoint(kind, url)


def service_keys(url: Url) -> tuple[str, ...]:
    """Return the identities that an address may have in the catalogue, each once; `endpoint_key` comes first."""
    found = dict.fromkeys([endpoint_key(url)])
    for kind in Kind:
        found.setdefault(service_endpoint(kind, url).key)
    return tuple(found)


def _root(kind: Kind, path: str, url: Url) -> str:
    """Return the path of the service that the resource at `path`, the path of `url`, belongs to."""
    found = ((pattern.fullmatch(path), end) for pattern, end in _PARTS.get(kind, ()))
    root = next((f"{part[1]}{end}" for part, end in found if part is not None), path)
    return path if root != path and kind not in _BY_PATH and _asks_by_query(url) else root


def _asks_by_query(url: Url) -> bool:
    """Return whether an address of a kind that may be requested by path, too, uses a query (OGC 07-057r7, 8)."""
    return any(name.lower() in ("service", "request") for name, _ in query_parameters(url))


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
