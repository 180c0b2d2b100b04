"""Services: candidates, verdicts, what a valid service describes, and what it delivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from geocrawl.model.kinds import Kind
from geocrawl.model.web import Link, Url, Validators

if TYPE_CHECKING:
    from shapely.geometry import Polygon


SIBLING = "sibling"
"""`Evidence.signal` of an endpoint that is asked because another kind answers at such an address."""


class Item(StrEnum):
    """What the content items of a service are: layers, or what other kinds have in their place."""

    LAYER = "layer"
    """WMS, WMTS, TMS, ArcGIS MapServer and ImageServer."""
    FEATURE_TYPE = "feature-type"
    COVERAGE = "coverage"
    COLLECTION = "collection"
    """OGC API, STAC."""
    PROCESS = "process"
    OFFERING = "offering"
    """SOS: observation offerings."""
    RECORD_TYPE = "record-type"
    """CSW: types of record."""
    FOLDER = "folder"
    """ArcGIS: services and folders that a folder lists; STAC: child catalogues."""


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
    """Whether an endpoint answers as a service of its kind."""

    VALID = "valid"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A departure from the standard that was tolerated."""

    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """A content item: a layer or a group of layers (WMS 1.3.0, 7.2.4.6), a feature type, a coverage, a collection …

    Holds what it states itself; the rest is inherited from the group above it.
    """

    name: str
    """'' for a group that cannot be asked for."""
    title: str
    abstract: str = ""
    parent: int | None = None
    """Index of the group above it in `Service.layers`; None for a root."""
    crs: tuple[str, ...] = ()
    """Of this layer alone; what a group states is inherited and stored with the group."""
    box: Polygon | None = None
    """Its own WGS 84 extent, x = longitude, y = latitude, degrees; None: inherited or unknown."""
    bounds: tuple[str, float, float, float, float] | None = None
    """Its first extent in a reference system, as stated: code, then the sides in the order of BBOX. Not stored."""
    styles: tuple[str, ...] = ()
    queryable: bool = False
    keywords: tuple[str, ...] = ()
    item: Item = Item.LAYER
    formats: tuple[str, ...] = ()
    """Of this item alone, where the kind states formats for each item; else those of the service count."""


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
    """Formats of what the service gives: of GetMap, GetFeature, GetTile …"""
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
    """Duration of the decisive request."""
    requests: int = 0
    moved_to: Url | None = None
    """Where a redirect to another host leads; that address is a candidate of its own."""
    leads: tuple[Candidate, ...] = ()
    """Other endpoints that the answer names (an ArcGIS folder's services, a MapServer's WMS) or makes likely (the WFS
    beside a WMS)."""
    pages: tuple[Link, ...] = ()
    """Pages of records that a catalogue has (the first GetRecords, `/collections/…/items`): read like any page."""
    validators: Validators | None = None
    """ETag and Last-Modified of the answer, where one answer made the service valid and had any."""
    retry_after_s: float | None = None
    """Seconds until the endpoint may be asked again, by the Retry-After of the last answer; None without one."""


class Level(StrEnum):
    """What a service was seen to do, beyond its capabilities."""

    ADVERTISED = "advertised"
    """Capabilities only: nothing was asked for, or nothing was answered."""
    ANSWERS = "answers"
    """An image (a tile, a feature, a record) came back, but it shows no content: blank, of the wrong size …"""
    DELIVERS = "delivers"
    """Content for at least one item."""


class ContentOutcome(StrEnum):
    """What one request for content brought."""

    OK = "ok"
    BLANK = "blank"
    """One colour or fully transparent; a feature collection or a list of records without members."""
    EXCEPTION = "exception"
    NOT_AN_IMAGE = "not-an-image"
    """Neither an image (feature, record …) nor an exception."""
    IMAGE_ERROR_TEXT = "image-error-text"
    """An image in which the exception is written."""
    WRONG_SIZE = "wrong-size"
    AXIS_ORDER = "axis-order"
    """Content comes only when the axes are given in the order that is wrong for this version."""
    TIMEOUT = "timeout"
    HTTP_ERROR = "http-error"
    REFUSED = "refused"
    """By robots.txt, by the address guard, or by a budget."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request for content: an entry of the content report."""

    layer: str
    """Name of the item asked for."""
    crs: str
    outcome: ContentOutcome
    milliseconds: float
    detail: str = ""
    """One line: text of the exception, size of the image, number of colours."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class ContentReport:
    """What came of asking a valid service for content."""

    level: Level
    attempts: tuple[Attempt, ...] = ()
    https: bool | None = None
    """Whether it answers over HTTPS; None: not asked."""
    cors: str = ""
    """Access-Control-Allow-Origin as answered to a request with an Origin; '' when there was none."""
    thumbnail: bytes = b""
    """A small PNG of the first content, at most 32 KiB; empty when there is none."""
