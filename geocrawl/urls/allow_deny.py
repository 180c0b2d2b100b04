"""An operator's allow and deny lists: which addresses are never requested, whatever leads to them.

An entry is a domain with all its subdomains (`example.org`), a top-level domain (`.cn`), or an address with `*` for any
characters (`example.org/private/*`, `*.example.org`, `*://*/calendar*`). Letter case is ignored. Entries are compared
with the canonical text of a URL, so escapes and dots hide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geocrawl.model import Url
from geocrawl.urls.hosts import read_host

DENY, ALLOW = "deny", "allow"
_MAX_CHARS, _MAX_STARS = 2000, 20


class AddressList:
    """A list of domains, which are looked up, and of patterns, which are tried one by one."""

    def __init__(self, entries: Iterable[str]) -> None:
        """Read the entries; raise ValueError, which describes valid entries, for an invalid one."""
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
        """Return whether an entry matches this address."""
        if self._domains and is_within_domains(url.host, self._domains):
            return True
        return any(pattern.fits(url) for pattern in self._patterns)


class AddressRules:
    """Both lists: a denied address is never requested; if anything is allowed, nothing else is requested."""

    def __init__(self, allow: Sequence[str], deny: Sequence[str]) -> None:
        self._allow, self._deny = AddressList(allow), AddressList(deny)

    def reason(self, url: Url) -> str:
        """Return 'deny', 'allow' (the address is not on the allow list), or '' for an address that may be requested."""
        if self._deny and self._deny.covers(url):
            return DENY
        return ALLOW if self._allow and not self._allow.covers(url) else ""


def is_within_domains(host: str, domains: set[str] | frozenset[str]) -> bool:
    """Return whether a host is one of the domains or a subdomain of one, with one look-up for each label."""
    while host not in domains:
        _, dot, host = host.partition(".")
        if not dot:
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern, as the texts between its stars."""

    parts: tuple[str, ...]
    of: str
    """The part of the URL that is compared: 'host', 'address' (from the host on) or 'whole' (from the scheme on)."""

    def fits(self, url: Url) -> bool:
        """Return whether the pattern matches an address."""
        text = url.host if self.of == "host" else url.identity.lower()
        if self.of == "address":
            text = text.partition("://")[2]
        return matches(self.parts, text)


def read_entry(text: str) -> str | _Pattern:
    """Return a domain's name or a pattern; raise ValueError, which describes valid entries, for anything else."""
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
    _, scheme, rest = entry.partition("://")
    if entry.strip("*./:") == "" or (scheme and rest.partition("/")[0] == ""):
        raise wrong
    of = "whole" if "://" in entry else "address" if "/" in entry or "?" in entry else "host"
    if "*" not in entry:
        entry += "*"  # a path without a star means everything below it
    return _Pattern(tuple(entry.split("*")), of)


def matches(parts: Sequence[str], text: str) -> bool:
    """Return whether `text` consists of these parts in order with any characters between them.

    Each part is matched at its first occurrence, so one pass over the text suffices; a regular expression would
    backtrack.
    """
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
