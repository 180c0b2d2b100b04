"""Count the requests of clients, for the pages and for CSW, whose interpreter loads this file by its path."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass

_BURST_S = 10.0
"""A client may send at once what it may send in this time on average."""
_LEAST_BURST = 20.0
_MOST_CLIENTS = 10_000


@dataclass(slots=True)
class Client:
    """Counts the requests of one client (token bucket)."""

    left: float
    """Requests that it may still send; below 0 after a costly one."""
    at: float
    """The time to which `left` belongs."""
    at_once: int = 0
    """Requests that are being answered."""


class Rates:
    """Counts the requests of clients."""

    def __init__(self, per_minute: int) -> None:
        """`per_minute`: requests of a client, on average; 0: no limit."""
        self._per_s = per_minute / 60
        self._most = max(self._per_s * _BURST_S, _LEAST_BURST)
        self._clients: OrderedDict[str, Client] = OrderedDict()

    def client(self, address: str, now: float) -> Client:
        """Return what is known of a client, with what it gained since."""
        network = network_of(address)
        client = self._clients.pop(network, None) or Client(self._most, now)
        self._clients[network] = client
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        client.left = min(self._most, max(client.left, -self._most) + (now - client.at) * self._per_s)
        client.at = now
        return client

    def wait_s(self, client: Client) -> float:
        """Count a request; return 0, or how long the client must wait, in seconds."""
        if self._per_s and client.left < 1:
            return (1 - client.left) / self._per_s
        client.left -= 1
        return 0.0


def network_of(client: str) -> str:
    """Return what counts as one client: an IPv4 address, a network of 64 bits of IPv6, else the text itself."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return client
