"""Lease hosts in memory, for a fetcher that shares its hosts with no other process."""

from __future__ import annotations

from collections import OrderedDict

from geocrawl.model import HostState, IpPlace, IpRequest, IpSlot, find_place
from geocrawl.ports import HostBusy, HostLease

_MOST_ADDRESSES = 4096


class Unleased:
    """A host that nobody else requests (`ports.HeldHost`)."""

    async def extend(self, until: float) -> None:
        """Do nothing: there is no lease that could end."""


UNLEASED = Unleased()


class _OwnLease(Unleased):
    """A host that another worker of this process must not request meanwhile (`ports.HostLease`)."""

    def __init__(self, hosts: OwnHosts, state: HostState) -> None:
        self._hosts = hosts
        self.state = state

    async def release(self, state: HostState, now: float) -> None:
        """End the lease and keep the host's politeness."""
        self._hosts.take_back(state)


class OwnHosts:
    """`ports.HostLeases` in memory, for a fetcher that shares its hosts with no other process."""

    def __init__(self) -> None:
        self._leased: set[str] = set()
        self._states: dict[str, HostState] = {}
        self._slots: OrderedDict[str, dict[int, IpSlot]] = OrderedDict()
        """IP address → its slots by number."""

    async def covers(self, host: str) -> bool:
        """Return False: nobody opted out."""
        return False

    async def lease(self, name: str, now: float, *, wait_s: float) -> HostLease | HostBusy:
        """Lease a host, unless it is leased or backs off for longer than `wait_s`."""
        state = self._states.get(name) or HostState(name)
        if name in self._leased:
            return HostBusy(now, "this process")
        if state.next_at - now > wait_s:
            return HostBusy(state.next_at, "")
        self._leased.add(name)
        return _OwnLease(self, state)

    def take_back(self, state: HostState) -> None:
        """End the lease of a host and keep its politeness."""
        self._leased.discard(state.name)
        self._states[state.name] = state

    async def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        """Take one of the places of an IP address, or return when to ask again."""
        slots = self._slots.get(ip, {})
        place = find_place(ip, tuple(slots.values()), now, request)
        if isinstance(place, IpPlace):
            until = place.begins_at + request.lasts_s
            self._slots[ip] = slots | {place.slot: IpSlot(place.slot, place.begins_at, until)}
            self._slots.move_to_end(ip)
            if len(self._slots) > _MOST_ADDRESSES:
                self._slots.popitem(last=False)
        return place

    async def leave_ip(self, place: IpPlace, now: float) -> None:
        """Give a place back."""
        if place.ip in self._slots:
            self._slots[place.ip][place.slot] = IpSlot(place.slot, place.begins_at, 0.0)
