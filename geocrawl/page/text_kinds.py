"""Recognise the kind of service that running text names for an address: before it, behind it, or in a heading above it.

Words name a kind in the order of their nearness: the label before the address ("WMS service URL: …"), what follows it
("… (WMS 1.3.0)"), and for an address that stands alone the short block before it (a heading, the cell of a table) and
the subject of its page.
"""

from __future__ import annotations

import re
from functools import cached_property

from geocrawl.page.content import BOUNDARY
from geocrawl.page.naming import (
    in_ogc_folder,
    kind_in_phrase,
    leaves_kind_open,
    may_be_program,
    may_be_service,
    may_name_kinds,
)
from geocrawl.urls import read_url

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
    found = _BEHIND.match(behind)
    return kind_in_label(found[1]) if found else ""


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
# Labels name kinds in more words than `naming.kind_in_phrase` takes from prose, where the same words ("map service")
# mean nothing. INSPIRE's view services are WMS in most cases and its download services WFS (regulation 976/2009, annex
# I); the words are those of the EU's languages.


_NAMES = {
    "stac": r"stac",
    "ogcapi": r"ogc[ -]{0,3}api|oapif",
    "arcgis": r"(?:arcgis|esri)[ -](?:rest|server)",
    "csw": r"catalogue[ -]service|suchdienst|service de découverte|servicio de catálogo|目录服务",
    "wmts": r"tile service|kacheldienst|瓦片服务|切片服务",
    "wfs": r"download service|downloaddienst|service de téléchargement|servicio de descarga|servizio di download"
    r"|serviço de descarregamento|usługa pobierania|要素服务|要素服務",
    "wms": r"map service|view service|darstellungsdienst|kartendienst\w{0,2}|viewdienst|kaartdienst|raadpleegdienst"
    r"|service de (?:visualisation|consultation|cartes?)|service cartographique|servicio de (?:visualización|mapas)"
    r"|servizio di (?:visualizzazione|consultazione|mappa)|serviço de (?:visualização|mapas)|usług[ai] przeglądania"
    r"|prohlížecí služb[ay]|visningst(?:jeneste|jänst)|karttj(?:eneste|änst)|katselupalvelu|harita servisi"
    r"|картографическ\w{2,4} (?:сервис|служб)\w{0,2}|служб\w просмотра"
    r"|地图服务|地圖服務|地図(?:配信)?サービス|지도 ?서비스",
}
_LABELS = tuple((kind, re.compile(rf"(?<![a-z0-9])(?:{names})(?![a-z0-9])")) for kind, names in _NAMES.items())


def kind_in_label(text: str) -> str:
    """Return the kind that a short text before, behind or above an address names, '' for none."""
    if kind := kind_in_phrase(text):
        return kind
    lower = text.lower()
    return next((kind for kind, names in _LABELS if names.search(lower)), "")
