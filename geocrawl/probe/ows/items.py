"""Read titles, abstracts and keywords of content items, by local names: of layers, feature types, coverages.

They may stand several times, in several languages; the first that is not empty counts.
"""

from __future__ import annotations

from lxml import etree

from geocrawl.formats.elements import child, children, line_of, text_of, texts


def first_line(element: etree._Element | None, name: str) -> str:
    """Return the first non-empty child of this name, as one line: there may be titles in several languages."""
    return next(iter(texts(children(element, name))), "")


def first_text(element: etree._Element | None, name: str) -> str:
    """Return the first non-empty child of this name, as a text with lines."""
    return next(filter(None, map(text_of, children(element, name))), "")


def read_keywords(element: etree._Element | None) -> tuple[str, ...]:
    """Return the keywords of every list: `Keywords/Keyword`, `keywords/keyword`, or a text with commas (WFS 1.0.0)."""
    found: list[str] = []
    for name, entry in (("Keywords", "Keyword"), ("keywords", "keyword")):
        for listed in children(element, name):
            entries = texts(children(listed, entry))
            found += entries or [part for part in map(str.strip, line_of(listed).split(",")) if part]
    return tuple(dict.fromkeys(found))


def read_wms_keywords(element: etree._Element | None) -> tuple[str, ...]:
    """Return the keywords of KeywordList (1.1.0 on) or Keywords (1.0.0: one text, parted by commas or spaces)."""
    listed = texts(children(child(element, "KeywordList"), "Keyword"))
    if listed or (old := child(element, "Keywords")) is None:
        return listed
    words = line_of(old)
    parts = words.split(",") if "," in words else words.split()
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
