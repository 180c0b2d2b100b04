"""Find keywords in raw text, by one compiled pattern and without splitting the text into words.

A Latin keyword counts where no other Latin letter touches it ("WMS" in "WMS服务", "wms_130" and "WMS 1.1.1", not in
"swms"), in any case, with or without a plural s. A Han keyword counts wherever it occurs, because Chinese has no word
boundaries. Of several matches the longest counts: "web map service" is not also a "map service".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection


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


def _pattern(words: Collection[str]) -> str:
    """Return an alternation whose branches begin with a plain character.

    `re` then skips ahead to the characters that can begin a match, which is twice as fast as beginning with a
    look-behind; so the character before a Latin word is checked after its first letter.
    """
    by_initial: dict[str, list[str]] = defaultdict(list)
    for word in sorted(words, key=lambda word: (-len(word), word)):
        by_initial[word[0]].append(word)
    branches = [_branch(initial, group) for initial, group in sorted(by_initial.items())]
    return "|".join(branches) or r"(?!)"


def _branch(initial: str, words: list[str]) -> str:
    """Return the branch of the words with one initial, longest first, each with the rules of its script."""
    first = re.escape(initial)
    latin = [re.escape(word[1:]) for word in words if word.isascii()]
    han = [re.escape(word) for word in words if not word.isascii()]
    branches = [f"{first}(?<![a-z]{first})(?:{'|'.join(latin)})s?(?![a-z])"] if latin else []
    return "|".join([*han, *branches])
