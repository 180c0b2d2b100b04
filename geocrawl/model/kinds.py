"""Kinds of service: their names."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """Service kinds, as the catalogue and its exports spell them."""

    WMS = "wms"
    WFS = "wfs"
    WMTS = "wmts"
    WCS = "wcs"
    CSW = "csw"
    WPS = "wps"
    SOS = "sos"
    TMS = "tms"
    WMSC = "wmsc"
    TILEJSON = "tilejson"
    ARCGIS = "arcgis"
    OGCAPI = "ogcapi"
    STAC = "stac"


def stored_kind(name: str) -> Kind:
    """Return the kind that a database calls `name`.

    A kind that only former versions knew (`sensorthings`, which had no probe) was asked as a WMS, and still is.
    """
    try:
        return Kind(name)
    except ValueError:
        return Kind.WMS
