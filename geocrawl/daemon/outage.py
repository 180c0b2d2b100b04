"""Noticing that the network itself is away: visits in a row, to several hosts that are known to be well, that reached
nobody.

Going on would spend the tries of every address, rest every host and call every service dead for what is our own
trouble. So the daemon puts back what those visits changed (`outage_undo_log.py`), waits, and tries with a few visits
whether the network is back.

A host is known to be well when it answered before; while nobody has answered yet, any host counts. Dead hosts that are
asked one after the other are therefore no outage. Hosts that were taken for lost and were not heard of when it ended
count again only once they have answered: if they died in truth, they raise no second alarm.
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
"""Reasons of visits that reached nobody."""
CUT_OFF = frozenset(
    map(str, (FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL, FailureCode.RESET, FailureCode.TRUNCATED))
)
"""Reasons of visits that were under way when the network went; they alone are no sign of it."""
LOOK_BACK_S = 60.0
"""An answer that was on its way may be settled after the first failures, so these may be as much older."""
_IN_A_ROW, _HOSTS = 10, 5
_REMEMBERED = 2_000
_FIRST_S, _LONGEST_S = 15.0, 300.0


class Outage:
    """What the visits say of the network."""

    def __init__(self, well: Iterable[str] = ()) -> None:
        """`well`: hosts that are known to answer, the last one to do so last."""
        self._well = dict.fromkeys(well)
        self._lost: set[str] = set()
        self._in_a_row = 0
        self._pauses = 0
        self._first_at = 0.0
        self._away_since: float | None = None

    @property
    def suspected(self) -> bool:
        """Whether the network seems to be away."""
        return self._in_a_row >= _IN_A_ROW and len(self._lost) >= _HOSTS

    @property
    def since(self) -> float | None:
        """When it began (seconds since the epoch), while it lasts and until `end`; None: all is well."""
        return self._away_since

    @property
    def text(self) -> str:
        """What is the matter, a line for a person."""
        return f"the network seems to be away: the last {self._in_a_row} visits reached nobody"

    def end(self) -> None:
        """It is over, and what it changed was put back."""
        self._away_since = None
        self._pauses = 0

    def heed(self, host: str, at: float, http_status: int | None, reason: str) -> None:
        """Take up how and when a visit of a host ended."""
        if reason in UNREACHED:
            if http_status is None:  # else an answer that is remembered: robots.txt said 503 a while ago
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
        """How long to wait before the next try; longer each time."""
        self._pauses += 1
        return float(min(_FIRST_S * 2 ** (self._pauses - 1), _LONGEST_S))
