"""Train the text model from labelled pages or texts: a vocabulary with idf, and a topic vector for each language.

No function does I/O but `train_vectors_file`, which reads the pages, leaves out those of the worlds that the model will
be measured on, and writes the model with the record of its training.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.documents import documents
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.lab.training.feature_selection import ranked_terms
from geocrawl.lab.training.gws_models import ON_TOPIC, LabelledPage
from geocrawl.lab.training.labelled_pages import EXCLUSION, FOLDS, fold_of, read_examples, record, site_of
from geocrawl.lab.training.overlap import TextOf
from geocrawl.model import Document
from geocrawl.priority.models import write_vectors
from geocrawl.priority.text_terms import TextModel, mean, term_counts, tf_idf

LEAST_SITES = 2
"""A term of fewer sites is rare and left out of the vectors (hits, "rare words removed")."""
TOPIC_TERMS = 400
"""Number of heaviest terms in a topic vector (ours); more terms would add noise and size."""
SELECTED = 500
"""Number of terms that are selected by each measure for the trained rival of adaptive, as many as adaptive's m (ours).
"""
THRESHOLD_QUANTILE = 0.05
"""The relevance threshold is this quantile of the scores of held-out pages on the topic (hits uses 200 hand-picked
pages).
"""


def train_vectors(pages: Sequence[LabelledPage], relevant: Iterable[Document] = ()) -> TextModel:
    """Return the text model of labelled pages.

    `threshold` and `typical` are quantiles over pages of sites that each fold of the training left out; `percentiles`
    are over these and the `relevant` pages of webs. Raises UsageError when no page is on the topic.
    """
    counted = [(page, term_counts(f"{page.title}\n{page.text}")) for page in pages]
    idf, topics = _learn(counted)
    if not topics:
        raise UsageError(f"nothing to learn from: no page is labelled {ON_TOPIC!r}")
    scores = held_out_scores(counted)
    on_topic = sorted(score for label, score in scores if label == ON_TOPIC)
    rounded = {language: _rounded(vector) for language, vector in topics.items()}
    model = TextModel(_rounded(idf), rounded, threshold=0.0, typical=0.0)
    every = sorted([*on_topic, *(model.page_similarity(document) for document in relevant)])
    return TextModel(
        model.idf,
        rounded,
        threshold=round(quantile(on_topic, THRESHOLD_QUANTILE), 4),
        typical=round(quantile(on_topic, 0.5), 4),
        percentiles=[round(quantile(every, per / 100), 4) for per in range(101)],
        selections=ranked_terms(
            (({t for t in counts if t in idf}, page.label == ON_TOPIC) for page, counts in counted), SELECTED
        ),
        made={
            "terms": len(idf),
            "topic_terms": TOPIC_TERMS,
            "least_sites": LEAST_SITES,
            "held_out": _held_out_record(scores),
            "percentiles_of": {"held out": len(on_topic), "on webs": len(every) - len(on_topic)},
        },
    )


Counted = tuple[LabelledPage, Mapping[str, int]]


def _learn(pages: Sequence[Counted]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return (idf, language → topic vector).

    A topic vector is Rocchio's (1971): the positive part of the centroid of pages on the topic minus that of all other
    pages. So a site's frame and a language's common words are not part of the topic.
    """
    idf = _idf(pages)
    on, off = (_centroids(pages, idf, on_topic=which) for which in (True, False))
    topics = {}
    for language, centre in on.items():
        others = off.get(language, {})
        differences = {term: weight - others.get(term, 0.0) for term, weight in centre.items()}
        topics[language] = heaviest({term: d for term, d in differences.items() if d > 0.0}, TOPIC_TERMS)
    return idf, topics


def _idf(pages: Sequence[Counted]) -> dict[str, float]:
    """Return term → ln((1 + N)/(1 + df)) + 1, its lowest value over all languages.

    So a word that is common in one language has a low weight in all. Words of few sites are left out as rare.
    """
    sizes = Counter(page.language for page, _ in pages)
    df: dict[str, Counter[str]] = defaultdict(Counter)
    sites: dict[str, set[str]] = defaultdict(set)
    for page, counts in pages:
        df[page.language].update(counts.keys())
        site = site_of(page)
        for term in counts:
            sites[term].add(site)
    idf: dict[str, float] = {}
    for language, frequencies in df.items():
        for term, number in frequencies.items():
            if len(sites[term]) >= LEAST_SITES:
                weight = math.log((1 + sizes[language]) / (1 + number)) + 1.0
                idf[term] = min(weight, idf.get(term, weight))
    return idf


