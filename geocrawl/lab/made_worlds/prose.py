"""Write random sentences, place names and names of organisations from a language's patterns and a theme's words."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from geocrawl.lab.made_worlds.vocabulary import Language, Words


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a site's texts repeat."""

    places: Sequence[str]
    organisation: str


class Writer:
    """Writes texts of one site. The same `rng` results in the same texts."""

    def __init__(self, rng: random.Random, language: Language, words: Words, names: Names, jargon: float) -> None:
        """Make a writer; `jargon` is the share (0 to 1) of nouns and sentences that are about services."""
        self._lot = rng
        self._language = language
        self._words = words
        self._names = names
        self._jargon = jargon

    def __getitem__(self, slot: str) -> str:
        """Return a random text for a slot of a pattern."""
        rng, language = self._lot, self._language
        match slot:
            case "n":
                return rng.choice(language.jargon if rng.random() < self._jargon else self._words.nouns)
            case "t":
                return rng.choice(self._words.titles)
            case "a":
                return rng.choice(language.adjectives)
            case "v":
                return rng.choice(language.verbs)
            case "p":
                return rng.choice(self._names.places)
            case "o":
                return self._names.organisation
            case "w":
                return rng.choice(("1.1.0", "1.1.1", "1.3.0"))
            case "y":
                return str(rng.randint(1972, 2024))
        return str(rng.randint(3, 9800))

    def sentence(self) -> str:
        """Return one sentence."""
        patterns = self._language.talk if self._lot.random() < self._jargon else self._language.sentences
        text = self._lot.choice(patterns).format_map(self)
        return text[:1].upper() + text[1:]

    def paragraph(self, least: int = 2, most: int = 6) -> str:
        """Return a few sentences."""
        gap = " " if self._language.spaced else ""
        return gap.join(self.sentence() for _ in range(self._lot.randint(least, most)))


def place(rng: random.Random, language: Language) -> tuple[str, str]:
    """Return an invented place: (its name, the name in Latin letters)."""
    picks = rng.sample(range(len(language.syllables)), 2)
    name = "".join(language.syllables[i] for i in picks)
    return name.capitalize() if language.spaced else name, "".join(language.roman[i] for i in picks)


def organisation(rng: random.Random, language: Language, words: Words, where: str) -> str:
    """Return the name of an invented organisation of a theme at a place."""
    return rng.choice(language.organisations).format(p=where, s=words.name)
