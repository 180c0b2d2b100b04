"""XML to `Content`: feeds, sitemaps, metadata records (ISO 19139, Dublin Core) and documents of any other kind.

One rule serves them all. A link is an element whose whole text is a URL, or an `href` or `xlink:href` attribute. What
is said about it stands in the nearest element around it that says more than the URL: an RSS item, an Atom entry, a
CI_OnlineResource. Names and titles in there are the anchor, descriptions the context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from geocrawl.page.content import (
    MAX_ANCHOR_CHARS,
    MAX_CONTEXT_CHARS,
    MAX_HREF_CHARS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Content,
    RawLink,
    fold,
)

_DECLARATION = re.compile(r"\s*<\?xml[^>]*?\?>", re.S)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters outside XML 1.0's Char production (2.2): the parser would stop there."""
_URL = re.compile(r"\s*(https?://\S+)\s*", re.I)
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_SITEMAP_ROOTS = frozenset({"urlset", "sitemapindex"})
_NAMES = frozenset({"title", "name", "label", "protocol"})
_DESCRIPTIONS = frozenset({"description", "summary", "abstract", "subtitle"})
_RELATIVE_HREF = frozenset({"link", "a", "entry", "outline"})
"""Elements whose bare `href` is an address even when it is relative (Atom, 4.2.7.1; XHTML inside feeds)."""
_MAX_CLIMB = 3
"""Levels from a URL up to what is said about it: gmd:URL, gmd:linkage, gmd:CI_OnlineResource."""
_MAX_GROUP = 80
"""Elements of a group that are looked at."""


def read_xml(text: str, *, max_links: int) -> Content | None:
    """What an XML document says and where it links; None when nothing of it can be parsed.

    Errors are passed over (libxml2's recovery), entities are not expanded, nothing is fetched.
    """
    root = _parse(text)
    if root is None:
        return None
    name = _local(root)
    content = Content(
        xml_root=name, language=(root.get("{http://www.w3.org/XML/1998/namespace}lang") or "").lower()[:35]
    )
    content.text = _text(root)
    content.title = next((fold(_text(e), MAX_TITLE_CHARS) for e in root.iter("*") if _local(e).lower() == "title"), "")
    where = "sitemap" if name in _SITEMAP_ROOTS else "xml"
    for href, element in _hrefs(root):
        if len(content.links) >= max_links:
            break
        anchor, context = ("", "") if where == "sitemap" else _said_about(element)
        content.links.append(RawLink(href, where, anchor, context, (element.get("rel") or "").lower()))
    return content


def _parse(text: str) -> etree._Element | None:
    """The root. The declaration goes, since the characters are read already, whatever encoding it names."""
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    data = _NOT_XML.sub(" ", _DECLARATION.sub("", text.lstrip("\ufeff"), count=1)).strip()
    try:
        return etree.fromstring(data.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _local(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _hrefs(root: etree._Element) -> Iterator[tuple[str, etree._Element]]:
    """Each address with the element that carries it, in document order."""
    for element in root.iter("*"):
        for name in ("href", _XLINK_HREF):
            value = element.get(name)
            if value and (_URL.match(value) or (name == "href" and _local(element).lower() in _RELATIVE_HREF)):
                yield value, element
        text = element.text
        if text and len(text) < MAX_HREF_CHARS and (match := _URL.fullmatch(text)):
            yield match[1], element


def _said_about(element: etree._Element) -> tuple[str, str]:
    """Anchor and context of a link: the nearest group's names and descriptions."""
    group: etree._Element | None = element
    for _ in range(_MAX_CLIMB + 1):
        if group is None:
            break
        names, descriptions = _names_and_descriptions(group)
        if names or descriptions:
            return fold(" ".join(names), MAX_ANCHOR_CHARS), fold(" ".join(descriptions), MAX_CONTEXT_CHARS)
        group = group.getparent()
    return fold(element.get("title") or "", MAX_ANCHOR_CHARS), ""


def _names_and_descriptions(group: etree._Element) -> tuple[list[str], list[str]]:
    """Texts of a group by the name of their element or of the one around it (gmd:name/gco:CharacterString)."""
    names: list[str] = []
    descriptions: list[str] = []
    for count, element in enumerate(group.iter("*")):
        if count >= _MAX_GROUP:
            break
        text = element.text
        if not text or not text.strip() or _URL.fullmatch(text[:MAX_HREF_CHARS]):
            continue
        parent = element.getparent()
        kinds = {_local(element).lower(), _local(parent).lower() if parent is not None else ""}
        if kinds & _NAMES:
            names.append(text[:MAX_ANCHOR_CHARS])
        elif kinds & _DESCRIPTIONS:
            descriptions.append(text[: 2 * MAX_CONTEXT_CHARS])
    return names, descriptions


def _text(element: etree._Element) -> str:
    """All its text, fragments parted, folded; gathered only as far as it is kept."""
    fragments: list[str] = []
    size = 0
    for fragment in element.itertext():
        stripped = str(fragment).strip()
        if stripped:
            fragments.append(stripped)
            size += len(stripped) + 1
            if size > MAX_TEXT_CHARS:
                break
    return fold(" ".join(fragments), MAX_TEXT_CHARS)
