"""Define the results of a search, the properties that its filters may name, and selections of services."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from geocrawl.model.catalogue import Box, Layer, Service, columns

Hit = TypeVar("Hit")

QUERYABLES: Mapping[str, Mapping[str, Any]] = {
    "id": {"type": "string", "title": "Number of the service"},
    **{column.queried_as: column.schema for column in columns(Service).values() if column.queryable},
    "geometry": {"format": "geometry-any", "title": "Extent"},
    "fields": {
        **{"type": "array", "items": {"type": "string"}},
        "title": "Names and aliases of the fields of its layers, for A_CONTAINS and A_OVERLAPS",
    },
    "time": {"type": "array", "title": "Time of the data, from time_start to time_end, for T_INTERSECTS"},
}
"""Property that a filter in CQL2 may name → its JSON schema."""
OF_COLUMNS = tuple(name for name, column in columns(Service).items() if column.facet)
"""Facets that are a column of services, whose conditions `Filters.columns` holds."""
FACETS = ("kind", "health", "level", "country", "provider", "crs", "format", *OF_COLUMNS)
"""Names of all facets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(Service):
    """A service that a search found; columns that are declared as costly are not read, and the abstract is its
    beginning, in one line."""

    availability_30d: float | None
    """Share of the last 30 days in which the last answer was valid, 0 to 1; None when it is not known."""
    matching_layers: tuple[Layer, ...]
    """The first layers in which words of the query occur; position, name and title are read."""
    twin_services: tuple[Service, ...]
    """Other services of the same server with the same content, by other protocols."""
    score: float
    """How well the service fits the query: higher is better; comparable within one search only."""
    is_whole: bool
    """Whether all words of the query occur; else most of them do."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet and how many of the services or layers that were found have it."""

    value: str
    """The value, as the query language and `Filters` take it."""
    label: str
    """The value's name for people."""
    count: int
    """Number of found services, or of layers, that have the value."""


@dataclass(frozen=True, slots=True)
class LayerHit:
    """A layer that a search found."""

    layer: Layer
    """The layer with its own reference systems; its extent is its own, or the one that it inherits."""
    service: Service
    """Its service, without the costly columns."""
    inherited: tuple[str, ...] = ()
    """Reference systems of its groups."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Return its reference systems, its own first."""
        return tuple(dict.fromkeys((*self.layer.crs, *self.inherited)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Results(Generic[Hit]):
    """What a search found, of services or of layers."""

    hits: tuple[Hit, ...]
    """One page of hits, from `offset` on, `limit` at most."""
    total: int
    """Number of hits on all pages; services that are twins of each other are one hit, layers are those of the services
    that were looked through."""
    services: int
    """Number of services that were found, twins included."""
    catalogue: int
    """Number of services in the catalogue."""
    read_as: tuple[str, ...]
    """Sentences that say how the query was read, those of `differences` first."""
    suggestion: str | None
    """Query with mistyped words corrected ("did you mean"); None when none was needed. `is_suggested` says whether
    `hits` are its."""
    is_suggested: bool
    """Whether the hits are those of `suggestion` and not of the query itself."""
    facets: Mapping[str, tuple[FacetValue, ...]]
    """Names of facets (`FACETS`) → their values, the commonest first; layers are counted by what their services have.
    Empty unless facets were asked for."""
    ms: float
    """Milliseconds that the search took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(_Results[SearchHit]):
    """What a search of services found."""

    differences: tuple[str, ...]
    """Sentences that say in what the hits differ from what was asked for, but for the `suggestion`: no service has all
    words, or none is of the kind that was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResults(_Results[LayerHit]):
    """What a search of layers found."""

    looked_through: int
    """Number of the found services, the best ones, whose layers were compared with the query."""

    @property
    def is_complete(self) -> bool:
        """Return whether all found services were looked through."""
        return self.looked_through == self.services


@dataclass(frozen=True, slots=True)
class Selection:
    """Which services are read: those that fulfil every condition that is set."""

    kind: str | None = None
    box: Box | None = None
    """Their extent intersects it."""
    alive: bool = False
    level: str | None = None
    """At least this level: advertised, answers or delivers."""
    ids: Collection[int] | None = None

    @property
    def is_about_kind_alone(self) -> bool:
        """Return whether no condition but the kind is set."""
        return self == Selection(self.kind)

    @property
    def is_all(self) -> bool:
        """Return whether no condition is set."""
        return self == Selection()
