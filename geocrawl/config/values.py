"""Read durations, sizes, numbers, booleans, dates and proxies as people write them, and spell them.

Each reader raises ValueError with what was expected; the caller adds where the value was written.
"""

from __future__ import annotations

import datetime
import math
import re
from fractions import Fraction
from urllib.parse import urlsplit

_DURATION_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SIZE_UNITS_BYTES = {
    "": 1,
    "b": 1,
    "k": 1000,
    "kb": 1000,
    "kib": 1024,
    "m": 1000**2,
    "mb": 1000**2,
    "mib": 1024**2,
    "g": 1000**3,
    "gb": 1000**3,
    "gib": 1024**3,
}
_NUMBER = r"(\d{1,18}(?:\.\d{1,9})?)"
_DURATION_PART = re.compile(_NUMBER + r"\s*(ms|s|m|h|d|w)\s*", re.IGNORECASE)
_SIZE = re.compile(_NUMBER + r"\s*([a-z]*)", re.IGNORECASE)
_YES_NO = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_MEDIA_TYPE = re.compile(r"[\w.+-]+/(?:[\w.+-]+|\*)")
_CREDENTIALS = re.compile(r"\A([A-Za-z0-9+.-]*:?//)?.*@", re.DOTALL)  # a password may contain any character

DURATION = "a duration such as 90, 10m, 1h30m or 2d (no unit: seconds)"
SIZE = "a size such as 500000, 500k or 5MiB (no unit: bytes)"


def read_duration(value: object) -> float:
    """Return seconds, 0 or more, of a number or of text such as `90`, `1.5`, `500ms`, `10m`, `1h30m`, `2d`, `1w`."""
    if isinstance(value, str):
        return _duration_of_text(value.strip())
    return _number_at_least_zero(value, DURATION)


def _duration_of_text(text: str) -> float:
    if re.fullmatch(_NUMBER, text):
        return float(text)
    total, at = Fraction(0), 0
    while part := _DURATION_PART.match(text, at):
        total += Fraction(part[1]) * _DURATION_UNITS_MS[part[2].lower()]
        at = part.end()
    if not text or at != len(text):
        raise ValueError(DURATION)
    return float(total / 1000)


def spell_duration(seconds: float) -> str:
    """Return a duration as people write it, `1h30m`; `read_duration` reads it back (to a billionth of a second)."""
    if seconds == 0 or not seconds.is_integer():
        return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
    rest, parts = int(seconds), []
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(rest, _DURATION_UNITS_MS[unit] // 1000)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def read_size(value: object) -> int:
    """Return bytes, 0 or more, of a number or of text such as `500k` (1,000) or `5MiB` (1,048,576 each)."""
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip())
        if found is None or found[2].lower() not in _SIZE_UNITS_BYTES:
            raise ValueError(SIZE)
        return int(Fraction(found[1]) * _SIZE_UNITS_BYTES[found[2].lower()])
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(SIZE)
    return value


def spell_size(size_bytes: int) -> str:
    """Return a size as people write it, `5MiB`; `read_size` reads it back to the same number."""
    for unit in ("GiB", "MiB", "KiB"):
        factor = _SIZE_UNITS_BYTES[unit.lower()]
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)


def read_integer(value: object) -> int:
    """Return a whole number, written `20_000` or `20000`."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d[\d_]{0,17}", value.strip()):
        return int(value.strip().replace("_", ""))
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number")
    return value


def read_float(value: object) -> float:
    """Return a number, 0 or more."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError("a number") from None
    return _number_at_least_zero(value, "a number, 0 or more")


def read_boolean(value: object) -> bool:
    """Return true or false, which text may also spell yes, no, on, off, 1 or 0."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in _YES_NO:
        return _YES_NO[value.strip().lower()]
    raise ValueError("true or false")


def read_text(value: object) -> str:
    """Return one line of text; a line break would end the HTTP header in which it may be sent."""
    if not isinstance(value, str):
        raise ValueError('text in quotes, such as "…"')
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in value):
        raise ValueError("one line without control characters")
    return value.strip()


def read_date(value: object) -> str:
    """Return a day as YYYY-MM-DD; '' for none."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    text = read_text(value)
    if text:
        try:
            return datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC).date().isoformat()
        except ValueError:
            raise ValueError("a day such as 2024-05-31") from None
    return ""


def read_proxy(value: object) -> str:
    """Return the address of an HTTP proxy; '' for none. SOCKS is refused with a message of its own."""
    text = read_text(value)
    if not text:
        return ""
    if text.lower().startswith("socks"):
        raise ValueError("an HTTP proxy: SOCKS is not supported; use an HTTP proxy in front of it, such as privoxy")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("an HTTP proxy such as http://proxy.example:3128")
    return text


def read_site_proxy(value: object) -> str:
    """Return `direct`, or what `read_proxy` returns."""
    return "direct" if value == "direct" else read_proxy(value)


def read_addresses(value: object) -> tuple[str, ...]:
    """Return the entries of an allow or deny list, written as a list or, in the environment, separated by commas."""
    from geocrawl.urls.allow_deny import read_entry

    entries = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError('a list such as ["example.org", ".cn", "example.com/private/*"]')
    for entry in entries:
        read_entry(entry)
    return tuple(entry.strip() for entry in entries)


def read_media_types(value: object) -> tuple[str, ...]:
    """Return media types in lower case, such as text/html and text/*, written as a list or separated by commas."""
    entries = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError('a list of media types such as ["text/html", "text/*"]')
    types = tuple(entry.strip().lower() for entry in entries)
    if not all(_MEDIA_TYPE.fullmatch(entry) for entry in types):
        raise ValueError('a list of media types such as ["text/html", "text/*"]')
    return types


def has_credentials(address: str) -> bool:
    """Return whether an address contains a user (and password)."""
    return _CREDENTIALS.search(address) is not None


def without_credentials(address: str) -> str:
    """Return an address with its user and password masked."""
    return _CREDENTIALS.sub(r"\1***@", address)


def _number_at_least_zero(value: object, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(expected)
    return float(value)
