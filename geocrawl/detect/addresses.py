"""Recognise services by their addresses: the form of a path, or the request in a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from urllib.parse import unquote

from geocrawl.formats.text import any_of
from geocrawl.model import Candidate, Evidence, Kind, Url
from geocrawl.model.kinds import KindDeclaration, PathForm, RootIndex
from geocrawl.urls import query_parameters, read_url, service_endpoint

# --------------------------------------------------------------------------- paths
# Kinds declare the forms; `data/not_services.toml` lists places with such addresses that only write about services.


_SHORT_CHARS = 16
"""Longest path that may be the root of a host named after its service: `/`, `/api/v1.0.0/`."""
_LONG_CHARS = 500
"""No service has a longer path, and matching a pattern may take quadratic time."""


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

    paths: tuple[tuple[PathForm, re.Pattern[str], Kind], ...]
    hint: re.Pattern[str]
    """Pattern of hints: every path that can match contains a hint."""
    parameters: tuple[tuple[str, re.Pattern[str], Kind], ...]
    """Name of a query parameter and pattern of its value."""
    hosts: tuple[tuple[re.Pattern[str], re.Pattern[str], Kind], ...]
    """Pattern of a host's name, and pattern of its path, which is nearly none."""
    never: Never

    @classmethod
    def of(cls, kinds: Sequence[KindDeclaration]) -> KnownServers:
        """Compile the forms of these kinds, in their order."""
        return cls(
            paths=tuple((form, re.compile(form.path), declared.kind) for declared in kinds for form in declared.paths),
            hint=any_of(form.hint for declared in kinds for form in declared.paths),
            parameters=tuple(
                (form.name, re.compile(form.value), declared.kind) for declared in kinds for form in declared.parameters
            ),
            hosts=tuple(
                (re.compile(form.host), re.compile(form.path), declared.kind)
                for declared in kinds
                for form in declared.hosts
            ),
            never=read_never(),
        )

    def find(self, host: str, path: str, query: str = "") -> Kind | None:
        """Return the kind of the first form that fits a path, else the kind that the host is named after.

        `path` is in lower case and not decoded. None at places that only write about services.
        """
        kind = self.form(path, query)
        if kind is None and len(path) <= _SHORT_CHARS:
            kind = next((kind for name, root, kind in self.hosts if name.search(host) and root.search(path)), None)
        return None if kind is None or self.never.holds(host, path) else kind

    def form(self, path: str, query: str = "") -> Kind | None:
        """Return the kind of the first form that fits a path on any host; None without one."""
        if len(path) > _LONG_CHARS or self.hint.search(path) is None:
            return None
        for form, pattern, kind in self.paths:
            if form.may_fit(path, query) and pattern.search(path):
                return kind
        return None


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


# --------------------------------------------------------------------------- signs


@dataclass(frozen=True, slots=True)
class SignRules:
    """Signs of all kinds. Of two kinds that an address or a document fits, the first declared one counts."""

    kinds: tuple[KindDeclaration, ...]
    of_kind: Mapping[Kind, KindDeclaration]
    of_service: Mapping[str, KindDeclaration]
    """Value of SERVICE → kind."""
    of_request: Mapping[str, KindDeclaration]
    """Value of REQUEST → kind."""
    of_old_request: Mapping[str, KindDeclaration]
    roots: RootIndex
    servers: KnownServers
    query: re.Pattern[str]
    """Finds a text that every query worth parsing contains, unless parts of the query are escaped."""

    @classmethod
    def of(cls, kinds: Sequence[KindDeclaration]) -> SignRules:
        """Return the index of the signs of these kinds."""
        return cls(
            kinds=tuple(kinds),
            of_kind={declared.kind: declared for declared in kinds},
            of_service={service: declared for declared in kinds for service in declared.services},
            of_request={request: declared for declared in kinds for request in declared.requests},
            of_old_request={request: declared for declared in kinds for request in declared.old_requests},
            roots=RootIndex.of(kinds),
            servers=KnownServers.of(kinds),
            query=any_of(
                ["request", "service", *(f"{form.name}=" for declared in kinds for form in declared.parameters)]
            ),
        )


# --------------------------------------------------------------------------- queries


