"""Say what happened to services, in the visitor's language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from geocrawl.store.read.history import NewsRow
from geocrawl.web.wording import Words


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something that happened, for people."""

    service_id: int
    title: str
    url: str
    at: float
    sentence: str


def sentences(news: Iterable[NewsRow], words: Words) -> list[Sentence]:
    """Return news as sentences."""
    return [Sentence(each.service_id, each.title, each.url, each.at, sentence_of(each, words)) for each in news]


def sentence_of(news: NewsRow, words: Words) -> str:
    """Return what happened."""
    if news.what == "health":
        if news.before == "new":
            found = words("news-found")
            return found if news.after == "alive" else f"{found}, {words(f'news-{news.after}')}"
        said = words(f"news-{news.after}")
        return said if news.after == "alive" else f"{said} ({news.name})"
    if words.knows(f"news-{news.what}"):
        return words(f"news-{news.what}", name=news.name or news.after)
    return words("news-changed", what=news.what)
