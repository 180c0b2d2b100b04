"""Guess which kinds answer next to a valid service, by the form of address that its server software has.

A guess costs requests, so only likely ones are made: kinds that the software offers by default, at their default
addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from geocrawl.model import Candidate, Endpoint, Evidence, Kind, Url
from geocrawl.urls import read_url, service_endpoint


@dataclass(frozen=True, slots=True)
class Beside:
    """A form of address, and the addresses of other kinds next to it."""

    software: str
    path: re.Pattern[str]
    """Pattern that is searched in the path, case-sensitive."""
    others: tuple[tuple[Kind, str], ...]
    """Kind and the path in place of the match (`\\1` …), the likeliest first; `\\g<0>`: the same address."""


_SAME = r"\g<0>"


def _beside(software: str, path: str, *others: tuple[Kind, str]) -> Beside:
    return Beside(software, re.compile(path, re.IGNORECASE), others)


_FORMS = (
    _beside(
        "ArcGIS Server",
        r"/services(/.+/(?:Map|Image)Server)/W[MFC]SServer/?\Z",
        (Kind.ARCGIS, r"/rest/services\1"),
    ),
    _beside(
        "GeoServer, one address for all its services",
        r"(/geoserver)/ows/?\Z",
        (Kind.WMS, _SAME),
        (Kind.WFS, _SAME),
        (Kind.WCS, _SAME),
        (Kind.WMTS, r"\1/gwc/service/wmts"),
    ),
    _beside(
        "GeoServer, an address for each service",
        r"(/geoserver)/(?:wms|wfs|wcs)/?\Z",
        (Kind.WMS, r"\1/wms"),
        (Kind.WFS, r"\1/wfs"),
        (Kind.WCS, r"\1/wcs"),
        (Kind.WMTS, r"\1/gwc/service/wmts"),
    ),
    _beside(
        "GeoServer, one address for all services of a workspace",
        r"/geoserver(?:/[^/]+){1,2}/ows/?\Z",
        (Kind.WMS, _SAME),
        (Kind.WFS, _SAME),
    ),
    _beside(
        "GeoServer, a workspace: coverages and tiles are seldom its own",
        r"(/geoserver(?:/[^/]+){1,2})/(?:wms|wfs|wcs)/?\Z",
        (Kind.WMS, r"\1/wms"),
        (Kind.WFS, r"\1/wfs"),
    ),
    _beside(
        "GeoWebCache",
        r"(/gwc/service)/(?:wmts|wms|tms/1\.0\.0)/?\Z",
        (Kind.WMTS, r"\1/wmts"),
        (Kind.WMSC, r"\1/wms"),
        (Kind.TMS, r"\1/tms/1.0.0"),
    ),
    _beside(
        "QGIS Server",
        r"/qgis[-_]?(?:server|mapserv)(?:\.fcgi|\.cgi)?(?:/[^/.]+)?/?\Z",
        (Kind.WMS, _SAME),
        (Kind.WFS, _SAME),
        (Kind.WCS, _SAME),
        (Kind.WMTS, _SAME),
    ),
    _beside("Lizmap", r"/index\.php/lizmap/service/?\Z", (Kind.WMS, _SAME), (Kind.WFS, _SAME), (Kind.WMTS, _SAME)),
    _beside(
        "MapServer",
        r"/mapserv(?:er)?[0-9_.]{0,6}(?:\.exe|\.fcgi|\.cgi)?(?:/[^/]+)?/?\Z",
        (Kind.WMS, _SAME),
        (Kind.WFS, _SAME),
        (Kind.WCS, _SAME),
    ),
    _beside("all services of one program", r"/(?:ows|wxs)/?\Z", (Kind.WMS, _SAME), (Kind.WFS, _SAME)),
    _beside(
        "MapProxy",
        r"(/mapproxy(?:/[^/]+)?)/service/?\Z",
        (Kind.WMS, _SAME),
        (Kind.WMTS, _SAME),
        (Kind.TMS, r"\1/tms/1.0.0"),
        (Kind.WMSC, _SAME),
    ),
    _beside(
        "MapCache",
        r"(/mapcache)(?:/(?:wms|wmts|tms/1\.0\.0))?/?\Z",
        (Kind.WMS, r"\1/"),
        (Kind.WMTS, r"\1/wmts"),
        (Kind.TMS, r"\1/tms/1.0.0"),
        (Kind.WMSC, r"\1/"),
    ),
    _beside("THREDDS", r"(/thredds)/(?:wms|wcs)(/.+)\Z", (Kind.WMS, r"\1/wms\2"), (Kind.WCS, r"\1/wcs\2")),
    _beside(
        "deegree",
        r"/(?:deegree[a-z0-9-]*|[a-z0-9-]+-workspace)/services/?\Z",
        (Kind.WMS, _SAME),
        (Kind.WFS, _SAME),
        (Kind.CSW, _SAME),
    ),
    _beside(
        "pygeoapi, ldproxy and others: one landing page for both",
        r"/(?:pygeoapi|oapi|ogcapi|stac)/?\Z",
        (Kind.OGCAPI, _SAME),
        (Kind.STAC, _SAME),
    ),
)


def siblings_of(endpoint: Endpoint) -> Iterator[Candidate]:
    """Yield endpoints of other kinds next to a valid one, by the first form that fits its address."""
    path = endpoint.url.address[len(endpoint.url.origin) :].partition("?")[0]
    for form in _FORMS:
        found = form.path.search(path)
        if found is None:
            continue
        for kind, place in form.others:
            if kind is not endpoint.kind and (url := _at(endpoint.url, path, found, place)) is not None:
                yield Candidate(service_endpoint(kind, url), Evidence("sibling", endpoint.url.address, url.address))
        return


def _at(url: Url, path: str, found: re.Match[str], place: str) -> Url | None:
    """Return the address with the matched end of its path replaced; vendor parameters (`map=`) stay."""
    _, mark, query = url.address.partition("?")
    return read_url(url.origin + path[: found.start()] + found.expand(place) + mark + query)
