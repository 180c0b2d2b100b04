"""Define counts over a whole catalogue, now and over time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KindCount:
    """The services of one kind."""

    kind: str
    services: int
    alive: int
    """Valid at their last probe, at one of their endpoints at least."""
    delivers: int
    """Number of the kind's services that delivered content."""
    layers: int
    """Named layers."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over the whole catalogue."""

    software_versions: tuple[tuple[str, str, int], ...]
    """(server software, its version, services), the commonest first: of ArcGIS Server alone, whose services say it."""
    versions: tuple[tuple[str, str, int], ...]
    """(kind, version of the protocol, services), the commonest first."""
    deviations: tuple[tuple[str, int], ...]
    """(code, endpoints valid at the last probe), the commonest first."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Counts the known services over time."""

    start: float
    end: float
    known: tuple[int, ...]
    """Services known at the end of each of equally long parts of that time."""


@dataclass(frozen=True, slots=True)
class SoftwareGrowth:
    """Counts the known services of each server software over time."""

    start: float
    """Time at which the first service was found, seconds since 1970 UTC."""
    end: float
    """Time at which the last service was found, seconds since 1970 UTC."""
    known: tuple[tuple[str, tuple[int, ...]], ...]
    """(server software by the address, services known at the start and at the end of each part of that time), the
    commonest first; '' for addresses that do not show it."""

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Return (server software, services known at the end), the commonest first."""
        return tuple((name, known[-1]) for name, known in self.known)

    @property
    def of_all(self) -> Growth:
        """Return how many services were known, whatever their software."""
        return Growth(self.start, self.end, tuple(map(sum, zip(*(known[1:] for _, known in self.known), strict=True))))


@dataclass(frozen=True, slots=True)
class Survival:
    """The survival of services (Kaplan and Meier, 1958)."""

    services: int
    """Endpoints that ever were valid, and were watched for an hour at least, by two probes or more."""
    deaths: int
    """Number of `services` that are down or gone now."""
    observed_days: float
    """Days for which the longest-known service was watched; `curve` says nothing beyond."""
    curve: tuple[tuple[float, float], ...]
    """(days since it was first seen valid, share still alive), from (0, 1) on, a step for each day with a death."""


@dataclass(frozen=True, slots=True)
class SignalYield:
    """Candidates of one kind that one signal named."""

    signal: str
    """As in `Evidence.signal`: query, path, text, script, script-file, form, sibling …"""
    kind: str
    candidates: int
    """Endpoints that it named."""
    probed: int
    """Number of `candidates` with a verdict."""
    valid: int
    alone: int
    """Valid ones that no other signal named."""
