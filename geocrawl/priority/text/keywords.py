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