_ESCAPED_QUERY = re.compile(r"[^=&]*(?:service|request)%3d", re.IGNORECASE)
_KML = re.compile(r"/kml/?\Z")
"""Path of GeoServer's KML service, which answers requests of WMS with a redirect."""
RECORD_REQUESTS = frozenset({"getrecords", "getrecordbyid"})


def of_query(rules: SignRules, url: Url, path: str) -> Candidate | None:
    """Return the candidate for the request in a query; None without a request.

    `path`: in lower case, for requests that do not name the service.
    """
    url = _unescaped(url)
    parameters = query_words(url)
    service, request = parameters.get("service", ""), parameters.get("request", "")
    if request == "getcapabilities" and service in ("", "wms") and parameters.get("tiled") == "true":
        return strong(Kind.WMSC, url)
    if service:
        named = rules.of_service.get(service)
        return _asked(named, request, url) if named else None
    if request:
        kind = _kind_of_request(rules, request, parameters, url, path)
        if kind is not None:
            return strong(kind, url)
    return _of_place(rules, parameters, url, path)


def asks_for_records(url: Url) -> bool:
    """Return whether an address requests records of a catalogue, whose answer is read like a page."""
    address = url.address.lower()
    return "getrecord" in address and query_words(_unescaped(url)).get("request") in RECORD_REQUESTS


def strong(kind: Kind, url: Url) -> Candidate:
    """Return a candidate whose address contains a request that only a service answers."""
    return Candidate(service_endpoint(kind, url), Evidence("query", "", url.address))


def weak(kind: Kind, url: Url, signal: str = "path") -> Candidate:
    """Return a candidate that may as well be an ordinary page."""
    return Candidate(service_endpoint(kind, url), Evidence(signal, "", url.address), weak=True)


def _asked(named: KindDeclaration, request: str, url: Url) -> Candidate:
    """Return the candidate of the kind that SERVICE names; weak when REQUEST is no operation of that kind."""
    known = request in named.requests or request in named.shared_requests or request in named.old_requests
    return strong(named.kind, url) if known else weak(named.kind, url, "query")


def _kind_of_request(rules: SignRules, request: str, parameters: dict[str, str], url: Url, path: str) -> Kind | None:
    """Return the kind that REQUEST names without SERVICE, alone or together with the path."""
    kind = rules.servers.form(path)
    of_path = rules.of_kind[kind] if kind else None
    if of_path and of_path.services and (request in of_path.requests or request in of_path.shared_requests):
        return of_path.kind
    if request == "gettile" and "tilematrix" in parameters:
        return Kind.WMTS
    if of_path and not of_path.services:  # a path of a kind that no query asks: nothing is asked here
        return None
    if found := rules.of_request.get(request):
        if found.kind is Kind.WMS and of_path and of_path.kind is not Kind.WMS:
            return None
        return found.kind
    if request == "getcapabilities":
        return None if _KML.search(path) else Kind.WMS
    old = rules.of_old_request.get(request)
    return old.kind if old and _is_old(rules, parameters, url, path) else None


def _is_old(rules: SignRules, parameters: dict[str, str], url: Url, path: str) -> bool:
    """Return whether `request=map` and similar requests mean WMS 1.0.0, by other parameters or a known server."""
    return (
        "wmtver" in parameters
        or {"layers", "bbox"} <= parameters.keys()
        or rules.servers.find(url.host, path) is not None
    )


def _of_place(rules: SignRules, parameters: dict[str, str], url: Url, path: str) -> Candidate | None:
    """Return the candidate recognised by the path, or by a parameter that names a map, without a request."""
    servers = rules.servers
    if kind := servers.find(url.host, path, url.address.partition("?")[2].lower()):
        return weak(kind, url)
    for name, pattern, kind in servers.parameters:
        if pattern.search(parameters.get(name, "")):
            return weak(kind, url)
    return None


def query_words(url: Url) -> dict[str, str]:
    """Return names and values in lower case, each value only up to an escaped `&` (`GetMap%26version=…`)."""
    return {
        name.strip().lower(): value.partition("&")[0].strip().lower() for name, value in reversed(query_parameters(url))
    }


def _unescaped(url: Url) -> Url:
    """Return the address with a query that was escaped once too often unescaped (`?request%3DGetMap%26…`)."""
    place, _, query = url.address.partition("?")
    if _ESCAPED_QUERY.match(query) is None:
        return url
    return read_url(f"{place}?{unquote(query)}") or url
