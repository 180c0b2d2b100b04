"""Choose the scripts and configurations named by a page that are worth a request.

A viewer's layers are often in a file beside the page: `js/map.js`, `config/layers.json`. Few scripts of a page contain
layers, so a script is fetched only when its name is promising, or when the page shows a map; libraries are never
fetched. The choice depends on the page and the addresses alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from functools import lru_cache

from geocrawl.model import SCRIPT_SRC, Kind
from geocrawl.page.content import RawLink

SCRIPT_TYPES = ("javascript", "ecmascript")
_SCRIPT_ENDS = (".js", ".mjs")
_CONFIG_ENDS = (".json", ".xml", *_SCRIPT_ENDS)

_MAP_SIGNS = (
    *('="map', "=map", "='map", "openlayers", "leaflet", "cesium", "maplibre", "mapbox", "arcgis", "esri", "supermap"),
    *("ol.map", "l.map(", "mapbender", "data-config"),
)
_WORD = re.compile(r"[a-z]+")
_TELLING = frozenset(
    {"map", "maps", "mapa", "mapas", "karte", "karten", "carte", "cartes", "kaart", "kort", "ditu", "layer", "layers"}
    | {"viewer", "mapviewer", "geo", "gis", "webgis", "geoportal", "ogc", "ows", "geoserver"}
    | {"services", "catalog", "catalogue", "sdi", "geodata", "basemap", "basemaps", "overlays", "tiles", "mapconfig"}
    | {name for kind in Kind for name in kind.facts.prose}
)
_TELLING_WITH_MAP = frozenset(
    {"config", "configuration", "settings", "init", "main", "app", "index", "portal", "sources", "custom"}
    | {"script", "scripts", "site", "page", "start", "bundle", "options", "params", "env", "ol", "leaflet", "cesium"}
)
_LIBRARY = re.compile(
    r"(?:^|[/.-])(?:jquery|bootstrap|popper|ol|openlayers|ol-?debug|ol-?custom|leaflet|maplibre(?:-gl)?|mapbox(?:-gl)?|cesium|proj4|"
    r"proj4js|d3|three|react|react-dom|vue|angular|polyfill|modernizr|require|requirejs|dojo|ext|ext-all|ext-base|geoext|lodash|"
    r"underscore|moment|dayjs|axios|handlebars|mustache|swiper|slick|lightbox|fancybox|highlight|prism|mathjax|chart|echarts|"
    r"highcharts|turf|esri-leaflet|iclient[a-z0-9-]*|supermap[a-z0-9.-]*|analytics|gtm|ga|matomo|piwik|hotjar|recaptcha|"
    r"html5shiv|respond|layui|layer|element-ui|datatables|select2|knockout|backbone|prototype|mootools|yui|tinymce|ckeditor|"
    r"runtime|vendors?|chunk-vendors|common|core-js|wp-[a-z-]+|jsapi|togeojson|geotiff|pdfjs|pdf)"
    r"(?:[.-]?v?\d[\w.-]*)?(?:[.-](?:min|pack|debug|src|slim|core|all|full|prod|esm|umd|bundle|build|custom))*\.m?js\Z"
)
"""File names of libraries, of any version and build."""
_LIBRARY_FOLDER = re.compile(
    r"/(?:node_modules|bower_components|vendors?|third[-_]?party|jquery[^/]*|wp-includes|plugins?)/"
)
_VERSION = re.compile(r"\?(?:(?:v|ver|version|rev|t|ts|_|cb|hash|r|time|timestamp|cache)=[^&#]*|[\w.-]*)\Z", re.I)
_NAMED_IN_CODE = re.compile(r"[\"']([\w./:?=&%-]{1,200}\.(?:json|xml)(?:\?[\w.=&-]{0,60})?)[\"']")
_MAX_CODE_CHARS = 100_000
_IN_ATTRIBUTE = re.compile(r"data-[\w-]{1,60}\s?=\s?[\"']([\w./:%-]{1,200}\.json)[\"'?]")


class Promise(Enum):
    """Likelihood that a file contains layers, by its name."""

    UNLIKELY = 0
    """Unlikely on any page."""
    WITH_MAP = 1
    """Likely if its page shows a map."""
    LIKELY = 2
    """Likely on any page."""


def shows_map(lower: str) -> bool:
    """Return whether a page (in lower case) seems to show a map."""
    return any(sign in lower for sign in _MAP_SIGNS)


def configurations_named(code: str) -> list[str]:
    """Return the addresses of JSON and XML files in the strings of a script."""
    return [found[1] for found in _NAMED_IN_CODE.finditer(code[:_MAX_CODE_CHARS])]


def named_in_attributes(html: str) -> list[str]:
    """Return the addresses of JSON files in `data-*` attributes of a page."""
    return [found[1] for found in _IN_ATTRIBUTE.finditer(html)] if "data-" in html and ".json" in html else []


def choose_scripts(
    scripts: Iterable[str], configurations: Iterable[str], with_map: Callable[[], bool], *, limit: int
) -> list[RawLink]:
    """Return links to the scripts and configurations that are worth fetching, at most `limit`, the likeliest first.

    `with_map` returns whether the page shows a map; it is called only when that matters.
    """
    telling, others = [], []
    for href in (*configurations, *scripts):
        href = _VERSION.sub("", href.strip().partition("#")[0])
        match _promise(href):
            case Promise.LIKELY:
                telling.append(href)
            case Promise.WITH_MAP:
                others.append(href)
    chosen = list(dict.fromkeys(telling))
    if others and len(chosen) < limit and with_map():
        chosen = list(dict.fromkeys((*chosen, *others)))
    return [RawLink(href, SCRIPT_SRC) for href in chosen[:limit]]


def is_script(content_type: str, path: str) -> bool:
    """Return whether an answer is a script, by its media type or else by the end of its path."""
    if any(name in content_type for name in SCRIPT_TYPES):
        return True
    return path.lower().partition("?")[0].endswith(_SCRIPT_ENDS) and "html" not in content_type


@lru_cache(maxsize=4_096)
def _promise(href: str) -> Promise:
    """Return how likely a file contains layers, by its name."""
    path = href.lower().partition("?")[0]
    if not path.endswith(_CONFIG_ENDS) or _LIBRARY.search(path) or _LIBRARY_FOLDER.search(path):
        return Promise.UNLIKELY
    names = path.partition("://")[2].partition("/")[2] if "://" in path else path
    words = set(_WORD.findall("/".join(names.split("/")[-2:])))
    if words & _TELLING:
        return Promise.LIKELY
    return Promise.WITH_MAP if words & _TELLING_WITH_MAP or path.endswith(_SCRIPT_ENDS) else Promise.UNLIKELY
