"""Define all that the catalogue knows of one service, endpoint or page, now and over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from geocrawl.model.availability import ProbeSum
from geocrawl.model.catalogue import Layer, Service
from geocrawl.model.downtimes import Downtime


@dataclass(frozen=True, slots=True)
class ServiceDetail:
    """A service with its layers, its endpoints and the evidence of what is said of it."""

    service: Service
    """The service, its addresses in full."""
    layers: tuple[Layer, ...]
    endpoints: tuple[EndpointRow, ...]
    same: tuple[SameRow, ...] = ()
    """Why its addresses are one service."""
    quality_parts: Mapping[str, QualityShare] = field(default_factory=dict)
    """Name → part of the score."""
    twins: Mapping[int, str] = field(default_factory=dict)
    """Numbers and kinds of other services: the same content by other protocols of the server."""
    read_by: str = ""
    """Which reader read the description: 'owslib', 'geocrawl'; '' when that was not noted."""
    histories: tuple[EndpointHistory, ...] = ()
    """The past of each endpoint, where it was asked for."""
    news: tuple[NewsRow, ...] = ()
    """What happened to the service, newest first, likewise."""

    @property
    def best(self) -> EndpointRow | None:
        """Return the endpoint at the best address."""
        return next((endpoint for endpoint in self.endpoints if endpoint.url == self.service.url), None)

    @property
    def best_history(self) -> EndpointHistory | None:
        """Return the history of the best address; of the first where none is the best."""
        best = (history for history in self.histories if history.url == self.service.url)
        return next(best, self.histories[0] if self.histories else None)

    @property
    def availability_30d(self) -> float | None:
        """Return the share of the last 30 days in which the best address answered; None: not known."""
        return self.best_history.availability.get(30) if self.best_history else None


@dataclass(frozen=True, slots=True)
class QualityShare:
    """A part of the score of a service (`store/database/quality.py`)."""

    weight: int
    """Most points of the part."""
    share: float | None
    """How far the service has the property, 0 to 1; None: not known."""


@dataclass(frozen=True, slots=True)
class SameRow:
    """Why two addresses are one service, or are not."""

    first: str
    second: str
    signal: str
    """document, layers; host, path, port, node: what the addresses differ in; person."""
    detail: str
    same: bool
    at: float


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint that answers, or answered at some time."""

    endpoint_id: int
    kind: str
    url: str
    service_id: int


@dataclass(frozen=True, slots=True)
class WatchedService:
    """A service that is watched, and how its best address is."""

    id: int
    kind: str
    title: str
    url: str
    """Its best address, with keys masked."""
    health: str
    since: float | None
    """Time since which it is so."""
    every_s: float | None
    """Time between two probes; None: by its health."""
    is_slow: bool
    """Whether it answers slowly against its own usual."""
    probes: int
    """Verdicts within 30 days."""
    valid: int
    availability: tuple[float, float] | None
    """Bounds of the share of valid answers within 30 days, with 95 % certainty; None for too few probes."""
    downtimes: tuple[Downtime, ...]
    """Planned and acknowledged downtimes that are not over."""


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint with its last verdict, and what named it."""

    id: int
    kind: str
    url: str
    service_id: int | None
    status: str | None
    reason: str | None
    detail: str | None
    version: str | None
    http_status: int | None
    deviations: tuple[Mapping[str, str], ...]
    first_seen: float
    last_probe: float | None
    last_ok: float | None
    probes: int
    level: str | None
    """advertised, answers, delivers; None: no content check."""
    proved_at: float | None
    https: bool | None
    cors: str | None
    proof: tuple[Mapping[str, object], ...]
    """layer, crs, outcome, milliseconds, detail, url."""
    entry_id: int | None
    """Id of its probe in the frontier, with which its visits' ids in the log begin; None when it was never queued."""
    evidence: tuple[Mapping[str, object], ...]
    """signal, page, link, anchor, at."""


@dataclass(frozen=True, slots=True)
class EndpointHistory:
    """The probes of an endpoint over time."""

    id: int
    kind: str
    url: str
    health: str
    since: float | None
    in_a_row: int
    """Valid answers in a row, or failures as a negative number."""
    due_at: float | None
    first_seen: float
    probes: int
    """Number of verdicts of the last 365 days."""
    sums: tuple[ProbeSum, ...]
    """Sums of these verdicts and of failures in downtimes, oldest first: single ones of the last days, before these of
    an hour or a day."""
    availability: Mapping[int, float | None]
    """Days → share of that time, 0…1, in which the last answer was a valid one; None: nothing is known of it."""
    response_ms: Mapping[int, float]
    """Percentile → milliseconds within which valid answers came that were read whole: 50, 90, 99; empty for fewer than
    two."""
    events: tuple[Mapping[str, object], ...]
    """at, before, after, reason; newest first."""
    unasked: tuple[Mapping[str, object], ...]
    """at, reason of the times when it might not be asked, or was asked to wait; newest first. They count for nothing
    else."""
    changes: tuple[Mapping[str, object], ...]
    """at, what, name, before, after; newest first."""
    downtimes: tuple[Downtime, ...] = ()
    """Downtimes that last now or are to come."""


@dataclass(frozen=True, slots=True)
class NewsRow:
    """Something that happened to a service."""

    service_id: int
    kind: str
    title: str
    url: str
    """The service's best address, with the secrets in it."""
    at: float
    what: str
    """health, or what changed: layer-added, layer-removed, title …"""
    name: str
    """Name of the layer that changed; of a change of health its reason."""
    before: str
    after: str
    number: int
    """Number of the row in its table: with `what` and the time it identifies the news."""


@dataclass(frozen=True, slots=True)
class Why:
    """Everything known of an address; all empty when it was never seen."""

    page: UrlRow | None
    parent: UrlRow | None
    """The page of the best-ranked link to it."""
    endpoints: tuple[EndpointRow, ...]
    source: str = ""
    """Where a start page comes from: a list, or a place in an archive; '' when nothing is known of it."""


@dataclass(frozen=True, slots=True)
class UrlRow:
    """A page that the frontier knows."""

    id: int
    address: str
    host: str
    state: str
    """waiting, leased, visited, failed, too-deep, refused."""
    reason: str | None
    depth: int
    tier: int
    score: float
    found_on: int | None
    anchor: str
    found_in: str
    attempts: int
    """Visits that failed."""
    first_seen: float
    settled_at: float | None
    retry_at: float | None
    http_status: int | None
    content_type: str | None
    size_bytes: int | None
    elapsed_ms: float | None
    title: str | None
    relevance: int | None
    page_score: float | None
    sub_queue: int | None
    visit_tier: int | None
    led: int | None
    """1: the last visit led to a service that was not known before."""
    host_next_at: float
    """No request to the page's host before this time."""
