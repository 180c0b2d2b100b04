"""Turn links and pages into the numbers that fusion learns from: the hashed features of `feature_names`."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

from geocrawl.model import Document, Link, Relevance, Url
from geocrawl.ports import QueuedLink
from geocrawl.priority.naive_bayes import (
    ANCHOR,
    CONTEXT,
    TERM_IN_ANCHOR,
    TERM_IN_CONTEXT,
    BayesModel,
    prior_weight,
    samples_of,
    weight,
)
from geocrawl.priority.nearness import Levels
from geocrawl.priority.strategies.fusion import feature_names
from geocrawl.priority.strategies.fusion.link_groups import group_of
from geocrawl.priority.text_terms import (
    REMEMBERED_WORDS,
    Keywords,
    TextModel,
    link_contexts,
    term_counts,
    term_of_word,
    tf_idf,
)

# --------------------------------------------------------------------------- word models
# Measure texts for fusion by the models of `best-first` (cosines with the topic) and `bayes` (odds of a link).


READ = 6_000
REMEMBERED = 8_192
"""Texts and addresses whose features are cached: a site's navigation is on each of its pages."""
REMEMBERED_LINKS = 16_384
"""Whole links whose features are cached, which spares all that is cached of their parts."""


class _Features(NamedTuple):
    """The weights of the classifier's features in a text, as an anchor and as the context of a link."""

    of_anchor: Mapping[str, float]
    of_context: Mapping[str, float]


_NOTHING: Mapping[str, float] = MappingProxyType({})
_NO_FEATURES = _Features(_NOTHING, _NOTHING)


class WordModels:
    """Measures texts, with a cache: a site's navigation is on each of its pages."""

    def __init__(self, texts: TextModel, bayes: BayesModel | None) -> None:
        """Make measures by two models. Without `bayes` (trained for another topic) all odds are 0."""
        self._texts = texts
        self._odds = {f: weight(n, samples_of(bayes, f)) for f, n in bayes.features.items()} if bayes else {}
        self._start = prior_weight(bayes) if bayes else 0.0
        self._terms = Keywords(frozenset(bayes.lexicon if bayes else ()))
        self._known_term = lru_cache(REMEMBERED_WORDS)(self._read_term)
        self._known_counts = lru_cache(REMEMBERED)(term_counts)
        self._known_features = lru_cache(REMEMBERED)(self._features)

    def anchor_nearness(self, anchor: str) -> float:
        """Return the cosine of a short text with the topic, 0…1."""
        return self._nearness(self._known_counts(anchor)) if anchor else 0.0

    def page_nearness(self, title: str, text: str) -> float:
        """Return the cosine of a page with the topic over all words, in units of the median page on the topic.

        The first `READ` characters count.
        """
        return self._nearness(term_counts(f"{title}\n{text[:READ]}", self._known_term)) / (self._texts.typical or 1.0)

    def odds(self, anchor: str, context: Sequence[str]) -> float:
        """Return ln of the odds that a link with this anchor and these texts around it leads to the topic (bayes)."""
        features = self._known_features(anchor).of_anchor
        for text in context:
            if around := self._known_features(text).of_context:
                features = {**features, **around}
        return self._start + sum(features.values())

    def _features(self, text: str) -> _Features:
        """Return the classifier's features in `text`."""
        if not text or not self._odds:
            return _NO_FEATURES
        words, has_term = self._known_counts(text), bool(self._terms.found_in(text))
        return _Features(
            self._weights((*(f"{ANCHOR} {word}" for word in words), *(TERM_IN_ANCHOR,) * has_term)),
            self._weights((*(f"{CONTEXT} {word}" for word in words), *(TERM_IN_CONTEXT,) * has_term)),
        )

    def _weights(self, features: Iterable[str]) -> Mapping[str, float]:
        odds = self._odds
        return {feature: odds[feature] for feature in features if feature in odds} or _NOTHING

    def _nearness(self, counts: Mapping[str, int]) -> float:
        return self._texts.nearness(tf_idf(counts, self._texts.idf)) if counts else 0.0

    def _read_term(self, word: str) -> str:
        """Return the term of a word, '' when the text model does not know it."""
        term = term_of_word(word)
        return term if term in self._texts.idf else ""


# --------------------------------------------------------------------------- links


class _Address(NamedTuple):
    """What the address of a link says."""

    host: int
    folder: int
    pattern: int
    ids: bytes
    """The other features, packed (uint32)."""


class _Anchor(NamedTuple):
    """Features of a link's text, the same for all links that have this text."""

    arm: int
    whole: str
    ids: bytes
    """The words as features, packed."""
    cosine: int
    form: str


