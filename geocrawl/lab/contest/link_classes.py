"""Train and test classifiers of links on a recorded web, as Han et al. (2010) do before they crawl.

A link is positive when it leads to a host that is authoritative for the topic, because more than half of its pages are
relevant by the truth about the web (`study`). The link is negative when the host has no relevant page; links to other
hosts are left out, and as many of each class are drawn. 7 of 10 links train a classifier, the others test it. The
control is trained on pages, relevant ones and as many others, of the same web. The divergences are those of Kullback
and Leibler (1951), in nats, between the distributions of words of topic pages and of links to topic pages, over the
words common to both. A divergence depends on the direction; the paper names the distribution of links first.

These classifiers are for the report alone: no crawl uses them.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from geocrawl.errors import UsageError
from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.documents import documents
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Document
from geocrawl.priority.models import shipped_models
from geocrawl.priority.naive_bayes import (
    BAYES_FILE,
    BayesModel,
    FeatureReader,
    for_links,
    prior_weight,
    read_bayes,
    weight,
)
from geocrawl.priority.strategies.bayes import Sample, train_bayes
from geocrawl.priority.text_terms import link_contexts, term_counts

MOST_LINKS, MOST_PAGES = 33_000, 1_200
"""Most samples of one class (Han et al.: 34,728 and 32,872 links, 1,200 pages of each class)."""
LEAST_LINKS = 100
"""With fewer samples of a class a table would say little."""
TOPIC_SHARE = 0.5
"""A host is authoritative for the topic when more than this share of its pages is relevant."""
TRAINED = 7
"""Samples of ten that are trained on."""


class Scores(NamedTuple):
    """The results of a classifier with the tested links."""

    precision: float
    recall: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class LinkClasses:
    """The classifiers and divergences of one web."""

    world: str
    positive: int
    negative: int
    pages: int
    """Pages of each class that the control was trained on."""
    scores: Mapping[str, Scores]
    """Preset → its classifier on the tested links."""
    divergences: Mapping[str, float]
    """`links : pages`, `pages : links`, `pages : pages` and `links : links` → divergence in nats of the first."""


class _Texts(NamedTuple):
    """What is read of a web: links by class, pages by class."""

    links: list[tuple[str, Sample]]
    """(name by which a sample is drawn, sample)"""
    pages: list[tuple[str, Sample]]


def classify_links(path: Path, relevant: frozenset[str]) -> LinkClasses:
    """Return the classifiers of the world in `path`; `relevant` are its pages on the topic. Runs in its own process.

    Raises UsageError when the web has fewer than `LEAST_LINKS` links of a class.
    """
    world = World(path)
    texts = _read(world, relevant)
    links, pages = _balanced(texts.links, MOST_LINKS), _balanced(texts.pages, MOST_PAGES)
    if len(links) < 2 * LEAST_LINKS:
        raise UsageError(f"{world.name} has fewer than {LEAST_LINKS} links to hosts of the topic, or to others")
    trained = [sample for name, sample in links if _tenth(name) < TRAINED]
    tested = [sample for name, sample in links if _tenth(name) >= TRAINED]
    lexicon = read_bayes(shipped_models() / BAYES_FILE).lexicon
    return LinkClasses(
        world=world.name,
        positive=sum(sample.positive for _, sample in links),
        negative=sum(not sample.positive for _, sample in links),
        pages=len(pages) // 2,
        scores={
            "bayes:paper": _tested(train_bayes(trained, lexicon), tested, lexicon),
            "bayes:anchors": _tested(train_bayes(map(_anchor_alone, trained), ()), map(_anchor_alone, tested), ()),
            "bayes:pages": _tested(for_links(train_bayes((s for _, s in pages), lexicon)), tested, lexicon),
        },
        divergences=_divergences(links, pages),
    )


def _read(world: World, relevant: frozenset[str]) -> _Texts:
    """Return the samples of a world. A link with the same texts and target counts once per host."""
    links: dict[str, Sample] = {}
    pages: list[tuple[str, Sample]] = []
    known = {key for key, record in world.warc.records.items() if record.kind == "page" and record.status == 200}
    sides = host_sides(known, relevant)
    for key, document, _ in documents(world):
        host = key.partition("/")[0]
        if key in known:
            text = f"{document.title}\n{document.text}"
            pages.append((_name(key), Sample(text, (), key in relevant, host)))
        for target, sample in _links(document, sides, known):
            links.setdefault(_name(host, target, sample.anchor, *sample.context), sample)
    return _Texts(list(links.items()), pages)


def host_sides(pages: AbstractSet[str], relevant: AbstractSet[str]) -> dict[str, bool]:
    """Return host → whether it is authoritative for the topic or for other topics; a host that is neither is left out.

    `pages`, `relevant`: keys of all pages, and of those on the topic.
    """
    every = Counter(page.partition("/")[0] for page in pages)
    on_topic = Counter(page.partition("/")[0] for page in pages & relevant)
    shares = {host: on_topic[host] / number for host, number in every.items()}
    return {host: share > TOPIC_SHARE for host, share in shares.items() if not 0.0 < share <= TOPIC_SHARE}


def _links(document: Document, sides: Mapping[str, bool], known: set[str]) -> Iterator[tuple[str, Sample]]:
    own = key_of(document.url.address)
    for link, context in zip(document.links, link_contexts(document.links), strict=True):
        target = key_of(link.url.address)
        side = sides.get(target.partition("/")[0])
        if side is not None and target in known and target != own and (link.anchor or context):
            yield target, Sample(link.anchor, context, side, document.url.host)


def _name(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _tenth(name: str) -> int:
    """Return 0…9 by the end of a name, whose beginning decides what is drawn."""
    return int(name[-8:], 16) % 10


def _balanced(samples: Sequence[tuple[str, Sample]], most: int) -> list[tuple[str, Sample]]:
    """Return as many positive as negative samples, at most `most` of each, drawn by their names."""
    ordered = sorted(samples)
    classes = [[each for each in ordered if each[1].positive is wanted] for wanted in (True, False)]
    number = min(most, *map(len, classes))
    return [*classes[0][:number], *classes[1][:number]]


def _anchor_alone(sample: Sample) -> Sample:
    return sample._replace(context=())


def _tested(model: BayesModel, tested: Iterable[Sample], lexicon: Sequence[str]) -> Scores:
    reader = FeatureReader(lexicon)
    counts = Counter[tuple[bool, bool]]()
    prior = prior_weight(model)
    samples = (model.positive, model.negative)
    weights = {feature: weight(having, samples) for feature, having in model.features.items()}
    for sample in tested:
        features = reader.of_link(sample.anchor, sample.context)
        said = prior + math.fsum(weights.get(feature, 0.0) for feature in features) > 0.0
        counts[sample.positive, said] += 1
    right, called = counts[True, True], counts[True, True] + counts[False, True]
    positive, every = counts[True, True] + counts[True, False], counts.total()
    return Scores(
        precision=right / called if called else 0.0,
        recall=right / positive if positive else 0.0,
        accuracy=(right + counts[False, False]) / every if every else 0.0,
    )


# --------------------------------------------------------------------------- divergences

LINKS_PAGES, PAGES_LINKS = "links : pages", "pages : links"
PAGES_PAGES, LINKS_LINKS = "pages : pages", "links : links"


def _divergences(links: Sequence[tuple[str, Sample]], pages: Sequence[tuple[str, Sample]]) -> dict[str, float]:
    """Return the divergences between words of topic pages and of links to them; a kind from itself by two halves."""
    halves = {name: _halves(samples) for name, samples in (("pages", pages), ("links", links))}
    of_pages, of_links = (one + other for one, other in halves.values())
    return {
        LINKS_PAGES: divergence(of_links, of_pages),
        PAGES_LINKS: divergence(of_pages, of_links),
        PAGES_PAGES: divergence(*halves["pages"]),
        LINKS_LINKS: divergence(*halves["links"]),
    }


def _halves(samples: Iterable[tuple[str, Sample]]) -> tuple[Counter[str], Counter[str]]:
    """Return the words of the positive samples, counted in two halves that are drawn by name."""
    halves = (Counter[str](), Counter[str]())
    for name, sample in samples:
        if sample.positive:
            for text in (sample.anchor, *sample.context):
                halves[_tenth(name) % 2].update(term_counts(text))
    return halves


def divergence(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Return Σ p·ln(p/q) over the words common to both, p and q their shares among these; 0 without any."""
    common = sorted(one.keys() & other.keys())
    ones, others = sum(one[word] for word in common), sum(other[word] for word in common)
    parts = ((one[word] / ones, other[word] / others) for word in common)
    return math.fsum(p * math.log(p / q) for p, q in parts)
