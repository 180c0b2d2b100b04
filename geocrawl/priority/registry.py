"""Make strategies by name: `STRATEGIES` declares each once, and a strategy's module is imported when needed.

To add a strategy: its file, which defines `OPTIONS` and `make`, and one line in `STRATEGIES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from geocrawl.errors import UsageError

if TYPE_CHECKING:
    from geocrawl.ports import Strategy
    from geocrawl.priority.options import Option
    from geocrawl.priority.topics.directory import Topic


class Declaration(NamedTuple):
    """One strategy: `make(Ingredients)` of its module returns it."""

    summary: str
    """One line for people."""
    module: str
    """The strategy's module in `geocrawl.priority`."""
    options: str = "OPTIONS"
    """Name of the mapping of options in the strategy's module."""


STRATEGIES: Mapping[str, Declaration] = {
    "fusion": Declaration("the value of a link, learnt during the crawl from all evidence at once", "fusion.strategy"),
    "gws": Declaration("best-first by the words of page and link (Shen et al. 2015)", "gws"),
    "best-first": Declaration("best-first by the similarity of page and anchor with the topic", "best_first"),
    "best-first-page": Declaration("best-first by the similarity of the page alone", "best_first"),
    "best-first-anchor": Declaration("best-first by the similarity of the anchor alone", "best_first"),
    "best-n-first": Declaration("like best-first, the best N at once", "best_first", "N_OPTIONS"),
    "hits": Declaration("best-first by page, anchor and link structure, HITS (Liu & Li 2017)", "hits"),
    "adaptive": Declaration("by nearness to the start pages, whatever their topic (Min & Huang 2015)", "adaptive"),
    "ipagerank": Declaration("PageRank along the links whose words are near the topic (SkyReach)", "ipagerank"),
    "pagerank": Declaration("plain PageRank, which ipagerank is compared with", "pagerank"),
    "bayes": Declaration("naive Bayes over the words in and around a link (Han et al. 2010)", "bayes.strategy"),
    "bfs": Declaration("breadth-first, the papers' generic crawler", "breadth_first"),
    "random": Declaration("any waiting page, drawn by a hash of its URL", "random_order"),
}
"""Name → strategy, the default first."""


def strategies() -> Mapping[str, str]:
    """Return name → one line for people, the default first."""
    return {name: declared.summary for name, declared in STRATEGIES.items()}


def strategy_options(name: str) -> Mapping[str, Option]:
    """Return the options that `--set NAME.OPTION=VALUE` accepts for a strategy; may be empty.

    Raises UsageError for an unknown strategy.
    """
    declared = _declared(name)
    options: Mapping[str, Option] = getattr(_module_of(declared), declared.options)
    return options


def make_strategy(
    name: str, options: Mapping[str, str], models_dir: Path | None = None, topic: Topic | None = None
) -> Strategy:
    """Make the strategy called `name` with the options people set (`gws.lambda` → text).

    `models_dir` is the folder of the models' files; None means the shipped ones. The sample texts of `topic`, if given,
    replace the trained topic. Raises UsageError for an unknown name, an option of no strategy, or a bad value;
    EnvironmentFault for a model that cannot be read.
    """
    declared = _declared(name)
    for key in options:
        if key.partition(".")[0] not in STRATEGIES:
            raise UsageError(f"unknown option {key}: an option is STRATEGY.NAME, STRATEGY one of {_known()}")
    from geocrawl.priority.ingredients import Ingredients
    from geocrawl.priority.models.files import shipped_models

    trained = topic is None or topic.shipped_model
    ingredients = Ingredients(name, options, models_dir or shipped_models(), None if trained else topic)
    made: Strategy = _module_of(declared).make(ingredients)
    return made


def _module_of(declared: Declaration) -> Any:
    return import_module(f"geocrawl.priority.{declared.module}")


def _declared(name: str) -> Declaration:
    if name not in STRATEGIES:
        from geocrawl.priority.options import did_you_mean

        raise UsageError(f"unknown strategy {name!r}{did_you_mean(name, STRATEGIES)} (known: {_known()})")
    return STRATEGIES[name]


def _known() -> str:
    return ", ".join(STRATEGIES)
