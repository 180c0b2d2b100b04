"""Forms of path that servers are known by: `data/known_servers.toml`, read once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from geocrawl.model import Kind


@dataclass(frozen=True, slots=True)
class Server:
    """A form of path that a server is known by."""

    name: str
    kind: Kind
    hint: str
    pattern: re.Pattern[str]


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
    never_hosts: frozenset[str]
    never_beneath: tuple[str, ...]
    never_segments: frozenset[str]

    def find(self, host: str, path: str) -> Server | None:
        """The first form that a path (lower case, not decoded) has, None at places that only write about services."""
        server = self.form(path)
        return None if server is None or self.is_never(host, path) else server

    def form(self, path: str) -> Server | None:
        """The first form that a path has, wherever it is."""
        if self.hint.search(path) is None:
            return None
        for server in self.servers:
            if server.hint in path and server.pattern.search(path):
                return server
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
            Server(row["name"], Kind(row["kind"]), row["hint"], re.compile(row["path"])) for row in data["server"]
        ),
        hint=re.compile("|".join(map(re.escape, shortest))),
        parameters=tuple(
            ServerParameter(row["name"], Kind(row["kind"]), re.compile(row["value"])) for row in data["parameter"]
        ),
        never_hosts=frozenset(host.removeprefix(".") for host in hosts),
        never_beneath=tuple(host for host in hosts if host.startswith(".")),
        never_segments=frozenset(data["never"]["segments"]),
    )
