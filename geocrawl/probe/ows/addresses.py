"""Compare the addresses of operations in capabilities (OnlineResource, ows:Get) with the requested address.

Behind proxies and on moved machines these addresses are often wrong: `localhost`, a name of the intranet, http where
the service answers by https. They are noted here; `operations` chooses the address of requests for content.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from lxml import etree

from geocrawl.formats.elements import attribute, child, href_of, local_name
from geocrawl.model import Deviation, Url
from geocrawl.urls import is_own_machine, is_private_name

_MAX_ADDRESSES = 200
_INNER = re.compile(r"\.(?:localdomain|lan|intranet|intern|corp|home|private)\Z")
"""Endings that are kept for private networks by custom, beside those of `is_private_name`."""
_CARRIERS = frozenset({"OnlineResource", "Get", "Post"})


def address_deviations(root: etree._Element, answered: Url) -> list[Deviation]:
    """Return one deviation for each code, with its first address. `answered`: the address of the document."""
    found: dict[str, str] = {}
    for address in dict.fromkeys(_stated(root)):
        code = _fault(address, answered)
        if code:
            found.setdefault(code, address[:200])
    return [Deviation(code, detail) for code, detail in found.items()]


def _stated(root: etree._Element) -> Iterator[str]:
    """Yield addresses of operations: WMS, WFS 1.0 and WCS 1.0 have a `Request`, OWS Common `OperationsMetadata`."""
    count = 0
    for section in (child(root, "Capability", "Request"), child(root, "OperationsMetadata")):
        for element in section.iter() if section is not None else ():
            if local_name(element) not in _CARRIERS or len(element):
                continue
            count += 1
            if count > _MAX_ADDRESSES:
                return
            yield href_of(element) or attribute(element, "onlineResource").strip()


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
