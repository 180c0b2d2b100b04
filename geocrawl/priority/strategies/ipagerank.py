"""`ipagerank`: rank pages by PageRank along links on the topic (Li, Zhao, Yu: the "SkyReach" crawler).

IPR(A) = (1 − d) + d · Σ over T→A of IPR(T) · RW(url_{T,A}) / Σ over T's links i of RW(url_{T,i}), over the pages read
so far and the links that wait. RW(url) = max over the words t of M(url) of sim(t, topic) when that is at least c, else
0; M(url) is the anchor and the text behind it on every page that links to the URL, so RW(url) is the maximum over
these pages. Higher predictions come first; a link below the threshold is cut.

The paper leaves open (ours): sim is that of `Thesaurus`; until the next iteration a new link has the value that
its page would pass on with the mean rank of the pages read (1 at the start); the text behind a link ends with its
block; a redirect passes its rank on to its target. The default threshold, 1 − d, cuts pages to which no link on the
topic leads. A link that is cut waits in tier 0, after all others, unless `ipagerank.drop` is set: that is how a crawl
crosses the paper's *tunnels*, irrelevant pages between topic clusters. In tier 0, links from pages of high rank with
few links come first, by x = Σ over T→A of IPR(T)/C(T) (linkage locality, as the paper observes it), scaled to (1 −
d)·x/(1 + x), below every IPR.
"""

from __future__ import annotations

import heapq
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources

import numpy as np

from geocrawl.model import Document, Feedback, Judgement, Kind, Link, Rank
from geocrawl.ports import QueuedLink
from geocrawl.priority.codec import pack_link_values, unpack_link_values
from geocrawl.priority.graph_strategy import GraphStrategy, graph_constants, graph_options
from geocrawl.priority.ingredients import Ingredients
from geocrawl.priority.link_graph import Floats, LinkGraph, even_shares, ipagerank
from geocrawl.priority.models import shipped_models
from geocrawl.priority.options import Constant, Option, Preset, parse_options
from geocrawl.priority.text_terms import Keywords, TextModel, has_han, term_counts
from geocrawl.priority.topics import Topic

# --------------------------------------------------------------------------- the thesaurus
# Measure the similarity of words to the topic, for RW of IPageRank, by a thesaurus (`data/thesaurus.toml`).
#
# Similarity as the paper requires: synonyms 1, near words 0.5 to 1, far words below 0.5.
#
# - Words of one group are synonyms, in English and Chinese alike; words of two groups of one family have the similarity
#   of the family.
# - Words of similar form are near, too: Latin words if one begins with the other, or both share a stem of at least four
#   letters that is most of both (layer, layering); Chinese words if one contains the other (地图服务器, 地图).
#   The longer the common part, the nearer.
# - Everyday expressions with a word of the topic (site map, 网站地图) do not count.
# - All others are far: at most 0.49, by the pairs of letters they share (Dice).
#
# The topic's words are the keywords of the trained topic. sim(t, topic) is the highest similarity with any of them.


FAR = 0.49
"""Highest similarity of words that share letters only."""
LEAST_STEM = 4
MOST_OF_BOTH = 0.7
REMEMBERED = 16_384
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


# --------------------------------------------------------------------------- the strategy


# --------------------------------------------------------------------------- the page filter
# The filter computes the cosine of the page's keywords with the topic vector (VSM). Words of the title, the most likely
# headline, get a higher weight; those of its summary, keywords and metadata count like those of its text (3.5). The
# topic vector prunes and expands the page's keywords, in a way that the paper does not state (ours): besides the words
# of the topic only the `STRONGEST` heaviest other words remain, so that a long page is not dominated by other words;
# and a synonym (of `Thesaurus`) of a word of the topic counts as that word.
# The threshold is the topic model's own, for the pages that a crawl keeps (`--store-pages`) and for `ipagerank.filter`
# alike.


STRONGEST = 100
TITLE_WEIGHT = 3.0
"""Weight of a word in the title, one in the text has 1 (ours; the paper does not print it)."""


