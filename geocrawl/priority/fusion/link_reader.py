"""Turn links and pages into the numbers that fusion learns from: the hashed features of `feature_names`."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from geocrawl.model import Document, Link, Relevance
from geocrawl.ports import Waiting
from geocrawl.priority.fusion import feature_names
from geocrawl.priority.fusion.word_models import WordModels
from geocrawl.priority.text.contexts import link_contexts
from geocrawl.priority.topics.link_relevance import LinkMeasure, LinkModel

REMEMBERED = 50_000
"""Links whose features are cached: a site's navigation is on each of its pages."""


class _Address(NamedTuple):
    host: int
    folder: int
    pattern: int
    ids: tuple[int, ...]


class LinkReader:
    """Computes the features of links; the same link on pages of the same host and level has the same numbers."""

    def __init__(self, links: LinkModel, words: WordModels) -> None:
        self._match = LinkMeasure(links).match
        self._words = words
        self._of_url = lru_cache(REMEMBERED)(_read_address)
        self._of_link = lru_cache(REMEMBERED)(self._read)

    def links(self, document: Document, level: Relevance) -> list[bytes]:
        """Return for each link its own arms and features (uint32, packed), in the document's order."""
        host = feature_names.host_of(document.url.identity)
        return [
            self._of_link(link, context, level, host)
            for link, context in zip(document.links, link_contexts(document.links), strict=True)
        ]

    def page(self, page: feature_names.PageContext) -> tuple[int, ...]:
        """Return the numbers that the links of a page share: the page's URL pattern, arms page and hit, features."""
        seen = feature_names.of_page(page)
        return (
            self._of_url(page.identity).pattern,
            *feature_names.buckets(seen.arms),
            *feature_names.buckets(seen.names),
        )

    def _read(self, link: Link, context: Sequence[str], level: Relevance, page_host: str) -> bytes:
        host = feature_names.host_of(link.url.identity)
        address = self._of_url(link.url.identity)
        text = feature_names.of_text(link.anchor, link.context, link.where, host)
        names = (*text.names, *self._measured(link.url.address, link.anchor, context, level, host, page_host))
        head = (address.host, address.folder, feature_names.bucket(text.arms[0]), address.pattern)
        return array("I", (*head, *address.ids, *feature_names.buckets(names))).tobytes()

    def _measured(
        self, address: str, anchor: str, context: Sequence[str], level: Relevance, host: str, page_host: str
    ) -> tuple[str, ...]:
        both = feature_names.of_both(self._match(address, anchor).level, level, host, page_host)
        words = self._words
        return (*both, *feature_names.of_words(anchor, words.anchor_nearness(anchor), words.odds(anchor, context)))

    def named(self, waiting: Waiting) -> feature_names.Features:
        """Return the features and arms that a frontier row reveals, without the page of the link."""
        identity = waiting.url.identity
        host = feature_names.host_of(identity)
        address, text = feature_names.of_url(identity), feature_names.of_text(waiting.anchor, "", "a", host)
        level = waiting.page_relevance
        measured = self._measured(waiting.url.address, waiting.anchor, (), level, host, host)
        page = ("any", f"page depth:{min(max(waiting.depth - 1, 0), 6)}")
        arms = (*address.arms[:2], *text.arms, address.arms[2], f"kin:{identity}", "page:", "hit:")
        return feature_names.Features(tuple(dict.fromkeys((*page, *measured, *address.names, *text.names))), arms)


def _read_address(identity: str) -> _Address:
    seen = feature_names.of_url(identity)
    host, folder, pattern = feature_names.buckets(seen.arms)
    return _Address(host, folder, pattern, feature_names.buckets(seen.names))
