"""Forms of path that servers are known by: `data/known_servers.toml`, read once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from geocrawl.model import Kind

_SHORT_CHARS = 16
"""Paths up to here may be the root of a host that is called after its service: `/`, `/api/v1.0.0/`."""
_LONG_CHARS = 500
"""No service has a longer path; patterns may cost the square of it."""


@dataclass(frozen=True, slots=True)
class Server:
    """A form of path that a server is known by."""

    name: str
    kind: Kind
    hint: str
    pattern: re.Pattern[str]
    query: str = ""
    """What must stand in the query, too."""
    example: str = ""


@dataclass(frozen=True, slots=True)
class ServerHost:
    """A name of a host that a server is known by, where nothing or next to nothing follows it."""

    kind: Kind
    pattern: re.Pattern[str]
    path: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class ServerParameter:
    """A parameter that a server is known by."""

    name: str
    kind: Kind
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class KnownServers:
    """The forms of address in `data/known_servers.toml`."""

    servers: tuple[Server, ...]
    hint: re.Pattern[str]
    """Finds one of the texts of which one stands in every path that can match."""
    parameters: tuple[ServerParameter, ...]
    named_hosts: tuple[ServerHost, ...]
    never_hosts: frozenset[str]
    never_beneath: tuple[str, ...]
    never_segments: frozenset[str]

    def find(self, host: str, path: str, query: str = "") -> Kind | None:
        """The kind of the first form that a path (lower case, not decoded) has, else what the host is called; None at
        places that only write about services."""
        kind = self.form(path, query)
        if kind is None and len(path) <= _SHORT_CHARS:
            kind = self._named(host, path)
        return None if kind is None or self.is_never(host, path) else kind

    def form(self, path: str, query: str = "") -> Kind | None:
        """The kind of the first form that a path has, wherever it is."""
        if len(path) > _LONG_CHARS or self.hint.search(path) is None:
            return None
        for server in self.servers:
            if server.hint in path and server.query in query and server.pattern.search(path):
                return server.kind
        return None

    def _named(self, host: str, path: str) -> Kind | None:
        for named in self.named_hosts:
            if named.pattern.search(host) and named.path.search(path):
                return named.kind
        return None

    def is_never(self, host: str, path: str) -> bool:
        """Whether this is a place that only writes about services."""
        if host in self.never_hosts or f".{host}".endswith(self.never_beneath):
            return True
        return not self.never_segments.isdisjoint(path.split("/"))


@lru_cache(maxsize=1)
def known_servers() -> KnownServers:
    """The forms that come with geocrawl."""
    import tomllib

    text = resources.files("geocrawl").joinpath("data/known_servers.toml").read_text("utf-8")
    data = tomllib.loads(text)
    hints = {row["hint"] for row in data["server"]}
    shortest = sorted(h for h in hints if not any(other in h for other in hints - {h}))
    hosts: list[str] = data["never"]["hosts"]
    return KnownServers(
        servers=tuple(
            Server(
                name=row["name"],
                kind=Kind(row["kind"]),
                hint=row["hint"],
                pattern=re.compile(row["path"]),
                query=row.get("query", ""),
                example=row["example"],
            )
            for row in data["server"]
        ),
        hint=re.compile("|".join(map(re.escape, shortest))),
        parameters=tuple(
            ServerParameter(row["name"], Kind(row["kind"]), re.compile(row["value"])) for row in data["parameter"]
        ),
        named_hosts=tuple(
            ServerHost(Kind(row["kind"]), re.compile(row["host"]), re.compile(row["path"])) for row in data["host"]
        ),
        never_hosts=frozenset(host.removeprefix(".") for host in hosts),
        never_beneath=tuple(host for host in hosts if host.startswith(".")),
        never_segments=frozenset(data["never"]["segments"]),
    )
