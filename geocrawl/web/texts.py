"""Say things in the language of the visitor: sentences of `texts.toml`, numbers, times, what happened to services."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from geocrawl.model.catalogue import Column, Service, columns
from geocrawl.model.details import NewsRow
from geocrawl.model.search import OF_COLUMNS
from geocrawl.wording import Count, Sentence, moment, percent, seconds

_FOLDER = Path(__file__).parent
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


@cache
def texts(language: str) -> Mapping[str, str]:
    """Return the texts of a language by name; English where it has none."""
    every = tomllib.loads((_FOLDER / "texts.toml").read_text("utf-8"))
    labels = {f"facet-{name}": columns(Service)[name].label for name in OF_COLUMNS}
    facets = {name: label[language == "zh"] for name, label in labels.items() if label}
    return {**every["en"], **every[language], **facets}


@cache
def sentences(language: str) -> Mapping[str, str]:
    """Return the sentences that other rooms word in English, by their template, in a language."""
    every: Mapping[str, Mapping[str, str]] = tomllib.loads((_FOLDER / "sentences.toml").read_text("utf-8"))
    return every.get(language, {})


class Words:
    """The texts of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts, self._sentences = texts(language), sentences(language)

    def __call__(self, name: str, /, **values: object) -> str:
        """Return a text with values, counts with their nouns (`{n:page}`); a name without a text (a code) as it is."""
        text = self._texts.get(name, name)
        counts = {key: Count(self.number(each)) for key, each in values.items() if isinstance(each, int)}
        return text.format(**values | counts) if values else text

    def label(self, column: Column) -> str:
        """Return the name of a column."""
        return (column.label or (column.name, column.name))[self.language == "zh"]

    def say(self, sentence: str) -> str:
        """Return a sentence of another room in this language; as it is when it is not known here."""
        if not isinstance(sentence, Sentence):
            return self._sentences.get(sentence, sentence)
        template = self._sentences.get(sentence.template, sentence.template)
        values = {
            name: self.say(each) if isinstance(each, Sentence) else each for name, each in sentence.values.items()
        }
        return template.format(**values) if values else template

    def knows(self, name: str) -> bool:
        """Return whether there is a text of this name."""
        return name in self._texts

    def value(self, name: str, value: str) -> str:
        """Return a value of a name, such as a column's; as it is when it has no text."""
        return self._texts.get(f"{name}-{value}", value)

    def ago(self, at: float | str | None, now: float) -> str:
        """Return how long ago a time was, in one unit; 'never' for None."""
        if at is None:
            return self("never")
        passed = max(now - (seconds(at) if isinstance(at, str) else at), 0)
        for unit, size in _UNITS:
            if passed >= size:
                return self(f"ago-{unit}", n=int(passed // size))
        return self("just-now")

    @staticmethod
    def number(value: float) -> str:
        """Return a number with its thousands marked."""
        return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"

    @staticmethod
    def percent(share: float | None) -> str:
        """Return a share as a percentage; '–' for None."""
        return percent(share)

    @staticmethod
    def moment(at: float | str | None) -> str:
        """Return a time, YYYY-MM-DD hh:mm UTC; '–' for None."""
        at = seconds(at) if isinstance(at, str) else at
        return "–" if at is None else f"{moment(at)[:16]} UTC"


# --------------------------------------------------------------------------- news


def sentence_of(news: NewsRow, words: Words) -> str:
    """Return what happened to a service, in words."""
    if news.what == "health":
        if news.before == "new":
            found = words("news-found")
            return found if news.after == "alive" else f"{found}, {words(f'news-{news.after}')}"
        said = words(f"news-{news.after}")
        return said if news.after == "alive" else f"{said} ({news.name})"
    if words.knows(f"news-{news.what}"):
        return words(f"news-{news.what}", name=news.name or news.after)
    return words("news-changed", what=news.what)
