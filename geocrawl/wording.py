"""Word counts, times, durations and sizes for people, and read those that people write.

Times are kept as seconds since the epoch, durations as seconds, sizes as bytes.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from geocrawl.model.downtimes import Downtime

LONGEST_S = 1e10
"""300 years: the longest duration that a setting may have; a time so far ahead is still a date."""
RUN_ENDS = {
    "done": "the queue was empty",
    "max-pages": "the limit of pages was reached",
    "max-time": "the time was up",
    "signal": "it was stopped",
    "resting": "only failed addresses were left, to be tried again later",
    "slow": "only slow services were left; their probes stay queued",
    "patience": "hosts were in back-off for longer than the setting patience",
    "outage": "no request could be sent for longer than the setting patience",
}
"""Code of a run's end (`run.stopped`) → why it ended, for people."""


class Sentence(str):
    """A sentence in English that keeps its template and values, so that it can be said in another language, too."""

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, **values: object) -> Sentence:
        """Put the values into the template; without values it is a text that may contain braces."""
        sentence = super().__new__(cls, template.format(**values) if values else template)
        sentence.template, sentence.values = template, values
        return sentence


class Count(str):
    """A number as people read it, which a text can say with a noun: `{n:page}` is `1 page`, `2,000 pages`."""

    def __format__(self, noun: str) -> str:
        """Return the number, and the noun, if one is given, in its number."""
        plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
        return f"{self!s} {noun if self == '1' else plural}" if noun else str(self)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 page`, `2,000 pages`, `0 addresses`."""
    return format(Count(f"{count:,}"), noun)


def percent(share: float | None) -> str:
    """Return a share as a percentage that is 100 % only for all of it; '–' for None."""
    if share is None:
        return "–"
    shown = f"{share:.1%}" if share < 1 else "100%"
    return "99.9%" if shown == "100.0%" else shown


def date_of(at: float) -> dt.date:
    """Return the UTC day of a time."""
    return dt.datetime.fromtimestamp(at, dt.UTC).date()


def day_of(at: float) -> str:
    """Return the UTC day of a time, YYYY-MM-DD."""
    return date_of(at).isoformat()


def moment(at: float | None) -> str:
    """Return a time as YYYY-MM-DD hh:mm:ss in UTC; '-' for None."""
    return dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%S") if at is not None else "-"


def iso(at: float | None) -> str | None:
    """Return a time for programs, `2024-05-17T09:30:00Z`; None for None."""
    return dt.datetime.fromtimestamp(int(at), dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at is not None else None


def seconds(time: str) -> float:
    """Return the seconds since the epoch of a time that `iso` wrote."""
    return dt.datetime.fromisoformat(time).timestamp()


def span(seconds: float) -> str:
    """Return a duration in its two largest units: 3d 4h, 5m 10s."""
    left, out = int(max(seconds, 0)), list[str]()
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        if left >= size or (unit == "s" and not out):
            out.append(f"{left // size}{unit}")
            left %= size
    return " ".join(out[:2])


_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_BYTES = {
    prefix + suffix: base**power
    for power, prefix in enumerate(("", "k", "m", "g"))
    for suffix, base in (("", 1000), ("b", 1000), ("ib", 1024))
}
_NUMBER = r"(\d{1,18}(?:\.\d{1,9})?)"
_DURATION = re.compile(_NUMBER + r"\s*(ms|s|m|h|d|w)\s*", re.IGNORECASE)
_SIZE = re.compile(_NUMBER + r"\s*([a-z]*)", re.IGNORECASE)


def read_duration(value: object) -> float:
    """Return seconds, 0 or more, of a number or of text such as `90`, `1.5`, `500ms`, `10m`, `1h30m`, `2d`, `1w`.

    Raises ValueError with what was expected.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max:
        return float(value)
    text = value.strip() if isinstance(value, str) else ""
    if re.fullmatch(_NUMBER, text):
        return float(text)
    parts = _DURATION.findall(text)
    if not parts or _DURATION.sub("", text):
        raise ValueError("a duration such as 90, 10m, 1h30m or 2d (no unit: seconds)")
    seconds = sum(Fraction(number) * _MS[unit.lower()] for number, unit in parts) / 1000
    return float(min(seconds, sys.float_info.max))


def spell_duration(seconds: float) -> str:
    """Return a duration as people write it, `1h30m`; `read_duration` reads it back (to a billionth of a second)."""
    if seconds == 0 or not seconds.is_integer():
        return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
    rest, parts = int(seconds), []
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(rest, _MS[unit] // 1000)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


_WINDOW = re.compile(r"([01]?\d|2[0-4])(?::([0-5]\d))?\s*-\s*([01]?\d|2[0-4])(?::([0-5]\d))?", re.ASCII)
_DAY_MIN = 24 * 60


def spell_downtime(downtime: Downtime) -> str:
    """Return when a downtime is, for people."""
    if downtime.is_acknowledged:
        end = f"until {moment(downtime.ends_at)} UTC" if downtime.ends_at is not None else "until it is well again"
        return f"acknowledged {moment(downtime.starts_at)} UTC, {end}"
    until = f" to {moment(downtime.ends_at)}" if downtime.ends_at is not None else ""
    times = f"{moment(downtime.starts_at)}{until} UTC"
    return f"{downtime.weekly} {downtime.zone}, from {times}" if downtime.weekly else times


def read_hours(text: str) -> tuple[int, int]:
    """Return the two ends, in minutes since midnight, of a window of the day such as `22-6` or `22:30-06:15`; equal
    ones, as for '', mean the whole day. Raises ValueError with what was expected.
    """
    found = _WINDOW.fullmatch(text.strip() or "0-24")
    first, first_min, last, last_min = (int(part or 0) for part in found.groups()) if found else (25, 0, 25, 0)
    ends = first * 60 + first_min, last * 60 + last_min
    if max(ends) > _DAY_MIN:
        raise ValueError("a window such as 22-6 or 22:30-06:15 (UTC), within 0:00 and 24:00")
    return ends[0] % _DAY_MIN, ends[1] % _DAY_MIN


def read_size(value: object) -> int:
    """Return bytes, 0 or more, of a number or of text such as `500k` (1,000) or `5MiB` (1,048,576 each).

    Raises ValueError with what was expected.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or found[2].lower() not in _BYTES:
        raise ValueError("a size such as 500000, 500k or 5MiB (no unit: bytes)")
    return int(Fraction(found[1]) * _BYTES[found[2].lower()])


def spell_size(size_bytes: int) -> str:
    """Return a size as people write it, `5MiB`; `read_size` reads it back to the same number."""
    for unit in ("GiB", "MiB", "KiB"):
        factor = _BYTES[unit.lower()]
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)


_MAIL_SERVER = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,251}[A-Za-z0-9])?(?::([0-9]{1,5}))?", re.ASCII)


def read_mail_server(text: str) -> str:
    """Return a mail server, HOST or HOST:PORT; '' for none. Raises ValueError with what was expected."""
    found = _MAIL_SERVER.fullmatch(text)
    if text and (found is None or not 0 < int(found[1] or 25) < 1 << 16):
        raise ValueError("a host such as mail.example.org or mail.example.org:587")
    return text


_MAIL_ADDRESS = re.compile(r"[^\s@<>,;:\"'()\[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_SENDER = re.compile(rf"[^<>@\"]*<({_MAIL_ADDRESS.pattern})>")
_WEB_ADDRESS = re.compile(r"https?://[A-Za-z0-9\[][^\s<>\"]*", re.IGNORECASE)
_TILES = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+/(?=[^;,\s]*\{x\})(?=[^;,\s]*\{-?y\})(?=[^;,\s]*\{z\})[^;,\s]*")


def is_mail_address(text: str) -> bool:
    """Return whether a text is an address to which mail can be sent."""
    return bool(_MAIL_ADDRESS.fullmatch(text))


def read_sender(text: str) -> str:
    """Return the sender of mails, ADDRESS or NAME <ADDRESS>; '' for none. Raises ValueError with what was expected."""
    if text and not is_mail_address(text) and not _SENDER.fullmatch(text):
        raise ValueError("a mail address such as maps@example.org or Maps <maps@example.org>")
    return text


def read_contact(text: str) -> str:
    """Return a text that says how to reach people, with a mail address or a web address in it; '' for none. Raises
    ValueError with what was expected."""
    words = (word.removeprefix("mailto:") for word in re.split(r"[\s,;()<>]+", text))
    if text and not any(is_mail_address(word) or _WEB_ADDRESS.fullmatch(word) for word in words):
        raise ValueError("a URL such as https://example.org/maps or a mail address such as maps@example.org")
    return text


def read_tiles(text: str) -> str:
    """Return the address of tiles; '' for none. Raises ValueError with what was expected."""
    if text and not _TILES.fullmatch(text):
        raise ValueError("an address with {z}, {x} and {y} in its path")
    return text


def read_networks(entries: Iterable[str]) -> tuple[str, ...]:
    """Return addresses and networks as networks (CIDR). Raises ValueError with what was expected."""
    import ipaddress

    try:
        return tuple(str(ipaddress.ip_network(entry, strict=False)) for entry in entries)
    except ValueError:
        raise ValueError('a list of addresses and networks such as ["127.0.0.1", "10.0.0.0/8"]') from None


def read_text(value: object) -> str:
    """Return one line of text; a line break would end the HTTP header in which it may be sent."""
    if not isinstance(value, str):
        raise ValueError('text in quotes, such as "…"')
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in value):
        raise ValueError("one line without control characters")
    return value.strip()


_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


def read_proxy(value: object) -> str:
    """Return the address of a proxy of HTTP or SOCKS 5; '' for none."""
    text = read_text(value)
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in _PROXY_SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("a proxy such as http://proxy.example:3128 or socks5://127.0.0.1:1080")
    return text
