"""Rank services by words: BM25 over weighted fields (BM25F), then by soundness.

Robertson, Zaragoza and Taylor (2004), "Simple BM25 extension to multiple weighted fields": occurrences in several
fields add up before they saturate. An occurrence counts once a field, since fields of a catalogue are short or repeat
themselves; the title's weight falls with its length, as in BM25, so that `Water` beats a title of ten words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from geocrawl.model.catalogue import SIDES, Box
from geocrawl.query.places import Place, likeness, sides_of
from geocrawl.store.catalogue.search.plan import Concept
from geocrawl.store.catalogue.search.port import Phrase, SearchIndex
from geocrawl.store.catalogue.search.snapshot import Flags, Snapshot

Scores = NDArray[np.float32]
Fit = NDArray[np.float64]

_K1: Final = 4.0
_B: Final = 0.6
_FIELDS: Final = ((("title",), 5.0), (("keywords", "layers"), 2.0), ((), 1.0))
"""Columns and their weights; those without a name are all columns: what the abstract, the provider, a link or the
address says weighs 1, and a word of the title weighs 5 more."""
_SIMILAR: Final = 0.8
"""Weight of a word that means the same as a word of the query, whose own weight is 1."""
_SIMILAR_WORDS: Final = 0.88
"""Weight of a phrase of several words that means the same: it says more than one word."""
_OWN: Final = 0.6
"""Share of what a word of the query is rarer than all that mean the same that services with the word gain; so do maps
of a whole continent among those of its parts."""
_LEAST_IDF: Final = 0.2
_APART: Final = 0.6
"""Weight of the words of a phrase that occur apart from each other."""
_BEGINNING: Final = 0.65
"""Weight of a longer word that begins with a word of the query."""
_WITHIN_LONGER: Final = 0.5
"""Weight of a longer word that holds a word of the query and otherwise consists of known words."""
_LEAST_TO_GO_ON: Final = 6
"""Fewest letters of a word whose longer words are asked for, whatever they go on with: `karte` begins Kartell."""
_SHORT: Final = 400
"""Most words of texts in which an occurrence counts in full."""
_LONG_TEXTS: Final = 0.5
"""How fast the weight of an occurrence falls with the length of the texts."""
_TOGETHER: Final = 0.3
"""Gain of words that stand together as they were typed: a share of the score of the most telling one."""
_PLACE: Final = 1.5
"""Weight of a place: who names one wants no other."""
_WEAK: Final = 0.15
"""Weight of a word that need not occur."""
_SOUNDNESS: Final = 0.12
"""Share of a score that soundness decides."""


_FIT: Final = 0.5
"""Share of a score that the fit of extents to the box of a filter decides."""
_INSIDE: Final = 2 / 3
"""Share of the fit that the part of the extent within the box decides; its likeness to the box decides the rest."""

_SAME: Final = 10.0
"""Strength of an extent that is exactly a place's box: as much as the place's name in a short title."""
_WITHIN: Final = 1.5
"""Strength of an extent that lies within a place's box."""
_LIKE_ALL_OF_IT: Final = 4.0
"""Least strength of an extent that is like the whole place, not like a part of it."""
_OF_COUNTRY: Final = 1.0
"""Strength of a service of a country that is named, whatever its extent."""
_ELSEWHERE: Final = 0.3
"""Share of the strength that is left to a service of another country."""
_ALIKE: Final = 0.2
"""Least likeness (intersection over union) of an extent and a place's box."""
_HALF: Final = 0.5
"""Least share of an extent that lies within a place's box."""


@dataclass(frozen=True, slots=True)
class ConceptMatch:
    """Where a concept occurs."""

    scores: Scores
    """Score of the service at each position; 0 where the concept does not occur."""
    weight: float
    """How telling the concept is: its inverse document frequency."""


