"""Services: candidates, what was proved of them, and how a verdict is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from geocrawl.model.web import Url

if TYPE_CHECKING:
    from shapely.geometry import Polygon


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
    SENSORTHINGS = "sensorthings"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address at which a service may answer, freed of the parameters of any single request."""

    kind: Kind
    key: str
    """Identity: lower-case host, no default port, parameter names without case, sorted; values and path keep theirs."""
    url: Url
    """To show and export: the address without request parameters, vendor parameters (map=, tokens) kept."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why we believe that an endpoint exists."""

    signal: str
    """How it was found: query, path, form, redirect, document, text, given …"""
    page: str = ""
    """Address of the page that named it."""
    link: str = ""
    """The address as it stood there."""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible endpoint with evidence."""

    endpoint: Endpoint
    evidence: Evidence
    weak: bool = False
    """Known by its path alone, so it may be an ordinary page: visited as one if the probe finds HTML there."""


class Status(StrEnum):
    VALID = "valid"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A departure from the standard that was tolerated."""

    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer or a group of layers (WMS 1.3.0, 7.2.4.6). Holds what it states itself; the rest is inherited."""

    name: str
    """'' for a group that cannot be asked for."""
    title: str
    abstract: str = ""
    parent: int | None = None
    """Index of the group above it in `Service.layers`; None for a root."""
    crs: tuple[str, ...] = ()
    """Its own list only; what the groups above it state is inherited and stored there."""
    box: Polygon | None = None
    """Its own WGS 84 extent, x = longitude, y = latitude, degrees; None: inherited or unknown."""
    styles: tuple[str, ...] = ()
    queryable: bool = False
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """What answers at an endpoint, as its capabilities describe it."""

    kind: Kind
    version: str
    title: str
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    provider: str = ""
    contact: Mapping[str, str] = field(default_factory=dict)
    """person, organization, position, email, phone, address, city, country — those that were given."""
    fees: str = ""
    access_constraints: str = ""
    formats: tuple[str, ...] = ()
    """Formats of GetMap."""
    online_resource: str = ""
    layers: tuple[Layer, ...] = ()
    """Groups before their children."""
    fingerprint: str = ""
    """Hash of the described content: the same at two addresses when one service answers at both."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of an interview: what the endpoint is, with evidence."""

    status: Status
    reason: str
    """'ok' when valid, else a code: exception, html, not-capabilities, other-kind, truncated, http-404, protected,
    moved, empty, or a FailureCode."""
    service: Service | None = None
    deviations: tuple[Deviation, ...] = ()
    http_status: int | None = None
    content_type: str = ""
    first_bytes: str = ""
    """The first 200 characters of the decisive answer, control characters replaced."""
    detail: str = ""
    elapsed_ms: float = 0.0
    """Of the decisive request."""
    requests: int = 0
    moved_to: Url | None = None
    """Where a redirect to another host leads; that address is a candidate of its own."""
