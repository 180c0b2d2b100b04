"""Refuse addresses that are never visited: by stop rules, and by an operator's allow and deny lists.

Stop rules judge an address by its extension, host, path or query. They are data (`geocrawl/data/stop_rules.toml`, whose
head explains the format); a user's own file adds to them. A page has some 25 links, so a rule is looked up in a table,
never matched as a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Self
from urllib.parse import quote

from geocrawl.errors import UsageError
from geocrawl.model import Kind, Url
from geocrawl.model.kinds import service_parameter
from geocrawl.urls.hosts import read_host

KEEP = "keep"
_KEYS = ("extensions", "hosts", "segments", "parameters")
_SECTION = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class _Tables:
    """For each kind of rule, lower-case text → the section that names it."""

    extensions: dict[str, str] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    segments: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    def section(self, host: str, path: str, query: str) -> str:
        """Return the first section that matches, or ''. `path` and `query` in lower case."""
        return self._by_host(host) or self._by_path(path) or (query and self._by_query(query)) or ""

    def _by_host(self, host: str) -> str:
        hosts = self.hosts
        while True:
            if host in hosts:
                return hosts[host]
            _, dot, host = host.partition(".")
            if not dot:
                return ""

    def _by_path(self, path: str) -> str:
        last = path[path.rfind("/") + 1 :].partition(";")[0]
        stem, _, extension = last.rpartition(".")
        if stem:
            if extension in self.extensions:
                return self.extensions[extension]
            if stem in self.segments:
                return self.segments[stem]
            longer = stem.rpartition(".")[2] + "." + extension  # xml.gz
            if longer in self.extensions:
                return self.extensions[longer]
        segments = self.segments
        if not segments.keys().isdisjoint(path.split("/")):
            return next(segments[part] for part in path.split("/") if part in segments)
        return ""

    def _by_query(self, query: str) -> str:
        for part in query.split("&"):
            rule = self.parameters.get(part) or self.parameters.get(part.partition("=")[0])
            if rule:
                return rule
        return ""


class StopRules:
    """Which addresses are never visited, and why."""

    def __init__(self, stop: _Tables, keep: _Tables) -> None:
        self._stop = stop
        self._keep = keep

    @classmethod
    def load(cls, extra: Path | None = None) -> Self:
        """Return the rules that come with geocrawl and those of the file `extra`; raise UsageError for a bad file."""
        stop, keep = _Tables(), _Tables()
        for section, key, entry in [*_built_in(), *_read_extra(extra)]:
            getattr(keep if section == KEEP else stop, key)[entry] = section
        keep.parameters.update(
            (f"service={service.lower()}", KEEP) for kind in Kind if (service := service_parameter(kind))
        )
        return cls(stop, keep)

    def reason(self, url: Url) -> str:
        """Return 'stop:<section>' for an address that is not worth a visit, else ''."""
        path, _, query = url.identity[len(url.origin) :].lower().partition("?")
        section = self._stop.section(url.host, path, query)
        if not section or self._keep.section(url.host, path, query):
            return ""
        return f"stop:{section}"


# --------------------------------------------------------------------------- the files


@cache
def _built_in() -> tuple[tuple[str, str, str], ...]:
    text = resources.files("geocrawl").joinpath("data/stop_rules.toml").read_text("utf-8")
    return tuple(_entries("the built-in stop rules", text))


def _read_extra(path: Path | None) -> Iterator[tuple[str, str, str]]:
    if path is None:
        return
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"stop rules {path}: cannot be read: {error}") from error
    yield from _entries(str(path), text)


def _entries(name: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (section, key, normalised entry) of a file of stop rules."""
    import tomllib

    try:
        sections = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"stop rules {name}: {error}") from error
    for section, rules in sections.items():
        if not _SECTION.fullmatch(section):
            raise UsageError(f"stop rules {name}: section [{section}]: use lower-case letters, digits and hyphens")
        if not isinstance(rules, Mapping):
            raise UsageError(f"stop rules {name}: {section}: expected a section such as [media], got {rules!r}")
        for key, entries in rules.items():
            where = f"stop rules {name}: [{section}] {key}"
            if key not in _KEYS:
                raise UsageError(f"{where}: unknown key, use one of {', '.join(_KEYS)}")
            if not isinstance(entries, list):
                raise UsageError(f"{where}: expected a list of texts, got {entries!r}")
            for entry in entries:
                yield section, key, _normalise(where, key, entry)


def _normalise(where: str, key: str, entry: object) -> str:
    """Return an entry as canonical texts of URLs spell it, so that matching is a look-up.

    Raise UsageError when it is not valid.
    """
    if not isinstance(entry, str) or not entry.strip():
        raise UsageError(f"{where}: expected a text, got {entry!r}")
    entry = entry.strip()
    if key == "hosts":
        host = read_host(entry.removeprefix("."))
        if host is None:
            raise UsageError(f"{where}: {entry!r} is not a host name")
        return host
    if key == "extensions":
        entry = entry.removeprefix(".")
    if key in ("extensions", "segments") and "/" in entry:
        raise UsageError(f"{where}: {entry!r} contains a '/', but it is compared with one part of a path")
    return quote(entry, safe="!$&'()*+,;=:@/?%~").lower()


# --------------------------------------------------------------------------- allow and deny lists
# The lists hold whatever leads to an address. An entry is a domain with all its subdomains (`example.org`), a top-level
# domain (`.cn`), or an address with `*` for any characters (`example.org/private/*`, `*.example.org`,
# `*://*/calendar*`). Letter case is ignored. Entries are compared with the canonical text of a URL, so escapes and dots
# hide nothing.


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
        place = text.find(part, at, end)
        if place < 0:
            return False
        at = place + len(part)
    return True