def match_concept(concept: Concept, index: SearchIndex, snapshot: Snapshot, *, goes_on: bool = False) -> ConceptMatch:
    """Return where a concept occurs and how well. `goes_on`: longer words are asked for, too."""
    several = tuple(phrase for phrase in concept.similar if len(phrase.words) > 1)
    single = tuple(phrase for phrase in concept.similar if len(phrase.words) == 1)
    # What means the same is often there in two spellings (landuse, land use), which say no more than one.
    exact = _strength(concept.exact, index, snapshot)
    strength = exact + np.maximum(
        _SIMILAR_WORDS * _strength(several, index, snapshot), _SIMILAR * _strength(single, index, snapshot)
    )
    if concept.parts:
        np.maximum(strength, _APART * _all_of(concept.parts, index, snapshot), out=strength)
    if goes_on and concept.may_go_on:
        longer = _BEGINNING * _strength(_longer(concept.exact[:1]), index, snapshot)
        np.maximum(strength, longer, out=strength)
        np.maximum(strength, _WITHIN_LONGER * _strength(concept.compounds, index, snapshot), out=strength)
        np.maximum(strength, _SIMILAR * _BEGINNING * _strength(_longer(concept.similar), index, snapshot), out=strength)
    found, weight = strength / (_K1 + strength), 1.0
    own = exact / (_K1 + exact)
    if concept.places:
        strength = _of_places(concept.places, snapshot)
        own = _joined(found, np.where(strength >= _LIKE_ALL_OF_IT, strength, 0))
        found = _joined(found, strength)
        weight = _PLACE
    weight *= _WEAK if concept.is_weak else 1.0
    idf = _idf(found, snapshot)
    scores = idf * found
    if _has_narrower_sense(concept):
        scores += _OWN * max(_idf(own, snapshot) - idf, 0.0) * own
    return ConceptMatch((weight * (_K1 + 1) * scores).astype(np.float32), weight * idf)


def _has_narrower_sense(concept: Concept) -> bool:
    """Return whether some of what a concept finds is more what was asked for than the rest: the word itself among all
    that mean the same, a map of the whole continent among all that lie in it."""
    if concept.places:
        return any(not place.country for place in concept.places)
    return bool(concept.similar)


def _joined(found: Scores, strength: Scores) -> Scores:
    """Return what was found (0 to 1) by one sign, raised by the strength of another one."""
    joined: Scores = found + (1 - found) * strength / (_K1 + strength)
    return joined


def _idf(found: Scores, snapshot: Snapshot) -> float:
    """Return the inverse document frequency of what was found at some positions; 1 for nothing."""
    services = int(np.count_nonzero(found))
    if not services:
        return 1.0
    return max(math.log(1 + (snapshot.services - services + 0.5) / (services + 0.5)), _LEAST_IDF)


def match_together(phrase: Phrase, weight: float, index: SearchIndex, snapshot: Snapshot) -> Scores:
    """Return what services gain in which words stand together as they were typed; `weight`: of the most telling one."""
    strength = _strength((phrase,), index, snapshot)
    return (_TOGETHER * weight * (_K1 + 1) * strength / (_K1 + strength)).astype(np.float32)


def with_soundness(scores: Scores, snapshot: Snapshot) -> Scores:
    """Return scores lowered for services of little soundness."""
    return (scores * (1 - _SOUNDNESS + _SOUNDNESS * snapshot["soundness"])).astype(np.float32)


def with_fit(scores: Scores, fit: Fit) -> Scores:
    """Return scores lowered for services whose extents fit a box little."""
    return (scores * (1 - _FIT + _FIT * fit)).astype(np.float32)


def fit_of(boxes: Sequence[Box], snapshot: Snapshot) -> Fit:
    """Return how well the extents of services fit the best of some boxes, 0 to 1: what lies within one comes before
    what has it as a part of the whole world. Boxes and extents may cross the antimeridian."""
    west, south, east, north = (np.asarray(snapshot[side], np.float64) for side in SIDES)
    crosses = west > east
    extents = np.stack([west, south, np.where(crosses, east + 360, east), north])
    found = np.zeros(snapshot.count)
    for box in boxes:
        begin, end = box[0], box[2] + (360 if box[0] > box[2] else 0)
        for turn in (0, *((-360,) if end > 180 else ()), *((360,) if crosses.any() else ())):
            sides = sides_of([(begin + turn, box[1], end + turn, box[3])])
            alike, inside = likeness(extents, sides)
            np.maximum(found, _INSIDE * inside + (1 - _INSIDE) * alike, out=found)
    return found


