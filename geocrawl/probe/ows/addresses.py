"""Compare the addresses of operations in capabilities with the requested address, and choose the one to request.

Behind proxies and on moved machines these addresses are often wrong: `localhost`, a name of the intranet, http where
the service answers by https. GIS clients request the given address nevertheless. Another host has to be leased for it,
so it is the first choice on the endpoint's origin alone, and the second choice elsewhere.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from itertools import islice
from urllib.parse import urlsplit

from geocrawl.model import Deviation, Service, Url
from geocrawl.probe.interview import named_for
from geocrawl.probe.ows.owslib_reader import Operations
from geocrawl.urls import endpoint_key, is_own_machine, is_private_name, read_url, request_url, with_parameters

_MAX_ADDRESSES = 200
_INNER = re.compile(r"\.(?:localdomain|lan|intranet|intern|corp|home|private)\Z")
"""Endings that are kept for private networks by custom, besides those of `is_private_name`."""


def address_deviations(operations: Operations, answered: Url) -> list[Deviation]:
    """Return one deviation for each code, with its first address. `answered`: the address of the document."""
    deviations: dict[str, str] = {}
    stated = (address.url for operation in operations.listed for address in operation.addresses)
    for address in dict.fromkeys(islice(stated, _MAX_ADDRESSES)):
        code = _fault(address, answered)
        if code:
            deviations.setdefault(code, address[:200])
    return [Deviation(code, detail) for code, detail in deviations.items()]


def _fault(address: str, answered: Url) -> str:
    """Return the deviation code of an address; '' for none."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
    except ValueError:
        return "online-resource-missing"
    if parts.scheme.lower() not in ("http", "https") or not host:
        return "online-resource-missing"
    if host == answered.host:
        return "online-resource-http" if (parts.scheme.lower(), answered.scheme) == ("http", "https") else ""
    return _kind_of_host(host)


def is_inner(host: str) -> bool:
    """Return whether a host is a server's own machine or one of an intranet, by its name or number."""
    return bool(_kind_of_host(host))


def _kind_of_host(host: str) -> str:
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        if is_own_machine(host):
            return "online-resource-local"
        is_intranet = "." not in host or is_private_name(host) or _INNER.search(host)
        return "online-resource-intranet" if is_intranet else ""
    if number.is_loopback or number.is_unspecified:
        return "online-resource-local"
    return "online-resource-intranet" if number.is_private or number.is_link_local else ""


def given_address(endpoint: Url, written: str) -> Url | None:
    """Return the address to request instead of the endpoint's; None when they mean the same.

    None also for one on the server's own machine or in its intranet, unless the endpoint is there, too.

    An address that only lacks parameters of the endpoint (`map=`) means the same: servers forget their own. The scheme
    stays the endpoint's, because servers behind a proxy for TLS do not know theirs.
    """
    given = read_url(written, endpoint) if written else None
    if given is None or (is_inner(given.host) and not is_inner(endpoint.host)):
        return None
    given = _on_same_scheme(given, endpoint) if given.host == endpoint.host else given
    if given is None:
        return None
    (place, own), (given_place, others) = _parts(endpoint), _parts(given)
    return None if given_place == place and others <= own else given


def by_origin(endpoint: Url, written: str) -> tuple[Url, ...]:
    """Return the addresses to request, the first choice first: the endpoint's, and the one that a document gives.

    Only a given address on the endpoint's origin comes first: ports are often closed behind proxies, a closed port ends
    the turn of its host, and another host has to be leased.
    """
    given = given_address(endpoint, written)
    if given is None:
        return (endpoint,)
    return (given, endpoint) if given.origin == endpoint.origin else (endpoint, given)


def request_at(url: Url, endpoint: Url, service: Service, parameters: Mapping[str, str]) -> Url:
    """Return a request to a service at its endpoint's address or at one that its document gives."""
    make = request_url if url == endpoint else with_parameters
    return make(url, named_for(service, parameters))


def _parts(url: Url) -> tuple[str, frozenset[str]]:
    """Return an address without its query, and the parameters that belong to the endpoint."""
    place, _, query = endpoint_key(url).partition("?")
    return place, frozenset(query.split("&")) - {""}


def _on_same_scheme(given: Url, endpoint: Url) -> Url | None:
    """Return the given address with the endpoint's scheme if both have the usual ports; else unchanged."""
    if given.origin == endpoint.origin:
        return given
    is_usual = all(url.origin.endswith(url.host) for url in (given, endpoint))
    return read_url(endpoint.origin + given.address[len(given.origin) :]) if is_usual else given
