"""Detect that this machine's network is away: many visits in a row, to several well hosts, that reached no server.

Crawling on during an outage would spend the attempts of every address, put every host into back-off and mark every
service as down, although none of them failed. So what those visits changed is undone (`outage_undo_log.py`), and after
a pause a few visits try whether the network is back.

A proxy or a gateway that fails answers for every server alike, by a status such as 503 (`crawler/visits.py`): such an
answer counts as if nobody had been reached. One host that answers 503 is no outage, however often: several hosts have
to, in a row, and nobody else in between.

A host is *well* when it has answered before; until any host has answered, all hosts count as well. Visits to dead
hosts, one after the other, are therefore no outage. A host that could not be reached during an outage and has not
answered at its end counts as well again only after an answer: a host that is really dead causes no second alarm.

A crawl or a probe of a list watches gateways alone: a person's list may well begin with ten dead hosts, and the
fetcher tells a network that is away by itself (`fetch/own_faults.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from geocrawl.crawler.visits import GATEWAY_STATUSES, may_be_a_gateways
from geocrawl.model import FailureCode

UNREACHED = frozenset(
    {
        str(code)
        for code in (
            FailureCode.DNS,
            FailureCode.REFUSED,
            FailureCode.TIMEOUT_CONNECT,
            FailureCode.PROXY,
        )
    }
    | {"robots-unreachable"}
)
"""Reasons of visits that reached no server."""
CUT_OFF = frozenset(
    map(str, (FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL, FailureCode.RESET, FailureCode.TRUNCATED))
)
"""Reasons of visits that were under way when the network failed; alone they are no sign of an outage."""
LOOK_BACK_S = 60.0
"""How much earlier than its first failed visit an outage may have begun: an answer that was on its way may be settled
after failures that came before it."""
IN_VAIN = UNREACHED | CUT_OFF | {f"http-{status}" for status in GATEWAY_STATUSES}
"""Reasons of visits that failed because of this machine's network, if it was away."""
_IN_A_ROW, _HOSTS = 10, 5
_REMEMBERED = 2_000
_FIRST_S, _LONGEST_S = 15.0, 300.0


def is_in_vain(http_status: int | None, reason: str) -> bool:
    """Return whether a visit that ended so reached no server, if the network was away."""
    return reason in IN_VAIN and (http_status is None or may_be_a_gateways(http_status, reason))


class Outage:
    """Decides from the results of visits whether the network is down."""

    def __init__(self, well: Iterable[str] = (), *, gateways_only: bool = False, demand_well: bool = False) -> None:
        """Begin without an outage; `well` are the hosts known to answer, the last to answer at the end.

        `gateways_only`: visits that reached nobody are no sign. `demand_well`: hosts do not count as well as long as no
        host has answered.
        """
        self._well = dict.fromkeys(well)
        self._gateways_only = gateways_only
        self._demand_well = demand_well
        self._status: int | None = None
        self._lost: set[str] = set()
        self._in_a_row = 0
        self._pauses = 0
        self._first_at = 0.0
        self._away_since: float | None = None

    @property
    def suspected(self) -> bool:
        """Return whether the network seems to be down."""
        return self._in_a_row >= _IN_A_ROW and len(self._lost) >= _HOSTS

    @property
    def since(self) -> float | None:
        """Return when the outage began (seconds since the epoch), until `end` is called; None without an outage."""
        return self._away_since

    @property
    def text(self) -> str:
        """Return a line for a person about the outage."""
        if self._status is not None:
            return f"every host answers HTTP {self._status}: a proxy or gateway on the way seems to fail"
        return f"the network seems to be down: the last {self._in_a_row} visits reached no server"

    def end(self) -> None:
        """End the outage: the network is back, and what the outage changed was undone."""
        self._away_since = None
        self._pauses = 0

    def observe(self, host: str, at: float, http_status: int | None, reason: str) -> None:
        """Note when and how a visit of a host ended."""
        if may_be_a_gateways(http_status, reason):
            self._status = self._status or http_status
            self._unreached(host, at)
        elif reason in UNREACHED:
            # A status would be that of a former robots.txt answer: no request was made now.
            if http_status is None and not self._gateways_only:
                self._status = None
                self._unreached(host, at)
        elif http_status is not None and reason not in CUT_OFF:
            self._answered(host)

    def _answered(self, host: str) -> None:
        if self.suspected:
            for each in self._lost:
                self._well.pop(each, None)
        self._in_a_row = 0
        self._status = None
        self._lost.clear()
        self._well.pop(host, None)
        self._well[host] = None
        if len(self._well) > _REMEMBERED:
            del self._well[next(iter(self._well))]

    def _unreached(self, host: str, at: float) -> None:
        if self._in_a_row == 0:
            self._first_at = at
        self._in_a_row += 1
        if len(self._lost) < _REMEMBERED and (host in self._well or not (self._well or self._demand_well)):
            self._lost.add(host)
        if self.suspected and self._away_since is None:
            self._away_since = self._first_at - LOOK_BACK_S

    def pause_s(self) -> float:
        """Return how long to wait before the next try, longer each time."""
        self._pauses += 1
        return float(min(_FIRST_S * 2 ** (self._pauses - 1), _LONGEST_S))
