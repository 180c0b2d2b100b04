"""Which addresses are candidate services: by what a query asks for, or by a path that known servers have.

A *request* in the query (`service=WMS`, `request=GetMap` …, names and values in any case and escaping) is what the gws
paper goes by (Shen et al. 2015, "service recognition"). A *known path* (`/geoserver/ows`, `mapserv`, `…/WMSServer`: see
`data/known_servers.toml`) or `service=WMS` without a request is weaker: pages have such addresses, too, so the
candidate is marked weak and visited as a page when the probe finds HTML there.

Most links are neither, and thousands come by each second: a few searches for short texts dismiss them before any query
is taken apart. A new kind is a row in `_KINDS` and rows in the data file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from urllib.parse import unquote

from geocrawl.model import ADDRESS_ONLY, Candidate, Document, Endpoint, Evidence, Kind, Link, Url
from geocrawl.urls import endpoint_address, endpoint_key, query_parameters, read_url


@dataclass(frozen=True, slots=True)
class KindRule:
    """What the queries and documents of one service kind look like; all in lower case."""

    kind: Kind
    services: frozenset[str]
    """Values of SERVICE."""
    requests: frozenset[str]
    """Values of REQUEST that name this kind when SERVICE is not given."""
    old_requests: frozenset[str]
    """Words that are requests only beside other parameters of the kind (WMS 1.0.0, 6.2.8: `capabilities`, `map`)."""
    roots: frozenset[str]
    """Root elements of its capabilities."""


_KINDS = (
    KindRule(
        kind=Kind.WMS,
        services=frozenset({"wms", "ogc:wms"}),
        requests=frozenset(
            {"getcapabilities", "getmap", "getfeatureinfo", "getlegendgraphic", "describelayer", "getstyles"}
        ),
        old_requests=frozenset({"capabilities", "map", "feature_info"}),
        roots=frozenset({"wms_capabilities", "wmt_ms_capabilities"}),
    ),
)
_OTHER_PATHS = re.compile(r"/(?:wmts|wfs|wcs|csw|wps|sos|tms)(?:server)?/?\Z|/kml/?\Z")
"""`…/wmts?request=GetCapabilities`: the path says which service is asked where the query does not."""
_OTHER_REQUESTS = frozenset(
    {"getfeature", "describefeaturetype", "getcoverage", "describecoverage", "gettile", "getrecords", "getrecordbyid"}
    | {"describerecord", "describeprocess", "execute", "getobservation", "describesensor"}
)
_REQUEST_HINTS = ("wms", "request", "wmtver", "service", "map=")
_FOUND_IN = ADDRESS_ONLY | {"form", "redirect", "xml", "sitemap", "seed", "object", "embed", "link"}
"""Places of a link that say more about how a candidate was found than its address does."""
_ESCAPED_QUERY = re.compile(r"[^=&]*(?:service|request)%3d", re.IGNORECASE)
_ADDRESS_WITHIN = re.compile(r"https?(?:://|%3a%2f%2f|%3a//)", re.IGNORECASE)


class Detector:
    """Recognises candidates (`ports.Recogniser`). Pure, keeps no state of its own."""

    def candidates(self, document: Document) -> tuple[tuple[Candidate, int | None], ...]:
        """Candidates of a page, each with the index of its link in `document.links`.

        The index is None when the document itself is one (it was read as capabilities), and when the address only
        stands within a link's query, so that the link itself is still an ordinary one.
        """
        found: list[tuple[Candidate, int | None]] = []
        for rule in _KINDS:
            if document.xml_root.lower() in rule.roots:
                evidence = Evidence("document", document.url.address, document.url.address, document.title)
                found.append((Candidate(_endpoint(rule.kind, document.url), evidence), None))
        for index, link in enumerate(document.links):
            candidate = _of_url(link.url) or (_of_kind(link) if link.kind else None)
            if candidate is not None:
                found.append((_with_evidence(candidate, document, link), index))
            elif "%3" in link.url.address or "=http" in link.url.address:
                found += [(_with_evidence(inner, document, link), None) for inner in _within(link.url)]
        return tuple(found)

    def of_url(self, url: Url) -> Candidate | None:
        """The candidate that an address by itself is; None for an ordinary one."""
        return _of_url(url)

    def siblings(self, endpoint: Endpoint) -> tuple[Candidate, ...]:
        """Endpoints of other kinds that servers of this form of address have beside a valid one."""
        return ()

    def given(self, url: Url) -> Candidate:
        """What a person typed, as a candidate whatever it looks like; never weak."""
        candidate = _of_url(url)
        endpoint = candidate.endpoint if candidate else _endpoint(Kind.WMS, url)
        return Candidate(endpoint, Evidence("given", "", url.address))


def _with_evidence(candidate: Candidate, document: Document, link: Link) -> Candidate:
    signal = link.where if link.where in _FOUND_IN else candidate.evidence.signal
    return replace(candidate, evidence=Evidence(signal, document.url.address, link.url.address, link.anchor))


def _of_kind(link: Link) -> Candidate | None:
    """An address that says nothing, where the place names the kind beside it. Weak when a person is to read it."""
    if link.kind not in {rule.kind for rule in _KINDS}:
        return None
    path = link.url.address[len(link.url.origin) :].partition("?")[0].lower()
    if _known_servers().is_never(link.url.host, path):
        return None
    evidence = Evidence("named", "", link.url.address)
    return Candidate(_endpoint(Kind(link.kind), link.url), evidence, weak=link.where in ("a", "area", "text"))


def _endpoint(kind: Kind, url: Url) -> Endpoint:
    return Endpoint(kind, endpoint_key(url), endpoint_address(url))


# --------------------------------------------------------------------------- one address


@lru_cache(maxsize=16_384)
def _of_url(url: Url) -> Candidate | None:
    address = url.address.lower()
    start = len(url.origin)
    query_at = address.find("?", start)
    path = address[start:query_at] if query_at >= 0 else address[start:]
    if query_at >= 0:
        query = address[query_at + 1 :]
        if "%" in query or any(hint in query for hint in _REQUEST_HINTS):
            return _of_query(_unescaped(url), path)
    return _of_path(url, path)


def _of_path(url: Url, path: str) -> Candidate | None:
    server = _known_servers().find(url.host, path)
    return _weak(server.kind, url) if server else None


def _weak(kind: Kind, url: Url) -> Candidate:
    return Candidate(_endpoint(kind, url), Evidence("path", "", url.address), weak=True)


def _of_query(url: Url, path: str) -> Candidate | None:
    parameters = _parameters(url)
    service, request = parameters.get("service", ""), parameters.get("request", "")
    for rule in _KINDS:
        if service not in rule.services and (service or _OTHER_PATHS.search(path)):
            continue
        asks = request in rule.requests or (
            request in rule.old_requests and (bool(service) or _is_old(parameters, url, path))
        )
        if asks or service:
            return Candidate(_endpoint(rule.kind, url), Evidence("query", "", url.address), weak=not asks)
    if service or request in _OTHER_REQUESTS:  # of another kind: what the path says does not matter then
        return None
    for parameter in _known_servers().parameters:
        if parameter.pattern.search(parameters.get(parameter.name, "")):
            return _weak(parameter.kind, url)
    return _of_path(url, path)


def _is_old(parameters: dict[str, str], url: Url, path: str) -> bool:
    """Whether `request=map` and its like mean WMS 1.0.0 here: WMTVER, what a map needs, or a known service."""
    return (
        "wmtver" in parameters
        or {"layers", "bbox"} <= parameters.keys()
        or _known_servers().find(url.host, path) is not None
    )


def _parameters(url: Url) -> dict[str, str]:
    """Parameters in lower case; what an escaped `&` glued to a value is cut off (`GetMap%26version=…`)."""
    return {
        name.strip().lower(): value.partition("&")[0].strip().lower() for name, value in reversed(query_parameters(url))
    }


def _unescaped(url: Url) -> Url:
    """An address whose whole query was escaped once too often (`?request%3DGetMap%26…`), mended; else as it is."""
    place, _, query = url.address.partition("?")
    if _ESCAPED_QUERY.match(query) is None:
        return url
    return read_url(f"{place}?{unquote(query)}") or url


def _within(url: Url) -> list[Candidate]:
    """Candidates among the addresses that a link's query carries: `viewer?wms=https%3A%2F%2Fhost%2Fows%3F…`."""
    found = []
    for _, value in query_parameters(url):
        start = _ADDRESS_WITHIN.match(value)
        inner = read_url(value) if start else None
        candidate = _of_url(inner) if inner else None
        if candidate is not None and inner is not None:
            found.append(replace(candidate, evidence=Evidence("parameter", "", inner.address)))
    return found


