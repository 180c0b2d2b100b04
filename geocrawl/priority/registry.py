"""Make strategies by name: `STRATEGIES` declares each once, and a strategy's module is imported when needed.

To add a strategy: its file, which defines `OPTIONS` and `make`, and one line in `STRATEGIES`. A preset is a strategy
with a paper's constants (`gws:paper`): its name in the strategy's line, its constants in `PRESETS` of the module.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from geocrawl.errors import UsageError
from geocrawl.model import BATCH_TIER, HARVEST_TIER, LATE_TIER
from geocrawl.priority.options import SEPARATOR, Option, Preset, Value, did_you_mean, parse_options

if TYPE_CHECKING:
    from geocrawl.ports import LevelMeasure, Strategy
    from geocrawl.priority.topics import Topic


class Declaration(NamedTuple):
    """One strategy: `make(Ingredients)` of its module returns it."""

    summary: str
    """One line for people."""
    module: str
    """The strategy's module in `geocrawl.priority.strategies`."""
    options: str = "OPTIONS"
    """Name of the mapping of options in the strategy's module."""
    presets: tuple[str, ...] = ()
    """Names of its presets; "paper" is STRATEGY:paper in `PRESETS` of the module."""
    tiers: str = ""
    """Module with `TIERS` where it is another one, so that `status` need not load the strategy."""


_PAPER = ("paper",)
STRATEGIES: Mapping[str, Declaration] = {
    "fusion": Declaration(
        "the value of a link, learnt during the crawl from all evidence at once",
        "fusion.strategy",
        tiers="fusion",
    ),
    "gws": Declaration("best-first by the words of page and link (Shen et al. 2015)", "gws", presets=_PAPER),
    "best-first": Declaration(
        "best-first by the similarity of page and anchor with the topic", "best_first", presets=_PAPER
    ),
    "best-first-page": Declaration(
        "best-first by the similarity of the page alone", "best_first", presets=(*_PAPER, "gain", "chi2")
    ),
    "best-first-anchor": Declaration("best-first by the similarity of the anchor alone", "best_first", presets=_PAPER),
    "best-n-first": Declaration("like best-first, the best N at once", "best_first", "N_OPTIONS", _PAPER),
    "hits": Declaration("best-first by page, anchor and link structure, HITS (Liu & Li 2017)", "hits", presets=_PAPER),
    "adaptive": Declaration(
        "by nearness to the start pages, whatever their topic (Min & Huang 2015)", "adaptive", presets=_PAPER
    ),
    "ipagerank": Declaration(
        "PageRank along the links whose words are near the topic (SkyReach)", "ipagerank", presets=_PAPER
    ),
    "pagerank": Declaration("plain PageRank, which ipagerank is compared with", "pagerank", presets=_PAPER),
    "bayes": Declaration(
        "naive Bayes over the words in and around a link (Han et al. 2010)",
        "bayes",
        presets=(*_PAPER, "anchors", "pages"),
    ),
    "bfs": Declaration("breadth-first, the papers' generic crawler", "breadth_first"),
    "random": Declaration("any waiting page, drawn by a hash of its URL", "random_order"),
}
"""Name → strategy, the default first."""


_OF_ALL = {
    HARVEST_TIER: "pages of records, for a harvest",
    BATCH_TIER: "the best of all hosts, visited as one batch",
    LATE_TIER: "addresses of patterns without finds, visited last",
}
"""Tiers above and below those of every strategy."""


def strategies() -> Mapping[str, str]:
    """Return name → one line for people, the default first."""
    return {name: declared.summary for name, declared in STRATEGIES.items()}


def presets() -> Mapping[str, Preset]:
    """Return STRATEGY:PRESET → the preset, in the order of the strategies."""
    names = (f"{name}{SEPARATOR}{preset}" for name, declared in STRATEGIES.items() for preset in declared.presets)
    return {name: preset for name in names if (preset := _preset(name)) is not None}


def setup_of(name: str) -> Mapping[str, Value]:
    """Return setting → its value in the paper's crawls, of a preset; empty for a strategy.

    Raises UsageError for an unknown name.
    """
    preset = _preset(name)
    return {} if preset is None else {setting: constant.value for setting, constant in preset.setup.items()}


def strategy_options(name: str) -> Mapping[str, Option]:
    """Return the options that `--set NAME.OPTION=VALUE` accepts for a strategy; may be empty.

    Raises UsageError for an unknown strategy.
    """
    declared = STRATEGIES[_strategy_of(name)]
    options: Mapping[str, Option] = getattr(_module(declared.module), declared.options)
    return options


def discards_zero(name: str, options: Mapping[str, str]) -> bool:
    """Return whether a strategy or preset discards links of priority 0 (gws eq. 4)."""
    return name.partition(SEPARATOR)[0] == "gws" and bool(strategy_values(name, options)["drop_zero"])


