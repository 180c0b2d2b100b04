"""Find the endpoints to which an ArcGIS document leads: services of a folder, OGC services, the service of a layer.

Folders are one level deep (ArcGIS REST API, Catalog), so only the root leads to folders, and a server that lists
folders without end is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from geocrawl.formats.json import JsonObject, line_of, lines, list_of, objects
from geocrawl.model import Candidate, Kind, Url
from geocrawl.probe.arcgis.reader import Form, form_of
from geocrawl.probe.leads import lead
from geocrawl.urls import read_url

MAX_LEADS = 2_000
"""Most leads of one folder: large servers list some thousands of services."""
_ROOT = re.compile(r"(.{0,2000}?/rest)/services(/.*)?\Z", re.IGNORECASE)
_READABLE = frozenset({"MapServer", "ImageServer", "FeatureServer"})
"""Types of services that have a map, an image or features; the others (GPServer, GeocodeServer …) are only listed."""
_OFFERED = {"WMSServer": Kind.WMS, "WFSServer": Kind.WFS, "WCSServer": Kind.WCS}


def leads_of(value: JsonObject, url: Url) -> tuple[Candidate, ...]:
    """Return candidates that a document at `url` names, at most `MAX_LEADS`."""
    place = url.address.partition("?")[0].rstrip("/")
    root = _ROOT.match(place)
    if root is None:
        return ()
    form = form_of(value)
    if form is Form.FOLDER:
        found = _of_folder(value, root[1], is_root=not (root[2] or "").strip("/"))
    elif form is Form.LAYER:
        found = iter(((Kind.ARCGIS, place.rpartition("/")[0], ""),))
    else:
        found = _of_service(value, place, root[1], root[2] or "")
    named = ((kind, read_url(address), anchor) for kind, address, anchor in found)
    return tuple(lead(kind, target, url, anchor) for kind, target, anchor in islice(named, MAX_LEADS) if target)


def _of_folder(value: JsonObject, rest: str, *, is_root: bool) -> Iterator[tuple[Kind, str, str]]:
    """Yield kind, address and name of each service that can be read, then of each folder.

    Names begin with the name of the folder.
    """
    for service in objects(value.get("services")):
        name, type_ = line_of(service.get("name")), line_of(service.get("type"))
        if name and type_ in _READABLE:
            yield Kind.ARCGIS, f"{rest}/services/{name}/{type_}", name
    for folder in map(line_of, list_of(value.get("folders")) if is_root else []):
        if folder:
            yield Kind.ARCGIS, f"{rest}/services/{folder}", folder


def _of_service(value: JsonObject, place: str, rest: str, name: str) -> Iterator[tuple[Kind, str, str]]:
    """Yield the addresses of the same data: by OGC's kinds below `/services`, by Esri's below `/rest/services`."""
    extensions = lines(value.get("supportedExtensions"))
    for extension, kind in _OFFERED.items():
        if extension in extensions:
            yield kind, f"{rest[: -len('/rest')]}/services{name}/{extension}", extension
    if "FeatureServer" in extensions and place.endswith("/MapServer"):
        yield Kind.ARCGIS, f"{place[: -len('MapServer')]}FeatureServer", "FeatureServer"
    if value.get("singleFusedMapCache") is True:
        yield Kind.WMTS, f"{place}/WMTS/1.0.0/WMTSCapabilities.xml", "WMTS"