# --------------------------------------------------------------------------- known servers


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
    hints: tuple[str, ...]
    """The fewest texts of which one stands in every path that can match."""
    parameters: tuple[ServerParameter, ...]
    never_hosts: frozenset[str]
    never_beneath: tuple[str, ...]
    never_segments: frozenset[str]

    def find(self, host: str, path: str) -> Server | None:
        """The first form that a path (lower case, not decoded) has, None at places that only write about services."""
        for hint in self.hints:
            if hint in path:
                break
        else:
            return None
        for server in self.servers:
            if server.hint in path and server.pattern.search(path):
                return None if self.is_never(host, path) else server
        return None

    def is_never(self, host: str, path: str) -> bool:
        """Whether this is a place that only writes about services."""
        if host in self.never_hosts or f".{host}".endswith(self.never_beneath):
            return True
        return not self.never_segments.isdisjoint(path.split("/"))


@lru_cache(maxsize=1)
def _known_servers() -> KnownServers:
    import tomllib

    text = resources.files("geocrawl").joinpath("data/known_servers.toml").read_text("utf-8")
    data = tomllib.loads(text)
    hints = {row["hint"] for row in data["server"]}
    hosts: list[str] = data["never"]["hosts"]
    return KnownServers(
        servers=tuple(
            Server(row["name"], Kind(row["kind"]), row["hint"], re.compile(row["path"])) for row in data["server"]
        ),
        hints=tuple(sorted(h for h in hints if not any(other in h for other in hints - {h}))),
        parameters=tuple(
            ServerParameter(row["name"], Kind(row["kind"]), re.compile(row["value"])) for row in data["parameter"]
        ),
        never_hosts=frozenset(host.removeprefix(".") for host in hosts),
        never_beneath=tuple(host for host in hosts if host.startswith(".")),
        never_segments=frozenset(data["never"]["segments"]),
    )
