"""The domain's words: frozen values that pass between rooms, with no behaviour beyond their own invariants.

One meaning each, everywhere: code, database, command line and docs (see docs/words.md). Times are seconds
since the Unix epoch, UTC, as floats; durations carry their unit in the name (`_s`, `_ms`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from shapely.geometry import Polygon

# --------------------------------------------------------------------------- addresses and links


class Url(NamedTuple):
    """One web address in its two texts (made by `geocrawl.urls.read_url`, nowhere else).

    `identity` is the canonical text: two spellings of one page have the same identity. `address` is what is
    asked on the wire and keeps the site's own escaping byte for byte. A named tuple rather than a dataclass,
    because thousands are made a second.
    """

    identity: str
    address: str
    scheme: str
    host: str
    """Lower-case host name (IDNA) or literal address, without port: what politeness is counted by."""
    origin: str
    """scheme://host[:port], default port left out: what a robots.txt speaks for (RFC 9309)."""
    site: str
    """Registered domain by the public suffix list; the host itself when it has none."""


class Link(NamedTuple):
    """A link as a page writes it."""

    url: Url
    anchor: str = ""
    """Text between the tags, with alt and title of images inside; white space folded."""
    context: str = ""
    """Neighbouring text outside the anchor, white space folded, bounded."""
    rel: str = ""
    where: str = "a"
    """The element that carries it: a, area, frame, iframe, link, meta-refresh, form, redirect, seed, xml, sitemap …"""


class Relevance(IntEnum):
    """How near a page or a link is to the topic (gws eq. 2 and 3)."""

    NONE = 0
    SOME = 1
    HIGH = 2


class Rank(NamedTuple):
    """Where a link stands in the frontier: the higher tier first, then the higher score, then the first seen."""

    tier: int
    score: float = 0.0


# --------------------------------------------------------------------------- fetching


class Purpose(StrEnum):
    """What a request is for: it decides the limits on its body and which content types are read."""

    PAGE = "page"
    PROBE = "probe"
    ROBOTS = "robots"


class FailureCode(StrEnum):
    """Why there is no answer, by cause."""

    DNS = "dns"
    REFUSED = "refused"
    TLS = "tls"
    TIMEOUT_CONNECT = "timeout-connect"
    TIMEOUT_READ = "timeout-read"
    TIMEOUT_TOTAL = "timeout-total"
    RESET = "reset"
    BAD_HTTP = "bad-http"
    HEADER_LIMIT = "header-limit"
    BODY_LIMIT = "body-limit"
    RATIO = "ratio"
    TRUNCATED = "truncated"
    REDIRECT_LOOP = "redirect-loop"
    GUARD = "guard"
    PROXY = "proxy"
    ROBOTS = "robots"
    WRONG_TYPE = "wrong-type"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Page:
    """An answer of a web server, whatever its status."""

    url: Url
    """What was asked for first."""
    final: Url
    """What answered, after the redirects that were followed."""
    status: int
    headers: Mapping[str, str]
    """Lower-case names; a repeated field's values are joined by ', '."""
    body: bytes
    """Decoded by Content-Encoding; empty for a redirect that was not followed."""
    elapsed_ms: float
    fetched_at: float
    hops: tuple[Url, ...] = ()
    """The redirects followed, in order, `final` last; empty when none was."""
    location: Url | None = None
    """Target of a redirect that was not followed (another host, or the caller declined it)."""
    sent_bytes: int = 0
    """Bytes of the body on the wire, before decoding."""

    @property
    def content_type(self) -> str:
        """The media type without parameters, lower case; '' when the server named none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, or none that may be read: a value, not an exception."""

    url: Url
    code: FailureCode
    detail: str
    """One line for a person: what happened, to which address or limit."""
    elapsed_ms: float = 0.0
    retry_after_s: float | None = None
    status: int | None = None
    """HTTP status, when there was one before the failure."""


