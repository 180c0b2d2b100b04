"""Define addresses, links, answers of web servers, and the documents and judgements that are made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

from geocrawl.model.times import Times


@dataclass(frozen=True, slots=True)
class Deviation:
    """A departure from the standard that was tolerated."""

    code: str
    detail: str = ""


class Url(NamedTuple):
    """One web address in its two texts (made by `geocrawl.urls.read_url`, nowhere else).

    `identity` is the canonical text: two spellings of one page have the same identity. `address` is requested byte for
    byte and keeps the site's own escaping. A named tuple rather than a dataclass, because thousands are made a second.
    """

    identity: str
    address: str
    scheme: str
    host: str
    """Lower-case host name (IDNA) or IP address, without port: the unit of politeness."""
    origin: str
    """scheme://host[:port] without the default port: the scope of a robots.txt (RFC 9309)."""
    site: str
    """Registered domain by the public suffix list; the host itself when it has none."""


class Link(NamedTuple):
    """A link as a page writes it."""

    url: Url
    anchor: str = ""
    """Text between the tags, with alt and title of images in it; white space folded."""
    context: str = ""
    """Text around the link, white space folded, at most 200 characters."""
    rel: str = ""
    where: str = "a"
    """Element of the link: a, area, frame, iframe, link, meta-refresh, form, redirect, seed, xml, sitemap …"""
    kind: str = ""
    """Kind of service, as spelt in `Kind`, that the page names next to the address; '' for none.

    `{type: "wms", url: …}`, `L.tileLayer.wms(…)`, the protocol OGC:WMS, "WMS service: …".
    """
    before: int = 0
    """Number of characters of `context` that stand before the link; descriptions in records and XML stand behind."""
    tag_path: str = ""
    """Tags from the page's body down to an `a` element; '' for other links, and unless the reader was asked for it."""
    record: int = -1
    """Number of the record that names the link, from 0, on a page of a list of records; -1 for any other link."""
    times: Times | None = None
    """The time that the data of the record is of that names the link; None for another link, or if it states none."""


ADDRESS_ONLY = frozenset(
    {"text", "script", "script-file", "json", "json-ld", "data-attribute", "microdata", "textarea", "input", "option"}
    | {"comment", "href"}
)
"""Values of `Link.where` for an address that is written but not linked: a candidate service, never a page to visit."""
SCRIPT_SRC = "script-src"
"""`Link.where` of a script or configuration that belongs to a page: visited, but read for addresses only."""
REFRESH = "meta-refresh"
"""`Link.where` of the address to which a page sends its readers on, by an element or a header."""
CONFIGURATION = "configuration"
"""`Link.where` of a file that a map viewer loads: visited with the rank of the page or file that names it."""
SITEMAP = "sitemap"
"""`Link.rel` of a link to a sitemap."""


class Relevance(IntEnum):
    """How near a page or a link is to the topic (gws eq. 2 and 3)."""

    NONE = 0
    SOME = 1
    HIGH = 2


LAMBDA = 0.7
"""Share of the link in a priority (gws eq. 4)."""


def priority(lambda_: float, link: Relevance, page: Relevance) -> float:
    """Return the priority by gws eq. 4: λ·link + (1−λ)·page, 0…2, rounded so that equal ones are equal numbers."""
    return round(lambda_ * link + (1.0 - lambda_) * page, 6)


class SubQueue(NamedTuple):
    """Names one of the 3×3 sub-queues by the level of a link (gws eq. 3) and that of the page with the link (eq. 2)."""

    link: Relevance
    page: Relevance

    @classmethod
    def read(cls, number: int) -> SubQueue:
        """Return the sub-queue of a number."""
        return cls(*map(Relevance, divmod(number, 3)))

    @property
    def number(self) -> int:
        """Return the place of the priority among the nine, from 0 for 0.0 to 8 for 2.0."""
        return 3 * self.link + self.page

    @property
    def priority(self) -> float:
        """Return the priority (gws eq. 4)."""
        return priority(LAMBDA, self.link, self.page)


FIRST_SUB_QUEUE = SubQueue(Relevance.HIGH, Relevance.HIGH).number
"""The sub-queue with the highest priority, in which start pages wait."""


class Rank(NamedTuple):
    """Order of a link in the frontier: the higher tier first, then the higher score, then the first seen."""

    tier: int
    score: float = 0.0


