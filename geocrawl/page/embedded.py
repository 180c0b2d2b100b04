"""Find service addresses in the parts of an HTML page that nobody clicks: text, scripts, attributes, comments.

Reading these parts takes time, and most pages of the web have nothing to do with services. So a few searches for short
strings decide whether a part contains an address and a word about services; without both it is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from geocrawl.formats.text import unescape_html
from geocrawl.page.content import RawLink
from geocrawl.page.hrefs import addresses_in_hrefs
from geocrawl.page.naming import kind_in_name, kind_in_phrase, may_be_program, may_be_service, may_name_kinds
from geocrawl.page.pieces import MAX_CODE_CHARS, Pieces
from geocrawl.page.scripts import addresses_in_code
from geocrawl.page.text_kinds import Subject
from geocrawl.page.text_starts import may_contain_addresses
from geocrawl.page.texts import addresses_in_text

_WORDS = ("wms", "wmts", "wfs", "wcs", "csw", "/ows", "ogc", "service=", "mapserv", "geoserver", "arcgis", "qgis")
_MORE_WORDS = (
    "featureserver",
    "imageserver",
    "iserver",
    "/stac",
    "tilejson",
    "/collections",
    "web map",
)
_MAX_ATTRIBUTES = 200
_MAX_COMMENTS = 200
_MAX_COMMENT_CHARS = 5_000
_DATA_ATTRIBUTE = re.compile(r"data-([\w:.-]{1,80})\s{0,5}=\s{0,5}(?:\"([^\"]{4,100000})\"|'([^']{4,100000})')")
_HANDLERS = tuple(
    (sign, re.compile(rf"{sign}\s{{0,5}}=\s{{0,5}}(?:\"([^\"]{{8,4000}})\"|'([^']{{8,4000}})')"))
    for sign in ("onclick", " title", " url", "data-clipboard-text")
)
_SLASHES = ("/", "u002", "%2F", "%2f")
"""A slash, or its escapes in scripts."""
_LABEL_CHARS = 40
_SHORT_ANCHOR_CHARS = 30
_LETTERS = re.compile("[a-zà-ÿ]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_PLAIN_NAMES = (
    "ogc wms wmts wfs wcs csw web map tile feature coverage service services server url uri link address endpoint "
    "capabilities getcapabilities get layer layers interface dienst diensten tjeneste servicio servizio serviço usługa "
    "inspire esri xml v x 服务 服務 地图服务 地图服务接口 地址 服务地址 接口 服务接口 链接 サービス 配信サービス 서비스"
)
_PLAIN_WORDS = frozenset(_PLAIN_NAMES.split())
"""An anchor that contains only these words names a service rather than a page about a service."""
_LABEL_ENDS = (":", "：", "=")


def may_mention_services(lower: str) -> bool:
    """Return whether code or a text (in lower case) contains any word about services or their servers."""
    return any(word in lower for word in _WORDS) or any(word in lower for word in _MORE_WORDS)


def embedded_addresses(html: str, shown: Subject, pieces: Pieces, known: Sequence[RawLink]) -> Iterator[RawLink]:
    """Yield the addresses of a page that may be services and are not among its links (`known`), each once.

    `shown`: its title and text, with blocks separated by `content.BOUNDARY`. `pieces`: its scripts, fields and
    attributes.
    """
    found = [*_all(html, shown, pieces), *addresses_in_hrefs(known)]
    seen = {_bare(link.href) for link in known} if found else set()
    for link in found:
        if _bare(link.href) not in seen:
            seen.add(_bare(link.href))
            yield link


def _all(html: str, shown: Subject, pieces: Pieces) -> Iterator[RawLink]:
    for type_, code in pieces.scripts:
        if any(slash in code for slash in _SLASHES) and may_mention_services(code.lower()):
            yield from addresses_in_code(code, _where_of_script(type_))
    for element, name, value in pieces.values:
        yield from _in_value(element, name, value)
    if "data-" in html:
        yield from _in_data_attributes(html)
    yield from _in_handlers(html)
    if may_contain_addresses(shown.text):
        yield from addresses_in_text(shown.text, subject=shown)
    if "<!--" in html:
        yield from _in_comments(html)


def _bare(href: str) -> str:
    return href.rstrip("?&").replace("&amp;", "&")


def _where_of_script(type_: str) -> str:
    if "ld+json" in type_:
        return "json-ld"
    return "json" if "json" in type_ else "script"


def _in_value(element: str, name: str, value: str) -> Iterator[RawLink]:
    """Yield the addresses in a form field or in microdata: the whole value, or addresses within the value's text."""
    if "://" not in value and not may_be_service(value):
        return
    if value.startswith("/") and " " not in value and may_be_service(value):
        yield RawLink(value, element)
    elif element == "textarea" and value.lstrip()[:1] in ("{", "["):
        yield from addresses_in_code(value, element)
    else:
        yield from addresses_in_text(f"{name}: {value}", where=element)


