"""Prepare and walk an HTML tree: flatten huge pages, visit every node, name the place of a link, find the headline."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from selectolax.lexbor import LexborNode

from geocrawl.formats.text import fold
from geocrawl.page.content import MAX_TITLE_CHARS

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
    name = tag + (f"#{own}" if own else "") + "".join(f".{class_name}" for class_name in classes)
    return _DIGITS.sub("0", name[:_MAX_NAME_CHARS]) if own or classes else name


_known_name = lru_cache(_REMEMBERED)(_named)


# --------------------------------------------------------------------------- headlines
# After Li, Zhao, Yu: the "SkyReach" focused crawler, title finding.
#
# `<title>` often names the site and not the page. The paper reads the page as a person does: the first paragraph long
# enough to be body text marks where the text starts. Font size, centring and colour decide which paragraph before that
# is the headline. Then its neighbours correct the choice, by *append* (a headline of several lines) or *shift* (the
# most prominent paragraph is only a short label). The paper states no numbers: the weights and lengths below are ours.
#
# Style sheets are not read. Pages so large that they are flattened (`html_tree.flatten`) contain no fonts any more, so
# their headline is the title.


MIN_BODY_WIDTH = 80
"""A paragraph this wide is body text; a character of East Asian width counts as two."""
MAX_HEADLINE_WIDTH = 160
MIN_HEADLINE_WIDTH = 6
"""A prominent paragraph that is narrower is a label: its neighbour is the headline (shift)."""
MAX_LINES = 3
"""Most paragraphs in one headline (append)."""
MAX_PARAGRAPHS = 300
"""Paragraphs that are read at most before the body text begins."""
CENTRED, COLOURED = 0.5, 0.25
"""Weight added for centred and for coloured text, as a multiple of the default font size."""
MAX_LINKED = 0.5
"""A paragraph with a larger share of its characters in links is navigation: neither headline nor body text."""

_MAX_PARAGRAPH_CHARS = 400
"""Characters kept of a paragraph: enough to recognise body text."""
_PARTING = frozenset(["br", "td", "th", "dt", "dd", "caption", "option"])
"""Elements besides blocks that end a run of text."""
_LOOKING = frozenset(["h1", "h2", "h3", "center", "a", "font"])
"""Elements that change the look of text even without attributes."""
_MAX_SIZE = 10.0
_FONT_SIZE = re.compile(r"\s*([+-]?)(\d{1,2})")
_PERMALINKS = " ¶#§"
"""Characters of the link with which a heading links to itself."""
_PLAIN_SIZE = 1.0
_HEADING_SIZES = {"h1": 2.0, "h2": 1.5, "h3": 1.17}
"""HTML standard, 15.3.6; headings from h4 on are no larger than text."""
_FONT_SIZES = (0.63, 0.82, 1.0, 1.13, 1.5, 2.0, 3.0)
"""`<font size>` 1…7 (HTML standard, 15.3.4: x-small to xxx-large)."""
_NAMED_SIZES = {
    **{"xx-small": 0.56, "x-small": 0.63, "small": 0.82, "medium": 1.0, "large": 1.13, "x-large": 1.5},
    **{"xx-large": 2.0, "xxx-large": 3.0, "smaller": 0.83, "larger": 1.2},
}
_UNITS = {"px": 1 / 16, "pt": 1 / 12, "rem": 1.0}
_STYLE_SIZE = re.compile(
    r"(?:^|;)\s*font(?:-size)?\s*:[^;]*?(?:([\d.]{1,8})(px|pt|rem|em|%)|\b([a-z-]*(?:large|small)))"
)
_STYLE_CENTRED = re.compile(r"(?:^|;)\s*text-align\s*:\s*center")
_STYLE_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*([^;]+)")
_PLAIN_COLOURS = frozenset({"black", "#000", "#000000", "inherit", "initial", "currentcolor", "rgb(0,0,0)"})


@dataclass(frozen=True, slots=True)
class _Format:
    """The look of a text."""

    size: float = _PLAIN_SIZE
    """Font size as a multiple of the default size."""
    centred: bool = False
    coloured: bool = False
    linked: bool = False

    @property
    def weight(self) -> float:
        """Return how prominent text of this format is."""
        return self.size + CENTRED * self.centred + COLOURED * self.coloured


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A run of text without a break."""

    text: str
    format: _Format
    """Format of most of the characters."""
    linked: float
    """Share of the characters in links."""

    @property
    def width(self) -> int:
        """Return the number of characters, East Asian wide ones counted as two."""
        return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in self.text)


def find_headline(root: LexborNode) -> str:
    """Return the most likely headline of the tree, at most 500 characters; '' when no paragraph is prominent."""
    lines = [line for line in _before_body(root) if line.linked <= MAX_LINKED and line.width <= MAX_HEADLINE_WIDTH]
    best = max(range(len(lines)), key=lambda n: (lines[n].format.weight, n), default=None)
    if best is None or lines[best].format.weight <= _PLAIN_SIZE:
        return ""
    return fold(_corrected(lines, best).rstrip(_PERMALINKS), MAX_TITLE_CHARS)