MOST_CANDIDATES = 5_000
"""Most candidates of a page. Writing 20,000 into the catalogue holds the event loop for three seconds."""
HARVEST_TIER = 900
"""The tier of a harvest's pages of records: above every strategy's tiers, because a harvest visits nothing else."""


LATE_TIER = -100
"""Tier below those of every strategy: addresses of patterns that brought nothing, served after all else."""

MISSING_FOLDER = "trap:folder"
"""Reason: pages of the address's folder were asked for, and all were missing."""
ENDLESS_SITEMAPS = "trap:sitemaps"
"""Reason: many sitemaps of the host were asked for, and named no page."""

BATCH_TIER = 500
"""The tier of the present batch of best-N-first, above every strategy's own tiers."""


class Purpose(StrEnum):
    """The purpose of a request, which determines the limits on its body and the media types that are read."""

    PAGE = "page"
    PROBE = "probe"
    MAP = "map"
    """Content of a service: an image, a tile, a feature."""
    ROBOTS = "robots"
    DATA = "data"
    """Purpose of requests for data and scripts that a page's scripts make in a browser."""


class FailureCode(StrEnum):
    """The cause of a missing answer."""

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
    """The proxy does not answer, or wants a password: no server's failure (`errors.OwnFault`)."""
    MACHINE = "machine"
    """This machine lacks open files, memory, threads, ports or disk: no server's failure (`errors.OwnFault`)."""
    ROBOTS = "robots"
    WRONG_TYPE = "wrong-type"
    DATE = "date"
    BUDGET = "budget"
    """The limit of requests is reached; nothing was sent."""
    DENY = "deny"
    """On the operator's deny list; nothing was sent."""
    ALLOW = "allow"
    """Not on the operator's allow list; nothing was sent."""
    FORGOTTEN = "forgotten"
    """The host opted out (`geocrawl forget`); nothing was sent."""
    RESTING = "resting"
    """The host is in back-off, or another process leases it; nothing was sent (`geocrawl probe` with shared
    politeness).
    """
    READING_TIME = "reading-time"
    """The answer came, and reading it took longer than a minute of CPU time."""
    READING_MEMORY = "reading-memory"
    """The answer came, and reading it needed more than 1 GiB of memory."""
    READING_CRASH = "reading-crash"
    """The answer came, and the process that read it ended."""


NOT_PERMITTED = frozenset(
    {FailureCode.GUARD, FailureCode.DENY, FailureCode.ALLOW, FailureCode.FORGOTTEN, FailureCode.RESTING}
)
"""Codes of requests that were not sent because that is forbidden: no verdict follows, and no second try."""


@dataclass(frozen=True, slots=True)
class Validators:
    """Header fields of an answer that are used in conditional requests (RFC 9110, 8.8)."""

    address: str
    """Address of the answer, redirects followed: validators are sent with requests for exactly this address."""
    etag: str = ""
    """As received, `W/` included; '' when there was none worth keeping."""
    modified: str = ""
    """Last-Modified, as received; '' when there was none worth keeping."""


@dataclass(frozen=True, slots=True)
class DecodedImage:
    """A decoded image."""

    width: int
    height: int
    pixels: bytes
    """RGBA, row by row."""
    colours: int
    """Number of different colours, counted up to 256; all fully transparent ones count as one."""
    background: float
    """Share of the most frequent colour, 0…1."""
    is_blank: bool
    """Whether the image has only one colour, apart from JPEG noise and a few single pixels, or is fully transparent."""

    has_one_ink: bool = False
    """Whether all colours are mixed of two: the background and one other."""
    thumbnail: bytes = b""
    """PNG of a bounded size; empty for a blank image."""

    @property
    def line(self) -> str:
        """Return size and number of colours, for people."""
        return f"{self.width} × {self.height} pixels, {self.colours} colours"


