"""Our own network: whether it is away, and what the visits of that time changed is put back.

That is done as soon as an outage is noticed and after each try in it, not at its end: nobody sees services die in
between, and whatever ends the daemon leaves no trace of the outage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from geocrawl.daemon.outage import LOOK_BACK_S, Outage
from geocrawl.daemon.outage_undo_log import OURS, Traces
from geocrawl.store.operations.outages import end_rests, put_back, shorten_rests, well_hosts

if TYPE_CHECKING:
    from geocrawl.model import Entry, Lease, Visit
    from geocrawl.store.engine.database import Database

_WELL_HOSTS = 500
"""Known to be well from the start."""
_REST_S = 900.0
"""Longest rest of a host while the network is away: long enough that others are tried in its place."""


class Network:
    """What the visits say of our network, and what becomes of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._traces = Traces(database.connection)
        self.outage = Outage(well_hosts(database.connection, _WELL_HOSTS))

    def no_visit_is_under_way(self) -> None:
        """A new turn begins."""
        self._traces.forget_leases()

    def begun(self, lease: Lease) -> None:
        """A visit begins."""
        self._traces.leased(lease)

    def heed(self, entry: Entry, visit: Visit) -> str:
        """Take up how a visit ended; why the visits are to be interrupted, '' when they are not."""
        self.outage.heed(entry.url.host, visit.at, visit.http_status, visit.reason)
        self._traces.settled(entry, visit, away=self.outage.since is not None)
        if self.outage.suspected:
            return "the network is away"
        return "the network is back" if self.outage.since is not None else ""

    def put_back(self, now: float) -> Mapping[str, int] | None:
        """Undo what an outage changed so far; figures for the log when it is over."""
        since = self.outage.since
        if since is None:
            return None
        again = put_back(self._database, since, OURS, self._traces.endpoints)
        self._traces.forget_endpoints()
        if self.outage.suspected:
            shorten_rests(self._database, self._traces.hosts, now + _REST_S)
            return None
        end_rests(self._database, self._traces.hosts, now)
        self._traces.forget()
        self.outage.end()
        return {"away_s": round(now - since - LOOK_BACK_S), "tried_again": again}
