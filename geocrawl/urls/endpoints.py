"""Find the endpoint that an address belongs to, by its query and its kind, and build requests for its capabilities.

Addresses of services are often typed by hand or cut out of a page's text, so common faults of their queries are mended:
`&amp;` for `&`, a second `?`, a `;` before a request parameter, `&` or `?` left at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, unquote_plus

from geocrawl.model import Endpoint, Kind, Url
from geocrawl.model.kinds import service_parameter
from geocrawl.urls.reading import load_parameters, read_absolute, read_url, without_path_session

_LEFT_OVER = re.compile(r"\A(?:\?|amp;)+", re.IGNORECASE)
_STRAY_SEPARATOR = re.compile(r"[?;]([A-Za-z_]{1,40})=")
_ADDRESS_WITHIN = re.compile(r":(?://|%2F%2F)|%3A(?://|%2F%2F)", re.IGNORECASE)


def query_parameters(url: Url) -> tuple[tuple[str, str], ...]:
    """Return name and value of each part of the query, decoded (`+` is a space), in order; '' for a part without `=`.

    Bytes that are not UTF-8 become U+FFFD, so the values are for reading, not for building another request.
    """
    pairs = (part.partition("=") for part in _parts(url.address.partition("?")[2]))
    return tuple((unquote_plus(name), unquote_plus(value)) for name, _, value in pairs)


def endpoint_key(url: Url) -> str:
    """Return the identity of the endpoint that a URL addresses: `host[:port]/path[?name=value&…]`.

    It has no scheme, default port, tracking parameter, session id or parameter of a request. Host and parameter names
    are in lower case and parameters are sorted; path and values keep their case.
    """
    place = url.identity.partition("?")[0].partition("://")[2]
    kept = sorted(_decoded(part) for part in _vendor_parts(url))
    query = "&".join(f"{_encoded(name, '')}={_encoded(value, '/:,.')}" for name, value in kept)
    return f"{place}?{query}" if query else place


_ESRI = re.compile(
    r"^(?P<site>[^?]*?)(?:/rest)?/services/(?P<name>[^?]+?)/(?:map|feature|image|wms|wfs|wcs)server(?:/[a-z0-9]*server)?"
    r"(?:/\d+)?/?(?:[?].*)?$",
    re.I,
)
_SHARING = (kind for kind in Kind if service_parameter(kind) and not kind.facts.has_own_content)
_LAST_WORD = re.compile(rf"/(?:gwc/service/)?(?:{'|'.join(_SHARING)}|ows|tms)/?$", re.I)


def server_key(key: str) -> str:
    """Return a text that is the same for the endpoints of twins: of one server, with the same content by several
    protocols. `key` is an endpoint's identity, as of `endpoint_key`.

    ArcGIS Server publishes a map as `/arcgis/rest/services/A/MapServer` and as
    `/arcgis/services/A/MapServer/WMSServer`; GeoServer and others answer as WMS and WFS at paths that differ in the
    last word only, or at the very same address.
    """
    if "/services/" in key.lower() and (esri := _ESRI.match(key)):  # the pattern is slow
        return f"{esri['site']}/{esri['name']}".lower()
    path, _, query = key.partition("?")
    stem = _LAST_WORD.sub("", path)
    return key if stem == path else f"{stem}?{query}".lower()


def endpoint_address(url: Url) -> Url:
    """Return the endpoint's address to show, export and request.

    Vendor parameters (`map=`, tokens) keep their order and escaping. Raise ValueError when `url` was not made by
    `read_url`.
    """
    return _with_query(url, _vendor_parts(url))


def capabilities_url(url: Url, *, service: str = "WMS", version: str | None = None) -> Url:
    """Return the GetCapabilities request of the endpoint that a URL addresses, whatever the URL itself requests.

    Names are in upper case, since some servers (QGIS Server) fail on others; vendor parameters come first, since some
    CGI programs read `map=` only there. Not to be called for an address that is a document (`…/wms.xml`).
    """
    request = [f"SERVICE={quote(service, safe='')}", "REQUEST=GetCapabilities"]
    if version is not None:
        request.append(f"VERSION={quote(version, safe='')}")
    return _with_query(url, [*_vendor_parts(url), *request])


def capabilities_address(kind: str, address: str) -> str:
    """Return the GetCapabilities request of a service, as map clients take it.

    '' for a kind without such a request, and for an address that is a document in a file and takes no parameters.
    """
    service, url = service_parameter(kind), read_url(address)
    if not service or url is None or address.lower().partition("?")[0].endswith((".xml", "wmtscapabilities")):
        return ""
    return capabilities_url(url, service=service).address


def below(url: Url, path: str) -> Url:
    """Return the address of `path` beneath an address, with its query; the address itself when the result is
    invalid."""
    place, mark, query = url.address.partition("?")
    return read_url(f"{place.rstrip('/')}/{path}{mark}{query}") or url


def request_url(url: Url, parameters: Mapping[str, str] | Iterable[tuple[str, str]]) -> Url:
    """Return another request to the endpoint that a URL addresses.

    Its query is the endpoint's vendor parameters, then `parameters` in order; as pairs, a name may occur again.
    """
    pairs = parameters.items() if isinstance(parameters, Mapping) else parameters
    asked = [f"{name}={quote(value, safe=':,/')}" for name, value in pairs]
    return _with_query(url, [*_vendor_parts(url), *asked])


# --------------------------------------------------------------------------- parts of a query


def _parts(query: str) -> Iterator[str]:
    """Yield the parts of a query as written, with faults mended; none is empty."""
    for part in query.split("&"):
        part = _LEFT_OVER.sub("", part)
        if "?" in part or ";" in part:
            yield from _split_stray(part)
        elif part:
            yield part


def _split_stray(part: str) -> Iterator[str]:
    """Split `map=a.map?service=WMS` and `service=WMS;request=GetMap` in two, and strip a `?` at the end.

    An address within a query, which a proxy is to request (`url=http://host/wms?service=WMS`), stays whole: there the
    `?` is no mistake.
    """
    request, start = load_parameters().request, 0
    within = _ADDRESS_WITHIN.search(part)
    for found in _STRAY_SEPARATOR.finditer(part, 0, within.start() if within else len(part)):
        if found[1].lower() in request:
            if piece := part[start : found.start()].strip("?"):
                yield piece
            start = found.start() + 1
    if piece := part[start:] if within else part[start:].rstrip("?"):
        yield piece


def _vendor_parts(url: Url) -> list[str]:
    """Return the parts of the query that belong to the endpoint, as written."""
    lists = load_parameters()
    kept = []
    for part in _parts(url.address.partition("?")[2]):
        name, value = _decoded(part)
        if name and name not in lists.request and not lists.is_noise(name, value):
            kept.append(part)
    return kept


def _with_query(url: Url, parts: list[str]) -> Url:
    path = without_path_session(url.address.partition("?")[0][len(url.origin) :])
    result = read_absolute(url.origin + path + ("?" + "&".join(parts) if parts else ""))
    if result is None:
        raise ValueError(f"not an address that was read: {url.address}")
    return result


def _decoded(part: str) -> tuple[str, str]:
    """Return name (lower case) and value of a part.

    Bytes that are not UTF-8 (GBK) become surrogates, so that different ones stay distinct.
    """
    name, _, value = part.partition("=")
    return unquote_plus(name, errors="surrogateescape").lower(), unquote_plus(value, errors="surrogateescape")


def _encoded(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="surrogateescape")


# --------------------------------------------------------------------------- services by kind
# Services that are requested by a query (OGC's key-value pairs) keep their path, and the request is removed from their
# query. Services that are requested by a path (ArcGIS REST, OGC API, STAC, TMS, tiles of a WMTS) have one root
# above all their resources: the address of a layer, an item or a tile leads to it.


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
    url = _keys_only(url) if root != path and kind in _LINKED else _without_request(url)
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
    keys = dict.fromkeys([endpoint_key(url)])
    for kind in Kind:
        keys.setdefault(service_endpoint(kind, url).key)
    return tuple(keys)


def _root(kind: Kind, path: str, url: Url) -> str:
    """Return the path of the service that the resource at `path`, the path of `url`, belongs to."""
    matches = ((pattern.fullmatch(path), end) for pattern, end in _PARTS.get(kind, ()))
    root = next((f"{part[1]}{end}" for part, end in matches if part is not None), path)
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


_LINKED = (Kind.OGCAPI, Kind.STAC)
"""Kinds that link to each page of theirs, with parameters of their own: cursors, tokens, filters."""
_KEY = re.compile(r"map|.{0,30}(?:key|token|auth|secret|signature).{0,30}|sig")
_PAGE_TOKEN = re.compile(r"(?:page|next|continuation).*")
_SHORT_TOKEN_CHARS = 16


def _keys_only(url: Url) -> Url:
    """Return the address of an API without the query that belongs to a page beneath it; keys and `map` stay.

    A `token` is a key too, unless it names a page (`page_token`, `next:…`, or a short one).
    """
    place, _, query = url.address.partition("?")
    kept = []
    for part in query.split("&"):
        name, value = _decoded(part)
        names_page = name == "token" and (":" in value or len(value) < _SHORT_TOKEN_CHARS)
        if _KEY.fullmatch(name) and not names_page and _PAGE_TOKEN.fullmatch(name) is None:
            kept.append(part)
    return _read(place + ("?" + "&".join(kept) if kept else ""))


def _read(text: str) -> Url:
    url = read_absolute(text)
    if url is None:
        raise ValueError(f"not an address that was read: {text}")
    return url
