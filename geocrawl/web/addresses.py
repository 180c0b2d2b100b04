"""Make the addresses that clients take: GetCapabilities for services of OGC, the address itself for others."""

from __future__ import annotations

from geocrawl.urls import capabilities_url, read_url

ASKED_BY_KEY_AND_VALUE = ("wms", "wfs", "wcs", "wmts", "csw", "wps", "sos")
"""Kinds whose description is requested by parameters."""


def client_address(kind: str, address: str) -> str:
    """Return the address that describes a service, as map clients take it."""
    url = read_url(address)
    if url is None or kind not in ASKED_BY_KEY_AND_VALUE or "***" in address:
        return address
    if url.address.partition("?")[0].lower().endswith(".xml"):  # a static file: it accepts no parameters
        return address
    return capabilities_url(url, service=kind.upper()).address
