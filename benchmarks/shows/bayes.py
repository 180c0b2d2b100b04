"""The claims of Han et al. (2010) on our data: how far apart the words of pages and of link contexts are, and which
classifier tells links apart best. Writes docs/measurements/b_bayes.json.

A link is labelled by where it leads (`priority.bayes.training`). Every classifier is measured on the same 30 % of the
links; the one trained on pages reads the same words of anchor and context as the best one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.bayes_crawls import as_page_model, crawl_with
from geocrawl.lab.training.bayes_files import file_samples, read_documents, without_worlds
from geocrawl.lab.training.bayes_samples import OFF_TOPIC, ON_TOPIC, domain_lexicon
from geocrawl.lab.training.gws_files import read_labelled_links
from geocrawl.lab.training.train import text_of as page_text
from geocrawl.lab.training.train import training_document
from geocrawl.model import Document
from geocrawl.priority.bayes.training import Sample, train_bayes
from geocrawl.priority.models.naive_bayes import (
    BayesModel,
    FeatureReader,
    prior_weight,
    probability,
    weight,
)
from geocrawl.priority.text.terms import term_counts

WORLDS = ("portal", "agency", "mixed")
HELD_OUT = 0.3
ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "measurements" / "b_bayes.json"
Reading = Callable[[Sample], Sample]


def main(arguments: list[str]) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows bayes", description=__doc__)
    shared = Path(os.environ.get("GEOCRAWL_SHARED") or ROOT.parent / "shared")
    parser.add_argument("--shared", type=Path, default=shared, help="folder of worlds and corpus")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--budget", type=int, default=1500, help="pages of each crawl; 0: no crawls")
    options = parser.parse_args(arguments)
    result = measure(options.shared, options.budget)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(json.dumps(result, indent=1, ensure_ascii=False))


def measure(shared: Path, budget: int) -> dict[str, object]:
    """All figures, on all pages and on those that stand in none of the three recorded webs (the shipped model's)."""
    pages = list(read_documents(shared / "worlds" / "pages.jsonl.gz", training_document))
    kept, _ = without_worlds(pages, [shared / "worlds" / name for name in WORLDS], page_text)
    rows = list(read_labelled_links(shared / "corpus" / "urls.csv"))
    result: dict[str, object] = {
        "split": "70 % to learn from, 30 % held out, by hash",
        "all pages": _figures(pages, file_samples(pages, rows)),
        "pages outside the recorded webs": _figures(kept, file_samples(kept, rows)),
    }
    if budget:
        links, addresses = file_samples(kept, rows)
        worlds = [shared / "worlds" / name for name in WORLDS]
        result[f"crawls of {budget} pages"] = crawl_with(_models(kept, [*links, *addresses]), worlds, budget)
    return result


def _models(pages: Sequence[tuple[Document, str]], samples: Sequence[Sample]) -> dict[str, BayesModel]:
    """The paper's three, from pages that stand in none of the recorded webs."""
    return {
        "trained on pages": as_page_model(train_bayes(_as_samples(pages, without=set()), ())),
        "anchor": train_bayes([sample._replace(context=()) for sample in samples], ()),
        "anchor + context + lexicon": train_bayes(samples, domain_lexicon()),
    }


def _figures(
    pages: Sequence[tuple[Document, str]], samples: tuple[Sequence[Sample], Sequence[Sample]]
) -> dict[str, object]:
    of_pages, of_urls = samples
    return {
        "pages": dict(Counter(label for _, label in pages)),
        "links": _classes(of_pages),
        "addresses with anchor": _classes(of_urls),
        "held out by link": contest(pages, of_pages, of_urls, repr),
        "held out by site": contest(pages, of_pages, of_urls, lambda sample: sample.source),
        "Kullback-Leibler divergence, nats": divergences(pages, of_pages),
    }


def _classes(samples: Iterable[Sample]) -> dict[str, int]:
    return {"positive" if positive else "negative": n for positive, n in Counter(s.positive for s in samples).items()}


# --------------------------------------------------------------------------- classifiers


def contest(
    pages: Sequence[tuple[Document, str]],
    links: Sequence[Sample],
    addresses: Sequence[Sample],
    key: Callable[[Sample], str],
) -> dict[str, object]:
    """The classifiers on one held-out part of `links`: which part a link is in follows from its `key`."""
    held_out = [sample for sample in links if _draw(key(sample)) < HELD_OUT]
    learnt = [sample for sample in links if _draw(key(sample)) >= HELD_OUT]
    sites = {sample.source for sample in held_out} if key(held_out[0]) == held_out[0].source else set()
    lexicon = domain_lexicon()
    readings: dict[str, tuple[Sequence[str], Sequence[Sample], Reading]] = {
        "trained on pages": ((), _as_samples(pages, without=sites), _as_text),
        "anchor": ((), learnt, lambda s: s._replace(context=())),
        "anchor + context": ((), learnt, lambda s: s),
        "anchor + context + lexicon": (lexicon, learnt, lambda s: s),
        "the same, and addresses": (lexicon, [*learnt, *addresses], lambda s: s),
    }
    result: dict[str, object] = {"learnt": _classes(learnt), "held_out": _classes(held_out)}
    for name, (terms, samples, reading) in readings.items():
        model = train_bayes(map(reading, samples), terms)
        result[name] = _score(model, map(reading, held_out))
    return result


def _as_samples(pages: Sequence[tuple[Document, str]], *, without: set[str]) -> list[Sample]:
    """Pages as samples of a text: the paper's control."""
    return [
        Sample(f"{page.title} {page.text}", (), label == ON_TOPIC, page.url.host)
        for page, label in pages
        if label in (ON_TOPIC, OFF_TOPIC) and page.url.host not in without
    ]


def _as_text(sample: Sample) -> Sample:
    return sample._replace(anchor=" ".join((sample.anchor, *sample.context)), context=())


def _score(model: BayesModel, samples: Iterable[Sample]) -> dict[str, float]:
    """Accuracy, precision and recall of +, F1, and the area under the ROC curve (0.5 is chance)."""
    reader, prior = FeatureReader(model.lexicon), prior_weight(model)
    weights = {f: weight(having, (model.positive, model.negative)) for f, having in model.features.items()}
    scored = []
    for sample in samples:
        features = reader.of_link(sample.anchor, sample.context)
        scored.append((probability([prior, *[weights[f] for f in features if f in weights]]), sample.positive))
    right = sum((score > 0.5) == positive for score, positive in scored)
    taken = [positive for score, positive in scored if score > 0.5]
    hits, positives = sum(taken), sum(positive for _, positive in scored)
    figures = {
        "accuracy": right / len(scored),
        "precision": hits / max(len(taken), 1),
        "recall": hits / max(positives, 1),
        "f1": 2 * hits / max(len(taken) + positives, 1),
        "auc": _auc(scored),
    }
    return {name: round(figure, 4) for name, figure in figures.items()} | {"features": len(model.features)}


def _auc(scored: Sequence[tuple[float, bool]]) -> float:
    """Share of (+, −) pairs that are in order, ties half (Mann-Whitney)."""
    plus, minus = Counter(s for s, p in scored if p), Counter(s for s, p in scored if not p)
    below = area = 0.0
    for score in sorted(plus | minus):
        area += plus[score] * (below + minus[score] / 2)
        below += minus[score]
    return area / max(plus.total() * minus.total(), 1)


# --------------------------------------------------------------------------- divergences


def divergences(pages: Sequence[tuple[Document, str]], links: Sequence[Sample]) -> dict[str, object]:
    """KL(P‖Q) over the words common to both, with vocabulary sizes: links against pages, and halves of each."""
    page_words = [(page.url.address, term_counts(f"{page.title} {page.text}")) for page, _ in pages]
    link_words = [(repr(link), term_counts(_as_text(link).anchor)) for link in links]
    halves = {"pages": _halves(page_words), "link contexts": _halves(link_words)}
    everything = {name: one + two for name, (one, two) in halves.items()}
    return {
        "link contexts ‖ pages": _divergence(everything["link contexts"], everything["pages"]),
        "pages ‖ link contexts": _divergence(everything["pages"], everything["link contexts"]),
        "pages ‖ pages": _divergence(*halves["pages"]),
        "link contexts ‖ link contexts": _divergence(*halves["link contexts"]),
    }


def _halves(texts: Iterable[tuple[str, Mapping[str, int]]]) -> tuple[Counter[str], Counter[str]]:
    halves: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for key, words in texts:
        halves[_draw(key) >= 0.5].update(words)
    return halves


def _divergence(p: Counter[str], q: Counter[str]) -> dict[str, float]:
    common = p.keys() & q.keys()
    p_total, q_total = sum(p[w] for w in common), sum(q[w] for w in common)
    terms = (p[w] / p_total * math.log(p[w] * q_total / (q[w] * p_total)) for w in common)
    return {"kl": round(math.fsum(terms), 3), "words": len(p), "of the other": len(q), "common": len(common)}


def _draw(key: str) -> float:
    """A number in [0, 1) that follows from `key`."""
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:4], "big") / 2**32
