"""Define candidates, verdicts, descriptions of valid services, and results of content checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from geocrawl.model.kinds import Kind
from geocrawl.model.web import Deviation, Link, Url, Validators

if TYPE_CHECKING:
    from shapely.geometry import Polygon

    from geocrawl.model.times import Times

ANSWER = "answer"
"""`Evidence.signal` of an endpoint that a service's answer named."""
GUESS = "guess:"
"""Beginning of the signal of an endpoint that is guessed beneath a portal; the rest is the key of its software."""
SIBLING = "sibling"
"""`Evidence.signal` of an endpoint that is guessed because another kind answers at such an address."""
_GOLDEN = (5**0.5 - 1) / 2
"""Multiples of the golden ratio, without their whole parts, lie evenly in 0…1 (Weyl's equidistribution theorem)."""


class Item(StrEnum):
    """The type of a service's content items: layers, or their counterpart in other kinds."""

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
    """Address for display and export, without request parameters, with vendor parameters (map=, tokens)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The reason to believe that an endpoint exists."""

    signal: str
    """Sign by which the endpoint was found: query, path, form, redirect, document, text, given …"""
    page: str = ""
    """Address of the page that named it."""
    link: str = ""
    """The address as the page writes it."""
    anchor: str = ""
    times: Times | None = None
    """The time that the data is of, as far as the page is a record that states one."""

    @property
    def is_guess(self) -> bool:
        """Return whether nobody named the endpoint: it was guessed from another one of the server, or from a portal."""
        return self.signal == SIBLING or self.signal.startswith(GUESS)


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
class Dimension:
    """A dimension of a layer besides the plane (WMS 1.3.0, annex C): time, elevation, a model run …"""

    name: str
    default: str = ""
    """Value that a server takes where a request has none; '' when requests must have one."""
    first: str = ""
    """First value of the extent, or the start of its first interval."""
    last: str = ""
    """Last value of the extent, or the end of its last interval."""
    step: str = ""
    """Step of the first interval; '' for a list of values."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A content item: a layer or a group of layers (WMS 1.3.0, 7.2.4.6), a feature type, a coverage, a collection …

    Only properties that the item states itself are stored; others are inherited from the group above.
    """

    name: str
    """Name for requests; '' for a group that cannot be requested."""
    title: str
    abstract: str = ""
    parent: int | None = None
    """Index of the group above it in `Service.layers`; None for a root."""
    crs: tuple[str, ...] = ()
    """Reference systems of this layer alone; those that a group states are inherited and stored with the group."""
    box: Polygon | None = None
    """Its own WGS 84 extent, x = longitude, y = latitude, degrees; None: inherited or unknown."""
    bounds: tuple[str, float, float, float, float] | None = None
    """Its first extent in a reference system, as stated: code, then the sides in the order of BBOX. Not stored."""
    dimensions: tuple[Dimension, ...] = ()
    """Its own dimensions. Not stored."""
    times: Times | None = None
    """The time that its data is of, as far as it states one itself."""
    scales: tuple[float, float] | None = None
    """Least and greatest scale denominator at which it is drawn, of tiles those of their levels; 0 and infinite where
    one is not stated; None when it states none."""
    terms: str = ""
    """Text in which it states its own licence; '' for none, where that of the service holds. Not stored."""
    styles: tuple[str, ...] = ()
    queryable: bool = False
    keywords: tuple[str, ...] = ()
    item: Item = Item.LAYER
    formats: tuple[str, ...] = ()
    """Formats of this item alone, if the kind states formats for each item; else those of the service apply."""
    namespace: str = ""
    """XML namespace of the prefix in a feature type's name; '' without a prefix or when unknown. Not stored."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service that answers at an endpoint, as its capabilities describe it."""

    kind: Kind
    version: str
    title: str
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    provider: str = ""
    contact: Mapping[str, str] = field(default_factory=dict)
    """person, organization, position, email, phone, address, city, country, as far as stated."""
    fees: str = ""
    access_constraints: str = ""
    formats: tuple[str, ...] = ()
    """Output formats of the service: of GetMap, GetFeature, GetTile …"""
    online_resource: str = ""
    language: str = ""
    """Language in which the document says that it is written, as it spells the code. Not stored."""
    content_address: str = ""
    """Address that the document gives for requests of content (GetMap, GetFeature), as written; '' for none. Not
    stored."""
    lower_case_names: bool = False
    """Whether the server knows parameters by names in lower case alone. Not stored."""
    layers: tuple[Layer, ...] = ()
    """Layers, groups before their children."""
    times: Times | None = None
    """The time that its data is of by records that name it; that of layers goes before."""
    fingerprint: str = ""
    """Hash of the described content: equal at two addresses of one service."""
    read_by: str = "geocrawl"
    """Which reader read its description: 'owslib', or 'geocrawl'."""

    def ancestry(self, layer: Layer) -> Iterator[Layer]:
        """Yield a layer of the service, then the groups above it, from which it inherits."""
        yield layer
        parent, most = layer.parent, len(self.layers)
        while parent is not None and most > 0:
            layer, most = self.layers[parent], most - 1
            yield layer
            parent = layer.parent

    def narrowed_to(self, layer: Layer) -> Service:
        """Return the service with one layer alone, below the groups that it inherits from, which cannot be
        requested."""
        line = reversed([layer, *(replace(group, name="") for group in list(self.ancestry(layer))[1:])])
        return replace(self, layers=tuple(replace(each, parent=at - 1 if at else None) for at, each in enumerate(line)))

    def one_in_turn(self, turn: int) -> Service:
        """Return the service with one layer alone that is no group: over many turns, also over those that follow each
        other at equal steps, each layer comes as often as any other."""
        groups = {layer.parent for layer in self.layers}
        leaves = [layer for at, layer in enumerate(self.layers) if layer.name and at not in groups]
        return self.narrowed_to(leaves[int(len(leaves) * (turn * _GOLDEN % 1.0))]) if leaves else self


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of an interview, with evidence."""

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
    """Target of a redirect to another host, which becomes a separate candidate."""
    leads: tuple[Candidate, ...] = ()
    """Other endpoints that the answer names (an ArcGIS folder's services, a MapServer's WMS) or makes likely (the WFS
    next to a WMS).
    """
    pages: tuple[Link, ...] = ()
    """Pages of records that a catalogue has (the first GetRecords, `/collections/…/items`): read like any page."""
    validators: Validators | None = None
    """ETag and Last-Modified of the answer, where one answer made the service valid and had any."""
    retry_after_s: float | None = None
    """Seconds until the endpoint may be asked again, by the Retry-After of the last answer; None without one."""
    filter: str = ""
    """By what an invalid answer shows that a filter refuses us and hides the service; '' when it does not."""


class Level(StrEnum):
    """The proven ability of a service, beyond its capabilities."""

    ADVERTISED = "advertised"
    """Capabilities only: no content was requested, or no request was answered."""
    ANSWERS = "answers"
    """An image (a tile, a feature, a record) came back, but it shows no content: blank, of the wrong size …"""
    DELIVERS = "delivers"
    """Content for at least one item."""


class ContentOutcome(StrEnum):
    """The outcome of one request for content."""

    OK = "ok"
    BLANK = "blank"
    """One colour or fully transparent; a feature collection or a list of records without members."""
    EXCEPTION = "exception"
    NOT_AN_IMAGE = "not-an-image"
    """Neither an image (feature, record …) nor an exception."""
    IMAGE_ERROR_TEXT = "image-error-text"
    """An image with the error message drawn in it."""
    WRONG_SIZE = "wrong-size"
    AXIS_ORDER = "axis-order"
    """Content is delivered only when the axes are in the wrong order for this version."""
    TIMEOUT = "timeout"
    HTTP_ERROR = "http-error"
    REFUSED = "refused"
    """Refused by robots.txt, by the address guard, or by a budget."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request for content: an entry of the content report."""

    layer: str
    """Name of the requested item."""
    crs: str
    outcome: ContentOutcome
    milliseconds: float
    detail: str = ""
    """One line: text of the exception, size of the image, number of colours."""
    url: str = ""
    zoom: int | None = None
    """Zoom level of a tile by its scale, where 0 is the world in one tile of 256 pixels in Web Mercator, as in maps of
    the web; None for other content and for tiles of another grid."""


class Field(NamedTuple):
    """A field of the features of a layer."""

    name: str
    type: str = ""
    """As the service names it, without prefixes and in lower case: string, double, date …"""
    alias: str = ""
    """Its name for people, where that is another one."""


@dataclass(frozen=True, slots=True)
class ContentReport:
    """The result of a content check of a valid service."""

    level: Level
    attempts: tuple[Attempt, ...] = ()
    https: bool | None = None
    """Whether the service answers over HTTPS; None: unknown."""
    cors: str = ""
    """Access-Control-Allow-Origin as answered to a request with an Origin; '' when there was none."""
    thumbnail: bytes = b""
    """A small PNG of the first content, at most 32 KiB; empty without content."""
    fields: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    """Name of a layer → the fields of its features, of those layers whose fields the service told."""
