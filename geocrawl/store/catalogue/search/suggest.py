"""Know the words of the catalogue: correct mistyped ones, and find those that hold another word.

For a word that no service has, the nearest one that is known is proposed.

Candidates are the words of the index, of the synonyms and of the places that begin with the same letter and are at
most two letters longer or shorter (rapidfuzz compares all of them in some milliseconds). Nearer words go first, then
those of more services. A word that is near none may be one of another script in Latin letters (`kadastr`, кадастр), or
several known words written as one (`Waldbodenkarte`: Wald, Boden, Karte).

German, Dutch and the Nordic languages write such words as one, so `feuchte` is also asked for as Bodenfeuchte and as
Bodenfeuchteindex: a word of the index holds another one when all the rest of it consists of known words. `plan` is no
part of Planet, since nobody writes `et`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from rapidfuzz import process
from rapidfuzz.distance import OSA

from geocrawl.query.fold import in_latin, is_unspaced, letters_for, plurals, spellings, words_of
from geocrawl.query.places import Places
from geocrawl.store.catalogue.search.plan import Concept
from geocrawl.store.catalogue.search.port import Phrase, SearchIndex
from geocrawl.store.catalogue.search.vocabulary import Vocabulary, Words

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
_MOST_COMPOUNDS = 100
"""Most longer words that one word is asked for as."""
_LOOKED_AT = 2_000
"""Most words that hold a word which are looked at."""
_FEW = 100
"""The words of the index are read again when one of so many services has changed."""


class Corrector:
    """Corrects words of queries, and finds the longer words that hold them."""

    def __init__(self, vocabulary: Vocabulary, places: Places, index: SearchIndex) -> None:
        self._index = index
        self._places = places
        self._parts = _long_words((*vocabulary.synonyms, *vocabulary.weak))
        """Words of the lists; names of places are no parts of compounds: Ards would make one of `standards`."""
        self._own = self._parts | _long_words(places.names)
        self._known: dict[str, dict[str, int]] = {}
        """Words of the index with the number of services that have them, by their first letter, as of `_upto`."""
        self._long = ""
        """The words of the index that are long enough for a compound, a line each."""
        self._upto = -1

    def refresh(self, upto: int, services: int) -> None:
        """Read the words of the index again when much has changed. `upto`: number of the last change of the index;
        `services`: how many there are."""
        if self._upto >= 0 and upto - self._upto <= services // _FEW:
            return
        self._known.clear()
        for word, number in self._index.vocabulary().items():
            if _LEAST_CHARS <= len(word) <= _MOST_CHARS and word.isalpha():
                self._known.setdefault(word[0], {})[word] = number
        words = (word for of_letter in self._known.values() for word in of_letter)
        self._long = "\n".join(("", *(word for word in words if len(word) >= _LEAST_PARTS * _LEAST_CHARS), ""))
        self._upto = upto

    def compounds(self, concept: Concept) -> tuple[Phrase, ...]:
        """Return the words of the index that hold the word of a concept and otherwise consist of known words: first
        those that end with it, then those of more services. Names of places are left out."""
        asked = {form for typed in spellings(concept.text) if typed.isalpha() for form in plurals(typed)}
        # The first one is the longest, so that `karten` is tried before `karte`.
        forms = sorted((form for form in asked if len(form) >= _LEAST_CHARS), key=lambda form: (-len(form), form))
        found = dict[str, tuple[bool, int]]()
        for word in islice(self._holding(forms), _LOOKED_AT):
            if word not in forms and word not in found and self._is_compound_of(word, forms):
                found[word] = (not word.endswith(tuple(forms)), -self._of_letter(word[0]).get(word, 0))
        best = sorted(found, key=lambda word: (*found[word], word))
        return tuple(Phrase((word,)) for word in best[:_MOST_COMPOUNDS])

    def corrected(self, text: str, unknown: Iterable[Concept], check: Callable[[], None]) -> str | None:
        """Return a query with each unknown word replaced by a known one; None when no word has one near it. `check`:
        called before each word, raises when the search has to end."""
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

    def _holding(self, forms: Sequence[str]) -> Iterator[str]:
        """Yield the words of the index that hold one of some forms of a word."""
        # What holds `karten` holds `kart`, too.
        for form in forms:
            if any(form.startswith(other) for other in forms if other != form):
                continue
            at = self._long.find(form)
            while at >= 0:
                end = self._long.index("\n", at)
                yield self._long[self._long.rindex("\n", 0, at) + 1 : end]
                at = self._long.find(form, end)

    def _is_compound_of(self, word: str, forms: Sequence[str]) -> bool:
        """Return whether a word consists of a form of another one and of known words before or after it."""
        if self._places.named((word,)):
            return False
        for form in forms:
            before, held, after = word.partition(form)
            if held and self._is_before(before) and self._is_after(after):
                return True
        return False

    def _is_before(self, part: str) -> bool:
        return not part or bool(self._known_form(part) or self._divided(part, _MOST_PARTS - 1))

    def _is_after(self, part: str) -> bool:
        rests = [part.removeprefix(link) for link in _LINKS if part.startswith(link)]
        return any(not rest or self._known_form(rest) or self._divided(rest, _MOST_PARTS - 1) for rest in rests)

    def _known_form(self, part: str) -> str:
        """Return a part of a compound as a known word, without the letters that link it to the next; '' for none."""
        for ending in _LINKS:
            stem = part.removesuffix(ending)
            if len(stem) >= _LEAST_CHARS and part.endswith(ending) and self._is_known(stem):
                return stem
        # A verb without its ending: `lade` of laden.
        infinitive = f"{part.removesuffix('e')}en"
        return infinitive if len(part) >= _LEAST_CHARS and self._is_known(infinitive) else ""

    def _is_known(self, word: str) -> bool:
        return word in self._parts or word in self._of_letter(word[0])

    def _of_letter(self, first: str) -> Mapping[str, int]:
        """Return the words of the index that begin with a letter, with the number of services that have them."""
        return self._known.get(first, {})

    def _words_like(self, word: str) -> dict[str, int]:
        """Return the known words with the same first letter and about the same length, with their services."""
        first = word[0]
        every = dict.fromkeys((own for own in self._own if own[0] == first), 0) | dict(self._of_letter(first))
        return {
            each: services
            for each, services in every.items()
            if abs(len(each) - len(word)) <= _LENGTHS and each.isalpha()
        }


def _long_words(entries: Iterable[Words]) -> frozenset[str]:
    return frozenset(word for words in entries for word in words if len(word) >= _LEAST_CHARS)


def _most_errors(word: str) -> int:
    """Return how many letters of a word may be wrong: one of five, two of nine, three of more."""
    return 1 if len(word) <= 5 else 2 if len(word) <= 9 else 3
