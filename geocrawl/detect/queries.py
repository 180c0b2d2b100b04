"""Recognise the request in a query: `service=WFS`, `request=GetMap` …, names and values in any case and escaping."""

from __future__ import annotations

import re
from urllib.parse import unquote

from geocrawl.detect.rules import Rules
from geocrawl.model import Candidate, Evidence, Kind, Url
from geocrawl.model.kinds import KindDeclaration
from geocrawl.urls import query_parameters, read_url, service_endpoint

_HINTS = ("request", "service", "wms", "map=")
"""Every query with a request contains one of these (WMTVER occurs together with REQUEST)."""
_ESCAPED_QUERY = re.compile(r"[^=&]*(?:service|request)%3d", re.IGNORECASE)
_KML = re.compile(r"/kml/?\Z")
"""Path of GeoServer's KML service, which answers requests of WMS with a redirect."""
RECORD_REQUESTS = frozenset({"getrecords", "getrecordbyid"})


def may_ask(query: str) -> bool:
    """Return whether a query (lower case) may contain a request and is worth parsing: a quick check."""
    return "%" in query or any(hint in query for hint in _HINTS)


def of_query(rules: Rules, url: Url, path: str) -> Candidate | None:
    """Return the candidate for the request in a query; None without a request.

    `path`: in lower case, for requests that do not name the service.
    """
    url = _unescaped(url)
    parameters = _parameters(url)
    service, request = parameters.get("service", ""), parameters.get("request", "")
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
    return "getrecord" in address and _parameters(_unescaped(url)).get("request") in RECORD_REQUESTS


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


def _kind_of_request(rules: Rules, request: str, parameters: dict[str, str], url: Url, path: str) -> Kind | None:
    """Return the kind that REQUEST names without SERVICE, alone or together with the path."""
    said = rules.servers.form(path)
    of_path = rules.of_kind[said] if said else None
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


def _is_old(rules: Rules, parameters: dict[str, str], url: Url, path: str) -> bool:
    """Return whether `request=map` and similar requests mean WMS 1.0.0, by other parameters or a known server."""
    return (
        "wmtver" in parameters
        or {"layers", "bbox"} <= parameters.keys()
        or rules.servers.find(url.host, path) is not None
    )


def _of_place(rules: Rules, parameters: dict[str, str], url: Url, path: str) -> Candidate | None:
    """Return the candidate recognised by the path, or by a parameter that names a map, without a request."""
    servers = rules.servers
    if kind := servers.find(url.host, path, url.address.partition("?")[2].lower()):
        return weak(kind, url)
    for parameter in servers.parameters:
        if parameter.pattern.search(parameters.get(parameter.name, "")):
            return weak(parameter.kind, url)
    return None


def _parameters(url: Url) -> dict[str, str]:
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
