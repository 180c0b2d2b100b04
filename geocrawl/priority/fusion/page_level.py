"""Tell a page's level of relevance from its nearness to the topic (gws eq. 2)."""

from __future__ import annotations

from geocrawl.model import Relevance

HIGH, LOW = 0.68, 0.01
"""Least r of levels 2 and 1."""


def page_level(r: float) -> Relevance:
    """Return the level of a page by r = cos(T, P): 2 when r ≥ 0.68, 1 when 0.01 ≤ r < 0.68, else 0."""
    return Relevance.HIGH if r >= HIGH else Relevance(int(r >= LOW))
