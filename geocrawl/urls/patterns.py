"""Compute URL patterns: the common form of addresses that a program generates in any number.

Numbers, dates, hashes and identifiers are replaced by `#`, and values of parameters are left out:
`/cal/2031/05?view=month` and `/cal/1999/12?view=day` have one pattern. An address without anything to replace has no
pattern. Words stay, percent-encoded ones too, because sites name different things by words. So does the site with its
port: domains that differ by a number, and IP addresses, have nothing to do with each other, while one site makes any
number of hosts (`n17.example.org`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geocrawl.model import Url
from geocrawl.urls.records import records_page

BLANK = "#"
"""Replaces what varies. No address contains this character before its fragment."""
_MAX_CHARS = 2048
_MOST_FOLDERS = 12
_DIGIT = re.compile(r"[0-9]")
_DIGITS = re.compile(r"[0-9]+")
# In this order: identifiers (UUID, RFC 9562, 4), percent-encoded bytes, words with or without digits.
_PARTS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|%[0-9a-f]{2}|[0-9a-z]+")
_HEXADECIMAL = frozenset("0123456789abcdef")
_HASH_CHARS, _TOKEN_CHARS = 6, 16


def pattern_of(url: Url) -> str:
    """Return the pattern `host/path?names` of an address; '' when it has none.

    A catalogue's page of records has none either: the number of such pages is limited by itself (`records_page`).
    """
    place, _, query = url.identity.partition("://")[2].lower()[:_MAX_CHARS].partition("?")
    if not query and _DIGIT.search(place) is None:
        return ""
    if query and records_page(url) is not None:
        return ""
    host, slash, path = place.partition("/")
    below = len(url.host) - len(url.site)
    blank = _blanked(host[:below]) + host[below:] + slash + _blanked(path) + _names(query)
    return "" if blank == place else blank


_MADE_OF = re.compile(r"\.[a-z]+\.[a-z]+\Z")
"""Two endings of a name."""


def folder_patterns(url: Url) -> Iterator[str]:
    """Yield the patterns of the folders that an address lies in, the outermost first, without the host's root.

    What a program made of each file of another kind (`map.js.html`, `map.rst.txt`) counts as a folder of its own, too.
    """
    host, slash, path = url.identity.partition("://")[2].partition("?")[0].lower()[:_MAX_CHARS].partition("/")
    *parts, name = _blanked(path).split("/")
    yield from (f"{host}{slash}{'/'.join(parts[:n])}/" for n in range(1, min(len(parts), _MOST_FOLDERS) + 1))
    if parts and (made := _MADE_OF.search(name)):
        yield f"{host}{slash}{'/'.join(parts)}/*{made[0]}"


def service_pattern(url: Url, site: str, kind: str) -> str:
    """Return the pattern of a service's address, the same on every host of the site."""
    place, _, query = url.identity.partition("://")[2].lower()[:_MAX_CHARS].partition("?")
    _, slash, path = place.partition("/")
    return f"{kind} {site}{slash}{_blanked(path)}{_names(query)}"


def _names(query: str) -> str:
    """Return the parameters' names, sorted, each once."""
    if not query:
        return ""
    return "?" + "&".join(sorted({_blanked(part.partition("=")[0]) for part in query.split("&")}))


def _blanked(text: str) -> str:
    return text if _DIGIT.search(text) is None else _PARTS.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    part = found[0]
    if part[0] == "%" or _DIGIT.search(part) is None:
        return part
    if "-" in part or len(part) >= _TOKEN_CHARS or (len(part) >= _HASH_CHARS and _HEXADECIMAL.issuperset(part)):
        return BLANK
    return _DIGITS.sub(BLANK, part)


# --------------------------------------------------------------------------- spellings
# The text alone proves nothing. Whether the same service answers is decided in `store.catalogue.write.clusters`.


_NODE = re.compile(r"\A([a-z][a-z-]*?)-?[0-9]{1,3}\Z")
"""A first label that ends in a number: maps1, maps-02."""
_LETTER = re.compile(r"\A[a-d]\Z")
"""A first label a, b, c or d: tiles are spread over such hosts."""
_IP = re.compile(r"\A(?:[0-9.]+|\[.*\])\Z")
_GEOSERVER = re.compile(r"(/geoserver(?:/[^/]+){0,2})/(?:ows|wms|wfs|wcs|wps|csw)\Z")
"""GeoServer answers every kind of service at `ows` and at the kind's own name."""


def spelling_group(key: str) -> str:
    """Return what is common to addresses that may be spellings of one. `key`: an `endpoint_key`."""
    host, _, place = _split(key)
    return f"{_without_node(_without_www(host))}/{_plain(place)}"


def spelling_differences(one: str, other: str) -> tuple[str, ...]:
    """Return how two `endpoint_key`s of one group differ: any of 'host' (`www.`), 'node', 'port', 'path'."""
    (host, port, place), (host_2, port_2, place_2) = _split(one), _split(other)
    differences = []
    if host != host_2:
        differences.append("host" if _without_www(host) == _without_www(host_2) else "node")
    if port != port_2:
        differences.append("port")
    if place != place_2:
        differences.append("path")
    return tuple(differences)


def display_order(url: Url) -> tuple[bool, bool, bool, bool, int, str]:
    """Return a sort key by which the best address of a service to show comes first.

    HTTPS before HTTP, names before IP addresses, no node of a load balancer, no port, the shortest; then by text.
    """
    host = url.host
    return (
        url.scheme != "https",
        _IP.match(host) is not None or ":" in host,
        _without_node(host) != host,
        url.origin.count(":") > 1,
        len(url.address),
        url.address,
    )


def _split(key: str) -> tuple[str, str, str]:
    """Return (host, port or '', path and query) of an identity."""
    authority, _, place = key.partition("/")
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        return authority, "", place
    return host, port, place


def _without_www(host: str) -> str:
    return host.removeprefix("www.")


def _without_node(host: str) -> str:
    label, dot, rest = host.partition(".")
    if not dot or "." not in rest or _IP.match(host):
        return host
    if _LETTER.match(label):
        return rest
    match = _NODE.match(label)
    return f"{match[1]}.{rest}" if match else host


def _plain(place: str) -> str:
    path, mark, query = place.lower().partition("?")
    path = _GEOSERVER.sub(r"\1/ows", "/" + path.rstrip("/"))
    return path[1:] + mark + query


def query_group(url: Url) -> str:
    """Return what is common to addresses that differ only in their query: `host[:port]/path`."""
    return url.identity.partition("?")[0].partition("://")[2]
