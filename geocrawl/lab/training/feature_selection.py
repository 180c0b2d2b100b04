"""Rank terms by how well they tell pages on the topic from others: information gain and χ² (Min & Huang 2015).

The rival of `adaptive` is a trained best-first crawler whose features are chosen so. Both measures count pages that
have a term, not how often it occurs in them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable

GAIN, CHI2 = "gain", "chi2"
Measure = Callable[[int, int, int, int], float]


def information_gain(on_with: int, off_with: int, on: int, off: int) -> float:
    """Return H(C) − P(t)·H(C|t) − P(¬t)·H(C|¬t) in bits.

    `on_with` of `on` pages on the topic have the term, `off_with` of `off` others.
    """
    total, have = on + off, on_with + off_with
    with_term, without = _entropy(on_with, off_with), _entropy(on - on_with, off - off_with)
    return _entropy(on, off) - (have * with_term + (total - have) * without) / total


def chi_square(on_with: int, off_with: int, on: int, off: int) -> float:
    """Return χ² = N·(AD − CB)² / ((A + C)(B + D)(A + B)(C + D)); arguments as in `information_gain`.

    A, B: pages on and off the topic with the term; C, D: without. 0 when a factor is 0: such a term tells nothing.
    """
    on_without, off_without = on - on_with, off - off_with
    parts = on * off * (on_with + off_with) * (on_without + off_without)
    return (on + off) * (on_with * off_without - on_without * off_with) ** 2 / parts if parts else 0.0


MEASURES: dict[str, Measure] = {GAIN: information_gain, CHI2: chi_square}


def ranked_terms(pages: Iterable[tuple[Collection[str], bool]], number: int) -> dict[str, tuple[str, ...]]:
    """Return measure → the `number` best terms of pages (terms, on the topic), ties in alphabetical order."""
    counts = {True: Counter[str](), False: Counter[str]()}
    sizes = Counter[bool]()
    for terms, on_topic in pages:
        counts[on_topic].update(set(terms))
        sizes[on_topic] += 1
    terms = sorted({*counts[True], *counts[False]})
    ranked = {}
    for name, measure in MEASURES.items():
        values = {t: measure(counts[True][t], counts[False][t], sizes[True], sizes[False]) for t in terms}
        ranked[name] = tuple(sorted(terms, key=lambda term: (-values[term], term))[:number])
    return ranked


def _entropy(a: int, b: int) -> float:
    return -sum(n / (a + b) * math.log2(n / (a + b)) for n in (a, b) if n)
