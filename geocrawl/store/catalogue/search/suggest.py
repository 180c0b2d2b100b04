"""Correct mistyped words: for a word that no service has, the nearest one that is known.

Candidates are the words of the index, of the synonyms and of the places that begin with the same letter and are at
most two letters longer or shorter (rapidfuzz compares all of them in some milliseconds). Nearer words go first, then
those of more services. A word that is near none may be one of another script in Latin letters (`kadastr`, кадастр), or
several known words written as one (`Waldbodenkarte`: Wald, Boden, Karte).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from rapidfuzz import process
from rapidfuzz.distance import OSA

from geocrawl.query.fold import in_latin, is_unspaced, letters_for, words_of
from geocrawl.query.places import Places
from geocrawl.store.catalogue.search.plan import Concept
from geocrawl.store.catalogue.search.port import SearchIndex
from geocrawl.store.catalogue.search.vocabulary import Vocabulary

_LEAST_CHARS, _MOST_CHARS = 4, 60
_LENGTHS = 2
"""Letters by which a word may be longer or shorter than what was typed."""
_MOST = 20
"""Most candidates that are compared in detail."""
_LINKS = ("", "s", "n", "en", "es", "er", "e")
"""Letters that link the parts of compounds in German, Dutch and the Nordic languages."""
_MOST_WORDS = 12
"""Most words of a query that are corrected."""
_LEAST_PARTS, _MOST_PARTS = 2, 4
"""Fewest and most parts of a compound."""


class Corrector:
    """Corrects words of queries."""

    def __init__(self, vocabulary: Vocabulary, places: Places, index: SearchIndex) -> None:
        self._index = index
        entries = (*vocabulary.synonyms, *places.names, *vocabulary.weak)
        self._own = frozenset(word for words in entries for word in words if len(word) >= _LEAST_CHARS)
        self._known: dict[str, Mapping[str, int]] = {}
        """Words of the index by their first letter, as of `_upto`."""
        self._upto = -1

    def corrected(self, text: str, unknown: Iterable[Concept], upto: int, check: Callable[[], None]) -> str | None:
        """Return a query with each unknown word replaced by a known one; None when no word has one near it. `upto`:
        number of the last change of the index; `check`: called before each word, raises when the search has to end."""
        if upto != self._upto:
            self._known.clear()
            self._upto = upto
        changed = text
        words = (typed for concept in unknown for typed in re.findall(r"\w+", concept.text))
        for typed in islice(words, _MOST_WORDS):
            check()
            if better := self._nearest("".join(words_of(typed))):
                changed = re.sub(rf"(?<!\w){re.escape(typed)}(?!\w)", better, changed, count=1)
        return changed if changed != text else None

    def _nearest(self, word: str) -> str | None:
        """Return the known word that is nearest to a word; None for a word that is known, short, or no word."""
        if not _LEAST_CHARS <= len(word) <= _MOST_CHARS or not word.isalpha() or is_unspaced(word):
            return None
        services = self._words_like(word)
        if word in services:
            return None
        found = process.extract(
            word, services.keys(), scorer=OSA.distance, score_cutoff=_most_errors(word), limit=_MOST
        )
        ranked = sorted((distance, -services[known], known) for known, distance, _ in found)
        if ranked:
            return ranked[0][2]
        return self._of_other_script(word) or " ".join(self._divided(word)) or None

    def _of_other_script(self, word: str) -> str | None:
        """Return the word of another script that is written in Latin letters like a word; None for none."""
        if not word.isascii():
            return None
        latin = {known: in_latin(known) for letter in letters_for(word[0]) for known in self._of_letter(letter)}
        found = process.extractOne(word, latin, scorer=OSA.distance, score_cutoff=_most_errors(word))
        return found[2] if found else None

    def _divided(self, word: str, most: int = _MOST_PARTS) -> tuple[str, ...]:
        """Return the known words that a compound consists of, the first one as long as can be; nothing for none."""
        for end in range(len(word) - _LEAST_CHARS, _LEAST_CHARS - 1, -1):
            first, rest = self._known_form(word[:end]), word[end:]
            if not first:
                continue
            if last := self._known_form(rest):
                return first, last
            if most > _LEAST_PARTS and (others := self._divided(rest, most - 1)):
                return (first, *others)
        return ()

    def _known_form(self, part: str) -> str:
        """Return a part of a compound as a known word, without the letters that link it to the next; '' for none."""
        for ending in _LINKS:
            stem = part.removesuffix(ending)
            if len(stem) >= _LEAST_CHARS and part.endswith(ending) and self._is_known(stem):
                return stem
        return ""

    def _is_known(self, word: str) -> bool:
        return word in self._own or word in self._of_letter(word[0])

    def _of_letter(self, first: str) -> Mapping[str, int]:
        """Return the words of the index that begin with a letter, with the number of services that have them."""
        if first not in self._known:
            self._known[first] = self._index.vocabulary(first)
        return self._known[first]

    def _words_like(self, word: str) -> dict[str, int]:
        """Return the known words with the same first letter and about the same length, with their services."""
        first = word[0]
        every = dict.fromkeys((own for own in self._own if own[0] == first), 0) | dict(self._of_letter(first))
        return {
            each: services
            for each, services in every.items()
            if abs(len(each) - len(word)) <= _LENGTHS and each.isalpha()
        }


def _most_errors(word: str) -> int:
    """Return how many letters of a word may be wrong: one of five, two of nine, three of more."""
    return 1 if len(word) <= 5 else 2 if len(word) <= 9 else 3
