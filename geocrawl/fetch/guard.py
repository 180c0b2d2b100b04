"""The address guard: which network addresses a crawler that follows strangers' links may connect to.

The address is checked at every connect (the connector calls `socket_factory` for each, literal addresses included), so
a name cannot pass the check and resolve to something else later. Literal addresses, and names that standards keep for
private networks, are also checked before each request, because through a proxy it is the proxy that connects.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable, Iterator
from functools import lru_cache

from geocrawl.model import FailureCode, Url
from geocrawl.settings import Settings
from geocrawl.urls import AddressRules, is_private_name

# As aiohappyeyeballs passes it: family, type, protocol, canonical name, socket address.
AddrInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MARK = "address guard"
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052, 2.1
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 from which hosts get addresses (IANA, Internet Protocol Version 6 Address Space)."""
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",  # IETF protocol assignments (RFC 6890): DS-Lite, PCP and TURN anycast, Oracle's metadata
            "192.31.196.0/24",  # AS112 (RFC 7535): a node may be in any network
            "192.52.193.0/24",  # multicast tunnels: AMT (RFC 7450)
            "192.88.99.0/24",  # 6to4 relay anycast, deprecated (RFC 7526)
            "192.175.48.0/24",  # direct delegation AS112 (RFC 7534)
            "168.63.129.16/32",  # the host agent of Azure's machines (Microsoft, "What is IP address 168.63.129.16?")
            "2001::/23",  # IETF protocol assignments (RFC 2928): Teredo, ORCHID, benchmarking, AMT, AS112
            "2001:db8::/32",  # documentation (RFC 3849)
            "2620:4f:8000::/48",  # direct delegation AS112 (RFC 7534)
            "3fff::/20",  # documentation (RFC 9637)
        ),
    )
)
"""Special-purpose networks that `ipaddress` calls global, at least in one version of Python (IANA, IPv4 and IPv6
Special-Purpose Address Registries; a cloud's own address besides)."""
_ISATAP = 0x5EFE  # RFC 5214, 6.1: interface identifier [00|02]00:5efe:a.b.c.d


class GuardRefusal(OSError):
    """An address that must not be connected. An OSError, so that the name's other addresses are tried."""

    def __init__(self, address: str) -> None:
        super().__init__(errno.EACCES, f"{MARK}: {address} is not a public address")


class AddressGuard:
    """Refuses every address that is not public unicast; with `allow_private` it lets all pass."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    def check(self, address: str) -> None:
        """Raise GuardRefusal for an address, as text with or without a zone, that must not be connected."""
        if not self._allow_private and not is_public(address):
            raise GuardRefusal(address)

    def check_host(self, host: str) -> None:
        """Do what `check` does if `host` is an IP address; the addresses of a name are checked when it is connected."""
        if not self.lets_pass(host):
            raise GuardRefusal(host)

    def lets_pass(self, host: str) -> bool:
        """Return whether `host` may be requested, judged by its text: no address and no name of a private network."""
        if self._allow_private:
            return True
        return is_public(host) if is_literal(host) else not is_private_name(host)

    def open_socket(self, info: AddrInfo) -> socket.socket:
        """Return a socket for the address that is about to be connected; raise GuardRefusal if it must not be."""
        family, kind, protocol, _, address = info
        self.check(str(address[0]))
        return socket.socket(family, kind, protocol)


def refusal_by_text(settings: Settings) -> Callable[[Url], str]:
    """Return a function that returns why the fetcher will refuse an address, judged by its text; '' for no reason.

    It applies the operator's lists, and the address guard to a host that is an IP address.
    """
    rules, guard = AddressRules(settings.allow, settings.deny), AddressGuard(allow_private=settings.allow_private)
    return lambda url: rules.reason(url) or ("" if guard.lets_pass(url.host) else FailureCode.GUARD)


def is_literal(host: str) -> bool:
    """Return whether `host` is an IP address, in the spelling of `urls.read_url`, which knows all others."""
    return ":" in host or host.rpartition(".")[2].isdigit()


@lru_cache(maxsize=4096)
def is_public(address: str) -> bool:
    """Return whether an address may be connected: it is public unicast, and so are the IPv4 addresses embedded in it.

    IPv4 in IPv6: mapped (RFC 4291, 2.5.5.2), NAT64 (RFC 6052), ISATAP (RFC 5214); 6to4 (RFC 3056) and Teredo (RFC 4380)
    are never public. Cloud metadata addresses are link-local (169.254.169.254), unique local (fd00:ec2::254) or among
    the special-purpose networks.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return _is_public_unicast(parsed)
    if parsed.ipv4_mapped is not None:
        return _is_public_unicast(parsed.ipv4_mapped)
    if parsed.sixtofour is not None:  # deprecated by RFC 7526, and versions of Python differ on whether it is global
        return False
    if parsed in _NAT64:
        return _is_public_unicast(_last_32_bits(parsed))
    return _is_public_unicast(parsed) and all(map(_is_public_unicast, _embedded(parsed)))


def _is_public_unicast(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    if any(address in network for network in _SPECIAL):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _embedded(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    if int(address) >> 32 & 0xFFFF_FFFF in (_ISATAP, 0x0200_0000 | _ISATAP):
        yield _last_32_bits(address)


def _last_32_bits(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
