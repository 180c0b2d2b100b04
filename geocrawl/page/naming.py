"""Recognise the words by which people, programs and addresses name a kind of service.

Three functions serve most readers: `kind_in_phrase` for prose next to an address ("WMS service:", "WMS服务"),
`kind_in_name` for names and values in code and configurations (`wmsUrl`, `TileWMS`, `"type": "OGC:WMS"`), and
`may_be_service` for addresses themselves. `may_be_service` is lenient on purpose: it only filters out ordinary
addresses in texts and scripts, and `detect` decides later.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from geocrawl.formats.text import any_of
from geocrawl.model import Kind
from geocrawl.page.content import BOUNDARY
from geocrawl.urls import read_url

_KINDS = {name.replace(" ", ""): str(kind) for kind in Kind for name in kind.called}
"""Name without separators → kind, as spelt in `model.Kind`."""
_LATEST_FIRST = tuple(reversed(Kind))
_BEFORE = ("ogc", "tile", "tiled", "image", "single", "url", "base", "esri")
_AFTER = ("layer", "server", "service", "source", "url", "uri", "href", "group", "endpoint", "base", "host", "address")
"""Words that names contain before or after the kind without a separator: `ogcwms`, `wmslayer`."""
_MAX_NAME_CHARS = 80
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS = re.compile(r"[A-Za-z]+")
_NAME_HINT = any_of((name.split()[0] for kind in Kind for name in kind.called), re.I)

PROSE = frozenset(name for kind in Kind for name in kind.facts.prose)
"""Names that mean a kind wherever a text contains them."""
_PHRASE = re.compile(
    rf"(?<![a-z0-9._])({'|'.join(name.replace(' ', '[ -]') for name in sorted(PROSE))})(?![a-z0-9_]|\.[a-z0-9])", re.I
)
PHRASE_WORDS = tuple(sorted({" ".join(name.split()[:2]) for name in PROSE}))
"""Every phrase of `kind_in_phrase` contains one of these texts."""

KIND_WORDS = tuple(str(kind) for kind in Kind if str(kind) in kind.called)
"""Names that are words of addresses, too. The name of ArcGIS is left out: it says nothing about a service."""
_WORDS = "|".join(KIND_WORDS)
_ADDRESS = re.compile(
    rf"(?:service|request)(?:=|%3d)|(?<![a-z])(?:{_WORDS}|ows|wxs|ogc)(?![a-km-rtu-z])"
    r"|getcap|mapserv|geoserver|mapproxy|mapcache|tilecache|geowebcache|qgis|esrimap|iserver/services|erdas-iws|deegree"
    r"|lizmap|thredds|geonetwork|pygeoapi|" + "|".join(kind.facts.address for kind in Kind if kind.facts.address)
)
_PROGRAM = re.compile(r"(?:/[^/.?]+|\.(?:cgi|fcgi|exe|dll|php\d?|aspx?|ashx|jspx?|do|pl|py|map|xml))(?:\?.*)?\Z", re.S)
_IN_PROGRAMS = re.compile(r"/(?:f?cgi(?:-bin)?|ows|ogc|wxs)/")
_IN_OGC_FOLDER = re.compile(r"/(?:ows|ogc|wxs)/")
_KINDS_IN_FILES = frozenset(kind for kind in Kind if kind.facts.in_files)
_SAYS_KIND = re.compile(rf"(?<![a-z])(?:{_WORDS})(?![a-z])|service=|mapserv|qgis")


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
        if (name := word.removesuffix("s").removesuffix(after)) in _KINDS:
            return _KINDS[name]
    return ""


def may_name_kinds(text: str) -> bool:
    """Return whether `kind_in_phrase` can find anything in parts of `text`: a quick check of a whole page."""
    lower = text.lower()
    return any(word in lower for word in PHRASE_WORDS)


def kind_in_phrase(text: str) -> str:
    """Return the kind that a text names last, '' for none: "WMS service URL:", "WMS服务", "Web Feature Service"."""
    kind = ""
    for found in _PHRASE.finditer(text):
        kind = _KINDS[found[1].lower().replace(" ", "").replace("-", "")]
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
# a requirement's URL of OWS Context, or just `WMS`. `Kind` has the names that only catalogues use.


_MAX_CHARS = 200
_VERSION = re.compile(r"/v?\d[\d.]{0,8}\Z")
_PROTOCOLS = tuple((str(kind), re.compile(kind.facts.protocol)) for kind in _LATEST_FIRST if kind.facts.protocol)


@lru_cache(maxsize=4_096)
def kind_of_protocol(text: str) -> str:
    """Return the kind, as spelt in `model.Kind`, of a protocol, format, scheme or conformance URL; '' for none."""
    if not text or len(text) > _MAX_CHARS:
        return ""
    lowered = text.lower()
    for kind, pattern in _PROTOCOLS:
        if pattern.search(lowered):
            return kind
    # Of a URL only the end, before a version, names the protocol; a host named wms.example.org does not.
    _, scheme, place = text.rstrip("/").partition("://")
    name = _VERSION.sub("", place).partition("/")[2].rpartition("/")[2] if scheme else text
    return kind_in_name(name)


def kind_among(*texts: str) -> str:
    """Return the kind named by the first of these texts that names one; '' for none."""
    return next((kind for text in texts if (kind := kind_of_protocol(text))), "")


# --------------------------------------------------------------------------- kinds near an address in text
# Words name a kind in the order of their nearness: the label before the address ("WMS service URL: …"), what follows it
# ("… (WMS 1.3.0)"), and for an address that stands alone the short block before it (a heading, the cell of a table) and
# the subject of its page.


LABEL_CHARS = 60
"""Number of characters before an address in which words may name its kind."""
_BEHIND_CHARS = 40
_BEHIND = re.compile(
    r"[\s)\]>,;:|\u2010-\u2015]{0,6}[(\[]?\s?(?:OGC[\s:-]{0,2}|INSPIRE[\s-]|ESRI\s)?([\w-]{2,20}(?:[ -]API)?)"
)
_LABEL_ENDS = (":", "：", "=", "→", "➜", "»", "->", "︰", "﹕")
_BLANK = f" \t\r\n{BOUNDARY}"


class Subject:
    """What a page is about, for addresses next to which no kind is named."""

    def __init__(self, title: str = "", site: str = "", text: str = "") -> None:
        """Set what the page shows; `site`: where addresses that reveal nothing are taken for services of its kind."""
        self.title, self.site, self.text = title, site, text

    @cached_property
    def kind(self) -> str:
        """Return the kind that its title or else its text names last, '' for none; few pages need it."""
        return kind_in_phrase(self.title) or (kind_in_phrase(self.text) if may_name_kinds(self.text) else "")


NO_SUBJECT = Subject()


def kind_near(text: str, begin: int, start: int, end: int, href: str, subject: Subject) -> str:
    """Return the kind that words near an address name, '' for none.

    The address is `text[start:end]`; words before `begin` belong to the address before it.
    """
    label = text[max(begin, start - LABEL_CHARS) : start].rpartition(BOUNDARY)[2]
    behind = text[end : end + _BEHIND_CHARS].partition(BOUNDARY)[0]
    if kind := kind_in_label(label) or _kind_behind(behind):
        return kind
    if not may_be_program(href) or not _is_alone(label, behind):
        return ""
    if kind := kind_in_label(_block_before(text, begin, start)):
        return kind
    is_open = leaves_kind_open(href) or (not may_be_service(href) and _is_of_site(href, subject.site))
    if is_open and subject.kind:
        return subject.kind
    return "wms" if in_ogc_folder(href) else ""


def _is_of_site(href: str, site: str) -> bool:
    url = read_url(href)
    return url is not None and url.site == site


def _kind_behind(behind: str) -> str:
    match = _BEHIND.match(behind)
    return kind_in_label(match[1]) if match else ""


def _is_alone(label: str, behind: str) -> bool:
    """Return whether an address is alone in its block, but for a label that ends with a colon."""
    label = label.strip()
    return not behind.strip(" \t\r\n?&.)") and (not label or label.endswith(_LABEL_ENDS))


def _block_before(text: str, begin: int, start: int) -> str:
    """Return the block before that of an address, '' when it is long or ends at another address."""
    before = text[max(begin, start - 3 * LABEL_CHARS) : start]
    block, boundary, _ = before.rpartition(BOUNDARY)
    block = block.rstrip(_BLANK)
    short = block.rpartition(BOUNDARY)[2]
    return short if boundary and len(short) <= LABEL_CHARS else ""


# --------------------------------------------------------------------------- labels
# Labels name kinds in more words than `kind_in_phrase` takes from prose, where the same words ("map service")
# mean nothing. INSPIRE's view services are WMS in most cases and its download services WFS (regulation 976/2009, annex
# I); the words are those of the EU's languages.


_LABELS = tuple(
    (str(kind), re.compile(rf"(?<![a-z0-9])(?:{kind.facts.label})(?![a-z0-9])"))
    for kind in _LATEST_FIRST
    if kind.facts.label
)


def kind_in_label(text: str) -> str:
    """Return the kind that a short text before, behind or above an address names, '' for none."""
    if kind := kind_in_phrase(text):
        return kind
    lower = text.lower()
    return next((kind for kind, names in _LABELS if names.search(lower)), "")
