"""Learn the value of a link online: one logistic model over hashed features, and the arms of its bandits.

value = 1 / (1 + exp(−w·x)), trained by stochastic gradient steps on the log loss, each weight with its own step
(AdaGrad: Duchi, Hazan, Singer, JMLR 2011), so that a rare feature learns from few examples. The state of an arm, its
visits and their mean reward, is a feature like any other: its weight is the arm's index, learnt instead of computed by
a formula such as UCB1's (Auer, Cesa-Bianchi, Fischer, Machine Learning 2002), and the rest of x is the arm's context.
Contextual bandits over hosts order crawls in Meusel, Mika, Blanco (Focused crawling for structured data, CIKM 2014).
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocrawl.priority.codec import Arrays
from geocrawl.priority.models import Format, malformed, read_model, write_model
from geocrawl.priority.strategies.fusion.feature_names import (
    ARM_KINDS,
    BUCKETS,
    LINK_ARMS,
    SHARE_LIMITS,
    arm_state,
    bucket,
)

SIZES = 7
"""Steps of an arm's visits: 0, 1, 2-3, 4-7 … 32 and more."""
SHARES = 6
PAGE_HEAD = 3
"""Numbers of a page before its features: its URL pattern, and its arms `page` and `hit`."""
_MAX_LOGIT = 30.0
_OF_SIZE = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_OF_SHARE = (0.0, 0.01, 0.1, 0.2, 0.5, 1.0)
_SIZE_STEPS, _SHARE_STEPS = np.array(_OF_SIZE), np.array(SHARE_LIMITS)
_OWN_ARMS, _KINDS = np.arange(LINK_ARMS), np.arange(len(ARM_KINDS))
_KIN = 31
"""Factor by which a page's pattern and a link's become one arm."""


class Example(NamedTuple):
    """The features of a link when it was visited, as uint32: tuples of numbers take eight times the memory."""

    arms: array[int]
    """One arm of each kind."""
    ids: array[int]
    """All features: the arms, their states, those of the link and those of its page."""


NOTHING = Example(array("I"), array("I"))
"""Stands for the link to a page that no link led to."""


