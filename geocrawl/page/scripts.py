"""Find service addresses in scripts and configurations without running them, and choose the files worth a request.

One reader serves inline and linked JavaScript, JSON in scripts, attributes and files, and JSON-LD, because JSON is read
as JavaScript here. The reader has a stack of open brackets. The kind of an address is the one that the nearest
construct around the address names: its key (`wmsUrl: …`), the `type` of its object (`{"type": "wms", "url": …}`:
Terria, MapStore, Oskari, Mapbender), or the function that it is passed to (`L.tileLayer.wms(…)`, `new
ol.source.TileWMS({url: …})`, Cesium's `WebMapServiceImageryProvider`, ArcGIS' `WMSLayer`). Strings joined by `+` or in
a template are concatenated as far as their parts are constants of the same script.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from geocrawl.formats.text import fold, well_formed
from geocrawl.model import SCRIPT_SRC, Kind
from geocrawl.page.content import MAX_CONTEXT_CHARS, MAX_HREF_CHARS, RawLink
from geocrawl.page.naming import kind_in_name, may_be_service

MAX_ADDRESSES = 2_000
"""Most addresses read of one script."""
_MAX_CONSTANTS = 5_000
_MAX_DEPTH = 200
"""Most brackets open at once; deeper brackets count as one with the innermost."""
_MAX_CLIMB = 4
"""Brackets around an address that are searched for the name of a kind."""

_TYPE_KEYS = frozenset(
    {
        "type",
        "service",
        "servicetype",
        "service_type",
        "layertype",
        "sourcetype",
        "protocol",
        "provider",
        "class",
        "kind",
    }
    | {
        "xtype",
        "ptype",
        "driver",
        "format",
        "encodingformat",
        "additionaltype",
        "conformsto",
        "sourcetypename",
        "@type",
    }
)
"""Keys whose value names the type of the object."""
_TITLE_KEYS = frozenset({"title", "name", "label", "text"})
_ADDRESS_KEY = re.compile(
    r"(?:url|uri|href|src|source|host|server|endpoint|address|service|base|path|tiles|getmap|capabilities|resource)s?\d?\Z"
)
_OTHER_KEY = re.compile(
    r"legend|icon|thumb|attribution|proxy|logo|image|metadata|info|help|licen|style|schema|copyright|doc"
)
"""Keys of addresses that are no service, even next to one."""
_ABSOLUTE = re.compile(r"(?:https?:)?//[^\s/?#\"'<>]+", re.I)
_ESCAPED_ADDRESS = re.compile(r"https?%3A%2F%2F", re.I)
_SUBDOMAIN = re.compile(r"\{(?:s|[a-z0-9]-[a-z0-9])\}", re.I)
_TILE_NUMBER = re.compile(r"\{-?(?:x|y|z|tilematrix|tilecol)\}", re.I)
_BAD = re.compile(r"[\s<>\"`|]")


@dataclass(slots=True, eq=False)
class _Bracket:
    """An open bracket: a call's arguments, an object or a list."""

    sign: str
    name: str = ""
    """Name of the function that is called, or of the object."""
    kind: str = ""
    typed: bool = False
    """Whether the object names its own type, so that the brackets around the object no longer count."""
    title: str = ""
    above: _Bracket | None = None
    depth: int = 0


@dataclass(slots=True, eq=False)
class _AddressString:
    """A string that may be an address, with its key and the bracket around it."""

    text: str
    key: str
    bracket: _Bracket


@dataclass(slots=True)
class _Value:
    """An expression of strings joined by `+`, as far as it is known."""

    key: str
    known: str = ""
    open: bool = True
    """Whether all parts joined so far are known."""
    parts: int = 0

    def add(self, text: str | None) -> None:
        """Append a part; None means a part of unknown value."""
        self.parts += 1
        if text is None:
            self.open = False
        elif self.open and len(self.known) <= MAX_HREF_CHARS:
            self.known += text


