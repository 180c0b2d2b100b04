"""Declare the signs of the kind OGC Web Map Service."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration
from geocrawl.probe.wms.addresses import PARAMETERS, PATHS

KIND = KindDeclaration(
    kind=Kind.WMS,
    name="OGC Web Map Service",
    proof="capabilities 1.0.0 to 1.3.0 with Service and Capability",
    services=frozenset({"wms", "ogc:wms"}),
    requests=frozenset({"getmap", "getfeatureinfo", "getlegendgraphic", "describelayer", "getstyles"}),
    old_requests=frozenset({"capabilities", "map", "feature_info"}),
    paths=PATHS,
    parameters=PARAMETERS,
    # A request without parameters is answered with an exception report (WMS 1.3.0, annex E.2). The first versions of
    # WFS and WCS send the same report, and are usually next to a WMS.
    roots=frozenset({"wms_capabilities", "wmt_ms_capabilities"}),
    error_roots=frozenset({"serviceexceptionreport", "wmtexception"}),
)
