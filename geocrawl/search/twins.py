"""Recognise services of one server that offer the same content by several protocols.

ArcGIS Server publishes a map as `/arcgis/rest/services/A/MapServer` and as `/arcgis/services/A/MapServer/WMSServer`;
GeoServer and others answer as WMS and WFS at paths that differ in the last word only.
"""

from __future__ import annotations

import re

_ESRI = re.compile(
    r"^(?P<site>[^?]*?)(?:/rest)?/services/(?P<name>[^?]+?)/(?:map|feature|image|wms|wfs|wcs)server(?:/[a-z0-9]*server)?"
    r"(?:/\d+)?/?(?:[?].*)?$",
    re.I,
)
_LAST_WORD = re.compile(r"/(?:gwc/service/)?(?:ows|wms|wfs|wmts|wcs|csw|wps|tms)/?$", re.I)


def server_of(key: str) -> str:
    """Return a text that is the same for endpoints of one server with the same content; '' when nothing tells.

    `key` is an endpoint's identity (`urls.endpoint_key`): its address without scheme.
    """
    if "/services/" in key.lower() and (esri := _ESRI.match(key)):  # the pattern is slow
        return f"{esri['site']}/{esri['name']}".lower()
    path, _, query = key.partition("?")
    stem = _LAST_WORD.sub("", path)
    if stem == path:
        return ""
    return f"{stem}?{query}".lower()
