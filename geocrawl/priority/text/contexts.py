"""Find the context of a link: the words next to its anchor that a link classifier reads (bayes, "context").

Han et al. (2010) use a window on both sides of a link. If the window contains other links, the words there belong to
those links, so the context is only the neighbouring anchor on each side; otherwise it is the near text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from geocrawl.model import Link

_SHOWN = frozenset({"a", "area"})
"""Elements whose links are visible in the text; others (forms, frames, `<link>`) are no neighbours."""
_HEAD_CHARS = 20
"""A neighbour is in the window when its anchor is, or at least this many of its first characters: windows are
truncated, and an anchor may continue with the alternative text of an image.
"""


def link_contexts(links: Sequence[Link]) -> list[tuple[str, ...]]:
    """Return the context texts of each link, in the links' order:

    the neighbouring anchors (one or two) or the near text.

    The window is `Link.context`, which ends with the block that contains the link (ours). A link alone in its block, as
    in lists and menus, has an empty window; the anchors before and after it in the document are then its neighbours.
    """
    shown = [i for i, link in enumerate(links) if link.where in _SHOWN and link.anchor]
    behind = dict(pairwise(shown))
    before = {later: earlier for earlier, later in behind.items()}
    return [_context(links, link, before.get(i), behind.get(i)) for i, link in enumerate(links)]


def _context(links: Sequence[Link], link: Link, before: int | None, behind: int | None) -> tuple[str, ...]:
    near = link.context
    anchors = [links[i].anchor for i in (before, behind) if i is not None]
    standing = tuple(anchor for anchor in anchors if not near or _stands_in(anchor, near))
    return standing or ((near,) if near else ())


def _stands_in(anchor: str, near: str) -> bool:
    return anchor in near or (len(anchor) > _HEAD_CHARS and anchor[:_HEAD_CHARS] in near)
