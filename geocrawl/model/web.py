"""Addresses, links and what a web server answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple


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
    kind: str = ""
    """The service kind (as `Kind` spells it) that the place names beside the address: `{type: "wms", url: …}`,
    `L.tileLayer.wms(…)`, the protocol OGC:WMS, "WMS service: …". '' when it names none."""


ADDRESS_ONLY = frozenset(
    {"text", "script", "script-file", "json", "json-ld", "data-attribute", "microdata", "textarea", "input", "option"}
    | {"comment"}
)
"""Places of a `Link` where an address is written but not linked: a candidate service if anything, never a page."""
SCRIPT_SRC = "script-src"
"""Place of a `Link` to a script or configuration that belongs to a page: visited, but read for addresses only."""


class Relevance(IntEnum):
    """How near a page or a link is to the topic (gws eq. 2 and 3)."""

    NONE = 0
    SOME = 1
    HIGH = 2


class Rank(NamedTuple):
    """Where a link stands in the frontier: the higher tier first, then the higher score, then the first seen."""

    tier: int
    score: float = 0.0


class Purpose(StrEnum):
    """What a request is for: it decides the limits on its body and which content types are read."""

    PAGE = "page"
    PROBE = "probe"
    MAP = "map"
    """Content of a service: an image, a tile, a feature."""
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
    BUDGET = "budget"
    """We asked for enough; nothing was sent."""
    DENY = "deny"
    """On the operator's deny list; nothing was sent, as with the next two."""
    ALLOW = "allow"
    """Not on the operator's allow list."""
    FORGOTTEN = "forgotten"
    """Left alone on request (`geocrawl forget`)."""
    RESTING = "resting"
    """The host rests, or another process has its turn; nothing was sent (`geocrawl probe` beside a catalogue)."""


NOT_PERMITTED = frozenset(
    {FailureCode.GUARD, FailureCode.DENY, FailureCode.ALLOW, FailureCode.FORGOTTEN, FailureCode.RESTING}
)
"""Codes of requests that were not sent because they may not be: no verdict follows, and no second try."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave with an answer, so that it can be asked whether that still holds (RFC 9110, 8.8)."""

    address: str
    """What was asked, redirects followed: they are sent with requests for exactly this."""
    etag: str = ""
    """As it came, `W/` included; '' when there was none worth keeping."""
    modified: str = ""
    """Last-Modified, as it came."""


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
    cut: bool = False
    """Whether the body was longer than the limit and ends there (probes only; a page is refused)."""
    not_modified: bool = False
    """Answered by 304 to a request with validators: what was read before still holds. A 304 that nobody asked for is
    an answer like any other."""

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
    day: int = 0
    """The day of its last request, days since the epoch (UTC)."""
    asked: int = 0
    """Requests on that day."""


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What an origin answered for /robots.txt. `body` is None when it could not be had (RFC 9309, 2.3.1.4)."""

    origin: str
    status: int | None
    body: str | None
    fetched_at: float
    expires_at: float