@dataclass(frozen=True, slots=True)
class HostState:
    """What politeness knows of a host; stands in the database, so it holds over processes and restarts."""

    name: str
    next_at: float = 0.0
    """No request before this time."""
    errors: int = 0
    """Host-level errors in a row (connection failures, 429, 502, 503, 504)."""
    last_error_at: float = 0.0
    crawl_delay_s: float | None = None
    """From robots.txt, when it names one."""


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What an origin answered for /robots.txt. `body` is None when it could not be had (RFC 9309, 2.3.1.4)."""

    origin: str
    status: int | None
    body: str | None
    fetched_at: float
    expires_at: float


# --------------------------------------------------------------------------- pages understood


@dataclass(frozen=True, slots=True)
class Document:
    """A page understood: what the strategies, the recognition and the catalogue need of it."""

    url: Url
    depth: int
    status: int
    content_type: str
    encoding: str
    title: str
    text: str
    """Visible body text, scripts and styles removed, white space folded."""
    links: tuple[Link, ...] = ()
    """In document order; one link may stand several times with different anchors."""
    nofollow: bool = False
    """meta robots or X-Robots-Tag says nofollow: `links` is then empty."""
    noindex: bool = False
    language: str = ""
    """From <html lang> or Content-Language, lower case; '' when unnamed."""
    xml_root: str = ""
    """Local name of the root element when the body is XML, else ''."""
    headline: str = ""
    """The most likely headline (`page.headline`); the title where none stands out. '' when nobody asked for it."""
    prose: str = ""
    """`text` without the anchors of its links, bounded like it; '' when nobody asked for it."""
    anchor_chars: int = 0
    """Characters of those anchors, white space folded; 0 when nobody asked for `prose`."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a strategy thinks of a document and its links."""

    relevance: Relevance
    score: float
    """The strategy's own page figure; for gws r = cos(T, P), 0…1."""
    ranks: tuple[Rank | None, ...]
    """One for each of `Document.links`, in order; None drops the link."""
    memo: bytes = b""
    """What the strategy wants to be given back with the visit's `Lesson`; b"" for one that does not learn."""


# --------------------------------------------------------------------------- services


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


# --------------------------------------------------------------------------- the frontier


class State(StrEnum):
    """Life of a URL in the frontier."""

    WAITING = "waiting"
    LEASED = "leased"
    VISITED = "visited"
    FAILED = "failed"
    TOO_DEEP = "too-deep"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the frontier on its way to a worker."""

    id: int
    purpose: Purpose
    url: Url
    """For a probe: the endpoint's address."""
    depth: int
    rank: Rank
    attempts: int
    """Earlier attempts that failed."""
    hops: int = 0
    """Redirects between hosts that led here."""
    candidate: Candidate | None = None
    """Set when purpose is probe."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One entry and, with it, its host: nobody else asks that host until the lease is settled or expires."""

    entry: Entry
    host: HostState
    token: int
    """Fencing number: a settlement with an outdated one is ignored."""
    until: float


@dataclass(frozen=True, slots=True)
class RankedLink:
    """A link on its way into the frontier."""

    link: Link
    rank: Rank
    refused: str = ""
    """A reason (stop:media, trap:calendar …): recorded, never visited."""
    same_depth: bool = False
    """A redirect's target stands as deep as its source."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page that is kept for its topic."""

    encoding: str
    """As the Encoding Standard spells it."""
    body: bytes
    """As it was answered, decoded by Content-Encoding, compressed by zlib."""


@dataclass(frozen=True, slots=True)
class Visit:
    """All that one lease brought: settled in one transaction."""

    lease: Lease
    state: State
    """visited, failed or refused."""
    reason: str
    """'ok', or a code: http-404, a FailureCode, wrong-type …"""
    host: HostState
    at: float
    final: Url | None = None
    http_status: int | None = None
    content_type: str = ""
    size_bytes: int = 0
    elapsed_ms: float = 0.0
    title: str = ""
    relevance: Relevance = Relevance.NONE
    score: float = 0.0
    links: tuple[RankedLink, ...] = ()
    candidates: tuple[tuple[Candidate, RankedLink | None], ...] = ()
    """Each with its link when it is weak and may turn out to be a page."""
    verdict: Verdict | None = None
    """Set when the lease was for a probe."""
    retry_after_s: float | None = None
    """Ask again after this long, if attempts are left; None: never."""
    memo: bytes = b""
    """`Judgement.memo`."""
    learnt: bytes | None = None
    """The strategy's dump before this visit's lesson, when it is time to keep one."""
    stored: StoredPage | None = None
    """The page itself, when it passed the page filter."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a strategy may learn from one settled visit.

    Lessons stand in the database until the strategy's next dump covers them, so a dump and the lessons after it, fed
    again in order, give the strategy back as it was, whenever the process was killed.
    """

    number: int
    """Order of settlement."""
    entry_id: int
    purpose: Purpose
    depth: int
    found_on: int | None
    """Frontier id of the page whose link led here; None for what a person gave."""
    state: State
    reason: str
    valid: bool | None = None
    """The verdict of a probe; None for a page, or when robots.txt forbade the question."""
    links: tuple[tuple[str, int], ...] = ()
    """(identity, frontier id) of a page's links that were kept, in the page's order, each once."""
    memo: bytes = b""


@dataclass(frozen=True, slots=True)
class Settled:
    """What a settlement did."""

    new_links: int = 0
    new_candidates: int = 0
    ignored: bool = False
    """The lease was no longer ours; nothing was written."""
    lesson: Lesson | None = None
    """For a strategy that learns."""


@dataclass(frozen=True, slots=True)
class FrontierStats:
    """Counts for status and progress."""

    states: Mapping[State, int]
    """Pages by state (probes not counted)."""
    waiting_by_tier: Mapping[int, int]
    probes_waiting: int
    hosts: int
    hosts_resting: int
    """Hosts with work whose next allowed time is more than a minute off."""
