"""Detect that this machine's network is away: many visits in a row, to several well hosts, that reached no server.

Crawling on during an outage would spend the attempts of every address, put every host into back-off and mark every
service as down, although none of them failed. So the daemon undoes what those visits changed (`outage_undo_log.py`),
waits, and tries with a few visits whether the network is back.

A host is *well* when it has answered before; until any host has answered, all hosts count as well. Visits to dead
hosts, one after the other, are therefore no outage. A host that could not be reached during an outage and has not
answered at its end counts as well again only after an answer: a host that is really dead causes no second alarm.
"""

from __future__ import annotations

from collections.abc import Iterable

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
_IN_A_ROW, _HOSTS = 10, 5
_REMEMBERED = 2_000
_FIRST_S, _LONGEST_S = 15.0, 300.0


class Outage:
    """Decides from the results of visits whether the network is down."""

    def __init__(self, well: Iterable[str] = ()) -> None:
        """Begin without an outage; `well` are the hosts known to answer, the last to answer at the end."""
        self._well = dict.fromkeys(well)
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
        return f"the network seems to be down: the last {self._in_a_row} visits reached no server"

    def end(self) -> None:
        """End the outage: the network is back, and what the outage changed was undone."""
        self._away_since = None
        self._pauses = 0

    def observe(self, host: str, at: float, http_status: int | None, reason: str) -> None:
        """Note when and how a visit of a host ended."""
        if reason in UNREACHED:
            if http_status is None:  # a status would be that of a former robots.txt answer: no request was made now
                self._unreached(host, at)
        elif http_status is not None:
            self._answered(host)

    def _answered(self, host: str) -> None:
        if self.suspected:
            for each in self._lost:
                self._well.pop(each, None)
        self._in_a_row = 0
        self._lost.clear()
        self._well.pop(host, None)
        self._well[host] = None
        if len(self._well) > _REMEMBERED:
            del self._well[next(iter(self._well))]

    def _unreached(self, host: str, at: float) -> None:
        if self._in_a_row == 0:
            self._first_at = at
        self._in_a_row += 1
        if len(self._lost) < _REMEMBERED and (host in self._well or not self._well):
            self._lost.add(host)
        if self.suspected and self._away_since is None:
            self._away_since = self._first_at - LOOK_BACK_S

    def pause_s(self) -> float:
        """Return how long to wait before the next try, longer each time."""
        self._pauses += 1
        return float(min(_FIRST_S * 2 ** (self._pauses - 1), _LONGEST_S))