class _Target(NamedTuple):
    """Holds what the address and the text of a link say, whatever page the link is on."""

    ids: bytes
    """Its own arms, and the features of address and text, packed."""
    level: Relevance
    """The link's level by gws."""
    host: str
    cosine: int
    form: str


class LinkReader:
    """Computes the features of links; the same link on pages of the same host and level has the same numbers."""

    def __init__(self, levels: Levels, words: WordModels) -> None:
        self._level = levels.link
        self._words = words
        self._of_url = lru_cache(REMEMBERED)(_read_address)
        self._of_anchor = lru_cache(REMEMBERED)(self._read_anchor)
        self._of_context = lru_cache(REMEMBERED)(_read_context)
        self._of_target = lru_cache(REMEMBERED)(self._read_target)
        self._of_link = lru_cache(REMEMBERED_LINKS)(self._read)
        self._of_place = lru_cache(REMEMBERED)(_group)

    def links(self, document: Document, level: Relevance) -> list[bytes]:
        """Return for each link its own arms and features (uint32, packed), in the document's order."""
        host = feature_names.host_of(document.url.identity)
        return [
            self._of_link(link, context, level, host)
            for link, context in zip(document.links, link_contexts(document.links), strict=True)
        ]

    def groups(self, document: Document) -> list[int]:
        """Return for each link its group: links of one place on the pages of one template and host."""
        host = feature_names.host_of(document.url.identity)
        template = feature_names.template_of(document.url.identity)
        return [self._of_place(host, link.tag_path or link.where, template) for link in document.links]

    def page(self, page: feature_names.PageContext) -> tuple[int, ...]:
        """Return the numbers that the links of a page share: the page's URL pattern, arms page and hit, features."""
        seen = feature_names.of_page(page)
        return (
            self._of_url(page.identity).pattern,
            *feature_names.buckets(seen.arms),
            *feature_names.buckets(seen.names),
        )

    def _read(self, link: Link, context: Sequence[str], level: Relevance, page_host: str) -> bytes:
        """Return what `named` and `of_text` say of the link, put together from what its parts say."""
        itself = self._of_target(link.url, link.anchor, link.where)
        odds = feature_names.odds_step(self._words.odds(link.anchor, context))
        return b"".join(
            (
                itself.ids,
                self._of_context(link.context),
                _of_both(itself.level, level, feature_names.place_of(itself.host, page_host)),
                _of_words(itself.cosine, odds, itself.form),
            )
        )

    def _read_target(self, url: Url, text: str, where: str) -> _Target:
        """Return the features of a link's address and text, the same on each page with this link."""
        host = feature_names.host_of(url.identity)
        address, anchor = self._of_url(url.identity), self._of_anchor(text)
        ids = (
            array("I", (address.host, address.folder, anchor.arm, address.pattern)).tobytes(),
            address.ids,
            _packed((f"where:{where}", feature_names.of_menu(host, anchor.whole))),
            anchor.ids,
        )
        return _Target(b"".join(ids), self._level(url.address, text), host, anchor.cosine, anchor.form)

    def _read_anchor(self, anchor: str) -> _Anchor:
        seen = feature_names.of_anchor(anchor)
        return _Anchor(
            feature_names.bucket(seen.arms[0]),
            feature_names.whole_anchor(anchor),
            _packed(seen.names),
            feature_names.cosine_step(self._words.anchor_nearness(anchor)),
            feature_names.form_of(anchor),
        )

    def _measured(self, waiting: QueuedLink, host: str) -> tuple[str, ...]:
        anchor, words = waiting.anchor, self._words
        link_level = self._level(waiting.url.address, anchor)
        cosine = feature_names.cosine_step(words.anchor_nearness(anchor))
        return (
            *feature_names.of_both(link_level, waiting.page_relevance, feature_names.place_of(host, host)),
            *feature_names.of_words(
                cosine, feature_names.odds_step(words.odds(anchor, ())), feature_names.form_of(anchor)
            ),
        )

    def named(self, waiting: QueuedLink) -> feature_names.Features:
        """Return the features and arms that a frontier row reveals, without the page of the link."""
        identity = waiting.url.identity
        host = feature_names.host_of(identity)
        address, text = feature_names.of_url(identity), feature_names.of_text(waiting.anchor, "", "a", host)
        measured = self._measured(waiting, host)
        page = ("any", f"page depth:{min(max(waiting.depth - 1, 0), 6)}")
        arms = (*address.arms[:2], *text.arms, address.arms[2], f"kin:{identity}", "page:", "hit:")
        return feature_names.Features(tuple(dict.fromkeys((*page, *measured, *address.names, *text.names))), arms)


