"""Read a query as people type it: words, "phrases", -words, beginnings* and conditions such as kind:wms.

No text can do harm: what is no condition is a word. A condition whose value cannot be read raises QueryError, which
says what is expected. docs/search.md describes the language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from geocrawl.filters import (
    Filters,
    QueryError,
    Sort,
    read_box,
    read_health,
    read_kind,
    read_level,
    read_span,
    read_system,
    read_times,
    unreadable,
)
from geocrawl.model.search import OF_COLUMNS
from geocrawl.query.places import shipped_places
from geocrawl.wording import Sentence

Condition = Callable[[Filters, str, str], Filters]

MAX_CHARS = 2_000
"""Longest query."""
MAX_TERMS = 64
"""Most words, phrases and conditions of a query."""
_MOST_VALUES = 20
_MOST_ALTERNATIVES = 8

_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "「": '"', "」": '"', "：": ":", "\u3000": " "}
)
_TERM = re.compile(r'(?P<minus>-?)(?:(?P<key>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_SYSTEM = re.compile(r'(?<![:\w"])EPSG\s*:{0,2}\s*(\d{4,6})\b', re.I)
"""A reference system in plain words (`EPSG 25832`), which is read as the condition crs:EPSG:25832."""
_WORD_LETTER = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase of a query."""

    text: str
    """The word or the phrase, as it was typed, without its quotes or star."""
    is_phrase: bool = False
    """Whether the words were typed in quotes, to be found next to each other."""
    is_prefix: bool = False
    """Whether every word that begins with the text is meant (`wat*`)."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was read."""

    terms: tuple[Term, ...] = ()
    """Words and phrases to find."""
    excluded: tuple[Term, ...] = ()
    """Words and phrases that a found service must not have (`-word`)."""
    filters: Filters = field(default_factory=Filters)
    """Conditions that a found service meets."""
    without: tuple[Filters, ...] = ()
    """Conditions that no hit may meet (`-kind:csw`)."""
    sort: Sort | None = None
    """The order that the query names (`sort:newest`); None for none."""
    left_out: bool = False
    """Whether something was typed for a word that has neither a letter nor a digit."""


def read_query(text: str) -> Query:
    """Return what a query says. Raises QueryError for a query that is too long and for a condition that cannot be
    read."""
    if len(text) > MAX_CHARS:
        raise QueryError(
            Sentence("the query has {n:,} characters; shorten it to {most:,} at most", n=len(text), most=MAX_CHARS)
        )
    plain = _SYSTEM.sub(r"crs:EPSG:\1", text.translate(_QUOTES))
    found = [match for match in _TERM.finditer(plain) if match["phrase"] != ""]
    if len(found) > MAX_TERMS:
        raise QueryError(
            Sentence("the query has {n:,} words; shorten it to {most} at most", n=len(found), most=MAX_TERMS)
        )
    query = Query()
    for match in found:
        query = _with(query, match)
    return query


def alternatives(text: str) -> list[str]:
    """Return the queries between which a text has a comma: `water,land use kind:wms,wfs` is `water kind:wms,wfs` and
    `land use kind:wms,wfs`. Conditions and excluded words hold for all of them. Raises QueryError for
    more than eight."""
    parts, held = [list[str]()], list[str]()
    for match in _TERM.finditer(text.translate(_QUOTES)):
        term = match[0] + '"' * (match[0].count('"') % 2)  # the last quote may be open
        if match["minus"] or (match["key"] or "").lower() in (*CONDITIONS, "sort"):
            held.append(term)
            continue
        first, *others = [term] if match["phrase"] is not None else term.replace("，", ",").split(",")
        parts[-1].append(first)
        parts += [[other] for other in others]
    words = [" ".join(part) for part in parts if any(part)]
    if len(words) > _MOST_ALTERNATIVES:
        raise QueryError(f"q has {len(words)} parts between commas; shorten it to {_MOST_ALTERNATIVES} at most")
    return [" ".join((*held, word)) for word in words] or [" ".join(held)]


def quoted(text: str) -> str:
    """Return a text in quotes, as the value of a condition; those within it become spaces."""
    return '"' + text.translate(_QUOTES).replace('"', " ") + '"'


