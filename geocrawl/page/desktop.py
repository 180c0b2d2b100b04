"""Read files of desktop programs that name services: QGIS projects, layers and connections, GDAL descriptions, KML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

from lxml import etree

from geocrawl.formats.elements import child, first, first_text, local_name
from geocrawl.page.content import MAX_HREF_CHARS, RawLink
from geocrawl.page.metadata import address_in, link
from geocrawl.page.naming import kind_of_protocol

_QUOTED_URL = re.compile(r"\burl='([^']{1,4000})'")
_ARCGIS = ("arcgismapserver", "arcgisfeatureserver", "afs", "ams")
_CONNECTION_ENDS = ("qgswmsconnections", "qgswfsconnections", "qgswcsconnections", "qgsxyztilesconnections")


def read_qgis_layers(root: etree._Element) -> Iterator[RawLink]:
    """Yield layers of a project (.qgs) or a layer definition (.qlr) whose data come from a service.

    A data source is a query (`url=…&layers=…`, provider wms), a list of quoted values (`url='…' typename='…'`, provider
    WFS), or the request itself.
    """
    for layer in root.iter("{*}maplayer"):
        source = first_text(child(layer, "datasource"), MAX_HREF_CHARS)
        provider = first_text(child(layer, "provider")).lower()
        href = _address_in_source(source)
        if href:
            kind = "arcgis" if provider in _ARCGIS else kind_of_protocol(provider)
            if kind == "wms" and "tileMatrixSet=" in source:
                kind = "wmts"
            if kind == "wms" and "type=xyz" in source:
                kind = ""
            names = [first_text(child(layer, "layername")), first_text(child(layer, "title"))]
            yield link(href, "qgis", names=names, descriptions=[first_text(child(layer, "abstract"))], kind=kind)


def read_qgis_connections(root: etree._Element) -> Iterator[RawLink]:
    """Yield connections that a person exported from QGIS: one element each, named after the kind."""
    for connection in root.iter("{*}wms", "{*}wfs", "{*}wcs"):
        if href := address_in(connection.get("url") or ""):
            name = connection.get("name") or ""
            yield link(href, "qgis", names=[name], descriptions=[], kind=local_name(connection).lower())


def is_connections(name: str) -> bool:
    """Return whether a root element of this name (lower case) contains connections of QGIS."""
    return name in _CONNECTION_ENDS


def _address_in_source(source: str) -> str:
    if quoted := _QUOTED_URL.search(source):
        return address_in(quoted[1])
    if "url=" in source and not source.lower().startswith("http"):
        return address_in(dict(parse_qsl(source)).get("url", ""))
    return address_in(source) if source.lower().startswith("http") else ""


def read_gdal_service(root: etree._Element) -> Iterator[RawLink]:
    """Yield the server of GDAL's description of a service: `<GDAL_WMS><Service name="WMS"><ServerUrl>…`."""
    service = first(root, "Service")
    named = service.get("name") or "" if service is not None else ""
    for name in ("ServerUrl", "ServerURL", "ServiceURL", "ServiceUrl", "GetCapabilitiesUrl", "URL"):
        for element in root.iter(name):
            if (href := address_in(first_text(element, MAX_HREF_CHARS))) and "${" not in href:
                kind = kind_of_protocol(named) or kind_of_protocol(local_name(root).replace("_", " "))
                yield link(href, "gdal", names=[first_text(first(root, "Layers")), named], descriptions=[], kind=kind)


def read_kml(root: etree._Element) -> Iterator[RawLink]:
    """Yield the addresses that a KML document loads: network links, overlays, icons (OGC 12-007r2, 9.2, 11.2, 12.1)."""
    for element in root.iter("{*}href"):
        parent = element.getparent()
        above = parent.getparent() if parent is not None else None
        if parent is None or above is None or local_name(parent) not in ("Link", "Url", "Icon", "href"):
            continue
        if local_name(parent) == "Icon" and local_name(above) not in ("GroundOverlay", "PhotoOverlay"):
            continue  # a marker's picture
        # viewFormat is part of the request; a relative address belongs to the page's own site
        href = first_text(element, MAX_HREF_CHARS)
        descriptions = [first_text(child(above, "description"))]
        yield link(href, "kml", names=[first_text(child(above, "name"))], descriptions=descriptions, kind="")
