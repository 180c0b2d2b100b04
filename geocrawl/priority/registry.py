"""Strategies by name. Only the one that is made is imported, so naming them costs nothing.

To add one: a line in `strategies`, a place in `_PLACES`, and how it is made in `_MAKERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import UsageError

if TYPE_CHECKING:
    from geocrawl.ports import Strategy
    from geocrawl.priority.options import Option
    from geocrawl.priority.topics.directory import Topic
    from geocrawl.priority.topics.topic_vectors import TopicModel
    from geocrawl.priority.vectors.tfidf import TextModel

TOPIC_FILE = "gws_topic.json"
LINKS_FILE = "gws_links.json"
VECTORS_FILE = "topic_vectors.json"
BAYES_FILE = "bayes_links.json"
PRIOR_FILE = "fusion_prior.json"


def strategies() -> Mapping[str, str]:
    """Name → one line for people, the default first."""
    return {
        "fusion": "the value of a link, learnt during the crawl from all evidence at once",
        "gws": "best-first by the words of page and link (Shen et al. 2015)",
        "best-first": "best-first by the similarity of page and anchor with the topic",
        "best-first-page": "best-first by the similarity of the page alone",
        "best-first-anchor": "best-first by the similarity of the anchor alone",
        "best-n-first": "like best-first, the best N at once",
        "hits": "best-first by page, anchor and link structure, HITS (Liu & Li 2017)",
        "adaptive": "by nearness to the start pages, whatever their topic (Min & Huang 2015)",
        "ipagerank": "PageRank along the links whose words are near the topic (SkyReach)",
        "pagerank": "plain PageRank, the rival of ipagerank",
        "bayes": "naive Bayes over the words in and around a link (Han et al. 2010)",
        "bfs": "breadth-first, the papers' generic crawler",
        "random": "any waiting page, drawn by a hash of its URL",
    }


def strategy_options(name: str) -> Mapping[str, Option]:
    """What `--set NAME.OPTION=VALUE` takes for a strategy; empty when nothing. Raises UsageError for an unknown one."""
    _check(name)
    module, options = _PLACES[name]
    found: Mapping[str, Option] = getattr(import_module(f"geocrawl.priority.{module}"), options)
    return found


@dataclass(frozen=True, slots=True)
class Parts:
    """What a strategy may be made of."""

    name: str
    options: Mapping[str, str]
    models: Path
    topic: Topic | None

    def text_model(self) -> TextModel:
        """The topic's text model: the chosen topic's, else the shipped one."""
        from geocrawl.priority.models.files import read_vectors

        base = read_vectors(self.models / VECTORS_FILE)
        if self.topic is None:
            return base
        from geocrawl.priority.topics.directory import text_model

        return text_model(self.topic, base)

    def keywords(self) -> TopicModel:
        """The topic's keywords: the chosen topic's, else the trained ones."""
        if self.topic is not None:
            from geocrawl.priority.topics.directory import keyword_model

            return keyword_model(self.topic, self.text_model())
        from geocrawl.priority.models.files import read_topic

        return read_topic(self.models / TOPIC_FILE)


def make_strategy(
    name: str, options: Mapping[str, str], models_dir: Path | None = None, topic: Topic | None = None
) -> Strategy:
    """The strategy called `name` with the options people set (`gws.lambda` → text).

    `models_dir` holds the models' files; None takes the shipped ones. `topic`: one that people chose; its sample texts
    stand in for the trained topic. Raises UsageError for an unknown name, an option of no strategy, or a bad value;
    EnvironmentFault for a model that cannot be read.
    """
    _check(name)
    for key in options:
        if key.partition(".")[0] not in strategies():
            raise UsageError(f"unknown option {key}: an option is STRATEGY.NAME, STRATEGY one of {_known()}")
    from geocrawl.priority.models.files import shipped_models

    trained = topic is None or topic.shipped_model
    return _MAKERS[name](Parts(name, options, models_dir or shipped_models(), None if trained else topic))


def _gws(parts: Parts) -> Strategy:
    from geocrawl.priority.gws import GwsStrategy
    from geocrawl.priority.models.files import read_links

    return GwsStrategy(parts.keywords(), read_links(parts.models / LINKS_FILE), parts.options)


def _best_first(parts: Parts) -> Strategy:
    from geocrawl.priority.best_first import BestFirst

    return BestFirst(parts.name, parts.text_model(), parts.options)


def _hits(parts: Parts) -> Strategy:
    from geocrawl.priority.hits import HitsStrategy

    return HitsStrategy(parts.text_model(), parts.options)


def _pagerank(parts: Parts) -> Strategy:
    from geocrawl.priority.pagerank import PageRankStrategy

    return PageRankStrategy(parts.options)


def _ipagerank(parts: Parts) -> Strategy:
    from geocrawl.priority.ipagerank import IPageRankStrategy, title_weight
    from geocrawl.priority.text.thesaurus import TopicWords, shipped_thesaurus
    from geocrawl.priority.topics.page_filter import PageFilter

    thesaurus, weight = shipped_thesaurus(), title_weight(parts.options)
    words = TopicWords(thesaurus, {word for vector in parts.keywords().vectors.values() for word in vector})
    page_filter = None if weight is None else PageFilter(parts.text_model(), thesaurus, title_weight=weight)
    return IPageRankStrategy(words, page_filter, parts.options)


def _adaptive(parts: Parts) -> Strategy:
    from geocrawl.priority.adaptive import Adaptive

    return Adaptive(parts.options)


def _bayes(parts: Parts) -> Strategy:
    from geocrawl.priority.bayes.strategy import BayesStrategy, model_file
    from geocrawl.priority.models.naive_bayes import read_bayes

    named = model_file(parts.options)
    if named is None and parts.topic is not None:
        from geocrawl.priority.bayes.topic import topic_model
        from geocrawl.priority.topics.directory import all_topics

        return BayesStrategy(topic_model(parts.topic, all_topics().values(), parts.keywords()), parts.options)
    return BayesStrategy(read_bayes(named or parts.models / BAYES_FILE), parts.options)


def _fusion(parts: Parts) -> Strategy:
    from geocrawl.priority.fusion.prior import read_prior
    from geocrawl.priority.fusion.strategy import FusionStrategy, prior_file
    from geocrawl.priority.fusion.word_models import WordModels
    from geocrawl.priority.models.files import read_links
    from geocrawl.priority.models.naive_bayes import read_bayes

    prior = read_prior(prior_file(parts.options) or parts.models / PRIOR_FILE)
    bayes = read_bayes(parts.models / BAYES_FILE) if parts.topic is None else None
    words = WordModels(parts.text_model(), bayes)
    return FusionStrategy(parts.keywords(), read_links(parts.models / LINKS_FILE), words, prior.weights, parts.options)


def _bfs(parts: Parts) -> Strategy:
    from geocrawl.priority.breadth_first import BreadthFirst

    return BreadthFirst(parts.options)


def _random(parts: Parts) -> Strategy:
    from geocrawl.priority.random_order import Random

    return Random(parts.options)


_PLACES: Mapping[str, tuple[str, str]] = {
    "gws": ("gws", "OPTIONS"),
    "best-first": ("best_first", "OPTIONS"),
    "best-first-page": ("best_first", "OPTIONS"),
    "best-first-anchor": ("best_first", "OPTIONS"),
    "best-n-first": ("best_first", "N_OPTIONS"),
    "hits": ("hits", "OPTIONS"),
    "adaptive": ("adaptive", "OPTIONS"),
    "ipagerank": ("ipagerank", "OPTIONS"),
    "pagerank": ("pagerank", "OPTIONS"),
    "bayes": ("bayes.strategy", "OPTIONS"),
    "fusion": ("fusion.strategy", "OPTIONS"),
    "bfs": ("breadth_first", "OPTIONS"),
    "random": ("random_order", "OPTIONS"),
}
"""Name → the module in this room, and the name of its options there."""

_MAKERS: Mapping[str, Callable[[Parts], Strategy]] = {
    "gws": _gws,
    "best-first": _best_first,
    "best-first-page": _best_first,
    "best-first-anchor": _best_first,
    "best-n-first": _best_first,
    "hits": _hits,
    "adaptive": _adaptive,
    "ipagerank": _ipagerank,
    "pagerank": _pagerank,
    "bayes": _bayes,
    "fusion": _fusion,
    "bfs": _bfs,
    "random": _random,
}


def _check(name: str) -> None:
    if name not in strategies():
        from geocrawl.priority.options import did_you_mean

        raise UsageError(f"unknown strategy {name!r}{did_you_mean(name, strategies())} (known: {_known()})")


def _known() -> str:
    return ", ".join(strategies())
