"""Train the models of gws from examples in memory; `gws_files` reads examples and writes models.

The candidate words are in `geocrawl/data/gws_words.toml`.
"""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any
from urllib.parse import unquote

from geocrawl.errors import UsageError
from geocrawl.model import Url
from geocrawl.priority.nearness import LinkModel, TopicModel, page_vector, split_camel_case
from geocrawl.priority.text_terms import Keywords, has_han, stop_words
from geocrawl.urls import read_url

TOPIC_KEYWORDS = 10
"""n, keywords of a topic vector (gws, "topic model")."""
TITLE_WEIGHT = 0.5
"""Share of the title in the page vectors of the training, as in `gws.title_weight`."""
LINK_KEYWORDS = 10
"""k, link keywords of a language (gws eq. 3)."""
ORDINARY_SHARE = 0.01
"""A word on links to this share of the sites of ordinary links is a stop word of links."""
ON_TOPIC = "ogc"
"""Label of the pages that the topic is learnt from."""
WMS_LINK, NO_SERVICE = "wms", "other"
"""Labels of links to a WMS, from which keywords are learnt, and of links to no service."""
_LATIN_WORD = re.compile("[a-z]{2,}")


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A training page as extracted text."""

    url: str
    language: str
    label: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class LabelledLink:
    """A row of a list of addresses."""

    url: str
    label: str
    """wms for a link to a WMS, other for a link to no service."""
    anchor: str = ""
    note: str = ""
    """Empty for an ordinary link; the reason for a hard negative or another doubtful link."""


# --------------------------------------------------------------------------- topic


def train_topic(
    pages: Iterable[LabelledPage],
    initial: Mapping[str, Sequence[str]] | None = None,
    *,
    n: int = TOPIC_KEYWORDS,
    title_weight: float = TITLE_WEIGHT,
) -> TopicModel:
    """Return the topic vectors:

    for each language the `n` of its `initial` keywords with the highest TF-IDF, and that weight.

    TF is the mean of the keyword's share in the page vectors of the pages on the topic; IDF = ln((1 + N)/(1 + df)) + 1
    over all pages of the language, on the topic or not, so that a word of every page is not a word of this topic. A
    language without pages on the topic gets no vector. Raises UsageError when no language has such pages.
    """
    initial = initial_keywords() if initial is None else initial
    by_language: dict[str, list[LabelledPage]] = defaultdict(list)
    for page in pages:
        by_language[page.language].append(page)
    vectors = {}
    for language, words in initial.items():
        chosen = _heaviest(_tf_idf(by_language[language], words, title_weight), n)
        # Weights are computed again for the chosen words only, because a crawl counts only these: it counts a longer
        # word that was not chosen (地图服务) as the shorter word within (地图).
        weights = _heaviest(_tf_idf(by_language[language], list(chosen), title_weight), n)
        if weights:
            vectors[language] = _unit(weights)
    if not vectors:
        raise UsageError(f"nothing to learn from: no page labelled {ON_TOPIC!r} in {', '.join(initial)} has a keyword")
    return TopicModel(vectors)


def _unit(weights: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {word: round(weight / length, 6) for word, weight in weights.items()}


def _heaviest(weights: Mapping[str, float], n: int) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:n])


def _tf_idf(pages: Sequence[LabelledPage], words: Sequence[str], title_weight: float) -> dict[str, float]:
    keywords = Keywords(words)
    tf: dict[str, float] = defaultdict(float)
    df: Counter[str] = Counter()
    for page in pages:
        vector = page_vector(keywords, page.title, page.text, title_weight)
        df.update(vector.keys())
        if page.label == ON_TOPIC:
            total = sum(vector.values())
            for word, frequency in vector.items():
                tf[word] += frequency / total  # each page counts the same, a short one and one full of keywords
    idf = {word: math.log((1 + len(pages)) / (1 + df[word])) + 1.0 for word in words}
    return {word: frequency * idf[word] for word, frequency in tf.items()}


def initial_keywords() -> dict[str, list[str]]:
    """Return the m initial keywords of each language, terms of the WMS standard (`geocrawl/data/gws_words.toml`)."""
    topic: dict[str, dict[str, list[str]]] = _words_data()["topic"]
    return {language: [word for words in parts.values() for word in words] for language, parts in topic.items()}


def standard_keywords() -> dict[str, list[str]]:
    """Return the initial keywords with the everyday words of the standard, which the paper has among them."""
    everyday: dict[str, list[str]] = _words_data()["standard"]
    return {language: words + everyday[language] for language, words in initial_keywords().items()}


# --------------------------------------------------------------------------- links


def train_links(
    rows: Iterable[LabelledLink],
    han_terms: Sequence[str] | None = None,
    abbreviations: Sequence[str] | None = None,
    *,
    k: int = LINK_KEYWORDS,
) -> LinkModel:
    """Return the link keywords: the `k` most frequent words of WMS links of different sites, one link per site.

    A word is a run of Latin letters or its parts in camel case. Excluded are general stop words and words of ordinary
    links (`ORDINARY_SHARE`): http, www, service, map. Templates (`{z}`) are no links. Chinese keywords are the `k` of
    `han_terms` that occur in most Han anchors of any label, ties in the list's order. `standard` has words of ordinary
    links, too, but no abbreviations, which have a level of their own, and no Han term that occurs nowhere. The counts
    are recorded in `made`. Raises UsageError when there is no WMS link.
    """
    data = _words_data()["links"]
    rows = list(rows)
    ordinary = _word_sites(_links_of(rows, NO_SERVICE))
    enough = ORDINARY_SHARE * len({url.site for _, url in _links_of(rows, NO_SERVICE)})
    stops = stop_words() | {word for word, sites in ordinary.items() if len(sites) >= enough}
    chosen = _one_a_site(_links_of(rows, WMS_LINK))
    if not chosen:
        raise UsageError(f"nothing to learn from: no link is labelled {WMS_LINK!r}")
    counts = Counter({word: len(sites) for word, sites in _word_sites(chosen).items()})
    ordered = sorted(counts.keys() - stop_words(), key=lambda word: (-counts[word], word))
    latin = [word for word in ordered if word not in stops][:k]
    abbreviations = tuple(abbreviations or data["abbreviations"])
    literal = [word for word in ordered if word not in abbreviations][:k]
    anchors = [row.anchor for row in rows if has_han(row.anchor)]
    holding = {term: sum(term in anchor for anchor in anchors) for term in han_terms or data["han_terms"]}
    han = sorted(holding, key=lambda term: -holding[term])[:k]
    return LinkModel(
        {"en": tuple(latin), "zh": tuple(han)},
        abbreviations,
        {
            "wms_sites": len(chosen),
            "han_anchors": len(anchors),
            "sites_with_keyword": {word: counts[word] for word in latin},
            "anchors_with_keyword": {term: holding[term] for term in han},
        },
        {"en": tuple(literal), "zh": tuple(term for term in han if holding[term])},
        tuple(data["wider"]),
    )


def _links_of(rows: Iterable[LabelledLink], label: str) -> list[tuple[LabelledLink, Url]]:
    """Return the links with that label and without a note, except templates and unreadable addresses."""
    links = []
    for row in rows:
        if row.label == label and not (label == NO_SERVICE and row.note) and not set(row.url) & set("{}[]"):
            url = read_url(row.url)
            if url is not None:
                links.append((row, url))
    return links


def _one_a_site(links: Iterable[tuple[LabelledLink, Url]]) -> list[tuple[LabelledLink, Url]]:
    """Return one link of each site, drawn by hash, so that neither the rows' order nor a spelling decides."""
    best: dict[str, tuple[bytes, tuple[LabelledLink, Url]]] = {}
    for row, url in links:
        drawn = hashlib.sha256(row.url.encode()).digest()
        if url.site not in best or drawn < best[url.site][0]:
            best[url.site] = (drawn, (row, url))
    return [link for _, link in best.values()]


def _word_sites(links: Iterable[tuple[LabelledLink, Url]]) -> dict[str, set[str]]:
    """Return Latin word → the sites whose links have it, in URL or anchor."""
    sites: dict[str, set[str]] = defaultdict(set)
    for row, url in links:
        for word in set(_latin_words(f"{_without_suffix(url)} {row.anchor}")):
            sites[word].add(url.site)
    return sites


def _without_suffix(url: Url) -> str:
    """Return the address without its public suffix (`gob.mx`), because a country is no sign of the topic."""
    suffix = "." + url.site.partition(".")[2]
    return unquote(url.address).replace(url.host, url.host.removesuffix(suffix), 1)


def _latin_words(text: str) -> Iterator[str]:
    yield from _LATIN_WORD.findall(text.lower())
    yield from _LATIN_WORD.findall(split_camel_case(text).lower())


def _words_data() -> dict[str, Any]:
    return tomllib.loads(resources.files("geocrawl").joinpath("data/gws_words.toml").read_text("utf-8"))