def tier_names(name: str, options: Mapping[str, str]) -> Mapping[int, str]:
    """Return tier → its name for people, of a strategy or preset with the options that people set.

    Tiers that are sub-queues, as those of gws, have no names, nor have those of an unknown strategy, but for those that
    are above or below every strategy's.
    """
    declared = STRATEGIES.get(name.partition(SEPARATOR)[0])
    if declared is None:
        return _OF_ALL
    module = _module(declared.tiers or declared.module)
    named: Mapping[int, str] = (
        module.tier_names(_with_preset(name, options)) if hasattr(module, "tier_names") else module.TIERS
    )
    return {**_OF_ALL, **named}


def strategy_values(name: str, options: Mapping[str, str]) -> Mapping[str, Value]:
    """Return option → value of a strategy or preset with the options people set.

    Raises UsageError for an unknown name or a bad value.
    """
    return parse_options(_strategy_of(name), _with_preset(name, options), strategy_options(name))


def make_strategy(
    name: str,
    options: Mapping[str, str],
    models_dir: Path | None = None,
    topic: Topic | None = None,
    max_depth: int | None = None,
) -> Strategy:
    """Make the strategy or preset called `name` with the options people set (`gws.lambda` → text).

    An option that people set replaces that of the preset; `gws:paper.lambda` is for that preset alone. `models_dir` is
    the folder of the models' files; None means the shipped ones. The sample texts of `topic`, if given, replace the
    trained topic. `max_depth` is the crawl's limit of depth, None for none. Raises UsageError for an unknown name, an
    option of no strategy, or a bad value; EnvironmentFault for a model that cannot be read.
    """
    strategy = _strategy_of(name)
    for key in options:
        _demand_owner(key)
    from geocrawl.priority.ingredients import Ingredients
    from geocrawl.priority.models import shipped_models

    given = _with_preset(name, options)
    ingredients = Ingredients(strategy, given, models_dir or shipped_models(), _untrained(topic), max_depth)
    made: Any = _module(STRATEGIES[strategy].module).make(ingredients)
    if name != strategy:
        made.name = name
    strategy_made: Strategy = made
    return strategy_made


def make_levels(topic: Topic | None) -> LevelMeasure:
    """Return the measure of levels for a strategy that has none of its own. Raises EnvironmentFault for a model that
    cannot be read."""
    from geocrawl.priority.ingredients import Ingredients
    from geocrawl.priority.models import shipped_models

    return Ingredients("", {}, shipped_models(), _untrained(topic)).levels()


def _untrained(topic: Topic | None) -> Topic | None:
    """Return a topic whose sample texts replace the trained models; None for one that they were trained on."""
    return None if topic is None or topic.shipped_model else topic


def _with_preset(name: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return the preset's options, replaced by those of its strategy, these by those of the preset alone."""
    preset, strategy = _preset(name), _strategy_of(name)
    if preset is None:
        return dict(options)
    own = {
        f"{strategy}.{option}": value
        for key, value in options.items()
        for owner, _, option in [key.partition(".")]
        if owner == name
    }
    return {**preset.options(strategy), **options, **own}


def _demand_owner(key: str) -> None:
    """Raise UsageError unless the part of `key` before the dot is a strategy or a preset."""
    owner = key.partition(".")[0]
    strategy, separator, preset = owner.partition(SEPARATOR)
    known = STRATEGIES.get(strategy)
    if known is None or (separator and preset not in known.presets):
        raise UsageError(f"unknown option {key}: an option is STRATEGY.NAME, STRATEGY one of {_known()}")


def _module(name: str) -> Any:
    return import_module(f"geocrawl.priority.strategies.{name}")


def _preset(name: str) -> Preset | None:
    """Return the preset called `name`, None for the name of a strategy. Raises UsageError for an unknown name."""
    strategy = _strategy_of(name)
    if name == strategy:
        return None
    preset: Preset = _module(STRATEGIES[strategy].module).PRESETS[name]
    return preset


def _strategy_of(name: str) -> str:
    """Return the strategy of a strategy's or preset's name. Raises UsageError, naming a similar name, for another."""
    strategy, separator, preset = name.partition(SEPARATOR)
    if strategy not in STRATEGIES:
        raise UsageError(f"unknown strategy {name!r}{did_you_mean(name, STRATEGIES)} (known: {_known()})")
    known = STRATEGIES[strategy].presets
    if separator and preset not in known:
        names = ", ".join(f"{strategy}{SEPARATOR}{preset_name}" for preset_name in known) or "none"
        raise UsageError(f"unknown preset {name!r} (known presets of {strategy}: {names})")
    return strategy


def _known() -> str:
    return ", ".join(STRATEGIES)
