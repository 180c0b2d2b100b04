"""What the queries and documents of each service kind look like: a new kind is a row here.

Names and values are in lower case. Paths stand in `data/known_servers.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from geocrawl.model import Kind


@dataclass(frozen=True, slots=True)
class KindRule:
    """One kind of service."""

    kind: Kind
    name: str
    services: frozenset[str] = frozenset()
    """Values of SERVICE."""
    requests: frozenset[str] = frozenset()
    """Values of REQUEST that name this kind when SERVICE is not given."""
    shared: frozenset[str] = frozenset({"getcapabilities"})
    """Values of REQUEST that other kinds have, too: they name this kind only beside its SERVICE, or where the path says
    so."""
    old_requests: frozenset[str] = frozenset()
    """Words that are requests only beside other parameters of the kind (WMS 1.0.0, 6.2.8: `capabilities`, `map`)."""
    roots: frozenset[str] = frozenset()
    """Root elements of its capabilities, and of what it says when it is asked for nothing (WMS 1.3.0, annex E.2; the
    first versions of WFS and WCS say the same, and stand beside a WMS as a rule)."""
    namespaces: tuple[str, ...] = ()
    """How the namespace begins when the root is OWS Common's `Capabilities` (OGC 06-121r9), without scheme."""
    keys: tuple[frozenset[str], ...] = ()
    """Sets of top-level keys, any of which a JSON document of this kind has whole."""
    rels: frozenset[str] = frozenset()
    """Relations of links that its landing page has."""
    beside: str = ""
    """Where it is asked for unseen, when no address says so."""
    proof: str = ""
    """What an answer must be to prove it, for `geocrawl kinds`."""


def _ogc(*places: str) -> tuple[str, ...]:
    return tuple(f"{host}/{place}" for host in ("www.opengis.net", "www.opengeospatial.net") for place in places)


KINDS: tuple[KindRule, ...] = (
    KindRule(
        kind=Kind.WMS,
        name="OGC Web Map Service",
        services=frozenset({"wms", "ogc:wms"}),
        requests=frozenset({"getmap", "getfeatureinfo", "getlegendgraphic", "describelayer", "getstyles"}),
        old_requests=frozenset({"capabilities", "map", "feature_info"}),
        roots=frozenset({"wms_capabilities", "wmt_ms_capabilities", "serviceexceptionreport", "wmtexception"}),
        proof="capabilities 1.0.0 to 1.3.0 with Service and Capability",
    ),
    KindRule(
        kind=Kind.WFS,
        name="OGC Web Feature Service",
        services=frozenset({"wfs", "ogc:wfs"}),
        requests=frozenset(
            {"getfeature", "describefeaturetype", "getpropertyvalue", "liststoredqueries", "describestoredqueries"}
            | {"getfeaturewithlock", "lockfeature"}
        ),
        roots=frozenset({"wfs_capabilities"}),
        namespaces=_ogc("wfs"),
        proof="capabilities 1.0.0 to 2.0.2 with feature types",
    ),
    KindRule(
        kind=Kind.WMTS,
        name="OGC Web Map Tile Service",
        services=frozenset({"wmts", "ogc:wmts"}),
        shared=frozenset({"getcapabilities", "getfeatureinfo", "gettile", "getlegendgraphic"}),
        namespaces=_ogc("wmts"),
        proof="capabilities 1.0.0 with Contents, by query or as WMTSCapabilities.xml",
    ),
    KindRule(
        kind=Kind.WCS,
        name="OGC Web Coverage Service",
        services=frozenset({"wcs", "ogc:wcs"}),
        requests=frozenset({"getcoverage", "describecoverage", "describeeocoverageset"}),
        roots=frozenset({"wcs_capabilities"}),
        namespaces=_ogc("wcs"),
        proof="capabilities 1.0.0 to 2.0.1",
    ),
    KindRule(
        kind=Kind.CSW,
        name="OGC Catalogue Service for the Web",
        services=frozenset({"csw", "ogc:csw", "csw-iso", "csw-2.0.2"}),
        requests=frozenset({"getrecords", "getrecordbyid", "describerecord"}),
        shared=frozenset({"getcapabilities", "getdomain"}),
        namespaces=_ogc("cat/csw", "csw"),
        proof="capabilities 2.0.2 or 3.0.0",
    ),
    KindRule(
        kind=Kind.WPS,
        name="OGC Web Processing Service",
        services=frozenset({"wps", "ogc:wps"}),
        requests=frozenset({"describeprocess"}),
        shared=frozenset({"getcapabilities", "execute", "getstatus", "getresult"}),
        namespaces=_ogc("wps"),
        proof="capabilities 1.0.0 or 2.0 with processes",
    ),
    KindRule(
        kind=Kind.SOS,
        name="OGC Sensor Observation Service",
        services=frozenset({"sos", "ogc:sos"}),
        requests=frozenset(
            {"getobservation", "describesensor", "getfeatureofinterest", "getobservationbyid", "getdataavailability"}
        ),
        namespaces=_ogc("sos"),
        proof="capabilities 1.0.0 or 2.0.0",
    ),
    KindRule(
        kind=Kind.TMS,
        name="Tile Map Service (OSGeo)",
        roots=frozenset({"tilemapservice", "tilemap"}),
        proof="a TileMapService or TileMap document",
    ),
    KindRule(
        kind=Kind.WMSC,
        name="WMS Tile Caching (OSGeo)",
        beside="asked beside the other services of GeoWebCache, MapProxy and MapCache",
        proof="WMS capabilities 1.1.1 with tile sets",
    ),
    KindRule(
        kind=Kind.TILEJSON,
        name="TileJSON",
        keys=(frozenset({"tilejson", "tiles"}),),
        proof="a TileJSON document 2.x or 3.x",
    ),
    KindRule(
        kind=Kind.ARCGIS,
        name="ArcGIS REST services",
        keys=(
            frozenset({"currentVersion", "services"}),
            frozenset({"currentVersion", "serviceDescription"}),
            frozenset({"currentVersion", "fullExtent", "capabilities"}),
        ),
        proof="the JSON of a folder, MapServer, ImageServer or FeatureServer",
    ),
    KindRule(
        kind=Kind.STAC,
        name="SpatioTemporal Asset Catalog",
        keys=(frozenset({"stac_version", "links"}),),
        proof="a catalogue, a collection or the landing page of an API",
    ),
    KindRule(
        kind=Kind.OGCAPI,
        name="OGC API",
        keys=(frozenset({"conformsTo"}), frozenset({"collections", "links"})),
        rels=frozenset({"conformance", "http://www.opengis.net/def/rel/ogc/1.0/conformance"}),
        proof="a landing page with its conformance or collections (Features, Tiles, Maps, Records …)",
    ),
)


@dataclass(frozen=True, slots=True)
class KindIndex:
    """The rules by what is looked up in them."""

    of_service: Mapping[str, KindRule] = field(default_factory=dict)
    of_request: Mapping[str, KindRule] = field(default_factory=dict)
    """Requests that name one kind alone."""
    of_root: Mapping[str, Kind] = field(default_factory=dict)
    rule: Mapping[Kind, KindRule] = field(default_factory=dict)


@lru_cache(maxsize=1)
def kind_index() -> KindIndex:
    """The rules of `KINDS`."""
    return KindIndex(
        of_service={service: rule for rule in KINDS for service in rule.services},
        of_request={request: rule for rule in KINDS for request in rule.requests},
        of_root={root: rule.kind for rule in KINDS for root in rule.roots},
        rule={rule.kind: rule for rule in KINDS},
    )
