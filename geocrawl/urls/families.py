"""Addresses that may be spellings of one: hosts with and without `www.`, nodes of a load balancer, ports, path case.

By the text alone, so it proves nothing: whether the same service answers is for the answers to say (`store.likeness`).
"""

from __future__ import annotations

import re

from geocrawl.model import Url

_NODE = re.compile(r"\A([a-z][a-z-]*?)-?[0-9]{1,3}\Z")
"""maps1, maps-02: a first label that counts."""
_LETTER = re.compile(r"\A[a-d]\Z")
"""a, b, c, d before the rest of a host: how tiles are spread."""
_IP = re.compile(r"\A(?:[0-9.]+|\[.*\])\Z")
_GEOSERVER = re.compile(r"(/geoserver(?:/[^/]+){0,2})/(?:ows|wms|wfs|wcs|wps|csw)\Z")
"""GeoServer answers for every service at `ows` and at the service's own name."""


def family(key: str) -> str:
    """What addresses have in common that differ only in how one service may be spelt; `key`: an endpoint's identity."""
    host, _, place = _split(key)
    return f"{_without_node(_without_www(host))}/{_plain(place)}"


def differences(one: str, other: str) -> tuple[str, ...]:
    """In what two identities of one family differ: host (`www.`), node, port, path; none for equal ones."""
    (host, port, place), (host_2, port_2, place_2) = _split(one), _split(other)
    found = []
    if host != host_2:
        found.append("host" if _without_www(host) == _without_www(host_2) else "node")
    if port != port_2:
        found.append("port")
    if place != place_2:
        found.append("path")
    return tuple(found)


def plainness(url: Url) -> tuple[bool, bool, bool, bool, int, str]:
    """How good an address of a service is to show: less is better. HTTPS first, then names before numbers, no node of
    a load balancer, no port, the shortest; the text decides between equals."""
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
    """(host, port or '', what follows) of an identity."""
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
