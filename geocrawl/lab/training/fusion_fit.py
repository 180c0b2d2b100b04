"""Fit the weights that fusion starts from to links whose worth is known.

Each example is a link that waited in a crawl: its generic features (`feature_names.generic_names`), the offset (the
part of its value that the crawl had learnt from its words and paths by then, which is not fitted again), and its worth,
0…1. The fit is a logistic regression with an L2 penalty. Ordered features are coded by steps (a weight is the sum of
the steps up to its place), so that the penalty makes neighbouring weights similar. Where more of a feature can only be
better, its steps are bounded to one sign: nearness to the topic, the words' odds, the share of an arm's visits that
found something. So a page design that the examples happen to share cannot reverse the sign of evidence. The sub-queues
of gws (eq. 4) have a least step, too: their order holds whatever the examples say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocrawl.errors import UsageError
from geocrawl.priority.strategies.fusion.feature_names import ARM_KINDS, bucket, generic_names
from geocrawl.priority.strategies.fusion.value_model import SHARES, SIZES

Floats = NDArray[np.float64]
PENALTY = 10.0
RISING = frozenset({"page r", "page cos", "anchor cos", "bayes", "sub-queue"})
FALLING = frozenset({"since find", "tunnel"})
LEAST_STEP = {"sub-queue": 0.1}
"""Least weight of each step of a rising feature, 0 for others: all else equal, links begin in the order of gws."""
ORDERED = RISING | FALLING | {"page depth", "page links"}
_ITERATIONS = 300
_SMALLEST = 0.0005
"""A weight with a smaller absolute value is left out."""


class Worth(NamedTuple):
    """A link that waited in a crawl, with its worth."""

    features: tuple[int, ...]
    """Indexes into `generic_names()` of the link's features."""
    offset: float
    """w·x of the link's other features."""
    worth: float


class Step(NamedTuple):
    """A coefficient of the fit, which is added to the weights of all `names`."""

    names: tuple[str, ...]
    least: float | None = None
    most: float | None = None


def generic_places() -> Mapping[int, int]:
    """Return bucket → index in `generic_names()`."""
    return {bucket(name): place for place, name in enumerate(generic_names())}


def fit(examples: Sequence[Worth], penalty: float = PENALTY) -> dict[str, float]:
    """Return feature name → weight. Raises UsageError without examples, or when all are worth the same."""
    worths = np.array([example.worth for example in examples])
    if not len(examples) or worths.min() == worths.max():
        raise UsageError("no weights can be learnt: all links that the crawls met are worth the same; name more worlds")
    names, steps = generic_names(), list(_steps())
    coding = _coding(names, steps)
    design = _design(examples, len(names)) @ coding
    found = _minimum(design, np.array([example.offset for example in examples]), worths, steps, penalty)
    return {
        name: round(float(weight), 4)
        for name, weight in zip(names, coding @ found, strict=True)
        if abs(weight) >= _SMALLEST
    }


def _minimum(design: Any, offsets: Floats, worths: Floats, steps: Sequence[Step], penalty: float) -> Floats:
    """Return the coefficients of least log loss plus penalty·|b|²/2, within the bounds of the steps (L-BFGS-B)."""
    from scipy.optimize import minimize

    def loss(b: Floats) -> tuple[float, Floats]:
        z = design @ b + offsets
        slope = 1.0 / (1.0 + np.exp(-np.clip(z, -30.0, 30.0))) - worths
        value = float(np.sum(np.logaddexp(0.0, z) - worths * z) + penalty / 2.0 * (b @ b))
        return value, design.T @ slope + penalty * b

    bounds = [(step.least, step.most) for step in steps]
    start = np.zeros(len(steps))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _ITERATIONS})
    best: Floats = found.x
    return best


def _design(examples: Sequence[Worth], width: int) -> Any:
    """Return the design matrix: one row an example, a 1 at each of its features."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *(len(example.features) for example in examples)])
    columns = np.array([place for example in examples for place in example.features], np.int64)
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(examples), width))


def _coding(names: Sequence[str], steps: Sequence[Step]) -> Any:
    """Return the coding matrix: one row a name, one column a step."""
    from scipy.sparse import csr_array

    places = {name: place for place, name in enumerate(names)}
    rows = [places[name] for step in steps for name in step.names]
    columns = [column for column, step in enumerate(steps) for _ in step.names]
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(steps)))


def _steps() -> Iterator[Step]:
    families: dict[str, list[str]] = {}
    for name in generic_names():
        families.setdefault(name.partition(":")[0], []).append(name)
    for family, names in families.items():
        if family in ORDERED:
            least, most = LEAST_STEP.get(family, 0.0) if family in RISING else None, 0.0 if family in FALLING else None
            yield from (Step(tuple(names[n:]), least, most) for n in range(1, len(names)))
        elif not family.endswith(" so far"):
            yield from (Step((name,)) for name in names)
    for kind in ARM_KINDS:
        yield from _steps_of_arm(kind)


def _steps_of_arm(kind: str) -> Iterator[Step]:
    """Yield the steps of an arm: more visits without a find are worse, a larger share of finds is better."""

    def names(size: int, share: int) -> tuple[str, ...]:
        return tuple(f"{kind} so far:{n} {m}" for n in range(size, SIZES) for m in range(share, SHARES))

    for size in range(1, SIZES):
        yield Step(names(size, 0), most=0.0)
    for size in range(1, SIZES):
        for share in range(1, SHARES):
            yield Step(names(size, share), least=0.0)
