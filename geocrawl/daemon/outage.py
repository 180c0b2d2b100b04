"""Noticing that the network itself is away: many visits in a row, to several hosts, that reached nobody.

Going on would spend the tries of every address and rest every host for what is our own trouble. So the daemon waits,
and tries with a few visits whether it is back.
"""

from __future__ import annotations

from geocrawl.model import FailureCode

_UNREACHED = frozenset(
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
_IN_A_ROW, _HOSTS = 20, 5
"""Of hosts that answer four times in ten, one row in 27,000 is as long."""
_FIRST_S, _LONGEST_S = 15.0, 300.0


class Outage:
    """What the visits say of the network."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._hosts: set[str] = set()
        self._pauses = 0

    @property
    def suspected(self) -> bool:
        """Whether the network seems to be away."""
        return self._in_a_row >= _IN_A_ROW and len(self._hosts) >= _HOSTS

    @property
    def text(self) -> str:
        """What is the matter, a line for a person."""
        return f"the network seems to be away: the last {self._in_a_row} visits reached nobody"

    def heed(self, host: str, http_status: int | None, reason: str) -> None:
        """Take up how a visit of a host ended."""
        if http_status is None and reason in _UNREACHED:
            self._in_a_row += 1
            if len(self._hosts) < _HOSTS:
                self._hosts.add(host)
        elif http_status is not None:
            self._in_a_row, self._pauses = 0, 0
            self._hosts.clear()

    def pause_s(self) -> float:
        """How long to wait before the next try; longer each time."""
        self._pauses += 1
        return float(min(_FIRST_S * 2 ** (self._pauses - 1), _LONGEST_S))
