"""Choose the scripts and configurations that are worth a request, by the page that loads them and by their names.

A viewer's layers are often in a file beside the page: `js/map.js`, `config/layers.json`. Libraries are never fetched,
and neither is a script of another site, which is a library of any name. Among the others a name orders and forbids
nothing: those beside the page come before those that all pages of the site have, and promising names before others.
The choice depends on the page and the addresses alone; how many files of a host are read is the crawler's budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import lru_cache

from geocrawl.model import SCRIPT_SRC, Kind, Link, Url
from geocrawl.page.content import RawLink
from geocrawl.urls import read_url

SCRIPT_TYPES = ("javascript", "ecmascript")
_SCRIPT_ENDS = (".js", ".mjs")
_DATA_ENDS = (".json", ".xml")
_OTHER_ENDS = (".css", ".html", ".htm", ".wasm", ".map", ".png", ".svg", ".ts")
_MOST_FILES = 40
"""Most files of a page or script among which the best are chosen."""
_MOST_NAMED = 5
"""Most files that one script names and that are followed."""

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
_NO_LAYERS = frozenset(
    {"package", "lock", "manifest", "tsconfig", "composer", "locale", "locales", "lang", "langs", "i18n", "translation"}
    | {"translations", "messages", "theme", "icons", "fonts", "search", "schema", "browserconfig", "rss", "feed"}
)
"""Names of data that no viewer keeps layers in."""
_LIBRARY = re.compile(
    r"(?:^|[/.-])(?:jquery[a-z-]*|bootstrap|popper|ol|openlayers|ol-?debug|ol-?custom|leaflet|maplibre(?:-gl)?|mapbox(?:-gl)?|cesium|proj4|"
    r"proj4js|d3|three|react|react-dom|vue|angular|polyfill|modernizr|require|requirejs|dojo|ext|ext-all|ext-base|geoext|lodash|"
    r"underscore|moment|dayjs|axios|handlebars|mustache|swiper|slick|lightbox|fancybox|highlight|prism|mathjax|chart|echarts|"
    r"highcharts|turf|esri-leaflet|iclient[a-z0-9-]*|supermap[a-z0-9.-]*|analytics|gtm|ga|matomo|piwik|hotjar|recaptcha|"
    r"html5shiv|respond|layui|layer|element-ui|datatables|select2|knockout|backbone|prototype|mootools|yui|tinymce|ckeditor|"
    r"runtime|vendors?|chunk-vendors|common|core-js|wp-[a-z-]+|jsapi|togeojson|geotiff|pdfjs|pdf)"
    r"(?:[.-]?v?\d[\w.-]*)?(?:[.-](?:min|pack|compressed|debug|src|slim|core|all|full|prod|esm|umd|bundle|build|custom))*\.m?js\Z"
)
"""File names of libraries, of any version and build."""
_LIBRARY_FOLDER = re.compile(
    r"/(?:node_modules|bower_components|vendors?|third[-_]?party|jquery[^/]*|wp-includes|plugins?)/"
)
_VERSION = re.compile(r"\?(?:(?:v|ver|version|rev|t|ts|_|cb|hash|r|time|timestamp|cache)=[^&#]*|[\w.-]*)\Z", re.I)
_NAME = r"[\w./:%@~-]{1,300}\.(?:json5?|xml)(?:\?[\w.=&%-]{0,100})?"
DATA_FILE = re.compile(_NAME, re.I)
"""Name of a file of data, in JSON or XML."""
_IN_CODE = re.compile(rf"[\"'`]({_NAME})[\"'`]", re.I)
_IN_ATTRIBUTE = re.compile(rf"=\s?[\"']({_NAME})[\"']", re.I)
_KEY_BEFORE = re.compile(r"([\w$-]{2,60})[\"']?\s{0,5}[:=]?\s{0,5}\Z")
_KEY_CHARS = 80
_MODULE = re.compile(r"\b(?:from|import)\s{0,3}\(?\s{0,3}[\"'](\.{0,2}/[\w./-]{1,200}\.m?js)[\"']")
_SCRIPT_FOLDERS = re.compile(r"(?:/(?:js|javascripts?|scripts?|static|assets|src|dist|build|lib|modules))+/\Z", re.I)
"""Folders of scripts at the end of an address, beneath the folder of the page."""
_MAX_CODE_CHARS = 300_000


class Promise(Enum):
    """Likelihood that a file contains layers, by its name."""

    NONE = 0
    """A library, or no file that may contain layers."""
    WITH_MAP = 1
    """A configuration or data: likely if a map is shown."""
    POSSIBLE = 2
    """A script of any name."""
    LIKELY = 3
    """Likely on any page."""


def shows_map(lower: str) -> bool:
    """Return whether a page (in lower case) seems to show a map."""
    return any(sign in lower for sign in _MAP_SIGNS)


def files_in_code(code: str) -> Iterator[tuple[str, str]]:
    """Yield key and name of each file of data in the strings of a script; '' for one without a key."""
    for found in _IN_CODE.finditer(code[:_MAX_CODE_CHARS]):
        before = code[max(0, found.start() - _KEY_CHARS) : found.start()]
        key = _KEY_BEFORE.search(before) if before.rstrip().endswith((":", "=")) else None
        yield key[1] if key else "", found[1]


def files_in_attributes(html: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of each attribute of a page that names a file of data."""
    if ".json" not in html and ".xml" not in html:
        return
    for found in _IN_ATTRIBUTE.finditer(html):
        if name := _KEY_BEFORE.search(html, max(0, found.start() - _KEY_CHARS), found.start()):
            yield name[1].lower(), found[1]