def _group(host: str, place: str, template: str) -> int:
    return group_of(feature_names.bucket(f"group:{host} {place}"), template)


def _read_address(identity: str) -> _Address:
    seen = feature_names.of_url(identity)
    host, folder, pattern = feature_names.buckets(seen.arms)
    return _Address(host, folder, pattern, _packed(seen.names))


def _read_context(context: str) -> bytes:
    return _packed(feature_names.of_context(context))


@cache
def _of_both(link_level: Relevance, page_level: Relevance, place: str) -> bytes:
    return _packed(feature_names.of_both(link_level, page_level, place))


@cache
def _of_words(cosine: int, odds: int, form: str) -> bytes:
    return _packed(feature_names.of_words(cosine, odds, form))


def _packed(names: Iterable[str]) -> bytes:
    return array("I", feature_names.buckets(names)).tobytes()


# --------------------------------------------------------------------------- features of a page, packed
# Those of an ordinary page are two kilobytes, which are stored as they are: to compress them takes more time than
# anything else here.


MAX_NUMBERS = 5_000
"""Most numbers (of 4 bytes) that are packed with features, less than 20 KiB: links beyond that keep their value."""
MOST_PLAIN_BYTES = 8 * 1024
"""Features with more bytes are compressed."""
MAX_LINKS = 4_000
"""Most links that are packed at all."""
KEPT = 100
"""Most judged pages that wait to be learnt with their features."""
_HEAD = 4
_pack_head = Struct(f"={_HEAD}I").pack
_ZLIB = b"\x78"
"""First byte of compressed features; otherwise the first number is a level."""


class LinkFeatures(NamedTuple):
    """What a judgement keeps of a link."""

    value: float
    group: int
    """The link's group (`link_groups`)."""
    packed: bytes
    """The link's own arms and features, uint32; empty when the page has too many links."""


class PageFeatures(NamedTuple):
    """The features of a page and its links that `learn` needs."""

    level: int
    numbers: tuple[int, ...]
    """The features that the page contributes to its links (`LinkReader.page`)."""
    links: dict[int, LinkFeatures]
    """By the key of the link's identity."""


class JudgedPages:
    """Packs features of judged pages, and keeps those of the last ones, which so need not be unpacked to be learnt."""

    def __init__(self) -> None:
        self._kept: dict[bytes, PageFeatures] = {}

    def pack(self, page: tuple[int, ...], level: Relevance, links: dict[int, LinkFeatures]) -> bytes:
        """Return the numbers of a page, its level and its links by key, packed."""
        packed = pack_features(page, level, links)
        if packed[:1] != _ZLIB:  # of a compressed page the last links may have been left out
            self._kept[packed] = PageFeatures(level, page, links)
            if len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return packed

    def unpack(self, packed: bytes) -> PageFeatures:
        """Return the features that were packed, in this process or another one; they are kept no longer."""
        return self._kept.pop(packed, None) or unpack_features(packed)


def pack_features(page: Sequence[int], level: Relevance, links: Mapping[int, LinkFeatures]) -> bytes:
    """Return the numbers of a page, its level and its links by key, packed."""
    parts = [array("I", (int(level), len(page), *page)).tobytes()]
    room = MAX_NUMBERS - 2 - len(page)
    for key, (value, group, packed) in islice(links.items(), MAX_LINKS):
        count = len(packed) // 4
        if _HEAD + count > room:
            packed, count = b"", 0
        room -= _HEAD + count
        parts += (_pack_head(key, round(value * 10_000), group, count), packed)
    raw = b"".join(parts)
    return zlib.compress(raw, 1) if len(raw) > MOST_PLAIN_BYTES else raw


def unpack_features(packed: bytes) -> PageFeatures:
    """Return the features that `pack_features` packed."""
    raw = zlib.decompress(packed) if packed[:1] == _ZLIB else packed
    numbers = array("I", raw)
    level, size = numbers[:2]
    at, links = 2 + size, dict[int, LinkFeatures]()
    while at < len(numbers):
        key, value, group, count = numbers[at : at + _HEAD]
        at += _HEAD + count
        links[key] = LinkFeatures(value / 10_000, group, raw[4 * (at - count) : 4 * at])
    return PageFeatures(level, tuple(numbers[2 : 2 + size]), links)


def key_of(identity: str) -> int:
    """Return the CRC-32 of an identity."""
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
