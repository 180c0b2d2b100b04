"""Define kinds of service: their names, and the declaration of their signs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """Kinds of service, by their names in the catalogue and its exports."""

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
    SPS = "sps"
    SENSORTHINGS = "sensorthings"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFacts:
    """What the rooms besides `probe` know of a kind. The defaults fit a kind of OWS Common that no client reads."""

    names: tuple[str, ...] = ()
    """What code and protocols call it, in lower case without separators; none: as it is called here."""
    by_path: bool = False
    """Whether its documents are requested by their path, without SERVICE."""
    parameter: str = ""
    """Value of SERVICE; none: the kind's name in capital letters."""
    client: str = ""
    """module:class of OWSLib."""
    client_versions: tuple[str, ...] = ()
    """Versions that OWSLib reads; a service of another one is asked without a version."""
    connects: bool = False
    """Whether QGIS has connections of the kind, which take the service's address."""


_FACTS: Mapping[str, KindFacts] = {
    Kind.WMS: KindFacts(
        names=("wms", "webmapservice"),
        client="owslib.wms:WebMapService",
        client_versions=("1.1.1", "1.3.0"),
        connects=True,
    ),
    Kind.WMSC: KindFacts(parameter="WMS", client="owslib.wms:WebMapService", client_versions=("1.1.1",), connects=True),
    Kind.WMTS: KindFacts(names=("wmts", "webmaptileservice"), client="owslib.wmts:WebMapTileService"),
    Kind.WFS: KindFacts(
        names=("wfs", "webfeatureservice"),
        client="owslib.wfs:WebFeatureService",
        client_versions=("1.0.0", "1.1.0", "2.0.0"),
        connects=True,
    ),
    Kind.WCS: KindFacts(
        names=("wcs", "webcoverageservice"),
        client="owslib.wcs:WebCoverageService",
        client_versions=("1.0.0", "1.1.0", "1.1.1", "2.0.0", "2.0.1"),
        connects=True,
    ),
    Kind.CSW: KindFacts(
        names=("csw", "catalogueservice", "catalogservice"),
        client="owslib.csw:CatalogueServiceWeb",
        client_versions=("2.0.2", "3.0.0"),
        connects=True,
    ),
    Kind.WPS: KindFacts(names=("wps", "webprocessingservice"), client="owslib.wps:WebProcessingService"),
    Kind.SOS: KindFacts(
        names=("sos", "sensorobservationservice"),
        client="owslib.sos:SensorObservationService",
        client_versions=("1.0.0", "2.0.0"),
    ),
    Kind.SPS: KindFacts(names=("sps", "sensorplanningservice")),
    Kind.TMS: KindFacts(names=("tms", "tilemapservice"), by_path=True),
    Kind.TILEJSON: KindFacts(by_path=True),
    Kind.ARCGIS: KindFacts(
        names=("arcgisrest", "arcgismapserver", "esrimapserver", "esrifeatureserver"), by_path=True, connects=True
    ),
    Kind.OGCAPI: KindFacts(
        names=("ogcapi", "ogcfeature", "ogcapifeatures", "ogcapiprocesses", "ogcprocesses"),
        by_path=True,
        client="owslib.ogcapi.features:Features",
        connects=True,
    ),
    Kind.STAC: KindFacts(by_path=True, connects=True),
    Kind.SENSORTHINGS: KindFacts(by_path=True),
}
_NONE = KindFacts()


def facts_of(kind: str) -> KindFacts:
    """Return what is known of a kind; the defaults for one that is not listed."""
    return _FACTS.get(kind, _NONE)


def kinds_by_name() -> Mapping[str, str]:
    """Return what code and protocols call kinds → the kind."""
    return {name: str(kind) for kind in Kind for name in facts_of(kind).names or (str(kind),)}


def service_parameter(kind: str) -> str:
    """Return the value of SERVICE in requests to a kind; '' for a kind whose documents are requested by their path."""
    facts = facts_of(kind)
    return "" if facts.by_path else facts.parameter or kind.upper()


def stored_kind(name: str) -> Kind:
    """Return the kind that a database calls `name`; WMS for a kind that this version does not know."""
    try:
        return Kind(name)
    except ValueError:
        return Kind.WMS


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
class KindDeclaration:
    """The signs of one kind of service in addresses and documents, and its description for people.

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
