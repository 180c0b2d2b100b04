"""Recognise the words by which people, programs and addresses name a kind of service.

Three functions serve the readers: `kind_in_phrase` for prose next to an address ("WMS service:", "WMS服务"),
`kind_in_name` for names and values in code and configurations (`wmsUrl`, `TileWMS`, `"type": "OGC:WMS"`), and
`may_be_service` for addresses themselves. `may_be_service` is lenient on purpose: it only filters out ordinary
addresses in texts and scripts, and `detect` decides later.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KINDS = {
    **{name: name for name in ("wms", "wmts", "wfs", "wcs", "csw", "wps", "sos", "tms", "wmsc", "stac")},
    **{"webmapservice": "wms", "webmaptileservice": "wmts", "webfeatureservice": "wfs", "webcoverageservice": "wcs"},
    **{"webprocessingservice": "wps", "sensorobservationservice": "sos", "tilemapservice": "tms"},
    **{"catalogueservice": "csw", "catalogservice": "csw", "ogcapi": "ogcapi", "ogcfeature": "ogcapi"},
    **{"ogcapifeatures": "ogcapi", "tilejson": "tilejson"},
    **{"arcgisrest": "arcgis", "arcgismapserver": "arcgis", "esrimapserver": "arcgis", "esrifeatureserver": "arcgis"},
}
"""Name without separators → kind, as spelt in `model.Kind`."""
_BEFORE = ("ogc", "tile", "tiled", "image", "single", "url", "base", "esri")
_AFTER = ("layer", "server", "service", "source", "url", "uri", "href", "group", "endpoint", "base", "host", "address")
"""Words that names contain before or after the kind without a separator: `ogcwms`, `wmslayer`."""
_MAX_NAME_CHARS = 80
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS = re.compile(r"[A-Za-z]+")
_NAME_HINT = re.compile(r"w(?:ms|mts|fs|cs|ps)|web|csw|sos|tms|stac|ogc|catalog|tilejson|sensor|arcgis|esri", re.I)

_PHRASE = re.compile(
    r"(?<![a-z0-9._])(?:(wms|wmts|wfs|wcs|csw)|web[ -](?:(map)|(map[ -]tile)|(feature)|(coverage))[ -]service)"
    r"(?![a-z0-9_]|\.[a-z0-9])",
    re.I,
)
_PHRASE_KINDS = ("", "wms", "wmts", "wfs", "wcs")
_PHRASE_WORDS = ("wms", "wmts", "wfs", "wcs", "csw", "web map", "web feature", "web coverage")

_ADDRESS = re.compile(
    r"(?:service|request)(?:=|%3d)|(?<![a-z])(?:wms|wmts|wfs|wcs|csw|wps|sos|ows|wxs|wmsc|tms|ogc|stac)(?![a-km-rtu-z])"
    r"|wms(?:server|connector|capabilities)|getcap|mapserv|geoserver|mapproxy|mapcache|tilecache|geowebcache|qgis"
    r"|(?:map|image|feature)server|arcgis/|esrimap|iserver/services|erdas-iws|deegree|lizmap|thredds|geonetwork"
    r"|/collections|ogcapi|ogc-api|pygeoapi|tilejson|tiles\.json|catalog\.json|/v1\.[01](?:/|\Z)",
)
_PROGRAM = re.compile(r"(?:/[^/.?]+|\.(?:cgi|fcgi|exe|dll|php\d?|aspx?|ashx|jspx?|do|pl|py|map|xml))(?:\?.*)?\Z", re.S)
_IN_PROGRAMS = re.compile(r"/(?:f?cgi(?:-bin)?|ows|ogc|wxs)/")
_IN_OGC_FOLDER = re.compile(r"/(?:ows|ogc|wxs)/")
_KINDS_IN_FILES = frozenset({"stac", "tilejson"})
_SAYS_KIND = re.compile(r"(?<![a-z])(?:wms|wmts|wfs|wcs|csw|wps|sos|tms|wmsc|stac)(?![a-z])|service=|mapserv|qgis")


@lru_cache(maxsize=4_096)
def kind_in_name(name: str) -> str:
    """Return the kind named by a name or value in code ('' for none): `wmsUrl`, `ol.source.TileWMS`, `OGC:WMS`."""
    if len(name) > _MAX_NAME_CHARS or not _NAME_HINT.search(name):
        return ""
    words = [word.lower() for word in _LETTERS.findall(_CAMEL.sub(" ", name))]
    for size in (4, 3, 2, 1):  # longest name first: web map tile service before web map service
        for start in range(len(words) - size + 1):
            kind = _kind_of_word("".join(words[start : start + size]))
            if kind:
                return kind
    return ""


def _kind_of_word(word: str) -> str:
    if word in _KINDS:
        return _KINDS[word]
    for before in _BEFORE:
        if word.removeprefix(before) in _KINDS:
            return _KINDS[word.removeprefix(before)]
    for after in _AFTER:
        if word.removesuffix(after) in _KINDS:
            return _KINDS[word.removesuffix(after)]
    return ""


def may_name_kinds(text: str) -> bool:
    """Return whether `kind_in_phrase` can find anything in parts of `text`: a quick check of a whole page."""
    lower = text.lower()
    return any(word in lower for word in _PHRASE_WORDS)


def kind_in_phrase(text: str) -> str:
    """Return the kind that a text names last, '' for none: "WMS service URL:", "WMS服务", "Web Feature Service"."""
    kind = ""
    for found in _PHRASE.finditer(text):
        kind = found[1].lower() if found[1] else _PHRASE_KINDS[(found.lastindex or 1) - 1]
    return kind


def may_be_service(address: str) -> bool:
    """Return whether anything in an address looks like a service."""
    return _ADDRESS.search(address.lower()) is not None


def may_be_program(address: str) -> bool:
    """Return whether an address may be a program that answers requests rather than a page, a file or a folder."""
    path = address.partition("://")[2].partition("/")[2] if "://" in address else address.lstrip("/")
    return bool(path) and ("?" in path or _PROGRAM.search(f"/{path.lower()}") is not None)


def may_be_of_kind(address: str, kind: str) -> bool:
    """Return whether an address may belong to a service of the kind that is named next to it."""
    return may_be_program(address) or (kind in _KINDS_IN_FILES and address.partition("?")[0].endswith(".json"))


def may_be_named(address: str) -> bool:
    """Return whether an address may belong to a service of any kind that is named next to it."""
    return any(may_be_of_kind(address, kind) for kind in ("", *_KINDS_IN_FILES))


def says_kind(address: str) -> bool:
    """Return whether an address reveals a kind of service."""
    return _SAYS_KIND.search(address.lower()) is not None


def leaves_kind_open(address: str) -> bool:
    """Return whether an address is one where servers have programs, but reveals no kind of service."""
    return _IN_PROGRAMS.search(address.lower()) is not None and not says_kind(address)


def in_ogc_folder(address: str) -> bool:
    """Return whether an address is in a folder where servers have OGC's services of all kinds: `/ows/roads`."""
    return _IN_OGC_FOLDER.search(address.lower()) is not None and not says_kind(address)


# --------------------------------------------------------------------------- protocols of metadata
# There is no common vocabulary: catalogues write `OGC:WMS-1.3.0-http-get-map` (GeoNetwork),
# `urn:ogc:serviceType:WebMapService` (ISO 19119), `WMS_SRVC` (the EU's file types), `ESRI:REST` or `Esri REST` (CKAN),
# a requirement's URL of OWS Context, or just `WMS`. `naming` contains the names of OGC's kinds, this module the names
# that only catalogues use.


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