@dataclass(slots=True)
class _Reader:
    """Reads the tokens of one script in order."""

    bracket: _Bracket = field(default_factory=lambda: _Bracket(""))
    constants: dict[str, str] = field(default_factory=dict)
    found: list[_AddressString] = field(default_factory=list)
    value: _Value | None = None
    joined: bool = False
    """Whether the last token was a `+`."""
    chosen: bool = False
    """Whether a `?` is open, so that the text before the next `:` is a value, not a key."""
    key: str = ""
    """Key of the next value."""
    last: Token = field(default_factory=lambda: Token("", ""))

    def take(self, token: Token) -> None:
        """Process the next token."""
        if token.kind == "sign":
            self._sign(token.text)
        elif token.kind in ("string", "template", "name", "number"):
            self._operand(token)
        self.last = token

    def _operand(self, token: Token) -> None:
        if self.value is None or not self.joined:
            self._end_value()
            self.value = _Value(self.key)
        self.joined = False
        if token.kind == "string":
            self.value.add(token.text)
        elif token.kind == "template":
            for index, part in enumerate(split_template(token.text)):
                if part:
                    self.value.add(self._constant(part) if index % 2 else part)
        else:
            self.value.add(self._constant(token.text))

    def _sign(self, sign: str) -> None:
        if sign == "+":
            self.joined = True
            return
        self.joined = False
        if sign == "?" or (sign == ":" and self.chosen):
            self._end_value()
            self.chosen = sign == "?"
            return
        if sign in ":=":
            self.value, self.key = None, self.last.text if self.last.kind in ("name", "string") else ""
            return
        name = self.last.text if sign == "(" and self.last.kind == "name" else self.key
        if sign == "(":
            self.value = None
        self._end_value()
        if sign in "{([":
            self._open(sign, name)
        elif sign in "})]":
            self.bracket = self.bracket.above or self.bracket
        if sign in "{([,;":
            self.key, self.chosen = "", False

    def _open(self, sign: str, name: str) -> None:
        above = self.bracket
        if above.depth < _MAX_DEPTH:
            self.bracket = _Bracket(sign, name, kind_in_name(name), above=above, depth=above.depth + 1)

    def _end_value(self) -> None:
        """End an expression, whose known text may be a constant, the type of its object, or an address."""
        value, self.value = self.value, None
        if value is None or not value.known:
            return
        key, text = value.key.lower(), value.known
        if value.open and len(text) <= MAX_HREF_CHARS and key and len(self.constants) < _MAX_CONSTANTS:
            self._remember(value.key, text)
        bracket = self.bracket
        if key in _TYPE_KEYS and bracket.sign == "{":
            kind = kind_in_name(text)
            if kind or not bracket.typed:
                bracket.kind = kind
            bracket.typed = True
        elif key in _TITLE_KEYS and not bracket.title:
            bracket.title = text
        if len(self.found) < MAX_ADDRESSES and _may_be_address(text):
            self.found.append(_AddressString(text, value.key, bracket))

    def _remember(self, name: str, text: str) -> None:
        self.constants[name.rpartition(".")[2]] = text
        self.constants[name] = text
        if self.bracket.sign == "{" and self.bracket.name:
            self.constants[f"{self.bracket.name}.{name}"] = text

    def _constant(self, name: str) -> str | None:
        name = name.replace("?.", ".")
        if name in self.constants:
            return self.constants[name]
        owner, _, last = name.rpartition(".")
        return self.constants.get(last) if owner in ("this", "self", "window", "that", "_this") else None

    def finish(self) -> list[_AddressString]:
        """Return the addresses found."""
        self._end_value()
        return self.found


def addresses_in_code(code: str, where: str, *, relative: bool = True) -> Iterator[RawLink]:
    """Yield the addresses in a script or configuration that may be services, in order, each once.

    `where`: value for `RawLink.where`. `relative`: whether relative addresses are read; false when their base is
    unknown.
    """
    reader = _Reader()
    for token in read_tokens(code):
        reader.take(token)
    seen: set[tuple[str, str]] = set()
    for found in reader.finish():
        href = _mended(found.text)
        kind = _kind_of(found)
        if (href, kind) in seen or not _is_wanted(href, kind, found, relative=relative):
            continue
        seen.add((href, kind))
        title, context = _texts_around(found.bracket)
        yield RawLink(href, where, title, context, kind=kind)


def _may_be_address(text: str) -> bool:
    """Return whether a string may be an address: absolute, or relative to its host's root or its folder."""
    if not 3 < len(text) <= MAX_HREF_CHARS or _BAD.search(text.strip()):
        return False
    if _ABSOLUTE.match(text) or _ESCAPED_ADDRESS.match(text):
        return True
    return "/" in text and "://" not in text and (text.startswith("/") or may_be_service(text))


def _mended(text: str) -> str:
    text = text.strip()
    if _ESCAPED_ADDRESS.match(text):
        text = unquote(text)
    while "&amp;" in text:
        text = text.replace("&amp;", "&")
    return _SUBDOMAIN.sub("a", text)


