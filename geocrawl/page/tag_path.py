"""Name the place of a link in its page by the tags above it.

Links of one menu, list or table share a tag path, whatever their words and addresses are, so that a crawl can learn
what such a group of links leads to (Gauquier, Manolescu, Senellart: Efficient Crawling for Scalable Web Data
Acquisition, arXiv:2602.11874, 2026).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from selectolax.lexbor import LexborNode

MAX_ELEMENTS = 12
"""Most elements in a tag path: those nearest to the link."""
_MAX_NAME_CHARS = 40
_CLASSES = 2
_REMEMBERED, _MAX_KNOWN_CHARS = 4_096, 200
_OUTSIDE = frozenset({"html"})
"""Elements above which, and with which, no path begins."""
_DIGITS = re.compile(r"\d+")


class TagPaths:
    """Names the tag paths of one page's elements; the paths of shared ancestors are computed once."""

    def __init__(self) -> None:
        self._named: list[tuple[LexborNode, tuple[str, ...]]] = []
        """The elements above the last link, from the root, with their tag paths."""

    def of(self, node: LexborNode, tag: str, above: Sequence[tuple[LexborNode, str]]) -> str:
        """Return the tags from at most `MAX_ELEMENTS` elements down to `node`, each with its id and two classes.

        `above`: the elements that contain `node`, from the root, with their tags; the same objects for the same
        element. Numbers are written as 0, so that numbered elements of one list have one path:
        `body div#content ul.hits li a`.
        """
        named, same = self._named, 0
        path: tuple[str, ...] = ()
        for known, (element, _) in zip(named, above, strict=False):
            if known[0] is not element:
                break
            path = known[1]
            same += 1
        del named[same:]
        for element, name in above[same:]:
            path = () if name in _OUTSIDE else (*path[1 - MAX_ELEMENTS :], _name(element, name))
            named.append((element, path))
        return " ".join((*path[1 - MAX_ELEMENTS :], _name(node, tag)))


def _name(element: LexborNode, tag: str) -> str:
    attributes = element.attributes
    if not attributes:
        return tag
    own, class_ = attributes.get("id") or "", attributes.get("class") or ""
    return (_known_name if len(own) + len(class_) <= _MAX_KNOWN_CHARS else _named)(tag, own, class_)


def _named(tag: str, own: str, class_: str) -> str:
    classes = class_.split(None, _CLASSES)[:_CLASSES]
    name = tag + (f"#{own}" if own else "") + "".join(f".{each}" for each in classes)
    return _DIGITS.sub("0", name[:_MAX_NAME_CHARS]) if own or classes else name


_known_name = lru_cache(_REMEMBERED)(_named)
