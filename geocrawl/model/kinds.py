"""Define kinds of service: what rooms below `probe` read of each, and what its file in `probe/kinds` declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFacts:
    """Holds what the rooms below `probe` know of a kind of service. The defaults fit a kind of OWS Common.

    Texts and patterns are in lower case, names with a space between their words. Where words of several kinds fit, the
    kind that is last in `Kind` counts: the words of WMS, the first, are those that say least.
    """

    short_name: str = ""
    """Its name for people in short; none: the kind's name in capital letters."""
    prose: tuple[str, ...] = ()
    """Names that mean the kind wherever a text contains them: those without any other meaning."""
    names: tuple[str, ...] = ()
    """Names in code and protocols, besides; with no name at all it is called there as it is called here."""
    label: str = ""
    """Pattern of other words for it in a label next to an address, in any language."""
    protocol: str = ""
    """Pattern of other names of its protocol, format or conformance in metadata."""
    queries: tuple[str, ...] = ()
    """Other words for it in queries of people, in any language."""
    offers: frozenset[Literal["pictures", "tiles", "features"]] = frozenset()
    """What its services send; such a word in a query asks for all kinds that send it."""
    serves: Literal["", "discovery", "download"] = ""
    """The kind of network service that INSPIRE calls it; '' for view services, which send pictures or tiles, and for
    what INSPIRE does not name."""
    mentions: tuple[str, ...] = ()
    """Texts besides the names in prose by which a script or comment is worth reading for addresses: seldom ones."""
    address: str = ""
    """Pattern of what its addresses contain besides the names, anywhere."""
    in_files: bool = False
    """Whether a service may be a file: an address that ends in `.json`."""

    by_path: bool = False
    """Whether its documents are requested by their path, without SERVICE."""
    parameter: str = ""
    """Value of SERVICE; none: the kind's name in capital letters."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Pattern of the whole path of a part of a service, in any case, whose first group begins the service's path → how
    that ends."""
    has_own_content: bool = False
    """Whether it has other content than the other kinds of its server: sensors, not maps of the same data."""
    tiles: Literal["", "xyz", "tms"] = ""
    """Not empty when its address is a document about tiles, and maps take the address of the tiles in its place, with
    rows that count from the north (xyz) or from the south (tms)."""


