"""Map the protocol or format that metadata name for a resource to a service kind.

There is no common vocabulary: catalogues write `OGC:WMS-1.3.0-http-get-map` (GeoNetwork),
`urn:ogc:serviceType:WebMapService` (ISO 19119), `WMS_SRVC` (the EU's file types), `ESRI:REST` or `Esri REST` (CKAN), a
requirement's URL of OWS Context, or just `WMS`. `naming` contains the names of OGC's kinds, this module the names that
only catalogues use.
"""

from __future__ import annotations

import re
from functools import lru_cache

from geocrawl.page.naming import kind_in_name

_MAX_CHARS = 200
_VERSION = re.compile(r"/v?\d[\d.]{0,8}\Z")
_OTHERS = (
    ("ogcapi", re.compile(r"ogc[\s:_-]{0,3}(?:ogc[\s:_-]{0,3})?api|oapif|api[\s_-]{1,3}(?:features|records|tiles)")),
    ("arcgis", re.compile(r"(?:esri|arcgis)[\s:/_-]{0,3}(?:geo\s?services?\s)?rest|arcgis geoservice")),
    ("arcgis", re.compile(r"\A(?:ogc:|esri:)?arcgis\Z|esri:(?:map|image|feature)server")),
    ("wmsc", re.compile(r"(?<![a-z])wms-c(?![a-z])")),
    ("csw", re.compile(r"catalogue[\s_-]?service[\s_-]?for[\s_-]?the[\s_-]?web|(?<![a-z])csw\d?(?![a-z])")),
)


@lru_cache(maxsize=4_096)
def kind_of_protocol(text: str) -> str:
    """Return the kind, as spelt in `model.Kind`, of a protocol, format, scheme or conformance URL; '' for none."""
    if not text or len(text) > _MAX_CHARS:
        return ""
    lowered = text.lower()
    for kind, pattern in _OTHERS:
        if pattern.search(lowered):
            return kind
    # Of a URL only the end, before a version, names the protocol; a host named wms.example.org does not.
    _, scheme, place = text.rstrip("/").partition("://")
    name = _VERSION.sub("", place).partition("/")[2].rpartition("/")[2] if scheme else text
    return kind_in_name(name)


def kind_among(*texts: str) -> str:
    """Return the kind named by the first of these texts that names one; '' for none."""
    return next((kind for text in texts if (kind := kind_of_protocol(text))), "")
