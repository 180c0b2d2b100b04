"""Compute 64-bit keys of addresses, which identify rows and by which caps choose URLs; and read stored addresses.

A key is the first 64 bits of BLAKE2b (RFC 7693), read as a signed integer, because that is what SQLite stores
compactly. Among 100 million URLs the chance that any two share a key is 3 in 10,000 (birthday bound).
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from geocrawl.model import Url
from geocrawl.urls import read_url, server_key

_HALF = 1 << 63
_BITS = 64


def page_key(identity: str) -> int:
    """Return the key of a page by its identity."""
    return _key(b"page " + identity.encode("utf-8", "surrogatepass"))


def probe_key(kind: str, endpoint_key: str) -> int:
    """Return the key of a probe by its endpoint: a page at the same address has another key."""
    return _key(f"probe {kind} {endpoint_key}".encode("utf-8", "surrogatepass"))


def twin_key(endpoint_key: str) -> int:
    """Return a key that is the same for endpoints of one server with the same content by several protocols."""
    return _key(b"server " + server_key(endpoint_key).encode("utf-8", "surrogatepass"))


def group_key(group: str) -> int:
    """Return the key of a group of addresses that differ only in their query."""
    return _key(b"group " + group.encode("utf-8", "surrogatepass"))


def is_over_cap(key: int, seen: int, cap: int) -> bool:
    """Return whether a URL is left out of its group, when `seen` of it were seen and at most `cap` are wanted.

    Keys are uniform, so the `cap` smallest of `seen` keys are those below the fraction cap / seen of their range, give
    or take the square root of `cap`. The bound falls as more are seen and depends on their number alone, so which URLs
    are kept is decided by their text, not by their arrival, and no list of them is needed.
    """
    return seen > cap and (key + _HALF) * seen >= cap << _BITS


def share_of_keys(key: int) -> float:
    """Return the share of all keys that are less, 0…1: `is_over_cap` keeps the addresses of the least shares."""
    return (key + _HALF) / (1 << _BITS)


def _key(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=1024)  # a lease reads an address to check the limits, and again to hand it out
def stored_url(address: str) -> Url:
    """Return the URL of an address that was stored as `Url.address`: `read_url` reads all that it has written."""
    url = read_url(address)
    assert url is not None, f"a stored address is no URL: {address!r}"
    return url