@dataclass(frozen=True, slots=True)
class Page:
    """An answer of a web server, whatever its status."""

    url: Url
    """Address of the first request."""
    final: Url
    """Address that answered, after the redirects that were followed."""
    status: int
    headers: Mapping[str, str]
    """Lower-case names; values of a repeated field are joined by ', '."""
    body: bytes
    """Decoded by Content-Encoding; empty for a redirect that was not followed."""
    elapsed_ms: float
    fetched_at: float
    hops: tuple[Url, ...] = ()
    """The redirects followed, in order, `final` last; () when there was none."""
    location: Url | None = None
    """Target of a redirect that was not followed (to another host, or declined by the caller)."""
    sent_bytes: int = 0
    """Bytes of the body on the wire, before decoding."""
    cut: bool = False
    """Whether the body was longer than the limit and ends there (probes only; a page is refused)."""
    not_modified: bool = False
    """Whether this is a 304 to a conditional request: the last full answer is still valid. Any other 304 is an ordinary
    answer."""
    retry_after_s: float | None = None
    """Seconds until the address may be asked again, by Retry-After with 429 or 503; None without one."""
    deviations: tuple[Deviation, ...] = ()
    """What was tolerated of the connection and of the body's coding (probes only)."""
    picture: DecodedImage | str = ""
    """The image in the body, or why it is not decoded (content checks only); '' for another body."""

    @property
    def content_type(self) -> str:
        """Return the media type without parameters, lower case; '' when the server named none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, or none that may be read: a value, not an exception."""

    url: Url
    code: FailureCode
    detail: str
    """One line for a person: what happened, with the address or limit."""
    elapsed_ms: float = 0.0
    retry_after_s: float | None = None
    """Seconds until another attempt makes sense; None when unknown."""
    status: int | None = None
    """HTTP status, when there was one before the failure."""


@dataclass(frozen=True, slots=True)
class HostState:
    """State of a host for politeness; stored, so that it is shared by processes and survives restarts."""

    name: str
    next_at: float = 0.0
    """No request before this time."""
    errors: int = 0
    """Host-level errors in a row (connection failures, 429, 502, 503, 504)."""
    last_error_at: float = 0.0
    crawl_delay_s: float | None = None
    """Crawl-delay in robots.txt; None: not stated."""
    day: int = 0
    """Day of the last request, in days since the epoch (UTC)."""
    asked: int = 0
    """Number of requests on that day."""
    troubled_at: float = 0.0
    """Time at which one address of the host last answered with a server error or 429."""
    troubled_address: str = ""
    """Address of that error; '' without one."""
    refusals: int = 0
    """Points of its refusals (429 and 503), against which good answers count (`fetch.politeness`)."""


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """The answer of an origin to the request for /robots.txt."""

    origin: str
    status: int | None
    body: str | None
    """Text of robots.txt; None when it could not be read (RFC 9309, 2.3.1.4)."""
    fetched_at: float
    """Time of the answer, in seconds since the epoch; of one that cannot be read, that of the first such answer."""
    expires_at: float


# --------------------------------------------------------------------------- validators
# To a conditional request a server answers 304 (Not Modified) instead of sending the same document again, which saves
# nearly all bytes. A validator is kept only if it can be sent back unchanged and has a single meaning: printable ASCII
# of a limited length, an entity tag in its quotes (a bare `*` would mean any document), and a date in the form that
# senders must use.


MAX_ETAG_CHARS = 256
_OK = 200
_ETAG = re.compile(r'(?:W/)?"[\x20\x21\x23-\x7e]*"')  # RFC 9110, 8.8.3; a space within the quotes is tolerated
_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")  # 5.6.7


def validators_of(page: Page) -> Validators | None:
    """Return the validators of an answer that was read in full; None when it has none worth keeping."""
    if page.status != _OK or page.cut:
        return None
    etag, modified = (page.headers.get(name, "").strip() for name in ("etag", "last-modified"))
    if len(etag) > MAX_ETAG_CHARS or not _ETAG.fullmatch(etag):
        etag = ""
    if not _DATE.fullmatch(modified):
        modified = ""
    return Validators(page.final.address, etag, modified) if etag or modified else None


def conditions(validators: Validators) -> dict[str, str]:
    """Return the header fields of a conditional request (RFC 9110, 13.1.2 and 13.1.3).

    Both fields, where both validators are known: a server that knows entity tags ignores the date.
    """
    fields = {"If-None-Match": validators.etag, "If-Modified-Since": validators.modified}
    return {name: value for name, value in fields.items() if value}


# --------------------------------------------------------------------------- pages that were read


