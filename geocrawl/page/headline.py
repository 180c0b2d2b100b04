"""Find the most likely headline of a page (Li, Zhao, Yu: the "SkyReach" focused crawler, title finding).

`<title>` often names the site and not the page. The paper reads the page as a person does: the first paragraph long
enough to be body text marks where the text starts. Font size, centring and colour decide which paragraph before that is
the headline. Then its neighbours correct the choice, by *append* (a headline of several lines) or *shift* (the most
prominent paragraph is only a short label). The paper states no numbers: the weights and lengths below are ours.

Style sheets are not read. Pages so large that they are flattened (`html_tree.flatten`) contain no fonts any more, so
their headline is the title.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from geocrawl.formats.text import fold
from geocrawl.page.content import MAX_TITLE_CHARS
from geocrawl.page.html_tree import BLOCKS, walk

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
    lines = [each for each in _before_body(root) if each.linked <= MAX_LINKED and each.width <= MAX_HEADLINE_WIDTH]
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
