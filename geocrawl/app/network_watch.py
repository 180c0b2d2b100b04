"""Watch this machine's network by the visits of the crawl, and undo what visits changed while the network was away.

Changes are undone as soon as an outage is noticed and after each try during the outage, not at its end. So no service
appears as down in between, and a process that ends during an outage leaves no trace of the outage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from geocrawl.app.network_outage import IN_VAIN, LOOK_BACK_S, Outage
from geocrawl.app.outage_undo_log import UndoLog

if TYPE_CHECKING:
    from geocrawl.model import Entry, Lease, Visit
    from geocrawl.store import Outages

_WELL_HOSTS = 500
"""Number of hosts, those that answered last before the process started, that count as well from its start."""
_REST_S = 900.0
"""Longest back-off of a host while the network is down: long enough that other hosts are tried in its place."""


class NetworkWatch:
    """Detects outages of this machine's network, and undoes their effects."""

    def __init__(self, outages: Outages, *, gateways_only: bool = False, demand_well: bool = False) -> None:
        """`gateways_only`, `demand_well`: as in `Outage`."""
        self._outages = outages
        self._undo_log = UndoLog(outages)
        well = outages.answering_hosts(_WELL_HOSTS)
        self.outage = Outage(well, gateways_only=gateways_only, demand_well=demand_well)

    def reset(self) -> None:
        """Drop the state of in-flight visits, before a turn of the daemon begins."""
        self._undo_log.drop_leases()

    def leased(self, lease: Lease) -> None:
        """Note that a visit begins."""
        self._undo_log.leased(lease)

    def settled(self, entry: Entry, visit: Visit) -> str:
        """Note how a visit ended. Returns why the crawl has to be interrupted, '' when it has not."""
        self.outage.observe(entry.url.host, visit.at, visit.http_status, visit.reason)
        self._undo_log.settled(entry, visit, away=self.outage.since is not None)
        if self.outage.suspected:
            return "the network is down"
        return "the network is back" if self.outage.since is not None else ""

    def undo_outage(self, now: float, *, hosts_rest: bool = True) -> Mapping[str, int] | None:
        """Undo what an outage has changed so far. Returns counts for a log when the outage is over, else None.

        `hosts_rest`: during the outage hosts keep their back-off, shortened, so that others are tried in their place.
        """
        since = self.outage.since
        if since is None:
            return None
        again = self._outages.put_back(since, IN_VAIN, self._undo_log.endpoints)
        self._undo_log.drop_endpoints()
        if self.outage.suspected and hosts_rest:
            self._outages.shorten_back_offs(self._undo_log.hosts, now + _REST_S)
            return None
        self._outages.end_back_offs(self._undo_log.hosts, now)
        if self.outage.suspected:
            return None
        self._undo_log.clear()
        self.outage.end()
        return {"away_s": round(now - since - LOOK_BACK_S), "tried_again": again}
