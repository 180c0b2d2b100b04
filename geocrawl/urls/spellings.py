"""Group addresses that may be spellings of one: with and without `www.`, load-balancer nodes, ports, letter case.

The text alone proves nothing. Whether the same service answers is decided in `store.catalog.matching`.
"""

from __future__ import annotations

import re

from geocrawl.model import Url

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
    found = []
    if host != host_2:
        found.append("host" if _without_www(host) == _without_www(host_2) else "node")
    if port != port_2:
        found.append("port")
    if place != place_2:
        found.append("path")
    return tuple(found)


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
    found = _NODE.match(label)
    return f"{found[1]}.{rest}" if found else host


def _plain(place: str) -> str:
    path, mark, query = place.lower().partition("?")
    path = _GEOSERVER.sub(r"\1/ows", "/" + path.rstrip("/"))
    return path[1:] + mark + query