def linked_files(scripts: Iterable[str], configurations: Iterable[str], with_map: Callable[[], bool]) -> list[RawLink]:
    """Return links to the scripts and configurations of a page that may contain layers, the likeliest first.

    `with_map` returns whether the page shows a map; it is called only when that matters.
    """
    scripts = tuple(scripts)
    hrefs = dict.fromkeys(_VERSION.sub("", href.strip().partition("#")[0]) for href in (*configurations, *scripts))
    return _links(hrefs, with_map) if hrefs else []


def files_of_script(code: str, url: Url) -> list[RawLink]:
    """Return links to what a script file loads by a literal name: its modules, JSON and XML; at most `_MOST_NAMED`.

    A module is named relative to the script, anything else relative to the page, whose folder is taken to be the one
    that holds the folder of scripts.
    """
    modules = [found[1] for found in _MODULE.finditer(code[:_MAX_CODE_CHARS])] if "import" in code else []
    app = _SCRIPT_FOLDERS.sub("/", url.address.partition("?")[0].rpartition("/")[0] + "/")
    urls = [*(read_url(href, app) for _, href in files_in_code(code)), *(read_url(href, url) for href in modules)]
    hrefs = dict.fromkeys(file.address for file in urls if file is not None and file.site == url.site)
    return _links(hrefs, lambda: shows_map(code.lower()))[:_MOST_NAMED]


def _links(hrefs: Iterable[str], with_map: Callable[[], bool]) -> list[RawLink]:
    """Return links to files, the likeliest first, without libraries and without data that a map alone would explain."""
    promises = {href: promise for href in hrefs if (promise := _promise(href)) is not Promise.NONE}
    shown = any(promise is Promise.WITH_MAP for promise in promises.values()) and with_map()
    wanted = [href for href, promise in promises.items() if promise is not Promise.WITH_MAP or shown or _is_code(href)]
    wanted.sort(key=lambda href: promises[href].value, reverse=True)
    return [RawLink(href, SCRIPT_SRC) for href in wanted[:_MOST_FILES]]


def nearest_first(files: Iterable[Link], page: Url) -> list[Link]:
    """Return links to files of a page's own site, those in its folder or beneath before those of the whole site."""
    folder = page.address.partition("?")[0].rpartition("/")[0] + "/"
    own = [link for link in files if link.url.site == page.site]
    return sorted(own, key=lambda link: not link.url.address.startswith(folder))


def is_script(content_type: str, path: str) -> bool:
    """Return whether an answer is a script, by its media type or else by the end of its path."""
    if any(name in content_type for name in SCRIPT_TYPES):
        return True
    return path.lower().partition("?")[0].endswith(_SCRIPT_ENDS) and "html" not in content_type


def _is_code(href: str) -> bool:
    return not href.lower().partition("?")[0].endswith(_DATA_ENDS)


@lru_cache(maxsize=4_096)
def _promise(href: str) -> Promise:
    """Return how likely a file contains layers, by its name."""
    path = href.lower().partition("?")[0]
    if _LIBRARY.search(path) or _LIBRARY_FOLDER.search(path) or path.endswith(_OTHER_ENDS):
        return Promise.NONE
    names = path.partition("://")[2].partition("/")[2] if "://" in path else path
    words = set(_WORD.findall("/".join(names.split("/")[-2:])))
    if words & _TELLING:
        return Promise.LIKELY
    if not path.endswith(_DATA_ENDS):
        return Promise.POSSIBLE
    return Promise.NONE if words & _NO_LAYERS else Promise.WITH_MAP