def _centroids(pages: Sequence[Counted], idf: Mapping[str, float], *, on_topic: bool) -> dict[str, dict[str, float]]:
    """Return language → centroid of its pages on or off the topic. Sites weigh the square root of their page counts."""
    sites: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for page, counts in pages:
        if (page.label == ON_TOPIC) is on_topic and (vector := tf_idf(counts, idf)):
            sites[page.language, site_of(page)].append(vector)
    centres: dict[str, dict[str, float]] = defaultdict(dict)
    weights: dict[str, float] = defaultdict(float)
    for (language, _), vectors in sorted(sites.items()):
        weight = math.sqrt(len(vectors))
        weights[language] += weight
        centre = centres[language]
        for term, value in mean(vectors).items():
            centre[term] = centre.get(term, 0.0) + weight * value
    return {
        language: {term: value / weights[language] for term, value in centre.items()}
        for language, centre in centres.items()
    }


def heaviest(vector: Mapping[str, float], number: int) -> dict[str, float]:
    """Return the heaviest terms of a vector, heaviest first, ties in alphabetical order."""
    return dict(sorted(vector.items(), key=lambda item: (-item[1], item[0]))[:number])


def held_out_scores(pages: Sequence[Counted]) -> list[tuple[str, float]]:
    """Return (label, similarity) of each page, by a model of the sites of the other folds."""
    scores = []
    for fold in range(FOLDS):
        idf, topics = _learn([each for each in pages if fold_of(each[0]) != fold])
        model = TextModel(idf, topics, threshold=0.0, typical=0.0)
        scores += [(page.label, model.nearness(tf_idf(counts, idf))) for page, counts in pages if fold_of(page) == fold]
    return scores


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the sorted values lie (the lower of two neighbours); 0 without any."""
    return ordered[math.floor(share * (len(ordered) - 1))] if ordered else 0.0


def _held_out_record(scores: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Return label → the scores of its pages at 5, 25, 50, 75 and 95 %."""
    by: dict[str, list[float]] = defaultdict(list)
    for label, score in scores:
        by[label].append(score)
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    return {label: [round(quantile(sorted(some), share), 4) for share in shares] for label, some in sorted(by.items())}


def _rounded(vector: Mapping[str, float]) -> dict[str, float]:
    return {term: round(weight, 4) for term, weight in sorted(vector.items())}


def naming_pages(world: World) -> Iterator[Document]:
    """Yield the pages of a recorded web that name a valid service."""
    naming = {key_of(page) for service in world.services if service.valid for page, _ in service.exposures}
    return (document for key, document, _ in documents(world) if key in naming)


def train_vectors_file(
    pages: Path, out: Path, exclude: Sequence[Path], text_of: TextOf, *, on: dt.date, calibrate: Sequence[Path] = ()
) -> dict[str, object]:
    """Learn the text model from `pages`, write it to `out` and return the record.

    `calibrate`: recorded webs whose pages that name services are relevant pages, too. Other arguments and errors are
    those of `gws_files.train_topic_file`.
    """
    examples = read_examples(pages, exclude, text_of)
    model = train_vectors(examples.kept, chain.from_iterable(naming_pages(World(path)) for path in calibrate))
    made: dict[str, object] = {
        **record(
            "TF-IDF over labelled pages, topic = those labelled ogc (geocrawl train vectors)",
            [pages],
            exclude,
            on=on,
            webs=calibrate,
        ),
        "options": {**EXCLUSION, "threshold_quantile": THRESHOLD_QUANTILE, "selected": SELECTED},
        "pages": examples.counts(),
        **model.made,
        "excluded_pages": examples.excluded,
    }
    model.made = made
    write_vectors(model, out)
    return {
        **made,
        "threshold": model.threshold,
        "typical": model.typical,
        "excluded_pages": len(examples.excluded),
        "heaviest_terms": {language: list(heaviest(vector, 12)) for language, vector in model.topics.items()},
        "out": str(out),
    }
