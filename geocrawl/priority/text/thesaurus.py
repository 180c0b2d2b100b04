"""Measure the similarity of words to the topic, for RW of IPageRank, by a thesaurus (`data/thesaurus.toml`).

Similarity as the paper requires: synonyms 1, near words 0.5 to 1, far words below 0.5.

- Words of one group are synonyms, in English and Chinese alike; words of two groups of one family have the similarity
  of the family.
- Words of similar form are near, too: Latin words if one begins with the other, or both share a stem of at least four
  letters that is most of both (layer, layering); Chinese words if one contains the other (地图服务器, 地图).
  The longer the common part, the nearer.
- Everyday expressions with a word of the topic (site map, 网站地图) do not count.
- All others are far: at most 0.49, by the pairs of letters they share (Dice).

The topic's words are the keywords of the trained topic. sim(t, topic) is the highest similarity with any of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources

from geocrawl.model import Kind
from geocrawl.priority.text.keywords import Keywords
from geocrawl.priority.text.terms import has_han

FAR = 0.49
"""Highest similarity of words that share letters only."""
LEAST_STEM = 4
MOST_OF_BOTH = 0.7
REMEMBERED = 50_000
_LATIN = re.compile("[a-z\u00df-\u024f][a-z0-9\u00df-\u024f]+")


class Thesaurus:
    """Groups of synonyms in families of near words, and misleading expressions."""

    def __init__(
        self, families: Iterable[tuple[float, Iterable[Iterable[str]]]], misleading: Iterable[str] = ()
    ) -> None:
        """Build the thesaurus.

        `families`: for each family the similarity of its groups (0.5…1) and the groups. `misleading`: expressions in
        which no word counts. Raises ValueError for another similarity.
        """
        self.misleading = frozenset(misleading)
        self.groups: list[frozenset[str]] = []
        self._senses: dict[str, list[tuple[int, int, float]]] = {}
        for family, (near, groups) in enumerate(families):
            if not 0.5 <= near <= 1.0:
                raise ValueError(f"near = {near}: near words have a similarity from 0.5 to 1")
            for group in groups:
                self.groups.append(frozenset(word.lower() for word in group))
                for word in self.groups[-1]:
                    self._senses.setdefault(word, []).append((family, len(self.groups), near))

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self._senses)

    def similarity(self, a: str, b: str) -> float:
        """Return the similarity of two words in lower case, 0…1, symmetric; an expression counts as a word."""
        if a == b:
            return 1.0
        meant = max(
            (
                1.0 if mine[1] == other[1] else mine[2]
                for mine in self._senses.get(a, ())
                for other in self._senses.get(b, ())
                if mine[0] == other[0]
            ),
            default=0.0,
        )
        return max(meant, form_similarity(a, b))


@lru_cache(maxsize=1)
def shipped_thesaurus() -> Thesaurus:
    """Return the thesaurus that comes with geocrawl."""
    text = resources.files("geocrawl").joinpath("data/thesaurus.toml").read_text("utf-8")
    data = tomllib.loads(text)
    listed = {word for family in data["family"].values() for group in family["groups"] for word in group}
    data["family"]["standard"]["groups"] += [(str(kind), *kind.called) for kind in Kind if str(kind) not in listed]
    families = ((family["near"], family["groups"]) for family in data["family"].values())
    return Thesaurus(families, data["misleading"]["expressions"])


def form_similarity(a: str, b: str) -> float:
    """Return how similar two words look: 1 for equal words, 0.5…1 with a common stem, else at most 0.49. Symmetric."""
    short, long_ = sorted((a, b), key=lambda word: (len(word), word))
    share = len(short) / len(long_) if long_ else 1.0
    if has_han(short) and len(short) >= 2 and short in long_:
        return 0.5 + 0.5 * share
    stem = _common_prefix(short, long_)
    if short.isascii() and long_.isascii() and " " not in long_ and stem >= LEAST_STEM:
        common = stem / len(long_)
        if common >= MOST_OF_BOTH:
            return 0.5 + 0.5 * common
    return 1.0 if a == b else FAR * _dice(a, b)


class TopicWords:
    """Computes sim(t, topic) of words, and its maximum over a text."""

    def __init__(self, thesaurus: Thesaurus, topic: Iterable[str]) -> None:
        """Make measures for a topic given by its words in lower case."""
        self._thesaurus = thesaurus
        self._topic = sorted(set(topic))
        expressions = [w for w in {*self._topic, *thesaurus.words} if has_han(w) or not w.isalnum()]
        self._expressions = Keywords(expressions)
        self._misleading = re.compile("|".join(map(re.escape, sorted(thesaurus.misleading))) or r"(?!)")
        self._word = lru_cache(maxsize=REMEMBERED)(self._of_word)
        self._text = lru_cache(maxsize=REMEMBERED)(self._of_text)

    def of_word(self, word: str) -> float:
        """Return sim(t, topic), 0…1, the maximum over the topic's words."""
        return self._word(word.lower())

    def of_text(self, text: str) -> float:
        """Return the highest sim(t, topic) of the words t of `text`, 0 without words.

        Chinese is not split into words: only words of the thesaurus and the topic can be near, and a search finds
        these.
        """
        return self._text(text)

    def best_word(self, text: str) -> str:
        """Return the word with the similarity `of_text`, the first of equals; '' without words."""
        return max(self._words(text), key=self.of_word, default="")

    def _of_word(self, word: str) -> float:
        return max((self._thesaurus.similarity(word, topic) for topic in self._topic), default=0.0)

    def _of_text(self, text: str) -> float:
        return max(map(self._word, self._words(text)), default=0.0)

    def _words(self, text: str) -> Mapping[str, None]:
        lower = self._misleading.sub(" ", text.lower())
        return dict.fromkeys([*_LATIN.findall(lower), *self._expressions.found_in(lower)])


def _common_prefix(a: str, b: str) -> int:
    for place, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return place
    return min(len(a), len(b))


def _dice(a: str, b: str) -> float:
    """Return the Dice coefficient of the pairs of letters: 2·|common pairs| / |all pairs|."""
    pairs_a, pairs_b = {a[i : i + 2] for i in range(len(a) - 1)}, {b[i : i + 2] for i in range(len(b) - 1)}
    total = len(pairs_a) + len(pairs_b)
    return 2.0 * len(pairs_a & pairs_b) / total if total else 0.0
