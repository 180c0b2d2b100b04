"""Find service addresses in the parts of an HTML page that nobody clicks: text, scripts, attributes, comments.

Reading these parts takes time, and most pages of the web have nothing to do with services. So a few searches for short
strings decide whether a part contains an address and a word about services; without both it is skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from geocrawl.formats.json import is_too_deep
from geocrawl.formats.text import unescape_html
from geocrawl.model import Kind
from geocrawl.page.content import MAX_ANCHOR_CHARS, MAX_HREF_CHARS, RawLink
from geocrawl.page.naming import (
    PHRASE_WORDS,
    PROSE,
    Subject,
    kind_in_name,
    kind_in_phrase,
    may_be_program,
    may_be_service,
    may_name_kinds,
)
from geocrawl.page.script_files import files_in_attributes, files_in_code, linked_files, shows_map
from geocrawl.page.scripts import addresses_in_code
from geocrawl.page.text import addresses_in_text, may_contain_addresses

_WORDS = (
    *PHRASE_WORDS,
    *("/ows", "ogc", "service=", "mapserv", "geoserver", "qgis", "iserver"),
    *(text for kind in Kind for text in kind.facts.mentions),
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
    f"{' '.join(PROSE)} ogc services server url uri link address endpoint "
    "capabilities getcapabilities get layer layers interface dienst diensten tjeneste servicio servizio serviço usługa "
    "inspire esri xml v x 服务 服務 地图服务 地图服务接口 地址 服务地址 接口 服务接口 链接 サービス 配信サービス 서비스"
)
_PLAIN_WORDS = frozenset(_PLAIN_NAMES.split())
"""An anchor that contains only these words names a service rather than a page about a service."""
_LABEL_ENDS = (":", "：", "=")


def may_mention_services(lower: str) -> bool:
    """Return whether code or a text (in lower case) contains any word about services or their servers."""
    return any(word in lower for word in _WORDS)


def embedded_addresses(html: str, shown: Subject, pieces: Pieces, known: Sequence[RawLink]) -> Iterator[RawLink]:
    """Yield the addresses of a page that may be services and are not among its links (`known`), each once.

    `shown`: its title and text, with blocks separated by `content.BOUNDARY`. `pieces`: its scripts, fields and
    attributes.
    """
    links = [*_all(html, shown, pieces), *addresses_in_hrefs(known)]
    seen = {_bare(link.href) for link in known} if links else set()
    for link in links:
        if _bare(link.href) not in seen:
            seen.add(_bare(link.href))
            yield link


def _all(html: str, shown: Subject, pieces: Pieces) -> Iterator[RawLink]:
    for type_, code in pieces.scripts:
        if any(slash in code for slash in _SLASHES) and may_mention_services(code.lower()):
            yield from addresses_in_code(_unfolded(code) if "json" in type_ else code, _where_of_script(type_))
    for element, name, value in pieces.values:
        yield from _in_value(element, name, value)
    if "data-" in html:
        yield from _in_data_attributes(html)
    yield from _in_handlers(html)
    if may_contain_addresses(shown.text):
        yield from addresses_in_text(shown.text, subject=shown)
    if "<!--" in html:
        yield from _in_comments(html)


_MOST_VALUES = 20_000
"""Most values of a list that is unfolded: its parts may be used again and again."""
_MOST_LEVELS = 40


def _unfolded(code: str) -> str:
    """Return JSON whose objects contain the places of their members in one list (devalue, the format in which Nuxt and
    SvelteKit hand data to a page) with these members in place; any other text as it is."""
    if not code.lstrip().startswith("[") or is_too_deep(code):
        return code
    try:
        values = json.loads(code)
    except ValueError:
        return code
    first = values[0] if values else None
    places = [*first.values()] if isinstance(first, dict) else first if isinstance(first, list) else []
    if len(values) < 2 or not places or any(type(place) not in (int, str) for place in places):
        return code
    if not any(type(place) is int and 0 < place < len(values) for place in places):
        return code
    left = iter(range(_MOST_VALUES))

    def value_at(place: Any, level: int) -> Any:
        if type(place) is not int or not 0 <= place < len(values) or level > _MOST_LEVELS or next(left, None) is None:
            return None
        value = values[place]
        if isinstance(value, dict):
            return {key: value_at(inner, level + 1) for key, inner in value.items()}
        return [value_at(inner, level + 1) for inner in value] if isinstance(value, list) else value

    return json.dumps(value_at(0, 0), ensure_ascii=False)


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


_HANDLER = re.compile(
    r"\b(?:on(?:click|load)\s{0,5}=|href\s{0,5}=\s{0,5}(?=[\"']\s{0,5}javascript:))\s{0,5}"
    r"(?:\"([^\"]{8,1000})\"|'([^']{8,1000})')",
    re.I,
)
_GOES_TO = re.compile(
    r"\b(?:location(?:\.href)?\s{0,5}=\s{0,5}|(?:location\.(?:replace|assign)|(?:window\.)?open)\(\s{0,5})"
    r"(?:\"([^\"'<>+\s]{1,1000})\"|'([^\"'<>+\s]{1,1000})')(?=\s{0,5}(?:[;,)}]|\Z|\n))"
)
_NO_PAGE = ("#", "javascript:", "about:", "mailto:", "data:")
_OF_ADDRESSES = frozenset("/.?")
"""Signs of an address: a variable named `location` may be a place."""


def pages_in_handlers(html: str) -> Iterator[RawLink]:
    """Yield links to the pages that a click or the loaded page opens by script."""
    if "location" in html or "open(" in html:
        for found in islice(_HANDLER.finditer(html), _MAX_ATTRIBUTES):
            yield from (RawLink(target, "a") for target in _targets(unescape_html(found[1] or found[2])))


def sent_on_by(scripts: Iterable[tuple[str, str]]) -> str:
    """Return the first page that inline scripts open; '' for none."""
    return next((target for _, code in scripts if "location" in code for target in _targets(code)), "")


def _targets(code: str) -> Iterator[str]:
    found = (match[1] or match[2] for match in _GOES_TO.finditer(code[:MAX_CODE_CHARS]))
    return (each for each in found if not each.lower().startswith(_NO_PAGE) and not _OF_ADDRESSES.isdisjoint(each))


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


# --------------------------------------------------------------------------- scripts, fields and attributes


MAX_CODE_CHARS = 500_000
"""Most characters of all inline scripts of a page; later scripts are not read."""
MAX_VALUES = 2_000
Attributes = Mapping[str, str | None]


class Pieces:
    """Scripts, form fields and values of a page, collected during the walk."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        """Addresses of linked scripts."""
        self.scripts: list[tuple[str, str]] = []
        """(type, code) of inline scripts."""
        self.values: list[tuple[str, str, str]] = []
        """(element, name, value) of fields and attributes that may contain an address."""
        self._code_chars = 0

    def script(self, node: LexborNode) -> None:
        """Add a `script`, inline or linked."""
        attributes = node.attributes
        if source := attributes.get("src"):
            self.sources.append(source)
        elif self._code_chars < MAX_CODE_CHARS:
            code = node.text()
            self._code_chars += len(code)
            self.scripts.append(((attributes.get("type") or "").lower(), code))

    def textarea(self, node: LexborNode) -> None:
        """Add a `textarea`, whose value is its text."""
        self._add("textarea", node.attributes.get("name"), node.text())

    def embedded(self, node: LexborNode) -> None:
        """Add an `object` or `embed`."""
        attributes = node.attributes
        self._add(node.tag or "", attributes.get("name"), attributes.get("data") or attributes.get("src"))

    def input(self, attributes: Attributes) -> None:
        """Add an `input` of any form, or outside forms."""
        self._add("input", attributes.get("name"), attributes.get("value"))

    def option(self, attributes: Attributes, label: str) -> None:
        """Add an `option` with its visible label."""
        self._add("option", label[:MAX_ANCHOR_CHARS], attributes.get("value"))

    def microdata(self, attributes: Attributes) -> None:
        """Add a `meta` that belongs to an item of microdata (HTML standard, 5.2)."""
        item = attributes.get("itemprop")
        if item is not None:
            self._add("microdata", item, attributes.get("content"))

    def files(self, html: str) -> list[RawLink]:
        """Return links to the scripts and configurations that may contain addresses of services."""
        code = [code for _, code in self.scripts if ".json" in code or ".xml" in code]
        configurations = [href for text in code for _, href in files_in_code(text)]
        if "data-" in html:
            configurations += (href for name, href in files_in_attributes(html) if name.startswith("data-"))
        return linked_files(self.sources, configurations, lambda: shows_map(html.lower()))

    def _add(self, element: str, name: str | None, value: str | None) -> None:
        if value and "/" in value and len(self.values) < MAX_VALUES:
            self.values.append((element, name or "", value))


# --------------------------------------------------------------------------- addresses within the addresses of links
# A fragment is not sent to a server, so that `urls` drops it; viewers that run in the page keep the address of the
# service there (`viewer.html#url=…`, `stac-browser/#/external/…`).


SIGNAL = "href"
_MAX_LINKS = 500
"""Most links of a page whose addresses contain addresses."""
_HOST = r"(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?::\d{2,5})?"
_EXTERNAL = re.compile(rf"/external/(?:(https?):/{{1,2}})?({_HOST}(?:/[^?#]*)?)")
"""The address of a catalogue in that of a STAC Browser (`toBrowserPath` in its source); https unless it is named."""
_HOST_FIRST = re.compile(rf"/?(?:(https?):/{{1,2}})?({_HOST}/[^?#]*)")
_BROKEN_SCHEME = re.compile(r"https?:/{0,2}\s{0,4}(?=https?:/|[a-z0-9-]{1,63}\.)", re.I)
_NO_HOST = ("http", "HTTP", "/", " ", "\t", "\n", "\u00a0")
"""Beginnings of what follows a broken scheme."""
_WITHOUT_SCHEME = re.compile(r"(?:www\.|[a-z0-9-]{1,63}\.[a-z0-9-]{1,63}\.)[a-z0-9.-]{1,200}(?::\d{2,5})?/", re.I)


def addresses_in_hrefs(links: Iterable[RawLink]) -> Iterator[RawLink]:
    """Yield the addresses of services within those of `links`, at most of the first `_MAX_LINKS` that may have any."""
    looks = 0
    for link in links:
        href = link.href
        if _is_plain(href):
            continue
        for inner in _within(href):
            yield inner._replace(anchor=link.anchor)
            looks += 1
        if looks >= _MAX_LINKS:
            return


def _is_plain(href: str) -> bool:
    """Return whether an address certainly contains no other: a quick check, since nearly all links are so."""
    if "#" in href or "/external/" in href:
        return False
    if href.startswith(("http://", "https://")):
        return not href.startswith(_NO_HOST, 8 if href[4] == "s" else 7)
    return ":" not in href[:11] and "." not in href.partition("/")[0]


def _within(href: str) -> Iterator[RawLink]:
    href = href.strip()[:MAX_HREF_CHARS]
    place, _, fragment = href.partition("#")
    if fragment and ("/" in fragment or "%2" in fragment):
        yield from _in_fragment(place, unquote(fragment))
    elif "/external/" in place and "stac" in place.lower():
        yield from _of_browser(_EXTERNAL.search(place))
    elif href[:11].lower() == "javascript:":
        if "://" in href:
            yield from addresses_in_code(unquote(href[11:]), SIGNAL, relative=False)
    elif href[:4].lower() == "http":
        broken = _BROKEN_SCHEME.match(href)
        rest = href[broken.end() :] if broken else ""
        if rest[:4].lower() == "http" or (broken and broken[0][-1].isspace()):
            yield from _if_service(rest)
    elif _WITHOUT_SCHEME.match(href):
        yield from _if_service(href)


def _in_fragment(place: str, fragment: str) -> Iterator[RawLink]:
    if fragment.startswith("/external/"):
        yield from _of_browser(_EXTERNAL.match(fragment))
    elif "stac" in place.lower() and fragment.startswith("/"):
        yield from _of_browser(_HOST_FIRST.match(fragment))
    elif may_be_service(fragment):
        yield from addresses_in_text(fragment, where=SIGNAL)


def _of_browser(found: re.Match[str] | None) -> Iterator[RawLink]:
    if found is not None:
        yield RawLink(f"{found[1] or 'https'}://{found[2]}", SIGNAL, kind="stac")


def _if_service(rest: str) -> Iterator[RawLink]:
    """Yield the address behind a broken scheme, or of a link that lacks one, when it looks like a service."""
    if may_be_service(rest):
        yield RawLink(rest if rest[:4].lower() == "http" else f"http://{rest}", SIGNAL)
