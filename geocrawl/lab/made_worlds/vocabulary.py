"""Read the vocabulary of made webs: themes and languages from data files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from geocrawl.errors import UsageError

LANGUAGES = ("en", "de", "zh", "ja")


@dataclass(frozen=True, slots=True)
class Language:
    """The texts, labels and charsets of pages in one language."""

    code: str
    charsets: Sequence[str]
    """Charsets; each site draws one, a repeated name more often."""
    sentences: Sequence[str]
    verbs: Sequence[str]
    adjectives: Sequence[str]
    jargon: Sequence[str]
    """Nouns of pages about services."""
    talk: Sequence[str]
    """Sentences of pages about services."""
    titled: Sequence[str]
    """Titles of pages that mention a service."""
    directory: str
    """Name of a directory of services."""
    telling: Sequence[str]
    """Anchors that describe the link's target."""
    vague: Sequence[str]
    """Anchors that do not describe the link's target."""
    organisations: Sequence[str]
    labels: Mapping[str, str]
    syllables: Sequence[str]
    """Syllables of place names."""
    roman: Sequence[str]
    """The syllables in Latin letters, for host names."""

    @property
    def spaced(self) -> bool:
        """Return whether words are separated by spaces."""
        return self.code in ("en", "de")


@dataclass(frozen=True, slots=True)
class Words:
    """A theme in one language."""

    name: str
    nouns: Sequence[str]
    titles: Sequence[str]


@dataclass(frozen=True, slots=True)
class Theme:
    """A subject of sites."""

    name: str
    about: str
    relevant: bool
    """Whether providers of services have this theme."""
    words: Mapping[str, Words]
    """Language → the theme's words."""


@lru_cache(maxsize=1)
def languages() -> Mapping[str, Language]:
    """Return all languages by their code."""
    data = _read("languages")
    return {code: Language(code=code, **{"roman": row["syllables"], **row}) for code, row in data.items()}


@lru_cache(maxsize=1)
def themes() -> Mapping[str, Theme]:
    """Return all themes by their name, in the order of the names."""
    folder = resources.files("geocrawl").joinpath("data/worlds")
    names = sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))
    found = {}
    for name in names:
        if name == "languages":
            continue
        data = _read(name)
        words = {code: Words(**data[code]) for code in LANGUAGES}
        found[name] = Theme(name, data["about"], data["relevant"], words)
    return found


def vocabularies() -> Mapping[str, Theme]:
    """Return the themes of services, by the names that `--vocabulary` accepts."""
    return {name: theme for name, theme in themes().items() if theme.relevant}


def read_vocabularies(names: Sequence[str]) -> tuple[Theme, ...]:
    """Return the themes of these names, without names all themes. Raises UsageError for an unknown name."""
    known = vocabularies()
    for name in names:
        if name not in known:
            raise UsageError(f"there is no vocabulary {name!r}: use one of {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names)) if names else tuple(known.values())


def _read(name: str) -> dict[str, Any]:
    text = resources.files("geocrawl").joinpath(f"data/worlds/{name}.toml").read_text("utf-8")
    return tomllib.loads(text)
