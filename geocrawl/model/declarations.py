"""Define the declaration of a kind of service: its signs, and its place in other software."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from geocrawl.model.kinds import Kind


@dataclass(frozen=True, slots=True)
class PathForm:
    """A form of path by which a server is recognised before any request, without a request in the query."""

    name: str
    """The software or convention that makes such addresses."""
    hint: str
    """A text that occurs in every such path: a quick check before the pattern is tried."""
    path: str
    """Regular expression, searched in the path in lower case."""
    example: str
    """An address of this form, for tests and for people."""
    query: str = ""
    """A text that must occur in the query in lower case, too; '' for none."""


@dataclass(frozen=True, slots=True)
class HostForm:
    """A form of name for hosts whose only service is of the kind: the root of such a host is a candidate."""

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
class QgisLayer:
    """Says how QGIS opens a layer of a kind by itself, without reading the service first."""

    provider: str
    type: str
    """raster or vector."""
    source: str
    """Source of the layer, with `{address}`, `{name}`, `{crs}`, and `{address_quoted}` and `{name_quoted}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDeclaration:
    """The signs of one kind of service in addresses and documents, its description for people, and its place in other
    software.

    Texts of addresses and names of XML roots are in lower case; JSON keys are as a document has them.
    """

    kind: Kind
    name: str
    """Name of the kind for people."""
    proof: str
    """Description of an answer that proves the kind, for people."""
    items: tuple[str, str] = ("layer", "layers")
    """Words for one content item and for several, for people."""

    services: frozenset[str] = frozenset()
    """Values of SERVICE."""
    requests: frozenset[str] = frozenset()
    """Values of REQUEST that name this kind without SERVICE. No two kinds share a value."""
    shared_requests: frozenset[str] = frozenset({"getcapabilities"})
    """Values of REQUEST that other kinds have, too: they name this kind only with its SERVICE or its form of path."""
    old_requests: frozenset[str] = frozenset()
    """Values of REQUEST that are requests only together with other parameters of the kind (WMS 1.0.0, 6.2.8)."""
    paths: tuple[PathForm, ...] = ()
    hosts: tuple[HostForm, ...] = ()
    parameters: tuple[ParameterForm, ...] = ()
    found_beside: str = ""
    """Services next to which the kind is guessed without any address, for people."""

    roots: frozenset[str] = frozenset()
    """Root elements of its documents that no other kind has."""
    error_roots: frozenset[str] = frozenset()
    """Root elements of its servers' answers to a request without parameters."""
    reports_like: Kind | None = None
    """The kind that an exception report is taken for which its servers send, too, when they are asked for nothing."""
    instead: Kind | None = None
    """The likeliest kind where a server refuses this one with an exception report; None: none is asked."""
    namespaces: tuple[str, ...] = ()
    """Namespaces of OWS Common's root `Capabilities` (OGC 06-121r9), without OGC's host: `wfs`."""
    operation: str = ""
    """Name of an operation that only this kind has, for capabilities without a namespace."""
    sections: tuple[tuple[str, ...], ...] = ()
    """Paths to elements that only this kind has, for capabilities without a namespace and without operations."""
    keys: tuple[frozenset[str], ...] = ()
    """Sets of top-level keys: a JSON page of this kind contains at least one set completely."""
    relations: frozenset[str] = frozenset()
    """Relations of links that only its landing page has."""
    is_document: Callable[[Mapping[str, Any]], bool] | None = None
    """Whether an answer in JSON is a document of this kind; None for a kind that has none."""

    standard: str = ""
    """Address of the standard; none: OGC's name of the type of service with its SERVICE."""
    protocol: str = ""
    """Name of the protocol in metadata (ISO 19115); none: `OGC:` and its SERVICE."""
    media_type: str = "application/xml"
    """Media type of the document that describes a service."""
    description_query: str = ""
    """Query with which a service describes itself, where no other requests capabilities: `f=json`."""
    client: str = ""
    """module:class of OWSLib."""
    client_versions: tuple[str, ...] = ()
    """Versions that OWSLib reads; a service of another one is asked without a version."""
    client_prints: str = "list(service.contents)"
    """Expression that a first program with OWSLib prints."""
    connections: Mapping[str, str] = field(default_factory=dict)
    """End of an address's path, in lower case → the file of QGIS's connections (`export.qgis.FORMS`) that takes the
    address; '' for any end, last."""
    connection_attributes: Mapping[str, str] = field(default_factory=dict)
    """Attributes of such a connection that differ from the file's."""
    qgis_layer: QgisLayer | None = None
    web_maps: Mapping[str, str] = field(default_factory=dict)
    """Name of a library whose page (`export.webmaps`) shows it: openlayers, leaflet → expression of JavaScript there: a
    function of the service and the name of a layer that returns a layer of the library, or a promise of one."""
    web_map_ends: tuple[str, ...] = ("",)
    """Ends of an address's path, in lower case, that are shown there."""
    layers_by_name: bool = False
    """Whether such a page requests its layers by name."""
    by_capabilities: bool = False
    """Whether clients read its capabilities themselves, and so take their address in place of the service's."""
    snippets: Mapping[str, str] = field(default_factory=dict)
    """Name of a library for the web (openlayers, leaflet) → lines that show a layer; in them `$url`, `$capabilities`
    and `$layer` are strings of JavaScript (`string.Template`)."""