class PageFilter:
    """Judges pages by title, text and what their metadata say of them."""

    def __init__(
        self,
        model: TextModel,
        thesaurus: Thesaurus,
        *,
        title_weight: float = TITLE_WEIGHT,
        threshold: float | None = None,
    ) -> None:
        """Make a filter; `title_weight` is the weight of a word in the title (1 in the text).

        `threshold`: similarity of a page on the topic; None: above the topic model's threshold.
        """
        self._model = model
        self._threshold = math.nextafter(model.threshold, 1.0) if threshold is None else threshold
        self._title_weight = title_weight
        self._topic = frozenset(term for topic in model.topics.values() for term in topic)
        self._expansions = _expansions(thesaurus, self._topic)

    def score(self, document: Document) -> float:
        """Return the cosine of a page with the topic, 0…1."""
        return self.similarity(document.headline or document.title, f"{document.summary} {document.text}")

    def kept_score(self, document: Document) -> float | None:
        """Return the cosine, 0…1, of a page on the topic, None for any other."""
        score = self.score(document)
        return score if score >= self._threshold else None

    def similarity(self, title: str, text: str) -> float:
        """Return the cosine, 0…1, of the page's pruned and expanded keywords with the nearest topic vector."""
        counts: dict[str, float] = {term: float(count) for term, count in term_counts(text).items()}
        for term, count in term_counts(title).items():
            counts[term] = counts.get(term, 0.0) + self._title_weight * count
        idf = self._model.idf
        weights = {t: (1.0 + math.log(count)) * idf[t] for t, count in counts.items() if t in idf}
        weights = self._expanded(self._pruned(weights))
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        return self._model.nearness({t: weight / length for t, weight in weights.items()}) if length else 0.0

    def _pruned(self, weights: Mapping[str, float]) -> dict[str, float]:
        others = ((weight, term) for term, weight in weights.items() if term not in self._topic)
        strongest = {term for _, term in heapq.nlargest(STRONGEST, others)}
        return {t: weight for t, weight in weights.items() if t in self._topic or t in strongest}

    def _expanded(self, weights: dict[str, float]) -> dict[str, float]:
        expanded = dict(weights)
        for term, weight in weights.items():
            for synonym in self._expansions.get(term, ()):
                if synonym not in weights:
                    expanded[synonym] = max(weight, expanded.get(synonym, 0.0))
        return expanded


def make_page_filter(topic: Topic | None, threshold: float) -> PageFilter:
    """Return the filter for a topic, None for the trained one; with 0 the threshold is the topic model's.

    Raises EnvironmentFault when the model cannot be read.
    """
    trained = topic is None or topic.shipped_model
    model = Ingredients("", {}, shipped_models(), None if trained else topic).text_model()
    return PageFilter(model, shipped_thesaurus(), threshold=threshold or None)


