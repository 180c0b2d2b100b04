"""Hosts: names, addresses in any spelling, registered domains."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PSLFILE, PublicSuffixList

from geocrawl.urls import is_own_machine, is_private_name, read_url, site_of
from geocrawl.urls.hosts import is_registry, read_authority, read_host
from tests.urls.strategies import texts


@pytest.mark.parametrize(
    "spelling",
    [
        "127.0.0.1",
        "2130706433",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7F.0x0.0.1",
        "0177.0.0.1",
        "017700000001",
        "0x7f000001",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
    ],
)
def test_a_number_in_any_spelling_is_read_as_an_address(spelling: str) -> None:
    found = read_url(f"http://{spelling}:8080/x")
    assert found is not None
    assert (found.host, found.origin, found.site) == ("127.0.0.1", "http://127.0.0.1:8080", "127.0.0.1")


@pytest.mark.parametrize(
    "spelling",
    ["256.1.1.1", "1.2.3.4.5", "4294967296", "1.2.3.256", "08.1", "0xg.1", "1.2.3.09", "a.1", "a.0x1", "1..2"],
)
def test_a_number_that_is_no_address_is_no_host(spelling: str) -> None:
    assert read_host(spelling) is None


@pytest.mark.parametrize("spelling", ["[::ffff:127.0.0.1]", "[::FFFF:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]"])
def test_ipv6_has_one_spelling(spelling: str) -> None:
    found = read_url(f"http://{spelling}/")
    assert found is not None
    assert ipaddress.ip_address(found.host) == ipaddress.ip_address("::ffff:127.0.0.1")
    assert found.origin == f"http://[{found.host}]"
    assert found.site == found.host


def test_an_ipv6_zone_is_refused() -> None:
    assert read_host("[fe80::1%25eth0]") is None
    assert read_host("[fe80::1%eth0]") is None


@given(st.integers(0, 2**32 - 1))
def test_all_spellings_of_an_address_agree(number: int) -> None:
    a, b, c, d = number.to_bytes(4, "big")
    expected = f"{a}.{b}.{c}.{d}"
    for text in (
        expected,
        f"{number}",
        f"{number:#x}",
        f"0{number:o}",
        f"{a}.{number & 0xFFFFFF}",
        f"{a:#x}.0{b:o}.{(c << 8) + d}",
    ):
        assert read_host(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EXAMPLE.Org.", "example.org"),
        ("my_host.example", "my_host.example"),
        ("localhost", "localhost"),
        ("地图.例え.example", "xn--wcs7d.xn--r8jz45g.example"),
        ("FAß.example", "xn--fa-hia.example"),
        ("bücher_x.example", "xn--bcher_x-n2a.example"),
        ("☃.example", "xn--n3h.example"),
        ("a" * 64 + ".org", None),
        (".".join(["abcdefg"] * 40), None),
        ("-", "-"),
        ("a%2Eb", "a.b"),
        ("a%2Fb", None),
        ("%ff", None),
        ("", None),
    ],
)
def test_names_are_lower_case_and_idna(text: str, expected: str | None) -> None:
    assert read_host(text) == expected


@pytest.mark.parametrize(
    ("scheme", "text", "origin"),
    [
        ("http", "a.org:80", "http://a.org"),
        ("https", "a.org:443", "https://a.org"),
        ("http", "a.org:443", "http://a.org:443"),
        ("http", "a.org:", "http://a.org"),
        ("http", "a.org:0080", "http://a.org"),
        ("http", "u:p@x@a.org:8080", "http://a.org:8080"),
        ("http", "a.org:99999", None),
        ("http", "a.org:-1", None),
        ("http", "::1", None),
    ],
)
def test_an_origin_leaves_out_user_and_default_port(scheme: str, text: str, origin: str | None) -> None:
    found = read_authority(scheme, text)
    assert (found.origin if found else None) == origin


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("maps.gov.cn", "maps.gov.cn"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("gis.agency.example", "agency.example"),
        ("10.1.2.3", "10.1.2.3"),
        ("2001:db8::1", "2001:db8::1"),
        ("me.github.io", "me.github.io"),
    ],
)
def test_a_site_is_the_registered_domain(host: str, site: str) -> None:
    assert site_of(host) == site


def test_names_in_idna_have_the_registered_domain_that_the_list_says() -> None:
    suffixes = PublicSuffixList()
    rules = [line.split()[0] for line in Path(PSLFILE).read_text("utf-8").splitlines() if line and line[:2] != "//"]
    written = [rule.lstrip("!*.").encode("idna").decode() for rule in rules if not rule.isascii()]
    assert len(written) > 300
    for suffix in [*written, "xn--zzzzzzz--", "xn--.example", "xn--a.example", "xn--p1ai.xn--99999999"]:
        for host in (suffix, f"xn--mnchen-3ya.{suffix}", f"www.xn--mnchen-3ya.{suffix}"):
            assert site_of(host) == (suffixes.privatesuffix(host) or host)
            assert is_registry(host) == (suffixes.privatesuffix(host) is None)


@given(texts)
def test_no_host_makes_it_raise(text: str) -> None:
    host = read_host(text.encode("utf-8", "replace").decode())
    if host is not None:
        assert read_host(f"[{host}]" if ":" in host else host) == host


@pytest.mark.parametrize(
    ("host", "own_machine", "private"),
    [
        ("localhost", True, True),
        ("maps.localhost", True, True),
        ("nas.local", False, True),
        ("db.internal", False, True),
        ("home.arpa", False, True),
        ("router.home.arpa", False, True),
        ("mylocalhost", False, False),
        ("notlocal.example", False, False),
        ("local.example", False, False),
        ("in-addr.arpa", False, False),
    ],
)
def test_names_of_private_networks(host: str, own_machine: bool, private: bool) -> None:
    assert (is_own_machine(host), is_private_name(host)) == (own_machine, private)
