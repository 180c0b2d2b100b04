"""Find the addresses that capabilities give for an operation, and choose the one to request.

WMS, WFS 1.0.0 and WCS 1.0.0 have `Capability/Request/GetMap/DCPType/HTTP/Get` with an OnlineResource or an attribute
`onlineResource`; OWS Common (OGC 06-121r9, 7.4.6) has `OperationsMetadata/Operation/DCP/HTTP/Get` with `xlink:href`.

GIS clients request the given address. Behind a proxy it is often wrong, and another host has to be leased for it, so it
is the first choice on the endpoint's origin alone, and the second choice elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, href_of, local_name
from geocrawl.model import Url
from geocrawl.probe.ows.addresses import is_inner
from geocrawl.urls import endpoint_key, read_url


def get_addresses(root: etree._Element, *names: str) -> Iterator[str]:
    """Yield the addresses for GET of an operation, by any of its names, as written."""
    for element in get_elements(root, *names):
        if address := address_of(element):
            yield address


def get_elements(root: etree._Element, *names: str) -> Iterator[etree._Element]:
    """Yield the elements `Get` of an operation, by any of its names in any case."""
    wanted = {name.lower() for name in names}
    named = [each for each in children(child(root, "Capability", "Request")) if local_name(each).lower() in wanted]
    for operation in children(child(root, "OperationsMetadata"), "Operation"):
        if attribute(operation, "name").strip().lower() in wanted:
            named.append(operation)
    for operation in named:
        yield from (each for each in operation.iter() if local_name(each) == "Get")


def address_of(get: etree._Element) -> str:
    """Return the address in an element `Get`, as written; '' for none."""
    inner = child(get, "OnlineResource")
    return href_of(inner) if inner is not None else (attribute(get, "onlineResource").strip() or href_of(get))


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
