"""What every reader of this room hands back, and the bounds that hold for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

MAX_TEXT_CHARS = 200_000
MAX_TITLE_CHARS = 500
MAX_ANCHOR_CHARS = 300
MAX_CONTEXT_CHARS = 200
"""Half of it before the link, half behind."""
MAX_HREF_CHARS = 8_000
"""Longer ones are data or scripts; `urls` drops far shorter ones, but only after having parsed them."""


BOUNDARY = "\x1e"
"""Between blocks in a page's text: the record separator of ASCII, which folds to a space."""


class RawLink(NamedTuple):
    """A link as the page writes it, before its address is read."""

    href: str
    where: str
    anchor: str = ""
    context: str = ""
    rel: str = ""
    kind: str = ""
    """`Link.kind`."""


@dataclass(slots=True)
class Content:
    """What a page says, its addresses not yet read."""

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
