"""Read an address that the database holds."""

from __future__ import annotations

from functools import lru_cache

from geocrawl.model import Url
from geocrawl.urls import read_url


@lru_cache(maxsize=1024)  # a lease reads an address to check the limits, and again to hand it out
def stored_url(address: str) -> Url:
    """Return the URL of an address that was stored as `Url.address`: `read_url` reads all that it has written."""
    url = read_url(address)
    assert url is not None, f"a stored address is no URL: {address!r}"
    return url