class Portion(NamedTuple):
    """What an answer holds of a list of records."""

    family: str
    """The catalogue's interface: csw, ckan, arcgis …"""
    matched: int | None
    """Records that the whole list has, as the answer states; None when it states none."""
    ids: tuple[str, ...]
    """Identifier of each record of this page, in order; '' for a record that names none."""
    named: frozenset[int] = frozenset()
    """Numbers, from 0, of the records that name a service."""


class Document(NamedTuple):
    """A page as it was read: the parts that strategies, the detector and the catalogue need."""

    url: Url
    depth: int
    status: int
    content_type: str
    encoding: str
    title: str
    text: str
    """Visible text of the body without scripts and styles, white space folded."""
    links: tuple[Link, ...] = ()
    """Links in document order; one address may occur several times with different anchors.

    () when meta robots or X-Robots-Tag contains nofollow.
    """
    language: str = ""
    """From `<html lang>` or Content-Language, lower case; '' when not named."""
    xml_root: str = ""
    """Local name of the root element when the body is XML, else ''."""
    xml_namespace: str = ""
    """Namespace of the root; '' when it has none."""
    json_keys: tuple[str, ...] = ()
    """The first keys, at most 64, of a JSON object; () for any other body."""
    summary: str = ""
    """Description, keywords and subjects that a page states in its metadata, at most 2,000 characters."""
    headline: str = ""
    """The most likely headline (`page.html_tree`), or the title without one; '' unless requested."""
    prose: str = ""
    """`text` without the anchors of links, with the same limit; '' unless requested."""
    anchor_chars: int = 0
    """Number of characters of all anchors, white space folded; 0 unless `prose` is requested."""
    portion: Portion | None = None
    """What the page holds of a list of records; None for a page of no list."""
    fault: str = ""
    """"truncated" for XML or JSON that ends in the middle, "exception" for an error in place of records, else ''."""


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """What a browser made of a page whose content is written by its scripts."""

    page: Page
    """The page with the document that its scripts left as body, in UTF-8; unchanged when they came to no end."""
    links: tuple[Link, ...]
    """Addresses that the scripts requested or went to."""
    data: tuple[Page, ...] = ()
    """JSON and XML that the scripts received, each from the address that was requested."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A strategy's judgement of a document and its links."""

    score: float
    """The strategy's own score of the page; for gws r = cos(T, P), 0…1."""
    ranks: tuple[Rank | None, ...]
    """Rank of each of `Document.links`, in order; None drops the link."""
    features: bytes = b""
    """Data that the strategy gets back with the visit's `Feedback`; b"" for a strategy that does not learn."""


# --------------------------------------------------------------------------- slots of an IP address
# They bound how many requests may be under way at an IP address, and when the next one may begin.


_MOST_AHEAD_S = 3600.0
"""A request that begins later than this was noted while a clock was wrong; it bounds nothing."""


@dataclass(frozen=True, slots=True)
class IpRequest:
    """What a request asks of an IP address."""

    most_at_once: int
    """How many requests to the address may be under way."""
    gap_s: float
    """Least time between the beginnings of two requests to the address."""
    wait_s: float
    """Longest wait for the request's beginning."""
    lasts_s: float
    """Longest duration of the request."""
    late_s: float = 0.0
    """Longest time, seconds, by which the request may begin after its time: the next ones count from then."""


@dataclass(frozen=True, slots=True)
class IpSlot:
    """One of an address's concurrent requests, or the last one that was made there."""

    number: int
    begins_at: float
    until: float
    """When the request has ended at the latest; 0: it has ended."""


@dataclass(frozen=True, slots=True)
class IpPlace:
    """The right to make one request to an IP address."""

    ip: str
    slot: int
    """Number of the slot that the request occupies."""
    begins_at: float
    """When the request may begin."""
    counts_from: float
    """When it begins at the latest, from which the next requests to the address count."""


def find_place(ip: str, slots: Sequence[IpSlot], now: float, request: IpRequest) -> IpPlace | float:
    """Return a free place at an address with these slots, or the time at which to ask again."""
    slots = [slot for slot in slots if slot.begins_at <= now + _MOST_AHEAD_S]
    begins_at = max([now, *(slot.begins_at + request.gap_s for slot in slots)])
    busy = {slot.number: slot.until for slot in slots if slot.until > now}
    free = next((number for number in range(request.most_at_once) if number not in busy), None)
    if free is None or begins_at - now > request.wait_s:
        return begins_at
    return IpPlace(ip, free, begins_at, begins_at + request.late_s)
