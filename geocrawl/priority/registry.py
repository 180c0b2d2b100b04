"""Strategies by name. Only the one that is made is imported, so naming them costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import UsageError

if TYPE_CHECKING:
    from geocrawl.ports import Strategy
    from geocrawl.priority.options import Option

TOPIC_FILE = "gws_topic.json"
LINKS_FILE = "gws_links.json"


def strategies() -> Mapping[str, str]:
    """Name → one line for people, the default first."""
    return {
        "gws": "best-first by the words of page and link (Shen et al. 2015)",
        "bfs": "breadth-first, the papers' generic crawler",
        "random": "any waiting page, drawn by a hash of its URL",
    }


def strategy_options(name: str) -> Mapping[str, Option]:
    """What `--set NAME.OPTION=VALUE` takes for a strategy; empty when nothing. Raises UsageError for an unknown one."""
    _check(name)
    if name == "gws":
        from geocrawl.priority.gws import OPTIONS

        return OPTIONS
    from geocrawl.priority.baselines import BFS_OPTIONS, RANDOM_OPTIONS

    return {"bfs": BFS_OPTIONS, "random": RANDOM_OPTIONS}[name]


def make_strategy(name: str, options: Mapping[str, str], models_dir: Path | None = None) -> Strategy:
    """The strategy called `name` with the options people set (`gws.lambda` → text).

    `models_dir` holds gws_topic.json and gws_links.json; None takes the shipped ones. Raises UsageError for an unknown
    name, an option of no strategy, or a bad value; EnvironmentFault for a model that cannot be read.
    """
    _check(name)
    for key in options:
        if key.partition(".")[0] not in strategies():
            raise UsageError(f"unknown option {key}: an option is STRATEGY.NAME, STRATEGY one of {_known()}")
    if name == "gws":
        from geocrawl.priority.gws import GwsStrategy
        from geocrawl.priority.models import read_links, read_topic, shipped_models

        folder = models_dir or shipped_models()
        return GwsStrategy(read_topic(folder / TOPIC_FILE), read_links(folder / LINKS_FILE), options)
    from geocrawl.priority.baselines import BreadthFirst, Random

    return BreadthFirst(options) if name == "bfs" else Random(options)


def _check(name: str) -> None:
    if name not in strategies():
        from geocrawl.priority.options import did_you_mean

        raise UsageError(f"unknown strategy {name!r}{did_you_mean(name, strategies())} (known: {_known()})")


def _known() -> str:
    return ", ".join(strategies())
