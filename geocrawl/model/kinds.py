"""Kinds of service: their names, and the form in which each declares what tells it apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """Service kinds, as the catalogue and its exports spell them."""

    WMS = "wms"
    WFS = "wfs"
    WMTS = "wmts"
    WCS = "wcs"
    CSW = "csw"
    WPS = "wps"
    SOS = "sos"
    TMS = "tms"
    WMSC = "wmsc"
    TILEJSON = "tilejson"
    ARCGIS = "arcgis"
    OGCAPI = "ogcapi"
    STAC = "stac"


def stored_kind(name: str) -> Kind:
    """Return the kind that a database calls `name`.

    A kind that only former versions knew (`sensorthings`, which had no probe) was asked as a WMS, and still is.
    """
    try:
        return Kind(name)
    except ValueError:
        return Kind.WMS


@dataclass(frozen=True, slots=True)
class PathForm:
    """A form of path by which a server is known before it is asked, without a request in the query."""

    name: str
    """The software, or the custom, that makes such addresses."""
    hint: str
    """A text that stands in every such path: a cheap look before the pattern is tried."""
    path: str
    """Regular expression, searched in the path in lower case."""
    example: str
    """An address of this form, for tests and for people."""
    query: str = ""
    """A text that must stand in the query in lower case, too; '' for none."""


@dataclass(frozen=True, slots=True)
class HostForm:
    """A form of host name that a host has whose only service is of the kind: there its root is a candidate."""

    name: str
    host: str
    """Regular expression, searched in the host."""
    path: str
    """Regular expression, searched in the path in lower case."""
    example: str


@dataclass(frozen=True, slots=True)
class ParameterForm:
    """A query parameter that names data of a server, whatever the program is called."""

    name: str
    """The parameter, in lower case."""
    value: str
    """Regular expression, searched in its value in lower case."""
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDeclaration:
    """What tells one kind of service apart: in addresses, in documents, and for people.

    Texts of addresses and names of XML roots are in lower case; JSON keys are as a document has them.
    """

    kind: Kind
    name: str
    """For people."""
    proof: str
    """What an answer must be to prove the kind, for people."""
    items: tuple[str, str] = ("layer", "layers")
    """What one content item is called, and several, for people."""

    services: frozenset[str] = frozenset()
    """Values of SERVICE."""
    requests: frozenset[str] = frozenset()
    """Values of REQUEST that name this kind when SERVICE is not given. Those of two kinds are never the same."""
    shared_requests: frozenset[str] = frozenset({"getcapabilities"})
    """Values of REQUEST that other kinds have, too: they name this kind only beside its SERVICE, or where the path says
    so."""
    old_requests: frozenset[str] = frozenset()
    """Values of REQUEST that are requests only beside other parameters of the kind (WMS 1.0.0, 6.2.8)."""
    paths: tuple[PathForm, ...] = ()
    hosts: tuple[HostForm, ...] = ()
    parameters: tuple[ParameterForm, ...] = ()
    found_beside: str = ""
    """Beside which services the kind is asked for unseen, when no address tells it; for people."""

    roots: frozenset[str] = frozenset()
    """Root elements of its documents that no other kind has."""
    error_roots: frozenset[str] = frozenset()
    """Root elements of what its servers answer when they are asked for nothing."""
    namespaces: tuple[str, ...] = ()
    """Namespaces of OWS Common's root `Capabilities` (OGC 06-121r9), as they go on behind OGC's host: `wfs`."""
    operation: str = ""
    """Name of an operation that only this kind has, for capabilities without a namespace."""
    sections: tuple[tuple[str, ...], ...] = ()
    """Ways to elements that only this kind has, for capabilities without a namespace and without operations."""
    keys: tuple[frozenset[str], ...] = ()
    """Sets of top-level keys, any of which a page of JSON of this kind has whole."""
    relations: frozenset[str] = frozenset()
    """Relations of links that only its landing page has."""
    is_document: Callable[[Mapping[str, Any]], bool] | None = None
    """Whether an answer in JSON is a document of this kind; None for a kind that has none."""