class ValueModel:
    """Weights and arms. The same calls in the same order result in the same numbers."""

    def __init__(self, prior: Mapping[str, float], *, rate: float, trust: float) -> None:
        """Make a model that starts with `prior`, feature name → weight.

        `rate`: the first step of a weight. `trust`: the number of examples that a weight of the prior represents, which
        makes its steps smaller.
        """
        self._rate = rate
        self.weights = array("d", bytes(8 * BUCKETS))
        self._squares = array("d", [1.0]) * BUCKETS
        for name, weight in prior.items():
            self.weights[bucket(name)] += weight
            self._squares[bucket(name)] = max(trust, 1.0)
        self._visits = array("d", bytes(8 * BUCKETS))
        self._rewards = array("d", bytes(8 * BUCKETS))
        self._dense_weights = np.frombuffer(self.weights, np.float64)
        self._dense_arms = np.frombuffer(self._visits, np.float64), np.frombuffer(self._rewards, np.float64)
        self._states = _state_buckets()
        self._state_table = np.array(self._states)

    # ----------------------------------------------------------------------- values

    def logit(self, ids: Iterable[int]) -> float:
        """Return w·x of the features."""
        return sum(map(self.weights.__getitem__, ids))

    def states(self, arms: Sequence[int]) -> tuple[int, ...]:
        """Return the feature of each arm's current state; `arms` contains one arm of each kind, in the kinds' order."""
        visits, rewards = self._visits, self._rewards
        return tuple(states[_place(visits[arm], rewards[arm])] for states, arm in zip(self._states, arms, strict=True))

    def example(self, packed: bytes, page: Sequence[int]) -> Example:
        """Return the current example of a link on its page.

        `packed` contains the link's arms and features, `page` the page's numbers.
        """
        own = array("I", packed)
        arms = (*own[:LINK_ARMS], kin(page[0], own[LINK_ARMS - 1]), page[1], page[2])
        ids = (*arms, *self.states(arms), *own[LINK_ARMS:], *page[PAGE_HEAD:])
        return Example(array("I", arms), array("I", ids))

    def arm(self, arm: int) -> tuple[float, float]:
        """Return (visits, reward) of an arm."""
        return self._visits[arm], self._rewards[arm]

    def logits(
        self, links: Sequence[bytes], pages: Sequence[Sequence[int]], page_of: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """Return w·x of many links at once.

        `page_of` contains for each link the index of its page in `pages`; None: all are on the one page there is.
        """
        flat = np.frombuffer(b"".join(links), np.uint32)
        starts = np.array([0, *accumulate([len(link) // 4 for link in links[:-1]])], np.intp)
        weights = self._dense_weights
        heads = np.array([page[:PAGE_HEAD] for page in pages])
        tails = np.array([self.logit(page[PAGE_HEAD:]) for page in pages])
        if page_of is not None:
            heads, tails = heads[page_of], tails[page_of]
        arms = np.empty((len(links), len(ARM_KINDS)), np.intp)
        arms[:, :LINK_ARMS] = flat[starts[:, None] + _OWN_ARMS]
        arms[:, LINK_ARMS] = kin(heads[:, 0], arms[:, LINK_ARMS - 1])
        arms[:, LINK_ARMS + 1 :] = heads[:, 1:]
        total: NDArray[np.float64] = np.add.reduceat(weights[flat], starts)
        total += tails
        total += np.add.reduce(weights[arms[:, LINK_ARMS:]], axis=1)
        total += np.add.reduce(weights[self._states_of(arms)], axis=1)
        return total

    def _states_of(self, arms: NDArray[np.intp]) -> NDArray[Any]:
        visits, rewards = (dense[arms] for dense in self._dense_arms)
        sizes = _SIZE_STEPS.searchsorted(visits, side="right") - 1
        shares = _SHARE_STEPS.searchsorted(rewards / np.maximum(visits, 1e-9), side="left") * (visits > 0)
        found: NDArray[Any] = self._state_table[_KINDS, sizes * SHARES + shares]
        return found

    # ----------------------------------------------------------------------- learning

    def step(self, ids: Sequence[int], label: float, share: float = 1.0) -> None:
        """Make one gradient step towards `label`, 0…1, for an example of weight `share`."""
        gradient = (probability(self.logit(ids)) - label) * share
        weights, squares, rate = self.weights, self._squares, self._rate
        for id_ in ids:
            squares[id_] += gradient * gradient
            weights[id_] -= rate * gradient / math.sqrt(squares[id_])

    def count_visit(self, arms: Iterable[int]) -> None:
        """Count one request spent on each of these arms."""
        for arm in arms:
            self._visits[arm] += 1.0

    def add_reward(self, arms: Iterable[int], reward: float) -> None:
        """Add the reward of an earlier visit to each of these arms."""
        for arm in arms:
            self._rewards[arm] += reward

    # ----------------------------------------------------------------------- state

    def arrays(self) -> Arrays:
        """Return weights and arms as sparse arrays, for a dump."""
        found: Arrays = {}
        for name, values, nothing in self._parts():
            dense = np.frombuffer(values, np.float64)
            at = np.flatnonzero(dense != nothing)
            found[f"{name} at"], found[name] = at.astype(np.int64), dense[at]
        return found

    def restore(self, arrays: Arrays) -> None:
        """Restore the model from what `arrays` returned. Raises KeyError or IndexError for other arrays."""
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
    """Return the logistic function of a logit, 0…1."""
    return 1.0 / (1.0 + math.exp(-max(-_MAX_LOGIT, min(logit, _MAX_LOGIT))))


def probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `probability` of many logits, rounded to four digits as the frontier stores scores."""
    bounded: NDArray[np.float64] = np.minimum(np.maximum(logits, -_MAX_LOGIT), _MAX_LOGIT)
    return (1.0 / (1.0 + np.exp(-bounded))).round(4)


def kin(page: Any, link: Any) -> Any:
    """Return the arm of links of URL pattern `link` on pages of pattern `page`; numbers or arrays."""
    return (page * _KIN + link) & (BUCKETS - 1)


def _place(visits: float, reward: float) -> int:
    """Return the index of an arm's state in the table of its kind."""
    if not visits:
        return 0
    share, size = reward / visits, min(int(visits), 63).bit_length()
    return size * SHARES + bisect_left(SHARE_LIMITS, share)


def _state_buckets() -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(bucket(arm_state(kind, visits, visits * share)) for visits in _OF_SIZE for share in _OF_SHARE)
        for kind in ARM_KINDS
    )


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


# --------------------------------------------------------------------------- what the crawl remembers
# Remember waiting links and visited pages for fusion, both bounded.
#
# A waiting link is stored as numbers (its arms, then its features), with its page and its score in the frontier. A
# visited page is stored with the example of the link that led to it, so that a find can be credited to the whole path,
# and with the features that it contributes to its own links.


NO_PAGE = -1
NO_GROUP = 2**32 - 1
"""Group of seeds, and of scripts and configurations, which keep the rank of their page."""
_LINK_HEAD, _PAGE_HEAD = 4, 8


class WaitingLink(NamedTuple):
    """A waiting link."""

    packed: bytes
    """The link's own arms and then its other features, uint32; empty when they were not kept (`link_reader`)."""
    page: int
    """Frontier id of the page with the link."""
    key: int
    """CRC-32 of the link's identity."""
    value: float
    """The link's value, 0…1."""
    group: int
    """The link's group (`link_groups`)."""


@dataclass(slots=True)
class VisitedPage:
    """A page that was visited."""

    page: int
    """Frontier id of the page that led to it; `NO_PAGE` for a seed."""
    led: Example
    """The example of the link that led to the page."""
    since_find: int
    tunnel: int
    numbers: array[int] = field(default_factory=lambda: array("I"))
    """The features that the page contributes to its links; none for a page without links."""
    finds: int = 0
    reward: float = 0.0
    group: int = NO_GROUP
    """Group of the link that led to the page."""


class CrawlMemory:
    """Waiting links and visited pages by frontier id."""

    def __init__(self, *, most_links: int, most_pages: int, forgotten: Callable[[int], None]) -> None:
        """Make a memory that forgets links of lowest value beyond `most_links`, old pages beyond `most_pages`.

        `forgotten` is called with the frontier id of each such link.
        """
        self._forgotten = forgotten
        self._most_links = most_links
        self._most_pages = most_pages
        self.links: dict[int, WaitingLink] = {}
        self.pages: dict[int, VisitedPage] = {}
        self._by_key: dict[int, int] = {}

    def remember_link(self, id_: int, link: WaitingLink) -> bool:
        """Remember a link; of a link on two pages, the occurrence with the higher value counts.

        Returns whether this occurrence counts.
        """
        known = self.links.get(id_)
        if id_ in self.pages or (known is not None and known.value >= link.value):
            return False
        self.links[id_] = link
        self._by_key[link.key] = id_
        if len(self.links) > self._most_links * 5 // 4:
            self._forget_links()
        return id_ in self.links

    def remove_link(self, id_: int) -> WaitingLink | None:
        """Forget a link that no longer waits and return it; None when it is not known."""
        link = self.links.pop(id_, None)
        if link is not None and self._by_key.get(link.key) == id_:
            del self._by_key[link.key]
        return link

    def link_by_key(self, key: int) -> WaitingLink | None:
        """Return the waiting link whose identity has this key."""
        return self.links.get(self._by_key.get(key, NO_PAGE))

    def valuable(self, ids: Iterable[int]) -> list[int]:
        """Return the links that can be valued again: their features and their page are remembered."""
        links, pages = self.links, self.pages
        return [id_ for id_ in ids if (link := links.get(id_)) is not None and link.packed and link.page in pages]

    def inputs(self, ids: Sequence[int]) -> tuple[list[bytes], list[Sequence[int]], NDArray[np.intp]]:
        """Return the features of links, the features of their pages, and the index of each link's page among these.

        `ids`: links that are `valuable`."""
        links, pages = self.links, self.pages
        places = {page: at for at, page in enumerate(dict.fromkeys(links[id_].page for id_ in ids))}
        page_of = np.array([places[links[id_].page] for id_ in ids], np.intp)
        return [links[id_].packed for id_ in ids], [pages[page].numbers for page in places], page_of

    def remember_page(self, id_: int, page: VisitedPage) -> None:
        """Remember a visited page."""
        self.pages[id_] = page
        if len(self.pages) > self._most_pages:
            del self.pages[next(iter(self.pages))]

    def path_to(self, id_: int, most: int) -> Iterator[VisitedPage]:
        """Yield the page and the pages on the path that led to it, nearest first, at most `most`."""
        for _ in range(most):
            page = self.pages.get(id_)
            if page is None:
                return
            yield page
            id_ = page.page

    def _forget_links(self) -> None:
        order = sorted(self.links, key=lambda id_: (-self.links[id_].value, id_))
        for id_ in order[self._most_links :]:
            self.remove_link(id_)
            self._forgotten(id_)

    # ----------------------------------------------------------------------- state

    def arrays(self) -> Arrays:
        """Return all links and pages as arrays, for a dump."""
        links, pages = self.links.values(), self.pages.values()
        return {
            "link ids": np.array(list(self.links), np.int64),
            "link values": np.array([link.value for link in links], np.float64),
            "link heads": _flat((link.page, link.key, link.group, len(link.packed) // 4) for link in links),
            "link features": np.frombuffer(b"".join(link.packed for link in links), np.uint32),
            "page ids": np.array(list(self.pages), np.int64),
            "page rewards": np.array([page.reward for page in pages], np.float64),
            "page heads": _flat(
                (p.page, p.since_find, p.tunnel, p.finds, p.group, len(p.led.arms), len(p.led.ids), len(p.numbers))
                for p in pages
            ),
            "page features": np.frombuffer(
                b"".join(part for p in pages for part in (p.led.arms, p.led.ids, p.numbers)), np.uint32
            ),
        }

    def restore(self, arrays: Arrays) -> None:
        """Restore the memory from what `arrays` returned. Raises KeyError or ValueError for other arrays."""
        self.links, self.pages, self._by_key = {}, {}, {}
        features, at = arrays["link features"], 0
        heads = arrays["link heads"].reshape(-1, _LINK_HEAD).tolist()
        for id_, value, (page, key, group, size) in zip(
            arrays["link ids"].tolist(), arrays["link values"].tolist(), heads, strict=True
        ):
            self.links[id_] = WaitingLink(features[at : at + size].tobytes(), page, key, value, group)
            self._by_key[key] = id_
            at += size
        numbers, at = arrays["page features"], 0
        rows = arrays["page heads"].reshape(-1, _PAGE_HEAD).tolist()
        for id_, reward, row in zip(arrays["page ids"].tolist(), arrays["page rewards"].tolist(), rows, strict=True):
            page, since_find, tunnel, finds, group, arms, ids, size = row
            ends = at + arms, at + arms + ids, at + arms + ids + size
            arms, ids, own = (array("I", numbers[first:last].tobytes()) for first, last in pairwise((at, *ends)))
            self.pages[id_] = VisitedPage(page, Example(arms, ids), since_find, tunnel, own, finds, reward, group)
            at = ends[2]


def _flat(rows: Iterable[tuple[int, ...]]) -> NDArray[np.int64]:
    return np.fromiter(chain.from_iterable(rows), np.int64)