def _expansions(thesaurus: Thesaurus, topic: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    """Return term → its synonyms among the topic's terms; only synonyms of a single term count."""
    found: dict[str, tuple[str, ...]] = {}
    for group in thesaurus.groups:
        terms = sorted({term for word in group if len(counts := term_counts(word)) == 1 for term in counts})
        for term in terms:
            meant = tuple(other for other in terms if other != term and other in topic)
            if meant:
                found[term] = (*found.get(term, ()), *meant)
    return found


NAME = "ipagerank"
FOLLOWED, LAST = 1, 0
"""Tiers: links above the threshold; links at or below it."""
TIERS = {FOLLOWED + 1: "start pages", FOLLOWED: "links above the threshold", LAST: "links below the threshold"}
"""Tier → its name for people."""
OPTIONS: Mapping[str, Option] = {
    "d": Option(0.85, "d, the share of a page's rank that its links pass on", 0.0, 0.99),
    "c": Option(0.5, "c, words of a link less similar to the topic than this do not count", 0.0, 1.0),
    "threshold": Option(
        -1.0,
        "a link predicted at or below this is cut; −1: 1 − d, which every page has to which no RW leads",
        -1.0,
        1e9,
    ),
    "drop": Option(False, "drop links that are cut, as the paper; else they are served last"),
    "tunnels": Option(True, "links that are cut wait in the order of their pages' rank; else first seen first"),
    "filter": Option(False, "judge pages by the page filter, which is off in the paper's comparison"),
    "title": Option(
        TITLE_WEIGHT, "weight of a word of the title in the page filter, one of the text has 1", 1.0, 100.0
    ),
    **graph_options("q", change=0.05),
}
PRESETS: Mapping[str, Preset] = {
    "ipagerank:paper": Preset(
        "IPageRank as printed, the higher prediction first (Li, Zhao, Yu: SkyReach)",
        {
            "d": Constant(0.85, "IPR(A) = (1 − d) + d · Σ IPR(T)·RW(A)/Σ RW(i)"),
            "c": Constant(
                0.5, "RW = max sim(t, topic) when at least c, else 0", "c not printed; near words are 0.5 to 1"
            ),
            "threshold": Constant(
                0.0,
                "links below the threshold are cut",
                "not printed; 0 cuts nothing, since an IPR is at least 1 − d, and −1 (1 − d) ends a crawl early",
            ),
            "drop": Constant(True, "links below the threshold are cut"),
            "tunnels": Constant(False, "no other order than by IPR: a link with RW = 0 has 1 − d"),
            "filter": Constant(False, "the page filter is off in the paper's comparison"),
            "title": Constant(3.0, "words of the title are weighted up (page filter)", "by how much is not printed"),
            **graph_constants("q"),
        },
        (
            "Similarity of words comes from our thesaurus in English and Chinese and from common stems.",
            "Our directory has 10 topics with 24 seeds each and follows no library classification; the paper has up to "
            "50 seeds a topic.",
            "A page whose links all have RW = 0 passes nothing on; waiting links have an IPR, too.",
            "Links with RW = 0 all have the IPR 1 − d. Hosts whose best links are equal take turns; the paper's one "
            "queue of URLs has no hosts.",
            "RW belongs to an address, not to one link: it is the maximum over the metadata of all pages that link "
            "there.",
        ),
        {"max_pages": Constant(4_000, "figures to 4,000 pages")},
    )
}


def title_weight(options: Mapping[str, str]) -> float | None:
    """Return the weight of a title's word in the page filter, None when the filter is off.

    Raises UsageError for a bad option.
    """
    values = parse_options(NAME, options, OPTIONS)
    return float(values["title"]) if values["filter"] else None


class IPageRankStrategy(GraphStrategy):
    """Ranks links by the improved PageRank of SkyReach."""

    name = NAME
    by_yield = True

    def __init__(self, words: TopicWords, page_filter: PageFilter | None, options: Mapping[str, str]) -> None:
        """Read the `options` that people set (see `OPTIONS`). Without `page_filter` pages are not judged.
        Raises UsageError for a bad option."""
        values = parse_options(NAME, options, OPTIONS)
        self._d, self._c = float(values["d"]), float(values["c"])
        self._threshold, self._drop = float(values["threshold"]), bool(values["drop"])
        if self._threshold < 0.0:
            self._threshold = 1.0 - self._d
        self._tunnels = bool(values["tunnels"])
        self._words, self._filter = words, page_filter
        if page_filter is not None:
            self.needs = frozenset({"headline"})
        self._begin(values, "q", worth="ipr")

    def seed_rank(self) -> Rank:
        """Return a rank above all links."""
        return Rank(FOLLOWED + 1, 1.0)

    def judge(self, document: Document) -> Judgement:
        """Rank each link by what a typical page passes on by RW; score the page by the page filter, else 0."""
        weights = [self._rw(link) for link in document.links]
        best: dict[str, float] = {}
        for link, weight in zip(document.links, weights, strict=True):
            if link.url.identity != document.url.identity:
                best[link.url.identity] = max(weight, best.get(link.url.identity, 0.0))
        total = sum(best.values())
        share = self._d * self._typical / total if total else 0.0
        tunnel = self._tunnel(self._typical / max(len(best), 1))
        ranks = tuple(self._rank(1.0 - self._d + share * weight if weight else tunnel) for weight in weights)
        score = 0.0 if self._filter is None else self._filter.score(document)
        return Judgement(score, ranks, pack_link_values(score, best.items()))

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Rank a link that another strategy enqueued by its IPR, else as its page's only link on the topic."""
        if waiting.depth == 0:
            return self.seed_rank()
        rw, known = self._rw_of(waiting.anchor), self._value_of(waiting.id, "ipr")
        if known is not None:
            return self._rank(known)
        return self._rank(1.0 - self._d + self._d * rw if rw else self._tunnel(0.0))

    def learn(self, feedback: Feedback) -> None:
        """Add the page's links to the graph with their RW; iterate IPageRank every q pages."""
        weights = [1.0] * len(feedback.links)  # a redirect has one link
        if feedback.features:
            values = unpack_link_values(feedback.features)
            weights = [values.of(identity) for identity, _ in feedback.links]
        self._add(feedback, weights)

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return the anchor's word nearest to the topic, the anchor's rw, ipr (None before an iteration), c and d."""
        return {
            "word": self._words.best_word(waiting.anchor),
            "rw": round(self._rw_of(waiting.anchor), 4),
            "ipr": self._value_of(waiting.id, "ipr"),
            "c": self._c,
            "d": self._d,
            "seed": waiting.depth == 0,
        }

    def _rw(self, link: Link) -> float:
        """Return RW of a link on this page alone, by its anchor and the text behind it."""
        behind = link.context[link.before :]
        return self._rw_of(f"{link.anchor} {behind}" if behind else link.anchor)

    def _rw_of(self, text: str) -> float:
        similarity = self._words.of_text(text)
        return similarity if similarity >= self._c else 0.0

    def _scores(self, graph: LinkGraph) -> Floats:
        """Iterate (from 1, later from the last values) and return IPR of every node, or its tunnel score with RW 0."""
        matrix, rw = graph.matrix(), graph.best_weights()
        values = ipagerank(matrix, rw, graph.values("ipr", 1.0), d=self._d)
        graph.node_values["ipr"] = values
        if not self._tunnels:
            return values
        shares = even_shares(matrix, values)
        scores: Floats = np.where(rw > 0.0, values, (1.0 - self._d) * shares / (1.0 + shares))
        return scores

    def _tunnel(self, share: float) -> float:
        """Return the score of a link with RW 0 that receives `share` of its pages' values: below 1 − d with tunnels."""
        return (1.0 - self._d) * (share / (1.0 + share) if self._tunnels else 1.0)

    def _rank(self, score: float) -> Rank | None:
        if score > self._threshold + 1e-9:
            return Rank(FOLLOWED, score)
        return None if self._drop else Rank(LAST, score)


def make(ingredients: Ingredients) -> IPageRankStrategy:
    """Make the strategy with the shipped thesaurus, the topic's keywords and, if wanted, the page filter."""
    thesaurus, weight = shipped_thesaurus(), title_weight(ingredients.options)
    words = TopicWords(thesaurus, {word for vector in ingredients.keywords().vectors.values() for word in vector})
    page_filter = None if weight is None else PageFilter(ingredients.text_model(), thesaurus, title_weight=weight)
    return IPageRankStrategy(words, page_filter, ingredients.options)
