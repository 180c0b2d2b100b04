"""Define what is published of a catalogue: services and layers as the views `v_services` and `v_layers` show them.

Addresses are masked unless a person asks for keys. Texts are as the web wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Box = tuple[float, float, float, float]
"""west, south, east, north, degrees; west > east crosses the antimeridian."""


@dataclass(frozen=True, slots=True)
class PublishedService:
    """A service at its best address. Times are ISO 8601 in UTC."""

    id: int
    kind: str
    title: str
    abstract: str
    provider: str
    keywords: tuple[str, ...]
    version: str
    formats: tuple[str, ...]
    url: str
    host: str
    online_resource: str
    layers: int
    """Number of named layers."""
    alive: bool
    """Valid at the last probe of any of its addresses."""
    health: str
    level: str
    """advertised, answers, delivers; '' without a content check."""
    https: bool | None
    cors: str
    fees: str
    access_constraints: str
    deviations: tuple[str, ...]
    """Codes."""
    box: Box | None
    first_seen: str
    last_ok: str
    last_probe: str | None
    country: str = ""
    """ISO 3166-1, two letters; '' for none."""
    contact: Mapping[str, str] = field(default_factory=dict)
    """Whom the service names: person, organization, position, email, phone, address, city, country."""
    availability: float | None = None
    """Share of valid answers, 0…1, among the kept probes of the best address; None where they tell too little."""
    mean_ms: float | None = None
    """Mean time of valid answers of the best address, milliseconds."""
    software: str = ""
    """Server software, where the address shows it."""
    quality: int = 0
    """0 to 100 (docs/services.md)."""
    twins: tuple[int, ...] = ()
    """Numbers of other services: the same content by other protocols of the server."""
    page: str = ""
    """Address of a page that names the service; '' for none."""
    tile: str = ""
    """Address of a tile that a tile service delivered; '' for other kinds and without one."""
    tile_zoom: int | None = None
    """Zoom level of the tile of a TMS by its scale, 0: the world in one tile of Web Mercator; None: unknown, or another
    grid."""


@dataclass(frozen=True, slots=True)
class PublishedLayer:
    """A layer, or its counterpart in other kinds, with the properties that it states itself."""

    service_id: int
    position: int
    parent: int | None
    """`position` of the group that contains it."""
    item: str
    """layer, feature-type, coverage, collection …"""
    name: str
    """For requests; '' for a group that cannot be requested."""
    title: str
    abstract: str
    crs: tuple[str, ...]
    styles: tuple[str, ...]
    queryable: bool
    box: Box | None


# --------------------------------------------------------------------------- report


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A service in the report of a month, and what happened to it in that month. Times are ISO 8601 in UTC."""

    id: int
    kind: str
    title: str
    provider: str
    url: str
    """Address of the service, with keys masked."""
    health: str
    """Health of the service's best address when the report is made."""
    is_new: bool
    """Whether the service was first found in the month."""
    probes: int
    """Number of probes of the service's addresses in the month that are still stored."""
    valid: int
    """Number of those probes whose answer was valid."""
    went_down: str | None
    """Time at which an address of the service last went down in the month; None: none did."""
    came_back: str | None
    """Time at which an address of the service last came back in the month; None: none did."""
    layers_added: int
    layers_removed: int
    addresses: int
    """Number of addresses that those probes asked."""

    @property
    def availability(self) -> float | None:
        """Return the share of valid answers, 0…1; None for one probe an address, which tells nothing of it."""
        return self.valid / self.probes if self.probes > self.addresses else None


# --------------------------------------------------------------------------- report cards

BROKEN = ("degraded", "unconfirmed", "down", "gone")
"""States of health of a service that does not answer as it should."""


@dataclass(frozen=True, slots=True)
class CardService:
    """A service on the report card of its provider."""

    id: int
    kind: str
    title: str
    url: str
    """Best address, keys masked."""
    health: str
    availability: float | None
    """Share of valid answers, 0…1; None where the probes tell too little."""
    mean_ms: float | None
    quality: int
    findings: tuple[str, ...]
    """Codes of what is wrong: the reason why it does not answer, deviations, what it lacks (`lacks-contact`)."""


@dataclass(frozen=True, slots=True)
class ProviderCard:
    """The report card of a provider."""

    provider: str
    """Name by the capabilities; the registered domain of the host where a service names none."""
    services: tuple[CardService, ...]

    @property
    def working(self) -> int:
        """Return how many services are alive, or answer at times."""
        return sum(each.health in ("alive", "degraded") for each in self.services)

    @property
    def availability(self) -> float | None:
        """Return the mean availability of the services of which it is known; None for none."""
        known = [each.availability for each in self.services if each.availability is not None]
        return sum(known) / len(known) if known else None

    @property
    def quality(self) -> int:
        """Return the mean quality of the services, 0 to 100."""
        return round(sum(each.quality for each in self.services) / len(self.services))

    @property
    def findings(self) -> list[tuple[str, list[CardService]]]:
        """Return what is wrong, with the services of which it is so: first what is down, then what is most frequent."""
        found = dict[str, list[CardService]]()
        for service in self.services:
            for code in service.findings:
                found.setdefault(code, []).append(service)
        causes = {each.findings[0] for each in self.services if each.health in BROKEN and each.findings}
        return sorted(found.items(), key=lambda item: (item[0] not in causes, -len(item[1]), item[0]))
