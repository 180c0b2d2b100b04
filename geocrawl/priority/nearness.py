"""Measure how near page and link are to the topic: topic vectors, link keywords, levels of both (gws eq. 2, 3)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from geocrawl.model import Document, Relevance
from geocrawl.priority.text_terms import Hint, Keywords

# --------------------------------------------------------------------------- pages
# There is one vector for each language, with n keywords each, and a page's r is the highest of its cosines with these
# vectors. One joint vector would cap r: a page in English has no Chinese words, so even a perfect page would reach only
# the share of the English keywords, and never the threshold 0.68. Chinese pages leave WMS, OGC and the names of
# operations in Latin letters, so these words are in both vectors.


MOST_WEIGHT = 0.65
"""Largest weight of one keyword in a topic vector of length 1 by default: below the 0.68 of gws eq. 2."""


@dataclass(frozen=True, slots=True)
class TopicModel:
    """The trained topic: language → keywords with their weights (TF-IDF), and the record of the training."""

    vectors: Mapping[str, Mapping[str, float]]
    made: Mapping[str, object] = field(default_factory=dict)
    standard: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The vectors that are chosen among all words of the WMS standard, everyday ones such as "map" too, with the IDF of
    pages on the topic alone."""

    def capped(self, most: float) -> TopicModel:
        """Return the topic with the heaviest keyword of each vector at most `most` of the vector's length (ours).

        The relevance r of a page that contains only one keyword is that keyword's weight. With the cap no single word
        makes a page highly relevant: a warehouse has a "WMS" too. 1 caps nothing, and so does a vector of one keyword.
        """
        vectors = {language: _capped(vector, most) for language, vector in self.vectors.items()}
        return TopicModel(vectors, self.made, self.standard)


class Nearness(NamedTuple):
    """The nearness of a page to the topic."""

    r: float
    """cos(T, P), 0…1, of the nearest language."""
    language: str
    """The language whose vector is nearest; '' when no keyword was found."""


class TopicMeasure:
    """Measures the nearness of pages to the topic by a topic model."""

    def __init__(self, model: TopicModel, title_weight: float) -> None:
        """Make measures; `title_weight`, 0…1, is the title's share in the page vector (gws: a fixed mix)."""
        self._keywords = Keywords({word for vector in model.vectors.values() for word in vector})
        self._vectors = {language: _normalised(vector) for language, vector in model.vectors.items()}
        self._title_weight = title_weight

    def nearness(self, title: str, text: str) -> Nearness:
        """Return r = cos(T, P), the highest over the languages."""
        page = page_vector(self._keywords, title, text, self._title_weight)
        best = Nearness(0.0, "")
        if page:
            for language, vector in self._vectors.items():
                r = _cosine(vector, page)
                if r > best.r:
                    best = Nearness(r, language)
        return best


def page_vector(keywords: Keywords, title: str, text: str, title_weight: float) -> dict[str, float]:
    """Return the page vector P: for each keyword found, the mix of its relative frequencies in title and body.

    Frequencies are occurrences per character of the title or the text: that length needs no splitting into words and
    works for every script.
    """
    vector: dict[str, float] = {}
    for part, weight in ((title, title_weight), (text, 1.0 - title_weight)):
        if not part or not weight:
            continue
        words = keywords.found_in(part)
        for word in dict.fromkeys(words):
            vector[word] = vector.get(word, 0.0) + weight * words.count(word) / len(part)
    return vector


def _capped(vector: Mapping[str, float], most: float) -> Mapping[str, float]:
    first = max(vector, key=lambda word: vector[word], default="")
    rest = math.sqrt(sum(weight * weight for word, weight in vector.items() if word != first))
    if most >= 1.0 or not rest:
        return vector
    return {**vector, first: min(vector[first], most / math.sqrt(1.0 - most * most) * rest)}


def _normalised(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(weight * weight for weight in vector.values()))
    return {word: weight / length for word, weight in vector.items()} if length else {}


def _cosine(topic: Mapping[str, float], page: Mapping[str, float]) -> float:
    """Return the cosine in the space of the topic's keywords; `topic` has length 1, other words are ignored."""
    product = squares = 0.0
    for word, frequency in page.items():
        weight = topic.get(word)
        if weight is not None:
            product += weight * frequency
            squares += frequency * frequency
    return min(product / math.sqrt(squares), 1.0) if squares > 0.0 else 0.0


# --------------------------------------------------------------------------- links
# A word in a URL begins and ends at any character that is no letter, and within camel case (`getWMS`, `WMSServer`). So
# "wms" is found in `/wms130`, `service%3Dwms` and `WMSServer`, "gis" in `gis.example.org` and `my_gis`, neither in
# `swms.html`, `register` or `logistics`. Names that end in -gis (arcgis, qgis …) are separate words in the model.


