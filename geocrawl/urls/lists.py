"""An operator's allow and deny lists: which addresses are never asked, whatever leads to them.

An entry is a domain with all beneath it (`example.org`), a top-level domain (`.cn`), or an address with `*` for any
characters (`example.org/private/*`, `*.example.org`, `*://*/calendar*`). Upper and lower case are one. What is
compared is the canonical text of a URL, so escapes and dots hide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geocrawl.model import Url
from geocrawl.urls.hosts import read_host

DENY, ALLOW = "deny", "allow"
_MAX_CHARS, _MAX_STARS = 2000, 20


class AddressList:
    """Domains by look-up, patterns one by one."""

    def __init__(self, entries: Iterable[str]) -> None:
        """Raises ValueError, saying what is expected, for an entry that cannot be meant."""
        self._domains = set[str]()
        self._patterns = list[_Pattern]()
        for entry in entries:
            read = read_entry(entry)
            if isinstance(read, str):
                self._domains.add(read)
            else:
                self._patterns.append(read)

    def __bool__(self) -> bool:
        return bool(self._domains or self._patterns)

    def covers(self, url: Url) -> bool:
        """Whether an entry names this address."""
        if self._domains and is_beneath(url.host, self._domains):
            return True
        return any(pattern.fits(url) for pattern in self._patterns)


class AddressRules:
    """Both lists: what is denied is never asked; where something is allowed, nothing else is asked."""

    def __init__(self, allow: Sequence[str], deny: Sequence[str]) -> None:
        self._allow, self._deny = AddressList(allow), AddressList(deny)

    def reason(self, url: Url) -> str:
        """'deny', 'allow' (it is not on the allow list), or '' for an address that may be asked."""
        if self._deny and self._deny.covers(url):
            return DENY
        return ALLOW if self._allow and not self._allow.covers(url) else ""


def is_beneath(host: str, domains: set[str] | frozenset[str]) -> bool:
    """Whether a host is one of the domains or lies beneath one. Costs a look-up a label."""
    while host not in domains:
        _, dot, host = host.partition(".")
        if not dot:
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Texts that follow each other, with anything between them."""

    parts: tuple[str, ...]
    of: str
    """What is compared: host, address (host and on), whole (scheme and on)."""

    def fits(self, url: Url) -> bool:
        text = url.host if self.of == "host" else url.identity.lower()
        if self.of == "address":
            text = text.partition("://")[2]
        return matches(self.parts, text)


def read_entry(text: str) -> str | _Pattern:
    """A domain's name, or a pattern; raises ValueError with what was expected."""
    entry = text.strip().lower()
    wrong = ValueError(
        f"a domain (example.org), a top-level domain (.cn) or an address with * (example.org/private/*), not {text!r}"
    )
    if not entry or len(entry) > _MAX_CHARS or entry.count("*") > _MAX_STARS or any(c.isspace() for c in entry):
        raise wrong
    if "*" not in entry and "/" not in entry:
        host = read_host(entry.removeprefix("."))
        if host is None:
            raise wrong
        return host
    if entry.strip("*./:") == "":
        raise wrong
    of = "whole" if "://" in entry else "address" if "/" in entry or "?" in entry else "host"
    if "*" not in entry:
        entry += "*"  # a path without a star means all beneath it
    return _Pattern(tuple(entry.split("*")), of)


def matches(parts: Sequence[str], text: str) -> bool:
    """Whether `text` is these parts with anything between them. Each part is taken where it comes first, so it costs no
    more than one walk over the text: nothing is tried twice, as a regular expression would."""
    first, *middle, last = parts
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
