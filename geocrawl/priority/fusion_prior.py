"""The weights that fusion starts from, as a file: feature name → weight, and the record of how they were learnt."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from geocrawl.errors import EnvironmentFault, UsageError

VERSION = 1
_FORMAT = "geocrawl-fusion-prior"


@dataclass(frozen=True, slots=True)
class Prior:
    """Weights by feature name."""

    weights: Mapping[str, float]
    made: Mapping[str, object] = field(default_factory=dict)


def read_prior(path: Path) -> Prior:
    """The weights in `path`. Raises EnvironmentFault when it cannot be read, UsageError when it holds none."""
    try:
        data = json.loads(path.read_text("utf-8"))
        if (data["format"], data["version"]) != (_FORMAT, VERSION):
            raise ValueError(f"{data['format']} {data['version']}, this geocrawl reads {_FORMAT} {VERSION}")
        weights = {str(name): float(weight) for name, weight in data["weights"].items()}
        if not all(map(math.isfinite, weights.values())):
            raise ValueError("a weight is no number")
        return Prior(weights, dict(data["made"]))
    except OSError as error:
        raise EnvironmentFault(f"the model {path} cannot be read: {error.strerror or error}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"the model {path} is no weights of fusion ({type(error).__name__}: {error})") from error


def write_prior(prior: Prior, path: Path) -> None:
    """Write the weights, farthest from 0 first. Raises EnvironmentFault when `path` cannot be written."""
    order = sorted(prior.weights, key=lambda name: (-abs(prior.weights[name]), name))
    weights = {name: round(prior.weights[name], 4) for name in order}
    data = {"format": _FORMAT, "version": VERSION, "made": prior.made, "weights": weights}
    try:
        path.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise EnvironmentFault(f"the model {path} cannot be written: {error.strerror or error}") from error