def _with(query: Query, match: re.Match[str]) -> Query:
    """Return the query with one more word, phrase or condition."""
    key, value = (match["key"] or "").lower(), match["phrase"] or match["word"] or ""
    is_excluded = bool(match["minus"])
    if key == "sort":
        return replace(query, sort=_sort(value))
    if key in CONDITIONS:
        condition = _provider if key == "provider" and match["phrase"] else CONDITIONS[key]
        if is_excluded:
            without = dict.fromkeys((*query.without, condition(Filters(), value, f"{key}:")))
            return replace(query, without=tuple(without))
        return replace(query, filters=condition(query.filters, value, f"{key}:"))
    term = _term(match, value)
    if not _WORD_LETTER.search(term.text):
        return replace(query, left_out=True)
    if is_excluded:
        return replace(query, excluded=(*query.excluded, term))
    return replace(query, terms=(*query.terms, term))


def _term(match: re.Match[str], value: str) -> Term:
    """Return the word or phrase of a match that is no condition; an unknown `key:value` is a word."""
    if match["phrase"]:
        return Term(value, is_phrase=True)
    text = f"{match['key']}:{value}" if match["key"] else value
    stem = text.rstrip("*")
    return Term(stem, is_prefix=stem != text)


# --------------------------------------------------------------------------- conditions


def _values(text: str) -> list[str]:
    """Return the values of `a,b,c`."""
    values = [value.strip() for value in text.split(",") if value.strip()]
    if len(values) > _MOST_VALUES:
        raise QueryError(
            Sentence("“{text}” has {n} values; name {most} at most", text=text[:80], n=len(values), most=_MOST_VALUES)
        )
    return values


def _sort(text: str) -> Sort:
    """Return the order of a name. Raises QueryError for another text."""
    try:
        return Sort(text.lower())
    except ValueError:
        raise unreadable("sort", text, ", ".join(Sort)) from None


def _several(field: str, read: Callable[[str, str], str]) -> Condition:
    """Return a condition that holds for any of its values: `kind:wms,wfs`."""

    def add(filters: Filters, text: str, said: str) -> Filters:
        values: Any = tuple(dict.fromkeys((*getattr(filters, field), *(read(value, said) for value in _values(text)))))
        return replace(filters, **{field: values})

    return add


def _single(field: str, read: Callable[[str, str], Any]) -> Condition:
    """Return a condition with one value."""
    return lambda filters, text, said: replace(filters, **{field: read(text, said)})


def _of_column(name: str) -> Condition:
    """Return a condition on a column that is a facet."""

    def add(filters: Filters, text: str, said: str) -> Filters:
        values = dict.fromkeys((*filters.columns, *((name, value) for value in _values(text))))
        return replace(filters, columns=tuple(values))

    return add


def _as_typed(text: str, said: str) -> str:
    return text


def _country(text: str, said: str) -> str:
    return shipped_places().read_country(text)


def _provider(filters: Filters, text: str, said: str) -> Filters:
    """Add a provider whose name is in quotes: it may have commas."""
    return replace(filters, providers=tuple(dict.fromkeys((*filters.providers, text))))


def _alive(filters: Filters, text: str, said: str) -> Filters:
    if text.lower() in ("yes", "true", "1"):
        return replace(filters, alive=True)
    return replace(filters, answered_within_s=read_span(text, said))


CONDITIONS: Mapping[str, Condition] = {
    "kind": _several("kinds", read_kind),
    "bbox": _single("box", read_box),
    "within": _single("within", read_box),
    "crs": _several("systems", read_system),
    "format": _several("formats", _as_typed),
    "field": _several("fields", _as_typed),
    "country": _several("countries", _country),
    "provider": _several("providers", _as_typed),
    "health": _several("health", read_health),
    "time": _single("time", read_times),
    "level": _single("level", read_level),
    "alive": _alive,
    "new": _single("new_within_s", read_span),
    **{name: _of_column(name) for name in OF_COLUMNS},
}
"""Name of a condition → what adds its value to filters; it is told what the user typed before, for its messages."""
