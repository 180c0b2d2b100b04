"""Learn the weights that fusion starts from on recorded webs in rounds: `geocrawl train fusion`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from geocrawl import __version__
from geocrawl.errors import UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.lab.recorded_worlds.walk import read_web
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.lab.training.fusion_examples import DISCOUNT, HORIZON, examples
from geocrawl.lab.training.fusion_fit import PENALTY, Worth, fit
from geocrawl.priority.registry import make_strategy
from geocrawl.priority.strategies.fusion.strategy import FusionStrategy
from geocrawl.priority.strategies.fusion.value_model import Prior, write_prior
from geocrawl.settings import Settings
from geocrawl.wording import day_of


def train_fusion_file(
    worlds: Sequence[Path], out: Path, *, rounds: int, tell: Callable[[str], None]
) -> Mapping[str, object]:
    """Crawl the webs `rounds` times, each time with the weights learnt so far, and write the weights to `out`.

    Returns the record of the training. `tell` is called with a line for each round. Raises UsageError when a folder is
    no recorded web or no link on it is worth anything, EnvironmentFault when a file cannot be read or written.
    """
    if not worlds:
        raise UsageError("nothing to learn from: name folders of `geocrawl world make`")
    recorded = [World(path) for path in worlds]
    taken: list[Worth] = []
    weights: Mapping[str, float] = {}
    for number in range(rounds):
        for place, world in enumerate(recorded):
            taken += examples(read_web(world), fusion_with(weights), number * len(recorded) + place)
        weights = fit(taken)
        tell(f"round {number + 1} of {rounds}: {len(taken):,} links, {len(weights)} weights")
    made = {
        "how": "logistic regression on links that waited in crawls of recorded webs (geocrawl train fusion)",
        "date": day_of(SystemClock().now()),
        "geocrawl": __version__,
        "files": [{"file": _called(world), "sha256": world.sha256} for world in recorded],
        "options": {
            "rounds": rounds,
            "max_depth": Settings().max_depth,
            "discount": DISCOUNT,
            "horizon": HORIZON,
            "penalty": PENALTY,
        },
        "links": len(taken),
    }
    write_prior(Prior(weights, made), out)
    return made


def fusion_with(weights: Mapping[str, float]) -> FusionStrategy:
    """Return fusion with these weights and the shipped models."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-train-") as folder:
        file = Path(folder) / "weights.json"
        write_prior(Prior(weights), file)
        strategy = make_strategy("fusion", {"fusion.prior": str(file)}, max_depth=Settings().max_depth)
    assert isinstance(strategy, FusionStrategy), "by its name"
    return strategy


def _called(world: World) -> str:
    """Return how the web was made, if its files state that, else its name."""
    generator: Any = world.meta.get("generator")
    script = generator.get("script") if isinstance(generator, dict) else None
    return f"{world.name}: {script}" if script else world.name
