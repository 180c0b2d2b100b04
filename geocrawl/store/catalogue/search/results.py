"""What a search returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from geocrawl.store.catalogue.search.filters import Box


@dataclass(frozen=True, slots=True)
class LayerHit:
    """A layer in which words of the query occur."""

    position: int
    """Place of the layer in the service's description, from 0."""
    name: str
    """Name of the layer for requests; '' for a group of layers."""
    title: str
    """Title of the layer as the server wrote it: escape it wherever it is shown."""


@dataclass(frozen=True, slots=True)
class Twin:
    """Another service of the same server with the same content, by another protocol."""

    id: int
    """Number of the service in the catalogue."""
    kind: str
    """Kind of the service, such as wfs."""
    address: str
    """Best address of the service, masked as `Hit.address` is."""
    health: str
    """State of that address: new, alive, degraded, down or gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A service that a search found."""

    id: int
    """Number of the service in the catalogue."""
    kind: str
    """Kind of the service, such as wms."""
    title: str
    """Title as the server wrote it: escape it wherever it is shown."""
    abstract: str
    """The beginning of the service's description, in one line."""
    address: str
    """Best address of the service; keys and passwords in it are replaced by ***."""
    provider: str
    """Name of the provider as the server wrote it; '' when it names none."""
    version: str
    """Version of the protocol that was read; '' for protocols without versions."""
    layer_count: int
    """Number of layers that have a name."""
    extent: Box | None
    """Box around the service's layers; None when no extent is known."""
    country: str
    """Code of the country, ISO 3166-1, two letters; '' when it is not known."""
    health: str
    """State of the best address: new, alive, degraded, down or gone."""
    level: str
    """Level of proof: delivers, answers or advertised; '' for a service whose content was never checked."""
    alive: bool
    """Whether at least one address of the service was valid at its last probe."""
    availability: float | None
    """Share of the last 30 days in which the last answer was valid, 0 to 1; None when it is not known."""
    quality: int
    """Quality of the service, 0 to 100 (docs/services.md)."""
    first_seen: float
    """Time at which the service was found, seconds since 1970 UTC."""
    last_ok: float
    """Time of the last valid answer, seconds since 1970 UTC."""
    endpoint_id: int | None
    """Number of the endpoint at `address`, whose thumbnail may exist; None for a service without an endpoint."""
    tls: str
    """Code of what is wrong with the address's TLS (`tls-expired` …), which was not verified; '' for nothing."""
    layers: tuple[LayerHit, ...]
    """The first layers in which words of the query occur."""
    twins: tuple[Twin, ...]
    """Other services of the same server with the same content."""
    score: float
    """How well the service fits the query: higher is better; comparable within one search only."""
    is_whole: bool
    """Whether all words of the query occur; else most of them do."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet and how many found services have it."""

    value: str
    """The value, as the query language and `Filters` take it."""
    label: str
    """The value's name for people."""
    count: int
    """Number of found services that have the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What a search found."""

    hits: tuple[Hit, ...]
    """One page of hits, from `offset` on, `limit` at most."""
    total: int
    """Number of hits on all pages; services that are twins of each other are one hit."""
    services: int
    """Number of services that were found, twins included: facets count these."""
    catalogue: int = 0
    """Number of services in the catalogue."""
    facets: Mapping[str, tuple[FacetValue, ...]] = field(default_factory=dict)
    """Names of facets (kind, health, level, country, provider, crs, format) → their values, the commonest first; empty
    unless facets were asked for."""
    read_as: tuple[str, ...] = ()
    """Sentences that say how the query was read, those of `differences` first."""
    differences: tuple[str, ...] = ()
    """Sentences that say in what the hits differ from what was asked for, but for the `suggestion`: no service has all
    words, or none is of the kind that was named."""
    suggestion: str | None = None
    """Query with mistyped words corrected ("did you mean"); None when none was needed. `is_suggested` says whether
    `hits` are its."""
    is_suggested: bool = False
    """Whether the hits are those of `suggestion` and not of the query itself."""
    ms: float = 0.0
    """Milliseconds that the search took."""


class LayerRow(NamedTuple):
    """The columns of a layer that pages and interfaces show."""

    name: str
    title: str
    abstract: str
    item: str
    extent: Box | None
    """Its own extent, else that of the next group above it that has one."""
    systems: tuple[str, ...]
    """Its own reference systems, then those that it inherits."""


@dataclass(frozen=True, slots=True)
class FoundLayer:
    """A layer that a search found."""

    service_id: int
    position: int
    """Its place in the service's description, from 0."""
    row: LayerRow
    kind: str
    service_title: str
    address: str
    """Best address of the service, masked."""
    provider: str
    health: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResults:
    """What a search of layers found."""

    hits: tuple[FoundLayer, ...]
    total: int
    """Layers that were found in the services that were looked through."""
    services: int
    """Services that the search found."""
    looked_through: int
    """Number of those services, the best ones, whose layers were compared with the query."""
    catalogue: int = 0
    """Services in the catalogue."""
    read_as: tuple[str, ...] = ()
    suggestion: str | None = None
    is_suggested: bool = False
    ms: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Return whether all found services were looked through."""
        return self.looked_through == self.services
