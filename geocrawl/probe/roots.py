"""Which kind of service a capabilities document is of, by its root alone.

Old kinds name themselves in the root (`WFS_Capabilities`); those of OWS Common (OGC 06-121r9) all call it
`Capabilities` and are told apart by its namespace. Where a document has none, the operations that it offers tell, or
what stands in its sections.
"""

from __future__ import annotations

import re

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, local_name, namespace_of
from geocrawl.model import Kind

_NAMED = {
    "wms_capabilities": Kind.WMS,
    "wmt_ms_capabilities": Kind.WMS,
    "wfs_capabilities": Kind.WFS,
    "wcs_capabilities": Kind.WCS,
    "tilemapservice": Kind.TMS,
    "tilemap": Kind.TMS,
}
_NAMESPACE = re.compile(r"\Ahttps?://www\.open(?:gis|geospatial)\.net/(?:cat/)?(wfs|wmts|wcs|csw|wps|sos)(?:/|\Z)")
_OPERATIONS = {
    "GetTile": Kind.WMTS,
    "GetFeature": Kind.WFS,
    "GetCoverage": Kind.WCS,
    "GetRecords": Kind.CSW,
    "DescribeProcess": Kind.WPS,
    "GetObservation": Kind.SOS,
}

_SECTIONS = {
    ("ProcessOfferings",): Kind.WPS,
    ("Contents", "TileMatrixSet"): Kind.WMTS,
    ("Contents", "CoverageSummary"): Kind.WCS,
    ("Contents", "ObservationOfferingList"): Kind.SOS,
    ("FeatureTypeList",): Kind.WFS,
}


def is_capabilities(root: etree._Element) -> bool:
    """Whether a root is a capabilities document of any kind, known or not."""
    name = local_name(root)
    return name.endswith("Capabilities") and name != "GetCapabilities"


def kind_of_root(root: etree._Element) -> Kind | None:
    """The kind of service that describes itself here; None for anything else."""
    name = local_name(root)
    if named := _NAMED.get(name.lower()):
        return named
    if name.lower() != "capabilities":
        return None
    namespace = namespace_of(root)
    if not namespace:
        return _by_operations(root) or _by_sections(root)
    found = _NAMESPACE.match(namespace.lower())
    return Kind(found[1]) if found else None


def is_usual_namespace(namespace: str) -> bool:
    """Whether a root's namespace is spelt as a standard has it."""
    return namespace.startswith("http:") and _NAMESPACE.match(namespace) is not None


def _by_operations(root: etree._Element) -> Kind | None:
    for operation in children(child(root, "OperationsMetadata"), "Operation"):
        if kind := _OPERATIONS.get(attribute(operation, "name").strip()):
            return kind
    return None


def _by_sections(root: etree._Element) -> Kind | None:
    for path, kind in _SECTIONS.items():
        if child(root, *path) is not None:
            return kind
    return None
