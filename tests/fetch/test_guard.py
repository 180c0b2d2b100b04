"""The address guard, in every spelling of an address that must not be connected."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.fetch.failures import classify
from geocrawl.fetch.guard import AddressGuard, GuardRefusal, is_literal, is_public
from geocrawl.model import FailureCode

PRIVATE = """
127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254
100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255
240.0.0.1 255.255.255.255 :: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 2001:db8::1 100::1
::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1
64:ff9b::169.254.169.254 64:ff9b:1::1 2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::
2002:808:808::1
2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:0a00:0001:: 2a00:1450::5efe:10.0.0.1 2a00:1450::200:5efe:127.0.0.1
168.63.129.16 192.0.0.8 192.0.0.9 192.0.0.192 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 ::ffff:168.63.129.16
64:ff9b::168.63.129.16 64:ff9b::192.88.99.1 2a00:1450::5efe:168.63.129.16 3fff::1 3fff:fff:ffff::1 5f00::1 4000::1
2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:20::1 2001:30::1 2620:4f:8000::1 100:0:0:1::1 ::ffff:0:10.0.0.1
nonsense
"""
PUBLIC = """
8.8.8.8 1.1.1.1 93.184.216.34 100.63.255.255 100.128.0.0 172.32.0.1 2a00:1450:4001::1 2606:4700::1111
::ffff:8.8.8.8 64:ff9b::8.8.8.8 2a00:1450::5efe:8.8.8.8 168.63.129.17 192.0.1.1 192.88.98.1 2001:200::1 3fff:1000::1
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_a_private_address_is_refused(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(GuardRefusal):
        AddressGuard(allow_private=False).check(address)
    AddressGuard(allow_private=True).check(address)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_a_public_address_passes(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_embedding_an_ipv4_address_does_not_make_it_public(inner: ipaddress.IPv4Address) -> None:
    number = int(inner)
    forms = (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80)
    for form in forms:
        assert is_public(str(ipaddress.IPv6Address(form))) <= is_public(str(inner))


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_nothing_passes_that_the_standard_library_calls_local(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    local = address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
    assert not (local and is_public(str(address)))


def test_names_are_left_to_their_addresses() -> None:
    guard = AddressGuard(allow_private=False)
    guard.check_host("localhost.example")
    assert is_literal("127.0.0.1") and is_literal("::1") and not is_literal("a1.example")
    with pytest.raises(GuardRefusal):
        guard.check_host("10.0.0.1")


@pytest.mark.parametrize("name", ["localhost", "maps.localhost", "nas.local", "db.internal", "router.home.arpa"])
def test_a_name_of_private_networks_is_refused_without_a_look_up(name: str) -> None:
    with pytest.raises(GuardRefusal, match=name):
        AddressGuard(allow_private=False).check_host(name)
    AddressGuard(allow_private=True).check_host(name)


def test_no_socket_is_made_for_a_private_address() -> None:
    guard = AddressGuard(allow_private=False)
    with pytest.raises(GuardRefusal):
        guard.open_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))
    guard.open_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80))).close()


def test_several_refusals_that_arrive_as_one_error_are_guard() -> None:
    first, second = GuardRefusal("127.0.0.1"), GuardRefusal("::1")
    assert classify(OSError(first.errno, f"Multiple exceptions: {first}, {second}"))[0] is FailureCode.GUARD
    assert classify(PermissionError(13, "Permission denied"))[0] is not FailureCode.GUARD
