"""Stop rules: addresses that are recorded as refused and never visited, by their extension, host, path or query.

The rules are data (`geocrawl/data/stop_rules.toml`, whose head explains the format); a user's own file adds to them. A
page has some 25 links, so a rule is looked up in a table, never matched as a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
            found = self.parameters.get(part) or self.parameters.get(part.partition("=")[0])
            if found:
                return found
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
