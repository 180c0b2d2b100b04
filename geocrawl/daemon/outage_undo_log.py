"""What visits that reached nobody have changed, remembered until it is known whose trouble it was.

Before a probe the endpoint's standing is read. When the probe reaches nobody, that standing is kept; once another visit
was answered, it is dropped, for then the network was there. So little is held most of the time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from geocrawl.daemon.outage import CUT_OFF, LOOK_BACK_S, UNREACHED
from geocrawl.model import Purpose
from geocrawl.store.engine.connection import Connection
from geocrawl.store.operations.outages import Rested, Standing, Touched, standing_of

if TYPE_CHECKING:
    from geocrawl.model import Entry, Lease, Visit

OURS = UNREACHED | CUT_OFF
_K = TypeVar("_K")
_Kept = TypeVar("_Kept", Touched, Rested)
_MOST = 10_000
"""Endpoints, and hosts, remembered at once: what comes after these in one outage is not put back."""


class Traces:
    """Endpoints and hosts as they stood before visits that reached nobody."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._asked: dict[int, Standing] = {}
        self._endpoints: dict[int, Touched] = {}
        self._hosts: dict[str, Rested] = {}

    @property
    def endpoints(self) -> tuple[Touched, ...]:
        """Those that were asked in vain, the first ones first."""
        return tuple(self._endpoints.values())

    @property
    def hosts(self) -> tuple[Rested, ...]:
        """Those that were asked in vain, the first ones first."""
        return tuple(self._hosts.values())

    def forget_leases(self) -> None:
        """No visit is under way."""
        self._asked.clear()

    def forget_endpoints(self) -> None:
        """They were put back."""
        self._endpoints.clear()

    def forget(self) -> None:
        """All was put back."""
        self._endpoints.clear()
        self._hosts.clear()

    def leased(self, lease: Lease) -> None:
        """A visit begins: note how its endpoint stands."""
        if lease.entry.purpose is Purpose.PROBE:
            standing = standing_of(self._connection, lease.entry.id)
            if standing is not None:
                self._asked[lease.entry.id] = standing

    def settled(self, entry: Entry, visit: Visit, *, away: bool) -> None:
        """A visit has ended. `away`: the network is thought to be, so nothing is dropped for an answer."""
        asked = self._asked.pop(entry.id, None)
        if visit.http_status is None and visit.reason in OURS:
            self._in_vain(visit, asked)
            return
        if asked is not None:
            self._endpoints.pop(asked.endpoint_id, None)
        if visit.http_status is not None:
            self._hosts.pop(visit.lease.host.name, None)
            if not away:
                _drop_older(self._endpoints, visit.at - LOOK_BACK_S)
                _drop_older(self._hosts, visit.at - LOOK_BACK_S)

    def _in_vain(self, visit: Visit, asked: Standing | None) -> None:
        host = visit.lease.host
        if len(self._hosts) < _MOST:
            self._hosts.setdefault(host.name, Rested(host.name, visit.at, host.errors, host.last_error_at))
        if asked is None:
            return
        first = self._endpoints.get(asked.endpoint_id)
        if first is None and len(self._endpoints) >= _MOST:
            return
        if first is None or first.last_probe != asked.last_probe:  # somebody else asked it since
            first = Touched(asked, visit.at, asked.last_probe)
        last_probe = visit.at if visit.verdict is not None else asked.last_probe
        self._endpoints[asked.endpoint_id] = replace(first, last_probe=last_probe)


def _drop_older(kept: dict[_K, _Kept], at: float) -> None:
    """The first ones stand first."""
    while kept:
        key, first = next(iter(kept.items()))
        if first.since >= at:
            return
        del kept[key]
