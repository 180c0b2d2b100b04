"""Noticing that the network itself is away: many visits in a row, to several hosts, that reached nobody.

Going on would spend the tries of every address and rest every host for what is our own trouble. So the daemon waits,
and tries with a few visits whether it is back.
"""

from __future__ import annotations

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
_IN_A_ROW, _HOSTS = 20, 5
"""Of hosts that answer four times in ten, one row in 27,000 is as long."""
_FIRST_S, _LONGEST_S = 15.0, 300.0


class Outage:
    """What the visits say of the network."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._hosts: set[str] = set()
        self._pauses = 0
        self._began = 0.0
        self._was_away_since: float | None = None

    @property
    def suspected(self) -> bool:
        """Whether the network seems to be away."""
        return self._in_a_row >= _IN_A_ROW and len(self._hosts) >= _HOSTS

    @property
    def text(self) -> str:
        """What is the matter, a line for a person."""
        return f"the network seems to be away: the last {self._in_a_row} visits reached nobody"

    def ended(self) -> float | None:
        """When an outage began (seconds since the epoch) that is over since the last time this was asked; else None."""
        since, self._was_away_since = self._was_away_since, None
        return since

    def heed(self, host: str, at: float, http_status: int | None, reason: str) -> None:
        """Take up how and when a visit of a host ended."""
        if http_status is None and reason in UNREACHED:
            self._began = at if self._in_a_row == 0 else self._began
            self._in_a_row += 1
            if len(self._hosts) < _HOSTS:
                self._hosts.add(host)
        elif http_status is not None:
            if self.suspected:
                self._was_away_since = self._began
            self._in_a_row, self._pauses = 0, 0
            self._hosts.clear()

    def pause_s(self) -> float:
        """How long to wait before the next try; longer each time."""
        self._pauses += 1
        return float(min(_FIRST_S * 2 ** (self._pauses - 1), _LONGEST_S))
