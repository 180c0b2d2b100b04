"""Know words of queries: which are left out, which say little, which name a kind of service, which mean the same."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

from geocrawl.filters import QueryError
from geocrawl.model import Kind
from geocrawl.query.fold import spellings

Words = tuple[str, ...]
"""Folded words in order."""


_FORMS = ("{}", "{} service", "{} services", "{} server", "{} layer", "{} layers", "{} dienst", "{}服务")
"""Forms in which people write the abbreviation of a kind."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The shipped lists, by folded words."""

    stop: frozenset[Words]
    """Words that are left out of a query."""
    weak: frozenset[Words]
    """Words that need not occur in a service."""
    kinds: Mapping[Words, tuple[Kind, ...]]
    """Words that name kinds of service → these kinds."""
    synonyms: Mapping[Words, tuple[Words, ...]]
    """Words → all words that mean the same, in every spelling, themselves included."""
    longest: int
    """Most words of an entry."""
    joining: frozenset[str]
    """Characters that join words in scripts without spaces: never a part of the word beside them."""
    written: Mapping[Words, str] = field(default_factory=dict)
    """Words that have synonyms → the same as the list writes them, with capitals and diacritics."""


@cache
def shipped_vocabulary() -> Vocabulary:
    """Return the vocabulary of `data/search`."""
    lists, groups = _read("query_words.toml"), _read("synonyms.toml")
    kinds = {words: (kind,) for kind in Kind for name in _names(kind) for words in spelled(name)} | {
        words: tuple(kind for kind in Kind if offer in kind.facts.offers)
        for offer, entries in lists["offers"].items()
        for entry in entries
        for words in spelled(entry)
    }
    synonyms, written = _synonyms(group for theme in groups.values() for group in theme["groups"])
    stop = frozenset(words for entry in _entries(lists["stop"]) for words in spelled(entry))
    weak = frozenset(words for entry in _entries(lists["weak"]) for words in spelled(entry))
    longest = max(map(len, (*kinds, *synonyms, *stop, *weak)))
    return Vocabulary(stop, weak, kinds, synonyms, longest, frozenset(_entries(lists["joining"])), written)


def with_synonyms(vocabulary: Vocabulary, text: str, name: str) -> Vocabulary:
    """Return a vocabulary with the words of a TOML text of the form of `data/search/synonyms.toml` added.

    Raises QueryError, which names the file `name`, for a text that is not of this form.
    """
    try:
        groups = [group for theme in tomllib.loads(text).values() for group in theme["groups"]]
        added, written = _synonyms(groups)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise QueryError(f'{name}: expected [theme] and groups = [["word", "word"], …]: {error!r}'[:300]) from error
    synonyms = {
        words: tuple(dict.fromkeys((*vocabulary.synonyms.get(words, ()), *others))) for words, others in added.items()
    }
    return replace(
        vocabulary,
        synonyms={**vocabulary.synonyms, **synonyms},
        written={**written, **vocabulary.written},
        longest=max(vocabulary.longest, *map(len, synonyms), 1),
    )


def spelled(text: str) -> Iterator[Words]:
    """Yield the words of a text in each of their spellings, folded."""
    for choice in product(*(spellings(word) for word in text.split())):
        yield tuple(part for word in choice for part in word.split())


def _names(kind: Kind) -> Iterator[str]:
    """Yield the names by which people ask for a kind."""
    yield from (form.format(kind) for form in _FORMS)
    yield from kind.called
    yield from (f"{name}s" for name in kind.called if name.endswith("service"))
    yield from kind.facts.queries


def _entries(languages: Mapping[str, str]) -> Iterator[str]:
    for text in languages.values():
        yield from text.split()


def _synonyms(groups: Iterable[Iterable[str]]) -> tuple[dict[Words, tuple[Words, ...]], dict[Words, str]]:
    """Return words with what means the same, and words with how the first list that has them writes them."""
    found: dict[Words, dict[Words, None]] = {}
    written: dict[Words, str] = {}
    for group in groups:
        members = [(words, entry) for entry in group for words in spelled(entry)]
        for words, entry in members:
            found.setdefault(words, {}).update((words, None) for words, _ in members)
            written.setdefault(words, entry)
    return {words: tuple(members) for words, members in found.items()}, written


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("geocrawl").joinpath(f"data/search/{name}").read_text("utf-8"))
