"""Remember by the monotonic clock which hosts and addresses asked to be left alone (Retry-After).

The catalogue says the same by the wall clock, which may be set meanwhile. What a process remembers here ends with it:
the monotonic clock of another process or boot cannot be compared with it.
"""

from __future__ import annotations

from typing import NamedTuple

_MOST = 10_000
"""Number of addresses that are remembered; beyond it those go first that asked first."""
_SLEW = 0.001
"""Share of a wait by which the wall clock may run ahead of the monotonic one without being set."""


class _Rest(NamedTuple):
    until: float
    slack_s: float
    status: int


class Rests:
    """What hosts and addresses asked for, in one process."""

    def __init__(self) -> None:
        self._hosts: dict[str, float] = {}
        self._addresses: dict[str, _Rest] = {}

    def rest_host(self, name: str, now: float, seconds: float) -> None:
        """Note that a host is to be left alone. `now`: monotonic, as everywhere here."""
        self._hosts[name] = now + seconds

    def host_s(self, name: str, now: float) -> float:
        """Return for how many seconds a host is still to be left alone."""
        left_s = self._hosts.get(name, 0.0) - now
        if left_s <= 0.0:
            self._hosts.pop(name, None)
        return max(left_s, 0.0)

    def rest_address(self, address: str, now: float, seconds: float, status: int) -> None:
        """Note that an address answered with this status, and is to be left alone."""
        self._addresses.pop(address, None)
        self._addresses[address] = _Rest(now + seconds, 1.0 + _SLEW * seconds, status)
        if len(self._addresses) > _MOST:
            del self._addresses[next(iter(self._addresses))]

    def address_s(self, address: str, now: float) -> tuple[float, int]:
        """Return for how many seconds an address is still to be left alone, and what it answered; (0, 0) for none."""
        rest = self._addresses.get(address)
        if rest is None or rest.until - now <= rest.slack_s:
            self._addresses.pop(address, None)
            return 0.0, 0
        return rest.until - now, rest.status
