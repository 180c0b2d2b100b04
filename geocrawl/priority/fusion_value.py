"""The value of a link, learnt online: one logistic model over hashed features, and the arms of its bandits.

value = 1 / (1 + exp(-w·x)), trained by stochastic gradient steps on the log loss, each weight with a step of its own
(AdaGrad: Duchi, Hazan, Singer, JMLR 2011), so that a rare feature learns from few examples. The state of an arm, its
visits and what they brought on average, is a feature like any other: its weight is the arm's index, learnt in place of
a formula such as UCB1's (Auer, Cesa-Bianchi, Fischer, Machine Learning 2002), and the arm's context is all the rest of
x. Contextual bandits over hosts order crawls in Meusel, Mika, Blanco (Focused crawling for structured data, CIKM 2014).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from geocrawl.priority.arrays import Arrays
from geocrawl.priority.fusion_features import ARM_KINDS, BUCKETS, arm_state, bucket

SIZES = 7
"""Steps of an arm's visits: 0, 1, 2-3, 4-7 … 32 and more."""
SHARES = 6
_LIMITS = (0.0, 0.05, 0.15, 0.35, 0.65)
_MAX_LOGIT = 30.0
_OF_SIZE = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_OF_SHARE = (0.0, 0.01, 0.1, 0.2, 0.5, 1.0)


class Value:
    """Weights and arms. The same calls in the same order give the same numbers."""

    def __init__(self, prior: Mapping[str, float], *, rate: float, trust: float) -> None:
        """`prior`: weights by name; `rate`: the first step of a weight; `trust`: the examples that one of the prior
        stands for, which slow its steps down."""
        self._rate = rate
        self.weights = array("d", bytes(8 * BUCKETS))
        self._squares = array("d", [1.0]) * BUCKETS
        for name, weight in prior.items():
            self.weights[bucket(name)] += weight
            self._squares[bucket(name)] = max(trust, 1.0)
        self._visits = array("d", bytes(8 * BUCKETS))
        self._rewards = array("d", bytes(8 * BUCKETS))
        self._states = _state_buckets()

    # ----------------------------------------------------------------------- values

    def logit(self, ids: Iterable[int]) -> float:
        """w·x of the features."""
        return sum(map(self.weights.__getitem__, ids))

    def states(self, arms: Sequence[int]) -> tuple[int, ...]:
        """The feature that each arm is now; one arm of each kind, in their order."""
        visits, rewards = self._visits, self._rewards
        return tuple(states[_place(visits[arm], rewards[arm])] for states, arm in zip(self._states, arms, strict=True))

    def arm(self, arm: int) -> tuple[float, float]:
        """(visits, reward) of an arm."""
        return self._visits[arm], self._rewards[arm]

    def logits(self, records: Sequence[bytes]) -> NDArray[np.float64]:
        """w·x of many links at once, each packed as its arms and then its other features (uint32)."""
        flat = np.frombuffer(b"".join(records), np.uint32)
        starts = np.cumsum([0, *(len(record) // 4 for record in records[:-1])])
        weights = np.frombuffer(self.weights, np.float64)
        every = np.add.reduceat(weights[flat], starts)
        arms = flat[starts[:, None] + np.arange(len(ARM_KINDS))]
        every -= weights[arms].sum(axis=1)
        visits, rewards = (np.frombuffer(a, np.float64)[arms] for a in (self._visits, self._rewards))
        sizes = np.searchsorted(_OF_SIZE, visits, side="right") - 1
        shares = np.searchsorted(_LIMITS, rewards / np.maximum(visits, 1e-9), side="left") * (visits > 0)
        table = weights[np.array(self._states)]
        total: NDArray[np.float64] = every + table[np.arange(len(ARM_KINDS)), sizes * SHARES + shares].sum(axis=1)
        return total

    # ----------------------------------------------------------------------- learning

    def step(self, ids: Sequence[int], label: float, share: float = 1.0) -> None:
        """One gradient step towards `label`, 0…1, of an example that counts `share`."""
        gradient = (probability(self.logit(ids)) - label) * share
        weights, squares, rate = self.weights, self._squares, self._rate
        for id_ in ids:
            squares[id_] += gradient * gradient
            weights[id_] -= rate * gradient / math.sqrt(squares[id_])

    def visited(self, arms: Iterable[int]) -> None:
        """A request was spent on these arms."""
        for arm in arms:
            self._visits[arm] += 1.0

    def rewarded(self, arms: Iterable[int], reward: float) -> None:
        """An earlier visit of these arms brought this."""
        for arm in arms:
            self._rewards[arm] += reward

    # ----------------------------------------------------------------------- state

    def arrays(self) -> Arrays:
        """All that was learnt, where it differs from nothing."""
        found: Arrays = {}
        for name, values, nothing in self._parts():
            dense = np.frombuffer(values, np.float64)
            at = np.flatnonzero(dense != nothing)
            found[f"{name} at"], found[name] = at.astype(np.int64), dense[at]
        return found

    def restore(self, arrays: Arrays) -> None:
        """Take up `arrays`. Raises KeyError or IndexError when they are not of this kind."""
        for name, values, nothing in self._parts():
            dense = np.frombuffer(values, np.float64)
            dense[:] = nothing
            dense[arrays[f"{name} at"]] = arrays[name]

    def _parts(self) -> tuple[tuple[str, array[float], float], ...]:
        return (
            ("weights", self.weights, 0.0),
            ("squares", self._squares, 1.0),
            ("visits", self._visits, 0.0),
            ("rewards", self._rewards, 0.0),
        )


def probability(logit: float) -> float:
    """The logistic function, 0…1."""
    return 1.0 / (1.0 + math.exp(-max(-_MAX_LOGIT, min(logit, _MAX_LOGIT))))


def _place(visits: float, reward: float) -> int:
    """Where an arm's state stands in the table of its kind."""
    if not visits:
        return 0
    share, size = reward / visits, min(int(visits), 63).bit_length()
    return size * SHARES + sum(share > limit for limit in _LIMITS)


def _state_buckets() -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(bucket(arm_state(kind, visits, visits * share)) for visits in _OF_SIZE for share in _OF_SHARE)
        for kind in ARM_KINDS
    )