def _in_data_attributes(html: str) -> Iterator[RawLink]:
    """Yield the addresses in `data-*` attributes: the whole value, or addresses within a JSON configuration."""
    chars = 0
    for count, found in enumerate(_DATA_ATTRIBUTE.finditer(html)):
        value = unescape_html(found[2] or found[3]).strip()
        chars += len(value)
        if count >= _MAX_ATTRIBUTES or chars > MAX_CODE_CHARS:
            return
        if value.startswith(("{", "[")):
            if "/" in value and may_mention_services(value.lower()):
                yield from addresses_in_code(value, "data-attribute")
        elif value.startswith(("http", "/")):
            kind = kind_in_name(found[1])
            if may_be_service(value) or (kind and may_be_program(value)):
                yield RawLink(value, "data-attribute", kind=kind)


def _in_handlers(html: str) -> Iterator[RawLink]:
    """Yield the addresses in what a click does, in tips, and in attributes `url` of a page's own elements."""
    for sign, pattern in _HANDLERS:
        if sign not in html:
            continue
        for found in islice(pattern.finditer(html), _MAX_ATTRIBUTES):
            value = unescape_html(found[1] or found[2])
            if "://" not in value or not may_be_service(value):
                continue
            if sign == "onclick":
                yield from addresses_in_code(value, "script", relative=False)
            else:
                yield from addresses_in_text(value, where="data-attribute")


def _in_comments(html: str) -> Iterator[RawLink]:
    """Yield the addresses in markup that was commented out."""
    position = 0
    for _ in range(_MAX_COMMENTS):
        begin = html.find("<!--", position)
        end = html.find("-->", begin + 4)
        if begin < 0 or end < 0:
            return
        comment = html[begin + 4 : min(end, begin + _MAX_COMMENT_CHARS)]
        if "://" in comment and may_mention_services(comment.lower()):
            yield from addresses_in_text(unescape_html(comment), where="comment")
        position = end + 3


_short_may_name_kinds = lru_cache(8_192)(may_name_kinds)


def kind_of_link(href: str, before: str, anchor: str) -> str:
    """Return the kind named by the words just before a link ("WMS service: …") or by a short anchor; '' for none.

    Only addresses that may be programs have a kind: people write about services far more often than they name one.
    """
    labelled = before.endswith(_LABEL_ENDS)
    if not labelled and (len(anchor) > _SHORT_ANCHOR_CHARS or not _short_may_name_kinds(anchor)):
        return ""
    if not may_be_program(href):
        return ""
    if labelled and (kind := kind_in_phrase(before[-_LABEL_CHARS:])):
        return kind
    plain = len(anchor) <= _SHORT_ANCHOR_CHARS and _PLAIN_WORDS.issuperset(_LETTERS.findall(anchor.lower()))
    return kind_in_phrase(anchor) if plain else ""
