"""Define watches, which tell people of changes in the catalogue, and the notices that they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class What(StrEnum):
    """What a notice reports."""

    DIED = "died"
    """No address of the service answers any more: all are down or gone."""
    RETURNED = "returned"
    LAYERS_REMOVED = "layers-removed"
    NEW = "new"
    """A saved search finds the service for the first time."""


@dataclass(frozen=True, slots=True)
class Watch:
    """One service or one saved search, and who is told."""

    id: int
    service_id: int | None
    """None: a saved search."""
    query: str
    recipient: str
    """A web address, `mail:ADDRESS` or `file:PATH`."""
    secret: str
    """Key of a webhook's signature."""
    created_at: float
    services: int
    """Number of services watched now."""
    sent_at: float | None
    unsent: int
    """Number of notices that wait to be delivered."""
    failures: int
    """Failed deliveries in a row."""
    retry_at: float
    last_error: str

    @property
    def subject(self) -> str:
        """Return what is watched, for people."""
        return f"service {self.service_id}" if self.service_id is not None else f"search {self.query!r}"


@dataclass(frozen=True, slots=True)
class Notice:
    """A change of a service that a watch reports to its recipient once."""

    id: int
    at: float
    what: What
    service_id: int
    kind: str
    title: str
    url: str
    """Address of the service, with keys masked."""
    layers: tuple[str, ...] = ()
    """Names of the first removed layers."""
    more_layers: int = 0
    """Number of further removed layers."""
    more_services: int = 0
    """Further new services that the search found at the same time and that have no notice."""
    is_last: bool = False
    """The service changes so often that nothing more is reported until it was quiet for a week."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message to be sent: a watch with all of its notices that were not sent yet."""

    watch: Watch
    notices: tuple[Notice, ...]
