"""`adaptive`: follow a topic defined by a few start pages (Min, Huang: User-defined topic focused crawler, 2015).

The m most frequent words over the seed pages, stop words out, are the axes of the vector space; each seed page is a
vector of word frequencies (TF, no IDF). The centroid M of the seeds' vectors is the topic, and the priority of a link
is cos(its page, M). A page whose cosine with any seed exceeds a threshold moves the centroid:
M' = (M·(n + u) + v)/(n + u + 1), for n seeds and u updates so far.

The paper leaves open, and this implementation decides:

- m = 500; words are stemmed terms (`text_terms`); TF is a share of the page's words, so that a long seed counts no more
  than a short one; the threshold is 0.5.
- A seed is a page of depth 0, including the page that a seed redirects to. A seed that cannot be read, or has no words,
  is not counted in n. If no seed was read before `BLIND_PAGES` other pages, `judge` raises an error.
- The axes are chosen when the first seed is read, and again with each further seed (seeds rank above all links, but a
  host's delay may let links of other hosts overtake them). The links of earlier seeds are then reranked.
- M is stored as the sum of the n + u vectors, whose running mean is the printed formula. A link that was ranked keeps
  its priority when M moves.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from geocrawl.errors import UsageError
from geocrawl.model import Document, Feedback, Judgement, Purpose, Rank
from geocrawl.ports import QueuedLink
from geocrawl.priority.ingredients import Defaults, Ingredients
from geocrawl.priority.options import Constant, Option, Preset, parse_options
from geocrawl.priority.text_terms import cosine, term_counts

NAME = "adaptive"
VERSION = 1
LINK_TIER = 1
SEED_TIER = 8
TIERS = {SEED_TIER: "start pages", LINK_TIER: "links, by nearness to the start pages"}
"""Tier → its name for people."""
BLIND_PAGES = 20
"""Pages other than seeds that one run judges without a topic before it ends with an error."""
PER_LEVEL = 0.1
"""Provisional score, per level of its page, of a link that another strategy enqueued."""
SEED_LINKS = 20_000
"""Links of seeds that are kept, to be reranked when another seed is read."""
_BATCH = 2_000
_NEW = -1
"""Placeholder for the frontier id of a seed that is judged and not settled yet."""

OPTIONS: Mapping[str, Option] = {
    "m": Option(500, "words that span the space, the most frequent of the seed pages", 1, 5_000),
    "hub": Option(0.6, "a page with more than this share of anchor text is a hub page: its anchors are its text", 0, 1),
    "correction": Option(0.5, "a page whose cosine with any seed exceeds this moves the centroid", 0, 1),
}
PRESETS: Mapping[str, Preset] = {
    "adaptive:paper": Preset(
        "the centroid of the seeds, corrected by pages that resemble them (Min & Huang 2015)",
        {
            "m": Constant(500, "the most frequent words over the seed pages, reduced to m", "m not printed"),
            "hub": Constant(0.6, "a hub page: anchor text is more than 0.6 of all text"),
            "correction": Constant(
                0.5, "M' = (M·(n + u) + v)/(n + u + 1) for a page near any seed", "threshold not printed"
            ),
        },
        (
            "TF is a word's share of the page's words, so that a long seed counts no more than a short one.",
            "The axes are chosen again with each further seed that is read, not once for all seeds.",
        ),
        {"max_pages": Constant(3_000, "3,000 pages")},
    )
}


class Adaptive(Defaults):
    """Pages near the centroid first. The topic is learnt from the seeds and corrected by pages that resemble them."""

    name = NAME
    by_yield = True
    needs = frozenset({"prose"})
    learns = True

    def __init__(self, options: Mapping[str, str]) -> None:
        """Read the options. Raises UsageError for a bad one."""
        values = parse_options(NAME, options, OPTIONS)
        self._m, self._hub, self._correction = int(values["m"]), float(values["hub"]), float(values["correction"])
        self._centroid = Centroid(self._m)
        self._links: dict[int, list[int]] = {}
        """Seed → the frontier ids of its links."""
        self._seed_came = False
        self._blind = 0

    def seed_rank(self) -> Rank:
        """Return a rank above all links, because the seeds are the topic."""
        return Rank(SEED_TIER)

    def judge(self, document: Document) -> Judgement:
        """Score the page and all its links by cos(page, M).

        The level is 2 for a page that moves the centroid, 1 from half that threshold. A seed is judged by the centroid
        that includes it.

        Raises UsageError when no seed could be read and so there is no topic.
        """
        counts = term_counts(page_words(document, self._hub))
        if document.depth == 0 and len(self._centroid.seeds) < MAX_SEEDS:
            return self._judge_seed(document, heaviest_words(counts))
        if not self._centroid.seeds:
            return self._judge_blind(document)
        vector = self._centroid.vector(counts)
        score = cosine(vector, self._centroid.total)
        near = self._centroid.nearest_seed(vector) > self._correction
        return _judgement(document, score, pack(vector) if near and document.depth > 0 else b"")

    def _judge_seed(self, document: Document, words: Mapping[str, int]) -> Judgement:
        if not words:
            return _judgement(document, 0.0, b"")
        score = self._centroid.with_seed(_NEW, words).of_seed(_NEW)
        return _judgement(document, score, pack(words))

    def _judge_blind(self, document: Document) -> Judgement:
        """Rank all links of a page equally while no seed was read yet: the seeds may still be in flight."""
        self._blind += 1
        if self._blind > BLIND_PAGES:
            raise UsageError(
                "adaptive learns its topic from the start pages, and none of them was read: "
                "give others (geocrawl crawl URL... --strategy adaptive) or choose another --strategy"
            )
        return _judgement(document, 0.0, b"")

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Rank a link that another strategy enqueued by the level of its page, the only known evidence."""
        return self.seed_rank() if waiting.depth == 0 else Rank(LINK_TIER, PER_LEVEL * waiting.page_relevance)

    def learn(self, feedback: Feedback) -> None:
        """Add a seed to the centroid; correct the centroid by a page near a seed."""
        if feedback.purpose is not Purpose.PAGE or not feedback.features:
            return
        words = unpack(feedback.features)
        if feedback.depth > 0:
            self._centroid.correct(words)
            return
        if feedback.entry_id not in self._centroid.seeds and len(self._centroid.seeds) >= MAX_SEEDS:
            return
        self._centroid = self._centroid.with_seed(feedback.entry_id, words)
        room = SEED_LINKS - sum(map(len, self._links.values()))
        self._links[feedback.entry_id] = [id_ for _, id_ in feedback.links][: max(room, 0)]
        self._seed_came = True

    def revise(self) -> Iterator[Sequence[tuple[int, Rank]]] | None:
        """Return new ranks for the links of all seeds after each new seed, which changes the axes; else None."""
        if not self._seed_came:
            return None
        self._seed_came = False
        scores: dict[int, float] = {}
        for seed, links in self._links.items():
            score = self._centroid.of_seed(seed)
            for link in links:
                scores[link] = max(score, scores.get(link, 0.0))
        ranks = [(link, Rank(LINK_TIER, score)) for link, score in scores.items() if link not in self._links]
        return (ranks[i : i + _BATCH] for i in range(0, len(ranks), _BATCH))

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return the numbers of seeds (n) and corrections (u), and the topic's heaviest words."""
        return {
            "seeds": len(self._centroid.seeds),
            "corrections": self._centroid.updates,
            "topic_words": self._centroid.heaviest(10),
            "seed": waiting.depth == 0,
        }

    def dump(self) -> bytes:
        """Return the seeds, the centroid and the seeds' links as JSON, bounded by `MAX_SEEDS`, m and `SEED_LINKS`."""
        state = {"centre": self._centroid.state(), "links": list(self._links.items()), "seed_came": self._seed_came}
        return json.dumps({"strategy": NAME, "version": VERSION, **state}, ensure_ascii=False).encode()

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises UsageError for a dump of another version."""
        if not state:
            return
        try:
            read = json.loads(state)
            if (read["strategy"], read["version"]) != (NAME, VERSION):
                raise ValueError(f"version {read['version']}")
            self._centroid = Centroid.of_state(read["centre"], self._m)
            self._links = {int(seed): [int(link) for link in links] for seed, links in read["links"]}
            self._seed_came = bool(read["seed_came"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"what adaptive learnt was stored by another version of geocrawl ({error}); crawl into a new --db"
            ) from error


def page_words(document: Document, hub: float) -> str:
    """Return the text that represents a page: its anchors if their share is above `hub`, else the other text."""
    everything = document.anchor_chars + len(document.prose)
    if document.anchor_chars > hub * everything:
        return "\n".join(link.anchor for link in document.links if link.anchor)
    return document.prose or document.text


def _judgement(document: Document, score: float, packed: bytes) -> Judgement:
    return Judgement(score, (Rank(LINK_TIER, score),) * len(document.links), packed)


def make(ingredients: Ingredients) -> Adaptive:
    """Make the strategy with its options."""
    return Adaptive(ingredients.options)


# --------------------------------------------------------------------------- the centroid
# `with_seed` returns a new centroid, `correct` changes a centroid in place. The result depends on the vectors and their
# order alone, so the same feedback results in the same centroid.


MAX_SEEDS = 50
"""Most seeds that define the topic; further ones are visited as pages. SkyReach offers up to 50 per topic, the paper
used 10.
"""
SEED_WORDS = 1_500
"""Number of most frequent words of a seed page that are kept."""


class Centroid:
    """The centroid M of n seed vectors and u corrections, stored as their sum, which has the direction of M."""

    def __init__(self, m: int) -> None:
        """Make an empty centroid; `m` is the number of words that span the space."""
        self._m = m
        self.seeds: dict[int, dict[str, float]] = {}
        """Frontier id → word → count, for the kept words of the seed page."""
        self._vectors: dict[int, dict[str, float]] = {}
        """Frontier id → the seed's vector in the space."""
        self._corrections: dict[str, float] = {}
        """Sum of the vectors that corrected the centroid."""
        self.updates = 0
        """u, the number of corrections."""
        self.space: frozenset[str] = frozenset()
        self.total: dict[str, float] = {}

    def with_seed(self, seed: int, words: Mapping[str, float]) -> Centroid:
        """Return the centroid with a further seed page (or a new version of one), in the space of all its seeds."""
        new = Centroid(self._m)
        new.seeds = {**self.seeds, seed: dict(words)}
        new._corrections, new.updates = dict(self._corrections), self.updates
        new._span()
        return new

    def _span(self) -> None:
        """Choose the axes and project seeds and corrections on them."""
        frequencies: Counter[str] = Counter()
        for words in self.seeds.values():
            for word, count in words.items():
                frequencies[word] += int(count)
        self.space = frozenset(sorted(frequencies, key=lambda word: (-frequencies[word], word))[: self._m])
        self._vectors = {seed: self.vector(words) for seed, words in self.seeds.items()}
        self._corrections = {word: value for word, value in self._corrections.items() if word in self.space}
        self.total = dict(self._corrections)
        for vector in self._vectors.values():
            self._add(self.total, vector)

    def vector(self, counts: Mapping[str, float]) -> dict[str, float]:
        """Return the vector of TF: a word's share of those words of the page that are axes."""
        inside = {word: count for word, count in counts.items() if word in self.space}
        size = sum(inside.values())
        return {word: count / size for word, count in inside.items()} if size else {}

    def mean(self) -> dict[str, float]:
        """Return the mean vector M of seeds and corrections (Min & Huang 2015)."""
        number = len(self.seeds) + self.updates
        return {word: value / number for word, value in self.total.items()} if number else {}

    def nearest_seed(self, vector: Mapping[str, float]) -> float:
        """Return the highest cosine with a seed's vector."""
        return max((cosine(vector, seed) for seed in self._vectors.values()), default=0.0)

    def of_seed(self, seed: int) -> float:
        """Return cos(seed page, M)."""
        return cosine(self._vectors[seed], self.total)

    def correct(self, vector: Mapping[str, float]) -> None:
        """Correct the centroid by a page's vector v: M' = (M·(n + u) + v)/(n + u + 1), v projected on the space."""
        inside = {word: value for word, value in vector.items() if word in self.space}
        self._add(self._corrections, inside)
        self._add(self.total, inside)
        self.updates += 1

    def heaviest(self, number: int) -> list[str]:
        """Return the `number` words with the highest weights in M."""
        return sorted(self.total, key=lambda word: (-self.total[word], word))[:number]

    def state(self) -> dict[str, Any]:
        """Return seeds, corrections and sum as JSON values, for `of_state`."""
        seeds = list(self.seeds.items())
        return {"seeds": seeds, "corrections": self._corrections, "total": self.total, "updates": self.updates}

    @classmethod
    def of_state(cls, state: Mapping[str, Any], m: int) -> Self:
        """Return the centroid whose `state` this is. Raises KeyError, TypeError or ValueError for another value."""
        centroid = cls(m)
        centroid.seeds = {int(seed): dict(words) for seed, words in state["seeds"]}
        centroid._corrections, centroid.updates = dict(state["corrections"]), int(state["updates"])
        centroid._span()
        if centroid.total.keys() == state["total"].keys():
            # The stored sum restores every bit: the order of additions matters. With another m it is computed again.
            centroid.total = dict(state["total"])
        return centroid

    @staticmethod
    def _add(total: dict[str, float], vector: Mapping[str, float]) -> None:
        for word, value in vector.items():
            total[word] = total.get(word, 0.0) + value


def heaviest_words(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the most frequent words of a page, at most `SEED_WORDS`."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SEED_WORDS])


def pack(words: Mapping[str, float]) -> bytes:
    """Return words and their numbers as compressed JSON, a few KiB."""
    return zlib.compress(json.dumps(words, ensure_ascii=False).encode())


def unpack(packed: bytes) -> dict[str, float]:
    """Return the words that `pack` packed, with exact numbers."""
    words: dict[str, float] = json.loads(zlib.decompress(packed))
    return words
