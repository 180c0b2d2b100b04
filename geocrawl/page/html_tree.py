"""Prepare and walk an HTML tree: flatten huge pages, visit every node, name the place of a link."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from selectolax.lexbor import LexborNode

# --------------------------------------------------------------------------- huge or hostile pages
# Building a tree by the rules of the HTML standard takes quadratic time in the number of elements open at once: 100,000
# nested `<div>` (0.5 MB) take 12 s, and 60 kB of unclosed `<font>` before as many `<p>` grow to millions of nodes.
# Pages of ordinary size are parsed unchanged. In larger pages each tag without a link, form or title is first replaced
# by a separator with the same effect on the text: a block by `<hr>`, which cannot nest, a cell by a space, inline
# markup by nothing. The remaining tags cannot nest, and text and links are the same.


MAX_PLAIN_TAGS = 2_000
"""Pages with more tags are flattened: up to here the worst case takes about half a second."""
MAX_PLAIN_CHARS = 65_536
MAX_ATTRIBUTES = 1_000
"""A tag with more attributes is dropped: the parser's search for repeated names is quadratic, too."""
_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?>\s*=\s*(?:"[^"]*+"?|'[^']*+'?|[^\s>"'][^\s>]*+)?)?"""
_TAG = re.compile(rf"<[a-z/][^\s/>]*+(?>(?:{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}})((?>(?:{_ATTRIBUTE})*))", re.I)
"""A tag as the parser reads it, closed or not; attributes beyond the limit are its group."""

_BLOCK_NAMES = (
    "address article aside blockquote body center details dialog dir div dl fieldset figcaption figure footer form "
    "frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary "
    "table tbody tfoot thead tr ul"
)
BLOCKS = frozenset(_BLOCK_NAMES.split())
"""Elements that begin a block: texts before and after their tags do not belong together."""
_CELL_NAMES = "br button caption dd dt iframe input img option optgroup select td textarea th"
CELLS = frozenset(_CELL_NAMES.split())
"""Elements that separate words but not blocks."""
_KEPT = (
    "head title base meta link script style noscript iframe noframes noembed xmp textarea plaintext "
    "frameset frame a area map img form input button select option hr br"
)


def _tags(names: str) -> re.Pattern[str]:
    return re.compile(rf"</?(?:{'|'.join(names.split())})(?=[\s/>])[^>]*>", re.I)


_BLOCK_TAGS = re.compile(rf"(?:{_tags(' '.join(sorted(BLOCKS - set(_KEPT.split())))).pattern}\s*){{1,500}}", re.I)
"""A run of block tags, which separates no more than one block tag. The length is limited, because an endless run would
fill the matcher's memory; the pattern is not possessive, because Python before 3.11.4 has a bug there.
"""
_CELL_TAG = _tags(" ".join(sorted(CELLS - set(_KEPT.split()))))
_OTHER_TAG = re.compile(rf"</?(?!(?:{'|'.join(_KEPT.split())})[\s/>])[a-z][^>]*>", re.I)
_HTML_TAG = re.compile(r"<html(?=[\s/>])[^>]*>", re.I)
_PREAMBLE_CHARS = 4_096
_MANY_BEGINS = re.compile("<{100,}")
"""A run of `<`: only the last one can begin a tag, but each pattern below would try them all."""


def flatten(html: str) -> str:
    """Return `html` unchanged if it has ordinary size, else with only the tags of links, forms, title and blocks."""
    if html.count("<") <= MAX_PLAIN_TAGS and len(html) <= MAX_PLAIN_CHARS:
        return html
    html = _TAG.sub(lambda tag: "" if tag[1] else tag[0], _MANY_BEGINS.sub("<", html))
    if html.count("<") <= MAX_PLAIN_TAGS:
        return html
    preamble = _HTML_TAG.search(html, 0, _PREAMBLE_CHARS)  # keep the language
    start = preamble.end() if preamble else 0
    end = html.rfind(">") + 1  # every "<" before has a ">" after it, so no pattern runs to the end in vain
    flat = _BLOCK_TAGS.sub("<hr>", html[start:end])
    return html[:start] + _OTHER_TAG.sub("", _CELL_TAG.sub(" ", flat)) + html[end:]


# --------------------------------------------------------------------------- the walk


UNREAD = frozenset(["script", "style", "title", "template", "iframe", "noframes", "noembed"])
"""Elements whose content is no text of the page. `noscript` is not in the list: it is text for clients without scripts.
"""


def walk(root: LexborNode) -> Iterator[tuple[LexborNode, str, bool]]:
    """Yield each node except comments with its tag, on entering (True) and, for elements, on leaving (False).

    The walk is not recursive, so that the depth of a tree is not limited.
    """
    ancestors: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag or ""
        if tag == "-text":
            yield node, tag, True
        elif not tag.startswith("-"):
            yield node, tag, True
            child = None if tag in UNREAD else node.first_child
            if child is not None:
                ancestors.append((node, tag))
                node = child
                continue
            yield node, tag, False
        following = node.next if ancestors else None
        while following is None and ancestors:
            node, tag = ancestors.pop()
            yield node, tag, False
            following = node.next if ancestors else None
        node = following


# --------------------------------------------------------------------------- tag paths
# Links of one menu, list or table share a tag path, whatever their words and addresses are, so that a crawl can learn
# what such a group of links leads to (Gauquier, Manolescu, Senellart: Efficient Crawling for Scalable Web Data
# Acquisition, arXiv:2602.11874, 2026).


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
