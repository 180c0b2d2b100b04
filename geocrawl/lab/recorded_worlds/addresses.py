"""Compute the keys of a recorded web's answers: two spellings of one address have one key."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_plus

# RFC 3986, 6.2.2: escapes of unreserved characters are decoded, all others get capital letters; characters that an
# address must not contain are escaped as UTF-8.
_NOT_NORMALISED = re.compile(r"%([0-9A-Fa-f]{2})|[^A-Za-z0-9_.~\-!$&'()*+,/:;=?@%\[\]|]")
_UNRESERVED = re.compile(r"[A-Za-z0-9_.~\-]")


def key_of(address: str) -> str:
    """Return the key of an absolute address: host[:port]/path?query."""
    host, target = split_address(address)
    return host + target


def split_address(address: str) -> tuple[str, str]:
    """Return (host[:port], path?query) of an absolute address, both normalised, without fragment."""
    rest = address.partition("://")[2].partition("#")[0]
    end = min((i for i in (rest.find("/"), rest.find("?")) if i >= 0), default=len(rest))
    host, target = rest[:end].rpartition("@")[2].strip().lower(), rest[end:]
    host = host.removesuffix(":80").rstrip(".")
    return host, normalised_target(target if target.startswith("/") else "/" + target)


def normalised_target(target: str) -> str:
    """Return a path?query with normalised percent-encoding (RFC 3986, 6.2.2)."""
    return _NOT_NORMALISED.sub(_normalised, target)


def _normalised(found: re.Match[str]) -> str:
    if found[1] is None:
        return quote(found[0], safe="", errors="replace")
    char = chr(int(found[1], 16))
    return char if _UNRESERVED.fullmatch(char) else f"%{found[1].upper()}"


def read_query(target: str) -> list[tuple[str, str]]:
    """Return (name, value) of each parameter of a path?query, decoded."""
    parts = (part.partition("=") for part in target.partition("?")[2].split("&") if part)
    return [(unquote_plus(name), unquote_plus(value)) for name, _, value in parts]
