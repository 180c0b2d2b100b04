"""Read HTML as `PageContent`: one walk over the tree collects title, text, links, forms and the text next to them.

The walk collects the fragments of text in one list, in document order. For each link the positions where its anchor
begins and ends are recorded, so the anchor and the words around it are slices of the list and no text is read twice.
Boundaries of blocks are separators in the list, at which the context of a link ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from geocrawl.formats.text import fold
from geocrawl.model import REFRESH, Url
from geocrawl.page.content import (
    BOUNDARY,
    MAX_ANCHOR_CHARS,
    MAX_CONTEXT_CHARS,
    MAX_SUMMARY_CHARS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    PageContent,
    RawLink,
)
from geocrawl.page.embedded import Pieces, embedded_addresses, kind_of_link, pages_in_handlers, sent_on_by
from geocrawl.page.html_tree import BLOCKS, CELLS, UNREAD, TagPaths, find_headline, flatten
from geocrawl.page.naming import Subject
from geocrawl.page.tables import kinds_by_heads
from geocrawl.page.viewers import files_of_page

_MAX_FRAGMENTS = 60
"""Most fragments read for one anchor or one side of a context, however short they are."""
_SIDE_CHARS = MAX_CONTEXT_CHARS // 2 - 1
"""Longest side of a context, before or behind the link."""
_REFRESH = re.compile(
    r"""(?:[\d.]++(?=[;,\s])|(?=url\s*+=))\s*+[;,]?\s*+(?:url\s*+=\s*+)?+(?:"([^"]*)|'([^']*)|(.*))""", re.I | re.S
)
_MAX_REFRESH_CHARS = 2048
_DEAD_REL_NAMES = (
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon "
    "preload prefetch prerender modulepreload preconnect dns-prefetch manifest pingback edituri wlwmanifest "
    "shortcut import"
)
_DEAD_RELS = frozenset(_DEAD_REL_NAMES.split())
"""`<link>` relations that lead to no page."""
_ROBOTS_NAMES = frozenset({"robots", "geocrawl"})
_SUMMARY_NAMES = frozenset(
    {"description", "keywords", "abstract", "og:description", "dc.description", "dc.subject", "dcterms.abstract"}
    | {"dcterms.description", "dcterms.subject"}
)
"""Metadata of a page (`name`, or `property` of Open Graph) that say what it is about."""


def read_html(
    html: str,
    codec: str,
    *,
    max_links: int,
    files: bool = False,
    headline: bool = False,
    prose: bool = False,
    tag_paths: bool = False,
    url: Url | None = None,
) -> PageContent:
    """Return the text and the links of `html`.

    `codec`: Python's name of the page's encoding, for the fields of its forms. Links beyond `max_links` are left out;
    for nested or broken markup the time stays proportional to the length (`flatten`). The links are followed by
    addresses of services that are written but not linked (`embedded`), and with `files` by the linked scripts and
    configurations that may contain such addresses, those of a map viewer among them. `headline`, `prose` and
    `tag_paths` fill fields that not every strategy needs. `url`: the page's own address; addresses on its site count as
    services sooner than others.
    """
    tree = LexborHTMLParser(flatten(html), options=LexborDocumentOptions.WO_EVENTS)
    reader = _Reader(codec, max_links, TagPaths() if tag_paths else None)
    if tree.root is not None:
        reader.read(tree.root)
    links, addresses = dict[str, str](), dict[str, str]()
    if tree.root is not None and ("<th" in html or "<TH" in html):
        links, addresses = kinds_by_heads(tree.root)
    content = reader.finish(links)
    reader.add_opened(html)
    reader.add_embedded(html, url.site if url else "")
    reader.add_named(addresses)
    if files:
        if url is not None:
            reader.add_viewer(html, url)
        reader.add_files(html)
    if prose:
        reader.separate_anchors()
    if headline:
        content.headline = find_headline(tree.root) if tree.root is not None else ""
    return content


def refresh_target(content: str) -> str:
    """Return the URL in a refresh directive (HTML standard, 4.2.5.3), also in one that lacks the time; '' when the page
    reloads itself."""
    match = _REFRESH.match(content.strip()[:_MAX_REFRESH_CHARS])
    return "".join(match.groups("")).strip() if match else ""


class _OpenLink:
    """An `a` element whose end has not been read yet."""

    __slots__ = ("extras", "href", "rel", "start", "tag_path", "title")

    def __init__(self, href: str, rel: str, title: str, start: int, tag_path: str) -> None:
        self.href, self.rel, self.title, self.start, self.tag_path = href, rel, title, start, tag_path
        self.extras: list[str] = []
        """alt and title of the images in the link."""


_WAYS_ON = frozenset({"a", "area", "frame", "form", REFRESH})


class _Reader:
    """Builds the page's content during the walk."""

    def __init__(self, codec: str, max_links: int, tag_paths: TagPaths | None) -> None:
        self._pieces = Pieces()
        self._text = ""
        """All fragments joined, before white space is folded; set by `finish`."""
        self._content = PageContent()
        self._codec = codec
        self._max_links = max_links
        self._tag_paths = tag_paths
        self._fragments: list[str] = [BOUNDARY]
        self._open: list[_OpenLink | None] = []
        self._spans: list[tuple[int, int, int]] = []
        """(index of a link, its first fragment, the fragment after its last), from which `finish` cuts the contexts."""
        self._form: FormReader | None = None
        self._above: list[tuple[LexborNode, str]] = []
        """The elements that contain the present node, from the root."""

    def read(self, root: LexborNode) -> None:
        """Read all nodes: `walk` written out, because a call for each node costs as much as the rest."""
        fragments, above = self._fragments, self._above
        node: LexborNode | None = root
        while node is not None:
            tag = node.tag or ""
            if tag == "-text":
                fragments.append(node.text_content or "")
                following = node.next
            elif tag.startswith("-"):
                following = node.next
            else:
                if tag in BLOCKS:
                    if fragments[-1] != BOUNDARY:
                        fragments.append(BOUNDARY)
                elif tag in CELLS:
                    fragments.append("\n" if tag == "br" else " ")
                if tag in _ON_ENTERING:
                    _ON_ENTERING[tag](self, node)
                above.append((node, tag))
                following = None if tag in UNREAD else node.first_child
            while following is None and above:
                node, tag = above.pop()
                if tag in _ON_LEAVING:
                    _ON_LEAVING[tag](self)
                if tag in BLOCKS:
                    if fragments[-1] != BOUNDARY:
                        fragments.append(BOUNDARY)
                elif tag in CELLS:
                    fragments.append(" ")
                following = node.next if above else None
            node = following

    def finish(self, kinds: Mapping[str, str]) -> PageContent:
        """Return the content with its text, and the contexts of its links cut from the fragments. `kinds`: those of
        links in tables, by their href."""
        self._end_form()
        content, links = self._content, self._content.links
        self._text = "".join(self._fragments)
        content.text = fold(self._text, MAX_TEXT_CHARS)
        for index, start, end in self._spans:
            before, behind = self._before(start), self._behind(end)
            href, where, anchor, _, rel, _, _, tag_path, *_ = links[index]
            kind = kind_of_link(href, before, anchor) or kinds.get(href, "")
            if before or behind or kind:
                context = f"{before} {behind}".strip()
                before_chars = len(context) - len(behind)
                links[index] = RawLink(href, where, anchor, context, rel, kind, before_chars, tag_path)
        return content

    def add_opened(self, html: str) -> None:
        """Add the pages that scripts open; of inline scripts only on a page without links, which sends readers on."""
        known = {link.href for link in self._content.links}
        for link in dict.fromkeys(pages_in_handlers(html)):
            if link.href not in known:
                self._add(link)
        leads_on = any(link.where in _WAYS_ON for link in self._content.links)
        if not leads_on and (target := sent_on_by(self._pieces.scripts)):
            self._add(RawLink(target, REFRESH))

    def add_embedded(self, html: str, site: str) -> None:
        """Add addresses of services that are not linked."""
        content = self._content
        shown = Subject(content.title, site, self._text)
        for link in embedded_addresses(html, shown, self._pieces, content.links):
            self._add(link)

    def add_named(self, kinds: Mapping[str, str]) -> None:
        """Add the addresses in cells of tables whose kind (address → kind) their heads alone name."""
        known = {link.href for link in self._content.links}
        for address, kind in kinds.items():
            if address not in known:
                self._add(RawLink(address, "text", kind=kind))

    def add_viewer(self, html: str, url: Url) -> None:
        """Add the files that a map viewer on the page at `url` loads."""
        codes = (code for _, code in self._pieces.scripts)
        for link in files_of_page(url, html, self._pieces.sources, codes):
            self._add(link)

    def add_files(self, html: str) -> None:
        """Add linked scripts and configurations that may contain addresses of services."""
        for link in self._pieces.files(html):
            self._add(link)

    def separate_anchors(self) -> None:
        """Set `prose`, the text without anchors, and `anchor_chars`."""
        prose: list[str] = []
        anchors: list[str] = []
        last = 0
        for _, start, end in self._spans:
            prose += (*self._fragments[last:start], " ")
            anchors += (*self._fragments[start:end], " ")
            last = end
        prose += self._fragments[last:]
        self._content.prose = fold("".join(prose), MAX_TEXT_CHARS)
        self._content.anchor_chars = len(fold("".join(anchors), MAX_TEXT_CHARS))

    def _before(self, start: int) -> str:
        """Return the words before a link within its block; `start`: the link's first fragment."""
        fragments, place, before = self._fragments, start - 1, ""
        while fragments[place] != BOUNDARY and place >= start - _MAX_FRAGMENTS and len(before) <= 2 * _SIDE_CHARS:
            before = fragments[place][-2 * _SIDE_CHARS :] + before
            place -= 1
        return " ".join(before.split())[-_SIDE_CHARS:].lstrip() if before else ""

    def _behind(self, end: int) -> str:
        """Return the words behind a link within its block; `end`: the fragment after the link's last one."""
        fragments, place, behind = self._fragments, end, ""
        last = min(end + _MAX_FRAGMENTS, len(fragments)) - 1
        while place <= last and fragments[place] != BOUNDARY and len(behind) <= 2 * _SIDE_CHARS:
            behind += fragments[place][: 2 * _SIDE_CHARS]
            place += 1
        return fold(behind, _SIDE_CHARS) if behind else ""

    def _add(self, link: RawLink) -> None:
        if len(self._content.links) < self._max_links:
            self._content.links.append(link)

    # ------------------------------------------------------------------ links

    def _a(self, node: LexborNode) -> None:
        attributes = node.attributes
        href = attributes.get("href") or attributes.get("xlink:href") or ""
        if not href or href.startswith("#"):
            self._open.append(None)
            return
        start, rel, title = len(self._fragments), attributes.get("rel") or "", attributes.get("title") or ""
        path = self._tag_paths.of(node, "a", self._above) if self._tag_paths else ""
        self._open.append(_OpenLink(href, rel, title, start, path))

    def _a_end(self) -> None:
        opened, links, fragments = self._open.pop(), self._content.links, self._fragments
        if opened is None or len(links) >= self._max_links:
            return
        start, end = opened.start, len(fragments)
        fragments.append("")  # an empty link still separates the block boundaries before and after it
        anchor = fold("".join(fragments[start : min(end, start + _MAX_FRAGMENTS)]), MAX_ANCHOR_CHARS)
        if opened.extras or opened.title:
            anchor = _anchor(anchor, *opened.extras, opened.title)
        self._spans.append((len(links), start, end))
        links.append(RawLink(opened.href, "a", anchor, "", opened.rel, "", 0, opened.tag_path))

    def _img(self, node: LexborNode) -> None:
        if self._open and (opened := self._open[-1]) and len(opened.extras) < _MAX_FRAGMENTS:
            attributes = node.attributes
            opened.extras += (attributes.get("alt") or "", attributes.get("title") or "")

    def _area(self, node: LexborNode) -> None:
        attributes = node.attributes
        anchor = _anchor(attributes.get("alt") or "", attributes.get("title") or "")
        self._add(RawLink(attributes.get("href") or "", "area", anchor, rel=attributes.get("rel") or ""))

    def _frame(self, node: LexborNode) -> None:
        attributes = node.attributes
        anchor = _anchor(attributes.get("title") or "", attributes.get("name") or "")
        self._add(RawLink(attributes.get("src") or "", (node.tag or "").lower(), anchor))

    def _link(self, node: LexborNode) -> None:
        attributes = node.attributes
        rel = (attributes.get("rel") or "").lower()
        if not _DEAD_RELS.intersection(rel.split()):
            self._add(RawLink(attributes.get("href") or "", "link", _anchor(attributes.get("title") or ""), rel=rel))

    # ------------------------------------------------------------------ the page itself

    def _meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        content = attributes.get("content") or ""
        name = (attributes.get("name") or attributes.get("property") or "").strip().lower()
        if name in _SUMMARY_NAMES and len(self._content.summary) < MAX_SUMMARY_CHARS:
            self._content.summary = fold(f"{self._content.summary} {content}", MAX_SUMMARY_CHARS)
        if name in _ROBOTS_NAMES:
            self._content.robots = f"{self._content.robots}, {content}"
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            self._add(RawLink(refresh_target(content), REFRESH))
        else:
            self._pieces.microdata(attributes)

    def _base(self, node: LexborNode) -> None:
        self._content.base = self._content.base or node.attributes.get("href") or ""

    def _html(self, node: LexborNode) -> None:
        attributes = node.attributes
        self._content.language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip().lower()[:35]

    def _title(self, node: LexborNode) -> None:
        self._content.title = self._content.title or fold(node.text(), MAX_TITLE_CHARS)

    # ------------------------------------------------------------------ forms

    def _form_start(self, node: LexborNode) -> None:
        self._end_form()
        self._form = FormReader(node.attributes)

    def _form_end(self) -> None:
        """End the form, unless it has no fields yet: in tables the parser closes a form before its fields."""
        if self._form and self._form.has_fields:
            self._end_form()

    def _end_form(self) -> None:
        if self._form and self._form.is_get:
            self._add(RawLink(self._form.href(self._codec), "form", fold(self._form.name, MAX_ANCHOR_CHARS)))
        self._form = None

    def _input(self, node: LexborNode) -> None:
        attributes = node.attributes
        if self._form:
            self._form.input(attributes)
        self._pieces.input(attributes)

    def _select(self, node: LexborNode) -> None:
        if self._form:
            self._form.select(node.attributes)

    def _option(self, node: LexborNode) -> None:
        attributes, label = node.attributes, node.text()
        if self._form:
            self._form.option(attributes, label)
        self._pieces.option(attributes, label)

    def _select_end(self) -> None:
        if self._form:
            self._form.end_select()


