"""Remember the state of endpoints and hosts before visits that reached no server, so that an outage can be undone.

An endpoint's stored state is read before its probe, and kept when the probe reaches no server. As soon as another visit
is answered, the network was there, and older entries are dropped. So the log is nearly empty most of the time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from geocrawl.app.network_outage import LOOK_BACK_S, is_in_vain
from geocrawl.model import Purpose
from geocrawl.store import Outages, Standing, UnreachedEndpoint, UnreachedHost

if TYPE_CHECKING:
    from geocrawl.model import Entry, Lease, Visit

_K = TypeVar("_K")
_Kept = TypeVar("_Kept", UnreachedEndpoint, UnreachedHost)
_MOST = 10_000
"""Endpoints, and hosts, that are remembered at most. Later visits of the same outage are not undone."""


class UndoLog:
    """The state of endpoints and hosts before visits that reached no server."""

    def __init__(self, outages: Outages) -> None:
        self._outages = outages
        self._asked: dict[int, Standing] = {}
        self._endpoints: dict[int, UnreachedEndpoint] = {}
        self._hosts: dict[str, UnreachedHost] = {}

    @property
    def endpoints(self) -> tuple[UnreachedEndpoint, ...]:
        """Return the endpoints whose probes reached no server, oldest first."""
        return tuple(self._endpoints.values())

    @property
    def hosts(self) -> tuple[UnreachedHost, ...]:
        """Return the hosts whose visits reached no server, oldest first."""
        return tuple(self._hosts.values())

    def drop_leases(self) -> None:
        """Drop the states of endpoints whose probe is under way."""
        self._asked.clear()

    def drop_endpoints(self) -> None:
        """Drop all endpoints: their states are restored."""
        self._endpoints.clear()

    def clear(self) -> None:
        """Drop all endpoints and hosts: the outage is over and undone."""
        self._endpoints.clear()
        self._hosts.clear()

    def leased(self, lease: Lease) -> None:
        """Read the state of an endpoint before its probe begins."""
        if lease.entry.purpose is Purpose.PROBE:
            standing = self._outages.standing_of(lease.entry.id)
            if standing is not None:
                self._asked[lease.entry.id] = standing

    def settled(self, entry: Entry, visit: Visit, *, away: bool) -> None:
        """Record how a visit ended. `away`: an outage is suspected, so an answer drops no older entries."""
        asked = self._asked.pop(entry.id, None)
        if is_in_vain(visit.http_status, visit.reason):
            self._keep(visit, asked)
            return
        if asked is not None:
            self._endpoints.pop(asked.endpoint_id, None)
        if visit.http_status is not None:
            self._hosts.pop(visit.lease.host.name, None)
            if not away:
                _drop_older(self._endpoints, visit.at - LOOK_BACK_S)
                _drop_older(self._hosts, visit.at - LOOK_BACK_S)

    def _keep(self, visit: Visit, asked: Standing | None) -> None:
        host = visit.lease.host
        if len(self._hosts) < _MOST:
            troubled_since = max(visit.at - LOOK_BACK_S, host.troubled_at + 0.001)
            former = UnreachedHost(host.name, visit.at, host.errors, host.last_error_at, troubled_since)
            self._hosts.setdefault(host.name, former)
        if asked is None:
            return
        first = self._endpoints.get(asked.endpoint_id)
        if first is None and len(self._endpoints) >= _MOST:
            return
        if first is None or first.last_probe != asked.last_probe:  # another process probed the endpoint since
            first = UnreachedEndpoint(asked, visit.at, asked.last_probe)
        last_probe = visit.at if visit.verdict is not None else asked.last_probe
        self._endpoints[asked.endpoint_id] = replace(first, last_probe=last_probe)


def _drop_older(kept: dict[_K, _Kept], at: float) -> None:
    """Drop entries older than `at`. Entries are in insertion order, oldest first."""
    while kept:
        key, first = next(iter(kept.items()))
        if first.since >= at:
            return
        del kept[key]
