"""Define the result that every reader of this room returns, and the limits that apply to all readers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

MAX_TEXT_CHARS = 200_000
MAX_TITLE_CHARS = 500
MAX_ANCHOR_CHARS = 300
MAX_CONTEXT_CHARS = 200
"""Half of it before the link, half after it."""
MAX_HREF_CHARS = 8_000
"""Longer ones are data or scripts; `urls` would drop them too, but only after having parsed them."""


BOUNDARY = "\x1e"
"""Separates blocks in a page's text: the record separator of ASCII, which folds to a space."""


class RawLink(NamedTuple):
    """A link as the page writes it, its address not yet read."""

    href: str
    where: str
    anchor: str = ""
    context: str = ""
    rel: str = ""
    kind: str = ""
    """As in `Link`."""


@dataclass(slots=True)
class Content:
    """The text and the links of a page, their addresses not yet parsed. Fields as in `Document`."""

    title: str = ""
    text: str = ""
    links: list[RawLink] = field(default_factory=list)
    base: str = ""
    """`<base href>`, '' when there is none."""
    robots: str = ""
    """Directives of meta robots, joined by ', '."""
    language: str = ""
    headline: str = ""
    prose: str = ""
    anchor_chars: int = 0
    xml_root: str = ""
    xml_namespace: str = ""
    json_keys: tuple[str, ...] = ()
