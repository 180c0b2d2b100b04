"""Make what was crawled fit for the public: secrets masked, invisible characters removed, only web addresses linked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from geocrawl.sanitize import masked, plain
from geocrawl.urls import capabilities_address


def published(value: Any) -> Any:
    """Return a value with every text in it masked and made plain; lists and mappings are copied."""
    if isinstance(value, str):
        return masked(plain(value))
    if isinstance(value, Mapping):
        return {key: published(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [published(each) for each in value]
    return value


def as_json(value: Any) -> bytes:
    """Return a published value as JSON."""
    return json.dumps(published(value), ensure_ascii=False, separators=(",", ":")).encode()


def web_address(text: str) -> str:
    """Return a masked address that may stand in a link; '' for one of another scheme than http and https."""
    address = masked(plain(text))
    return address if address.lower().startswith(("http://", "https://")) else ""


def is_masked(text: str) -> bool:
    """Return whether an address has a secret, which the public does not see."""
    return masked(text) != text


def client_address(kind: str, address: str) -> str:
    """Return the address that describes a service, as map clients take it."""
    return address if "***" in address else capabilities_address(kind, address) or address
