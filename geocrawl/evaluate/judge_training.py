"""Training of the fixed judge: `python -m geocrawl.evaluate.judge_training PAGES WORLD…`, for anyone to repeat."""

from __future__ import annotations

import datetime as dt
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from geocrawl import __version__
from geocrawl.evaluate.judge import FEATURES, JUDGE_FILE, LEAST_PAGES, accuracy, train, write_judge
from geocrawl.model import Page
from geocrawl.page.document import PageReader
from geocrawl.priority.models import shipped_models
from geocrawl.priority.overlap import CONTAINED, SHINGLE_WORDS, contained
from geocrawl.priority.training import LabelledPage
from geocrawl.priority.training_files import by_label, fingerprint, read_pages
from geocrawl.urls import read_url

RELEVANT = "ogc"
FOLDS = 5


def train_judge_file(pages: Path, out: Path, exclude: Sequence[Path], *, on: dt.date) -> dict[str, object]:
    """Learn from the labelled `pages` that stand in none of the webs `exclude`, and write the judge to `out`.

    Returns the record. Raises UsageError for a file of another form, EnvironmentFault for one that cannot be read.
    """
    read = list(read_pages(pages, text_of))
    standing = contained([page.text for page in read], exclude, text_of)
    kept = [page for i, page in enumerate(read) if i not in standing]
    made: dict[str, object] = {
        "how": "Bernoulli naive Bayes: pages labelled ogc against all others (geocrawl.evaluate.judge_training)",
        "date": on.isoformat(),
        "geocrawl": __version__,
        "files": [fingerprint(pages)],
        "exclude": [fingerprint(world / "pages.warc.gz", world.name) for world in exclude],
        "options": {
            "features": FEATURES,
            "least_pages": LEAST_PAGES,
            "shingle_words": SHINGLE_WORDS,
            "contained": CONTAINED,
        },
        "pages": {"read": len(read), "excluded": len(standing), "learnt_from": by_label(kept)},
        "held_out_sites": held_out(kept),
    }
    write_judge(train(map(_example, kept), made), out)
    return made


def held_out(pages: Sequence[LabelledPage]) -> dict[str, int]:
    """How a judge does on sites that it was not trained on, summed over five folds of sites."""
    total: dict[str, int] = {}
    for fold in range(FOLDS):
        judge = train((_example(page) for page in pages if _fold(page) != fold), {})
        counts = accuracy(judge, [_example(page) for page in pages if _fold(page) == fold])
        total = {name: total.get(name, 0) + count for name, count in counts.items()}
    return total


def _example(page: LabelledPage) -> tuple[str, str, bool]:
    return page.title, page.text, page.label == RELEVANT


def _fold(page: LabelledPage) -> int:
    url = read_url(page.url)
    return hashlib.sha256((url.site if url else page.url).encode()).digest()[0] % FOLDS


def text_of(body: bytes, content_type: str) -> tuple[str, str]:
    """(title, visible text) of a page, read as a crawl reads it."""
    url = read_url("http://training.invalid/")
    assert url is not None, "a well-formed address"
    document = PageReader().read(Page(url, url, 200, {"content-type": content_type}, body, 0.0, 0.0), depth=0)
    return document.title, document.text


def main(arguments: Sequence[str]) -> None:
    """Train the shipped judge: PAGES, then the webs it must not learn from."""
    pages, *worlds = map(Path, arguments)
    made = train_judge_file(pages, shipped_models() / JUDGE_FILE, worlds, on=dt.datetime.now(dt.UTC).date())
    sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
