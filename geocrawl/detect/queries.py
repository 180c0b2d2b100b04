"""What a query asks for: `service=WFS`, `request=GetMap` …, names and values in any case and escaping."""

from __future__ import annotations

import re
from urllib.parse import unquote

from geocrawl.detect.kinds import KindRule, kind_index
from geocrawl.detect.paths import known_servers
from geocrawl.model import Candidate, Evidence, Kind, Url
from geocrawl.urls import query_parameters, read_url, service_endpoint

_HINTS = ("request", "service", "wms", "map=")
"""One of these stands in every query that can ask for something (WMTVER stands beside REQUEST)."""
_ESCAPED_QUERY = re.compile(r"[^=&]*(?:service|request)%3d", re.IGNORECASE)
_KML = re.compile(r"/kml/?\Z")
"""GeoServer's KML service answers a WMS's requests with a redirect."""
RECORD_REQUESTS = frozenset({"getrecords", "getrecordbyid"})


def may_ask(query: str) -> bool:
    """Whether a query (lower case) is worth being taken apart: a cheap look."""
    return "%" in query or any(hint in query for hint in _HINTS)


def of_query(url: Url, path: str) -> Candidate | None:
    """The candidate that a query asks for; `path` in lower case, for requests that do not say of which service."""
    url = _unescaped(url)
    parameters = _parameters(url)
    service, request = parameters.get("service", ""), parameters.get("request", "")
    if service:
        rule = kind_index().of_service.get(service)
        return _asked(rule, request, parameters, url, path) if rule else None
    if request:
        kind = _kind_of_request(request, parameters, url, path)
        if kind is not None:
            return strong(kind, url)
    return _of_place(parameters, url, path)


def asks_for_records(url: Url) -> bool:
    """Whether an address asks a catalogue for records: its answer is read like a page."""
    address = url.address.lower()
    return "getrecord" in address and _parameters(_unescaped(url)).get("request") in RECORD_REQUESTS


def strong(kind: Kind, url: Url) -> Candidate:
    """A candidate whose address asks for something that only a service answers."""
    return Candidate(service_endpoint(kind, url), Evidence("query", "", url.address))


def weak(kind: Kind, url: Url, signal: str = "path") -> Candidate:
    """A candidate that may as well be an ordinary page."""
    return Candidate(service_endpoint(kind, url), Evidence(signal, "", url.address), weak=True)


def _asked(rule: KindRule, request: str, parameters: dict[str, str], url: Url, path: str) -> Candidate:
    """What SERVICE names; weak when REQUEST says nothing that this service knows."""
    known = request in rule.requests or request in rule.shared or request in rule.old_requests
    return strong(rule.kind, url) if known else weak(rule.kind, url, "query")


def _kind_of_request(request: str, parameters: dict[str, str], url: Url, path: str) -> Kind | None:
    """The kind that REQUEST names without SERVICE: by itself, or with the path's help."""
    index = kind_index()
    said = known_servers().form(path)
    rule = index.rule[said] if said else None
    if rule and rule.services and (request in rule.requests or request in rule.shared):
        return rule.kind
    if request == "gettile" and "tilematrix" in parameters:
        return Kind.WMTS
    if rule and not rule.services:  # a path of a kind that no query asks: nothing is asked here
        return None
    if found := index.of_request.get(request):
        if found.kind is Kind.WMS and rule and rule.kind is not Kind.WMS:
            return None
        return found.kind
    if request == "getcapabilities":
        return None if _KML.search(path) else Kind.WMS
    if request in index.rule[Kind.WMS].old_requests and _is_old(parameters, url, path):
        return Kind.WMS
    return None


def _is_old(parameters: dict[str, str], url: Url, path: str) -> bool:
    """Whether `request=map` and its like mean WMS 1.0.0 here: WMTVER, what a map needs, or a known service."""
    return (
        "wmtver" in parameters
        or {"layers", "bbox"} <= parameters.keys()
        or known_servers().find(url.host, path) is not None
    )


def _of_place(parameters: dict[str, str], url: Url, path: str) -> Candidate | None:
    """By the path, or by a parameter that names a map: no request says anything."""
    servers = known_servers()
    if kind := servers.find(url.host, path, url.address.partition("?")[2].lower()):
        return weak(kind, url)
    for parameter in servers.parameters:
        if parameter.pattern.search(parameters.get(parameter.name, "")):
            return weak(parameter.kind, url)
    return None


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
