"""Train the control of `bayes`, a classifier of pages: `python -m geocrawl.lab.training.bayes_pages PAGES WORLD…`.

Han et al. (2010) train the same naive Bayes classifier on pages instead of links, and compare. Here a page is a sample
whose anchor is its title and text, so that the model is counted and stored like the model of links.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from geocrawl.lab.training.bayes_samples import ON_TOPIC, domain_lexicon
from geocrawl.lab.training.gws_models import LabelledPage
from geocrawl.lab.training.labelled_pages import EXCLUSION, read_examples, record, site_of
from geocrawl.lab.training.train import text_of
from geocrawl.priority.models import shipped_models
from geocrawl.priority.naive_bayes import BAYES_PAGES_FILE, write_bayes
from geocrawl.priority.strategies.bayes import LEAST_SOURCES, Sample, train_bayes


def page_samples(pages: Iterable[LabelledPage]) -> Iterator[Sample]:
    """Yield each page as one sample: positive when it is about OGC services."""
    for page in pages:
        yield Sample(f"{page.title}\n{page.text}", (), page.label == ON_TOPIC, site_of(page))


def train_pages_file(pages: Path, out: Path, exclude: Sequence[Path], *, on: dt.date) -> dict[str, object]:
    """Learn from the labelled `pages` that are in none of the webs `exclude`, write the model to `out`.

    Returns the record. Raises UsageError for a file of another format, EnvironmentFault for a file that cannot be read.
    """
    examples = read_examples(pages, exclude, text_of)
    model = train_bayes(page_samples(examples.kept), domain_lexicon())
    how = "naive Bayes over pages: labelled ogc against all others (geocrawl.lab.training.bayes_pages)"
    made: dict[str, object] = {
        **record(how, [pages], exclude, on=on),
        "options": {"least_sources": LEAST_SOURCES, **EXCLUSION},
        "pages": examples.counts(),
        "words": len(model.features),
    }
    write_bayes(replace(model, made=made), out)
    return made


def main(arguments: Sequence[str]) -> None:
    """Train the shipped control. The arguments are PAGES, then the webs whose pages are excluded."""
    pages, *worlds = map(Path, arguments)
    made = train_pages_file(pages, shipped_models() / BAYES_PAGES_FILE, worlds, on=dt.datetime.now(dt.UTC).date())
    sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