class Kind(StrEnum):
    """Kinds of service, by their names in the catalogue and its exports, each with what is known of it.

    A kind with special signs stands above kinds with general ones; WMS, whose signs say least, counts last.
    """

    _value_: str
    facts: KindFacts

    def __new__(cls, name: str, facts: KindFacts = KindFacts()) -> Self:
        """Make the member of this name."""
        self = str.__new__(cls, name)
        self._value_, self.facts = name, facts
        return self

    WMS = (
        "wms",
        KindFacts(
            prose=("wms", "web map service"),
            label=r"map service|view service|darstellungsdienst|kartendienst\w{0,2}|viewdienst|kaartdienst"
            r"|raadpleegdienst|service de (?:visualisation|consultation|cartes?)|service cartographique"
            r"|servicio de (?:visualización|mapas)|servizio di (?:visualizzazione|consultazione|mappa)"
            r"|serviço de (?:visualização|mapas)|usług[ai] przeglądania|prohlížecí služb[ay]|visningst(?:jeneste|jänst)"
            r"|karttj(?:eneste|änst)|katselupalvelu|harita servisi|картографическ\w{2,4} (?:сервис|служб)\w{0,2}"
            r"|служб\w просмотра|地图服务|地圖服務|地図(?:配信)?サービス|지도 ?서비스",
            queries=("网络地图服务",),
            offers=frozenset({"pictures"}),
            address=r"wms(?:server|connector|capabilities)",
        ),
    )
    WFS = (
        "wfs",
        KindFacts(
            prose=("wfs", "web feature service"),
            label=r"download service|downloaddienst|service de téléchargement|servicio de descarga|servizio di download"
            r"|serviço de descarregamento|usługa pobierania|要素服务|要素服務",
            queries=("网络要素服务",),
            offers=frozenset({"features"}),
            serves="download",
        ),
    )
    WMTS = (
        "wmts",
        KindFacts(
            prose=("wmts", "web map tile service"),
            label=r"tile service|kacheldienst|瓦片服务|切片服务",
            queries=("瓦片地图服务",),
            offers=frozenset({"pictures", "tiles"}),
            parts={
                r"(.*?/1\.0\.0)(?:/?|/[^/]+/[^/]+(?:/[^/]+){1,3}/[^/]+/[^/]+/[^/]+"
                r"\.(?:png|jpe?g|webp|gif|tiff?|pbf|mvt))": "/WMTSCapabilities.xml"
            },
        ),
    )
    WCS = (
        "wcs",
        KindFacts(
            prose=("wcs", "web coverage service"), queries=("coverage service", "网络覆盖服务"), serves="download"
        ),
    )
    CSW = (
        "csw",
        KindFacts(
            prose=("csw",),
            names=("catalogue service", "catalog service"),
            label=r"catalogue[ -]service|suchdienst|service de découverte|servicio de catálogo|目录服务",
            queries=(
                *("metadata catalogue", "metadata catalog", "catalogue service for the web", "metadatenkatalog"),
                *("katalogdienst", "网络目录服务", "目录服务"),
            ),
            protocol=r"catalogue[\s_-]?service[\s_-]?for[\s_-]?the[\s_-]?web|(?<![a-z])csw\d?(?![a-z])",
            serves="discovery",
        ),
    )
    WPS = (
        "wps",
        KindFacts(names=("wps", "web processing service"), queries=("processing service", "网络处理服务")),
    )
    SOS = (
        "sos",
        KindFacts(
            names=("sos", "sensor observation service"),
            queries=("sensor service",),
            serves="download",
            has_own_content=True,
        ),
    )
    SPS = "sps", KindFacts(names=("sps", "sensor planning service"), has_own_content=True)
    TMS = (
        "tms",
        KindFacts(
            names=("tms", "tile map service"),
            offers=frozenset({"tiles"}),
            by_path=True,
            tiles="tms",
            parts={r"(.*?/tms(?:/[^/]+)?/1\.0\.0)(?:/.*)?": ""},
        ),
    )
    WMSC = (
        "wmsc",
        KindFacts(
            short_name="WMS-C",
            protocol=r"(?<![a-z])wms-c(?![a-z])",
            queries=("wms-c",),
            offers=frozenset({"tiles"}),
            parameter="WMS",
        ),
    )
    ARCGIS = (
        "arcgis",
        KindFacts(
            short_name="ArcGIS",
            names=("arcgis rest", "arcgis map server", "esri map server", "esri feature server"),
            label=r"(?:arcgis|esri)[ -](?:rest|server)",
            protocol=r"(?:esri|arcgis)[\s:/_-]{0,3}(?:geo\s?services?\s)?rest|arcgis geoservice"
            r"|\A(?:ogc:|esri:)?arcgis\Z|esri:(?:map|image|feature)server",
            queries=("esri", "esri rest", "mapserver rest"),
            offers=frozenset({"pictures", "features"}),
            mentions=("arcgis", "featureserver", "imageserver"),
            address=r"(?:map|image|feature)server|arcgis/",
            by_path=True,
            parts={
                r"(.*?/rest)/(?:services/)?info/?": "/services",
                r"(.*?/rest/services(?:/[^/]+)*?/(?:Map|Image|Feature|Scene|VectorTile|GP|Geocode|Geometry|GeoData|NA"
                r"|Stream|Mobile|Globe)Server)(?:/.*)?": "",
            },
        ),
    )
    STAC = (
        "stac",
        KindFacts(
            label="stac",
            queries=("spatiotemporal asset catalog",),
            mentions=("/stac",),
            address=r"catalog\.json",
            in_files=True,
            by_path=True,
            parts={r"(.*?)/(?:collections|search|conformance|queryables)(?:/[^/.]*)*": ""},
        ),
    )
    SENSORTHINGS = (
        "sensorthings",
        KindFacts(
            short_name="SensorThings",
            queries=("sensor things", "sensorthings api"),
            serves="download",
            address=r"/v1\.[01](?:/|\Z)",
            by_path=True,
            parts={
                r"(.*?/v1\.[01])(?:/(?:things|locations|historicallocations|datastreams|multidatastreams|sensors"
                r"|observedproperties|observations|featuresofinterest)(?:[(/].*)?)?/?": ""
            },
        ),
    )
    OGCAPI = (
        "ogcapi",
        KindFacts(
            short_name="OGC API",
            names=("ogcapi", "ogc feature", "ogc api features", "ogc api processes", "ogc processes"),
            label=r"ogc[ -]{0,3}api|oapif",
            protocol=r"ogc[\s:_-]{0,3}(?:ogc[\s:_-]{0,3})?api|oapif|api[\s_-]{1,3}(?:features|records|tiles)",
            queries=("ogc api", "oapif"),
            offers=frozenset({"features"}),
            serves="download",
            mentions=("/collections",),
            address=r"/collections|ogcapi|ogc-api",
            by_path=True,
            parts={
                r"(.*?)/(?:collections|conformance|processes|jobs|tilematrixsets"
                r"|openapi(?:\.json|\.ya?ml)?)(?:/.*)?": ""
            },
        ),
    )
    TILEJSON = (
        "tilejson",
        KindFacts(
            short_name="TileJSON",
            offers=frozenset({"tiles"}),
            mentions=("tilejson",),
            address=r"tilejson|tiles\.json",
            in_files=True,
            by_path=True,
            tiles="xyz",
        ),
    )

    @property
    def called(self) -> tuple[str, ...]:
        """Return the names of the kind in code and protocols."""
        return (*self.facts.prose, *self.facts.names) or (str(self),)


