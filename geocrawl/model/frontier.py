"""The frontier: the life of a URL, leases, and what a visit brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from geocrawl.model.services import Candidate, ContentReport, Status, Verdict
from geocrawl.model.web import HostState, Link, Purpose, Rank, Relevance, Url, Validators


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
    validators: Validators | None = None
    """Of the last answer that was read whole, while a 304 to them is believed."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One entry and, with it, its host: nobody else asks that host until the lease is settled or expires."""

    entry: Entry
    host: HostState
    token: int
    """Fencing number: a settlement with an outdated one is ignored."""
    until: float

    @property
    def visit_id(self) -> str:
        """What log lines of this visit carry, never the same again on a database: `url.id` of the entry, and how often
        its host was leased, such as 4711.12."""
        return f"{self.entry.id}.{self.token}"


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
class KeptPage:
    """A stored page as it is read back."""

    address: str
    title: str
    score: float
    """What the strategy of the crawl thought of the page."""
    stored_at: float
    content_type: str
    """Media type without parameters; '' when the server named none."""
    encoding: str
    """As the Encoding Standard spells it; '' for what is no text."""
    body: bytes
    """As it was answered, decoded by Content-Encoding."""


@dataclass(frozen=True, slots=True)
class Visit:
    """All that one lease brought: settled in one transaction."""

    lease: Lease
    state: State
    """visited, failed or refused."""
    reason: str
    """'ok', or a code: not-modified, http-404, a FailureCode, wrong-type …"""
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
    digest: int | None = None
    """64 bits that tell whether the links and candidates of a page that was read are the same as before."""
    proof: ContentReport | None = None
    """What came of asking the service for content, when that was done."""
    retry_after_s: float | None = None
    """Ask again after this long, if attempts are left; None: never."""
    features: bytes = b""
    """`Judgement.features`."""
    learnt: bytes | None = None
    """The strategy's dump before this visit's feedback, when it is time to keep one."""
    learnt_counts: Mapping[str, int] = field(default_factory=dict)
    """With `learnt`: how much the strategy holds, for status."""
    stored: StoredPage | None = None
    """The page itself, when it passed the page filter."""
    validators: Validators | None = None
    """To ask by the next time; None forgets the former ones, unless nothing was modified or nobody answered."""
    not_modified: bool = False
    """All is as it was when it was last read whole (304): what is stored of it stays, and nothing is learnt."""

    @property
    def found(self) -> Status | None:
        """What a probe found the endpoint to be; None for a page, and when the endpoint could not be asked."""
        if self.verdict is not None:
            return self.verdict.status
        return Status.VALID if self.not_modified and self.lease.entry.purpose is Purpose.PROBE else None

    @property
    def is_page_answered(self) -> bool:
        """Whether a page was answered, not by a redirect: what limits on pages count."""
        if self.lease.entry.purpose is not Purpose.PAGE or self.http_status is None:
            return False
        return self.not_modified or not 300 <= self.http_status < 400


@dataclass(frozen=True, slots=True)
class Feedback:
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
    features: bytes = b""


@dataclass(frozen=True, slots=True)
class Settled:
    """What a settlement did."""

    new_links: int = 0
    new_candidates: int = 0
    ignored: bool = False
    """The lease was no longer ours; nothing was written."""
    feedback: Feedback | None = None
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