def _corrected(lines: list[_Paragraph], best: int) -> str:
    """Return the chosen paragraph joined with neighbours of the same look (append), or a neighbour instead (shift)."""
    look = lines[best].format
    first = last = best
    while first > 0 and last - first + 1 < MAX_LINES and lines[first - 1].format == look:
        first -= 1
    while last + 1 < len(lines) and last - first + 1 < MAX_LINES and lines[last + 1].format == look:
        last += 1
    chosen = lines[first : last + 1]
    if sum(line.width for line in chosen) >= MIN_HEADLINE_WIDTH:
        return " ".join(line.text for line in chosen)
    neighbours = [lines[n] for n in (last + 1, first - 1) if 0 <= n < len(lines)]
    wide = [line for line in neighbours if line.width >= MIN_HEADLINE_WIDTH]
    return max(wide, key=lambda line: line.format.weight).text if wide else chosen[0].text


def _before_body(root: LexborNode) -> list[_Paragraph]:
    """Return the paragraphs before the first one long enough to be body text, in order."""
    paragraphs = []
    for paragraph in _paragraphs(root):
        if paragraph.linked <= MAX_LINKED and paragraph.width >= MIN_BODY_WIDTH and paragraph.format.size < 1.5:
            break
        paragraphs.append(paragraph)
        if len(paragraphs) == MAX_PARAGRAPHS:
            break
    return paragraphs


def _paragraphs(root: LexborNode) -> Iterator[_Paragraph]:
    """Yield the runs of text between the ends of blocks, cells and lines, without those that contain no word."""
    looks = [_Format()]
    pieces: list[tuple[str, _Format]] = []
    for node, tag, enters in walk(root):
        if tag == "-text":
            pieces.append((node.text_content or "", looks[-1]))
            continue
        if tag in BLOCKS or tag in _PARTING:
            paragraph = _paragraph(pieces)
            if paragraph is not None:
                yield paragraph
            pieces = []
        if enters:
            looks.append(_look(node, tag, looks[-1]))
        else:
            looks.pop()
    paragraph = _paragraph(pieces)
    if paragraph is not None:
        yield paragraph


def _paragraph(pieces: list[tuple[str, _Format]]) -> _Paragraph | None:
    text = fold("".join(piece for piece, _ in pieces), _MAX_PARAGRAPH_CHARS)
    if not any(character.isalnum() for character in text):
        return None
    chars: dict[_Format, int] = {}
    for piece, look in pieces:
        chars[look] = chars.get(look, 0) + len(piece.strip())
    most = max(chars, key=lambda look: chars[look])
    linked = sum(count for look, count in chars.items() if look.linked)
    return _Paragraph(text, replace(most, linked=False), linked / max(1, sum(chars.values())))


def _look(node: LexborNode, tag: str, outer: _Format) -> _Format:
    """Return the format of an element's text, given that of its parent element."""
    attributes = node.attributes
    if not attributes and tag not in _LOOKING:
        return outer
    style = (attributes.get("style") or "").lower()
    centred = outer.centred or tag == "center" or (attributes.get("align") or "").lower() == "center"
    return _Format(
        size=_size(tag, attributes.get("size") or "", style, outer.size),
        centred=centred or bool(_STYLE_CENTRED.search(style)),
        coloured=outer.coloured or _is_coloured(tag, attributes.get("color") or "", style),
        linked=outer.linked or (tag == "a" and bool(attributes.get("href"))),
    )


def _size(tag: str, size: str, style: str, outer: float) -> float:
    if tag == "font" and (match := _FONT_SIZE.match(size)):
        step = int(match[2]) if not match[1] else 3 + int(match[1] + match[2])
        outer = _FONT_SIZES[min(max(step, 1), 7) - 1]
    outer = _HEADING_SIZES.get(tag, outer)
    match = _STYLE_SIZE.search(style)
    if match is None:
        return outer
    number, unit, name = match.groups()
    if name:
        return outer * _NAMED_SIZES[name] if name in ("smaller", "larger") else _NAMED_SIZES.get(name, outer)
    share = {"em": outer, "%": outer / 100}.get(unit) or _UNITS[unit]
    try:
        return min(float(number) * share, _MAX_SIZE)
    except ValueError:  # such as "1.2.3px"
        return outer


def _is_coloured(tag: str, color: str, style: str) -> bool:
    """Return whether the markup sets a colour for the text."""
    match = _STYLE_COLOUR.search(style)
    name = (match[1] if match else color if tag == "font" else "").replace(" ", "").replace("!important", "")
    return bool(name) and name.lower() not in _PLAIN_COLOURS