def _kind_of(found: _AddressString) -> str:
    kind = kind_in_name(found.key)
    bracket: _Bracket | None = found.bracket
    for _ in range(_MAX_CLIMB):
        if kind or bracket is None:
            break
        kind = bracket.kind
        if bracket.typed:
            break
        bracket = bracket.above
    return kind


def _is_wanted(href: str, kind: str, found: _AddressString, *, relative: bool) -> bool:
    """Return whether an address looks like a service, or reveals nothing but has a kind named next to it."""
    key = found.key.lower().rpartition(".")[2]
    if _OTHER_KEY.search(key) or (_TILE_NUMBER.search(href) and "service=" not in href.lower()):
        return False
    if not relative and not href.startswith(("http", "/")):
        return False
    if may_be_service(href):
        return True
    if not kind:
        return False
    return _ADDRESS_KEY.search(key) is not None or (not key and found.bracket.sign == "(") or bool(kind_in_name(key))


def _texts_around(bracket: _Bracket) -> tuple[str, str]:
    """Return the nearest title around an address, and the name of the function that the address is passed to."""
    title, called = "", ""
    above: _Bracket | None = bracket
    for _ in range(_MAX_CLIMB):
        if above is None:
            break
        title = title or above.title
        called = called or (above.name if above.sign == "(" else "")
        above = above.above
    return fold(title, MAX_CONTEXT_CHARS), called[:MAX_CONTEXT_CHARS]


# --------------------------------------------------------------------------- tokens
# Reading is tolerant: characters that are no token are skipped, and a string without a closing quote ends with its
# line. Every pattern is unambiguous (no two ways to match one text), so reading takes time proportional to the length.


MAX_CODE_CHARS = 300_000
"""Most characters read of one script or configuration."""

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*)
    |(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?)
    |(?P<template>`[^`\\]*(?:\\.[^`\\]*)*`?)
    |(?P<name>[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*)
    |(?P<sign>[{}()\[\],;:+=/?])
    |(?P<number>[0-9][\w.]*)""",
    re.X | re.S,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,80}\]){1,200}/[a-z]{0,8}", re.S)
_BEFORE_REGEX = frozenset("(,=:[{};?") | {"", "return"}
"""Tokens after which a slash begins a regular expression rather than a division."""
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(\r\n|.))", re.S)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "v": "", "0": "", "\n": "", "\r\n": ""}
_PLACEHOLDER = re.compile(r"\$\{([^{}]{0,200})\}")


class Token(NamedTuple):
    """A token with its text: a string without quotes and escapes, a name, a sign."""

    kind: str
    """'string', 'template', 'name', 'sign' or 'number'."""
    text: str


def read_tokens(code: str) -> Iterator[Token]:
    """Yield the tokens of the first `MAX_CODE_CHARS` of `code`, without comments and regular expressions."""
    position, end = 0, min(len(code), MAX_CODE_CHARS)
    before = ""
    while match := _TOKEN.search(code, position, end):
        kind, text = match.lastgroup or "", match[0]
        position = match.end()
        if kind == "comment":
            if text == "/*":
                position = code.find("*/", position, end) + 2
                if position == 1:
                    return
            continue
        if text == "/" and before in _BEFORE_REGEX and (regex := _REGEX.match(code, match.start(), end)):
            position, before = regex.end(), ")"
            continue
        if kind == "string":
            text = unescape(text[1:].removesuffix(text[0]))
        elif kind == "template":
            text = text[1:].removesuffix("`")
        yield Token(kind, text)
        before = text if kind in ("sign", "name") else ")"


def split_template(text: str) -> list[str]:
    """Return strings and names of a template literal in turn, a string first and last: a, b, c for `a${b}c`."""
    parts = _PLACEHOLDER.split(text)
    return [part.strip() if index % 2 else unescape(part) for index, part in enumerate(parts)]


def unescape(text: str) -> str:
    """Return a string literal's value (ECMAScript, 12.9.4; JSON, RFC 8259, 7), well-formed."""
    return well_formed(_ESCAPE.sub(_character, text)) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _PLAIN_ESCAPES.get(found[4], found[4])
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"


# --------------------------------------------------------------------------- which files are worth a request
# A viewer's layers are often in a file beside the page: `js/map.js`, `config/layers.json`. Few scripts of a page
# contain layers, so a script is fetched only when its name is promising, or when the page shows a map; libraries are
# never fetched. The choice depends on the page and the addresses alone.


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
