"""Train the fixed judge: `python -m geocrawl.lab.training.page_judge PAGES WORLD…`."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path

from geocrawl.lab.contest.judge import FEATURES, JUDGE_FILE, LEAST_PAGES, accuracy, train, write_judge
from geocrawl.lab.training.gws_models import LabelledPage
from geocrawl.lab.training.labelled_pages import EXCLUSION, FOLDS, fold_of, read_examples, record
from geocrawl.model import Page
from geocrawl.page.document import PageReader
from geocrawl.priority.models import shipped_models
from geocrawl.urls import read_url

RELEVANT = "ogc"


def train_judge_file(pages: Path, out: Path, exclude: Sequence[Path], *, on: dt.date) -> dict[str, object]:
    """Learn from the labelled `pages` that are in none of the webs `exclude`, and write the judge to `out`.

    Returns the record. Raises UsageError for a file of another format, EnvironmentFault for a file that cannot be read.
    """
    examples = read_examples(pages, exclude, text_of)
    how = "Bernoulli naive Bayes: pages labelled ogc against all others (geocrawl.lab.training.page_judge)"
    made: dict[str, object] = {
        **record(how, [pages], exclude, on=on),
        "options": {"features": FEATURES, "least_pages": LEAST_PAGES, **EXCLUSION},
        "pages": examples.counts(),
        "held_out_sites": held_out(examples.kept),
    }
    write_judge(train(map(_example, examples.kept), made), out)
    return made


def held_out(pages: Sequence[LabelledPage]) -> dict[str, int]:
    """Return the counts of `judge.accuracy` on held-out sites, summed over five folds."""
    total: dict[str, int] = {}
    for fold in range(FOLDS):
        judge = train((_example(page) for page in pages if fold_of(page) != fold), {})
        counts = accuracy(judge, [_example(page) for page in pages if fold_of(page) == fold])
        total = {name: total.get(name, 0) + count for name, count in counts.items()}
    return total


def _example(page: LabelledPage) -> tuple[str, str, bool]:
    return page.title, page.text, page.label == RELEVANT


def text_of(body: bytes, content_type: str) -> tuple[str, str]:
    """Return (title, visible text) of a page, read as a crawl reads it."""
    url = read_url("http://training.invalid/")
    assert url is not None, "a well-formed address"
    document = PageReader().read(Page(url, url, 200, {"content-type": content_type}, body, 0.0, 0.0), depth=0)
    return document.title, document.text


def main(arguments: Sequence[str]) -> None:
    """Train the shipped judge. The arguments are PAGES, then the webs whose pages are excluded."""
    pages, *worlds = map(Path, arguments)
    made = train_judge_file(pages, shipped_models() / JUDGE_FILE, worlds, on=dt.datetime.now(dt.UTC).date())
    sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
