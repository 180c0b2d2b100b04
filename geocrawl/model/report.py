"""Define a row of the report of a month."""

from __future__ import annotations

from dataclasses import dataclass


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

    @property
    def availability(self) -> float | None:
        """Return the share of valid answers, 0…1; None without probes."""
        return self.valid / self.probes if self.probes else None
