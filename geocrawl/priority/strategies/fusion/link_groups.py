"""Choose between groups of links as a sleeping bandit: links of one place on pages of one template are a group.

Words mislead where a site uses them for something else, and say nothing where links are called 1, 2, 3. A menu, a list
or a table mostly leads to pages of one sort, on the pages that a host makes from one template: pages with addresses of
one form. So each group is an arm of a bandit, which sleeps while none of its links waits (Gauquier, Manolescu,
Senellart: Efficient Crawling for Scalable Web Data Acquisition, arXiv:2602.11874, 2026; UCB1: Auer, Cesa-Bianchi,
Fischer, Machine Learning 2002). A group begins with the learnt value of its links:

    worth = (PRIOR · value + finds) / (PRIOR + visits) + explore · √(ln(all visits) / (1 + visits))

Visits by links of the same place on the host's other pages count too, as `FALLBACK` visits at most.

Within a group the best link by value and the oldest one take turns, since values learnt from few finds may be wrong;
the value in the formula is that of the best. The next link of a group is ranked by this worth, the one behind it by the
worth after one more visit without a find, and so on: the order in the frontier anticipates disappointment, so that
ranks change only by finds, new links and new values.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar
from zlib import crc32

import numpy as np

from geocrawl.priority.codec import Arrays
from geocrawl.priority.strategies.fusion.value_model import NO_GROUP, kin

FRONT = 8
"""Links of a group that are ranked ahead of the rest, so that several workers find work in one group."""
PRIOR = 10.0
"""Visits that the value of a link stands for."""
FALLBACK = 10.0
"""Visits of a group that all other groups of its place stand for."""
_TEMPLATES = 1 << 14
_Entry = TypeVar("_Entry", int, tuple[float, int])
_SMALL = 0.0005
"""A worth that changes by less is not updated."""


def group_of(place: int, template: str) -> int:
    """Return the number of a group, 32 bits: its place as a bucket, and the template of its pages."""
    return place * _TEMPLATES + crc32(template.encode("utf-8", "surrogatepass")) % _TEMPLATES


def arms_of(group: int) -> tuple[int, int]:
    """Return the buckets of a group and of its place, by which their visits and finds are counted."""
    place, template = divmod(group, _TEMPLATES)
    return kin(template, place), place


def counts_of(group: int, arm: Callable[[int], tuple[float, float]]) -> tuple[float, float]:
    """Return (visits, finds) of a group, with its share of those of its place. `arm` returns those of a bucket."""
    own, place = arms_of(group)
    (visits, finds), (all_visits, all_finds) = arm(own), arm(place)
    others = all_visits - visits
    if others <= 0.0:
        return visits, finds
    share = min(others, FALLBACK) / others
    return visits + share * others, finds + share * max(all_finds - finds, 0.0)


class LinkGroups:
    """Waiting links in groups, with the worth of the next ones of each group."""

    def __init__(self, counts: Callable[[int], tuple[float, float]], *, explore: float) -> None:
        """Make groups of links. `counts` returns (visits, finds) of a group; `explore` is the weight of uncertainty."""
        self._counts = counts
        self._explore = explore
        self._values: dict[int, float] = {}
        self._group_of: dict[int, int] = {}
        self._best: dict[int, list[tuple[float, int]]] = {}
        self._oldest: dict[int, list[int]] = {}
        self._sizes: dict[int, int] = {}
        self._fronts: dict[int, dict[int, float]] = {}
        """Group → its next links, with the value of the best, when they were ranked last."""
        self._changed = set[int]()
        """Groups whose links or their values changed since then."""
        self._ranked: dict[int, float] = {}
        """Link of a front → its worth in the frontier."""
        self._touched: dict[int, None] = {}
        self._doubted: dict[int, None] = {}
        """Links that may have any worth in the frontier, as keys, in the order in which they were doubted."""

    # ----------------------------------------------------------------------- links

    def put(self, id_: int, group: int, value: float) -> None:
        """Add a waiting link, or change its value. A link without a group keeps its rank in the frontier."""
        if group == NO_GROUP:
            return
        known = self._group_of.get(id_)
        if known is not None and known != group:
            self.remove(id_)
            known = None
        if known is None:
            self._group_of[id_] = group
            heapq.heappush(self._oldest.setdefault(group, []), id_)
            self._sizes[group] = self._sizes.get(group, 0) + 1
        elif self._values[id_] == value:
            return
        self._values[id_] = value
        heapq.heappush(self._best.setdefault(group, []), (-value, id_))
        self._touched[group] = None
        self._changed.add(group)

    def remove(self, id_: int) -> None:
        """Forget a link that no longer waits."""
        group = self._group_of.pop(id_, None)
        if group is None:
            return
        del self._values[id_]
        self._ranked.pop(id_, None)
        self._touched[group] = None
        self._changed.add(group)
        self._sizes[group] -= 1
        if not self._sizes[group]:
            self._changed.discard(group)
            for known in (self._sizes, self._best, self._oldest, self._fronts):
                known.pop(group, None)

    def touch(self, group: int) -> None:
        """Note that the visits or finds of a group changed."""
        self._touched[group] = None

    def touch_all(self) -> None:
        """Note that every group may have another worth, because all visits count."""
        self._touched.update(dict.fromkeys(self._sizes))

    def doubt(self, ids: Iterable[int]) -> None:
        """Note that links may have any worth in the frontier, because another process judged a page with them."""
        self._doubted.update(dict.fromkeys(ids))

    # ----------------------------------------------------------------------- worths

    def last_worths(self, groups: Sequence[int], values: Sequence[float], visits: int) -> list[float]:
        """Return the worth of each link of a page, behind all waiting links of its group and those before it.

        `groups`, `values`: of each link. `visits`: all visits so far.
        """
        curiosity, explore, sqrt = math.log(2 + visits), self._explore, math.sqrt
        counts: dict[int, tuple[float, float]] = {}
        worths = []
        for group, value in zip(groups, values, strict=True):
            if group in counts:
                made, finds = counts[group]
            else:
                made, finds = self._counts(group)
                made += self._sizes.get(group, 0)
            counts[group] = made + 1, finds
            worth = (PRIOR * value + finds) / (PRIOR + made) + explore * sqrt(curiosity / (1 + made))
            worths.append(round(10_000 * worth) / 10_000)
        return worths

    def changes(self, visits: int) -> Iterator[tuple[int, float]]:
        """Yield (link, worth) of the links whose worth changed since the last call, or that are doubted. `visits`: all
        visits so far."""
        touched, self._touched = self._touched, {}
        for group in touched:
            if group in self._sizes:
                yield from self._changes_in(group, visits)
        doubted, self._doubted = self._doubted, {}
        for id_ in doubted:
            if id_ in self._group_of:
                yield id_, self._worth_now(id_, visits)

    def _changes_in(self, group: int, visits: int) -> Iterator[tuple[int, float]]:
        before = front = self._fronts.get(group, {})
        if group in self._changed:
            self._changed.remove(group)
            front = self._fronts[group] = self._front(group)
        counts = self._counts(group)
        for place, (id_, value) in enumerate(front.items()):
            worth = self._worth(counts, value, place, visits)
            known = self._ranked.get(id_)
            if known is None or abs(worth - known) > _SMALL:
                self._ranked[id_] = worth
                yield id_, worth
        if front is before:
            return
        for id_ in before:
            if id_ not in front and self._group_of.get(id_) == group:
                self._ranked.pop(id_, None)
                yield id_, self._worth_behind(id_, visits)

    def _worth_now(self, id_: int, visits: int) -> float:
        """Return the worth that a link has to have in the frontier."""
        worth = self._ranked.get(id_)
        return self._worth_behind(id_, visits) if worth is None else worth

    def _worth_behind(self, id_: int, visits: int) -> float:
        """Return the worth of a link behind all of its group."""
        group = self._group_of[id_]
        return self._worth(self._counts(group), self._values[id_], self._sizes[group], visits)

    def _worth(self, counts: tuple[float, float], value: float, place: int, visits: int) -> float:
        made, finds = counts[0] + place, counts[1]
        worth = (PRIOR * value + finds) / (PRIOR + made)
        worth += self._explore * math.sqrt(math.log(2 + visits) / (1 + made))
        return round(10_000 * worth) / 10_000

    def _front(self, group: int) -> dict[int, float]:
        """Return the next links of a group, the best and the oldest in turn, with the value of the best."""
        front: dict[int, float] = {}
        for best, oldest in zip(self._best_of(group), self._oldest_of(group), strict=True):
            value = self._values[best]
            front.setdefault(best, value)
            front.setdefault(oldest, value)
        return dict(islice(front.items(), FRONT))

    def _best_of(self, group: int) -> list[int]:
        values, group_of = self._values, self._group_of
        best = self._top(self._best[group], group, lambda it: group_of.get(it[1]) == group and values[it[1]] == -it[0])
        return [id_ for _, id_ in best]

    def _oldest_of(self, group: int) -> list[int]:
        return self._top(self._oldest[group], group, lambda id_: self._group_of.get(id_) == group)

    def _top(self, heap: list[_Entry], group: int, holds: Callable[[_Entry], bool]) -> list[_Entry]:
        """Return the first entries of a heap that still hold; the others are taken out when they are on its way, or
        more than half of it: what is far from the top would stay for ever."""
        if len(heap) > 2 * self._sizes[group] + FRONT:
            heap[:] = set(filter(holds, heap))
            heapq.heapify(heap)
        front = dict[_Entry, None]()
        while heap and len(front) < FRONT:
            entry = heapq.heappop(heap)
            if holds(entry):
                front[entry] = None
        for entry in front:
            heapq.heappush(heap, entry)
        return list(front)

    # ----------------------------------------------------------------------- state

    def arrays(self) -> Arrays:
        """Return the worths that stand in the frontier, for a dump; all else follows from the waiting links."""
        ids, worths = np.array(list(self._ranked), np.int64), np.array(list(self._ranked.values()), np.float64)
        return {"ranked ids": ids, "ranked worths": worths}

    def restore(self, arrays: Arrays, links: Iterable[tuple[int, int, float]]) -> None:
        """Restore the groups from what `arrays` returned and (link, group, value) of all waiting links."""
        for id_, group, value in links:
            self.put(id_, group, value)
        self._touched = {}
        ranked = zip(arrays["ranked ids"].tolist(), arrays["ranked worths"].tolist(), strict=True)
        self._ranked = {id_: worth for id_, worth in ranked if id_ in self._group_of}
        for id_ in self._ranked:
            self._fronts.setdefault(self._group_of[id_], {})[id_] = self._values[id_]
