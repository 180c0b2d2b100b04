"""Define watches, which tell people of changes in the catalogue, and the notices that they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MOST_FAILURES = 10
"""After so many failed deliveries in a row a watch is given up: it is tried once a day, and `check` warns of it."""


class What(StrEnum):
    """What a notice reports."""

    DIED = "died"
    """No address of the service answers any more: all are down or gone."""
    RETURNED = "returned"
    SLOW = "slow"
    """A service that is asked at an interval answers slowly against its own usual."""
    USUAL = "usual-speed"
    """A service that was slow answers as fast as usual again."""
    MOVED = "moved"
    """The service has moved to another address for good."""
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
    """A web address, `mail:ADDRESS` or `file:PATH`; '': nobody is told."""
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
    every_s: float | None = None
    """Time between two probes, in seconds; None: by the health of what is watched."""

    @property
    def watches_nothing(self) -> bool:
        """Return whether the service that is watched is gone from the catalogue."""
        return self.service_id is not None and not self.services

    @property
    def subject(self) -> str:
        """Return what is watched, for people."""
        return f"service {self.service_id}" if self.service_id is not None else f"search {self.query!r}"


@dataclass(frozen=True, slots=True)
class LateWatch:
    """A watch whose notices do not arrive: an attempt failed, none was made for an hour, or its search is not valid."""

    id: int
    recipient: str
    unsent: int
    since: float | None
    """Time of the oldest notice that waits."""
    failures: int
    retry_at: float
    last_error: str


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
    moved_to: str = ""
    """Address to which the service has moved, with keys masked."""
    is_last: bool = False
    """The service changes so often that nothing more is reported until it was quiet for a week."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message to be sent: a watch with all of its notices that were not sent yet."""

    watch: Watch
    notices: tuple[Notice, ...]