_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Boundary between words of camel case: get|WMS, WMS|Server."""


@dataclass(frozen=True, slots=True)
class LinkModel:
    """The trained link words, in lower case, and the record of the training."""

    keywords: Mapping[str, tuple[str, ...]]
    """Words of level 2: language → its k link keywords, the most frequent first."""
    abbreviations: tuple[str, ...]
    """Words of level 1 in eq. 3."""
    made: Mapping[str, object] = field(default_factory=dict)
    standard: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Language → its k most frequent words that are no abbreviations, words of ordinary links too."""
    wider: tuple[str, ...] = ()
    """More words of level 1, which are no abbreviations (ours)."""


class LinkMatch(NamedTuple):
    """A link's level and the words that determined the level."""

    level: Relevance
    words: tuple[str, ...]


_NO_MATCH = LinkMatch(Relevance.NONE, ())


class LinkMeasure:
    """Determines the level of links by a link model."""

    def __init__(self, model: LinkModel, both: Relevance = Relevance.HIGH) -> None:
        """Make measures; `both` is the level of a link keyword that is also a word of level 1 (wms, ows)."""
        keywords = {word for words in model.keywords.values() for word in words}
        some = (*model.abbreviations, *model.wider)
        self._levels = {
            **dict.fromkeys(some, Relevance.SOME),
            **dict.fromkeys(keywords, Relevance.HIGH),
            **dict.fromkeys(keywords.intersection(some), both),
        }
        self._words = Keywords(self._levels)
        self._hint = Hint(self._levels)

    def match(self, address: str, anchor: str) -> LinkMatch:
        """Return the level by gws eq. 3: 2 with a link keyword in URL or anchor, 1 with an abbreviation, else 0."""
        text = f"{unquote(address) if '%' in address else address} {anchor}"
        if not self._hint.is_in(text.lower()):  # most links: skips the search for word boundaries
            return _NO_MATCH
        words = dict.fromkeys(self._words.found_in(text))
        if (apart := split_camel_case(text)) != text:
            words |= dict.fromkeys(self._words.found_in(apart))
        level = max((self._levels[word] for word in words), default=Relevance.NONE)
        return LinkMatch(level, tuple(word for word in words if self._levels[word] == level))


def split_camel_case(text: str) -> str:
    """Return `text` with a space between the words of camel case: "getWMS" becomes "get WMS"."""
    return _CAMEL.sub(" ", text)


# --------------------------------------------------------------------------- levels
# They mean the same under every strategy, and whoever needs those of a page shares one measure.


HIGH, LOW = 0.68, 0.01
"""Least r of levels 2 and 1 (gws eq. 2)."""
REMEMBERED_LINKS = 8_192
"""Links whose level is cached: a site's navigation is on each of its pages."""


class Nearest(NamedTuple):
    """The level of a page, and what determined it."""

    level: Relevance
    r: float
    """cos(T, P), 0…1."""


class Levels:
    """Measures the levels of pages (gws eq. 2) and of links (eq. 3)."""

    def __init__(
        self,
        topic: TopicModel,
        links: LinkModel,
        *,
        high: float = HIGH,
        low: float = LOW,
        title_weight: float = 0.5,
        both: Relevance = Relevance.HIGH,
        seed_level: Relevance = Relevance.NONE,
    ) -> None:
        """Make the measure. `seed_level`: least level of a start page; the others as in `TopicMeasure` and
        `LinkMeasure`."""
        self._topic = TopicMeasure(topic, title_weight)
        self._high, self._low, self._seed_level = high, low, seed_level
        self.match = lru_cache(maxsize=REMEMBERED_LINKS)(LinkMeasure(links, both).match)
        """Returns the level of a link by its address and text, with the words that determined it."""
        self._last: tuple[Document, Nearest] | None = None

    def nearest(self, document: Document) -> Nearest:
        """Return the level of a page, with its r; of the page that was measured last at no cost."""
        if self._last is None or self._last[0] is not document:
            r = self._topic.nearness(document.title, document.text).r
            level = self.level(r)
            self._last = document, Nearest(max(level, self._seed_level) if document.depth == 0 else level, r)
        return self._last[1]

    def level(self, r: float) -> Relevance:
        """Return the level of a page by gws eq. 2: 2 when r ≥ 0.68, 1 when 0.01 ≤ r < 0.68, else 0."""
        return Relevance.HIGH if r >= self._high else Relevance(int(r >= self._low))

    def page(self, document: Document) -> Relevance:
        """Return the level of a page."""
        return self.nearest(document).level

    def link(self, address: str, anchor: str) -> Relevance:
        """Return the level of a link by gws eq. 3."""
        return self.match(address, anchor).level
