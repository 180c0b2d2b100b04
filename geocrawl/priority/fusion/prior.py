"""Read and write the weights that fusion starts from: feature name → weight, and the record of their training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from geocrawl.priority.models.json_file import Format, malformed, read_model, write_model

PRIOR_FILE = "fusion_prior.json"
"""Name of the file in a folder of models."""
_FORMAT = Format("geocrawl-fusion-prior", "geocrawl train fusion")


@dataclass(frozen=True, slots=True)
class Prior:
    """Weights by feature name, and the record of their training."""

    weights: Mapping[str, float]
    made: Mapping[str, object] = field(default_factory=dict)


def read_prior(path: Path) -> Prior:
    """Return the weights in `path`. Raises EnvironmentFault for an unreadable file, UsageError for another content."""
    data = read_model(path, _FORMAT)
    try:
        weights = {str(name): float(weight) for name, weight in data["weights"].items()}
        if not all(map(math.isfinite, weights.values())):
            raise ValueError("a weight is no number")
        return Prior(weights, dict(data["made"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, _FORMAT, error) from error


def write_prior(prior: Prior, path: Path) -> None:
    """Write the weights, farthest from 0 first. Raises EnvironmentFault when `path` cannot be written."""
    order = sorted(prior.weights, key=lambda name: (-abs(prior.weights[name]), name))
    weights = {name: round(prior.weights[name], 4) for name in order}
    write_model(path, _FORMAT, {"made": prior.made, "weights": weights})
