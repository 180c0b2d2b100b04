"""Search layers: of the services that a query finds, the layers that it asks for, one hit a layer.

The services come in the order of their search. Of the first ones, as many as the bounds allow, layers are read; a layer
fits by its own title, name and keywords together with the title of its service."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from geocrawl.query.fold import lines_of_words
from geocrawl.store.catalogue.search.plan import Concept
from geocrawl.store.catalogue.search.port import LayerWords, Phrase

MOST_SERVICES = 300
"""Most services of one search whose layers are looked through."""
MOST_READ = 20_000
"""After so many layers no further service is looked through."""
AT_ONCE = 20
"""Services whose layers are read by one statement."""


@lru_cache(maxsize=64)
def pattern_of(phrases: tuple[Phrase, ...]) -> re.Pattern[str]:
    """Return a pattern for texts, with a space around each word, that hold one of the phrases."""
    texts = {f" {' '.join(words)}{'' if is_prefix else ' '}" for words, is_prefix in phrases}
    return re.compile("|".join(re.escape(text) for text in sorted(texts)))


class LayerRanking:
    """Tells which layers fit a query, and how well."""

    def __init__(self, concepts: Sequence[Concept]) -> None:
        """Look for the concepts that a layer may have: no places, which are of extents, and no words that may lack."""
        self._wanted = [concept for concept in concepts if not concept.is_weak and not concept.places]

    def best_first(self, texts: Sequence[LayerWords], titles: Sequence[str]) -> list[LayerWords]:
        """Return the layers that fit, best first, equal ones in the order given.

        `titles`: those of the layers' services. Layers that have only some of the words are left out when others have
        all.
        """
        if not self._wanted:
            return list(texts)
        own = lines_of_words(words for _, _, words in texts)
        around = lines_of_words(titles)
        scored = [(self._score(*lines), text) for *lines, text in zip(own, around, texts, strict=True)]
        least = 1 if any(score >= 1 for score, _ in scored) else 0
        fitting = [(score, text) for score, text in scored if score > 0 and score >= least]
        return [text for _, text in sorted(fitting, key=lambda pair: -pair[0])]

    def _score(self, own: str, around: str) -> float:
        """Return 3 for a layer that has all words, 2 with some of them in the service's title alone, 1 where all are
        there alone; less for some of the words."""
        of_layer = [_has(concept, own) for concept in self._wanted]
        is_whole = all(mine or _has(concept, around) for concept, mine in zip(self._wanted, of_layer, strict=True))
        if is_whole:
            return 3.0 if all(of_layer) else 2.0 if any(of_layer) else 1.0
        return sum(of_layer) / (len(of_layer) + 1)


def _has(concept: Concept, line: str) -> bool:
    """Return whether a line of words has the words of a concept, or all its parts apart from each other."""
    if pattern_of((*concept.phrases, *_longer(concept))).search(line):
        return True
    return bool(concept.parts) and all(pattern_of(part).search(line) for part in concept.parts)


def _longer(concept: Concept) -> Iterator[Phrase]:
    if concept.may_go_on:
        yield from (Phrase(phrase.words, True) for phrase in concept.exact)
