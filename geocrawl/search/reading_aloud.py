"""Say in plain words how a query was read."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.search.filters import DAY_S, Filters
from geocrawl.search.plan import Plan

_MOST_OTHERS = 6
"""Most words that mean the same which are named."""


def read_aloud(plan: Plan, *, dropped_kinds: bool = False) -> tuple[str, ...]:
    """Return sentences for people about the words and the conditions of a query."""
    return tuple(_sentences(plan, dropped_kinds))


def differences(plan: Plan, *, dropped_kinds: bool, is_partial: bool) -> tuple[str, ...]:
    """Return sentences for people that say in what the found services differ from what a query asks for.

    `is_partial`: no service has all words, and some with most of them were found.
    """
    return tuple(_differences(plan, dropped_kinds, is_partial))


def _differences(plan: Plan, dropped_kinds: bool, is_partial: bool) -> Iterator[str]:
    if plan.is_empty:
        yield "no letter or digit to look for: found are all services that meet the conditions"
    if is_partial:
        yield "no service has all of these words: found are those with most of them"
    for words in plan.kind_words if dropped_kinds else ():
        yield f"“{words.text}”: no service of this kind matches, so any kind is shown"


def _sentences(plan: Plan, dropped_kinds: bool) -> Iterator[str]:
    for concept in plan.concepts:
        if concept.places:
            named = sorted({f"{place.title} ({place.country})" for place in concept.places})
            yield f"“{concept.text}”: the place {', '.join(named[:3])}"
        if concept.also and not concept.places:
            more = f" and {len(concept.also) - _MOST_OTHERS} more" if len(concept.also) > _MOST_OTHERS else ""
            yield f"“{concept.text}”: also {', '.join(concept.also[:_MOST_OTHERS])}{more}"
        if concept.is_weak:
            yield f"“{concept.text}”: need not occur"
    for words in () if dropped_kinds else plan.kind_words:
        yield f"“{words.text}”: only {', '.join(words.kinds)}"
    if plan.ignored:
        yield f"left out: {', '.join(plan.ignored[:20])}"
    for filters in plan.filters:
        yield from (f"only {text}" for text in _conditions(filters))
    for filters in plan.without:
        yield from (f"without {text}" for text in _conditions(filters))
    for phrases in plan.excluded:
        yield f"without the word {' '.join(phrases[0].words)}" if phrases else "without a word that has no letters"


def _conditions(filters: Filters) -> Iterator[str]:
    lists = {
        "kind": filters.kinds,
        "reference system": filters.systems,
        "format": filters.formats,
        "country": filters.countries,
        "provider": filters.providers,
        "health": filters.health,
    }
    for name, values in lists.items():
        if values:
            yield f"{name} {' or '.join(values)}"
    if filters.box is not None:
        yield "extent within reach of " + ", ".join(f"{side:g}" for side in filters.box)
    if filters.level:
        yield f"level {filters.level} or better"
    if filters.alive:
        yield "valid at the last probe"
    if filters.answered_within_s is not None:
        yield f"valid in the last {filters.answered_within_s / DAY_S:g} days"
    if filters.new_within_s is not None:
        yield f"found in the last {filters.new_within_s / DAY_S:g} days"