_FACTS: Mapping[str, KindFacts] = {kind: kind.facts for kind in Kind}
_NONE = KindFacts()


def facts_of(kind: str) -> KindFacts:
    """Return what is known of a kind; the defaults for one that this version does not know."""
    return _FACTS.get(kind, _NONE)


def short_name(kind: str) -> str:
    """Return the name of a kind for people in short: WMS, ArcGIS, OGC API."""
    return facts_of(kind).short_name or kind.upper()


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


# --------------------------------------------------------------------------- declarations


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
    without: str = ""
    """A text that must not occur in the path in lower case; '' for none."""

    def may_fit(self, path: str, query: str) -> bool:
        """Return whether the pattern is worth trying on a path with a query, both in lower case."""
        return self.hint in path and self.query in query and not (self.without and self.without in path)


def program_in_folder(word: str, example: str) -> PathForm:
    """Return the form of paths to a program in a folder that is called like the kind: `/wms/service`."""
    return PathForm(
        name=f"{word} as the folder of a program",
        hint=f"{word}/",
        path=rf"[/_.-]{word}/(?:index\.(?:php|jsp|aspx?|cgi|pl)|services?|server|servlet|request)/?$",
        example=example,
    )


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
    crs: str = ""
    """Reference system of the layer, such as `EPSG:3857`, where the source names none; '': what the layer offers."""
    path_ends: tuple[str, ...] = ("",)
    """Ends of an address's path, in lower case, that QGIS opens so."""


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
    namespaces: frozenset[str] = frozenset()
    """Namespaces of OWS Common's root `Capabilities` (OGC 06-121r9), without OGC's host and version: `wfs`."""
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
    qgis_layers: tuple[QgisLayer, ...] = ()
    """Ways in which QGIS opens a layer of the kind; the first that has the end of the address's path counts."""
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


# --------------------------------------------------------------------------- kinds of XML documents


OWS_ROOT = "capabilities"
"""The root element of all kinds of OWS Common (OGC 06-121r9), in lower case; its namespace names the kind."""
_OGC_NAMESPACE = re.compile(r"\Ahttps?://www\.open(?:gis|geospatial)\.net/(?:cat/)?([a-z]+)(?:/|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RootIndex:
    """Recognises the kind of service that an XML document describes by the name and namespace of its root element."""

    roots: Mapping[str, Kind]
    """Root element that only one kind has, in lower case → kind."""
    errors: Mapping[str, Kind]
    """Root element of an answer to a request without parameters, in lower case → the likeliest kind."""
    namespaces: Mapping[str, Kind]

    @classmethod
    def of(cls, kinds: Iterable[KindDeclaration]) -> Self:
        """Return the index of the roots that these kinds declare."""
        kinds = tuple(kinds)
        return cls(
            {root: declared.kind for declared in kinds for root in declared.roots},
            {root: declared.kind for declared in kinds for root in declared.error_roots},
            {name: declared.kind for declared in kinds for name in declared.namespaces},
        )

    def kind(self, name: str, namespace: str) -> Kind | None:
        """Return the kind that a root element names, in any case; None for any other root and for error answers."""
        if name.lower() != OWS_ROOT:
            return self.roots.get(name.lower())
        match = _OGC_NAMESPACE.match(namespace)
        return self.namespaces.get(match[1].lower()) if match else None

    def is_standard(self, namespace: str) -> bool:
        """Return whether a namespace of OWS Common's root is spelt as in a standard."""
        return namespace == namespace.lower() and namespace.startswith("http:") and bool(self.kind(OWS_ROOT, namespace))
