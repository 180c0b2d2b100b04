"""Define the values of the frontier: the state of a URL, leases, and the result of a visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from geocrawl.model.services import Candidate, ContentReport, Status, Verdict
from geocrawl.model.web import HostState, Link, Portion, Purpose, Rank, Relevance, Url, Validators


class State(StrEnum):
    """State of a URL in the frontier."""

    WAITING = "waiting"
    LEASED = "leased"
    VISITED = "visited"
    FAILED = "failed"
    TOO_DEEP = "too-deep"
    REFUSED = "refused"


ALONE_AFTER_KILLS = 2
"""Kills after which a URL is visited alone."""
MOST_KILLS = ALONE_AFTER_KILLS + 2
"""Kills after which a URL waits for a person: two of them alone."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the frontier, leased to a worker."""

    id: int
    purpose: Purpose
    url: Url
    """Address of the page, or of the endpoint to be probed."""
    depth: int
    rank: Rank
    attempts: int
    """Number of earlier attempts that failed."""
    hops: int = 0
    """Number of redirects, and of pages that send their readers on, that led to the URL one after the other."""
    candidate: Candidate | None = None
    """The candidate to be probed; None for a page."""
    validators: Validators | None = None
    """Validators of the last answer that was read in full, while a 304 to them is accepted."""
    kills: int = 0
    """Number of processes that were killed while they visited the URL, since its last settled visit."""
    every_s: float | None = None
    """Time between two probes that a watch asks for, in seconds; None: nobody watches the endpoint in minutes."""
    is_light: bool = False
    """Whether the probe is one between two full ones: validators are sent, and content of one layer is asked for."""

    @property
    def is_behind(self) -> bool:
        """Return whether a probe stands behind those of its host, because its first try was late."""
        return self.rank.score < 0.0

    @property
    def is_suspect(self) -> bool:
        """Return whether its answers are read in bounded processes alone: what it sent may have killed a process."""
        return self.kills > 0

    @property
    def is_visited_alone(self) -> bool:
        """Return whether nothing else is visited meanwhile, so that another kill is its own."""
        return self.kills >= ALONE_AFTER_KILLS


@dataclass(frozen=True, slots=True)
class Lease:
    """One entry and its host: no other worker sends requests to the host until the lease is settled or expires."""

    entry: Entry
    host: HostState
    token: int
    """Fencing number: a settlement with an outdated number is ignored."""
    until: float
    """Time at which the lease expires."""
    others_wait: bool = False
    """Whether other addresses of the host are queued."""

    @property
    def visit_id(self) -> str:
        """Return the name of this visit in log lines, unique in a database.

        It consists of the entry's id and the number of times that its host was leased: 4711.12.
        """
        return f"{self.entry.id}.{self.token}"


class RankedLink(NamedTuple):
    """A link on its way into the frontier. A named tuple, as `Link` is: a page has dozens."""

    link: Link
    rank: Rank
    refused: str = ""
    """Reason why the link is recorded and never visited (stop:media, trap:calendar …); '' for a link to visit."""
    same_depth: bool = False
    """Whether the link is to a redirect's target, which has the depth of its source."""
    sub_queue: int | None = None
    """`SubQueue.number` of the link; None for a link that has the rank and the sub-queue of its page."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page to be kept because it is on the topic."""

    encoding: str
    """Encoding, by the name of the Encoding Standard; '' for binary content."""
    body: bytes
    """The answer's body, decoded by Content-Encoding and compressed by zlib."""
    score: float
    """Nearness to the topic, 0…1, by the page filter."""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A stored page as read from the database."""

    address: str
    title: str
    score: float
    """Nearness to the topic, 0…1, by the page filter."""
    stored_at: float
    content_type: str
    """Media type without parameters; '' when the server named none."""
    encoding: str
    """Encoding, by the name of the Encoding Standard; '' for binary content."""
    body: bytes
    """The answer's body, decoded by Content-Encoding."""