_ON_ENTERING: Mapping[str, Callable[[_Reader, LexborNode], None]] = {
    **{"a": _Reader._a, "area": _Reader._area, "frame": _Reader._frame, "iframe": _Reader._frame},
    **{"link": _Reader._link, "img": _Reader._img, "meta": _Reader._meta, "base": _Reader._base},
    **{"html": _Reader._html, "title": _Reader._title, "form": _Reader._form_start, "input": _Reader._input},
    **{"select": _Reader._select, "option": _Reader._option},
    **{"script": lambda reader, node: reader._pieces.script(node)},
    **{"textarea": lambda reader, node: reader._pieces.textarea(node)},
    **dict.fromkeys(("object", "embed"), lambda reader, node: reader._pieces.embedded(node)),
}
_ON_LEAVING: Mapping[str, Callable[[_Reader], None]] = {
    "a": _Reader._a_end,
    "form": _Reader._form_end,
    "select": _Reader._select_end,
}


def _anchor(*parts: str) -> str:
    """Return the parts joined in order, without parts whose text is already contained."""
    anchor = ""
    for part in parts:
        if part and (words := fold(part, MAX_ANCHOR_CHARS)) not in anchor:
            anchor = f"{anchor} {words}" if anchor else words
    return anchor[:MAX_ANCHOR_CHARS].rstrip()


