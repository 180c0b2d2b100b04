"""Define kinds of service, and what the rooms that know no probe read of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


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
    """Holds what the rooms below `probe` know of a kind of service. The defaults fit a kind of OWS Common."""

    names: tuple[str, ...] = ()
    """What code and protocols call it, in lower case without separators; none: as it is called here."""
    by_path: bool = False
    """Whether its documents are requested by their path, without SERVICE."""
    parameter: str = ""
    """Value of SERVICE; none: the kind's name in capital letters."""


_FACTS: Mapping[str, KindFacts] = {
    Kind.WMS: KindFacts(names=("wms", "webmapservice")),
    Kind.WMSC: KindFacts(parameter="WMS"),
    Kind.WMTS: KindFacts(names=("wmts", "webmaptileservice")),
    Kind.WFS: KindFacts(names=("wfs", "webfeatureservice")),
    Kind.WCS: KindFacts(names=("wcs", "webcoverageservice")),
    Kind.CSW: KindFacts(names=("csw", "catalogueservice", "catalogservice")),
    Kind.WPS: KindFacts(names=("wps", "webprocessingservice")),
    Kind.SOS: KindFacts(names=("sos", "sensorobservationservice")),
    Kind.SPS: KindFacts(names=("sps", "sensorplanningservice")),
    Kind.TMS: KindFacts(names=("tms", "tilemapservice"), by_path=True),
    Kind.TILEJSON: KindFacts(by_path=True),
    Kind.ARCGIS: KindFacts(names=("arcgisrest", "arcgismapserver", "esrimapserver", "esrifeatureserver"), by_path=True),
    Kind.OGCAPI: KindFacts(
        names=("ogcapi", "ogcfeature", "ogcapifeatures", "ogcapiprocesses", "ogcprocesses"), by_path=True
    ),
    Kind.STAC: KindFacts(by_path=True),
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
