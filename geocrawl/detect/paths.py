"""Recognise a server by the form of its address, without a request in the query.

Kinds declare the forms; `data/not_services.toml` lists places with such addresses that only write about services.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

from geocrawl.model import Kind
from geocrawl.model.kinds import KindDeclaration, PathForm

_SHORT_CHARS = 16
"""Longest path that may be the root of a host named after its service: `/`, `/api/v1.0.0/`."""
_LONG_CHARS = 500
"""No service has a longer path, and matching a pattern may take quadratic time."""


@dataclass(frozen=True, slots=True)
class Server:
    """A form of path, with the kind that declares the form."""

    kind: Kind
    form: PathForm
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class ServerHost:
    """A form of host name for servers whose address has no path, or nearly none."""

    kind: Kind
    pattern: re.Pattern[str]
    path: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class ServerParameter:
    """A query parameter by which a server is recognised."""

    name: str
    kind: Kind
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Never:
    """Places that only write about services."""

    hosts: frozenset[str]
    beneath: tuple[str, ...]
    """Ends of hosts, each with its dot."""
    segments: frozenset[str]
    """Segments of paths."""

    def holds(self, host: str, path: str) -> bool:
        """Return whether an address is in such a place."""
        if host in self.hosts or f".{host}".endswith(self.beneath):
            return True
        return not self.segments.isdisjoint(path.split("/"))


@dataclass(frozen=True, slots=True)
class KnownServers:
    """The forms of address that kinds declare. Of two that fit, the first one counts."""

    servers: tuple[Server, ...]
    hint: re.Pattern[str]
    """Pattern of hints: every path that can match contains a hint."""
    parameters: tuple[ServerParameter, ...]
    named_hosts: tuple[ServerHost, ...]
    never: Never

    @classmethod
    def of(cls, kinds: Sequence[KindDeclaration]) -> KnownServers:
        """Compile the forms of these kinds, in their order."""
        return cls(
            servers=tuple(Server(each.kind, form, re.compile(form.path)) for each in kinds for form in each.paths),
            hint=_any_of(form.hint for each in kinds for form in each.paths),
            parameters=tuple(
                ServerParameter(form.name, each.kind, re.compile(form.value))
                for each in kinds
                for form in each.parameters
            ),
            named_hosts=tuple(
                ServerHost(each.kind, re.compile(form.host), re.compile(form.path))
                for each in kinds
                for form in each.hosts
            ),
            never=read_never(),
        )

    def find(self, host: str, path: str, query: str = "") -> Kind | None:
        """Return the kind of the first form that fits a path, else the kind that the host is named after.

        `path` is in lower case and not decoded. None at places that only write about services.
        """
        kind = self.form(path, query)
        if kind is None and len(path) <= _SHORT_CHARS:
            kind = self._named(host, path)
        return None if kind is None or self.is_never(host, path) else kind

    def form(self, path: str, query: str = "") -> Kind | None:
        """Return the kind of the first form that fits a path on any host; None without one."""
        if len(path) > _LONG_CHARS or self.hint.search(path) is None:
            return None
        for server in self.servers:
            if server.form.hint in path and server.form.query in query and server.pattern.search(path):
                return server.kind
        return None

    def _named(self, host: str, path: str) -> Kind | None:
        for named in self.named_hosts:
            if named.pattern.search(host) and named.path.search(path):
                return named.kind
        return None

    def is_never(self, host: str, path: str) -> bool:
        """Return whether an address is in a place that only writes about services."""
        return self.never.holds(host, path)


def _any_of(hints: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of these texts; texts that contain another one are left out."""
    found = set(hints)
    shortest = sorted(hint for hint in found if not any(other in hint for other in found - {hint}))
    return re.compile("|".join(map(re.escape, shortest)))


def read_never() -> Never:
    """Return the shipped list of places that only write about services."""
    import tomllib

    data = tomllib.loads(resources.files("geocrawl").joinpath("data/not_services.toml").read_text("utf-8"))
    hosts: list[str] = data["hosts"]
    return Never(
        hosts=frozenset(host.removeprefix(".") for host in hosts),
        beneath=tuple(host for host in hosts if host.startswith(".")),
        segments=frozenset(data["segments"]),
    )