# --------------------------------------------------------------------------- forms


Attributes = Mapping[str, str | None]

MAX_FIELDS = 100
_VALUELESS = frozenset({"submit", "button", "image", "reset", "file", "password"})
_TICKED = frozenset({"checkbox", "radio"})


class FormReader:
    """Collects the fields of one form during the walk over the page."""

    def __init__(self, attributes: Attributes) -> None:
        self.is_get = (attributes.get("method") or "get").strip().lower() != "post"
        self.name = attributes.get("title") or attributes.get("name") or attributes.get("id") or ""
        self.has_fields = False
        self._action = (attributes.get("action") or "").strip()
        self._fields: list[tuple[str, str]] = []
        self._select = ""
        self._chosen: str | None = None

    def input(self, attributes: Attributes) -> None:
        """Add an `input` that has a name, and a value before anybody types."""
        self.has_fields = True
        kind = (attributes.get("type") or "text").strip().lower()
        if kind in _VALUELESS or (kind in _TICKED and "checked" not in attributes):
            return
        self._add(attributes.get("name"), attributes.get("value") or ("on" if kind in _TICKED else ""))

    def select(self, attributes: Attributes) -> None:
        """Begin a `select`, whose value is the option marked `selected`, else the first option."""
        self.has_fields = True
        self._select, self._chosen = attributes.get("name") or "", None

    def option(self, attributes: Attributes, label: str) -> None:
        """Add an `option` of the open select; `label` replaces a missing value."""
        if self._chosen is None or "selected" in attributes:
            value = attributes.get("value")
            self._chosen = " ".join(label.split()) if value is None and "value" not in attributes else value or ""

    def end_select(self) -> None:
        """End the open `select`."""
        self._add(self._select, self._chosen or "")
        self._select, self._chosen = "", None

    def _add(self, name: str | None, value: str) -> None:
        if name and value and len(self._fields) < MAX_FIELDS:
            self._fields.append((name, value))

    def href(self, codec: str) -> str:
        """Return the form's action with the fields as its only query. `codec`: the page's encoding."""
        if not self._fields:
            return self._action
        action = self._action.partition("#")[0].partition("?")[0]
        query = urlencode(self._fields, encoding=codec, errors="xmlcharrefreplace", safe=":/,")
        return f"{action}?{query}"