def all_and_most(concepts: Sequence[Concept], matched: Sequence[ConceptMatch]) -> tuple[Flags, Flags]:
    """Return for each position whether all the concepts that must occur do, and whether most of them do: by number at
    least half, by weight at least half of those that occur anywhere."""
    needed = [match for concept, match in zip(concepts, matched, strict=True) if not concept.is_weak]
    occurs = [match.scores > 0 for match in needed]
    number = np.sum(occurs, axis=0)
    weight = np.sum([flags * match.weight for flags, match in zip(occurs, needed, strict=True)], axis=0)
    whole: Flags = number == len(needed)
    total = sum(match.weight for match in needed if match.scores.any())
    most: Flags = (number * 2 >= len(needed)) & (weight >= 0.5 * total)
    return whole, most


def of_places(concepts: Sequence[Concept], matched: Sequence[ConceptMatch]) -> Flags:
    """Return for each position whether the service is of every place that is named."""
    found = [match.scores > 0 for concept, match in zip(concepts, matched, strict=True) if concept.places]
    every: Flags = np.all(found, axis=0) if found else np.ones(len(matched[0].scores), np.bool_)
    return every


def _strength(phrases: Sequence[Phrase], index: SearchIndex, snapshot: Snapshot) -> Scores:
    """Return for each position in which fields one of the phrases occurs: the sum of their weights."""
    found = np.zeros(snapshot.count, np.float32)
    for columns, weight in _FIELDS[::-1] if phrases else ():
        positions = snapshot.positions(index.match(phrases, columns))
        if not len(positions) and not columns:
            return found
        length = snapshot["title_words" if columns == ("title",) else "words"][positions]
        found[positions] += weight * (_by_length(length) if columns == ("title",) else _by_all_words(length))
    return found


def _all_of(parts: Sequence[Sequence[Phrase]], index: SearchIndex, snapshot: Snapshot) -> Scores:
    """Return for each position how strongly all of several words occur, as strongly as the weakest of them."""
    found: Scores = np.minimum.reduce([_strength(part, index, snapshot) for part in parts])
    return found


def _of_places(places: Sequence[Place], snapshot: Snapshot) -> Scores:
    """Return how well the extents of services fit one of the places: alike, or at least half within; less where a
    service is of another country."""
    extents = np.stack([snapshot[side] for side in SIDES])
    found = np.zeros(snapshot.count, np.float32)
    for place in places:
        owner = snapshot.names["country"].find(place.country) if place.country else 0
        here = np.zeros(snapshot.count, np.float32)
        for box in place.boxes:
            alike, within = likeness(extents, sides_of([box]))
            fits = alike >= _HALF if place.is_world else (alike >= _ALIKE) | (within >= _HALF)
            np.maximum(here, np.where(fits, _WITHIN + (_SAME - _WITHIN) * alike, 0), out=here)
        if place.country:
            countries = snapshot["country"]
            here[(countries != owner) & (countries > 0)] *= _ELSEWHERE
            if place.is_country:
                np.maximum(here, np.where(countries == owner, _OF_COUNTRY, 0), out=here)
        np.maximum(found, here, out=found)
    return found


def _by_length(words: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the weight of an occurrence in titles of so many words; 1 for one of four words."""
    found: NDArray[np.float32] = (1 / (1 - _B + _B * words / 4)).astype(np.float32)
    return found


def _by_all_words(words: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the weight of an occurrence in texts of so many words; 1 up to a few hundred. What a service of thousands
    of layers says of one theme is little of it."""
    found: NDArray[np.float32] = np.minimum(1.0, _SHORT / np.maximum(words, 1)).astype(np.float32) ** _LONG_TEXTS
    return found


def _longer(phrases: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """Return phrases whose last word may go on, of those that do not end in a short word or a single character."""
    found, beginnings = list[Phrase](), set[tuple[str, ...]]()
    for words, is_prefix in sorted(phrases, key=lambda each: len(each.words[-1])):
        *before, last = words
        starts = [(*before, last[:length]) for length in range(_LEAST_TO_GO_ON, len(last) + 1)]
        if starts and not is_prefix and beginnings.isdisjoint(starts):
            found.append(Phrase(words, is_prefix=True))
            beginnings.add(words)
    return tuple(found)