class Visit(NamedTuple):
    """The result of one lease, settled in one transaction. A named tuple: a frozen dataclass of so many fields takes
    fifteen times as long to make.
    """

    lease: Lease
    state: State
    """visited, failed or refused."""
    reason: str
    """'ok', or a code: not-modified, http-404, a FailureCode, wrong-type …"""
    host: HostState
    """The host's state after the visit."""
    at: float
    """When the visit ended."""
    final: Url | None = None
    http_status: int | None = None
    content_type: str = ""
    size_bytes: int = 0
    elapsed_ms: float = 0.0
    title: str = ""
    relevance: Relevance = Relevance.NONE
    """Level of the page (gws eq. 2)."""
    score: float = 0.0
    links: tuple[RankedLink, ...] = ()
    candidates: tuple[tuple[Candidate, RankedLink | None], ...] = ()
    """Candidates found on a page; a weak one, which may turn out to be a page, with its link."""
    verdict: Verdict | None = None
    """Verdict of a probe; None for a page."""
    digest: int | None = None
    """64-bit hash of the page's links and candidates, to detect changes."""
    content_report: ContentReport | None = None
    """Result of the service's content check; None when none was made."""
    retry_after_s: float | None = None
    """Seconds until the next attempt, if any is left; None: no other attempt."""
    features: bytes = b""
    """`Judgement.features`."""
    portion: Portion | None = None
    """What the page holds of a list of records; None for a page of no list."""
    stored: StoredPage | None = None
    """The page to be kept, if any."""
    validators: Validators | None = None
    """Validators to store. None deletes the stored ones, unless there was no answer or it was 'not modified'."""
    not_modified: bool = False
    """Whether the answer was 'not modified' (304): the stored results of the last full answer stay, and no strategy
    learns.
    """
    fault: str = ""
    """Traceback of the exception that broke the visit, for the log; '' for none."""

    @property
    def found(self) -> Status | None:
        """Return the status that a probe found; None for a page, and when the endpoint could not be requested."""
        if self.verdict is not None:
            return self.verdict.status
        return Status.VALID if self.not_modified and self.lease.entry.purpose is Purpose.PROBE else None

    @property
    def is_page_answered(self) -> bool:
        """Return whether a page was answered without a redirect: limits on pages count these answers."""
        if self.lease.entry.purpose is not Purpose.PAGE or self.http_status is None:
            return False
        return self.not_modified or not 300 <= self.http_status < 400


@dataclass(frozen=True, slots=True)
class Feedback:
    """The result of one settled visit, from which a strategy learns.

    Feedback is stored until the strategy's next dump covers it. The dump and the feedback after it, learnt again in
    order, restore the strategy's state, whenever the process was killed. Of several processes one learns from the
    feedback of all.
    """

    number: int
    """Order of settlement."""
    entry_id: int
    purpose: Purpose
    depth: int
    found_on: int | None
    """Frontier id of the page whose link led to the visit; None for an address that a person entered."""
    state: State
    reason: str
    valid: bool | None = None
    """Whether a probe found a valid service; None for a page, or when robots.txt forbade the request."""
    links: tuple[tuple[str, int], ...] = ()
    """(identity, frontier id) of a page's links that were kept, in the page's order, each once."""
    features: bytes = b""
    """`Judgement.features` of this visit."""


@dataclass(frozen=True, slots=True)
class SettlementResult:
    """Result of a settlement."""

    new_links: int = 0
    new_candidates: int = 0
    ignored: bool = False
    """Whether the lease was no longer valid, so that nothing was written."""
    feedback: Feedback | None = None
    """Feedback for a strategy that learns; else None."""
    source: SourceState | None = None
    """The list of records that a page belongs to, without its endpoints; None for any other page."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """How much of a list of records of somebody else's catalogue was read."""

    address: str
    """The list's address without position and secrets."""
    family: str
    """The catalogue's interface: csw, ckan, arcgis …"""
    stated: int | None
    """Records that the list has, as its catalogue stated last; None when it states none."""
    read: int
    """Different records that were read."""
    named: int
    """Number of records read that name a service."""
    state: str
    """reading, whole or short."""
    reason: str
    """Why reading ended before the total; '' for none."""
    at: float
    """Time of the last page."""
    new: int = 0
    """Valid endpoints that its records name and that were not known before."""
    known: int = 0
    """Valid endpoints that its records name and that were known before."""
    dead: int = 0
    """Endpoints that its records name and that did not answer as a service."""
    waiting: int = 0
    """Endpoints that its records name and that have no verdict yet."""


@dataclass(frozen=True, slots=True)
class WaitingHost:
    """A host that cannot receive requests now, with addresses that were never visited."""

    name: str
    ready_at: float
    """Time from which requests may be sent again."""
    urls: int
    """Number of addresses in the host's queue."""


@dataclass(frozen=True, slots=True)
class VisitYield:
    """How many pages were visited, and how many of these visits led to services."""

    visited: int
    """Visits that were answered, without redirects and pages that had not changed."""
    led: int
    """Visits that named an endpoint which then proved to be a valid service for the first time."""


@dataclass(frozen=True, slots=True)
class FrontierStats:
    """Counts for status and progress."""

    states: Mapping[State, int]
    """Number of pages by state; probes are not counted."""
    waiting_by_tier: Mapping[int, int]
    probes_waiting: int
    hosts: int
    hosts_resting: int
    """Hosts with work that are in back-off for more than another minute."""
    strategy: str = ""
    """The strategy by which the queue is ordered; '' before the first crawl."""
    visits_by_tier: Mapping[int, VisitYield] = field(default_factory=dict)
    """By the tier in which the page waited, the highest first."""
    waiting_by_sub_queue: Mapping[int, int] = field(default_factory=dict)
    """By `SubQueue.number`, the highest first."""
    visits_by_sub_queue: Mapping[int, VisitYield] = field(default_factory=dict)
