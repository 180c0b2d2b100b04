"""Find keywords in raw text, by one compiled pattern and without splitting the text into words.

A Latin keyword counts where no other Latin letter touches it ("WMS" in "WMS服务", "wms_130" and "WMS 1.1.1", not in
"swms"), in any case, with or without a plural s. A Han keyword counts wherever it occurs, because Chinese has no word
boundaries. Of several matches the longest counts: "web map service" is not also a "map service".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import pairwise

from geocrawl.model import Link


class Keywords:
    """A set of keywords, compiled for searching."""

    def __init__(self, words: Collection[str]) -> None:
        """Compile `words`, in lower case and with single spaces between words."""
        self._words = frozenset(words)
        self._pattern = re.compile(_pattern(self._words))

    def found_in(self, text: str) -> list[str]:
        """Return every occurrence in `text`, in order, in the keyword's spelling."""
        found = self._pattern.findall(text.lower())
        words = self._words
        return [match if match in words else match.removesuffix("s") for match in found]


def hint_of(words: Collection[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of `words` wherever it occurs, also within another word: a quick check."""
    branches = (
        f"{re.escape(initial)}(?:{'|'.join(re.escape(word[1:]) for word in group)})"
        for initial, group in _by_initial(words)
    )
    return re.compile("|".join(branches) or r"(?!)")


def _pattern(words: Collection[str]) -> str:
    """Return an alternation whose branches begin with a plain character.

    `re` then skips ahead to the characters that can begin a match, which is twice as fast as beginning with a
    look-behind; so the character before a Latin word is checked after the word.
    """
    return "|".join(_branch(initial, group) for initial, group in _by_initial(words)) or r"(?!)"


def _by_initial(words: Collection[str]) -> list[tuple[str, list[str]]]:
    """Return initial → the words with it, longest first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for word in sorted(words, key=lambda word: (-len(word), word)):
        groups[word[0]].append(word)
    return sorted(groups.items())


def _branch(initial: str, words: list[str]) -> str:
    """Return the branch of the words with one initial, longest first, each with the rules of its script."""
    first = re.escape(initial)
    latin = [f"{re.escape(word[1:])}(?<![a-z]{re.escape(word)})" for word in words if word.isascii()]
    han = [re.escape(word) for word in words if not word.isascii()]
    branches = [f"{first}(?:{'|'.join(latin)})s?(?![a-z])"] if latin else []
    return "|".join([*han, *branches])


# --------------------------------------------------------------------------- contexts of links
# Han et al. (2010) use a window on both sides of a link. If the window contains other links, the words there belong to
# those links, so the context is only the neighbouring anchor on each side; otherwise it is the near text.


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
